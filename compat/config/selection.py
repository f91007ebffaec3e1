"""Converts a user's words (names, groups, globs and releases) to records, and patterns to cells.

A pattern of cells is an id, its beginning or a glob. A pattern that matches nothing is an error,
never an empty answer. Several patterns may come in one text, with commas between them. In a pattern
of cells, a release may replace an env, and a GPU may replace a target.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import product
from typing import TYPE_CHECKING

from attrs import frozen

from compat import toolchains
from compat.config import releases
from compat.config.toml import did_you_mean
from compat.errors import SelectionError
from compat.model import Cell, Env, Specialization, Target
from compat.text import name_first, split_at_commas

if TYPE_CHECKING:
    from compat.config.matrix import MatrixConfig

MATRIX = "matrix.toml"
"""The name of the file that declares all choices."""
PAIRS = "pair"
"""The kernel name that stands for all pairs of a PyTorch and a release: ``pair/2.9.1+3.6.0``."""

_LISTED = 8
"""The most names that a hint lists."""
_OPTIONS = {
    "kernel": "--kernel",
    "variant": "--variant",
    "case": "--case",
    "target": "--target",
    "env": "--envs",
}
"""The parts of an id in their order, and the options that choose them."""
_PARTS = len(_OPTIONS)
_TARGET = list(_OPTIONS).index("target")
_WITHOUT_ENV = _PARTS - 1
_GLOB = frozenset("*?[")
_CELLS = 12
"""The most cells that a hint lists one by one."""


def options_for(pattern: str) -> str:
    """The options that choose the cells of a glob of ids, such as ``sel_dense/*/d64``."""
    parts = zip(_OPTIONS.values(), pattern.split("/"), strict=False)
    return shlex.join(word for option, part in parts if part != "*" for word in (option, part))


def nothing_matches(
    kind: str, pattern: str, choices: Iterable[str], more: str = ""
) -> SelectionError:
    """The error for a pattern that matches no ``kind`` of thing.

    Its hint is a name with a similar spelling, else the existing names.
    """
    names = list(dict.fromkeys(choices))
    hint = did_you_mean(pattern, names) or f"Available: {join_names(names) or 'none'}.{more}"
    return SelectionError(f"no {kind} matches {pattern!r}", hint=hint)


def join_names(names: Sequence[str]) -> str:
    """The first names, as many as a hint lists, with commas, and the number of the others."""
    return ", ".join(name_first(names, _LISTED))


def select_envs(
    envs: Sequence[Env],
    patterns: Sequence[str],
    released: Sequence[Env] = (),
    undeclared: Callable[[str], Env | None] = lambda word: None,
) -> tuple[Env, ...]:
    """The envs that the patterns mean, in the order of ``envs`` and ``released``.

    Every command understands these patterns. A pattern is the name of an env, else the name of a
    group, else a glob over the names of envs, else a release: ``3.9`` for the newest of that
    series, ``3.5.1``, a specifier such as ``>=3.1,<3.9``, or ``newest``. A toolchain
    may come before a release: ``cute-newest``. If a release has several envs, the one without
    PyTorch is meant. A pattern that matches none of ``envs`` is looked up
    among the ``released`` ones in the same way, and then by ``undeclared``. Raises SelectionError.
    """
    chosen: dict[str, Env] = {}
    for word in releases.split_words(patterns):
        envs_meant = _envs_of_word(word, envs) or _envs_of_word(word, released)
        if not envs_meant and (undeclared_env := undeclared(word)) is not None:
            envs_meant = (undeclared_env,)
        if not envs_meant:
            raise _no_env(word, [*envs, *released])
        chosen |= {env.name: env for env in envs_meant}
    order = {env.name: place for place, env in reversed(list(enumerate((*envs, *released))))}
    return tuple(sorted(chosen.values(), key=lambda env: order.get(env.name, len(order))))


def _envs_of_word(word: str, envs: Sequence[Env]) -> tuple[Env, ...]:
    named = {
        word,
        *(f"{toolchain}-{word.removeprefix('v')}" for toolchain in {env.toolchain for env in envs}),
    }
    toolchain, _, release = word.partition("-")
    return (
        tuple(env for env in envs if env.name == word)
        or tuple(env for env in envs if word in env.groups)
        or tuple(env for env in envs if fnmatchcase(env.name, word))
        or tuple(env for env in envs if env.name in named)
        or releases.envs_of(word, envs)
        or releases.envs_of(release, [env for env in envs if env.toolchain == toolchain])
    )


def _no_env(word: str, envs: Sequence[Env]) -> SelectionError:
    groups = dict.fromkeys(group for env in envs for group in env.groups)
    known_releases = [str(release) for release in releases.known_releases(envs)]
    if meant := releases.correct_specifier(word):
        return SelectionError(
            f"{word!r} is neither a release nor a version specifier",
            hint=f"Did you mean {meant!r}?",
        )
    if not releases.is_one(word):
        return nothing_matches(
            "env, group of envs or release",
            word,
            [*groups, *(env.name for env in envs), releases.NEWEST],
        )
    hint = (
        f"Known releases: {', '.join(known_releases) or 'none'}. Give any other release in full,"
        " such as 3.10.0."
    )
    return SelectionError(f"no known release matches {word!r}", hint=hint)


def select_targets(targets: Sequence[Target], patterns: Sequence[str]) -> tuple[Target, ...]:
    """The targets that the patterns mean, in the order of ``targets``.

    Every command understands these patterns. A pattern is a glob over the names of targets, else
    the name of a GPU: ``h100``, ``rtx4090``. Raises SelectionError.
    """
    chosen: set[Target] = set()
    for pattern in split_at_commas(patterns):
        named = [target for target in targets if fnmatchcase(target.name, pattern)]
        matched = named or [target for target in targets if toolchains.is_of_gpu(target, pattern)]
        if not matched:
            names = [*(target.name for target in targets), *toolchains.gpus()]
            raise nothing_matches(
                "target", pattern, names, f" Declare others with [[target]] in {MATRIX}."
            )
        chosen.update(matched)
    return tuple(target for target in targets if target in chosen)


def without_pairs(kernels: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """The globs over kernels without those for pairs, and whether there were any of these.

    The globs ``pair`` and ``pair/*`` mean pairs.
    """
    patterns = split_at_commas(kernels)
    remaining = tuple(word for word in patterns if word.partition("/")[0] != PAIRS)
    return remaining, len(remaining) < len(patterns)


def select_specs(
    specs: Sequence[Specialization],
    kernels: Sequence[str] = (),
    variants: Sequence[str] = (),
    cases: Sequence[str] = (),
) -> tuple[Specialization, ...]:
    """The specializations whose kernel, variant and case match a glob each.

    Without globs for kernels, all kernels match, and likewise variants and cases. Kernels are
    chosen first, then variants, then cases. Raises SelectionError if a glob matches nothing that
    the choice before it left.
    """
    remaining = tuple(specs)
    for kind, globs in (("kernel", kernels), ("variant", variants), ("case", cases)):
        patterns = split_at_commas(globs)
        names = [getattr(spec, kind) for spec in remaining]
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in names):
                raise nothing_matches(kind, pattern, names)
        if patterns:
            remaining = tuple(
                s
                for s in remaining
                if any(fnmatchcase(getattr(s, kind), pattern) for pattern in patterns)
            )
    return remaining


# --- cells ----------------------------------------------------------------------------------------


@frozen(kw_only=True)
class CellPattern:
    """The words that name cells, as globs over ids."""

    text: str
    """The pattern as written, for errors: a cell, or the files whose cells it means."""
    globs: tuple[str, ...]
    """Ids, beginnings of ids, or globs over ids, with the names that ids have for releases and
    GPUs.
    """
    envs: tuple[Env, ...] = ()
    """The envs that it names. They may be outside of ``matrix.toml``."""

    @property
    def leaves_open(self) -> bool:
        """Whether it is not a glob over ids, and leaves the env open.

        Such a pattern is files, or the beginning of an id, such as a kernel's name.
        """
        return self.globs == ("*",) or all(
            glob.count("/") < _WITHOUT_ENV and not _GLOB & set(glob) for glob in self.globs
        )

    def match(self, cell_id: str) -> bool:
        """Whether the pattern means the cell with an id."""
        return any(
            cell_id == glob or fnmatchcase(cell_id, glob) or fnmatchcase(cell_id, f"{glob}/*")
            for glob in self.globs
        )

    def choose(self, *sets: Iterable[Cell]) -> tuple[Cell, ...]:
        """The cell whose id is the pattern, else all matching cells of the first set that has any.

        Raises SelectionError if there are none.
        """
        by_id = [{cell.id: cell for cell in cells} for cells in sets]
        if exact := next((cells[self.text] for cells in by_id if self.text in cells), None):
            return (exact,)
        matching = (
            tuple(cell for name, cell in cells.items() if self.match(name)) for cells in by_id
        )
        chosen = next(filter(None, matching), ())
        if not chosen:
            raise self._nothing(tuple(by_id[-1].values()))
        return chosen

    def _nothing(self, cells: Sequence[Cell]) -> SelectionError:
        """The error for a pattern that matches no cell.

        It names the first part of an id that no cell has, and the existing alternatives.
        """
        if self.text.count("/") >= _PARTS and not _GLOB & set(self.text):
            hint = f"An id has {_PARTS} parts: {'/'.join(_OPTIONS)}."
            return SelectionError(f"no cell matches {self.text!r}", hint=hint)
        for place, kind in enumerate(_OPTIONS):
            glob_parts = {
                parts[place] for glob in self.globs if len(parts := glob.split("/")) > place
            }
            remaining = tuple(
                cell
                for cell in cells
                if any(fnmatchcase(_parts(cell)[place], part) for part in glob_parts)
            )
            if glob_parts and not remaining:
                part = self.text.split("/")[place]
                before = "/".join(self.globs[0].split("/")[:place])
                missing = (
                    f"{before} has no {kind} {part!r}" if before else f"unknown {kind} {part!r}"
                )
                other = nothing_matches(kind, part, (_parts(cell)[place] for cell in cells)).hint
                return SelectionError(f"no cell matches {self.text!r}", hint=f"{missing}. {other}")
            # A star reaches over several parts.
            if not glob_parts or any("*" in part for part in glob_parts):
                break
            cells = remaining
        return nothing_matches("cell", self.text, (cell.id for cell in cells))


def cell_pattern(text: str, config: MatrixConfig, files: Sequence[str] = ()) -> CellPattern:
    """Read a pattern of cells. If ``text`` is ``*``, the user may have named ``files`` instead.

    A part that means no env and no GPU stays unchanged. Later code reports that nothing matches it.
    """
    parts = text.split("/")
    if len(parts) == 1:
        return CellPattern(text=", ".join(files) if files and text == "*" else text, globs=(text,))
    envs = _envs(parts[-1], config, is_full_id=len(parts) == _PARTS)
    meant = [_targets(parts, place) for place in range(len(parts))]
    meant[-1] = tuple(env.name for env in envs) or meant[-1]
    return CellPattern(text=text, globs=tuple(map("/".join, product(*meant))), envs=envs)


def several_match(
    text: str, cells: Iterable[Cell], *, most: int = 1, any_env: bool = False
) -> SelectionError:
    """The error for a pattern that has to mean one cell, or ``most``, and matches more.

    It names the options in which the cells differ, and the cells. With ``any_env`` the pattern has
    to mean one kernel, case and target.
    """
    named = list(
        dict.fromkeys(_parts(cell)[: _WITHOUT_ENV if any_env else _PARTS] for cell in cells)
    )
    names_of = zip(
        _OPTIONS.values(),
        (list(dict.fromkeys(names)) for names in zip(*named, strict=True)),
        strict=False,
    )
    differ = {option: names for option, names in names_of if len(names) > 1}
    *rest, last = differ
    add = (
        f"{f'At most {most} at a time. ' if most > 1 else ''}Add"
        f" {', '.join(rest)}{' and ' if rest else ''}{last}"
    )
    ids = ["/".join(parts) for parts in named]
    what = "kernels and targets" if any_env else "cells"
    if len(ids) <= _CELLS:
        hint = f"{add}, or name one:" + "".join(f"\n    {cell_id}" for cell_id in ids)
    else:
        hint = f"{add}, or name one, such as {ids[0]}." + "".join(
            f"\n    {option}: {join_names(names)}" for option, names in differ.items()
        )
    return SelectionError(f"{text!r} matches {len(ids):,} {what}", hint=hint)


def _parts(cell: Cell) -> tuple[str, ...]:
    """The parts of a cell's id."""
    return cell.spec.kernel, cell.spec.variant, cell.spec.case, cell.target.name, cell.env.name


def _targets(parts: list[str], place: int) -> tuple[str, ...]:
    """The meanings of a part of a pattern, which may be a GPU in the place of a target.

    That place is the last part, or the one before it. A star reaches over several parts, so the
    pattern may have fewer parts before the target than an id. Then a part that looks like a GPU may
    also be the name of a variant or a case.
    """
    fewer = place < _TARGET and any("*" in part for part in parts[:place])
    if place < len(parts) - 2 or not (place == _TARGET or fewer):
        return (parts[place],)
    targets = toolchains.targets_of_gpu(parts[place])
    return (parts[place], *targets) if fewer else targets or (parts[place],)


def _envs(name: str, config: MatrixConfig, *, is_full_id: bool) -> tuple[Env, ...]:
    """The envs that the last part of a pattern means; none if it may be a glob over ids."""
    if not releases.is_one(name) and not (is_full_id and not set(name) & _GLOB):
        return ()
    try:
        return config.choose_envs([name])
    except SelectionError:
        return ()
