"""Foreign Python files, parsed as Python does it, and the names that statements bind and use.

Every defect of a file raises the same kind of error.
"""

from __future__ import annotations

import ast
import gc
import io
import re
import threading
import tokenize
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import cast, get_args

from attrs import frozen

from compat.text import group_by_key, lazy_pattern

_ONE_AT_A_TIME = threading.Lock()

_FORM_FEEDS = lazy_pattern(r"^\f+", re.MULTILINE)


def text_of(path: Path) -> str:
    """Read a Python file in its declared encoding, with LF at the end of every line.

    The byte order mark and form feeds at the beginning of lines are removed: Python ignores them.

    Raises:
        OSError: The file cannot be read.
        SyntaxError: The file is not in its declared encoding.
    """
    source = path.read_bytes()
    try:
        text = source.decode(_encoding_of(source))
        text.encode()
    except (SyntaxError, UnicodeError, LookupError) as error:
        at = error.start if isinstance(error, UnicodeDecodeError) else None
        line = None if at is None else source.count(b"\n", 0, at) + 1
        place = (path.name, line, None, None)
        raise SyntaxError(f"cannot be decoded: {error}", place) from error
    return _FORM_FEEDS.sub(
        "", text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    )


def _encoding_of(source: bytes) -> str:
    """Return the encoding that a Python file declares. Raises SyntaxError or UnicodeDecodeError."""
    try:
        return tokenize.detect_encoding(io.BytesIO(source).readline)[0]
    except SyntaxError:
        source.decode()  # its error names the byte
        raise


@contextmanager
def _exclusive_parsing() -> Iterator[None]:
    """Let no other thread of this program parse in the meantime.

    Python 3.11 counts the depth in a tree in one place for all threads. If a garbage collection
    lets another thread parse in the middle of a tree, that tree ends in "SystemError: AST
    constructor recursion depth mismatch". The lock separates the threads of this program, which
    also share the filters of warnings. Threads of libraries do not take the lock, so garbage
    collection is off here.
    """
    with _ONE_AT_A_TIME:
        collecting = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if collecting:
                gc.enable()


def tree_of(source: str | bytes, name: str = "<source>") -> ast.Module:
    """Return the syntax tree of a source; safe in any thread.

    Raises SyntaxError, and nothing else, whatever the source is.
    """
    return cast(ast.Module, _parse(source, name, "exec"))


def compiles(source: str | bytes, *, silently: bool = False) -> bool:
    """Return whether Python compiles a source; safe in any thread.

    With ``silently``, a source that causes a warning does not count.
    """
    try:
        with _exclusive_parsing(), warnings.catch_warnings():
            warnings.simplefilter("error" if silently else "ignore")
            compile(source, "<source>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, Warning):
        return False
    return True


def expression_of(source: str | bytes) -> ast.expr:
    """The syntax tree of one expression, as `tree_of` makes that of a module."""
    return cast(ast.Expression, _parse(source, "<expression>", "eval")).body


def _parse(source: str | bytes, name: str, mode: str) -> ast.AST:
    try:
        with _exclusive_parsing(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SyntaxWarnings do not matter here
            tree: ast.AST = compile(source, name, mode, ast.PyCF_ONLY_AST, dont_inherit=True)
            return tree
    except SyntaxError:
        raise
    except ValueError as error:  # null bytes, in some versions of Python
        raise SyntaxError(str(error)) from error
    except (RecursionError, MemoryError) as error:
        raise SyntaxError("nested too deeply") from error


def walk(tree: ast.AST) -> Iterator[ast.AST]:
    """A node and all nodes below it, except contexts, in the order of ast.walk.

    It is much faster than ast.walk.
    """
    nodes = [tree]
    for node in nodes:
        yield node
        nodes += _children(node)


def _children(node: ast.AST) -> list[ast.AST]:
    children: list[ast.AST] = []
    for name in node_fields(node._fields):
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            children.append(value)
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, ast.AST):
                    children.append(item)  # noqa: PERF401 - lists of one or two items
    return children


@cache
def node_fields(fields: tuple[str, ...]) -> tuple[str, ...]:
    """Those of a node's fields that can contain other nodes than contexts."""
    return tuple(name for name in fields if name not in _WITHOUT_NODES)


_WITHOUT_NODES = ("ctx", "id", "attr", "arg", "asname", "module", "level", "kind", "type_comment")


Function = ast.FunctionDef | ast.AsyncFunctionDef
Scoped = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
# Looking for a type in these takes a fraction of the time of `isinstance` with a union.
_SCOPES = frozenset(get_args(Scoped) + get_args(Comprehension))
_BINDING = _SCOPES.union(
    (ast.Import, ast.ImportFrom), (ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping)
)


@frozen(kw_only=True)
class NameUse:
    """A use of a global name, with the attributes that are read from it.

    ``helpers.tiles.fold`` is ``helpers``, ``(tiles, fold)``.
    """

    name: str
    attributes: tuple[str, ...]
    nodes: tuple[ast.expr, ...]
    """The nodes of ``helpers``, ``helpers.tiles``, ``helpers.tiles.fold``."""


def dotted_name(node: ast.AST) -> str:
    """The text ``a.b.c`` of a name with attributes; empty for any other node."""
    if isinstance(node, ast.Attribute):
        before = dotted_name(node.value)
        return before and f"{before}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def scope_statements(body: Iterable[ast.AST], *, scopes: bool = False) -> Iterator[ast.stmt]:
    """Yield statements and those inside of them that belong to the same scope, in their order.

    These are the bodies of ``if``, ``try``, loops and ``with``. With ``scopes``, those inside of
    functions and classes follow, too. Expressions, which are most of a tree, are not entered.
    """
    waiting = [*body][::-1]  # no recursion, because each `elif` of a chain is inside of another
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, ast.stmt):
            yield statement
        if scopes or not isinstance(statement, Scoped):
            inside = (
                node
                for node in ast.iter_child_nodes(statement)
                if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case)
            )
            waiting += [*inside][::-1]


Definition = tuple[ast.FunctionDef, tuple[ast.FunctionDef | ast.ClassDef, ...]]
"""A function, and the definitions around it, outermost first."""


def functions_in(tree: ast.Module) -> Iterator[Definition]:
    """Yield every function, and the definitions around it, outermost first."""
    waiting: list[tuple[Sequence[ast.stmt], tuple[ast.FunctionDef | ast.ClassDef, ...]]] = [
        (tree.body, ())
    ]
    while waiting:
        body, inside = waiting.pop(0)
        for statement in scope_statements(body):
            if isinstance(statement, ast.FunctionDef):
                yield statement, inside
            if isinstance(statement, ast.FunctionDef | ast.ClassDef):
                waiting.append((statement.body, (*inside, statement)))


def bindings(body: Iterable[ast.stmt]) -> dict[str, ast.stmt]:
    """Name → the last statement at the top of a module that binds it, or changes its value.

    Statements that run only as a program count if no other statement binds the name.
    """
    statements: dict[str, ast.stmt] = {}
    for statement in scope_statements(sorted(body, key=is_program, reverse=True)):
        # Statements in branches follow. A chain of `elif` nests them.
        branching = isinstance(statement, ast.If | ast.For | ast.While | ast.With | ast.Try)
        own = (
            [node for node in ast.iter_child_nodes(statement) if not isinstance(node, ast.stmt)]
            if branching
            else [statement]
        )
        names = bound_names(own) | _changed_names(statement)
        statements |= dict.fromkeys(names, statement)
    return statements


_UNBOUND = frozenset[ast.stmt | None]([None])


def last_bindings(body: Iterable[ast.stmt]) -> dict[str, frozenset[ast.stmt | None]]:
    """Name → the statements of a body that may bind or change it last, each in another branch.

    They contain ``None`` if a branch does not bind the name. Branches are those of ``if`` and
    ``try``.
    """
    last: dict[str, frozenset[ast.stmt | None]] = {}
    for statement in body:
        if isinstance(statement, ast.If):
            steps = [_bodies(statement)]
        elif isinstance(statement, ast.Try):
            handled = (handler.body for handler in statement.handlers)
            steps = [[[*statement.body, *statement.orelse], *handled], [statement.finalbody]]
        else:
            names = bound_names([statement]) | _changed_names(statement)
            last |= dict.fromkeys(names, frozenset[ast.stmt | None]([statement]))
            continue
        for branches in steps:
            bound = [last_bindings(branch) for branch in branches]
            for name in dict.fromkeys(name for branch in bound for name in branch):
                statements = frozenset[ast.stmt | None]().union(
                    *(branch.get(name, _UNBOUND) for branch in bound)
                )
                if None in statements:
                    statements = statements - _UNBOUND | last.get(name, _UNBOUND)
                last[name] = statements
    return last


def _bodies(statement: ast.If) -> list[list[ast.stmt]]:
    """The bodies of an ``if`` with its ``elif`` and its ``else``, which is empty if missing."""
    bodies = [statement.body]
    while len(statement.orelse) == 1 and isinstance(statement.orelse[0], ast.If):
        statement = statement.orelse[0]
        bodies.append(statement.body)
    return [*bodies, statement.orelse]


def is_program(statement: ast.AST) -> bool:
    """Whether it is ``if __name__ == "__main__"``."""
    return isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test)


def _changed_names(statement: ast.stmt) -> set[str]:
    """The names of the list or dictionary that a statement changes."""
    match statement:
        case (
            ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))])
            | ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name)))
            | ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(
                        value=ast.Name(id=name), attr="append" | "extend" | "insert" | "update"
                    )
                )
            )
        ):
            return {name}
    return set()


def defined_names(statement: ast.stmt) -> frozenset[str]:
    """The global names that a top-level statement binds."""
    return bound_names([statement]) - {"*"}


def attributes_set(statement: ast.stmt) -> frozenset[str]:
    """The global names of which a top-level statement sets an attribute."""
    targets = (
        [target for target in statement.targets if isinstance(target, ast.Attribute)]
        if isinstance(statement, ast.Assign)
        else []
    )
    return frozenset(target.value.id for target in targets if isinstance(target.value, ast.Name))


def uses(node: ast.AST, local: frozenset[str] = frozenset()) -> Iterator[NameUse]:
    """Yield every use of a name that is not local.

    A name is local if it is in ``local``, or bound in a scope inside of ``node``.
    """
    waiting = [(node, local)]
    while waiting:
        node, local = waiting.pop()
        if isinstance(node, (ast.Name, ast.Attribute)) and (chain := _chain(node)) is not None:
            if chain.name not in local:
                yield chain
        elif type(node) in _SCOPES:
            waiting += reversed(_scope_parts(node, local))
        else:
            waiting += [(child, local) for child in reversed(_children(node))]


def _scope_parts(node: ast.AST, local: frozenset[str]) -> list[tuple[ast.AST, frozenset[str]]]:
    """The parts of a node that makes a scope, each with the names that are local in it."""
    outside: Iterable[ast.AST] = ()
    if isinstance(node, Function | ast.Lambda):
        scope = FunctionScope.of(node)
        outside, inside = scope.outside, scope.body
        inner = local - scope.globals | scope.local
    elif isinstance(node, ast.ClassDef):
        outside = [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]
        inside, inner = (*node.body,), local | bound_names(node.body)
    else:
        assert isinstance(node, Comprehension)
        targets = (generator.target for generator in node.generators)
        inside, inner = (*_children(node),), local | bound_names(targets)
    return [*((part, local) for part in outside), *((part, inner) for part in inside)]


def evaluated_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that are looked up when a statement is executed.

    Names in the bodies of functions are looked up later.
    """
    if isinstance(node, Function | ast.Lambda):
        for part in FunctionScope.of(node).outside:
            yield from evaluated_names(part)
    elif isinstance(node, ast.Name):
        yield node.id
    else:
        for inner in ast.iter_child_nodes(node):
            yield from evaluated_names(inner)


@frozen
class FunctionScope:
    """The scope that a function or a lambda makes."""

    outside: tuple[ast.AST, ...]
    """The expressions that run at its definition: defaults, decorators and annotations."""
    body: tuple[ast.AST, ...]
    globals: frozenset[str]
    """Names that it declares to be global."""
    local: frozenset[str]
    """Names that it binds, its parameters among them."""

    @classmethod
    def of(cls, node: Function | ast.Lambda) -> FunctionScope:
        """The scope of this function."""
        own = parameters(node.args)
        outside: list[ast.AST | None] = [*node.args.defaults, *node.args.kw_defaults]
        body: tuple[ast.AST, ...] = (node.body,) if isinstance(node, ast.Lambda) else (*node.body,)
        if not isinstance(node, ast.Lambda):
            outside += [
                *node.decorator_list,
                node.returns,
                *(parameter.annotation for parameter in own),
            ]
        declared = (
            inner
            for statement in body
            for inner in walk(statement)
            if isinstance(inner, ast.Global)
        )
        globals_ = frozenset(name for statement in declared for name in statement.names)
        local = bound_names(body) - globals_ | {parameter.arg for parameter in own}
        return cls(tuple(part for part in outside if part is not None), body, globals_, local)


def needed_statements(body: Sequence[ast.stmt], roots: Iterable[ast.stmt]) -> list[ast.stmt]:
    """Return some of a module's statements with those that they need, in the module's order.

    A statement can need another one directly or through others.
    """
    binding = group_by_key(
        (name, statement) for statement in body for name in defined_names(statement)
    )
    needed_ids, waiting = set[int](), [*roots]
    while waiting:
        statement = waiting.pop()
        if id(statement) not in needed_ids:
            needed_ids.add(id(statement))
            waiting += [
                definition for use in uses(statement) for definition in binding.get(use.name, ())
            ]
    return [statement for statement in body if id(statement) in needed_ids]


def _chain(node: ast.Name | ast.Attribute) -> NameUse | None:
    """The names of ``a.b.c``; ``None`` if the part before the first dot is not a name."""
    nodes: list[ast.expr] = [node]
    attributes: list[str] = []
    base: ast.expr = node
    while isinstance(base, ast.Attribute):
        attributes.append(base.attr)
        base = base.value
        nodes.append(base)
    if not isinstance(base, ast.Name):
        return None
    return NameUse(
        name=base.id, attributes=tuple(reversed(attributes)), nodes=tuple(reversed(nodes))
    )


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    """All parameters of a function."""
    further = [parameter for parameter in (arguments.vararg, arguments.kwarg) if parameter]
    return [*named_parameters(arguments), *further]


def named_parameters(arguments: ast.arguments) -> list[ast.arg]:
    """The parameters of a function, without ``*`` and ``**``."""
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def argument_expressions(call: ast.Call, arguments: ast.arguments) -> dict[str, ast.expr] | None:
    """Return parameter → the expression that a call passes for it, or its default.

    Returns ``None`` if the call does not fit the parameters, or if either has ``*`` or ``**``.
    """
    positional = [*arguments.posonlyargs, *arguments.args]
    starred = (
        any(isinstance(argument, ast.Starred) for argument in call.args)
        or arguments.vararg
        or arguments.kwarg
    )
    if starred or len(call.args) > len(positional):
        return None
    values = dict(zip((parameter.arg for parameter in positional), call.args, strict=False))
    values |= {keyword.arg or "**": keyword.value for keyword in call.keywords}
    values |= {
        name: default for name, default in defaults_of(arguments).items() if name not in values
    }
    return (
        values
        if set(values) == {parameter.arg for parameter in named_parameters(arguments)}
        else None
    )


def attribute_expressions(made: ast.Call, definition: ast.ClassDef | None) -> dict[str, ast.expr]:
    """Attribute → the argument that it gets from a call that makes an object.

    Arguments by keyword give attributes of their names. Others give the annotated fields of the
    class, in their order, unless it has an ``__init__`` of its own.
    """
    body = definition.body if definition else []
    has_own = any(
        isinstance(member, ast.FunctionDef) and member.name == "__init__" for member in body
    )
    fields = (
        member.target.id
        for member in body
        if isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name)
    )
    return {
        **dict(zip(() if has_own else fields, made.args, strict=False)),
        **{keyword.arg: keyword.value for keyword in made.keywords if keyword.arg},
    }


def defaults_of(arguments: ast.arguments) -> dict[str, ast.expr]:
    """Parameter → its default, for parameters that have one."""
    positional = [parameter.arg for parameter in (*arguments.posonlyargs, *arguments.args)]
    defaults = dict(
        zip(
            positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True
        )
    )
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return defaults | {parameter.arg: value for parameter, value in pairs if value}


def captured_name(node: ast.AST) -> str | None:
    """Return the name that an ``except`` clause or a pattern of ``match`` binds by itself."""
    match node:
        case ast.ExceptHandler(name=name) | ast.MatchAs(name=name) | ast.MatchStar(name=name):
            return name
        case ast.MatchMapping(rest=name):
            return name
    return None


def bound_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Names bound in the scope that these nodes are in; scopes inside of it bind their own."""
    names: set[str] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                names.add(node.id)
        elif type(node) not in _BINDING:
            waiting += _children(node)
        elif isinstance(node, Scoped):
            names |= {node.name} if not isinstance(node, ast.Lambda) else set()
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, Comprehension):
            assigned = (inner for inner in walk(node) if isinstance(inner, ast.NamedExpr))
            names |= {assignment.target.id for assignment in assigned}
        else:
            if (name := captured_name(node)) is not None:
                names.add(name)
            waiting += _children(node)
    return frozenset(names)
