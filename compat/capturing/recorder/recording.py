"""What is put in place in a process, when, and how it is taken away again."""

from __future__ import annotations

import atexit
import os
import platform
import sys
import threading
from collections.abc import Callable
from typing import Any

from . import device, launches, pytorch, testing
from .functions import Functions
from .imports import Imports
from .journal import Journal
from .originals import Originals


class Recording:
    """A recording that is going on in this process."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.journal = Journal(settings["folder"])
        self.functions = Functions(self.journal)
        self.originals = Originals(self.journal, settings["originals"])
        self.now = threading.local()
        """Of the launch in flight in a thread: ``key``, and ``tuned`` where an autotuner launches."""
        self.compile_directly: Callable[..., Any] | None = None
        """What compiles where the program calls ``triton.compile`` itself, if that is not Triton's."""
        self._undo: list[Callable[[], None]] = []
        self._imports = Imports(self._not_imported)

    def start(self) -> None:
        """Begin, with modules that are imported already and with those that will be."""
        fake = self.settings["fake"]
        self._imports.after("triton", self._triton)
        self._imports.after("torch", self._torch)
        if fake:
            self._imports.after("numpy.testing", lambda module: testing.agree(self, module, testing.OF_NUMPY))
            self._imports.after("_pytest.python", lambda module: testing.agree_in_tests(self, module))
        self._imports.start()
        atexit.register(self._end)

    def stop(self) -> None:
        """Compile what is to be compared with, and leave everything as it was before."""
        atexit.unregister(self._end)
        self._end()
        self._imports.stop()
        while self._undo:
            self._undo.pop()()

    def replace(self, owner: Any, name: str, value: Any) -> None:
        """Put something in the place of an attribute for as long as this goes on."""
        missing = object()
        before = vars(owner).get(name, missing) if hasattr(owner, "__dict__") else getattr(owner, name, missing)

        def undo() -> None:
            if before is missing:
                delattr(owner, name)
            else:
                setattr(owner, name, before)

        setattr(owner, name, value)
        self._undo.append(undo)

    def finally_do(self, undo: Callable[[], None]) -> None:
        """Have something done when this ends."""
        self._undo.append(undo)

    def _triton(self, triton: Any) -> None:
        self.journal.write(
            r="process",
            release=triton.__version__,
            python=platform.python_version(),
            executable=sys.executable,
            prefix=sys.prefix,
            toolchain=os.path.dirname(os.path.abspath(triton.__file__)),
        )
        self.originals.compile_with(triton.compiler.compile)
        if self.settings["fake"]:
            device.install(self, triton)
        launches.watch(self, triton)

    def _not_imported(self, name: str, why: str) -> None:
        if name == "triton":
            self.journal.write(r="not_imported", why=why)

    def _torch(self, torch: Any) -> None:
        self.journal.write(r="torch", version=str(torch.__version__))
        if self.settings["fake"]:
            pytorch.install(self, torch)

    def _end(self) -> None:
        if os.getpid() == self.journal.process:  # in a fork there is nothing to compare that its parent has not
            self.originals.compile()
        self.journal.write(r="end")
