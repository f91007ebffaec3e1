"""Files that are written atomically, templates, temporary folders, and parts of growing files.

A command that is killed with SIGKILL cannot remove its temporary folders. So each temporary folder
is locked while its command lives, and later commands remove folders without a lock.

Files that another process writes are read in bounded parts, and only with ``pread``, because that
process may write, cut or extend them meanwhile.
"""

from __future__ import annotations

import atexit
import errno
import fcntl
import hashlib
import logging
import os
import secrets
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from compat.errors import MachineError, StoreError
from compat.interruption import Stopped
from compat.text import lazy_pattern

if TYPE_CHECKING:
    from jinja2 import Environment

_log = logging.getLogger(__name__)


def check_writable(output: Path) -> None:
    """Check that files can be written to the folder of ``--output``, and leave no file behind.

    Raises StoreError if they cannot.
    """
    there = next(parent for parent in (output, *output.absolute().parents) if parent.exists())
    hint = "Choose another folder with --output."
    with StoreError.for_os_errors("cannot write to this folder", where=output, hint=hint):
        tempfile.TemporaryFile(dir=there).close()


def replace_file(
    path: Path, content: str | bytes | Iterator[str], *, keep_mode: bool = False
) -> None:
    """Write a file atomically, and create its folder if it is missing.

    ``keep_mode`` keeps the permissions of the old file. The content may be an iterator of pieces,
    which are written one after the other. Raises OSError. In that case the old file is unchanged,
    and no incomplete file stays.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:  # "File exists" does not say what is wrong
        raise NotADirectoryError(
            errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path.parent)
        ) from error
    partial = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        if isinstance(content, bytes):
            partial.write_bytes(content)
        else:
            with partial.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
                file.writelines([content] if isinstance(content, str) else content)
        if keep_mode and path.exists():
            partial.chmod(stat.S_IMODE(path.stat().st_mode))
        partial.replace(path)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise


def keep_file(path: Path, content: str | bytes) -> None:
    """Write a file that only saves work. An error of the disk is logged, and not raised."""
    try:
        replace_file(path, content)
    except OSError as error:
        _log.info("%s cannot be written: %s", path, error)


def content_of(path: Path, limit: int) -> bytes | None:
    """Return the content of a regular file of at most ``limit`` bytes.

    Returns ``None`` for a missing, unreadable or larger file, and for anything else, such as a
    pipe, which would block.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size > limit:
            return None
        with open(fd, "rb", closefd=False) as file:
            # Python first allocates as much memory as it may read, so the limit may be too much.
            return file.read(min(limit, status.st_size + 1))
    except OSError:
        return None
    finally:
        os.close(fd)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold an exclusive lock on an existing folder. Raises OSError.

    It has no effect on a file system without locks.
    """
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


@lru_cache
def folder_digest(folder: Path) -> str:
    """Return the SHA-256 over the Python files in a folder, without subfolders."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(f"{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()


@lru_cache
def templates(
    package: str, folder: str = "templates", *, escape: bool = False, **delimiters: Any
) -> Environment:
    """Return the Jinja templates in a folder of a package. ``escape`` is for HTML.

    Equal arguments give the same object, since it takes 10 ms to compile a template.
    """
    # Most commands do not need Jinja, because they write no such file.
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader(package, folder),
        autoescape=escape,  # noqa: S701 - Markdown, Python and YAML have no HTML
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **delimiters,
    )


# --- temporary folders ----------------------------------------------------------------------------

_LOCK = threading.Lock()
_CLAIMED: set[Path] = set()
_cleared: set[str] = set()
"""Folders for temporary files from which this process has removed the folders of killed commands.
"""
_swept = False

_NAME = lazy_pattern(r"compat-[a-z]+-[0-9a-f]{16}")
_UNQUOTED = lazy_pattern(r"[\w@%+=:,./-]+")
"""A path that a shell reads as one word, in any script."""
_ATTEMPTS = 10
"""The most names that are tried, if another command removes a new folder before it is locked."""


class Closing:
    """Something that is closed at the end of a ``with`` block."""

    def close(self) -> None:
        """Release what it holds."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class TemporaryFolder:
    """A private folder, removed with its content when it is closed or when the command ends."""

    def __init__(self, prefix: str) -> None:
        """Create the folder.

        Raises MachineError if that fails, and Stopped if the command is ending.
        """
        try:
            place = folder_for_temporary()
            _clear(place)
            self.path, self._lock = _make_folder(place, prefix)
        except OSError as error:
            where = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 - a word of the message
            raise MachineError.of(error, where=where) from error

    def close(self) -> None:
        """Remove the folder."""
        remove_folder(self.path)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.close()


def folder_for_temporary() -> str:
    """Return the folder for temporary files: that of ``TMPDIR``, if its path needs no quotes.

    Some compilers name temporary files in the command of a shell, and do not quote them.
    """
    usual = tempfile.gettempdir()
    return usual if _UNQUOTED.fullmatch(usual) else "/tmp"  # noqa: S108 - folders in it are private


def claim_folder(path: Path) -> None:
    """Claim a folder: it is removed when the command ends, unless it is released before.

    Call it before the folder is created. Raises Stopped if the command is ending.
    """
    with _LOCK:
        if _swept:
            raise Stopped
        _CLAIMED.add(path)


def release_folder(path: Path) -> None:
    """Release a claimed folder, so that it stays after the command ends."""
    with _LOCK:
        _CLAIMED.discard(path)


def remove_folder(path: Path) -> None:
    """Remove a claimed folder, and release it. Errors are ignored."""
    _remove(path)
    release_folder(path)


def remove_claimed() -> None:
    """Remove all claimed folders. From now on, no folder can be claimed."""
    global _swept  # noqa: PLW0603 - one flag for the process
    with _LOCK:
        _swept = True
        remaining = set(_CLAIMED)
    for path in remaining:
        remove_folder(path)


atexit.register(remove_claimed)  # for other programs that use this package and end normally


def _make_folder(place: str, prefix: str) -> tuple[Path, int | None]:
    """Create a claimed folder, and return it with the descriptor that holds its lock.

    The descriptor is ``None`` if the file system has no locks. Raises OSError.
    """
    for _ in range(_ATTEMPTS):
        path = Path(place, prefix + secrets.token_hex(8))
        claim_folder(path)
        path.mkdir(mode=0o700)
        try:
            lock = _lock(path)
        # Another command removed the folder as a leftover before it was locked.
        except (FileNotFoundError, BlockingIOError):
            release_folder(path)
            continue
        except OSError:
            return path, None
        if path.exists():
            return path, lock
        os.close(lock)
        release_folder(path)
    raise FileNotFoundError(f"{place}: temporary files vanish at once")


def _clear(place: str) -> None:
    """Remove the temporary folders of this user's killed commands. It acts once per process."""
    if place in _cleared:
        return
    _cleared.add(place)
    with os.scandir(place) as entries:
        folders = [
            entry.path
            for entry in entries
            if _NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
        ]
    for path in folders:
        with suppress(OSError):
            _remove_abandoned(path)


def _remove_abandoned(path: str) -> None:
    if os.lstat(path).st_uid != os.getuid():
        return
    lock = _lock(path)
    try:
        _log.info("removing %s, left by a killed command", path)
        _remove(Path(path))
    finally:
        os.close(lock)


def _lock(path: str | Path) -> int:
    """Lock a folder for as long as the descriptor is open.

    Raises BlockingIOError if another process has the lock, OSError if locking is impossible.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    if path.exists():  # a kernel file may create folders without permissions
        _open_up(path)
        shutil.rmtree(path, ignore_errors=True)


def _open_up(folder: Path) -> None:
    with suppress(OSError):
        folder.chmod(stat.S_IRWXU)
        for entry in os.scandir(folder):
            if entry.is_dir(follow_symlinks=False):
                _open_up(Path(entry.path))


# --- parts of a file that another process writes --------------------------------------------------

_CHUNK = 1 << 20


def read_end(fd: int, limit: int) -> str:
    """Return the last ``limit`` bytes of a file as text, after a note of the bytes left out."""
    size = os.fstat(fd).st_size
    text = read_bytes(fd, max(0, size - limit), size).decode(errors="replace")
    return text if size <= limit else f"[… {size - limit:,} bytes left out …]\n{text}"


def read_ends(fd: int, start: int, end: int | None, limit: int, heading: str = "") -> str:
    """Return the text between two offsets of a file; if it is too long, its beginning and end.

    Args:
        fd: The file.
        start: First offset.
        end: Offset after the last byte. ``None``: the end of the file.
        limit: The most bytes to return. For a longer text, an eighth of them comes from the
            beginning and the rest from the end. A note between the two says how much is left out.
        heading: The beginning of lines that are headings. The last heading in the part that is left
            out comes before the end part, so that this is not read as part of an earlier section.
    """
    size = os.fstat(fd).st_size
    start = min(start, size)
    end = size if end is None else max(start, min(end, size))
    if end - start <= limit:
        return read_bytes(fd, start, end).decode(errors="replace")
    head = read_bytes(fd, start, start + limit // 8)
    head = head[: head.rfind(b"\n") + 1] or head + b"\n"
    tail_start = end - (limit - limit // 8)
    tail = read_bytes(fd, tail_start, end)
    last = _last_line(fd, start, tail_start, b"\n" + heading.encode()) if heading else b""
    cut = tail.find(b"\n") + 1
    tail = tail[cut:] if cut < len(tail) else tail
    note = f"[… {tail_start - start - limit // 8:,} bytes left out …]\n".encode()
    inside = last + b"// " + note if last else b""
    return (head + note + inside + tail).decode(errors="replace")


def read_bytes(fd: int, start: int, end: int) -> bytes:
    """Return the bytes between two offsets; fewer if the file ends before."""
    pieces: list[bytes] = []
    while start < end and (piece := os.pread(fd, min(end - start, 64 * _CHUNK), start)):
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)


def _last_line(fd: int, start: int, end: int, beginning: bytes) -> bytes:
    """Return the last line with this beginning between two offsets; empty if there is none.

    ``beginning`` includes the newline before the line. The line has at most 4 KiB.
    """
    while end > start:
        low = max(start, end - _CHUNK)
        chunk = read_bytes(fd, low, end + len(beginning))
        at = chunk.rfind(beginning)
        if at >= 0:
            line = read_bytes(fd, low + at + 1, low + at + 4096)
            return line.partition(b"\n")[0] + b"\n"
        end = low
    return b""
