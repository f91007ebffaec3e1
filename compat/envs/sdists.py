"""The Python files of a source distribution, for a library that cannot be built here.

They go where an installer would put them: the packages that the distribution names (``top_level.txt``, which setuptools writes), or
the one that is called as it is, or those that lie at its top.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

from compat.envs.wheels import File

_LARGEST = 16 * 1024 * 1024
"""Bytes of a Python file that is unpacked."""
_TOGETHER = 512 * 1024 * 1024
"""Bytes of all of them."""
_TOP = "top_level.txt"
_NOT_INSTALLED = {"benchmark", "benchmarks", "doc", "docs", "example", "examples", "scripts", "test", "tests", "tools"}
"""Folders that usually lie beside the packages of a library and are no part of it."""

_Files = Mapping[PurePosixPath, bytes]
"""The Python files of a distribution, by their paths below its folder."""


def version_of(filename: str, name: str) -> Version | None:
    """The version that a file of a library is of, a wheel or a source distribution; ``None`` for other files."""
    parse = parse_wheel_filename if filename.endswith(".whl") else parse_sdist_filename
    try:
        found, version, *_ = parse(filename)
    except (InvalidWheelFilename, InvalidSdistFilename, ValueError):
        return None
    return version if found == name else None


def unpack_python(file: File, name: str, target: Path) -> bool:
    """Download a source distribution of a library and unpack the Python files of its packages into a folder.

    Returns False where it is none, or has none. Raises IndexUnavailable where it cannot be downloaded, OSError where the folder
    cannot be written.
    """
    if file.filename.endswith(".whl"):
        return False
    from compat.envs.index import download  # and with it all of HTTP

    try:
        files, declared = _read(file.filename, download(file))
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, ValueError):
        return False
    unpacked = False
    for package in declared or _guessed(files, name):
        for path, content in _of_package(files, package):
            place = target / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            unpacked = True
    return unpacked


def _read(filename: str, archive: bytes) -> tuple[_Files, tuple[str, ...]]:
    """The Python files, and the packages that the distribution names, if it does. Raises ValueError for one that is too large."""
    members = _of_zip if filename.endswith(".zip") else _of_tar
    files: dict[PurePosixPath, bytes] = {}
    declared: tuple[str, ...] = ()
    size = 0
    for name, content in members(archive):
        size += len(content)
        if size > _TOGETHER:
            raise ValueError(f"its Python files have more than {_TOGETHER:,} bytes")
        path = PurePosixPath(*PurePosixPath(name).parts[1:])
        if path.name == _TOP:
            declared = declared or tuple(content.decode(errors="replace").split())
        elif path.parts and not path.is_absolute() and ".." not in path.parts:
            files[path] = content
    return files, tuple(each for each in declared if each.isidentifier())


def _of_tar(archive: bytes) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            if member.isreg() and _is_wanted(member.name, member.size) and (file := tar.extractfile(member)):
                yield member.name, file.read()


def _of_zip(archive: bytes) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(archive)) as folder:
        for member in folder.infolist():
            if _is_wanted(member.filename, member.file_size):
                yield member.filename, folder.read(member)


def _is_wanted(name: str, size: int) -> bool:
    return name.endswith((".py", f".egg-info/{_TOP}")) and size <= _LARGEST


def _guessed(files: _Files, name: str) -> tuple[str, ...]:
    """The packages of a distribution that names none."""
    own = name.replace("-", "_")
    if any(_of_package(files, own)):
        return (own,)
    depths = {("src",): 3, (): 2}
    tops = {path.parts[-2] for path in files if path.name == "__init__.py" and depths.get(path.parts[:-2]) == len(path.parts)}
    return tuple(sorted(tops - _NOT_INSTALLED))


def _of_package(files: _Files, package: str) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The files of a package, or of a module, where it lies least deep, with their paths as they are imported."""
    parts = (package, f"{package}.py")
    parents = [path.parts[: path.parts.index(part)] for path in files for part in parts if part in path.parts]
    parents = [each for each in parents if not _NOT_INSTALLED.intersection(each)]
    if not parents:
        return
    depth = min(map(len, parents))
    above = next(each for each in parents if len(each) == depth)
    for path, content in files.items():
        if path.parts[:depth] == above and path.parts[depth] in parts:
            yield PurePosixPath(*path.parts[depth:]), content
