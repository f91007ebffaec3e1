"""A folder that was built, in pieces that can be launched apart from each other.

Cells that differ in the release alone stay together, since they are timed in turn.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from attrs import frozen

from compat.errors import SelectionError
from compat.execution.executors.gpus import LaunchKey, Load, key_of
from compat.json_text import read_json
from compat.launch.archive import INDEX, PACKAGES, PROGRAM

LEAST = 32
"""Cells that are worth a process of their own, which imports PyTorch first."""
_EACH = 4
"""Pieces for each GPU: where one is slower, the others take more of them."""

Entry = Mapping[str, Any]
"""A cell of an index."""


@frozen(kw_only=True)
class Folder:
    """A folder that was built, and its index."""

    path: Path
    index: Mapping[str, Any]

    @property
    def target(self) -> str:
        """The target's name."""
        return str(self.index["target"]["name"])

    @property
    def arch(self) -> int:
        """What a GPU has to be."""
        return int(self.index["target"]["arch"])

    def cells(self, globs: Sequence[str] = (), known: Collection[LaunchKey] = ()) -> tuple[Entry, ...]:
        """The cells that are meant, and not known."""
        cells: Iterable[Entry] = self.index["cells"]
        meant = (cell for cell in cells if not globs or any(fnmatchcase(cell["cell"], glob) for glob in globs))
        return tuple(cell for cell in meant if key_of(cell) not in known)

    def loads(
        self, cells: Iterable[Entry], gpus: int, *, options: Sequence[str] = (), python: str | None = None
    ) -> tuple[Load, ...]:
        """The same cells in pieces for so many GPUs."""
        return tuple(
            Load(target=self.target, arch=self.arch, cells=piece, pack=partial(pack, self), options=tuple(options), python=python)
            for piece in divided(cells, gpus)
        )


def read_folder(path: Path) -> Folder:
    """The folder at a path. Raises SelectionError where there is none that was built."""
    hint = "`compat build --out FOLDER` writes one."
    if not (path / INDEX).is_file() or not (path / PROGRAM).is_file():
        raise SelectionError("there is nothing to launch in this folder", where=str(path), hint=hint)
    try:
        index = read_json((path / INDEX).read_bytes())
        found = Folder(path=path, index=index)
        _ = found.target, found.arch, [(key_of(cell), cell["cell"], cell["series"]) for cell in index["cells"]]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise SelectionError(f"it cannot be read: {error}", where=str(path / INDEX), hint=hint) from error
    return found


def divided(cells: Iterable[Entry], gpus: int) -> tuple[tuple[Entry, ...], ...]:
    """Pieces of whole series; series on one problem, whose inputs are made once for a process, come after one another."""
    problems: dict[str, dict[str, list[Entry]]] = {}
    for cell in cells:
        problems.setdefault(cell["problem"], {}).setdefault(cell["series"], []).append(cell)
    series = [each for of_problem in problems.values() for each in of_problem.values()]
    size = max(LEAST, -(-sum(map(len, series)) // (_EACH * max(1, gpus))))
    found: list[list[Entry]] = []
    for each in series:
        if not found or len(found[-1]) + len(each) > max(size, len(each)):
            found.append([])
        found[-1] += each
    return tuple(tuple(piece) for piece in found)


def pack(folder: Folder, cells: Sequence[Entry]) -> bytes:
    """What launching some of the cells takes, as a tar file."""
    index = {**folder.index, "cells": list(cells), "left_out": []}
    problems = {cell["problem"] for cell in cells}
    index["problems"] = {digest: said for digest, said in folder.index["problems"].items() if digest in problems}
    places = {Path(str(said["source"])).parent for said in index["problems"].values()}
    paths = [folder.path / PROGRAM, *(folder.path / "objects" / name for name in sorted({cell["object"] for cell in cells}))]
    for place in (*sorted(places), *map(Path, PACKAGES)):
        paths += sorted(path for path in (folder.path / place).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz", compresslevel=1) as archive:
        said = json.dumps(index).encode()
        member = tarfile.TarInfo(INDEX)
        member.size = len(said)
        archive.addfile(member, io.BytesIO(said))
        for path in paths:
            archive.add(path, path.relative_to(folder.path).as_posix(), recursive=False)
    return written.getvalue()
