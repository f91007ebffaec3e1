"""The jit functions of a source: which are kernels, which are called by kernels, and which cannot be reached."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from attrs import frozen

from compat.bundle.parsing import tree_of
from compat.guess.literals import Scope

_JIT = {"triton.jit", "triton.runtime.jit", "triton.runtime.jit.jit", "triton.runtime.jit.JITFunction", "triton.JITFunction"}
_PACKAGES = {"triton": "triton", "tl": "triton.language"}
"""What a name is taken for that is imported from somewhere else: packages hand Triton on to their own modules."""


@frozen(kw_only=True)
class Parameter:
    """One parameter of a jit function."""

    name: str
    annotation: ast.expr | None
    default: ast.expr | None
    is_constexpr: bool


@frozen(kw_only=True)
class JitFunction:
    """A jit function at the top of a module."""

    name: str
    node: ast.FunctionDef
    parameters: tuple[Parameter, ...]
    configs: ast.expr | None
    """The ``configs`` of ``@triton.autotune`` and its like."""
    heuristics: Mapping[str, ast.expr]
    """Parameter → the function that ``@triton.heuristics`` computes it with."""

    @property
    def returns(self) -> bool:
        """Whether it returns a value, which no kernel does."""
        return any(isinstance(each, ast.Return) and _is_something(each.value) for each in ast.walk(self.node))


@frozen(kw_only=True)
class NotTaken:
    """A jit function that no kernel file can have."""

    name: str
    line: int
    why: str


@frozen(kw_only=True)
class Module:
    """What a source defines, as far as it matters to kernels."""

    path: Path
    tree: ast.Module
    scope: Scope
    functions: Mapping[str, JitFunction]
    not_taken: tuple[NotTaken, ...]
    jitted: tuple[ast.FunctionDef, ...]
    """Every jit function, those that are not taken, too."""

    @property
    def called(self) -> frozenset[str]:
        """Names that its jit functions call, as they are called where they are defined."""
        calls = (each.func for node in self.jitted for each in ast.walk(node) if isinstance(each, ast.Call))
        return frozenset(name for call in calls if (name := self._defined(call)))

    def _defined(self, function: ast.expr) -> str | None:
        """What a function is called where it is defined: behind an import by another name, and behind a module's name."""
        if isinstance(function, ast.Attribute) and not _is_imported(function, self.scope):
            return None
        called = self.scope.called(function) or ""
        return None if called.startswith("triton.") else called.rpartition(".")[2]

    @cached_property
    def launched(self) -> frozenset[str]:
        """Names that the source launches: ``name[grid](…)``."""
        calls = (each.func for each in ast.walk(self.tree) if isinstance(each, ast.Call))
        found = (each.value for each in calls if isinstance(each, ast.Subscript))
        return frozenset(each.id for each in found if isinstance(each, ast.Name))

    @cached_property
    def launches(self) -> Mapping[str, Sequence[tuple[ast.FunctionDef, ast.Call]]]:
        """Name → the launches of it, each with a function around it: of functions inside of one another, with each of them."""
        found: dict[str, list[tuple[ast.FunctionDef, ast.Call]]] = defaultdict(list)
        for around in (each for each in ast.walk(self.tree) if isinstance(each, ast.FunctionDef)):
            for call in ast.walk(around):
                match call:
                    case ast.Call(func=ast.Subscript(value=ast.Name(id=name))):
                        found[name].append((around, call))
        return found

    def kernels(self, helpers: Collection[str]) -> tuple[JitFunction, ...]:
        """The jit functions that may be launched: they return nothing, and are not among the ``helpers``, which others call."""
        return tuple(each for each in self.functions.values() if not each.returns and each.name not in helpers)


def read_module(path: Path) -> Module:
    """Read a source. Raises OSError, or SyntaxError where it cannot be parsed."""
    tree = tree_of(path.read_bytes(), path.name)
    scope = Scope(module=_bindings(tree), imports=_imports(tree))
    found: dict[str, JitFunction] = {}
    not_taken: list[NotTaken] = []
    jitted: list[ast.FunctionDef] = []
    for node, inside in _functions(tree):
        if not any(_called(each, scope) in _JIT for each in node.decorator_list):
            continue
        jitted.append(node)
        later = scope.module.get(node.name)
        if not inside and later is not node:
            not_taken.append(NotTaken(name=node.name, line=node.lineno, why="something else has its name later in the file"))
        elif inside:
            not_taken.append(NotTaken(name=node.name, line=node.lineno, why=f"it is defined inside of {inside}"))
        else:
            found[node.name] = _jit_function(node, scope)
    return Module(path=path, tree=tree, scope=scope, functions=found, not_taken=tuple(not_taken), jitted=tuple(jitted))


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements, with those inside of ``if``, ``try`` and ``with``."""
    for statement in body:
        yield statement
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for name in ("body", "orelse", "finalbody"):
                yield from _statements(getattr(statement, name, []))
            for handler in getattr(statement, "handlers", []):
                yield from _statements(handler.body)


def _functions(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef, str]]:
    """Every function, and the name of the function or class that it is inside of, if any."""
    waiting: list[tuple[Sequence[ast.stmt], str]] = [(tree.body, "")]
    while waiting:
        body, inside = waiting.pop(0)
        for statement in _statements(body):
            if isinstance(statement, ast.FunctionDef):
                yield statement, inside
            if isinstance(statement, ast.FunctionDef | ast.ClassDef):
                waiting.append((statement.body, statement.name))


def _imports(tree: ast.Module) -> dict[str, str]:
    found: dict[str, str] = {}
    for statement in _statements(tree.body):
        if isinstance(statement, ast.Import):
            found |= {each.asname or each.name.partition(".")[0]: _meant(each) for each in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            for each in statement.names:
                module = "." * statement.level + (statement.module or "")
                found[each.asname or each.name] = _PACKAGES.get(each.name, f"{module}.{each.name}")
    return found


def _meant(alias: ast.alias) -> str:
    return alias.name if alias.asname else alias.name.partition(".")[0]


def _bindings(tree: ast.Module) -> dict[str, ast.stmt]:
    found: dict[str, ast.stmt] = {}
    for statement in _statements(tree.body):
        match statement:
            case ast.FunctionDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                found[name] = statement
    return found


def _called(decorator: ast.expr, scope: Scope) -> str | None:
    return scope.called(decorator.func if isinstance(decorator, ast.Call) else decorator)


def _jit_function(node: ast.FunctionDef, scope: Scope) -> JitFunction:
    configs: ast.expr | None = None
    heuristics: dict[str, ast.expr] = {}
    for decorator in node.decorator_list:
        if not isinstance(decorator, ast.Call):
            continue
        if _called(decorator, scope) == "triton.heuristics":
            heuristics |= _heuristics(decorator, scope)
        else:
            configs = configs or next((each.value for each in decorator.keywords if each.arg == "configs"), None)
            if configs is None and _called(decorator, scope) == "triton.autotune" and decorator.args:
                configs = decorator.args[0]
    return JitFunction(name=node.name, node=node, parameters=_parameters(node.args, scope), configs=configs, heuristics=heuristics)


def _heuristics(decorator: ast.Call, scope: Scope) -> dict[str, ast.expr]:
    said = [*decorator.args, *(each.value for each in decorator.keywords)]
    table = said[0] if said else None
    if isinstance(table, ast.Name) and isinstance(statement := scope.module.get(table.id), ast.Assign):
        table = statement.value
    if not isinstance(table, ast.Dict):
        return {}
    entries = zip(table.keys, table.values, strict=True)
    return {key.value: value for key, value in entries if isinstance(key, ast.Constant) and isinstance(key.value, str)}


def _parameters(arguments: ast.arguments, scope: Scope) -> tuple[Parameter, ...]:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: dict[str, ast.expr | None] = {
        each.arg: value for each, value in zip(positional[::-1], arguments.defaults[::-1], strict=False)
    }
    defaults |= {each.arg: value for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)}
    return tuple(
        Parameter(
            name=each.arg,
            annotation=each.annotation,
            default=defaults.get(each.arg),
            is_constexpr=_is_constexpr(each.annotation, scope),
        )
        for each in (*positional, *arguments.kwonlyargs)
    )


def _is_imported(node: ast.Attribute, scope: Scope) -> bool:
    """Whether an attribute is one of a module that is imported."""
    while isinstance(node.value, ast.Attribute):
        node = node.value
    return isinstance(node.value, ast.Name) and node.value.id in scope.imports


def _is_constexpr(annotation: ast.expr | None, scope: Scope) -> bool:
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    if isinstance(annotation, ast.Constant):
        return str(annotation.value).rpartition(".")[2] == "constexpr"
    return annotation is not None and (scope.called(annotation) or "").rpartition(".")[2] == "constexpr"


def _is_something(value: ast.expr | None) -> bool:
    return value is not None and not (isinstance(value, ast.Constant) and value.value is None)
