"""The kernels of a source: ``@cute.jit`` functions that launch, or classes with such a method.

The method of a class is its ``__call__``.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from attrs import frozen

from compat.source.closure import roots_of
from compat.source.constants import SourceFunction
from compat.source.imports import Import, import_origins, imports_of, module_file
from compat.source.parsing import (
    Definition,
    bindings,
    dotted_name,
    functions_in,
    is_program,
    named_parameters,
    scope_statements,
    tree_of,
)
from compat.toolchains.cute.language.guessing import library
from compat.toolchains.cute.language.guessing.assumptions import annotation_text, assumed_argument
from compat.toolchains.cute.language.guessing.evaluation import (
    HostCall,
    HostScope,
    Kernels,
    own_method,
    parameters_given,
)
from compat.toolchains.cute.language.guessing.numbers import fitting_numbers
from compat.toolchains.cute.language.guessing.values import UNKNOWN, Unknown
from compat.toolchains.language import GuessedKernel, UnreachableKernel

_PACKAGES = {"cutlass", "cute", "cute_ext"}
_CALL = "__call__"
_MOST_BASES = 8
"""The number of bases, one above the other, that are searched for a ``__call__``."""
_ABOVE = 5
"""The number of folders above a source that are searched for its modules."""


@frozen(kw_only=True)
class Launcher:
    """A function or a class that a kernel file can name."""

    name: str
    call: ast.FunctionDef
    """The function, or the ``__call__`` of the class."""
    kind: ast.ClassDef | None = None
    constructor: ast.FunctionDef | None = None

    @property
    def parameters(self) -> list[ast.arg]:
        """The parameters of its call."""
        return named_parameters(self.call.args)[1 if self.kind else 0 :]

    @property
    def every_parameter(self) -> list[ast.arg]:
        """The parameters of its constructor and of its call."""
        constructor = named_parameters(self.constructor.args)[1:] if self.constructor else []
        return [*constructor, *self.parameters]


@frozen(kw_only=True)
class CuteModule:
    """The definitions of a source that matter to kernels."""

    path: Path
    tree: ast.Module
    imports: Mapping[str, str]
    functions: Mapping[str, Launcher]
    unreachable: tuple[UnreachableKernel, ...]
    jitted: tuple[ast.FunctionDef, ...]
    """Every function that is compiled, helpers too."""

    @property
    def called_names(self) -> frozenset[str]:
        """Names that its jit functions call."""
        calls = (
            inner.func
            for node in self.jitted
            for inner in ast.walk(node)
            if isinstance(inner, ast.Call)
        )
        return frozenset(
            name
            for call in calls
            if (name := dotted_name(call).rpartition(".")[2]) and not self._is_class(name)
        )

    def _is_class(self, name: str) -> bool:
        return name in self.functions and self.functions[name].kind is not None

    @property
    def launched_names(self) -> frozenset[str]:
        """Names that the source's host code compiles or calls."""
        return frozenset(call.kernel for call in self.calls)

    @cached_property
    def classes(self) -> Mapping[str, ast.ClassDef]:
        """The classes at the top of the module."""
        return _classes(self.tree)

    @cached_property
    def scope(self) -> HostScope:
        """The names that host code at the top of the module sees."""
        scope = HostScope(module=bindings(self.tree.body), imports=self.imports)
        scope.folder = self.path.parent
        scope.kernels = Kernels(
            roots=(*roots_of(self.path), self.path.parent, *_roots(self.path, self.tree)),
            functions={
                name: launcher.call
                for name, launcher in self.functions.items()
                if launcher.kind is None
            },
            classes=self.classes,
            defaults=_command_line(self.tree),
        )
        return scope

    @cached_property
    def calls(self) -> tuple[HostCall, ...]:
        """Return the calls of the module's kernels in host code.

        The evaluation starts at the top of the module. If it does not find a known call of each
        kernel, it also starts at each function of host code by itself.
        """
        noted = self.scope.kernels.calls
        main = self.scope.inside({})
        main.run(
            [
                statement
                for statement in self.tree.body
                if not isinstance(statement, ast.ClassDef | ast.FunctionDef)
            ]
        )
        for function in self._hosts():
            if not {call.kernel for call in noted if call.is_known} >= set(self.functions):
                self.scope.kernels.assuming = True
                alone = SourceFunction(function, self.scope)
                main.apply(
                    alone, [], self._assumed_arguments(function, parameters_given(alone, (), {}))
                )
        return tuple(noted)

    def _assumed_arguments(
        self, function: ast.FunctionDef, arguments: Mapping[str, object]
    ) -> dict[str, object]:
        """Return the arguments that a function is assumed to get.

        They are defaults of the command line, else the function's own defaults, else guesses by
        name. Whole numbers fit what the kernels that the function names ask of their parameters.
        """
        options = self.scope.kernels.defaults
        values = {
            name: self.scope.value(options[name]) if name in options else value
            for name, value in arguments.items()
        }
        used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        launchers = [launcher for name, launcher in self.functions.items() if name in used]
        annotations = {
            parameter.arg: parameter.annotation
            for launcher in launchers
            for parameter in launcher.every_parameter
        }
        assumed: dict[str, object] = {}
        for parameter in named_parameters(function.args):
            name = parameter.arg
            if isinstance(values.get(name), Unknown):
                assumed[name] = assumed_argument(name, annotation_text(parameter.annotation))
                if assumed[name] is UNKNOWN and not parameter.annotation:
                    assumed[name] = assumed_argument(name, annotation_text(annotations.get(name)))
        values |= assumed
        for launcher in launchers:
            names = [
                parameter.arg
                for parameter in launcher.every_parameter
                if type(assumed.get(parameter.arg)) is int
            ]
            others = {name: value for name, value in values.items() if name not in names}
            values |= fitting_numbers(names, others, launcher.kind or launcher.call)
        return values

    def _hosts(self) -> Iterator[ast.FunctionDef]:
        """Yield the functions of host code that compile something or call a kernel."""
        jitted = {id(node) for node in self.jitted}
        names = set(self.functions)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef) and id(node) not in jitted:
                used = {
                    dotted_name(call.func) for call in ast.walk(node) if isinstance(call, ast.Call)
                }
                if any(name.rpartition(".")[2] == "compile" for name in used) or used & names:
                    yield node

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders above the source with modules that it imports, relative to its folder."""
        return tuple(
            os.path.relpath(root, self.path.parent) for root in _roots(self.path, self.tree)
        )

    def kernels(self, helpers: Collection[str], others: object = ()) -> tuple[GuessedKernel, ...]:
        """Return the kernels, guessed, without functions in ``helpers``, which others call."""
        from compat.toolchains.cute.language.guessing.kernels import guess_kernel

        return tuple(
            guess_kernel(launcher, self)
            for name, launcher in self.functions.items()
            if name not in helpers or launcher.kind is not None
        )


def read_module(path: Path) -> CuteModule:
    """Read a source. Raises OSError, or SyntaxError if it cannot be parsed."""
    tree = tree_of(path.read_bytes(), path.name)
    imports = import_origins(scope_statements(tree.body), library.PACKAGES)
    definitions = list(functions_in(tree))
    jitted = [(node, inside) for node, inside in definitions if _is_below(node, imports, "jit")]
    kernels = [(node, inside) for node, inside in definitions if _is_below(node, imports, "kernel")]
    launching = _launching(jitted)
    programs = {
        id(inner)
        for statement in tree.body
        if is_program(statement)
        for inner in ast.walk(statement)
    }
    functions: dict[str, Launcher] = {}
    unreachable: list[UnreachableKernel] = []
    for node, inside in jitted:
        if id(node) not in launching:
            continue
        if id(node) in programs:
            why = "it is defined only where the file is run as a program"
            unreachable.append(UnreachableKernel(name=node.name, line=node.lineno, why=why))
        elif not inside:
            functions[node.name] = Launcher(name=node.name, call=node)
        elif len(inside) == 1 and isinstance(inside[0], ast.ClassDef) and node.name == _CALL:
            kind = inside[0]
            functions[kind.name] = Launcher(
                name=kind.name, call=node, kind=kind, constructor=_constructor(kind, tree)
            )
        else:
            where = ".".join(outer.name for outer in inside)
            why = (
                f"it is defined inside of {where}, and only a class's {_CALL} can be compiled there"
            )
            unreachable.append(UnreachableKernel(name=node.name, line=node.lineno, why=why))
    inheriting = dict(_inheriting(path, tree, functions))
    unreachable += inheriting.values()
    unreachable += _unlaunched_kernels(
        [node for node, inside in kernels if not inside or inside[0].name not in inheriting],
        [node for node, _ in definitions],
    )
    return CuteModule(
        path=path,
        tree=tree,
        imports=imports,
        functions=functions,
        unreachable=tuple(unreachable),
        jitted=tuple(node for node, _ in (*jitted, *kernels)),
    )


def _is_below(node: ast.FunctionDef, imports: Mapping[str, str], decorator: str) -> bool:
    """Whether a function has a decorator of the language with this name."""
    for expression in node.decorator_list:
        name = dotted_name(expression.func if isinstance(expression, ast.Call) else expression)
        first, dot, rest = name.partition(".")
        origin = imports.get(first, first) + dot + rest
        if origin.rpartition(".")[2] == decorator and origin.partition(".")[0] in _PACKAGES:
            return True
    return False


def _launching(jitted: Sequence[Definition]) -> set[int]:
    """Return the ``id`` of each jit function that launches a kernel.

    A function may launch directly, or through other functions of the source, or through objects of
    its classes.
    """
    names = {
        id(node): inside[-1].name if inside and node.name == _CALL else node.name
        for node, inside in jitted
    }
    calls = {id(node): set(_called_names(node)) for node, _ in jitted}
    launching = {one for one, called in calls.items() if "launch" in called}
    while more := {
        one
        for one, called in calls.items()
        if one not in launching and called & {names[other] for other in launching}
    }:
        launching |= more
    return launching


def _called_names(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            yield (
                inner.func.attr
                if isinstance(inner.func, ast.Attribute)
                else dotted_name(inner.func)
            )


def _constructor(kind: ast.ClassDef, tree: ast.Module) -> ast.FunctionDef | None:
    """Return the constructor of a class, or else of its base class in the same source."""
    if own := own_method(kind, "__init__"):
        return own
    bases = {dotted_name(base) for base in kind.bases}
    above = (
        statement
        for statement in tree.body
        if isinstance(statement, ast.ClassDef) and statement.name in bases and statement is not kind
    )
    return next((constructor for base in above if (constructor := _constructor(base, tree))), None)


def _inheriting(
    path: Path, tree: ast.Module, functions: Collection[str]
) -> Iterator[tuple[str, UnreachableKernel]]:
    """Yield the classes at the top of a source that inherit their ``__call__``, by name."""
    roots = (*roots_of(path), path.parent, *_roots(path, tree))
    for kind in _classes(tree).values():
        inherits = kind.name not in functions and not own_method(kind, _CALL)
        if inherits and (base := _calling_base(kind, tree, path.parent, roots, _MOST_BASES)):
            why = f"its {_CALL} is that of {base}, so write its kernel file yourself"
            yield kind.name, UnreachableKernel(name=kind.name, line=kind.lineno, why=why)


def _calling_base(
    kind: ast.ClassDef, tree: ast.Module, folder: Path, roots: Sequence[Path], most: int
) -> str | None:
    """Return the name of the base, also in another file, whose ``__call__`` is a jit function."""
    imports = import_origins(scope_statements(tree.body), library.PACKAGES)
    classes = _classes(tree)
    for name in map(dotted_name, kind.bases if most else ()):
        first, dot, rest = name.partition(".")
        module, _, last = (imports.get(first, "") + dot + rest).rpartition(".")
        place, there = folder, tree
        if name not in classes:
            file = module_file(module, folder, roots) if module.strip(".") else None
            with suppress(OSError, SyntaxError):
                if file is None:
                    continue
                place, there = file.parent, tree_of(file.read_bytes(), file.name)
        base = _classes(there).get(name if there is tree else last)
        if base is None:
            continue
        own = import_origins(scope_statements(there.body), library.PACKAGES)
        if call := own_method(base, _CALL):
            if _is_below(call, own, "jit"):
                return base.name
        elif above := _calling_base(base, there, place, roots, most - 1):
            return above
    return None


def _classes(tree: ast.Module) -> dict[str, ast.ClassDef]:
    """Return the classes at the top of a source."""
    return {
        statement.name: statement
        for statement in scope_statements(tree.body)
        if isinstance(statement, ast.ClassDef)
    }


def _unlaunched_kernels(
    kernels: Sequence[ast.FunctionDef], functions: Sequence[ast.FunctionDef]
) -> Iterator[UnreachableKernel]:
    """Yield the ``@cute.kernel`` functions that no function of the source names."""
    for node in kernels:
        named = {
            inner.attr if isinstance(inner, ast.Attribute) else getattr(inner, "id", "")
            for other in functions
            if other is not node
            for statement in other.body  # its decorator may be `cute.kernel`
            for inner in ast.walk(statement)
        }
        if node.name not in named:
            why = (
                "no function of this file launches it, and only a function below @cute.jit that"
                " launches a kernel can be compiled"
            )
            yield UnreachableKernel(name=node.name, line=node.lineno, why=why)


def _roots(path: Path, tree: ast.Module) -> tuple[Path, ...]:
    """Return the folders above a source with modules that it imports.

    Modules in the source's own root do not count.
    """
    external_modules = {*_PACKAGES, *sys.stdlib_module_names}
    local_imports = [
        import_
        for import_ in imports_of(tree)
        if not import_.level and import_.parts and import_.parts[0] not in external_modules
    ]
    (own,) = roots_of(path)
    folders: dict[Path, None] = {}
    for name in sorted({import_.parts[0] for import_ in local_imports}):
        of_name = [import_ for import_ in local_imports if import_.parts[0] == name]
        folder = next(
            (
                folder
                for folder in (own, *list(own.parents)[:_ABOVE])
                if all(_has(folder, import_) for import_ in of_name)
            ),
            own,
        )
        if folder != own:
            folders[folder] = None
    return tuple(folders)


def _has(folder: Path, imported: Import) -> bool:
    """Whether a folder has the module that a statement imports."""
    place = folder.joinpath(*imported.parts)
    if place.with_suffix(".py").is_file() or (place / "__init__.py").is_file():
        return True
    return place.is_dir() and any(
        (place / f"{name}.py").is_file() or (place / name).is_dir() for name in imported.names
    )


def _command_line(tree: ast.Module) -> dict[str, ast.expr]:
    """Return option of the command lines that a source parses → its default."""
    defaults: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "add_argument"
        ):
            texts = [
                argument.value
                for argument in node.args
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            ]
            named = {keyword.arg: keyword.value for keyword in node.keywords}
            name = next(
                (text for text in texts if text.startswith("--")), texts[0] if texts else ""
            )
            if isinstance(destination := named.get("dest"), ast.Constant):
                name = str(destination.value)
            action = named.get("action")
            switch = isinstance(action, ast.Constant) and action.value in (
                "store_true",
                "store_false",
            )
            otherwise = (
                ast.Constant(value=action.value == "store_false")
                if switch and isinstance(action, ast.Constant)
                else None
            )
            if (default := named.get("default", otherwise)) is not None:
                defaults.setdefault(name.lstrip("-").replace("-", "_"), default)
    return defaults
