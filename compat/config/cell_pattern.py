"""Which cells somebody means who names them by an id, its beginning, or a glob.

In these a release may stand for an env, and a GPU for a target.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import product

from attrs import frozen

from compat import toolchains
from compat.config import releases
from compat.config.matrix import MatrixConfig
from compat.config.selection import listed_names, nothing_matches
from compat.errors import SelectionError
from compat.model import Cell, Env

_OPTIONS = {"kernel": "--kernel", "variant": "--variant", "case": "--case", "target": "--target", "env": "--envs"}
"""The parts of an id in their order, and the options that choose them."""
_PARTS = len(_OPTIONS)
_TARGET = list(_OPTIONS).index("target")
_WITHOUT_ENV = _PARTS - 1
_GLOB = frozenset("*?[")
_CELLS = 12
"""Cells that a hint lists at most one by one."""


@frozen(kw_only=True)
class CellPattern:
    """What was written to name cells, as globs over ids."""

    text: str
    """As it was written, for errors: a cell, or the files whose cells are meant."""
    globs: tuple[str, ...]
    """Ids, beginnings of ids, or globs over ids, with the names that ids have for releases and GPUs."""
    envs: tuple[Env, ...] = ()
    """The envs that it names, which need not be among those of ``matrix.toml``."""

    @property
    def leaves_open(self) -> bool:
        """Whether it is no glob over ids, and leaves the env open: files, or the beginning of an id such as a kernel's name."""
        return self.globs == ("*",) or all(glob.count("/") < _WITHOUT_ENV and not _GLOB & set(glob) for glob in self.globs)

    def match(self, cell_id: str) -> bool:
        """Whether the cell of that id is meant."""
        return any(cell_id == glob or fnmatchcase(cell_id, glob) or fnmatchcase(cell_id, f"{glob}/*") for glob in self.globs)

    def choose(self, *sets: Iterable[Cell]) -> tuple[Cell, ...]:
        """The one cell of that id; else all that are meant of the first set that has any. Raises SelectionError for none."""
        by_id = [{cell.id: cell for cell in cells} for cells in sets]
        if exact := next((cells[self.text] for cells in by_id if self.text in cells), None):
            return (exact,)
        matching = (tuple(cell for name, cell in cells.items() if self.match(name)) for cells in by_id)
        chosen = next(filter(None, matching), ())
        if not chosen:
            raise self._nothing(tuple(by_id[-1].values()))
        return chosen

    def _nothing(self, cells: Sequence[Cell]) -> SelectionError:
        """The error where no cell is meant: the first part of an id that no cell has, and what there is in its place."""
        for place, kind in enumerate(_OPTIONS):
            wanted = {parts[place] for glob in self.globs if len(parts := glob.split("/")) > place}
            remaining = tuple(cell for cell in cells if any(fnmatchcase(_parts(cell)[place], part) for part in wanted))
            if wanted and not remaining:
                part, before = self.text.split("/")[place], "/".join(self.globs[0].split("/")[:place])
                missing = f"{before} has no {kind} {part!r}" if before else f"No {kind} is called {part!r}"
                other = nothing_matches(kind, part, (_parts(cell)[place] for cell in cells)).hint
                return SelectionError(f"no cell matches {self.text!r}", hint=f"{missing}. {other}")
            if not wanted or any("*" in part for part in wanted):  # a star reaches over several parts
                break
            cells = remaining
        return nothing_matches("cell", self.text, (cell.id for cell in cells))


def cell_pattern(text: str, config: MatrixConfig, files: Sequence[str] = ()) -> CellPattern:
    """Read what names cells; ``files`` are those that were named instead, where ``text`` is ``*``.

    What means no env and no GPU stays as it is: that nothing matches it is found out later.
    """
    parts = text.split("/")
    if len(parts) == 1:
        return CellPattern(text=", ".join(files) if files and text == "*" else text, globs=(text,))
    envs = _envs(parts[-1], config, whole=len(parts) == _PARTS)
    meant = [_targets(parts, place) for place in range(len(parts))]
    meant[-1] = tuple(env.name for env in envs) or meant[-1]
    return CellPattern(text=text, globs=tuple(map("/".join, product(*meant))), envs=envs)


def several_match(text: str, cells: Iterable[Cell], *, most: int = 1, any_env: bool = False) -> SelectionError:
    """The error for what has to mean one cell, or ``most``, and matches more: in what they differ, and which they are.

    With ``any_env`` it has to mean one kernel, case and target.
    """
    named = list(dict.fromkeys(_parts(cell)[: _WITHOUT_ENV if any_env else _PARTS] for cell in cells))
    names_of = zip(_OPTIONS.values(), (list(dict.fromkeys(names)) for names in zip(*named, strict=True)), strict=False)
    differ = {option: names for option, names in names_of if len(names) > 1}
    *rest, last = differ
    add = f"{f'At most {most} at a time. ' if most > 1 else ''}Add {', '.join(rest)}{' and ' if rest else ''}{last}"
    ids = ["/".join(parts) for parts in named]
    what = "kernels and targets" if any_env else "cells"
    if len(ids) <= _CELLS:
        hint = f"{add}, or name one:" + "".join(f"\n    {cell_id}" for cell_id in ids)
    else:
        hint = f"{add}, or name one, such as {ids[0]}." + "".join(
            f"\n    {option}: {listed_names(names)}" for option, names in differ.items()
        )
    return SelectionError(f"{text!r} matches {len(ids):,} {what}", hint=hint)


def _parts(cell: Cell) -> tuple[str, ...]:
    """What the id of a cell is made of."""
    return cell.spec.kernel, cell.spec.variant, cell.spec.case, cell.target.name, cell.env.name


def _targets(parts: list[str], place: int) -> tuple[str, ...]:
    """What a part of a pattern means, which may be a GPU where the target can stand: the last part, or the one before it.

    A star reaches over several parts, so that fewer may stand before the target than an id has there; what looks like a GPU may be
    the name of a variant or a case then, too.
    """
    fewer = place < _TARGET and any("*" in part for part in parts[:place])
    if place < len(parts) - 2 or not (place == _TARGET or fewer):
        return (parts[place],)
    targets = toolchains.targets_of_gpu(parts[place])
    return (parts[place], *targets) if fewer else targets or (parts[place],)


def _envs(name: str, config: MatrixConfig, *, whole: bool) -> tuple[Env, ...]:
    """The envs that the last part of an id means, where it cannot be a glob over ids."""
    if not releases.is_one(name) and not (whole and not set(name) & _GLOB):
        return ()
    try:
        return config.choose_envs([name])
    except SelectionError:
        return ()
