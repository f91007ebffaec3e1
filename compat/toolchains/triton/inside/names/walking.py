"""The modules of Triton, and the names in them."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import types
from collections.abc import Iterator
from typing import Any, Dict

from . import describing

SCHEMA = 1
ROOT = "triton"
LANGUAGE = "triton.language"
_LEFT_OUT = (
    "triton.backends",
    "triton.profiler",
    "triton.tools.build_extern",
    "triton.tools.compile",
    "triton.tools.disasm",
    "triton.tools.link",
    "triton.tools.triton_to_gluon_translator",
)
"""Backends, programs, and the profiler, which has an interface of its own."""
_INTERNAL = (
    "triton.compiler",
    "triton.errors",
    "triton.experimental.gsan",
    "triton.language.core",
    "triton.language.random",
    "triton.language.semantic",
    "triton.language.standard",
    "triton.runtime",
)
"""Modules, with those below them, that are there for others of Triton: what is meant for users is in ``triton`` or the language."""
_OPAQUE = ("triton.compiler", "triton.language.semantic")
"""Of the classes in these the members are left out."""
_PLAIN = (bool, int, float, str)
_EXPERIMENTAL = "_experimental_"
"""How names begin that are not private for their underscore."""

Names = Dict[str, Dict[str, Any]]


def document() -> dict[str, Any]:
    """All names, as the package says."""
    triton = importlib.import_module(ROOT)
    errors: dict[str, str] = {}
    modules = [triton, *_below(triton, errors)]
    names: Names = {name: {"kind": "module", "error": error, **_internal(name)} for name, error in errors.items()}
    first: dict[int, str] = {}
    for module in sorted(modules, key=_rank):
        names[module.__name__] = {"kind": "module", **_internal(module.__name__)}
        for name, value in _members(module):
            _enter(names, first, module, name, value)
    return {"schema": SCHEMA, "version": str(triton.__version__), "names": names}


def _rank(module: types.ModuleType) -> tuple[bool, bool, int, str]:
    """Which of several names of an object counts: that in the language, in the package itself, or else the shortest."""
    name = module.__name__
    return name != LANGUAGE, name != ROOT, name.count("."), name


def _below(package: types.ModuleType, errors: dict[str, str]) -> Iterator[types.ModuleType]:
    """The modules in a package that others may import; of those that cannot be imported ``errors`` says why."""
    for found in sorted(pkgutil.iter_modules(package.__path__), key=lambda each: each.name):
        name = package.__name__ + "." + found.name
        if found.name.startswith("_"):
            continue
        if name in _LEFT_OUT:
            errors[name] = "not looked into: no part of the language"
            continue
        try:
            module = importlib.import_module(name)
        except BaseException as error:  # whatever a module raises is told
            errors[name] = f"{type(error).__name__}: {error}"
            continue
        yield module
        if found.ispkg:
            yield from _below(module, errors)


def _members(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    """The names of a module, its own submodules left out: those stand for themselves."""
    listed = set(getattr(module, "__all__", ()))
    for name, value in sorted(vars(module).items()):
        if name.startswith("_") and not name.startswith(_EXPERIMENTAL) and name not in listed:
            continue
        if not (isinstance(value, types.ModuleType) and value.__name__ == module.__name__ + "." + name):
            yield name, value


def _is_own(value: Any) -> bool:
    """Whether Triton made a value, and did not import it from elsewhere."""
    if type(value).__module__ == "typing" or isinstance(value, types.ModuleType):
        return False
    if inspect.isclass(value) or callable(value):
        return _is_below(getattr(value, "__module__", None))
    return _is_below(type(value).__module__)


def _is_below(module: Any) -> bool:
    return isinstance(module, str) and (module == ROOT or module.startswith(ROOT + "."))


def _enter(names: Names, first: dict[int, str], module: types.ModuleType, name: str, value: Any) -> None:
    """Enter a name: what it is, or which other name is the same object."""
    path = module.__name__ + "." + name
    listed = getattr(module, "__all__", ())
    if name not in listed and not (_is_constant(name) if isinstance(value, _PLAIN) else _is_own(value)):
        names[path] = {"kind": "foreign", "internal": True}
        return
    internal = {"internal": True} if (listed and name not in listed) or _is_in(path, _INTERNAL) else {}
    known = None if isinstance(value, _PLAIN) else first.setdefault(id(value), path)
    if known is not None and known != path:
        names[path] = {"same_as": known, **internal}
        return
    names[path] = {**describing.described(value), **internal}
    if not inspect.isclass(value):
        return
    if not _is_in_python(value.__module__) or _is_in(path, _OPAQUE):
        names[path]["opaque"] = True
    else:
        for member, entry in describing.members(value, _is_below):
            names[path + "." + member] = {**entry, **internal}


def _is_constant(name: str) -> bool:
    return name.isupper() and name != "TYPE_CHECKING"


def _is_in_python(module: Any) -> bool:
    return _is_below(module) and not module.startswith(ROOT + "._C")


def _internal(module: str) -> dict[str, Any]:
    return {"internal": True} if _is_in(module, _INTERNAL + _LEFT_OUT) else {}


def _is_in(path: str, modules: tuple[str, ...]) -> bool:
    """Whether something is in one of these modules, or is one."""
    return any(path == module or path.startswith(module + ".") for module in modules)
