"""Everything that a kernel reaches, and the values that a skipped statement may have changed."""

from __future__ import annotations

import ast
import builtins
import dis
import functools
import sys
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from .dtypes import dtype
from .finder import StandIn, is_from_stand_in
from .ledger import LEDGER
from .opaque import AssumedFloat, AssumedInt, AssumedStr, UnavailableValue, is_opaque, path_of
from .pytorch import Tensor

if TYPE_CHECKING:
    from ...inside.foreign import Document, Function, Value

# --- what a kernel reaches: whether all of it is known here, before it is compiled ----------------

_DEPTH = 100
"""Levels of containers. Deeper ones count as unknown."""
_LOADING = (
    "LOAD_GLOBAL",
    "LOAD_NAME",
    "LOAD_DEREF",
    "LOAD_CLASSDEREF",
    "LOAD_FROM_DICT_OR_DEREF",
    "LOAD_FROM_DICT_OR_GLOBALS",
)
_TAKES = ("LOAD_ATTR", "LOAD_METHOD")
_BETWEEN = ("CACHE", "EXTENDED_ARG", "PUSH_NULL", "NOP", "RESUME", "PRECALL")


def check(kernel: Function, name: str) -> None:
    """Look through all that a kernel reaches: its helpers, their globals, constants, defaults.

    Raises UnavailableValue where one of them is unknown or assumed, and the original error where a
    statement that failed would have made it.
    """
    _ReachableValues(name).value(kernel, name, 0)


class _ReachableValues:
    def __init__(self, kernel: str) -> None:
        self.kernel = kernel
        self.seen: set[int] = set()
        self.alive: list[object] = []

    def lacks(self, what: str) -> UnavailableValue:
        package = what.split(".", 1)[0].split("(", 1)[0]
        message = "`%s` uses `%s`, and this env lacks `%s`: install it there" % (
            self.kernel,
            what,
            package,
        )
        return UnavailableValue(message)

    def value(self, value: Value, path: str, depth: int) -> None:
        """Look at a value that the kernel has under this name."""
        self._refuse_unknown(value, path)
        if type(value) is dtype or value is Tensor or value is dtype or id(value) in self.seen:
            return
        if depth > _DEPTH:
            raise UnavailableValue(
                "`%s` uses `%s`, which is nested too deeply to be looked through"
                % (self.kernel, path)
            )
        if isinstance(value, (int, float, str, bytes, type(None))):
            return
        self.seen.add(id(value))
        self.alive.append(value)
        if is_from_stand_in(value):
            raise self.lacks(getattr(value, "__name__", None) or path)
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
            raise self.lacks(path_of(value))
        if type(value) in (AssumedInt, AssumedFloat, AssumedStr):
            form = (
                "`%s` uses `%s`, which is %r on the GPU that is assumed, and something else on"
                " others of its architecture"
            )
            raise UnavailableValue(form % (self.kernel, path, value))

    def _bases(self, kind: type) -> None:
        for base in kind.__mro__:
            if base is not kind and is_from_stand_in(base):
                raise self.lacks(
                    base.__name__ if "." in base.__name__ else "torch.%s" % base.__name__
                )

    def inside(self, value: Value, path: str, depth: int) -> None:
        """Follow what a compile looks at inside of an object.

        This is the function of a jit function, the value of a constexpr, or the object's own
        fields.
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

    def use(
        self, function: FunctionType, cells: Document, name: str, attributes: list[str]
    ) -> None:
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
            elif attribute in _facts(value) and is_of_tree(
                value if isinstance(value, type) else type(value)
            ):
                value = _facts(value)[attribute]
            else:
                break
            path = "%s.%s" % (path, attribute)
        self.value(value, path, 0)

    def known(self, module: object, name: str) -> None:
        """Raise what made a name missing."""
        error = LEDGER.missing.get(str(module), {}).get(name)
        if error is not None:
            raise error

    def from_anywhere(self, module: object, name: str) -> None:
        """Raise the error that left a module without names, even unknown ones.

        It comes from ``from package import *``.
        """
        if not hasattr(builtins, name):
            self.known(module, "*")


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
    """Yield every global or enclosing name that code uses, with the attributes taken of it.

    The code of inner functions is included.
    """
    name, attributes = "", []
    for instruction in dis.get_instructions(code):
        if instruction.opname in _BETWEEN:
            continue
        if name and instruction.opname in _TAKES:
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


# --- what a statement that was left out may have changed, or would have: by the functions of the
# tree that it runs -------------

_MOST = 20_000
"""The number of inspected values."""
_PLAIN = (int, float, complex, str, bytes, type(None), range, slice)
_CONTAINERS = (list, dict, set, bytearray, SimpleNamespace)
_RUNNERS = ("threading", "concurrent")
"""Packages whose objects run a function that they hold."""
_SETS = ("STORE_GLOBAL", "DELETE_GLOBAL")
_SETS_ATTRIBUTE = ("STORE_ATTR", "DELETE_ATTR")
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")
_NAME_OPERATIONS = frozenset((*_SETS, *_SETS_ATTRIBUTE, *_LOADS))
_ASKED, _READ = "ASKED", "READ"
"""Loads of a name, as :func:`_name_operations` has them, whose value code only asks about or reads
items of.
"""
_ASKING = ("CONTAINS_OP", "COMPARE_OP", "IS_OP", "UNARY_NOT", "TO_BOOL")
_READING = ("BINARY_SUBSCR", "GET_ITER")
_READERS = ("copy", "count", "get", "index", "items", "keys", "values")
"""Methods of containers that change nothing."""
_MOVING = ("COPY", "DUP", "ROT", "SWAP")
_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))

_OF_EVERY_MODULE = frozenset(
    ("__name__", "__file__", "__package__", "__spec__", "__loader__", "__path__", "__builtins__")
)
"""Names that Python itself gives a module."""


class Effects:
    """All that the values of some names of a module lead to."""

    def __init__(self, names: Iterable[str], module: dict[str, object]) -> None:
        self.globals: set[tuple[str, str]] = set()
        """Module and name of the globals that functions set."""
        self.attributes: set[str] = set()
        """Names of attributes that functions set, on any object but ``self``."""
        self.changeable: list[object] = []
        """Objects that functions have in their hands and whose content can change."""
        self.classes: list[type] = []
        self.modules: set[str] = set()
        self._seen: dict[int, object] = {}
        for name in names:
            if name in module:
                self._follow(module[name], inside=False)

    def changed(self) -> Iterator[tuple[str, str]]:
        """Module and name of everything whose value is not what it would be."""
        yield from self.globals
        attributes = self.attributes - _OF_EVERY_MODULE  # functions and classes have them, too
        yield from ((module, name) for module in self.modules for name in attributes)
        objects = {id(value) for value in self.changeable}
        objects.update(
            id(failure_class)
            for failure_class in self.classes
            if self.attributes.intersection(vars(failure_class))
        )
        for module in _tree_modules() if objects else ():
            names = vars(module)
            # Python's own loop: a large library asks for this of a million values.
            if not objects.isdisjoint(map(id, names.values())):
                yield from (
                    (module.__name__, name)
                    for name, value in list(names.items())
                    if id(value) in objects
                )

    def _follow(self, value: object, inside: bool) -> None:
        """Go where a value leads. ``inside`` a function it can also be changed."""
        waiting = [(value, inside)]
        while waiting and len(self._seen) < _MOST:
            current, inside = waiting.pop()
            if isinstance(current, ModuleType) and inside:
                self.modules.add(current.__name__)
            if (
                type(current) in _PLAIN
                or isinstance(current, ModuleType)
                or id(current) in self._seen
                or is_opaque(current)
            ):
                continue
            self._seen[id(current)] = current
            waiting += self._led_to(current, inside)
        if waiting:
            LEDGER.elsewhere = True

    def _led_to(self, value: object, inside: bool) -> list[tuple[object, bool]]:
        if isinstance(value, FunctionType):
            return self._of_function(value) if LEDGER.in_tree(value.__code__.co_filename) else []
        if isinstance(value, MethodType):
            return [(value.__func__, True), (value.__self__, True)]
        if isinstance(value, (staticmethod, classmethod)):
            return [(value.__func__, True)]
        if isinstance(value, property):
            return [
                (function, True)
                for function in (value.fget, value.fset, value.fdel)
                if function is not None
            ]
        if isinstance(value, functools.partial):
            return [
                (reached, True) for reached in (value.func, *value.args, *value.keywords.values())
            ]
        if isinstance(value, type):
            return self._of_class(value)
        return self._of_object(value, inside)

    def _of_function(self, function: FunctionType) -> list[tuple[object, bool]]:
        names = function.__globals__
        module = str(names.get("__name__"))
        loaded: list[object] = []
        for operation, argument in _name_operations(function.__code__):
            if operation in _SETS:
                self.globals.add((module, argument))
            elif operation in _SETS_ATTRIBUTE:
                self.attributes.add(argument)
            elif argument not in names or (operation == _ASKED and _is_table(names[argument])):
                continue
            elif operation == _READ and _is_constant_table(names[argument]):
                loaded += _items(names[argument])
            else:
                loaded.append(names[argument])
        for cell in function.__closure__ or ():
            try:
                loaded.append(cell.cell_contents)
            except ValueError:
                continue
        return [(reached, True) for reached in loaded]

    def _of_class(self, value: type) -> list[tuple[object, bool]]:
        if not is_of_tree(value):
            return []
        self.classes.append(value)
        return [(reached, True) for reached in [*vars(value).values(), *value.__mro__[1:]]]

    def _of_object(self, value: object, inside: bool) -> list[tuple[object, bool]]:
        kind = type(value)
        reached: list[object] = []
        if isinstance(value, (tuple, frozenset)):
            reached += value
        elif isinstance(value, _CONTAINERS) or is_of_tree(kind):
            if inside:
                self.changeable.append(value)
            reached += [
                kind,
                *(_items(value) if isinstance(value, (dict, list, set)) else ()),
            ]
        elif not kind.__module__.startswith(_RUNNERS):
            return []
        facts = getattr(value, "__dict__", None)
        return [
            (inner, True)
            for inner in [*reached, *(facts.values() if isinstance(facts, dict) else ())]
        ]


def _items(container: Any) -> Iterable[object]:
    return container.values() if isinstance(container, dict) else container


def _is_table(value: object) -> bool:
    return type(value) in (dict, list, set, frozenset, tuple)


def _is_constant_table(value: object) -> bool:
    """Whether nothing in a container can change, so that reading its items cannot change it."""
    return _is_table(value) and not any(map(_can_change, _items(value)))


def _can_change(item: Any) -> bool:
    kind = type(item)  # an unknown value refuses isinstance
    if issubclass(kind, (tuple, frozenset)):
        return any(map(_can_change, item))
    return issubclass(kind, _CONTAINERS) or is_of_tree(kind)


def is_of_tree(kind: type) -> bool:
    """Whether a class is of a module of the tree."""
    return is_in_tree(sys.modules.get(kind.__module__))


def is_in_tree(module: object) -> bool:
    """Return whether something is a module of the tree.

    Only its dictionary is read, because asking a module for an attribute can run its own code.
    """
    path = getattr(module, "__dict__", {}).get("__file__")
    return isinstance(path, str) and LEDGER.in_tree(path)


@functools.lru_cache(maxsize=None)
def _name_operations(code: CodeType) -> tuple[tuple[str, str], ...]:
    """The operations of some code that load or set a name, inner functions included, and the name.

    A load of a value that is only asked about or read has an operation of its own. An attribute of
    ``self`` is left out. Statements that are left out lead to the same functions again and again.
    """
    instructions = list(dis.get_instructions(code))
    own = [
        (_use(instructions, index) or instruction.opname, str(instruction.argval))
        for index, instruction in enumerate(instructions)
        if instruction.opname in _NAME_OPERATIONS and not _is_own(instructions, index)
    ]
    for part in code.co_consts:
        if isinstance(part, CodeType):
            own += _name_operations(part)
    return tuple(dict.fromkeys(own))


def _is_own(instructions: list[dis.Instruction], index: int) -> bool:
    """Whether an instruction sets an attribute of ``self``: neither of a module nor of a class."""
    owner = instructions[index - 1]
    names = owner.argval if isinstance(owner.argval, tuple) else (owner.argval,)
    return (
        instructions[index].opname in _SETS_ATTRIBUTE
        and owner.opname.startswith("LOAD_FAST")
        and names[-1] == "self"
    )


def _use(instructions: list[dis.Instruction], index: int) -> str:
    """What code does with a value that it loads, if that cannot change the value.

    The instruction that takes the value from the stack tells it.
    """
    if instructions[index].opname not in _LOADS:
        return ""
    depth = 1  # of the stack, from the value on
    for instruction in instructions[index + 1 :]:
        name = instruction.opname
        if instruction.opcode in _JUMPS:
            return _ASKED if depth == 1 and name.startswith("POP_JUMP") else ""
        if name.startswith(_MOVING):
            return ""
        argument = instruction.arg if instruction.opcode >= dis.HAVE_ARGUMENT else None
        after = depth + dis.stack_effect(instruction.opcode, argument)
        is_push = name in _BETWEEN or (name.startswith("LOAD_") and name not in _TAKES)
        takes_value = after <= 1 if depth > 1 else not is_push
        if takes_value and name in _TAKES:
            return _READ if instruction.argval in _READERS else ""
        if takes_value:
            return _ASKED if name in _ASKING else _READ if name in _READING else ""
        depth = after
    return ""


def _tree_modules() -> list[ModuleType]:
    return [module for module in list(sys.modules.values()) if is_in_tree(module)]


def names_in(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that nodes read, those in the bodies of lambdas included."""
    names: set[str] = set()
    for node in nodes:
        inner = ast.walk(node) if isinstance(node, ast.Lambda) else (node,)
        names.update(
            node_.id
            for node_ in inner
            if isinstance(node_, ast.Name) and isinstance(node_.ctx, ast.Load)
        )
    return names
