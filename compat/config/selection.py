"""From what a user asks for, names, groups, globs and releases, to records.

A pattern that matches nothing is an error, never an empty answer. Several patterns may come in one
text, with commas between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import accumulate

from compat import toolchains
from compat.config import releases
from compat.config.toml_reader import did_you_mean
from compat.errors import SelectionError
from compat.model import Env, Specialization, Target

MATRIX = "matrix.toml"
"""What the file is called that declares what can be chosen."""
PAIRS = "pair"
"""What pairs of a PyTorch and a release are called where kernels are chosen, as if it were one of them: ``pair/2.9.1+3.6.0``."""

_LISTED = 600
"""Letters of names that a hint lists at most."""


def _patterns(texts: Iterable[str]) -> list[str]:
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def nothing_matches(kind: str, pattern: str, known: Iterable[str], more: str = "") -> SelectionError:
    """The error for a pattern that no ``kind`` of thing matches, with what it may be a misspelling of, else what there is."""
    names = list(dict.fromkeys(known))
    hint = did_you_mean(pattern, names) or f"Available: {listed_names(names) or 'none'}.{more}"
    return SelectionError(f"no {kind} matches {pattern!r}", hint=hint)


def listed_names(names: Sequence[str]) -> str:
    """Names with commas between them, as many as a hint has room for, and how many more there are."""
    fitting = [name for name, end in zip(names, accumulate(len(name) + 2 for name in names), strict=True) if end <= _LISTED]
    return ", ".join(fitting) + (f" and {len(names) - len(fitting):,} more" if len(names) > len(fitting) else "")


def select_envs(
    envs: Sequence[Env],
    patterns: Sequence[str],
    released: Sequence[Env] = (),
    undeclared: Callable[[str], Env | None] = lambda word: None,
) -> tuple[Env, ...]:
    """The envs that the patterns mean, in their own order; this is what is understood wherever an env is meant.

    A pattern is the name of an env, else the name of a group, else a glob over the names of envs, else a release: ``3.9`` for the
    newest of that series, ``3.5.1``, a specifier such as ``>=3.1,<3.9``, or ``newest``; of several envs of one release the one
    without PyTorch is meant. What means none of ``envs`` is looked for among the ``released`` ones in the same way, and then
    ``undeclared`` is asked. Raises SelectionError.
    """
    chosen: dict[str, Env] = {}
    for word in releases.words(patterns):
        envs_meant = _meant(word, envs) or _meant(word, released)
        if not envs_meant and (made := undeclared(word)) is not None:
            envs_meant = (made,)
        if not envs_meant:
            raise _no_env(word, [*envs, *released])
        chosen |= {env.name: env for env in envs_meant}
    order = {env.name: place for place, env in reversed(list(enumerate((*envs, *released))))}
    return tuple(sorted(chosen.values(), key=lambda env: order.get(env.name, len(order))))


def _meant(word: str, envs: Sequence[Env]) -> tuple[Env, ...]:
    named = {word, *(f"{toolchain}-{word.removeprefix('v')}" for toolchain in {env.toolchain for env in envs})}
    return (
        tuple(env for env in envs if env.name == word)
        or tuple(env for env in envs if word in env.groups)
        or tuple(env for env in envs if fnmatchcase(env.name, word))
        or tuple(env for env in envs if env.name in named)
        or releases.envs_of(word, envs)
    )


def _no_env(word: str, envs: Sequence[Env]) -> SelectionError:
    groups = dict.fromkeys(group for env in envs for group in env.groups)
    known_releases = dict.fromkeys(str(env.release) for env in envs if toolchains.is_release(env))
    if meant := releases.corrected(word):
        return SelectionError(f"{word!r} is no release and no version specifier", hint=f"Did you mean {meant!r}?")
    if not releases.is_one(word):
        return nothing_matches("env, group of envs or release", word, [*groups, *(env.name for env in envs), releases.NEWEST])
    hint = f"Known releases: {', '.join(known_releases) or 'none'}. Of others say the whole version, such as 3.10.0."
    return SelectionError(f"no known release matches {word!r}", hint=hint)


def select_targets(targets: Mapping[str, Target], patterns: Sequence[str]) -> tuple[Target, ...]:
    """The targets that the patterns mean, in the order of the table; this is what is understood wherever a target is meant.

    A pattern is a glob over the names of targets, else the name of a GPU: ``h100``, ``rtx4090``. Raises SelectionError.
    """
    chosen: set[str] = set()
    for pattern in _patterns(patterns):
        matched = [name for name in targets if fnmatchcase(name, pattern)] or [
            name for name in toolchains.targets_of_gpu(pattern) if name in targets
        ]
        if not matched:
            names = [*targets, *toolchains.gpus()]
            raise nothing_matches("target", pattern, names, f" Others can be declared as [[target]] in {MATRIX}.")
        chosen.update(matched)
    return tuple(target for name, target in targets.items() if name in chosen)


def without_pairs(kernels: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """The globs over kernels without those that mean the pairs (``pair``, ``pair/*``), and whether there were any."""
    patterns = _patterns(kernels)
    remaining = tuple(word for word in patterns if word.partition("/")[0] != PAIRS)
    return remaining, len(remaining) < len(patterns)


def select_specs(
    specs: Sequence[Specialization],
    kernels: Sequence[str] = (),
    variants: Sequence[str] = (),
    cases: Sequence[str] = (),
) -> tuple[Specialization, ...]:
    """The specializations whose kernel, variant and case match a glob each; no globs for one of them means all of it.

    The globs narrow one after the other, so that each has to match something in what the ones before it left.
    """
    remaining = tuple(specs)
    for kind, globs in (("kernel", kernels), ("variant", variants), ("case", cases)):
        wanted = _patterns(globs)
        names = [getattr(spec, kind) for spec in remaining]
        for pattern in wanted:
            if not any(fnmatchcase(name, pattern) for name in names):
                raise nothing_matches(kind, pattern, names)
        if wanted:
            remaining = tuple(s for s in remaining if any(fnmatchcase(getattr(s, kind), pattern) for pattern in wanted))
    return remaining
