"""What a kernel reaches: whether all of it is known here, before it is compiled."""

from __future__ import annotations

import builtins
import dis
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from .effects import is_of_tree
from .finder import StandIn, is_from_stand_in
from .ledger import LEDGER
from .opaque import AssumedFloat, AssumedInt, AssumedStr, Lacking, is_opaque, path_of
from .pytorch import Tensor, dtype

_DEPTH = 100
"""Containers in containers. What is deeper is taken for unknown."""
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF", "LOAD_FROM_DICT_OR_GLOBALS")
_TAKES = ("LOAD_ATTR", "LOAD_METHOD")
_BETWEEN = ("CACHE", "EXTENDED_ARG", "PUSH_NULL", "NOP", "RESUME", "PRECALL")


def check(kernel: Any, name: str) -> None:
    """Look through all that a kernel reaches: its helpers, their globals, constants, defaults.

    Raises Lacking where one of them is unknown or assumed, and the original error where a statement that failed would have made it.
    """
    _ReachableValues(name).value(kernel, name, 0)


class _ReachableValues:
    def __init__(self, kernel: str) -> None:
        self.kernel = kernel
        self.seen: set[int] = set()
        self.alive: list[Any] = []

    def lacks(self, what: str) -> Lacking:
        package = what.split(".", 1)[0].split("(", 1)[0]
        message = "`%s` uses `%s`, and this env lacks `%s`: install it there" % (self.kernel, what, package)
        return Lacking(message)

    def value(self, value: Any, path: str, depth: int) -> None:
        """Look at a value that the kernel has under this name."""
        if is_opaque(value):
            raise self.lacks(path_of(value))
        kind = type(value)
        if kind in (AssumedInt, AssumedFloat, AssumedStr):
            form = "`%s` uses `%s`, which is %r on the GPU that is assumed, and something else on others of its architecture"
            raise Lacking(form % (self.kernel, path, value))
        if kind is dtype or value is Tensor or value is dtype or id(value) in self.seen:
            return
        if depth > _DEPTH:
            raise Lacking("`%s` uses `%s`, which is nested too deeply to be looked through" % (self.kernel, path))
        if isinstance(value, (int, float, str, bytes, type(None))):
            return
        self.seen.add(id(value))
        self.alive.append(value)
        if is_from_stand_in(value):
            raise self.lacks(getattr(value, "__name__", None) or path)
        if isinstance(value, (list, tuple, set, frozenset)):
            for item in list(value):
                self.value(item, path, depth + 1)
        elif isinstance(value, dict):
            for item in list(value.values()):
                self.value(item, path, depth + 1)
        elif isinstance(value, type):
            for base in value.__mro__:
                if base is not value and is_from_stand_in(base):
                    raise self.lacks(base.__name__ if "." in base.__name__ else "torch.%s" % base.__name__)
        elif isinstance(value, FunctionType):
            self.function(value, depth)
        elif not isinstance(value, ModuleType):
            self.inside(value, path, depth)

    def inside(self, value: Any, path: str, depth: int) -> None:
        """What an object holds that a compile looks at: the function of a jit function, the value of a constexpr, own fields."""
        facts = _facts(value)
        if isinstance(facts.get("fn"), FunctionType) or "fn" in facts:
            self.value(facts["fn"], path, depth)
        elif "value" in facts:
            self.value(facts["value"], path, depth + 1)
        elif is_of_tree(type(value)):
            for name, fact in facts.items():
                self.value(fact, "%s.%s" % (path, name), depth + 1)

    def function(self, function: FunctionType, depth: int) -> None:
        """What a function uses, and its defaults; of functions that are not of the tree nothing."""
        if not LEDGER.in_tree(function.__code__.co_filename):
            return
        for name, default in _defaults(function):
            self.value(default, "%s=" % name, depth + 1)
        for annotation in (function.__annotations__ or {}).values():
            if is_opaque(annotation):
                raise self.lacks(path_of(annotation))
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        for name, attributes in _uses(function.__code__):
            self.use(function, cells, name, attributes)

    def use(self, function: FunctionType, cells: dict[str, Any], name: str, attributes: list[str]) -> None:
        """A global name where it is used, with the attributes that are taken of it."""
        if name in cells:
            try:
                value = cells[name].cell_contents
            except ValueError:
                return
        else:
            self.known(function.__globals__.get("__name__"), name)
            if name not in function.__globals__:
                self.from_anywhere(function.__globals__.get("__name__"), name)
                return
            value = function.__globals__[name]
        path = name
        for attribute in attributes:
            if is_opaque(value):
                raise self.lacks(".".join([path_of(value), attribute]))
            if isinstance(value, ModuleType):
                self.known(value.__name__, attribute)
                if attribute not in vars(value) and not isinstance(value, StandIn):
                    self.from_anywhere(value.__name__, attribute)
                    return
                value = getattr(value, attribute)
            elif attribute in _facts(value) and is_of_tree(value if isinstance(value, type) else type(value)):
                value = _facts(value)[attribute]
            else:
                break
            path = "%s.%s" % (path, attribute)
        self.value(value, path, 0)

    def known(self, module: Any, name: str) -> None:
        """Raise what made a name missing."""
        error = LEDGER.missing.get(str(module), {}).get(name)
        if error is not None:
            raise error

    def from_anywhere(self, module: Any, name: str) -> None:
        """Raise what made a module miss names that are not even known: ``from package import *``."""
        if not hasattr(builtins, name):
            self.known(module, "*")


def _defaults(function: FunctionType) -> Iterator[tuple[str, Any]]:
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    yield from zip(names[len(names) - len(defaults) :], defaults)
    yield from (function.__kwdefaults__ or {}).items()


def _facts(value: Any) -> Any:
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}


def _uses(code: CodeType) -> Iterator[tuple[str, list[str]]]:
    """Every global or enclosing name that code uses, inner functions included, with the attributes taken of it."""
    name, attributes = "", []
    for instruction in dis.get_instructions(code):
        if instruction.opname in _BETWEEN:
            continue
        if name and instruction.opname in _TAKES:
            attributes.append(str(instruction.argval))
            continue
        if name:
            yield name, attributes
        name, attributes = (str(instruction.argval), []) if instruction.opname in _LOADS else ("", [])
    if name:
        yield name, attributes
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _uses(constant)
