"""The folder that is carried to a GPU host, and its archive."""

from __future__ import annotations

import hashlib
import json
import shutil
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from packaging.version import Version

from compat.bundle.closure import helpers_of
from compat.errors import SelectionError, StoreError
from compat.files import replace_file
from compat.launch.building import Built, Launchable
from compat.model import Cell, Problem

SCHEMA = 1
INDEX = "index.json"
PROGRAM = "launch.py"
TEXTS = "texts"
"""The folder with what binaries were assembled from, by the hash of the binary, where that is kept."""
PACKAGES = {"compat_launch": Path(__file__).parent / "host", "compat_numerics": Path(__file__).parent.parent / "numerics"}
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
    """Write the folder; what a build before this one has left in it is replaced, but for results. Its ``launch.py``.

    Raises SelectionError where the folder has other files in it, and StoreError where it cannot be written.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / INDEX).exists():
        hint = "Name a folder that is not there yet, or one that was built before."
        raise SelectionError("the folder has files that are of no build", where=str(folder), hint=hint)
    try:
        for name in ("objects", TEXTS, "problems", "compat_launch", "compat_numerics"):
            shutil.rmtree(folder / name, ignore_errors=True)
        _write_programs(folder)
        sources = {digest: _write_problem(folder, problem) for digest, problem in _problems(built.launchable).items()}
        for each in built.launchable:
            _put(folder / "objects" / object_of(each), each.binary)
            if keep_text:
                _put(folder / TEXTS / object_of(each), each.text.encode())
        replace_file(folder / INDEX, json.dumps(_index(built, sources), indent=1) + "\n")
    except OSError as error:
        raise StoreError(
            f"the folder cannot be written: {error}", where=str(folder), hint="Name another one with --out."
        ) from error
    return folder / PROGRAM


def pack(folder: Path) -> Path:
    """The folder as a compressed archive beside it, without results. Raises StoreError."""
    path = folder.with_name(folder.name + ".tar.xz")
    try:
        with tarfile.open(path, "w:xz", preset=6) as archive:
            for each in sorted(folder.rglob("*")):
                if each.is_file() and each.suffix != ".jsonl" and "__pycache__" not in each.parts:
                    archive.add(each, str(Path(folder.name) / each.relative_to(folder)), recursive=False, filter=_plain)
    except OSError as error:
        raise StoreError(f"the archive cannot be written: {error}", where=str(path), hint="Make room for it.") from error
    return path


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Nothing of who packed it and when: equal folders are equal archives."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = 0
    member.mode = 0o644
    return member


def object_of(each: Launchable) -> str:
    """The name of a binary: its SHA-256."""
    return hashlib.sha256(each.binary).hexdigest()


def _write_programs(folder: Path) -> None:
    for name, source in PACKAGES.items():
        for path in sorted(source.glob("*.py")):
            _put(folder / name / path.name, path.read_bytes())
    replace_file(folder / PROGRAM, ENTRY)


def _problems(launchable: Iterable[Launchable]) -> dict[str, Problem]:
    return {each.digest: each.problem for each in launchable}


def _write_problem(folder: Path, problem: Problem) -> Mapping[str, Any]:
    """The module of a problem with what it imports from beside it; what the index says of the problem."""
    source = Path(problem.source)
    place = Path("problems") / problem.closure[:16]
    for path in (source, *(each for each in helpers_of(source) if each.is_relative_to(source.parent))):
        _put(folder / place / path.relative_to(source.parent), path.read_bytes())
    return {
        "source": (place / source.name).as_posix(),
        "function": problem.function,
        "dtype": problem.dtype,
        "parameters": dict(problem.parameters),
    }


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _index(built: Built, problems: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    target = built.target
    return {
        "schema": SCHEMA,
        "target": {"name": target.name, "backend": target.backend, "arch": target.arch},
        "problems": problems,
        "cells": [facts_of(each) for each in sorted(built.launchable, key=lambda each: _place(each.cell))],
        "left_out": [{"cell": each.cell.id, "why": each.why} for each in built.left_out],
    }


def _place(cell: Cell) -> tuple[str, Version, str]:
    """By which cells stand beside their neighbours in the line of releases."""
    return _series(cell), cell.env.release or Version("0"), cell.env.name


def _series(cell: Cell) -> str:
    return f"{cell.spec.kernel}/{cell.spec.variant}/{cell.spec.case}/{cell.target.name}"


def facts_of(each: Launchable) -> dict[str, Any]:
    """A cell as the index has it."""
    spec = each.cell.spec
    ones = sorted(spec.compile.ones)
    return {
        "cell": each.name,
        "identity": each.identity,
        "series": _series(each.cell),
        "object": object_of(each),
        "problem": each.digest,
        "launch": dict(each.launch),
        "divisible_by_16": list(spec.compile.divisible_by_16),
        "equal_to_1": ones,
    }
