"""Search for everything that a failed statement may have changed through functions that it ran."""

from __future__ import annotations

import ast
import dis
import functools
import sys
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

from .ledger import LEDGER, is_in_tree, is_of_tree
from .opaque import is_opaque

ATTRIBUTE_LOADS = ("LOAD_ATTR", "LOAD_METHOD")
"""Instructions that read an attribute of a value."""
BETWEEN = ("CACHE", "EXTENDED_ARG", "PUSH_NULL", "NOP", "RESUME", "PRECALL")
"""Instructions that do nothing with a value."""
_MOST = 20_000
"""Maximum number of inspected values."""
_PLAIN = (int, float, complex, str, bytes, type(None), range, slice)
_CONTAINERS = (list, dict, set, bytearray, SimpleNamespace)
_RUNNERS = ("threading", "concurrent")
"""Packages whose objects run a function that they hold."""
_SETS = ("STORE_GLOBAL", "DELETE_GLOBAL")
_SETS_ATTRIBUTE = ("STORE_ATTR", "DELETE_ATTR")
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")
_NAME_OPERATIONS = frozenset((*_SETS, *_SETS_ATTRIBUTE, *_LOADS))
_TESTED, _READ = "ASKED", "READ"
"""Operations of :func:`_name_operations` for loads of a name whose value the code only tests, and
for loads of a name whose items the code only reads.
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
"""Names that Python itself sets in a module."""


class Effects:
    """Everything that is reachable from the values of some names of a module."""

    def __init__(self, names: Iterable[str], module: dict[str, object]) -> None:
        self.globals: set[tuple[str, str]] = set()
        """Module and name of the globals that functions set."""
        self.attributes: set[str] = set()
        """Names of attributes that functions set, on any object but ``self``."""
        self.changeable: list[object] = []
        """Mutable objects that functions can reach."""
        self.classes: list[type] = []
        self.modules: set[str] = set()
        self._seen: dict[int, object] = {}
        for name in names:
            if name in module:
                self._follow(module[name], inside=False)

    def changed_names(self) -> Iterator[tuple[str, str]]:
        """Yield module and name of everything whose value a function may have changed."""
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
            # The loop runs inside Python's own functions: a large library has a million values.
            if not objects.isdisjoint(map(id, names.values())):
                yield from (
                    (module.__name__, name)
                    for name, value in list(names.items())
                    if id(value) in objects
                )

    def _follow(self, value: object, inside: bool) -> None:
        """Follow a value to everything that it reaches.

        ``inside`` says that a function reaches the value, and can change it.
        """
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
            waiting += self._next_values(current, inside)
        if waiting:
            LEDGER.elsewhere = True

    def _next_values(self, value: object, inside: bool) -> list[tuple[object, bool]]:
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
            elif argument not in names or (operation == _TESTED and _is_table(names[argument])):
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
            reached += [kind, *(_items(value) if isinstance(value, (dict, list, set)) else ())]
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
    """Whether all items of a container are immutable, so that reading them changes nothing."""
    return _is_table(value) and not any(map(_can_change, _items(value)))


def _can_change(item: Any) -> bool:
    kind = type(item)  # an unknown value refuses isinstance
    if issubclass(kind, (tuple, frozenset)):
        return any(map(_can_change, item))
    return issubclass(kind, _CONTAINERS) or is_of_tree(kind)


@functools.lru_cache(maxsize=None)
def _name_operations(code: CodeType) -> tuple[tuple[str, str], ...]:
    """Return the operations of some code that load or set a name, each with the name.

    Inner functions are included. A load of a value that is only tested or read has the operation
    ``_ASKED`` or ``_READ``. Operations that set an attribute of ``self`` are left out. The result
    is cached, because statements that are left out lead to the same functions again and again.
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
    """Whether an instruction sets an attribute of ``self``, which is no module and no class."""
    owner = instructions[index - 1]
    names = owner.argval if isinstance(owner.argval, tuple) else (owner.argval,)
    return (
        instructions[index].opname in _SETS_ATTRIBUTE
        and owner.opname.startswith("LOAD_FAST")
        and names[-1] == "self"
    )


def _use(instructions: list[dis.Instruction], index: int) -> str:
    """Return how code uses a value that it loads: ``_ASKED`` or ``_READ``.

    The instruction that takes the value from the stack decides. Returns an empty string if the use
    may change the value, or is unknown.
    """
    if instructions[index].opname not in _LOADS:
        return ""
    depth = 1  # of the stack, counted from the value
    for instruction in instructions[index + 1 :]:
        name = instruction.opname
        if instruction.opcode in _JUMPS:
            return _TESTED if depth == 1 and name.startswith("POP_JUMP") else ""
        if name.startswith(_MOVING):
            return ""
        argument = instruction.arg if instruction.opcode >= dis.HAVE_ARGUMENT else None
        after = depth + dis.stack_effect(instruction.opcode, argument)
        is_push = name in BETWEEN or (name.startswith("LOAD_") and name not in ATTRIBUTE_LOADS)
        takes_value = after <= 1 if depth > 1 else not is_push
        if takes_value and name in ATTRIBUTE_LOADS:
            return _READ if instruction.argval in _READERS else ""
        if takes_value:
            return _TESTED if name in _ASKING else _READ if name in _READING else ""
        depth = after
    return ""


def _tree_modules() -> list[ModuleType]:
    return [module for module in list(sys.modules.values()) if is_in_tree(module)]


def names_in(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that nodes read, including names in the bodies of lambdas."""
    names: set[str] = set()
    for node in nodes:
        inner = ast.walk(node) if isinstance(node, ast.Lambda) else (node,)
        names.update(
            node_.id
            for node_ in inner
            if isinstance(node_, ast.Name) and isinstance(node_.ctx, ast.Load)
        )
    return names
