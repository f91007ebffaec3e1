"""What a statement that was left out may have changed, or would have: by the functions of the tree that it runs."""

from __future__ import annotations

import ast
import dis
import functools
import sys
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

from .ledger import LEDGER
from .opaque import is_opaque

_MOST = 20_000
"""Values that are looked at."""
_PLAIN = (int, float, complex, str, bytes, type(None), range, slice)
_CONTAINERS = (list, dict, set, bytearray, SimpleNamespace)
_RUNNERS = ("threading", "concurrent")
"""Packages whose objects run a function that they hold."""
_SETS = ("STORE_GLOBAL", "DELETE_GLOBAL")
_SETS_ATTRIBUTE = ("STORE_ATTR", "DELETE_ATTR")
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")


class Effects:
    """All that the values of some names of a module lead to."""

    def __init__(self, names: Iterable[str], module: dict[str, Any]) -> None:
        self.globals: set[tuple[str, str]] = set()
        """Module and name of what functions set."""
        self.attributes: set[str] = set()
        """Names of attributes that functions set, of whatever object."""
        self.changeable: list[Any] = []
        """Objects that functions have in their hands and whose content can change."""
        self.classes: list[type] = []
        self.modules: set[str] = set()
        self._seen: dict[int, Any] = {}
        for name in names:
            if name in module:
                self._follow(module[name], inside=False)

    def changed(self) -> Iterator[tuple[str, str]]:
        """Module and name of everything whose value is not what it would be."""
        yield from self.globals
        yield from ((module, name) for module in self.modules for name in self.attributes)
        objects = {id(value) for value in self.changeable}
        objects.update(id(failure_class) for failure_class in self.classes if self.attributes.intersection(vars(failure_class)))
        for module in _tree_modules():
            yield from ((module.__name__, name) for name, value in list(vars(module).items()) if id(value) in objects)

    def _follow(self, value: Any, inside: bool) -> None:
        """Go where a value leads. ``inside`` a function it can also be changed."""
        waiting = [(value, inside)]
        while waiting and len(self._seen) < _MOST:
            found, inside = waiting.pop()
            if isinstance(found, ModuleType) and inside:
                self.modules.add(found.__name__)
            if type(found) in _PLAIN or isinstance(found, ModuleType) or id(found) in self._seen or is_opaque(found):
                continue
            self._seen[id(found)] = found
            waiting += self._led_to(found, inside)
        if waiting:
            LEDGER.elsewhere = True

    def _led_to(self, value: Any, inside: bool) -> list[tuple[Any, bool]]:
        if isinstance(value, FunctionType):
            return self._of_function(value) if LEDGER.in_tree(value.__code__.co_filename) else []
        if isinstance(value, MethodType):
            return [(value.__func__, True), (value.__self__, True)]
        if isinstance(value, (staticmethod, classmethod)):
            return [(value.__func__, True)]
        if isinstance(value, property):
            return [(function, True) for function in (value.fget, value.fset, value.fdel) if function is not None]
        if isinstance(value, functools.partial):
            return [(reached, True) for reached in (value.func, *value.args, *value.keywords.values())]
        if isinstance(value, type):
            return self._of_class(value)
        return self._of_object(value, inside)

    def _of_function(self, function: FunctionType) -> list[tuple[Any, bool]]:
        names = function.__globals__
        module = str(names.get("__name__"))
        loaded: list[Any] = []
        for operation, argument in _instructions(function.__code__):
            if operation in _SETS:
                self.globals.add((module, argument))
            elif operation in _SETS_ATTRIBUTE:
                self.attributes.add(argument)
            elif operation in _LOADS and argument in names:
                loaded.append(names[argument])
        for cell in function.__closure__ or ():
            try:
                loaded.append(cell.cell_contents)
            except ValueError:
                continue
        return [(reached, True) for reached in loaded]

    def _of_class(self, value: type) -> list[tuple[Any, bool]]:
        if not is_of_tree(value):
            return []
        self.classes.append(value)
        return [(reached, True) for reached in [*vars(value).values(), *value.__mro__[1:]]]

    def _of_object(self, value: Any, inside: bool) -> list[tuple[Any, bool]]:
        kind = type(value)
        reached: list[Any] = []
        if isinstance(value, (tuple, frozenset)):
            reached += value
        elif isinstance(value, _CONTAINERS) or is_of_tree(kind):
            if inside:
                self.changeable.append(value)
            reached += [kind, *(value.values() if isinstance(value, dict) else value if isinstance(value, (list, set)) else ())]
        elif not kind.__module__.startswith(_RUNNERS):
            return []
        facts = getattr(value, "__dict__", None)
        return [(inner, True) for inner in [*reached, *(facts.values() if isinstance(facts, dict) else ())]]


def is_of_tree(kind: type) -> bool:
    """Whether a class is of a module of the tree."""
    return is_in_tree(sys.modules.get(kind.__module__))


def is_in_tree(module: Any) -> bool:
    """Whether something is a module of the tree. By its dictionary: asking a module for an attribute can run code of its own."""
    path = getattr(module, "__dict__", {}).get("__file__")
    return isinstance(path, str) and LEDGER.in_tree(path)


def _instructions(code: CodeType) -> Iterator[tuple[str, str]]:
    """Every operation of some code, inner functions included, with the name that it is about."""
    for instruction in dis.get_instructions(code):
        yield instruction.opname, str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _instructions(constant)


def _tree_modules() -> list[ModuleType]:
    return [module for module in list(sys.modules.values()) if is_in_tree(module)]


def names_in(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that nodes read, those in the bodies of lambdas included."""
    names: set[str] = set()
    for node in nodes:
        inner = ast.walk(node) if isinstance(node, ast.Lambda) else (node,)
        names.update(node_.id for node_ in inner if isinstance(node_, ast.Name) and isinstance(node_.ctx, ast.Load))
    return names
