"""The jit functions of a source: kernels, functions that kernels call, and unreachable ones."""

from __future__ import annotations

import ast
from collections import ChainMap, Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import cache, cached_property, lru_cache, partial
from itertools import chain
from pathlib import Path

from attrs import evolve, frozen

from compat.source.imports import import_origins, module_file
from compat.source.names import CACHES, callable_name
from compat.source.parsing import (
    attribute_expressions,
    bindings,
    defaults_of,
    dotted_name,
    functions_in,
    is_program,
    last_bindings,
    named_parameters,
    scope_statements,
    tree_of,
    walk,
)
from compat.text import lazy_pattern
from compat.toolchains.language import GuessableModule, GuessedKernel, UnreachableKernel
from compat.toolchains.triton.language.guessing.evaluation import KernelScope

_EXPRESSIONS = 10_000
"""The number of expressions whose names are cached. Walks visit most expressions several times."""
_JIT = {
    "triton.jit",
    "triton.runtime.jit",
    "triton.runtime.jit.jit",
    "triton.runtime.jit.JITFunction",
    "triton.JITFunction",
    "triton.experimental.gluon.jit",
    "triton.experimental.gluon._runtime.jit",
}
_PACKAGES = {
    "triton": "triton",
    "tl": "triton.language",
    "gluon": "triton.experimental.gluon",
    "gl": "triton.experimental.gluon.language",
    "ttgl": "triton.experimental.gluon.language",
}
"""A name imported from elsewhere → its assumed package, because packages re-export Triton to their
own modules.
"""

_INSIDE = "it is defined inside of %s"
_OWN = lazy_pattern(r"^(?:self|cls)\.")
"""The start of the name of a kernel of the own class."""
_RE_EXPORTS = 4
"""The most modules in a chain of re-exports of a function."""


@frozen(kw_only=True)
class JitParameter:
    """One parameter of a jit function."""

    name: str
    annotation: ast.expr | None
    default: ast.expr | None
    is_constexpr: bool


@frozen(kw_only=True)
class JitFunction:
    """A jit function at the top of a module, in a class at its top, or returned by a factory."""

    name: str
    """Also with its class: ``Holder.kernel``, or with the call that returns it: ``make().kernel``,
    ``make()[1]``.
    """
    node: ast.FunctionDef
    parameters: tuple[JitParameter, ...]
    configs: ast.expr | None
    """The ``configs`` of ``@triton.autotune`` and its like."""
    heuristics: Mapping[str, ast.expr]
    """Parameter → the function that ``@triton.heuristics`` computes it with."""
    unread_heuristics: tuple[int, ...] = ()
    """The lines of heuristics that the source does not list."""

    @property
    def kernel_name(self) -> str:
        """The name of its kernel: without the call that returns it."""
        return self.node.name if "(" in self.name else self.name

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the syntax tree of the function."""
        return tuple(walk(self.node))

    @cached_property
    def mentioned_names(self) -> frozenset[str]:
        """The names in its source."""
        return frozenset(node.id for node in self.nodes if isinstance(node, ast.Name))

    @cached_property
    def assignment_counts(self) -> Mapping[str, int]:
        """Name → the number of assignments to it; one in the head of a loop counts twice."""
        loops = (node.target for node in self.nodes if isinstance(node, ast.For))
        heads = (inner for target in loops for inner in walk(target))
        return Counter(
            node.id
            for node in (*self.nodes, *heads)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )

    @cached_property
    def constants(self) -> frozenset[str]:
        """The names that have one assignment and are not parameters."""
        parameters = {parameter.name for parameter in self.parameters}
        return (
            frozenset(name for name, times in self.assignment_counts.items() if times == 1)
            - parameters
        )

    @cached_property
    def returns(self) -> bool:
        """Whether it returns a value, which no kernel does."""
        return any(
            isinstance(node, ast.Return) and _is_something(node.value) for node in self.nodes
        )


@frozen(kw_only=True, eq=False)
class JitModule:
    """The definitions in a source that matter to kernels."""

    path: Path
    tree: ast.Module
    scope: KernelScope
    functions: Mapping[str, JitFunction]
    unreachable: tuple[UnreachableKernel, ...]
    jitted: tuple[ast.FunctionDef, ...]
    """Every jit function, including the unreachable ones."""

    def jit_function(self, origin: str) -> tuple[JitFunction, JitModule] | None:
        """Return the jit function of this origin and its module, which may be an imported one."""
        return self._jit_function(origin, _RE_EXPORTS)

    def _jit_function(self, origin: str, depth: int) -> tuple[JitFunction, JitModule] | None:
        if origin in self.functions:
            return self.functions[origin], self
        other, name = self._imported(origin) if depth else (None, "")
        if other is None:
            return None
        return other._jit_function(other.scope.imports.get(name, name), depth - 1)

    def constant(self, name: str, depth: int = _RE_EXPORTS) -> tuple[bool, object]:
        """Return whether a name of the module, perhaps an imported one, is known, and its value."""
        if name not in self.scope.imports:
            return self.scope.try_value(ast.Name(id=name, ctx=ast.Load()))
        other, imported = self._imported(self.scope.imports[name]) if depth else (None, "")
        return other.constant(imported, depth - 1) if other else (False, None)

    def imported_values(self, names: Iterable[str]) -> dict[str, object]:
        """Return the known values of those names that the module imports."""
        attempts = {
            name: self.constant(name) for name in sorted({*names} & self.scope.imports.keys())
        }
        return {name: value for name, (is_known, value) in attempts.items() if is_known}

    def _imported(self, origin: str) -> tuple[JitModule | None, str]:
        """Return the module of an imported name, ``None`` if it is not found, and the name there.

        The module may be ``package.module`` or ``..module``. It is not found if there is no such
        file, or if the file cannot be read or parsed.
        """
        module, dot, name = origin.rpartition(".")
        if not module.strip("."):  # `from . import name`
            module += dot
        return self._imported_module(module) if module else None, name

    def _imported_module(self, name: str) -> JitModule | None:
        # The folder where absolute imports start is unknown. It is a folder above the source.
        folders = self.path.absolute().parents
        file = module_file(name, folders[0], folders)
        if file is None:
            return None
        with suppress(OSError, SyntaxError, RecursionError):
            return _read(file, file.read_bytes())
        return None

    @property
    def called_names(self) -> frozenset[str]:
        """The functions that its jit functions call, each by the name in its definition.

        Functions that are passed as arguments count, such as those of ``gl.warp_specialize``.
        """
        calls = [
            inner for node in self.jitted for inner in walk(node) if isinstance(inner, ast.Call)
        ]
        function_arguments = (
            inner
            for call in calls
            for argument in call.args
            for inner in walk(argument)
            if isinstance(inner, ast.Name)
            and (inner.id in self.functions or inner.id in self.scope.imports)
        )
        functions = (*(call.func for call in calls), *function_arguments)
        return frozenset(
            name for function in functions if (name := self._definition_name(function))
        )

    def _definition_name(self, function: ast.expr) -> str | None:
        """Return the name of a function in its definition.

        The function may be imported under another name, or be an attribute of a module.
        """
        if (
            isinstance(function, ast.Attribute)
            and dotted_name(function).partition(".")[0] not in self.scope.imports
        ):
            return None  # a method of a value
        called = self.scope.origin(function) or ""
        return None if called.startswith("triton.") else called.rpartition(".")[2]

    @cached_property
    def launches(self) -> Mapping[str, Mapping[ast.FunctionDef, frozenset[ast.Call]]]:
        """Return name → its launches, by the function around them.

        If functions are nested, a launch counts once for each function around it. The statements at
        the top of the module count as a function.
        """
        launches: dict[str, dict[ast.FunctionDef, frozenset[ast.Call]]] = defaultdict(dict)
        functions = [node for node in walk(self.tree) if isinstance(node, ast.FunctionDef)]
        holders = {
            function: node.name
            for node in self.tree.body
            if isinstance(node, ast.ClassDef)
            for function in walk(node)
            if isinstance(function, ast.FunctionDef)
        }
        global_aliases = _aliases(scope_statements(self.tree.body), self._factory_aliases)
        for around in (*functions, _top_function(self.tree)):
            nodes = [*walk(around)]
            aliases = _aliases(nodes, global_aliases)
            for node in nodes:
                if isinstance(node, ast.Call):
                    for launched in _launched_names(node, aliases):
                        name = _OWN.sub(f"{holders.get(around, '')}.", launched)
                        before = launches[name].get(around, frozenset())
                        launches[name][around] = before | {node}
        return launches

    @property
    def _factory_aliases(self) -> _Aliases:
        """``get()`` → the factories whose results it returns, such as ``make()``."""
        aliases: _Aliases = {}
        for node in self.tree.body if any("(" in name for name in self.functions) else ():
            if isinstance(node, ast.FunctionDef):
                nodes = [*walk(node)]
                own = _aliases(nodes, aliases)
                returned = (
                    inner.value for inner in nodes if isinstance(inner, ast.Return) and inner.value
                )
                values = chain.from_iterable(_values_of(value, own) for value in returned)
                aliases[f"{node.name}()"] = {value: False for value in values if "(" in value}
        return aliases

    @property
    def launched_names(self) -> frozenset[str]:
        """Names that the source launches."""
        return frozenset(self.launches)

    def launches_of(
        self, function: JitFunction, holder: JitModule
    ) -> Mapping[ast.FunctionDef, frozenset[ast.Call]]:
        """Return the launches of a function of ``holder``, this module or one that it imports."""
        if self is holder:
            return self.launches.get(function.name, {})
        for name, launches in self.launches.items():
            origin = self.scope.imports.get(name, "")
            if origin.rpartition(".")[2] == function.name:
                definition = self.jit_function(origin)
                if definition and definition[1].path.resolve() == holder.path.resolve():
                    return launches
        return {}

    def kernels(
        self, helpers: Collection[str], others: Sequence[GuessableModule] = ()
    ) -> tuple[GuessedKernel, ...]:
        """Guess the kernels of the source.

        Kernels are the functions that return nothing and are not ``helpers``, which others call.
        ``others`` launch those that the source itself does not launch.
        """
        from compat.toolchains.triton.language.guessing.kernels import guess_kernel

        launchable = (
            function
            for function in self.functions.values()
            if not function.returns and function.name not in helpers
        )
        launching = [other for other in others if isinstance(other, JitModule)]
        return tuple(
            guess_kernel(function, self, [self] if function.name in self.launches else launching)
            for function in launchable
        )


def _top_function(tree: ast.Module) -> ast.FunctionDef:
    """Return a function of the statements at the top of a module."""
    (function,) = tree_of("def top():\n    pass").body
    assert isinstance(function, ast.FunctionDef)
    function.body = [
        statement
        for statement in tree.body
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef)
    ]
    return function


_Aliases = dict[str, dict[str, bool]]
"""Name → the names of its values; whether a value has a grid: ``name = kernel[grid]``."""


def _aliases(nodes: Iterable[ast.AST], outer: _Aliases) -> _Aliases:
    """Return the aliases in a scope, such as ``name = kernel`` and ``name = a if c else b``."""
    own: _Aliases = {}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                values = _values_of(value, ChainMap(own, outer))
                own.setdefault(name, {}).update(values)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
                holders = [name for name in _values_of(value, ChainMap(own, outer)) if "(" in name]
                for number, target in enumerate(targets if holders else ()):
                    if isinstance(target, ast.Name):
                        items = {f"{holder}[{number}]": False for holder in holders}
                        own.setdefault(target.id, {}).update(items)
    return {**outer, **own}


def _unwrap(value: ast.expr) -> ast.expr:
    """Return the kernel in ``torch.library.wrap_triton(kernel)``, and other values as they are."""
    match value:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[kernel]) if name in (
            "wrap_triton",
            "capture_triton",
        ):
            return kernel
    return value


def _values_of(value: ast.expr, aliases: Mapping[str, dict[str, bool]]) -> dict[str, bool]:
    match _unwrap(value):
        case ast.Name(id=name):
            return aliases.get(name) or {name: False}
        case ast.Call(func=ast.Name(id=name), args=[], keywords=[]):
            return aliases.get(f"{name}()") or {f"{name}()": False}
        case ast.Attribute(value=holder, attr=attribute):
            holders = _values_of(holder, aliases)
            return {f"{name}.{attribute}": False for name in holders if "(" in name}
        case ast.Subscript(value=ast.Name() | ast.Call() as kernel):
            return dict.fromkeys(_values_of(kernel, aliases), True)
        case ast.IfExp(body=body, orelse=otherwise):
            return {**_values_of(body, aliases), **_values_of(otherwise, aliases)}
    return {}


def _launched_names(call: ast.Call, aliases: _Aliases) -> Iterator[str]:
    """Yield the names in ``name[grid](…)`` or ``name.run(…)``, and those that it is an alias of.

    A library's own function may wrap the kernel: ``wrapped(name, …)[grid](…)``.
    """
    match call.func:
        case ast.Subscript(value=ast.Call(args=[ast.Name(id=name), *_])):
            yield name
            yield from aliases.get(name, {})
        case ast.Subscript(value=value) | ast.Attribute(value=value, attr="run" | "warmup"):
            named = _unwrap(value)
            if isinstance(named, ast.Attribute):
                yield dotted_name(named)
                holders = _values_of(named.value, aliases)
                yield from (f"{holder}.{named.attr}" for holder in holders if "(" in holder)
            elif isinstance(named, ast.Name):
                yield named.id
                yield from (
                    kernel for kernel, has_grid in aliases.get(named.id, {}).items() if not has_grid
                )
        case ast.Name(id=name):
            yield from (kernel for kernel, has_grid in aliases.get(name, {}).items() if has_grid)


@lru_cache(maxsize=1)  # the sizes of a kernel are guessed several times
def scopes_at(line: int, module: JitModule) -> tuple[KernelScope, ...]:
    """Return the scope of a module before a line, and those of other branches.

    Names that the module binds only later are in it, too, because functions use them.

    In each further scope, another branch of the module binds one of its names. All share the limit
    of steps of one evaluation.
    """
    before = [statement for statement in module.tree.body if statement.lineno < line]
    names = bindings(before)
    scope = evolve(module.scope, module=ChainMap(names, dict(module.scope.module)))
    body = [statement for statement in before if not is_program(statement)]
    return (
        scope,
        *(
            evolve(scope, module=ChainMap({name: statement}, names))
            for name, statements in last_bindings(body).items()
            for statement in statements - {None, names.get(name)}
            if statement is not None and len(statements - {None}) > 1
        ),
    )


@lru_cache(maxsize=_EXPRESSIONS)
def names_in(node: ast.expr) -> frozenset[str]:
    """The names that an expression uses."""
    return frozenset(inner.id for inner in walk(node) if isinstance(inner, ast.Name))


def read_module(path: Path) -> JitModule:
    """Read a source. Raises OSError, or SyntaxError if it cannot be parsed."""
    return _read(path, path.read_bytes())


@lru_cache(256)
def _read(path: Path, content: bytes) -> JitModule:
    tree = tree_of(content, path.name)
    factories = [
        statement
        for statement in scope_statements(tree.body)
        if isinstance(statement, ast.FunctionDef) and _is_factory(statement)
    ]
    # Each kernel of a factory is read as if the statements around it were those of the module.
    body = [*chain.from_iterable(factory.body for factory in factories), *tree.body]
    scope = KernelScope(
        module=bindings(body), imports=import_origins(scope_statements(body), _PACKAGES)
    )
    returned = dict(
        chain.from_iterable(_returned_functions(factory, scope) for factory in factories)
    )
    functions: dict[str, JitFunction] = {}
    unreachable: list[UnreachableKernel] = []
    jitted: list[ast.FunctionDef] = []
    local: list[tuple[JitFunction, ast.FunctionDef]] = []
    last = cache(partial(last_bindings, tree.body))
    for node, inside in functions_in(tree):
        if _is_jitted(node, scope):
            jitted.append(node)
            function = _jit_function(node, scope)
            if len(inside) == 1 and _is_kernel_of(inside[0], node, scope):
                name = f"{inside[0].name}.{node.name}"
                functions[name] = evolve(function, name=name)
            elif node in returned:
                functions[returned[node]] = evolve(function, name=returned[node])
            elif len(inside) == 1 and inside[0] in factories:
                local.append((function, inside[0]))
            elif why := _why_unreachable(function, inside, scope, last):
                if not function.returns:
                    unreachable.append(UnreachableKernel(name=node.name, line=node.lineno, why=why))
            else:
                functions[node.name] = function
    helpers = _helpers(local, jitted)
    functions = {**helpers, **functions}
    unreachable += [
        UnreachableKernel(name=name, line=function.node.lineno, why=_INSIDE % factory.name)
        for function, factory in local
        if (name := function.name) not in helpers
    ]
    for node in _jitted_by_call(tree, scope):
        if _is_jitted(node, scope):
            jitted.append(node)
            functions[node.name] = _jit_function(node, scope)
            unreachable = [other for other in unreachable if other.name != node.name]
    return JitModule(
        path=path,
        tree=tree,
        scope=scope,
        functions=functions,
        unreachable=tuple(unreachable),
        jitted=tuple(jitted),
    )


def _is_factory(function: ast.FunctionDef) -> bool:
    """Whether a function can be called without arguments and defines jit functions."""
    return (
        len(defaults_of(function.args)) == len(named_parameters(function.args))
        and all(callable_name(decorator) in CACHES for decorator in function.decorator_list)
        and any(
            isinstance(statement, ast.FunctionDef)
            and "jit" in map(callable_name, statement.decorator_list)
            for statement in scope_statements(function.body)
        )
    )


def _returned_functions(
    factory: ast.FunctionDef, scope: KernelScope
) -> Iterator[tuple[ast.stmt, str]]:
    """Yield each local function that a factory returns, and the expression for it.

    After ``return kernel`` this is ``make()``, after ``return fast, slow`` it is ``make()[0]``, and
    after ``return SimpleNamespace(fast=kernel)`` it is ``make().fast``. A class of the module has
    its arguments as attributes, too.
    """
    local, call = bindings(factory.body), f"{factory.name}()"
    if scope.module.get(factory.name) is not factory:
        return
    for statement in scope_statements(factory.body):
        match statement:
            case ast.Return(value=ast.Name(id=name)) if name in local:
                yield local[name], call
            case ast.Return(value=ast.Tuple(elts=items)):
                yield from (
                    (local[item.id], f"{call}[{number}]")
                    for number, item in enumerate(items)
                    if isinstance(item, ast.Name) and item.id in local
                )
            case ast.Return(value=ast.Call() as made):
                holder = scope.module.get(dotted_name(made.func))
                definition = holder if isinstance(holder, ast.ClassDef) else None
                if definition or callable_name(made.func) == "SimpleNamespace":
                    yield from (
                        (local[value.id], f"{call}.{name}")
                        for name, value in attribute_expressions(made, definition).items()
                        if isinstance(value, ast.Name) and value.id in local
                    )


def _helpers(
    local: Sequence[tuple[JitFunction, ast.FunctionDef]], jitted: Iterable[ast.FunctionDef]
) -> dict[str, JitFunction]:
    """Return the local functions of factories that return something, or that jit functions call."""
    nodes = chain.from_iterable(map(walk, jitted if local else ()))
    called = {
        node.func.id
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return {
        function.name: function
        for function, _ in local
        if function.returns or function.name in called
    }


def _why_unreachable(
    function: JitFunction,
    inside: tuple[ast.FunctionDef | ast.ClassDef, ...],
    scope: KernelScope,
    last: Callable[[], Mapping[str, Collection[ast.stmt | None]]],
) -> str:
    """Return the reason why a kernel file cannot name a jit function; empty if it can.

    ``inside`` are the definitions around it, and ``last`` returns the last statements of the module
    that bind a name.
    """
    node, winner = function.node, scope.module.get(function.name)
    if inside:
        return _INSIDE % inside[-1].name
    if winner is not node and node not in last().get(node.name, ()):
        return "something else has its name later in the file"
    # The other branch may be `kernel = None`.
    if winner is not node and isinstance(winner, ast.FunctionDef):
        return f"another branch of the module defines it, too (line {winner.lineno})"
    if (gathering := node.args.vararg or node.args.kwarg) and not function.returns:
        return (
            f"it takes any number of arguments as {gathering.arg}, which a kernel file"
            " cannot describe"
        )
    return ""


def _is_kernel_of(
    holder: ast.FunctionDef | ast.ClassDef, node: ast.FunctionDef, scope: KernelScope
) -> bool:
    """Whether a jit function is an attribute of a class that the module's code reaches.

    A method of an aggregate of Gluon takes the aggregate as ``self``, so it is no kernel.
    """
    return (
        isinstance(holder, ast.ClassDef)
        and scope.module.get(holder.name) is holder
        and bindings(holder.body).get(node.name) is node
        and not any(parameter.arg == "self" for parameter in node.args.args[:1])
        and not (node.args.vararg or node.args.kwarg)
    )


def _jitted_by_call(tree: ast.Module, scope: KernelScope) -> Iterator[ast.FunctionDef]:
    """Yield the functions that calls make jit functions, such as ``kernel = triton.jit(function)``.

    They have the decorators that would do the same. Functions of others than Triton decorate only a
    function that keeps its name.
    """
    decorated: dict[str, ast.FunctionDef] = {}
    for statement in scope_statements(tree.body):
        match statement:
            case ast.FunctionDef(name=name):
                decorated[name] = statement
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                calls: list[ast.expr] = []
                while isinstance(value, ast.Call) and len(value.args) == 1:
                    calls.append(value.func)
                    value = value.args[0]
                if (
                    calls
                    and isinstance(value, ast.Name)
                    and value.id in decorated
                    and (
                        value.id == name
                        or all(
                            (_decorator_origin(call, scope) or "").startswith("triton.")
                            for call in calls
                        )
                    )
                ):
                    node = decorated[name] = copy(decorated[value.id])
                    node.name, node.lineno = name, statement.lineno
                    node.decorator_list = [*calls, *node.decorator_list]
                    if scope.module.get(name) is statement:
                        yield node


def _is_jitted(node: ast.FunctionDef, scope: KernelScope) -> bool:
    return any(_decorator_origin(decorator, scope) in _JIT for decorator in node.decorator_list)


def _decorator_origin(decorator: ast.expr, scope: KernelScope) -> str | None:
    return scope.origin(decorator.func if isinstance(decorator, ast.Call) else decorator)


def _jit_function(node: ast.FunctionDef, scope: KernelScope) -> JitFunction:
    configs: ast.expr | None = None
    heuristics: dict[str, ast.expr] = {}
    unread: list[int] = []
    for decorator in node.decorator_list:
        if not isinstance(decorator, ast.Call):
            continue
        if _decorator_origin(decorator, scope) == "triton.heuristics":
            computed = _heuristics(decorator, scope)
            heuristics |= computed
            unread += [] if computed else [decorator.lineno]
        else:
            configs = configs or next(
                (keyword.value for keyword in decorator.keywords if keyword.arg == "configs"), None
            )
            if (
                configs is None
                and _decorator_origin(decorator, scope) == "triton.autotune"
                and decorator.args
            ):
                configs = decorator.args[0]
    return JitFunction(
        name=node.name,
        node=node,
        parameters=_parameters(node.args, scope),
        configs=configs,
        heuristics=heuristics,
        unread_heuristics=tuple(unread),
    )


def _heuristics(decorator: ast.Call, scope: KernelScope) -> dict[str, ast.expr]:
    arguments = [*decorator.args, *(keyword.value for keyword in decorator.keywords)]
    table = arguments[0] if arguments else None
    if isinstance(table, ast.Name) and isinstance(
        statement := scope.module.get(table.id), ast.Assign
    ):
        table = statement.value
    match table:
        case ast.Dict(keys=keys, values=values):
            entries = zip(keys, values, strict=True)
            return {
                key.value: value
                for key, value in entries
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
            }
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
            return {keyword.arg: keyword.value for keyword in keywords if keyword.arg}
    return {}


def _parameters(arguments: ast.arguments, scope: KernelScope) -> tuple[JitParameter, ...]:
    defaults = defaults_of(arguments)
    return tuple(
        JitParameter(
            name=parameter.arg,
            annotation=parameter.annotation,
            default=defaults.get(parameter.arg),
            is_constexpr=_is_constexpr(parameter.annotation, scope),
        )
        for parameter in named_parameters(arguments)
    )


def _is_constexpr(annotation: ast.expr | None, scope: KernelScope) -> bool:
    """Whether an annotation mentions ``constexpr``, as Triton tests it."""
    if annotation is None:
        return False
    origins = (scope.origin(node) for node in walk(annotation) if isinstance(node, ast.expr))
    return any("constexpr" in (text or "") for text in (ast.unparse(annotation), *origins))


def _is_something(value: ast.expr | None) -> bool:
    return value is not None and not (isinstance(value, ast.Constant) and value.value is None)
