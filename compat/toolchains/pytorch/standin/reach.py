"""Check, before a compile, that everything that a kernel reaches is known in this env."""

from __future__ import annotations

import builtins
import dis
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from .dtypes import dtype, iinfo
from .effects import ATTRIBUTE_LOADS, BETWEEN
from .finder import StandIn, is_from_stand_in
from .ledger import LEDGER, is_of_tree
from .opaque import AssumedFloat, AssumedInt, AssumedStr, UnavailableValue, is_opaque, path_of
from .pytorch import Tensor, finfo

if TYPE_CHECKING:
    from ...inside.foreign import Document, Function, Value

_DEPTH = 100
"""Maximum nesting depth of values. Deeper values count as unknown."""
_USABLE = {id(kind) for kind in (Tensor, dtype, finfo, iinfo)}
"""Classes of the stand-in that a kernel may use."""
_LOADING = (
    "LOAD_GLOBAL",
    "LOAD_NAME",
    "LOAD_DEREF",
    "LOAD_CLASSDEREF",
    "LOAD_FROM_DICT_OR_DEREF",
    "LOAD_FROM_DICT_OR_GLOBALS",
)


def check(kernel: Function, name: str) -> None:
    """Check everything that a kernel reaches: its helpers, their globals, constants and defaults.

    Raises UnavailableValue if one of them is unknown or assumed, and the original error if a failed
    statement would have set it.
    """
    _ReachableValues(name).value(kernel, name, 0)


class _ReachableValues:
    def __init__(self, kernel: str) -> None:
        self.kernel = kernel
        self.seen: set[int] = set()
        self.alive: list[object] = []

    def unavailable(self, what: str) -> UnavailableValue:
        package = what.split(".", 1)[0].split("(", 1)[0]
        message = "`%s` uses `%s`, and this env lacks `%s`: install it there" % (
            self.kernel,
            what,
            package,
        )
        return UnavailableValue(message)

    def value(self, value: Value, path: str, depth: int) -> None:
        """Check a value that the kernel reaches under the name ``path``.

        Raises UnavailableValue if only a missing package knows it, or if it is nested too deeply.
        """
        self._refuse_unknown(value, path)
        if type(value) is dtype or id(value) in self.seen or id(value) in _USABLE:
            return
        if depth > _DEPTH:
            raise UnavailableValue(
                "`%s` uses `%s`, which is nested too deeply to be searched" % (self.kernel, path)
            )
        if isinstance(value, (int, float, str, bytes, type(None))):
            return
        self.seen.add(id(value))
        self.alive.append(value)
        if is_from_stand_in(value):
            raise self.unavailable(getattr(value, "__name__", None) or path)
        if isinstance(value, (list, tuple, set, frozenset, dict)):
            for item in list(value.values() if isinstance(value, dict) else value):
                self.value(item, path, depth + 1)
        elif isinstance(value, type):
            self._bases(value)
        elif isinstance(value, FunctionType):
            self.function(value, depth)
        elif not isinstance(value, ModuleType):
            self.inside(value, path, depth)

    def _refuse_unknown(self, value: Value, path: str) -> None:
        if is_opaque(value):
            raise self.unavailable(path_of(value))
        if type(value) in (AssumedInt, AssumedFloat, AssumedStr):
            form = (
                "`%s` uses `%s`, which is %r on the GPU that is assumed, and something else on"
                " others of its architecture"
            )
            raise UnavailableValue(form % (self.kernel, path, value))

    def _bases(self, kind: type) -> None:
        for base in kind.__mro__:
            if base is not kind and is_from_stand_in(base):
                raise self.unavailable(
                    base.__name__ if "." in base.__name__ else "torch.%s" % base.__name__
                )

    def inside(self, value: Value, path: str, depth: int) -> None:
        """Check what a compile reads inside an object.

        This is the Python function of a jit function, the value of a constexpr, or the fields of
        an object whose class is of the tree.
        """
        facts = _facts(value)
        if isinstance(facts.get("fn"), FunctionType) or "fn" in facts:
            self.value(facts["fn"], path, depth)
        elif "value" in facts:
            self.value(facts["value"], path, depth + 1)
        elif is_of_tree(type(value)):
            for name, fact in facts.items():
                self.value(fact, "%s.%s" % (path, name), depth + 1)

    def function(self, function: FunctionType, depth: int) -> None:
        """Check what a function uses, its defaults and its annotations.

        Functions outside the tree are skipped.
        """
        if not LEDGER.in_tree(function.__code__.co_filename):
            return
        for name, default in _defaults(function):
            self.value(default, "%s=" % name, depth + 1)
        for annotation in (function.__annotations__ or {}).values():
            if is_opaque(annotation):
                raise self.unavailable(path_of(annotation))
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        for name, attributes in _uses(function.__code__):
            self.use(function, cells, name, attributes)

    def use(
        self, function: FunctionType, cells: Document, name: str, attributes: list[str]
    ) -> None:
        """Check a global or enclosing name, with the attributes that the function reads of it."""
        if name in cells:
            try:
                value = cells[name].cell_contents
            except ValueError:
                return
        else:
            self.refuse_missing(function.__globals__.get("__name__"), name)
            if name not in function.__globals__:
                self.from_anywhere(function.__globals__.get("__name__"), name)
                return
            value = function.__globals__[name]
        path = name
        for attribute in attributes:
            if is_opaque(value):
                raise self.unavailable(".".join([path_of(value), attribute]))
            if isinstance(value, ModuleType):
                self.refuse_missing(value.__name__, attribute)
                if attribute not in vars(value) and not isinstance(value, StandIn):
                    self.from_anywhere(value.__name__, attribute)
                    return
                value = getattr(value, attribute)
            elif attribute in _facts(value) and is_of_tree(
                value if isinstance(value, type) else type(value)
            ):
                value = _facts(value)[attribute]
            else:
                break
            path = "%s.%s" % (path, attribute)
        self.value(value, path, 0)

    def refuse_missing(self, module: object, name: str) -> None:
        """Raise the error that made a name missing, if there is one."""
        error = LEDGER.missing.get(str(module), {}).get(name)
        if error is not None:
            raise error

    def from_anywhere(self, module: object, name: str) -> None:
        """Raise the error of a failed ``from package import *``, which may have set this name.

        A built-in name does not need such an import.
        """
        if not hasattr(builtins, name):
            self.refuse_missing(module, "*")


def _defaults(function: FunctionType) -> Iterator[tuple[str, object]]:
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    yield from zip(names[len(names) - len(defaults) :], defaults)
    yield from (function.__kwdefaults__ or {}).items()


def _facts(value: Value) -> Any:
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}


def _uses(code: CodeType) -> Iterator[tuple[str, list[str]]]:
    """Yield every global or enclosing name that code uses, with the attributes read of it.

    The code of inner functions is included.
    """
    name, attributes = "", []
    for instruction in dis.get_instructions(code):
        if instruction.opname in BETWEEN:
            continue
        if name and instruction.opname in ATTRIBUTE_LOADS:
            attributes.append(str(instruction.argval))
            continue
        if name:
            yield name, attributes
        name, attributes = (
            (str(instruction.argval), []) if instruction.opname in _LOADING else ("", [])
        )
    if name:
        yield name, attributes
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _uses(constant)
