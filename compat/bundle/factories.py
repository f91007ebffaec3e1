"""Kernels of a factory or of a class, rewritten as top-level kernels of a module.

The call ``make(64)`` becomes a scope of its own inside the module of ``make``. The parameters
become assignments, and a condition with a known value gives way to the branch that it selects.
Bare expressions, ``assert``, ``pass`` and ``del`` are left out, and all other statements stay as
they are written. So the values that the kernel closes over are global names there, and the code
that computes them comes along. From a class, only the function is taken, because a kernel sees no
name of its class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from attrs import define, evolve, field, frozen

from compat.model.constexprs import DTYPES
from compat.source.constants import PythonValue, PythonValues, Scope, UnknownValue
from compat.source.names import (
    CACHES,
    ModulePlace,
    Names,
    OwnDefinition,
    ParsedFile,
    Statement,
    callable_name,
    dedent_lines,
)
from compat.source.parsing import (
    Scoped,
    argument_expressions,
    attribute_expressions,
    defaults_of,
    defined_names,
    named_parameters,
    uses,
)

_TUNING = frozenset({"autotune", "heuristics"})
_STEPS = 20
_WITHOUT_VALUE = ast.Expr | ast.Assert | ast.Pass | ast.Delete


class _FactoryScope(Scope):
    """Names whose values are known: literals, values computed from them, and dtypes."""

    _FORMS = (
        *(ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Set),
        *(ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp),
    )

    def value(self, node: ast.expr) -> PythonValue:
        """The value of an expression that calls nothing.

        Raises UnknownValue for any other expression.
        """
        if not isinstance(node, self._FORMS):
            raise UnknownValue(ast.unparse(node))
        return super().value(node)

    def name(self, node: ast.Name) -> PythonValue:
        """The value of a name. Raises UnknownValue."""
        if node.id not in self.local:
            raise UnknownValue(node.id)
        return self.local[node.id]

    def attribute(self, node: ast.Attribute) -> PythonValue:
        """A dtype. Raises UnknownValue."""
        if not DTYPES.get(node.attr) or node.attr == "dtype":
            raise UnknownValue(node.attr)
        return _Dtype(ast.unparse(node.value), node.attr)


@frozen(eq=False)
class _Dtype:
    """A dtype, as an attribute of a module: ``tl.float16``."""

    module: str
    name: str

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _Dtype) and other.module != self.module:
            raise UnknownValue("the two may be names for one module")
        return isinstance(other, _Dtype) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


def _value_of(node: ast.expr, bindings: dict[str, object]) -> object:
    """The value of an expression over known names. Raises UnknownValue."""
    return _FactoryScope({}, {}, bindings).value(node)


class CannotBeFrozen(ValueError):
    """A kernel of a factory or a class cannot become a top-level kernel of a module."""


def resolve_function(
    names: Names, file: ParsedFile, node: ast.expr, steps: int = _STEPS
) -> OwnDefinition:
    """The definition of the function that an expression in a file evaluates to.

    Raises KeyError if nothing defines it, and CannotBeFrozen if the source does not determine it.
    """
    if not steps:
        raise CannotBeFrozen(f"`{ast.unparse(node)}` takes too many steps to resolve")
    match node:
        case ast.Name(id=name):
            return _resolve_name(names, file, name, steps)
        case ast.Attribute(value=holder, attr=name):
            return _resolve_attribute(names, file, holder, name, steps)
        case ast.Call(func=ast.Call() as tuner, args=[tuned]) if callable_name(tuner) in _TUNING:
            return resolve_function(names, file, tuned, steps - 1)
        case ast.Call(func=decorator, args=[plain], keywords=[]) if (
            file.decorators is not None and callable_name(decorator) in file.decorators
        ):
            kernel = resolve_function(names, file, plain, steps - 1)
            applied = Statement.of(file, ast.Expr(decorator), frozenset())
            return evolve(kernel, applied=(*kernel.applied, (applied, decorator)))
        case ast.Call():
            return _resolve_in(names, *_unfold(names, file, node, steps), steps)
        case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=int(number))):
            scope, returned = _unfold(names, file, call, steps)
            if isinstance(returned, ast.Tuple) and number < len(returned.elts):
                return _resolve_in(names, scope, returned.elts[number], steps)
        case ast.IfExp(test=test, body=body, orelse=other):
            return resolve_function(
                names, file, body if _decide_test(test, _known_values(file)) else other, steps - 1
            )
    raise CannotBeFrozen(f"the source does not say what `{ast.unparse(node)}` is")


def _resolve_name(names: Names, file: ParsedFile, name: str, steps: int) -> OwnDefinition:
    meaning = names.meaning(file, name)
    if not isinstance(meaning, OwnDefinition):
        raise KeyError(f"{file.path.name} does not define a function {name}")
    statements = meaning.file.binding(meaning.name)
    if any(not isinstance(statement.node, ast.Assign | ast.AnnAssign) for statement in statements):
        return meaning
    node = statements[-1].node
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        return resolve_function(names, meaning.file, node.value, steps - 1)
    raise KeyError(f"{file.path.name} does not define a function {name}")


# --- classes --------------------------------------------------------------------------------------


def _resolve_attribute(
    names: Names, file: ParsedFile, holder: ast.expr, name: str, steps: int
) -> OwnDefinition:
    """The function ``name`` of ``holder``: of a class, a module, or the result of a factory."""
    if isinstance(holder, ast.Call):
        scope, returned = _unfold(names, file, holder, steps)
        if isinstance(returned, ast.Call):
            definition = _classes(names, scope, returned.func)[1][-1] if returned.args else None
            attributes = attribute_expressions(returned, definition)
            if name in attributes:
                return _resolve_in(names, scope, attributes[name], steps)
        raise CannotBeFrozen(f"the source does not say what `{ast.unparse(holder)}.{name}` is")
    if isinstance(holder, ast.Name) and isinstance(
        module := names.meaning(file, holder.id), ModulePlace
    ):
        member = names.member(module, name)
        if not isinstance(member, OwnDefinition):
            raise KeyError(f"{holder.id} has no function {name}")
        return _resolve_name(names, member.file, member.name, steps)
    where, owners = _classes(names, file, holder)
    owner = owners[-1]
    functions = [
        statement
        for statement in owner.body
        if isinstance(statement, ast.FunctionDef) and statement.name == name
    ]
    if not functions:
        raise CannotBeFrozen(f"the class `{owner.name}` does not itself define a function {name}")
    seen = {use.name for head in _head(functions[-1]) for use in uses(head)} & set().union(
        *map(defined_names, owner.body)
    )
    if seen:
        raise CannotBeFrozen(
            f"the head of `{owner.name}.{name}` uses `{min(seen)}` of its class, which a kernel"
            " cannot access"
        )
    inside = tuple(owner.name for owner in owners)
    path = where.path.with_name(f"{where.path.name}:{'.'.join(inside)}")
    return OwnDefinition(
        file=ParsedFile.of(path, _text(where, functions[-1]), around=where, inside=inside),
        name=name,
    )


def _classes(
    names: Names, file: ParsedFile, node: ast.expr
) -> tuple[ParsedFile, tuple[ast.ClassDef, ...]]:
    """The file of a class, and the class after its enclosing classes, outermost first."""
    if isinstance(node, ast.Name) and isinstance(
        meaning := names.meaning(file, node.id), OwnDefinition
    ):
        definition = meaning.file.binding(meaning.name)[-1].node
        if isinstance(definition, ast.ClassDef):
            return meaning.file, (definition,)
    if isinstance(node, ast.Attribute):
        where, owners = _classes(names, file, node.value)
        inner = [
            statement
            for statement in owners[-1].body
            if isinstance(statement, ast.ClassDef) and statement.name == node.attr
        ]
        if inner:
            return where, (*owners, inner[-1])
    raise CannotBeFrozen(
        f"the source does not show that `{ast.unparse(node)}` is a class or a module"
    )


# --- factories ------------------------------------------------------------------------------------


def _unfold(
    names: Names, file: ParsedFile, call: ast.Call, steps: int
) -> tuple[ParsedFile, ast.expr]:
    """Return the scope that a call of a factory becomes, and the expression that it returns."""
    factory = resolve_function(names, file, call.func, steps - 1)
    statement = factory.file.binding(factory.name)[-1]
    node = statement.node
    if not isinstance(node, ast.FunctionDef):
        raise CannotBeFrozen(f"`{factory.name}` is not defined by a function of its own")
    if not all(
        callable_name(decorator) in CACHES
        for decorator in (*node.decorator_list, *statement.dropped)
    ):
        raise CannotBeFrozen(
            f"`{factory.name}` has decorators, so its source does not say what a call returns"
        )
    unfolding = _Unfolding(file=factory.file, factory=node)
    unfolding.give(call)
    returned = unfolding.run(node.body)
    if returned is None:
        raise CannotBeFrozen(f"`{ast.unparse(call)}` returns nothing")
    path = factory.file.path.with_name(f"{factory.file.path.name}:{factory.name}")
    try:
        scope = ParsedFile.of(
            path, "\n".join(unfolding.pieces), around=factory.file, inside=(factory.name,)
        )
    except SyntaxError as error:
        raise CannotBeFrozen(f"cannot copy the body of `{factory.name}`: {error.msg}") from error
    return scope, returned


def _resolve_in(names: Names, scope: ParsedFile, node: ast.expr, steps: int) -> OwnDefinition:
    kernel = resolve_function(names, scope, node, steps - 1)
    _check_order(scope)
    return kernel


def _known_values(file: ParsedFile) -> dict[str, object]:
    """Name → value, for names whose values the source determines.

    A single assignment binds such a name. In the scope of a function, the last assignment counts.
    """
    values = _known_values(file.around) if file.around is not None else {}
    bound: set[str] = set()
    for statement in file.statements:
        value = (
            _assignment(statement.node, values)
            if file.around is not None or not statement.binds & bound
            else None
        )
        bound |= statement.binds
        for name in statement.binds:
            values.pop(name, None)
        values |= value or {}
    return values


def _assignment(statement: ast.stmt, bindings: dict[str, object]) -> dict[str, object] | None:
    """The name and value of an assignment to one name, if the source determines the value."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            try:
                return {name: _value_of(value, bindings)}
            except UnknownValue:
                return None
    return None


def _decide_test(test: ast.expr, bindings: dict[str, object]) -> bool:
    try:
        return bool(_value_of(test, bindings))
    except UnknownValue as error:
        raise CannotBeFrozen(
            f"the source does not say whether `{ast.unparse(test)}` is true"
        ) from error


@define(kw_only=True)
class _Unfolding:
    """The execution of a factory's body for one call, as far as the source determines it."""

    file: ParsedFile
    factory: ast.FunctionDef
    pieces: list[str] = field(factory=list)
    """Statements in the order of execution."""
    values: PythonValues = field(factory=dict)
    """Name → value, for names whose values the source determines."""

    def __attrs_post_init__(self) -> None:
        for node in ast.walk(self.factory):
            if isinstance(node, ast.Global | ast.Nonlocal | ast.Yield | ast.YieldFrom | ast.Await):
                raise CannotBeFrozen(
                    f"`{self.factory.name}` has a `{type(node).__name__.lower()}` statement, line"
                    f" {node.lineno}"
                )

    def give(self, call: ast.Call) -> None:
        """Add an assignment of each parameter, with the arguments of a call.

        Raises CannotBeFrozen if the source does not say which parameter gets which argument.
        """
        names = [parameter.arg for parameter in named_parameters(self.factory.args)]
        arguments = argument_expressions(call, self.factory.args)
        if arguments is None:
            raise CannotBeFrozen(
                f"cannot match the parameters of `{self.factory.name}` with `{ast.unparse(call)}`"
            )
        bound = {
            *names,
            *(name for statement in self.factory.body for name in defined_names(statement)),
        }
        self.values = {
            name: value for name, value in _known_values(self.file).items() if name not in bound
        }
        for name in names:
            if shadowed := {use.name for use in uses(arguments[name])} & bound:
                raise CannotBeFrozen(
                    f"`{min(shadowed)}` has different meanings inside and outside of"
                    f" `{self.factory.name}`"
                )
            self._bind(ast.Assign([ast.Name(name, ast.Store())], arguments[name]))
            self.pieces.append(f"{name} = {ast.unparse(arguments[name])}")

    def run(self, body: Sequence[ast.stmt]) -> ast.expr | None:
        """Follow statements up to a ``return``, and return its expression; ``None`` without one.

        Raises CannotBeFrozen for a ``raise``, and for a branch that depends on unknown values.
        """
        for statement in body:
            if isinstance(statement, ast.Return):
                return statement.value or ast.Constant(None)
            if isinstance(statement, ast.Raise):
                raise CannotBeFrozen(
                    f"`{self.factory.name}` raises an exception, line {statement.lineno}"
                )
            if (branch := self._branch(statement)) is not None:
                returned = self.run(branch)
                if returned is not None:
                    return returned
            elif not isinstance(statement, _WITHOUT_VALUE):
                self._keep(statement)
        return None

    def _branch(self, statement: ast.stmt) -> list[ast.stmt] | None:
        """The branch of a statement that is taken; ``None`` if the source does not say which.

        A branch that ends without a kernel is not taken, because the call returns one.
        """
        if isinstance(statement, ast.If):
            with suppress(UnknownValue):
                test = _value_of(statement.test, self.values)
                return statement.body if test else statement.orelse
            if self._ends_without_kernel(statement.body):
                return statement.orelse
            return statement.body if self._ends_without_kernel(statement.orelse) else None
        if isinstance(statement, ast.Try) and all(
            self._ends_without_kernel(handler.body) for handler in statement.handlers
        ):
            return [*statement.body, *statement.orelse, *statement.finalbody]
        return None

    def _ends_without_kernel(self, body: Sequence[ast.stmt]) -> bool:
        """Whether a branch raises, or returns ``None`` or an object of constants."""
        match body:
            case [*before, ast.Raise() | ast.Return() as last]:
                pass
            case _:
                return False
        if any(isinstance(inner, ast.Return) for earlier in before for inner in _in_scope(earlier)):
            return False
        match last:
            case ast.Return(value=ast.Call(func=ast.Name(id=name), args=args, keywords=keywords)):
                values = [*args, *(keyword.value for keyword in keywords)]
                return all(isinstance(value, ast.Constant) for value in values) and any(
                    isinstance(made.node, ast.ClassDef) for made in self.file.binding(name)
                )
            case ast.Return(value=value):
                return value is None or (isinstance(value, ast.Constant) and value.value is None)
        return True

    def _keep(self, statement: ast.stmt) -> None:
        if any(isinstance(inner, ast.Return | ast.Raise) for inner in _in_scope(statement)):
            raise CannotBeFrozen(
                f"the result of `{self.factory.name}` depends on line {statement.lineno}, which has"
                " to run"
            )
        self._bind(statement)
        self.pieces.append(_text(self.file, statement))

    def _bind(self, statement: ast.stmt) -> None:
        value = _assignment(statement, self.values)
        for name in defined_names(statement):
            self.values.pop(name, None)
        self.values |= value or {}


def _check_order(scope: ParsedFile) -> None:
    """Raise CannotBeFrozen if a name gets another value after its use.

    The bundle orders definitions by their uses, so such a name would change its meaning.
    """
    for number, statement in enumerate(scope.statements):
        used = {use.name for node in _at_once(statement) for use in uses(node)} - statement.binds
        for later in scope.statements[number + 1 :]:
            if (again := used & later.binds) and not isinstance(later.node, ast.FunctionDef):
                raise CannotBeFrozen(f"`{min(again)}` gets another value after its use")


def _at_once(statement: Statement) -> Iterable[ast.AST]:
    """The parts that run when a statement is executed: for a function, its head."""
    return (
        _head(statement.node) if isinstance(statement.node, ast.FunctionDef) else [statement.node]
    )


def _head(function: ast.FunctionDef) -> list[ast.expr]:
    annotations = [
        parameter.annotation
        for parameter in named_parameters(function.args)
        if parameter.annotation
    ]
    decorators = [
        decorator
        for decorator in function.decorator_list
        if callable_name(decorator) not in {"staticmethod", *_TUNING}
    ]
    return [*defaults_of(function.args).values(), *annotations, *decorators]


def _in_scope(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement, without the inside of functions, classes and lambdas."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [] if isinstance(node, Scoped) else ast.iter_child_nodes(node)


# --- text -----------------------------------------------------------------------------------------


def _text(file: ParsedFile, statement: ast.stmt) -> str:
    """The text of a nested statement, dedented to the top level."""
    assert statement.end_lineno is not None
    assert statement.end_col_offset is not None
    decorators = (
        statement.decorator_list if isinstance(statement, ast.FunctionDef | ast.ClassDef) else []
    )
    first, last = (
        min([statement.lineno, *(decorator.lineno for decorator in decorators)]) - 1,
        statement.end_lineno - 1,
    )
    lines = file.lines[first : last + 1]
    lines[-1] = lines[-1][: statement.end_col_offset] + b"\n"
    if lines[0][: statement.col_offset].strip():  # other code is before it in its line
        lines[0] = b" " * statement.col_offset + lines[0][statement.col_offset :]
    while (
        first
        and isinstance(statement, ast.FunctionDef)
        and file.lines[first - 1].lstrip().startswith(b"#")
    ):
        first -= 1
        lines.insert(0, file.lines[first])
    return b"".join(dedent_lines(enumerate(lines, first), statement)).decode()
