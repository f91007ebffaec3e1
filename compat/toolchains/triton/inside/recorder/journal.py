"""Records of one process, appended to a file of its own, each whole or not at all; how they name places in the user's code; and the
record of what the program itself compiles for a launch, as a hash over assembly code, for its cell to be compared with.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

_NOT_THEIRS = frozenset({"triton", "torch", "_compat_recorder", "_compat_pytorch", "contextlib", "functools", "threading", "runpy"})
"""Packages that pass launches on."""
_OWN_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


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
        """Unlike that of any other process, and above that of one that began earlier."""
        self._open()

    def write(self, **record: Any) -> None:
        """Append a record. A disk that is full ends the recording, not the program."""
        if os.getpid() != self._owner:
            self._open()
        line = (json.dumps(record, separators=(",", ":"), allow_nan=False) + "\n").encode("utf-8", "backslashreplace")
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
        self._lock = threading.Lock()  # another thread may have held it when this process was forked
        self._owner = os.getpid()
        self.token = "%d-%d-%s" % (time.time_ns(), self._owner, os.urandom(4).hex())
        path = os.path.join(self._folder, self.token + ".jsonl")
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600)
        except OSError:  # the command that reads them has ended: a process outlived it
            self._file = os.open(os.devnull, os.O_WRONLY)


def of_launch() -> dict[str, Any] | None:
    """Where in the user's code a launch is, by module, function and line, never by a path: the innermost frame of theirs."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        module, path = frame.f_globals.get("__name__") or "", frame.f_code.co_filename
        if module.partition(".")[0] not in _NOT_THEIRS and not path.startswith(("<", _OWN_FOLDER)):
            return {"module": called(module, path), "function": frame.f_code.co_name, "line": frame.f_lineno}
        frame = frame.f_back
    return None


def called(module: str, path: str) -> str:
    """The name of a module; of a script that of its file."""
    return os.path.basename(path) if module == "__main__" else module


_STAGES = ("ptx", "amdgcn")
_NOT_INLINED = re.compile(r"^[ \t]*\.func[ \t]+(?:\([^)]*\)[ \t]*)?([\w$.]+)", re.MULTILINE)
"""A device function in PTX. Its name has the module in it that it was defined in."""
_WITHOUT_LINES = "TRITON_DISABLE_LINE_INFO"


class Originals:
    """What the compiler was given: for no launch, the first one of each function (``kernels``), or each (``cases``)."""

    def __init__(self, journal: Journal, of: str) -> None:
        self._journal, self._of = journal, of
        self._compile: Callable[..., Any] | None = None
        self._given: dict[Any, tuple[str, Any, Any, Any]] = {}

    def compile_with(self, compile_it: Callable[..., Any]) -> None:
        """Say what compiles really, which something may stand in the place of."""
        self._compile = compile_it

    def given(self, key: str | None, src: Any, target: Any, options: Any) -> None:
        """Note what the compiler is given for a launch."""
        function = getattr(src, "fn", None)
        if key is not None and function is not None and self._of != "nothing":
            self._given.setdefault(key if self._of == "cases" else id(function), (key, src, target, dict(options or {})))

    def compile(self) -> None:
        """Compile it all, without line numbers, which name files, and write down what came of it."""
        if not self._given:
            return
        self._journal.write(r="comparing", launches=len(self._given))
        before = os.environ.get(_WITHOUT_LINES)
        os.environ[_WITHOUT_LINES] = "1"
        try:
            for key, src, target, options in self._given.values():
                self._journal.write(r="original", key=key, **self._made(src, target, options))
        finally:
            self._given.clear()
            os.environ.pop(_WITHOUT_LINES)
            if before is not None:
                os.environ[_WITHOUT_LINES] = before

    def _made(self, src: Any, target: Any, options: dict[str, Any]) -> dict[str, Any]:
        assert self._compile is not None
        try:
            compiled = self._compile(src, target=target, options=options)
        except Exception as error:
            return {"error": type(error).__name__}
        stage = next((name for name in _STAGES if name in compiled.asm), None)
        return {"stage": stage, "digest": digest_of(compiled.asm[stage]) if stage else None, "arch": target.arch}


def digest_of(assembly: str) -> str:
    """A hash over assembly code in which functions that were not inlined are called by their number."""
    for number, name in enumerate(dict.fromkeys(_NOT_INLINED.findall(assembly))):
        assembly = re.sub(r"(?<![\w$.])%s(?![\w$.])" % re.escape(name), "function_%d" % number, assembly)
    return hashlib.sha256(assembly.encode("utf-8", "backslashreplace")).hexdigest()
