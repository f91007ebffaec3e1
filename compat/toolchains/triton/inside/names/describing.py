"""The modules of Triton and their names, and facts about one object.

The facts are its kind, its parameters, and its warnings.
"""

from __future__ import annotations

import enum
import functools
import importlib
import inspect
import pkgutil
import re
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Dict

from . import sources

if TYPE_CHECKING:
    from ....inside.foreign import Document, Function, Value

_BUILTIN = "__triton_builtin__"
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_MEMBER = re.compile(r"^<(\w+\.\w+): -?\d+>$")
"""The ``repr`` of a member of an enumeration in C++."""
_LONGEST = 120
"""Maximum characters of a default or a value."""

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)

Entry = Dict[str, Any]


def describe_value(value: object) -> Entry:
    """Return the entry of a value in a module."""
    if isinstance(value, (bool, int, float, str)):
        return {"kind": "value", "value": _value_text(value)}
    if inspect.isclass(value):
        return _class(value)
    function = unwrap_function(value)
    if isinstance(function, types.FunctionType):
        return _function(_kind(value, function), value, function)
    return {"kind": "dtype" if type(value).__name__ in ("dtype", "pointer_type") else "value"}


def _kind(value: object, function: types.FunctionType) -> str:
    if getattr(value, _BUILTIN, False) or getattr(function, _BUILTIN, False):
        return "builtin"
    return "jit" if type(value).__name__ == "JITFunction" else "function"


def unwrap_function(value: object) -> object:
    """Return the function behind decorators.

    It is wrapped or jitted, or a method of a tensor forwards to it.
    """
    for _ in range(20):
        inner = _inner(value)
        if inner is None:
            return value
        value = inner
    return value


def _inner(value: object) -> object:
    names = getattr(value, "__dict__", {})
    if "__wrapped__" in names:
        return names["__wrapped__"]
    if not isinstance(value, types.FunctionType) and callable(names.get("fn")):
        return names["fn"]
    if (
        isinstance(value, types.FunctionType)
        and value.__code__.co_name == "wrapper"
        and "fn" in value.__code__.co_freevars
    ):
        inner = inspect.getclosurevars(value).nonlocals.get("fn")
        return inner if callable(inner) else None
    return None


def _function(kind: str, value: object, function: types.FunctionType, *, skip: int = 0) -> Entry:
    entry: Entry = {"kind": kind}
    parameters = _parameters(function, skip)
    if parameters is not None:
        entry["parameters"] = parameters
    source = sources.of(function)
    refuses = (
        source.refuses if kind != "method" or sources.speaks_of_removal(source.refuses) else ""
    )
    deprecated = [] if refuses else [*_deprecation_messages(value), *source.deprecated]
    _tell(entry, deprecated=deprecated, warns=source.warns, refuses=refuses)
    for parameter in parameters or ():
        if parameter["name"] in source.parameters:
            parameter["deprecated"] = source.parameters[parameter["name"]]
    return entry


def _tell(entry: Entry, **facts: object) -> None:
    """Add those facts to an entry that are not empty."""
    for name, fact in facts.items():
        if fact:
            entry[name] = list(dict.fromkeys(fact)) if isinstance(fact, list) else fact


def _deprecation_messages(value: object) -> list[str]:
    """Return the message of ``@deprecated``, if there is one."""
    message = getattr(value, "__deprecated__", None)
    return [message] if isinstance(message, str) else []


def _parameters(function: Function, skip: int = 0) -> list[Entry] | None:
    """Return the parameters that a caller may give.

    Parameters that the compiler fills in begin with an underscore, and are left out.
    """
    try:
        params = list(inspect.signature(function, follow_wrapped=False).parameters.values())[skip:]
    except (TypeError, ValueError):
        return None
    return [
        _parameter(parameter)
        for parameter in params
        if not parameter.name.startswith("_") or parameter.kind in _VARIADIC
    ]


def _parameter(parameter: inspect.Parameter) -> Entry:
    entry = {"name": parameter.name, "kind": parameter.kind.description}
    if parameter.default is not parameter.empty:
        entry["default"] = _value_text(parameter.default)
    return entry


def _value_text(value: Value) -> str:
    """Return a value as Python would write it, the same in every process."""
    if inspect.isclass(value) or isinstance(value, types.FunctionType):
        return value.__qualname__
    if type(value).__name__ == "constexpr" and hasattr(value, "value"):
        return _value_text(value.value)
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    try:
        text = _MEMBER.sub(r"\1", _ADDRESS.sub("", repr(value)))
    except Exception:  # a foreign class may do anything in its repr
        text = f"<{type(value).__name__}>"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


# --- classes --------------------------------------------------------------------------------------


def _class(value: type) -> Entry:
    entry: Entry = {"kind": "class"}
    constructor = vars(value).get("__init__") or getattr(value, "__init__", None)
    function = unwrap_function(constructor)
    if isinstance(function, types.FunctionType) and not issubclass(value, enum.Enum):
        of_init = _function("class", constructor, function, skip=1)
        entry = {key: fact for key, fact in of_init.items() if key != "refuses"}
    doc = sources.of_docstring(vars(value).get("__doc__"))
    _tell(
        entry,
        deprecated=[*_deprecation_messages(value), *doc.deprecated, *entry.get("deprecated", [])],
    )
    return entry


def members(value: type, is_own: Callable[[object], bool]) -> Iterator[tuple[str, Entry]]:
    """Yield the public members of a class that are Triton's.

    They are its own, and those of classes of Triton that it inherits from.
    """
    seen = set()
    for owner in value.__mro__:
        if not is_own(owner.__module__):
            continue
        for name, member in sorted(vars(owner).items()):
            if name.startswith("_") or name in seen:
                continue
            entry = _member(member, owner)
            if entry is not None:
                seen.add(name)
                yield name, entry
    for name in sorted((sources.attributes(value) | set(dir(value))) - seen):
        if not name.startswith("_"):
            yield name, {"kind": "attribute"}


def _member(member: object, owner: type) -> Entry | None:
    if isinstance(member, (property, functools.cached_property)):
        return {"kind": "property"}
    if isinstance(member, staticmethod):
        return _method(member.__func__, skip=0)
    if isinstance(member, classmethod):
        return _method(member.__func__, skip=1)
    if inspect.isclass(member):
        return None
    method = _method(member, skip=1)
    if method is not None:
        return method
    if isinstance(owner, enum.EnumMeta) and not isinstance(member, owner):
        return None
    return {"kind": "attribute"}


def _method(member: object, skip: int) -> Entry | None:
    function = unwrap_function(member)
    return (
        _function("method", member, function, skip=skip)
        if isinstance(function, types.FunctionType)
        else None
    )


# --- modules and their names ----------------------------------------------------------------------

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
"""Modules for Triton's own use, with those below them. Names for users are in ``triton`` or the
language.
"""
_OPAQUE = ("triton.compiler", "triton.language.semantic")
"""Modules whose classes are listed without their members."""
_PLAIN = (bool, int, float, str)
_EXPERIMENTAL = "_experimental_"
"""The beginning of names that are not private despite their underscore."""

Names = Dict[str, Dict[str, Any]]


def document() -> Document:
    """Return all names, in the form that the package describes."""
    triton = importlib.import_module(ROOT)
    errors: dict[str, str] = {}
    modules = [triton, *_below(triton, errors)]
    names: Names = {
        name: {"kind": "module", "error": error, **_internal(name)}
        for name, error in errors.items()
    }
    first: dict[int, str] = {}
    for module in sorted(modules, key=_rank):
        names[module.__name__] = {"kind": "module", **_internal(module.__name__)}
        for name, value in _members(module):
            _enter(names, first, module, name, value)
    return {"schema": SCHEMA, "version": str(triton.__version__), "names": names}


def _rank(module: types.ModuleType) -> tuple[bool, bool, int, str]:
    """Return a sort key that decides which of several names of an object counts.

    The name in the language comes first, then the name in the package itself, then the shortest.
    """
    name = module.__name__
    return name != LANGUAGE, name != ROOT, name.count("."), name


def _below(package: types.ModuleType, errors: dict[str, str]) -> Iterator[types.ModuleType]:
    """Yield the modules in a package that others may import.

    For modules that cannot be imported, ``errors`` gets the reason.
    """
    for module_info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        name = package.__name__ + "." + module_info.name
        if module_info.name.startswith("_"):
            continue
        if name in _LEFT_OUT:
            errors[name] = "not inspected: not part of the language"
            continue
        try:
            module = importlib.import_module(name)
        except BaseException as error:  # any exception of a module is reported
            errors[name] = f"{type(error).__name__}: {error}"
            continue
        yield module
        if module_info.ispkg:
            yield from _below(module, errors)


def _members(module: types.ModuleType) -> Iterator[tuple[str, object]]:
    """Yield the names of a module without its submodules, which have entries of their own."""
    listed = set(getattr(module, "__all__", ()))
    for name, value in sorted(vars(module).items()):
        if name.startswith("_") and not name.startswith(_EXPERIMENTAL) and name not in listed:
            continue
        if not (
            isinstance(value, types.ModuleType) and value.__name__ == module.__name__ + "." + name
        ):
            yield name, value


def _is_own(value: object) -> bool:
    """Whether Triton made a value, and did not import it from elsewhere."""
    if type(value).__module__ == "typing" or isinstance(value, types.ModuleType):
        return False
    if inspect.isclass(value) or callable(value):
        return _is_below(getattr(value, "__module__", None))
    return _is_below(type(value).__module__)


def _is_below(module: object) -> bool:
    return isinstance(module, str) and (module == ROOT or module.startswith(ROOT + "."))


def _enter(
    names: Names, first: dict[int, str], module: types.ModuleType, name: str, value: object
) -> None:
    """Add the entry of a name: its description, or another name of the same object."""
    path = module.__name__ + "." + name
    listed = getattr(module, "__all__", ())
    if name not in listed and not (
        _is_constant(name) if isinstance(value, _PLAIN) else _is_own(value)
    ):
        names[path] = {"kind": "foreign", "internal": True}
        return
    internal = (
        {"internal": True} if (listed and name not in listed) or _is_in(path, _INTERNAL) else {}
    )
    first_path = None if isinstance(value, _PLAIN) else first.setdefault(id(value), path)
    if first_path is not None and first_path != path:
        names[path] = {"same_as": first_path, **internal}
        return
    names[path] = {**describe_value(value), **internal}
    if not inspect.isclass(value):
        return
    if not _is_in_python(value.__module__) or _is_in(path, _OPAQUE):
        names[path]["opaque"] = True
    else:
        for member, entry in members(value, _is_below):
            names[path + "." + member] = {**entry, **internal}


def _is_constant(name: str) -> bool:
    return name.isupper() and name != "TYPE_CHECKING"


def _is_in_python(module: str) -> bool:
    return _is_below(module) and not module.startswith(ROOT + "._C")


def _internal(module: str) -> dict[str, object]:
    return {"internal": True} if _is_in(module, _INTERNAL + _LEFT_OUT) else {}


def _is_in(path: str, modules: tuple[str, ...]) -> bool:
    """Whether a path is one of these modules, or is inside one."""
    return any(path == module or path.startswith(module + ".") for module in modules)
