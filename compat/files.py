"""Files that are there whole, or not at all."""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path


def replace_file(path: Path, content: str | bytes | Iterator[str], *, keep_mode: bool = False) -> None:
    """Put a file in its place all at once, making its folder where there is none; ``keep_mode`` gives it the old one's permissions.

    The content may come in pieces, which are written as they come. Raises OSError; what was there before is untouched then, and
    nothing half-written is left.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
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


def content_of(path: Path, limit: int) -> bytes | None:
    """What is in a regular file of at most ``limit`` bytes; ``None`` where there is none, or something else: a pipe would block."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size > limit:
            return None
        with open(fd, "rb", closefd=False) as file:
            return file.read(min(limit, status.st_size + 1))  # and not of the limit: so much memory is taken first
    except OSError:
        return None
    finally:
        os.close(fd)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """One process at a time in a folder, which has to be there. Raises OSError."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


@lru_cache
def folder_digest(folder: Path) -> str:
    """SHA-256 over the Python files of a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(f"{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()
