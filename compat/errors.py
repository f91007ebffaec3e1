"""Errors of use: the tool could not do what the user asked.

A failing kernel is data, in records. Each class has an exit code. An error says what is wrong,
where, and what to do next. Only the command line turns an error into text and an exit.
"""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from compat.text import printable


class CompatError(Exception):
    """Base class of errors of use.

    ``where`` is the place of the fault (``matrix.toml: env[2].triton``). ``hint`` is the next step.
    Quoted parts of files and programs are made printable.
    """

    exit_code = 2

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(printable(f"{where}: {message}" if where else message))
        self.where = where
        self.hint = None if hint is None else printable(hint)

    @classmethod
    @contextmanager
    def for_os_errors(
        cls, message: str, *, where: Path | str, hint: str | None = None
    ) -> Iterator[None]:
        """Raise any OSError inside of the block as this error, with the system's reason."""
        try:
            yield
        except OSError as error:
            raise cls(
                f"{message}: {error.strerror or error}", where=str(where), hint=hint
            ) from error

    def __reduce__(self) -> tuple[object, ...]:
        """Support pickling, with ``where`` and ``hint``, because errors pass between processes."""
        return _again, (type(self), str(self), self.where, self.hint)


def _again(kind: type[CompatError], text: str, where: str | None, hint: str | None) -> CompatError:
    error = kind(text, hint=hint)
    error.where = where
    return error


class ConfigError(CompatError):
    """A TOML file is invalid: an unknown key, a wrong type, an impossible version."""

    exit_code = 2


class SelectionError(CompatError):
    """A name or glob matches nothing, or an argument is invalid."""

    exit_code = 3


class EnvError(CompatError):
    """No environment can be used. A single broken environment among several is data, no error."""

    exit_code = 4


class StoreError(CompatError):
    """Results cannot be read or written: a full disk, a foreign file, no permission."""

    exit_code = 5


class IndexUnavailable(CompatError):
    """The package index did not answer, or its answer lacks the requested information."""

    exit_code = 6


_LOADING = (
    ("failed to map segment from shared object", errno.ENOMEM),
    ("cannot map zero-fill pages", errno.ENOMEM),
    (os.strerror(errno.ENOMEM), errno.ENOMEM),
    (os.strerror(errno.ENFILE), errno.ENFILE),
    (os.strerror(errno.EMFILE), errno.EMFILE),
)
"""The dynamic loader's message for a lack of memory or files, and the ``errno`` of that error.

The loader itself does not report the ``errno``.
"""
REFUSALS: Mapping[int, str] = {
    errno.ENOSPC: "no space left for temporary files",
    errno.EDQUOT: "the quota for files is used up",
    errno.EROFS: "cannot write temporary files: the file system is read-only",
    errno.EACCES: "cannot write temporary files",
    errno.EIO: "the disk reports I/O errors",
    errno.EMFILE: "too many files are open in one process",
    errno.ENFILE: "too many files are open on this machine",
    errno.EAGAIN: "cannot start another process or thread",
    errno.ENOMEM: "no memory left",
}
"""Error number of the system → its meaning, for refusals of resources that every program needs."""

_OUTPUT = "<stdout>"
"""Python's name of standard output."""
_ROOM = "Free space in the folder for temporary files, or set TMPDIR to another one"
_HINTS: Mapping[int, str] = {
    errno.EMFILE: "Raise the limit (`ulimit -n`)",
    errno.ENFILE: "Close other programs",
    errno.EAGAIN: "End other processes, or raise the limit (`ulimit -u`; for memory `ulimit -v`)",
    errno.ENOMEM: "End other processes, or raise the limit (`ulimit -v`); fewer --jobs need less",
}


def memory_limit() -> str:
    """Return the shell's limit on the memory of a process in a sentence; empty if there is none."""
    for name in ("RLIMIT_AS", "RLIMIT_DATA"):
        limit, _ = resource.getrlimit(getattr(resource, name))
        if limit != resource.RLIM_INFINITY:
            return f"{name} allows a process {limit / 2**20:,.0f} MiB"
    return ""


class MachineError(CompatError):
    """The machine lacks a resource that compiling needs: disk, open files, processes, memory.

    It says nothing about a kernel. Finished cells are kept.
    """

    exit_code = 7

    @classmethod
    def of(cls, error: OSError, where: str | None = None) -> Self:
        """Return the error for an ``OSError`` of this program."""
        if error.filename == _OUTPUT:
            hint = "Free space there, or redirect the output. Finished work is saved."
            return cls(f"cannot write: {error.strerror}", where="standard output", hint=hint)
        number = error.errno or 0
        return cls.about(
            number, error.strerror or str(error), where=str(error.filename or "") or where
        )

    @classmethod
    def about(cls, number: int, message: str, where: str | None = None) -> Self:
        """Return the error for a system error number with the message ``message``.

        The shell's limit on memory is part of it if the machine refuses memory, a process or a
        thread, which needs a stack.
        """
        limit = memory_limit() if number in (errno.ENOMEM, errno.EAGAIN) else ""
        details = "; ".join(filter(None, (message, limit)))
        means = REFUSALS.get(number, "cannot create temporary files")
        hint = (
            f"{_HINTS.get(number, _ROOM)}. Finished work is saved; run the same command again to"
            " continue, without --again if it has that."
        )
        return cls(f"{means} ({details})", where=where, hint=hint)

    def after(self, done: int, total: int) -> Self:
        """Return the error with the number of finished cells."""
        return type(self)(
            f"{self}; {done:,} of {total:,} cells are finished and saved", hint=self.hint
        )


class ClusterError(MachineError):
    """The cluster cannot be used: no scheduler, no worker, or different versions.

    It says nothing about a kernel. Finished cells are kept.
    """

    exit_code = 8


class UnknownAction(CompatError):
    """A worker does not know an action that it was asked for. It says nothing about a kernel."""

    @classmethod
    def of(cls, names: Sequence[str], where: str) -> Self:
        """Return the error for unknown actions of the worker in ``where``."""
        return cls(
            f"this worker does not support: {', '.join(names)}",
            where=where,
            hint="Its toolchain has no such action.",
        )


def is_refusal(error: OSError) -> bool:
    """Whether an ``OSError`` means that the machine lacks a resource.

    A missing permission (EACCES) does not count, because it may depend on the request.
    """
    return error.errno in REFUSALS and error.errno != errno.EACCES


def refusal(error: BaseException) -> MachineError | None:
    """The error for a refusal of the machine that an exception reports.

    A removed current folder counts. It is ``None`` if the exception is about something else.
    """
    if isinstance(error, OSError):
        if _without_folder(error):
            return MachineError("the current folder was removed", hint="Change to another folder.")
        return MachineError.of(error) if is_refusal(error) else None
    if isinstance(error, MemoryError):
        return MachineError.about(errno.ENOMEM, "for this program")
    if isinstance(error, ImportError):
        return _import_refusal(error)
    if "can't start new thread" not in str(error):
        return None
    return MachineError.about(errno.EAGAIN, str(error))


def _without_folder(error: OSError) -> bool:
    """Whether it is the error of a call that needs the current folder, which was removed."""
    if error.errno != errno.ENOENT or error.filename is not None:
        return False
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def _import_refusal(error: ImportError) -> MachineError | None:
    """Return the refusal that explains why a C extension could not be loaded.

    It is ``None`` if the machine did not refuse the import.
    """
    number = next((number for phrase, number in _LOADING if phrase in str(error)), None)
    if number is None or _may_not_be_loaded(error):
        return None
    return MachineError.about(number, str(error))


def _may_not_be_loaded(error: ImportError) -> bool:
    """Whether the file system of the module is mounted with ``noexec``.

    The loader reports that with the same message as a lack of memory.
    """
    try:
        return bool(error.path and os.statvfs(error.path).f_flag & os.ST_NOEXEC)
    except OSError:
        return False
