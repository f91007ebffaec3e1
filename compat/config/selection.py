"""From what a user asks for, names, groups and globs, to records.

A pattern that matches nothing is an error, never an empty answer. Several patterns may come in one
text, with commas between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import accumulate

from compat.config.toml_reader import did_you_mean
from compat.errors import SelectionError
from compat.model import Env, Specialization, Target

_LISTED = 600
"""Letters of names that a hint lists at most."""


def _patterns(texts: Iterable[str]) -> list[str]:
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def nothing_matches(kind: str, pattern: str, known: Iterable[str], more: str = "") -> SelectionError:
    """The error for a pattern that no ``kind`` of thing matches, with what it may be a misspelling of, else what there is."""
    names = list(dict.fromkeys(known))
    fitting = [name for name, end in zip(names, accumulate(len(name) + 2 for name in names), strict=True) if end <= _LISTED]
    listed = ", ".join(fitting) + (f" and {len(names) - len(fitting):,} more" if len(names) > len(fitting) else "")
    hint = did_you_mean(pattern, names) or f"Available: {listed or 'none'}.{more}"
    return SelectionError(f"no {kind} matches {pattern!r}", hint=hint)


def select_envs(envs: Sequence[Env], patterns: Sequence[str]) -> tuple[Env, ...]:
    """The envs that the patterns name, in their own order.

    A pattern is the name of an env, else the name of a group, else a glob over the names of envs. Raises SelectionError.
    """
    names = [env.name for env in envs]
    groups = dict.fromkeys(group for env in envs for group in env.groups)
    chosen: set[str] = set()
    for pattern in _patterns(patterns):
        if pattern in names:
            chosen.add(pattern)
        elif pattern in groups:
            chosen.update(env.name for env in envs if pattern in env.groups)
        elif matched := [name for name in names if fnmatchcase(name, pattern)]:
            chosen.update(matched)
        else:
            raise nothing_matches("env or group of envs", pattern, [*groups, *names])
    return tuple(env for env in envs if env.name in chosen)


def select_targets(targets: Mapping[str, Target], patterns: Sequence[str]) -> tuple[Target, ...]:
    """The targets whose names the globs match, in the order of the table. Raises SelectionError."""
    chosen: set[str] = set()
    for pattern in _patterns(patterns):
        matched = [name for name in targets if fnmatchcase(name, pattern)]
        if not matched:
            raise nothing_matches("target", pattern, targets, " Others can be declared as [[target]] in matrix.toml.")
        chosen.update(matched)
    return tuple(target for name, target in targets.items() if name in chosen)


def select_specs(
    specs: Sequence[Specialization],
    kernels: Sequence[str] = (),
    variants: Sequence[str] = (),
    cases: Sequence[str] = (),
) -> tuple[Specialization, ...]:
    """The specializations whose kernel, variant and case match a glob each; no globs for one of them means all of it.

    The globs narrow one after the other, so that each has to match something in what the ones before it left.
    """
    left = tuple(specs)
    for kind, globs in (("kernel", kernels), ("variant", variants), ("case", cases)):
        wanted = _patterns(globs)
        known = [getattr(spec, kind) for spec in left]
        for pattern in wanted:
            if not any(fnmatchcase(name, pattern) for name in known):
                raise nothing_matches(kind, pattern, known)
        if wanted:
            left = tuple(s for s in left if any(fnmatchcase(getattr(s, kind), pattern) for pattern in wanted))
    return left
