"""What can be told of one object: its kind, its parameters, and what it warns of."""

from __future__ import annotations

import enum
import functools
import inspect
import re
import types
from collections.abc import Callable, Iterator
from typing import Any, Dict

from . import sources

_BUILTIN = "__triton_builtin__"
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_MEMBER = re.compile(r"^<(\w+\.\w+): -?\d+>$")
"""How a member of an enumeration in C++ is written."""
_LONGEST = 120
"""Characters of a default or a value."""

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)

Entry = Dict[str, Any]


def described(value: Any) -> Entry:
    """The entry of a value in a module."""
    if isinstance(value, (bool, int, float, str)):
        return {"kind": "value", "value": _written(value)}
    if inspect.isclass(value):
        return _class(value)
    function = unwrapped(value)
    if isinstance(function, types.FunctionType):
        return _function(_kind(value, function), value, function)
    return {"kind": "dtype" if type(value).__name__ in ("dtype", "pointer_type") else "value"}


def _kind(value: Any, function: types.FunctionType) -> str:
    if getattr(value, _BUILTIN, False) or getattr(function, _BUILTIN, False):
        return "builtin"
    return "jit" if type(value).__name__ == "JITFunction" else "function"


def unwrapped(value: Any) -> Any:
    """The function that is behind decorators: what is wrapped, jitted, or what a method of a tensor forwards to."""
    for _ in range(20):
        inner = _inner(value)
        if inner is None:
            return value
        value = inner
    return value


def _inner(value: Any) -> Any:
    names = getattr(value, "__dict__", {})
    if "__wrapped__" in names:
        return names["__wrapped__"]
    if not isinstance(value, types.FunctionType) and callable(names.get("fn")):
        return names["fn"]
    if isinstance(value, types.FunctionType) and value.__code__.co_name == "wrapper" and "fn" in value.__code__.co_freevars:
        inner = inspect.getclosurevars(value).nonlocals.get("fn")
        return inner if callable(inner) else None
    return None


def _function(kind: str, value: Any, function: types.FunctionType, *, skip: int = 0) -> Entry:
    entry: Entry = {"kind": kind}
    parameters = _parameters(function, skip)
    if parameters is not None:
        entry["parameters"] = parameters
    source = sources.of(function)
    refuses = source.refuses if kind != "method" or sources.speaks_of_removal(source.refuses) else ""
    deprecated = [] if refuses else [*_said(value), *source.deprecated]
    _tell(entry, deprecated=deprecated, warns=source.warns, refuses=refuses)
    for parameter in parameters or ():
        if parameter["name"] in source.parameters:
            parameter["deprecated"] = source.parameters[parameter["name"]]
    return entry


def _tell(entry: Entry, **facts: Any) -> None:
    """Put what there is into an entry."""
    for name, told in facts.items():
        if told:
            entry[name] = list(dict.fromkeys(told)) if isinstance(told, list) else told


def _said(value: Any) -> list[str]:
    """What ``@deprecated`` left."""
    words = getattr(value, "__deprecated__", None)
    return [words] if isinstance(words, str) else []


def _parameters(function: Any, skip: int = 0) -> list[Entry] | None:
    """The parameters that a caller may give; those that the compiler fills in begin with an underscore."""
    try:
        found = list(inspect.signature(function, follow_wrapped=False).parameters.values())[skip:]
    except (TypeError, ValueError):
        return None
    return [_parameter(each) for each in found if not each.name.startswith("_") or each.kind in _VARIADIC]


def _parameter(parameter: inspect.Parameter) -> Entry:
    entry = {"name": parameter.name, "kind": parameter.kind.description}
    if parameter.default is not parameter.empty:
        entry["default"] = _written(parameter.default)
    return entry


def _written(value: Any) -> str:
    """A value as Python would write it, the same in every process."""
    if inspect.isclass(value) or isinstance(value, types.FunctionType):
        return value.__qualname__
    if type(value).__name__ == "constexpr" and hasattr(value, "value"):
        return _written(value.value)
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    try:
        text = _MEMBER.sub(r"\1", _ADDRESS.sub("", repr(value)))
    except Exception:  # a foreign class may do anything in its repr
        text = f"<{type(value).__name__}>"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


# --- classes ---------------------------------------------------------------------------------------------------------------------


def _class(value: type) -> Entry:
    entry: Entry = {"kind": "class"}
    made = vars(value).get("__init__") or getattr(value, "__init__", None)
    function = unwrapped(made)
    if isinstance(function, types.FunctionType) and not issubclass(value, enum.Enum):
        of_init = _function("class", made, function, skip=1)
        entry = {key: told for key, told in of_init.items() if key != "refuses"}
    doc = sources.of_docstring(vars(value).get("__doc__"))
    _tell(entry, deprecated=[*_said(value), *doc.deprecated, *entry.get("deprecated", [])])
    return entry


def members(value: type, is_own: Callable[[Any], bool]) -> Iterator[tuple[str, Entry]]:
    """The public members of a class that are Triton's: of itself, and of those classes of Triton that it inherits from."""
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


def _member(member: Any, owner: type) -> Entry | None:
    if isinstance(member, (property, functools.cached_property)):
        return {"kind": "property"}
    if isinstance(member, staticmethod):
        return _method(member.__func__, skip=0)
    if isinstance(member, classmethod):
        return _method(member.__func__, skip=1)
    if inspect.isclass(member):
        return None
    function = unwrapped(member)
    if isinstance(function, types.FunctionType):
        return _method(member, skip=1)
    if isinstance(owner, enum.EnumMeta) and not isinstance(member, owner):
        return None
    return {"kind": "attribute"}


def _method(member: Any, skip: int) -> Entry | None:
    function = unwrapped(member)
    return _function("method", member, function, skip=skip) if isinstance(function, types.FunctionType) else None
