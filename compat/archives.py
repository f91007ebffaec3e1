"""Untrusted archives, checked as a whole before any of their files is used or written.

In: the bytes of an archive. Out: its files, by their paths below a folder. An archive is refused if
it has members other than files and folders below its own folder, or if it exceeds its limits.
"""

from __future__ import annotations

import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any

from attrs import frozen

Files = Mapping[PurePosixPath, bytes]
"""The contents of files, by their paths below a folder."""

_CHUNK = 1 << 16
_HEADERS = 8192
"""Bytes that a tar file may have for each member besides its content."""
_PLAIN = (tarfile.REGTYPE, tarfile.AREGTYPE)
_UNREADABLE = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, OSError, ValueError, ArithmeticError, LookupError, RuntimeError),
)
"""The exceptions of Python's readers for damaged archives."""


class BadArchive(ValueError):
    """Bytes are not an archive, or an archive is refused. The message says why."""


@frozen(kw_only=True)
class ArchiveLimits:
    """The most files and bytes that an archive may have."""

    members: int
    """Files and folders."""
    size: int
    """Bytes of all files together."""


def read_tar(
    data: bytes, limits: ArchiveLimits, name_filter: Callable[[str], bool] = lambda _: True
) -> Files:
    """Return the files of a tar archive, plain or in gzip.

    Args:
        data: The archive.
        limits: The most that it may have, including members that are not used.
        name_filter: Whether a member of that name is used. Others are neither checked nor returned.

    Raises:
        BadArchive: It is damaged, it exceeds the limits, or a used member is not a file or folder
            below the archive's own folder.
    """
    opened: io.BufferedIOBase = (
        gzip.GzipFile(fileobj=io.BytesIO(data)) if data[:2] == b"\x1f\x8b" else io.BytesIO(data)
    )
    stream: Any = _Bounded(opened, limits.size + limits.members * _HEADERS)
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            files = _read_members(_tar_members(archive, name_filter), limits)
        while stream.read(_CHUNK):  # gzip checks the checksum at the end
            pass
    except BadArchive:
        raise
    except _UNREADABLE as error:
        raise BadArchive(f"it is damaged: {error}") from error
    return files


def read_zip(
    data: bytes, limits: ArchiveLimits, name_filter: Callable[[str], bool] = lambda _: True
) -> Files:
    """Return the files of a zip archive. Arguments and errors are those of :func:`read_tar`."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _read_members(_zip_members(archive, limits.size, name_filter), limits)
    except BadArchive:
        raise
    except _UNREADABLE as error:
        raise BadArchive(f"it is damaged: {error}") from error


def write_files(files: Files, folder: Path) -> None:
    """Write files into a folder that has no others. Raises OSError."""
    for path, content in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("xb") as file:
            file.write(content)


def path_below(name: str) -> PurePosixPath:
    """Return the path of a file below the folder that the path starts from.

    Raises:
        BadArchive: The path leads out of that folder.
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name:
        raise BadArchive(f"{name!r} is not below its folder")
    return path


class _Bounded:
    """A file from which at most ``most`` bytes may be read."""

    def __init__(self, file: IO[bytes] | io.BufferedIOBase, most: int) -> None:
        self._file, self._most, self._room = file, most, most

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(min(size, self._room + 1) if size >= 0 else self._room + 1)
        self._room -= len(data)
        if self._room < 0:
            raise BadArchive(f"it unpacks to more than {self._most:,} bytes")
        return data


_Member = tuple[str, Callable[[], bytes] | None]
"""A name, and a function that reads its content; ``None`` for a folder or an unwanted file."""


def _tar_members(archive: tarfile.TarFile, name_filter: Callable[[str], bool]) -> Iterator[_Member]:
    for member in archive:
        if not name_filter(member.name):
            yield "", None
        elif member.isdir():
            yield member.name, None
        elif member.type not in _PLAIN or member.sparse is not None:
            raise BadArchive(f"{member.name!r} is neither a file nor a folder")
        else:
            yield member.name, partial(_content, archive, member)


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    content = file.read() if file is not None else b""
    if len(content) != member.size:
        raise BadArchive(f"{member.name!r} is cut short")
    return content


def _zip_members(
    archive: zipfile.ZipFile, most: int, name_filter: Callable[[str], bool]
) -> Iterator[_Member]:
    for member in archive.infolist():
        kind = member.external_attr >> 16 & 0o170000
        if not name_filter(member.filename):
            yield "", None
        elif member.is_dir():
            yield member.filename, None
        elif kind not in (0, 0o100000):
            raise BadArchive(f"{member.filename!r} is neither a file nor a folder")
        else:
            yield member.filename, partial(_unzip, archive, member, most)


def _unzip(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes:
    with archive.open(member) as file:
        return _Bounded(file, most).read()


def _read_members(members: Iterator[_Member], limits: ArchiveLimits) -> Files:
    """Read the files of members. Each member is checked before it is read."""
    files: dict[PurePosixPath, bytes] = {}
    folders, room = set[PurePosixPath](), limits.size
    for number, (name, read) in enumerate(members, 1):
        if number > limits.members:
            raise BadArchive(f"it has more than {limits.members:,} members")
        path = path_below(name)
        folders.update(path.parents if read else (path, *path.parents))
        if read is None:
            continue
        if not path.parts:
            raise BadArchive("a file has no name")
        if path in files:
            raise BadArchive(f"{name!r} is there twice")
        files[path] = read()
        room -= len(files[path])
        if room < 0:
            raise BadArchive(f"its files have more than {limits.size:,} bytes")
    if conflicts := folders & files.keys():
        raise BadArchive(f"{str(min(conflicts))!r} is both a file and a folder")
    return files
