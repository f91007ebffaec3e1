"""What the machine refused this program itself, as the error of use that says so."""

from __future__ import annotations

import errno
import os

from compat.errors import MachineError, is_refusal

_LOADING = (
    ("failed to map segment from shared object", errno.ENOMEM),
    ("cannot map zero-fill pages", errno.ENOMEM),
    (os.strerror(errno.ENOMEM), errno.ENOMEM),
    (os.strerror(errno.ENFILE), errno.ENFILE),
    (os.strerror(errno.EMFILE), errno.EMFILE),
)
"""What the dynamic loader says where it was refused memory or files, and the number of that. It hands on no number itself."""


def refusal(error: BaseException) -> MachineError | None:
    """What the machine refused, where an exception says so; ``None`` where it is about something else."""
    if isinstance(error, OSError):
        return MachineError.of(error) if is_refusal(error) else None
    if isinstance(error, MemoryError):
        return MachineError.about(errno.ENOMEM, "of this program")
    if isinstance(error, ImportError):
        return _refused_import(error)
    return MachineError.about(errno.EAGAIN, str(error)) if "can't start new thread" in str(error) else None


def _refused_import(error: ImportError) -> MachineError | None:
    """The same of a module in C that could not be loaded."""
    number = next((number for words, number in _LOADING if words in str(error)), None)
    return None if number is None or _may_not_be_loaded(error) else MachineError.about(number, str(error))


def _may_not_be_loaded(error: ImportError) -> bool:
    """Whether the module's file system is mounted without execution, of which the loader says the same as of memory."""
    try:
        return bool(error.path and os.statvfs(error.path).f_flag & os.ST_NOEXEC)
    except OSError:
        return False
