"""What is put in place in a process, when, and how it is taken away again."""

from __future__ import annotations

import atexit
import importlib
import importlib.abc
import importlib.util
import os
import platform
import sys
import threading
from collections.abc import Callable
from typing import Any

from . import device, launches, shared
from .functions import Functions
from .journal import Journal, Originals


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
            program = _fake_pytorch()
            self._imports.after("numpy.testing", lambda module: program.agree(self, module, program.NUMPY_COMPARISONS))
            self._imports.after("_pytest.python", lambda module: program.agree_in_tests(self, module))
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
        self.journal.write(r="framework", version=str(torch.__version__))
        if self.settings["fake"]:
            _fake_pytorch().install(self, torch, self.settings["target"])

    def _end(self) -> None:
        if os.getpid() == self.journal.process:  # in a fork there is nothing to compare that its parent has not
            self.originals.compile()
        self.journal.write(r="end")


def _fake_pytorch() -> Any:
    """What makes PyTorch believe in a GPU, which is the same for all toolchains."""
    shared("_compat_pytorch", "pytorch")
    return importlib.import_module("_compat_pytorch.device.program")


# --- imports -------------------------------------------------------------------------------------------------------------------


class Imports(importlib.abc.MetaPathFinder):
    """Stands before all other finders; finds nothing itself, and acts after what others have found is executed."""

    def __init__(self, fails: Callable[[str, str], None]) -> None:
        """``fails(name, why)`` is called where a module is asked for and cannot be imported."""
        self._fails = fails
        self._acts: dict[str, Callable[[Any], None]] = {}
        self._asking = threading.local()

    def after(self, name: str, act: Callable[[Any], None]) -> None:
        """Have ``act(module)`` called once, when the module of that name has been executed."""
        self._acts[name] = act

    def start(self) -> None:
        """Begin; for modules that are there already, at once."""
        for name in list(self._acts):
            if name in sys.modules:
                self._done(name, sys.modules[name])
        sys.meta_path.insert(0, self)

    def stop(self) -> None:
        """End."""
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """What the others find, told of when it is executed."""
        if name not in self._acts or getattr(self._asking, "now", False):
            return None
        self._asking.now = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._asking.now = False
        if spec is None:
            self._fails(name, "is not there")
        elif spec.loader is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Telling(spec.loader, lambda module: self._done(name, module), self._fails)  # type: ignore[assignment]
        return spec

    def _done(self, name: str, module: Any) -> None:
        act = self._acts.pop(name, None)
        if act is not None:
            act(module)


class _Telling:
    """A loader that tells when it has executed its module, and when it could not."""

    def __init__(self, loader: Any, tell: Callable[[Any], None], fails: Callable[[str, str], None]) -> None:
        self._loader, self._tell, self._fails = loader, tell, fails

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__loader__ = module.__spec__.loader = self._loader
        try:
            self._loader.exec_module(module)
        except Exception as error:
            self._fails(module.__name__, "cannot be imported: %s" % type(error).__name__)
            raise
        self._tell(module)
