"""Records of one process in its own file, each whole or not at all, and places in user code."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..foreign import Document

_NOT_THEIRS = frozenset(
    {"torch", "_compat_toolchains", "contextlib", "functools", "threading", "runpy"}
)
"""Packages besides the toolchain's own that pass launches on."""
_MAIN = ("__main__", "__mp_main__")
"""The names of a script as a module: in a process that runs it, and in one that ``multiprocessing``
has spawned.
"""
_GENERATED = "torch._inductor.runtime.compile_tasks."
"""The prefix of the names of modules that Inductor generates. A hash follows."""
_OWN_FOLDER = os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), ""
)


class UnwritableArgument(Exception):
    """An argument of a launch that cannot be written down. The message says why."""


class Journal:
    """A file of JSON lines. A forked process has its own file."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self.process = os.getpid()
        """The process that opened the journal first."""
        self._owner: int | None = None
        self._file = -1
        self.token = ""
        """A unique name of the process, which sorts after those of processes that began earlier."""
        self._open()

    def write(self, **record: Any) -> None:
        """Append a record. A full disk costs records and does not end the program."""
        if os.getpid() != self._owner:
            self._open()
        line = (json.dumps(record, separators=(",", ":"), allow_nan=False) + "\n").encode(
            "utf-8", "backslashreplace"
        )
        try:
            with self._lock:
                os.write(self._file, line)
        except OSError:
            pass

    def here(self) -> str:
        """The token of this process."""
        if os.getpid() != self._owner:
            self._open()
        return self.token

    def _open(self) -> None:
        # Another thread may have held the lock when this process was forked.
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self.token = "%d-%d-%s" % (time.time_ns(), self._owner, os.urandom(4).hex())
        path = os.path.join(self._folder, self.token + ".jsonl")
        try:
            self._file = os.open(
                path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600
            )
        except OSError:  # this process outlived the command that reads the records
            self._file = os.open(os.devnull, os.O_WRONLY)


def of_launch(package: str) -> Document | None:
    """Return the place of a launch, which is the innermost frame of the user's code.

    The place has a module, a function and a line, never a path. ``package`` is the toolchain's.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module, path = frame.f_globals.get("__name__") or "", frame.f_code.co_filename
        first = module.partition(".")[0]
        is_theirs = first != package and first not in _NOT_THEIRS
        if is_theirs and not path.startswith(("<", _OWN_FOLDER)) and not _is_compiled(frame):
            return {
                "module": module_label(module, path),
                "function": frame.f_code.co_name,
                "line": frame.f_lineno,
            }
        frame = frame.f_back
    return None


def _is_compiled(frame: FrameType) -> bool:
    """Whether TorchDynamo has replaced the code. Its lines do not show where a graph is called."""
    return any(name.startswith("__compiled_fn") for name in frame.f_code.co_names)


def module_label(module: str, path: str) -> str:
    """Return the name of a module, of a script's file, or of the generator of generated code."""
    if module.startswith(_GENERATED):
        return "torch.compile"
    return os.path.basename(path) if module in _MAIN else module
