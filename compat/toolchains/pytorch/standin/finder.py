"""Stand-ins for missing packages: an import tries them last, so that a real package wins."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from types import FrameType, ModuleType
from typing import Any, Callable

from . import dtypes, pytorch, versions
from .ledger import LEDGER
from .opaque import AssumedStr, is_guarded, unavailable, unknown_attribute

_PACKAGING = {
    "packaging.version": {
        "Version": versions.Version,
        "parse": versions.parse,
        "InvalidVersion": versions.InvalidVersion,
    }
}


_NAMES: Any = vars(ModuleType)["__dict__"]


class StandIn(ModuleType):
    """A module of a package that this env lacks."""

    def __getattr__(self, name: str) -> Any:
        path = self.__name__
        value = pytorch.VALUES.get(path, {}).get(name)
        if value is not None:
            answer = value()
            LEDGER.record_answer("%s.%s" % (path, name), answer, isinstance(answer, AssumedStr))
            return answer
        if name in pytorch.ABSENT.get(path, ()):
            raise AttributeError("module %r has no attribute %r" % (path, name))
        inner = "%s.%s" % (path, name)
        if inner in _stand_in_modules():
            return importlib.import_module(inner)
        return unknown_attribute(path, name)

    def __dir__(self) -> list[str]:
        if LEDGER.in_tree(sys._getframe(1).f_code.co_filename):
            raise unavailable("%s.__dict__" % self.__name__)
        return list(vars(self))

    @property
    def __dict__(self) -> object:  # type: ignore[override]
        """The known names of the module, which are not all of its names.

        Raises UnavailableValue for code of the tree.
        """
        if LEDGER.in_tree(sys._getframe(1).f_code.co_filename):
            raise unavailable("%s.__dict__" % self.__name__)
        return _NAMES.__get__(self)


def seem_plain() -> Callable[[], None]:
    """Give stand-ins Python's plain module type until the returned function is called.

    Compilers recognise globals of that type.
    """
    # A library may import a stand-in under a second name.
    modules = {id(module): module for module in sys.modules.values() if type(module) is StandIn}
    for module in modules.values():
        _NAMES.__get__(module)["__getattr__"] = partial(StandIn.__getattr__, module)
        module.__class__ = ModuleType  # type: ignore[assignment]

    def end() -> None:
        for module in modules.values():
            module.__class__ = StandIn
            del _NAMES.__get__(module)["__getattr__"]

    return end


def _stand_in_modules() -> dict[str, dict[str, object]]:
    return {
        **(pytorch.modules() if "torch" in LEDGER.packages else {}),
        **_PACKAGING,
        "packaging": {},
    }


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and creates every module of the packages that have a stand-in."""

    def find_spec(
        self, name: str, path: object, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a module whose package has a stand-in, and None for other modules.

        Raises UnavailableValue for a question whether the package has an unknown module.
        """
        if name.split(".", 1)[0] not in LEDGER.packages:
            return None
        if "." in name and name not in _stand_in_modules():
            _refuse_a_question(name)
        return importlib.machinery.ModuleSpec(name, self, origin="stand-in", is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Return an empty stand-in."""
        return StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Set the known names of a stand-in."""
        vars(module).update(_stand_in_modules().get(module.__name__, {}))

    def find_distributions(self, context: object = None) -> Iterator[object]:
        """Yield the metadata of a package with a stand-in, for ``importlib.metadata.version``.

        Raises UnavailableValue if its version is unknown.
        """
        name = getattr(context, "name", None)
        version = LEDGER.packages.get(str(name).replace("-", "_"))
        if version == "":
            raise unavailable("%s.__version__" % name)
        if version:
            LEDGER.record_answer("importlib.metadata.version(%r)" % name, version)
            yield _Distribution(str(name), version)
        elif version is None and LEDGER.has_package(str(name).replace("-", "_")):
            # No finder before this one has metadata of the tree's own package.
            LEDGER.record_answer("importlib.metadata.version(%r)" % name, "absent")


def _refuse_a_question(module: str) -> None:
    """Refuse a question whether a missing package has a module, because the answer is unknown.

    A plain import of the module is no question. An import whose failure the tree handles is one.
    """
    frame: FrameType | None = sys._getframe(2)
    looks = False
    while frame is not None and "importlib" in frame.f_code.co_filename:
        # `importlib.util` has a function of this name, and an import does not call it.
        looks = looks or frame.f_code.co_name == "find_spec"
        frame = frame.f_back
    if (
        frame is not None
        and LEDGER.in_tree(frame.f_code.co_filename)
        and (looks or is_guarded(frame))
    ):
        raise unavailable(module)


class _Distribution(importlib.metadata.Distribution):
    def __init__(self, name: str, version: str) -> None:
        self._text = "Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % (name, version)

    def read_text(self, filename: str) -> str | None:
        return self._text if filename == "METADATA" else None

    def locate_file(self, path: object) -> Any:
        return path


FINDER = Finder()


def stand_in_for(package: str) -> None:
    """Make imports of a missing package find a stand-in from now on."""
    LEDGER.packages[package] = pytorch.version() if package == "torch" else ""
    if FINDER not in sys.meta_path:
        sys.meta_path.append(FINDER)
    importlib.invalidate_caches()


class _Hider(importlib.abc.MetaPathFinder):
    """A finder before all others that hides packages until something stands in for them."""

    def __init__(self) -> None:
        self.packages: set[str] = set()

    def find_spec(
        self, name: str, path: object, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        package = name.split(".", 1)[0]
        if package not in self.packages:
            return None
        if package not in LEDGER.packages:
            raise ModuleNotFoundError("No module named %r" % name, name=name)
        return FINDER.find_spec(name, path, target)


_HIDER = _Hider()


def hide(packages: Sequence[str]) -> None:
    """Treat packages as absent from now on, except packages that have been imported already."""
    _HIDER.packages.update(set(packages).difference(sys.modules))
    if _HIDER.packages and _HIDER not in sys.meta_path:
        sys.meta_path.insert(0, _HIDER)


def is_absent(package: str) -> bool:
    """Whether no package of that name can be imported in this env."""
    if package in _HIDER.packages:
        return package not in LEDGER.packages
    if package in sys.modules or package in sys.builtin_module_names:
        return False
    try:
        return importlib.util.find_spec(package) is None
    except (ImportError, ValueError, AttributeError):
        return False


def is_from_stand_in(value: object) -> bool:
    """Return whether a value comes from a stand-in and cannot be used like the real one.

    A stand-in's dtype can be.
    """
    kind = type(value)
    if issubclass(kind, StandIn):
        return True
    module = kind.__module__ if not isinstance(value, type) else value.__module__
    return module.startswith(__package__ or "") and not isinstance(value, dtypes.dtype)
