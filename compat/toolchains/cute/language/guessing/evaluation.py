"""The evaluation of a source's host code without running it, for the arguments of kernels.

It starts with the defaults of command lines. It builds upon :class:`compat.source.constants.Scope`.
Unlike there, a statement that cannot be evaluated does not end the evaluation. The names that such
a statement binds are UNKNOWN. If a condition is UNKNOWN, the evaluation follows both branches.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import ClassVar, Self

from attrs import Factory, define, frozen

from compat.source.constants import (
    FUNCTIONS,
    FunctionReturn,
    PythonValue,
    PythonValues,
    Scope,
    SourceFunction,
    UnknownValue,
    items_of,
)
from compat.source.imports import import_origins, module_file
from compat.source.parsing import (
    Function,
    bindings,
    defaults_of,
    named_parameters,
    scope_statements,
    tree_of,
)
from compat.toolchains.cute.language.guessing import library
from compat.toolchains.cute.language.guessing.values import (
    UNKNOWN,
    ElementKind,
    KernelObject,
    NamedSize,
    Number,
    ParsedCommandLine,
    TensorValue,
    Unknown,
)


@frozen(kw_only=True)
class HostCall:
    """A call that compiles or launches a kernel."""

    kernel: str
    """The name of the function or class."""
    line: int
    constructor_arguments: Mapping[str, PythonValue]
    """The arguments of the constructor, by name."""
    positional: tuple[PythonValue, ...]
    keywords: Mapping[str, PythonValue]

    @property
    def values(self) -> list[PythonValue]:
        """All its arguments."""
        return [*self.constructor_arguments.values(), *self.positional, *self.keywords.values()]

    @property
    def is_known(self) -> bool:
        """Whether all its arguments are known."""
        return not any(map(has_unknown, self.values))

    assumed: bool
    """Whether no call of the surrounding function is known, so its arguments are assumptions."""


def has_unknown(value: object) -> bool:
    """Whether a value, or a part of it, is unknown."""
    if isinstance(value, TensorValue):
        return value.element is None or any(isinstance(size, Unknown) for size in value.shape)
    return isinstance(value, Unknown) or (
        isinstance(value, tuple | list) and any(map(has_unknown, value))
    )


@define
class Kernels:
    """The kernels of a module, and the calls of them that the evaluation has reached."""

    functions: Mapping[str, Function]
    """Functions that launch, by name."""
    classes: Mapping[str, ast.ClassDef]
    roots: tuple[Path, ...]
    """The folders with the modules that the source imports."""
    defaults: Mapping[str, ast.expr]
    """Option of the command line → the expression of the default."""
    calls: list[HostCall] = Factory(list)
    active: list[str] = Factory(list)
    """The names of the functions that are being evaluated."""
    assuming: bool = False
    """Whether their arguments are assumptions."""


class _Compile:
    """``cute.compile``, perhaps with options in brackets after it."""

    def __getitem__(self, options: object) -> _Compile:
        return self


@frozen
class _Method:
    owner: PythonValue
    name: str


class HostScope(Scope):
    """The names that host code sees."""

    functions: ClassVar[Mapping[str, PythonValue]] = {**FUNCTIONS, **library.CONSTANTS}
    kernels: Kernels
    folder: Path
    """The folder of the module, where its relative imports start."""

    def _inner_scope(self, local: dict[str, object]) -> Self:
        inner = super()._inner_scope(local)
        inner.kernels, inner.folder = self.kernels, self.folder
        return inner

    def value(self, node: ast.expr) -> PythonValue:
        """Return the value of an expression, or UNKNOWN if it cannot be derived."""
        try:
            return super().value(node)
        except UnknownValue:
            return self.value(node.orelse) if isinstance(node, ast.IfExp) else UNKNOWN

    def name(self, node: ast.Name) -> PythonValue:
        """Return the value of a name. Raises UnknownValue."""
        if node.id not in self.local and node.id in self.kernels.classes:
            return self.kernels.classes[node.id]
        if node.id not in self.local and node.id in self.imports:
            return self._imported_value(self.imports[node.id])
        return super().name(node)

    def _imported_value(self, origin: str) -> object:
        element = (
            ElementKind.from_name(origin.rpartition(".")[2]) if library.is_known(origin) else None
        )
        return element or self._of_module(*origin.rpartition(".")[::2])

    def _of_module(self, module: str, name: str) -> SourceFunction:
        """A function of another module of the same tree. Raises UnknownValue."""
        path = module_file(module, self.folder, self.kernels.roots)
        if path is None or not module.strip(".") or library.is_known(module):
            raise UnknownValue(module)
        statements, imports = _read(path)
        if not isinstance(function := statements.get(name), ast.FunctionDef):
            raise UnknownValue(name)
        scope = type(self)(statements, imports, {}, self._steps, self._depth + 1)
        scope.kernels, scope.folder = self.kernels, path.parent
        return SourceFunction(function, scope)

    def attribute(self, node: ast.Attribute) -> PythonValue:
        """Return the value of an attribute expression. Raises UnknownValue."""
        origin = self.origin(node) or ""
        if node.attr == "compile" and origin.startswith("cutlass."):
            return _Compile()
        if library.is_known(origin) and (element := ElementKind.from_name(node.attr)):
            return element
        if origin and isinstance(node.value, ast.Name) and node.value.id in self.imports:
            with suppress(UnknownValue):
                return self._of_module(*origin.rpartition(".")[::2])
        return super().attribute(node)

    def attribute_of(self, value: object, name: str) -> object:
        """Return an attribute of a value. Raises UnknownValue."""
        if isinstance(value, ParsedCommandLine):
            return value.values.get(name, UNKNOWN)
        if isinstance(value, ElementKind) and name in ("width", "itemsize", "__name__"):
            sizes = {"width": value.width, "itemsize": value.width // 8}
            return sizes.get(name, value.name)
        if isinstance(value, TensorValue):
            return library.attribute_of(value, name)
        if isinstance(value, KernelObject | ast.ClassDef):
            return _Method(value, name)
        if isinstance(value, Unknown):
            raise UnknownValue(name)
        return super().attribute_of(value, name)

    def call(self, node: ast.Call) -> PythonValue:
        """Return the result of a call. Raises UnknownValue."""
        called = node.func.value if isinstance(node.func, ast.Subscript) else node.func
        origin = self.origin(called) or ""
        last = node.func.attr if isinstance(node.func, ast.Attribute) else origin.rpartition(".")[2]
        if last == "parse_args":
            return ParsedCommandLine(
                {name: self.value(default) for name, default in self.kernels.defaults.items()}
            )
        if isinstance(self.value(node.func), _Compile):
            return self._note_compile(node)
        positional, keywords = self.arguments(node)
        if library.is_known(origin) and last in library.CALLS:
            # Wrong arguments raise a TypeError.
            return library.CALLS[last](*positional, **keywords)
        function = self.value(node.func)
        if isinstance(function, ElementKind) and library.is_known(origin):
            return Number(function.name)
        if isinstance(function, ast.ClassDef):
            return KernelObject(
                function.name, self._constructor_arguments(function, positional, keywords)
            )
        if isinstance(function, KernelObject) or (
            isinstance(function, SourceFunction)
            and getattr(function.node, "name", "") in self.kernels.functions
        ):
            return self._note_call(function, node, positional, keywords)
        if isinstance(function, _Method):
            return self._method(function, positional, keywords)
        if isinstance(function, Unknown):
            raise UnknownValue(origin)
        return self.apply(function, positional, keywords)

    def apply(
        self, function: object, positional: list[object], keywords: Mapping[str, object]
    ) -> object:
        """Return the result of a function.

        Raises UnknownValue if two calls of a function of this name are already being evaluated.
        """
        if not isinstance(function, SourceFunction) or isinstance(function.node, ast.Lambda):
            return super().apply(function, positional, keywords)
        name = function.node.name
        if self.kernels.active.count(name) > 1:
            raise UnknownValue(f"{name} calls itself")
        self.kernels.active.append(name)
        try:
            inner = function.scope.inside(parameters_given(function, positional, keywords))
            inner.run(function.node.body)
        except FunctionReturn as returned:
            return returned.value
        finally:
            self.kernels.active.pop()
        return None

    def arguments(self, node: ast.Call) -> tuple[list[PythonValue], PythonValues]:
        """Return the values of a call's arguments, by position and by keyword.

        Unknown ``**`` arguments are left out.
        """
        keywords: PythonValues = {}
        for keyword in node.keywords:
            value = self.value(keyword.value)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, Mapping):
                keywords |= {
                    name: argument for name, argument in value.items() if isinstance(name, str)
                }
        return self.elements(node.args), keywords

    # --- kernels ---

    def _note_compile(self, node: ast.Call) -> PythonValue:
        positional, keywords = self.arguments(node)
        if not positional:
            raise UnknownValue("compiles nothing")
        kernel, *rest = positional
        if isinstance(kernel, _Method) and kernel.name == "__call__":
            kernel = kernel.owner
        noted = self._note_call(kernel, node, rest, keywords)
        if isinstance(kernel, SourceFunction) and any(
            isinstance(argument, KernelObject) for argument in (*rest, *keywords.values())
        ):
            self.apply(kernel, rest, keywords)  # this function calls the object
        return noted

    def _note_call(
        self,
        kernel: object,
        node: ast.Call,
        positional: Sequence[object],
        keywords: Mapping[str, object],
    ) -> PythonValue:
        """Note the call of an object or a function. Raises UnknownValue if it is unknown."""
        if isinstance(kernel, KernelObject):
            name, constructor_values = kernel.kind, kernel.constructor_arguments
        elif isinstance(kernel, SourceFunction) and isinstance(kernel.node, ast.FunctionDef):
            name, constructor_values = kernel.node.name, {}
        else:
            raise UnknownValue("compiles an unknown function")
        # Later statements may change the tensors.
        copied = [
            argument.with_changes() if isinstance(argument, TensorValue) else argument
            for argument in positional
        ]
        named = {name: argument for name, argument in keywords.items() if name != "options"}
        self.kernels.calls.append(
            HostCall(
                kernel=name,
                line=node.lineno,
                constructor_arguments=constructor_values,
                positional=tuple(copied),
                keywords=named,
                assumed=self.kernels.assuming,
            )
        )
        return UNKNOWN

    def _constructor_arguments(
        self,
        kind: ast.ClassDef,
        positional: Sequence[PythonValue],
        keywords: Mapping[str, PythonValue],
    ) -> PythonValues:
        constructor = own_method(kind, "__init__")
        parameters = named_parameters(constructor.args)[1:] if constructor else []
        names = [parameter.arg for parameter in parameters]
        return dict(zip(names, positional, strict=False)) | dict(keywords)

    def _method(
        self, method: _Method, positional: list[object], keywords: Mapping[str, object]
    ) -> object:
        """Return the result of a method.

        Only class methods and static methods are evaluated, and the functions that they call.
        """
        owner = (
            self.kernels.classes[method.owner.kind]
            if isinstance(method.owner, KernelObject)
            else method.owner
        )
        definition = own_method(owner, method.name)
        decorators = definition.decorator_list if definition else []
        kinds = {ast.unparse(decorator) for decorator in decorators}
        if definition is None or not kinds & {"staticmethod", "classmethod"}:
            raise UnknownValue(method.name)
        before = [owner] if "classmethod" in kinds else []
        return self.apply(
            SourceFunction(definition, self._inner_scope({})), [*before, *positional], keywords
        )

    # --- statements ---

    def run(self, statements: Sequence[ast.stmt]) -> None:
        """Have statements bind names here.

        A statement that cannot be evaluated binds its names to UNKNOWN.
        """
        for statement in statements:
            try:
                self._follow(statement)
            except UnknownValue:
                for target in (node for node in ast.walk(statement) if isinstance(node, ast.Name)):
                    if isinstance(target.ctx, ast.Store):
                        self.local[target.id] = UNKNOWN

    def _follow(self, statement: ast.stmt) -> None:  # noqa: C901 - one case for each statement
        match statement:
            case ast.Import() | ast.ImportFrom():
                self.imports = {**self.imports, **import_origins([statement], library.PACKAGES)}
            case ast.FunctionDef(name=name):
                self.local[name] = SourceFunction(statement, self)
            case ast.If(test=test, body=body, orelse=otherwise):
                self._branch(self.value(test), body, otherwise)
            case ast.With(body=body) | ast.While(body=body):
                self.run(body)
            case ast.Try(body=body, orelse=otherwise, finalbody=last):
                self.run([*body, *otherwise, *last])
            case ast.Raise() | ast.Assert():
                pass
            case ast.Assign(targets=targets, value=value):
                result = self.value(value)
                for target in targets:
                    self._bind(target, result)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, self.value(value))
            case ast.For(target=target, iter=iterable, body=body):
                values = self.value(iterable)
                with suppress(UnknownValue):
                    for value in items_of(values)[:2]:
                        self._bind(target, value)
                        self.run(body)
                    return
                self._bind(target, UNKNOWN)
                self.run(body)
            case _:
                self._run(statement)

    def _branch(
        self, test: object, body: Sequence[ast.stmt], otherwise: Sequence[ast.stmt]
    ) -> None:
        try:
            self.run(body if test else otherwise)
        except UnknownValue:
            returns = []
            for branch in (otherwise, body):
                if not any(isinstance(statement, ast.Raise) for statement in branch):
                    try:
                        self.run(branch)
                    except FunctionReturn as returned:
                        returns.append(returned)
            if len(returns) == 2:
                raise returns[-1] from None

    def _bind(self, target: ast.expr, value: PythonValue) -> None:
        match target:
            case ast.Name(id=name):
                is_size = type(value) is int and value > 0
                self.local[name] = NamedSize.of(value, name) if is_size else value
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                values = [UNKNOWN] * len(targets) if isinstance(value, Unknown) else items_of(value)
                for inner_target, part in zip(targets, values, strict=False):
                    self._bind(inner_target, part)
            case ast.Attribute(attr="element_type", value=owner) if isinstance(
                tensor := self.value(owner), TensorValue
            ):
                tensor.element = value.name if isinstance(value, ElementKind) else tensor.element
            case ast.Subscript(value=ast.Name(id=name), slice=index) if isinstance(
                self.local.get(name), dict
            ):
                key = self.value(index)
                if not isinstance(key, Unknown):
                    self.local[name][key] = value


@cache
def _read(path: Path) -> tuple[Mapping[str, ast.stmt], Mapping[str, str]]:
    """Return the names that another module's top-level statements bind, and its imports.

    Raises UnknownValue.
    """
    try:
        tree = tree_of(path.read_bytes(), path.name)
    except (OSError, SyntaxError):
        raise UnknownValue(path.name) from None
    return bindings(tree.body), import_origins(scope_statements(tree.body), library.PACKAGES)


def parameters_given(
    function: SourceFunction, positional: Sequence[object], keywords: Mapping[str, object]
) -> dict[str, object]:
    """Return parameter → its value: the argument of a call, the default, or UNKNOWN."""
    arguments = function.node.args
    names = [parameter.arg for parameter in named_parameters(arguments)]
    values = dict.fromkeys(names, UNKNOWN) | {
        name: function.scope.value(node) for name, node in defaults_of(arguments).items()
    }
    values |= dict(zip(names, positional, strict=False)) | {
        name: value for name, value in keywords.items() if name in names
    }
    if arguments.kwarg:
        values[arguments.kwarg.arg] = {
            name: value for name, value in keywords.items() if name not in names
        }
    if arguments.vararg:
        values[arguments.vararg.arg] = tuple(positional[len(names) :])
    return {
        name: NamedSize.of(value, name) if type(value) is int and value > 0 else value
        for name, value in values.items()
    }


def own_method(kind: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    """Return the method that a class itself defines under a name; ``None`` if it has none."""
    methods = (node for node in kind.body if isinstance(node, ast.FunctionDef))
    return next((method for method in methods if method.name == name), None)
