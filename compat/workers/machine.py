"""What the machine refused: room for files, open files, processes, memory. None of it says anything about a kernel.

Two questions: what does an attempt say that it was refused (:func:`refusal`), and what does the machine lack at this moment
(:func:`lack`)? A kernel file can raise any error itself, so a refusal alone is no reason to end a command: it makes an attempt that
gave no answer. Where the machine does lack it, going on is of no use, and no failure is to be believed.
"""

from __future__ import annotations

import errno
import os
import re
import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from compat import toolchains
from compat.errors import REFUSALS, MachineError
from compat.model import Evidence
from compat.patterns import lazy_pattern
from compat.processes.supervisor import run

ROOM = 16 << 20
"""Bytes: with less room than this for temporary files, a compile that failed may have failed for that."""
_FILES = 32
"""With fewer further files on a file system than this, too."""
_PROBE = 1 << 20
_OPEN_FILES = 64
"""Files that a process must be able to have open, at least."""
_MEMORY = 64 << 20
_STARTING = 60.0
"""Seconds that a program which does nothing may take."""

_NUMBERS = frozenset(REFUSALS) - {errno.EACCES}
_WORDS = lazy_pattern(
    r"No space left on device|Disk quota exceeded|IO failure on output stream|Read-only file system|Input/output error"
    r"|Too many open files|can't start new thread|Resource temporarily unavailable"
)
"""What compilers and assemblers print where a system call was refused."""
_OUT_OF_MEMORY = lazy_pattern(r"MemoryError|std::bad_alloc|Cannot allocate memory|LLVM ERROR: out of memory|failed to map segment")


def refusal(evidence: Evidence, folder: Path) -> str | None:
    """What an attempt says that the machine refused it; ``None`` where it says no such thing. ``folder`` is its private one."""
    for link in evidence.raised:
        if link.errno in _NUMBERS or (link.errno == errno.EACCES and str(folder) in link.message):
            return f"{link.type}: {link.message}"
    for text in _texts(evidence):
        if found := _WORDS.search(text) or _killed(text):
            return _line(text, found)
    return None


def _killed(text: str) -> re.Match[str] | None:
    """Where a text tells of an assembler that was ended from outside."""
    patterns = (each.ir.parts.assembler.killed for each in toolchains.every() if each.ir.parts)
    return next((found for pattern in patterns if (found := pattern.search(text))), None)


def lack(evidence: Evidence, folder: Path) -> MachineError | None:
    """What the machine lacks at the moment that may be why this attempt failed; ``None`` where there is enough of all."""
    if short := _short_of_room(folder):
        return short
    said = refusal(evidence, folder)
    return _checked(folder, said) if said else _short_of_memory(evidence)


def _short_of_room(folder: Path) -> MachineError | None:
    try:
        status = os.statvfs(folder if folder.is_dir() else folder.parent)  # a kernel's file can remove its own folder
    except OSError as error:
        return MachineError.of(error)
    where = str(folder.parent)
    if status.f_flag & os.ST_RDONLY:
        return MachineError.about(errno.EROFS, "mounted read-only", where)
    if (room := status.f_bavail * status.f_frsize) < ROOM:
        return MachineError.about(errno.ENOSPC, f"{room / 2**20:.1f} MiB are free, {ROOM >> 20} are needed", where)
    if status.f_files and status.f_favail < _FILES:
        return MachineError.about(errno.ENOSPC, f"only {status.f_favail} further files can be made", where)
    return None


def _short_of_memory(evidence: Evidence) -> MachineError | None:
    """Where a compile got no more memory: the machine's fault if the user's shell limits it, or nothing is left."""
    words = " ".join([evidence.stderr, *(f"{link.type}: {link.message}" for link in evidence.raised)])
    if not _OUT_OF_MEMORY.search(words):
        return None
    for name in ("RLIMIT_AS", "RLIMIT_DATA"):
        limit, _ = resource.getrlimit(getattr(resource, name))
        if limit != resource.RLIM_INFINITY:
            return MachineError.about(errno.ENOMEM, f"a process may have {limit / 2**20:,.0f} MiB, by {name}")
    return _no_memory_left()


def _checked(folder: Path, said: str) -> MachineError | None:
    """Try for oneself whether the machine refuses what it is said to refuse."""
    try:
        _write_into(folder)
        run(["true"], timeout=_STARTING)
    except MachineError as error:
        return error
    except OSError as error:
        if error.errno != errno.ENOENT:
            return MachineError.of(error)
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit < _OPEN_FILES and limit != resource.RLIM_INFINITY:
        return MachineError.about(errno.EMFILE, f"{limit} may be; {said}")
    return _no_memory_left()


def _write_into(folder: Path) -> None:
    probe = folder / "probe"
    try:
        probe.write_bytes(b"\1" * _PROBE)
    finally:
        with suppress(OSError):
            probe.unlink()


def _no_memory_left() -> MachineError | None:
    try:
        fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines())
        left = int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None
    return MachineError.about(errno.ENOMEM, f"{left >> 20} MiB are available") if left < _MEMORY else None


def _texts(evidence: Evidence) -> Iterator[str]:
    yield evidence.stderr
    yield from (link.message for link in evidence.raised)


def _line(text: str, found: re.Match[str]) -> str:
    """The line that a match is on, bounded."""
    start, end = text.rfind("\n", 0, found.start()) + 1, text.find("\n", found.end())
    return text[max(start, found.start() - 200) : end if 0 <= end < found.end() + 200 else found.end() + 200].strip()
