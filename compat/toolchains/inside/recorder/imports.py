"""Calls of functions before and after the import of a module, and after its failure."""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
import threading
from collections.abc import Callable
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, List


class Imports(importlib.abc.MetaPathFinder):
    """A finder before all other finders.

    It finds no module itself. It acts when a module of another finder has been executed.
    """

    def __init__(self, fails: Callable[[str, str], None]) -> None:
        """``fails(name, why)`` is called if a module is requested and cannot be imported."""
        self._fails = fails
        self._acts: dict[str, Callable[[ModuleType], None]] = {}
        self._before: dict[str, Callable[[], None]] = {}
        self._asking = threading.local()

    def before(self, name: str, act: Callable[[], None]) -> None:
        """Have ``act()`` called once, when the module of that name is about to be executed."""
        self._before[name] = act

    def after(self, name: str, act: Callable[[ModuleType], None]) -> None:
        """Have ``act(module)`` called once, when the module of that name has been executed.

        If it has been executed already, call it at once.
        """
        self._acts[name] = act
        if name in sys.modules:
            self._act_on_module(name, sys.modules[name])

    def start(self) -> None:
        """Install the finder."""
        sys.meta_path = _FirstKept([self, *sys.meta_path])

    def stop(self) -> None:
        """Remove the finder."""
        sys.meta_path = [finder for finder in sys.meta_path if finder is not self]

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the spec of another finder, with a loader that reports the execution."""
        if name not in self._acts or getattr(self._asking, "now", False):
            return None
        self._asking.now = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._asking.now = False
        if spec is None:
            self._fails(name, "is not installed")
            return None
        self._before.pop(name, lambda: None)()
        if spec.loader is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _ReportingLoader(
                spec.loader, lambda module: self._act_on_module(name, module), self._fails
            )  # type: ignore[assignment]
        return spec

    def _act_on_module(self, name: str, module: ModuleType) -> None:
        """Act after a module has been executed, once."""
        act = self._acts.pop(name, None)
        if act is not None:
            act(module)


class _FirstKept(List[Any]):
    """A list of finders whose first finder stays the first.

    pytest inserts its own before all others, and loads each module itself whose file its settings
    name.
    """

    def insert(self, index: Any, finder: object) -> None:
        super().insert(index or 1, finder)


class _ReportingLoader:
    """A loader that reports that it has executed its module, or that this failed."""

    def __init__(
        self, loader: Loader, tell: Callable[[ModuleType], None], fails: Callable[[str, str], None]
    ) -> None:
        self._loader, self._tell, self._fails = loader, tell, fails

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        try:
            self._loader.exec_module(module)
        except Exception as error:
            self._fails(module.__name__, "cannot be imported: %s" % type(error).__name__)
            raise
        self._tell(module)
