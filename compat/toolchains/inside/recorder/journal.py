"""Records of one process, appended whole or not at all to its own file, and places in user code."""

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
"""Packages that pass launches on, beside the toolchain's own."""
_GENERATED = "torch._inductor.runtime.compile_tasks."
"""How the names of modules begin that Inductor generates. A hash follows."""
_OWN_FOLDER = os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), ""
)


class UnwritableArgument(Exception):
    """An argument of which there is no way to write down what a launch said of it."""


class Journal:
    """A file of JSON lines. A process that was forked has another one than its parent."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self.process = os.getpid()
        """The process that began this."""
        self._owner: int | None = None
        self._file = -1
        self.token = ""
        """A unique number, above that of every process that began earlier."""
        self._open()

    def write(self, **record: Any) -> None:
        """Append a record. A disk that is full ends the recording, not the program."""
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
        # Another thread may have held it when this process was forked.
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self.token = "%d-%d-%s" % (time.time_ns(), self._owner, os.urandom(4).hex())
        path = os.path.join(self._folder, self.token + ".jsonl")
        try:
            self._file = os.open(
                path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600
            )
        except OSError:  # the command that reads them has ended: a process outlived it
            self._file = os.open(os.devnull, os.O_WRONLY)


def of_launch(package: str) -> Document | None:
    """Return where in the user's code a launch is: the innermost frame of the user's code.

    It is given by module, function and line, never by a path. ``package`` is the toolchain's.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module, path = frame.f_globals.get("__name__") or "", frame.f_code.co_filename
        first = module.partition(".")[0]
        is_theirs = first != package and first not in _NOT_THEIRS
        if is_theirs and not path.startswith(("<", _OWN_FOLDER)) and not _is_compiled(frame):
            return {
                "module": called(module, path),
                "function": frame.f_code.co_name,
                "line": frame.f_lineno,
            }
        frame = frame.f_back
    return None


def _is_compiled(frame: FrameType) -> bool:
    """Whether TorchDynamo has replaced the code. Its lines are not where a graph is called."""
    return any(name.startswith("__compiled_fn") for name in frame.f_code.co_names)


def called(module: str, path: str) -> str:
    """The name of a module; of a script that of its file, of generated code that of its maker."""
    if module.startswith(_GENERATED):
        return "torch.compile"
    return os.path.basename(path) if module == "__main__" else module
