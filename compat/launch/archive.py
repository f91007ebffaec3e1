"""The folder for a GPU host, its archive, and pieces of it that can be launched separately.

Cells that differ only in the release stay in one piece, because the launcher times them in turn.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from attrs import frozen
from packaging.version import Version

from compat import toolchains
from compat.archives import path_below
from compat.errors import SelectionError, StoreError
from compat.executors.gpus import Load
from compat.files import replace_file
from compat.launch.building import Built, Launchable
from compat.model import Cell, Problem
from compat.source.closure import helpers_of
from compat.text import JsonMapping, JsonObject, read_json
from compat.toolchains.base import Launching
from compat.toolchains.pytorch.host.results import Key, key_of, remaining

SCHEMA = 1
INDEX = "index.json"
PROGRAM = "launch.py"
PROBLEMS = "problems"
TEXTS = "texts"
"""The folder with the assembly texts of binaries, by the hash of the binary. It is optional."""
PACKAGES = "compat_*"
"""A glob for the folders with the packages of the program that launches, from the toolchain."""
ENTRY = '''"""Launch what is in this folder on the GPU of this machine: python launch.py --help."""

import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, FOLDER)

from compat_launch.program import main

if __name__ == "__main__":
    sys.exit(main(FOLDER))
'''


def write_archive(built: Built, folder: Path, *, keep_text: bool = False) -> Path:
    """Write the folder that a GPU host needs: binaries, inputs and ``launch.py``.

    The function replaces an earlier build in the folder, and keeps its results.

    Args:
        built: The compiled cells.
        folder: Where to write.
        keep_text: Include assembly texts.

    Returns:
        The path of ``launch.py``.

    Raises:
        SelectionError: The folder contains other files.
        StoreError: The folder cannot be written.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / INDEX).exists():
        raise SelectionError(
            "the folder has files, and none is the index.json of a build",
            where=str(folder),
            hint="Name a new folder, or one with an earlier build.",
        )
    with StoreError.for_os_errors(
        "cannot write the folder", where=folder, hint="Name another folder."
    ):
        for path in (folder / "objects", folder / TEXTS, folder / PROBLEMS, *folder.glob(PACKAGES)):
            shutil.rmtree(path, ignore_errors=True)
        _write_programs(built, folder)
        sources = {
            digest: _write_problem(folder, problem)
            for digest, problem in {one.digest: one.problem for one in built.launchable}.items()
        }
        for launchable in built.launchable:
            _write_file(folder / "objects" / object_of(launchable), launchable.binary)
            if keep_text:
                _write_file(folder / TEXTS / object_of(launchable), launchable.text.encode())
        replace_file(folder / INDEX, json.dumps(_index(built, sources), indent=1) + "\n")
    return folder / PROGRAM


def pack(folder: Path) -> Path:
    """Compress a folder into an archive beside it, without results.

    Raises:
        StoreError: The archive cannot be written.
    """
    folder = Path(os.path.abspath(folder))  # "." has no name
    path = folder.with_name(folder.name + ".tar.xz")
    with (
        StoreError.for_os_errors(
            "cannot write the archive", where=path, hint="Free some space for it."
        ),
        tarfile.open(path, "w:xz", preset=6) as archive,
    ):
        for file in sorted(folder.rglob("*")):
            if file.is_file() and file.suffix != ".jsonl" and "__pycache__" not in file.parts:
                name = str(Path(folder.name) / file.relative_to(folder))
                archive.add(file, name, recursive=False, filter=_plain)
    return path


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Reset owner, time and mode of a file, so that equal folders give equal archives."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = 0
    member.mode = 0o644
    return member


def object_of(launchable: Launchable) -> str:
    """The name of a binary: its SHA-256."""
    return hashlib.sha256(launchable.binary).hexdigest()


def _launching(built: Built) -> Launching:
    launching = toolchains.look_up(built.target.toolchain).launching
    assert launching is not None
    return launching


def _write_programs(built: Built, folder: Path) -> None:
    for name, source in _launching(built).packages.items():
        for path in sorted(source.glob("*.py")):
            _write_file(folder / name / path.name, path.read_bytes())
    replace_file(folder / PROGRAM, ENTRY)


def _write_problem(folder: Path, problem: Problem) -> Mapping[str, object]:
    """Write the module of a problem, and the modules that it imports from its folder.

    Returns the problem's entry in the index.
    """
    source = Path(problem.source)
    place = Path(PROBLEMS) / problem.closure[:16]
    for path in (
        source,
        *(helper for helper in helpers_of(source) if helper.is_relative_to(source.parent)),
    ):
        _write_file(folder / place / path.relative_to(source.parent), path.read_bytes())
    return {
        "source": (place / source.name).as_posix(),
        "function": problem.function,
        "dtype": problem.dtype,
        "parameters": dict(problem.parameters),
    }


def _write_file(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _index(built: Built, problems: Mapping[str, JsonMapping]) -> JsonObject:
    target = built.target
    return {
        "schema": SCHEMA,
        "target": {"name": target.name, "backend": target.backend, "arch": target.arch},
        "needs": _launching(built).needs,
        "problems": problems,
        "cells": [
            facts_of(launchable)
            for launchable in sorted(built.launchable, key=lambda one: _place(one.cell))
        ],
        "left_out": [
            {"cell": left_out.cell.id, "why": left_out.why} for left_out in built.omitted_cells
        ],
    }


def _place(cell: Cell) -> tuple[str, Version, str]:
    """The sort key that orders the cells of a series by release."""
    return _series(cell), cell.env.release or Version("0"), cell.env.name


def _series(cell: Cell) -> str:
    return f"{cell.spec.id}/{cell.target.name}"


def facts_of(launchable: Launchable) -> dict[str, object]:
    """The entry of a cell in the index."""
    varied = launchable.cell.spec.varied
    return {
        "cell": launchable.name,
        "identity": launchable.identity,
        "series": _series(launchable.cell),
        **({"contest": launchable.contest} if launchable.contest else {}),
        "object": object_of(launchable),
        "problem": launchable.digest,
        "launch": {**launchable.launch, **({"varied": list(varied)} if varied else {})},
    }


# --- pieces ---------------------------------------------------------------------------------------

LEAST = 32
"""The number of cells that justifies a separate process, because each one imports PyTorch first."""
_PIECES_PER_GPU = 4
"""Pieces per GPU: there are several, so that faster GPUs can take more of them."""

Entry = JsonMapping
"""A cell of an index."""


@frozen(kw_only=True)
class BuiltFolder:
    """A folder that :func:`write_archive` wrote, and its index."""

    path: Path
    index: JsonMapping

    @property
    def target(self) -> str:
        """The target's name."""
        return str(self.index["target"]["name"])

    @property
    def needs(self) -> str | None:
        """The package that its program needs, beside Python; ``None`` if it needs no package."""
        needs: str | None = self.index["needs"]
        return needs

    @property
    def arch(self) -> int:
        """The architecture that a GPU must have."""
        return int(self.index["target"]["arch"])

    def cells(
        self, globs: Sequence[str] = (), done_keys: set[Key] | None = None
    ) -> tuple[Entry, ...]:
        """The cells that match the globs, all without globs, except those in ``done_keys``."""
        return tuple(remaining(self.index["cells"], globs, done_keys or set()))

    def loads(
        self,
        cells: Iterable[Entry],
        gpus: int,
        *,
        options: Sequence[str] = (),
        python: str | None = None,
    ) -> tuple[Load, ...]:
        """Divide cells into pieces for a number of GPUs."""
        return tuple(
            Load(
                target=self.target,
                arch=self.arch,
                cells=piece,
                pack=partial(pack_piece, self),
                options=tuple(options),
                python=python,
            )
            for piece in divide_cells(cells, gpus)
        )


_HINT = "Write such a folder with `compat build --out FOLDER`."


def program_of(path: Path) -> Path:
    """The path of the program that launches the content of a folder.

    Raises SelectionError if the folder has no index or no program.
    """
    if not (path / INDEX).is_file() or not (path / PROGRAM).is_file():
        raise SelectionError(
            "there is nothing to launch in this folder", where=str(path), hint=_HINT
        )
    return path / PROGRAM


def read_folder(path: Path) -> BuiltFolder:
    """Read the folder at a path. Raises SelectionError if it is not a valid build."""
    program_of(path)
    try:
        index = read_json((path / INDEX).read_bytes())
        folder = BuiltFolder(path=path, index=index)
        _ = folder.target, [(key_of(cell), cell["cell"], cell["series"]) for cell in index["cells"]]
        _ = folder.needs and folder.arch
        for cell in index["cells"]:
            path_below(f"objects/{cell['object']}")
        for problem in index["problems"].values():
            # All files beside a source are sent to the machine that launches.
            if path_below(str(problem["source"])).parts[:1] != (PROBLEMS,):
                raise ValueError(f"{problem['source']!r} is not in {PROBLEMS}")
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise SelectionError(
            f"cannot be read: {error}", where=str(path / INDEX), hint=_HINT
        ) from error
    return folder


def divide_cells(cells: Iterable[Entry], gpus: int) -> tuple[tuple[Entry, ...], ...]:
    """Divide cells into pieces of whole series and whole contests.

    Series on one problem follow each other, because a process makes its inputs once.
    """
    problems: dict[str, dict[str, list[Entry]]] = {}
    for cell in cells:
        together = cell.get("contest") or cell["series"]
        problems.setdefault(cell["problem"], {}).setdefault(together, []).append(cell)
    series = [cells_ for of_problem in problems.values() for cells_ in of_problem.values()]
    size = max(LEAST, -(-sum(map(len, series)) // (_PIECES_PER_GPU * max(1, gpus))))
    pieces: list[list[Entry]] = []
    for series_ in series:
        if not pieces or len(pieces[-1]) + len(series_) > max(size, len(series_)):
            pieces.append([])
        pieces[-1] += series_
    return tuple(tuple(piece) for piece in pieces)


def pack_piece(folder: BuiltFolder, cells: Sequence[Entry]) -> bytes:
    """Pack the files for launching some of the cells into a compressed tar file."""
    index = {**folder.index, "cells": list(cells), "left_out": []}
    problems = {cell["problem"] for cell in cells}
    index["problems"] = {
        digest: data for digest, data in folder.index["problems"].items() if digest in problems
    }
    places = {Path(str(data["source"])).parent for data in index["problems"].values()}
    paths = [
        folder.path / PROGRAM,
        *(folder.path / "objects" / name for name in sorted({cell["object"] for cell in cells})),
    ]
    for place in (
        *sorted(places),
        *(path.relative_to(folder.path) for path in sorted(folder.path.glob(PACKAGES))),
    ):
        paths += sorted(
            path
            for path in (folder.path / place).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        )
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz", compresslevel=1) as archive:
        data = json.dumps(index).encode()
        member = tarfile.TarInfo(INDEX)
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
        for path in paths:
            archive.add(path, path.relative_to(folder.path).as_posix(), recursive=False)
    return written.getvalue()
