"""Errors of use: what the tool could not act on.

A kernel that fails is data, in the records; an exception here means that the tool cannot do what it was asked. Each
class carries its own exit code and says what is wrong, where, and what to do next. Only the command line turns one into text and
an exit.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from typing import Any, Self

from compat.text import printable


class CompatError(Exception):
    """Base of all errors of use.

    ``where`` is a path a reader can go to (``matrix.toml: env[2].triton``), ``hint`` the next thing to do. What they quote of files
    and programs is made printable.
    """

    exit_code = 2

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(printable(f"{where}: {message}" if where else message))
        self.where = where
        self.hint = None if hint is None else printable(hint)

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors travel between processes, with where and what to do next."""
        return _again, (type(self), str(self), self.where, self.hint)


def _again(kind: type[CompatError], text: str, where: str | None, hint: str | None) -> CompatError:
    error = kind(text, hint=hint)
    error.where = where
    return error


class ConfigError(CompatError):
    """A TOML file is invalid: an unknown key, a wrong type, an impossible version."""

    exit_code = 2


class SelectionError(CompatError):
    """A name or glob on the command line matches nothing."""

    exit_code = 3


class EnvError(CompatError):
    """No environment could be used at all (one of several being broken is data)."""

    exit_code = 4


class StoreError(CompatError):
    """Results could not be read or written: a full disk, a foreign file, no permission."""

    exit_code = 5


class IndexUnavailable(CompatError):
    """The package index did not answer, or not with what was asked for."""

    exit_code = 6


REFUSALS: Mapping[int, str] = {
    errno.ENOSPC: "no space left for temporary files",
    errno.EDQUOT: "the quota for files is used up",
    errno.EROFS: "cannot write temporary files: the file system is read-only",
    errno.EACCES: "cannot write temporary files",
    errno.EIO: "the disk reports I/O errors",
    errno.EMFILE: "too many files are open in one process",
    errno.ENFILE: "too many files are open on this machine",
    errno.EAGAIN: "cannot start another process",
    errno.ENOMEM: "no memory left",
}
"""What the system's error numbers mean where it refuses what any program needs."""

_ROOM = "Free space in the folder for temporary files, or set TMPDIR to another one"
_HINTS: Mapping[int, str] = {
    errno.EMFILE: "Raise the limit (`ulimit -n`)",
    errno.ENFILE: "Close other programs",
    errno.EAGAIN: "End other processes, or raise the limit (`ulimit -u`)",
    errno.ENOMEM: "End other processes, or raise the limit (`ulimit -v`); fewer --jobs need less",
}


class MachineError(CompatError):
    """The machine refused something that compiling needs: room for files, open files, processes, memory.

    It says nothing about a kernel. What was finished before is kept.
    """

    exit_code = 7

    @classmethod
    def of(cls, error: OSError, where: str | None = None) -> Self:
        """The error of use for an ``OSError`` of the program itself."""
        number = error.errno or 0
        return cls.about(number, error.strerror or str(error), where=str(error.filename or "") or where)

    @classmethod
    def about(cls, number: int, words: str, where: str | None = None) -> Self:
        """The error of use for a number of the system's, ``words`` being what was said."""
        means = REFUSALS.get(number, "cannot create temporary files")
        hint = f"{_HINTS.get(number, _ROOM)}. Finished work is saved; run the same command again to continue."
        return cls(f"{means} ({words})", where=where, hint=hint)

    def after(self, done: int, total: int) -> Self:
        """The same, told with how many of the cells are finished."""
        return type(self)(f"{self}; {done:,} of {total:,} cells are finished and saved", hint=self.hint)


class ClusterError(MachineError):
    """The cluster that cells are to be compiled on cannot be used: no scheduler, no worker, or other versions there.

    It says nothing about a kernel. What was finished before is kept.
    """

    exit_code = 8


class UnknownAction(CompatError):
    """A worker was asked for something that it cannot do. It says nothing about a kernel."""

    @classmethod
    def of(cls, names: Sequence[str], where: str) -> Self:
        """The error of use where the worker in ``where`` does not know these actions."""
        return cls(f"this worker does not support: {', '.join(names)}", where=where, hint="Its toolchain has no such action.")


def is_refusal(error: OSError) -> bool:
    """Whether an ``OSError`` is about what the machine has, and not about what was asked for."""
    return error.errno in REFUSALS and error.errno != errno.EACCES
