"""The values of expressions that follow from a source's literals.

No code of the source runs, and an evaluation has no side effects. Values are numbers, strings, and
lists, tuples and dicts of them. Expressions are comprehensions, arithmetic, lambdas, a few pure
functions, and functions of the same module that return such values. Everything else raises
:class:`UnknownValue`. An evaluation is bounded in steps, depth and size of values. Pure.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

from attrs import Factory, define, frozen

from compat.source.parsing import bindings, defaults_of, dotted_name

PythonValue = Any
"""The value of an expression: an object that literals, operators or functions of this module make.

Python's operators decide which operands they accept. The value for other operands is unknown.
"""
PythonValues = dict[str, Any]
"""Values by name."""

_STEPS = 200_000
"""Nodes that one evaluation may visit."""
_DEPTH = 40
"""Calls and names that may be nested."""
_REPEATED = 8
"""Sequences that one product may have."""
_ITEMS = 10_000
"""Elements that one sequence may have."""


class UnknownValue(Exception):
    """An expression whose value does not follow from literals."""


# --- operators and functions ----------------------------------------------------------------------


def items_of(value: object) -> list[PythonValue]:
    """The elements of a value. Raises UnknownValue if it has no elements, or too many."""
    if not isinstance(value, list | tuple | dict | set | str | range | Iterator):
        raise UnknownValue("not a sequence")
    items = list(itertools.islice(value, _ITEMS + 1))
    _check_size(items)
    return items


def _check_size(value: object) -> PythonValue:
    """The value itself. Raises UnknownValue if it is too large."""
    if isinstance(value, int) and value.bit_length() > 256:
        raise UnknownValue("too large")
    if isinstance(value, str | list | tuple | range) and len(value) > _ITEMS:
        raise UnknownValue("too long")
    return value


def operate(op: ast.operator, left: PythonValue, right: PythonValue) -> object:
    """Return the result of a binary operator on two values.

    Raises UnknownValue if the result would be too large, or a formatted string.
    """
    if isinstance(op, ast.Pow) and (abs(right) > 128 or abs(left) > 2**32):
        raise UnknownValue("too large")
    if isinstance(op, ast.LShift) and right > 128:
        raise UnknownValue("too large")
    if isinstance(op, ast.Mod) and isinstance(left, str | bytes):
        raise UnknownValue("a formatted string")
    if isinstance(op, ast.Mult) and any(
        isinstance(side, str | list | tuple) for side in (left, right)
    ):
        sizes = [side if isinstance(side, int) else len(side) for side in (left, right)]
        if sizes[0] * sizes[1] > _ITEMS:
            raise UnknownValue("too long")
    return _check_size(_OPERATORS[type(op)](left, right))


def _is(left: object, right: object) -> bool:
    """The result of ``is``, which sources use for ``None``, booleans and dtypes.

    Equal ones of these are identical.
    """
    if left is None or right is None:
        return left is right
    return bool(left == right) and type(left) is type(right)


_OPERATORS: Mapping[type[ast.operator], Callable[[PythonValue, PythonValue], PythonValue]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[PythonValue, PythonValue], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: _is,
    ast.IsNot: lambda left, right: not _is(left, right),
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
_UNARY: Mapping[type[ast.unaryop], Callable[[PythonValue], PythonValue]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}


def _product(*sequences: object, repeat: int = 1) -> list[tuple[object, ...]]:
    if repeat > _REPEATED:
        raise UnknownValue("too long")
    return items_of(itertools.product(*map(items_of, sequences), repeat=repeat))


_SAFE = (
    len,
    min,
    max,
    sum,
    abs,
    int,
    float,
    bool,
    list,
    tuple,
    dict,
    set,
    all,
    any,
    enumerate,
    zip,
    str,
    filter,
    map,
    sorted,
)
_BUILTINS: Mapping[str, PythonValue] = {
    **{function.__name__: function for function in _SAFE},
    "range": lambda *numbers: _check_size(range(*numbers)),
    "reversed": lambda sequence: items_of(sequence)[::-1],
    "round": round,
}
FUNCTIONS: Mapping[str, PythonValue] = {
    "itertools.product": _product,
    **{
        f"math.{name}": getattr(math, name)
        for name in ("ceil", "floor", "log2", "log", "sqrt", "exp", "pi", "inf", "e")
    },
}
"""Dotted name of an object of an imported module → the function or number."""
_METHODS = {
    *((dict, name) for name in ("get", "items", "keys", "values", "copy", "update")),
    *((list, name) for name in ("append", "copy", "index", "count")),
    *((str, name) for name in ("lower", "upper", "startswith", "endswith")),
    (int, "bit_length"),
}


# --- scopes ---------------------------------------------------------------------------------------


@frozen
class SourceFunction:
    """A function or lambda of a source, with the names that it can use."""

    node: ast.FunctionDef | ast.Lambda
    scope: Scope


class FunctionReturn(Exception):
    """A function returned, with this value."""

    def __init__(self, value: object) -> None:
        self.value = value


@define
class Scope:
    """The names that an expression can use, each with a value or the statement that binds it.

    Subclasses add the objects of a toolchain's language or of another package: in
    :attr:`functions`, :meth:`attribute`, :meth:`attribute_of`, :meth:`set_attribute` and
    :meth:`call`.
    """

    functions: ClassVar[Mapping[str, PythonValue]] = FUNCTIONS
    module: Mapping[str, ast.stmt]
    """Name → the last statement at the top of the module that binds it."""
    imports: Mapping[str, str]
    """Name → the dotted name of its import."""
    local: PythonValues = Factory(dict)
    _steps: list[int] = Factory(lambda: [_STEPS])
    _depth: int = 0

    def inside(self, local: Mapping[str, PythonValue]) -> Self:
        """The scope of a function or a comprehension inside of this one."""
        return self._inner_scope({**self.local, **local})

    def _inner_scope(self, local: dict[str, object]) -> Self:
        if self._depth >= _DEPTH:
            raise UnknownValue("too deep")
        return type(self)(self.module, self.imports, local, self._steps, self._depth + 1)

    def origin(self, node: ast.expr) -> str | None:
        """The full name of a dotted name: ``triton.language.arange`` for ``tl.arange``.

        It is ``None`` for a local name and for other expressions.
        """
        first, dot, rest = dotted_name(node).partition(".")
        return (
            self.imports.get(first, first) + dot + rest
            if first and first not in self.local
            else None
        )

    def value(self, node: ast.expr) -> PythonValue:
        """The value of an expression. Raises UnknownValue."""
        self._steps[0] -= 1
        if self._steps[0] < 0:
            raise UnknownValue("too much to evaluate")
        evaluate = _EXPRESSIONS.get(type(node))
        if evaluate is None:
            raise UnknownValue(type(node).__name__)
        try:
            return evaluate(self, node)
        except (
            ArithmeticError,
            LookupError,
            TypeError,
            ValueError,
            AttributeError,
            RecursionError,
        ) as error:
            raise UnknownValue(str(error)) from error

    def try_value(self, node: ast.expr | None) -> tuple[bool, object]:
        """Whether an expression has a value that follows from literals, and that value."""
        try:
            return (False, None) if node is None else (True, self.value(node))
        except UnknownValue:
            return False, None

    def name(self, node: ast.Name) -> PythonValue:
        """The value of a name. Raises UnknownValue."""
        if node.id in self.local:
            return self.local[node.id]
        top = self._inner_scope({})
        match statement := self.module.get(node.id):
            case (
                ast.Assign(targets=[ast.Name()], value=value)
                | ast.AnnAssign(value=ast.expr() as value)
            ):
                return top.value(value)
            case ast.FunctionDef():
                return SourceFunction(statement, top)
            case ast.ImportFrom() if (origin := self.imports.get(node.id, "")) in self.functions:
                return self.functions[origin]
            case None if node.id in _BUILTINS:
                return _BUILTINS[node.id]
        raise UnknownValue(f"the name {node.id}")

    def attribute(self, node: ast.Attribute) -> PythonValue:
        """The value of an attribute. Raises UnknownValue."""
        origin = self.origin(node)
        if origin is not None and origin in self.functions:
            return self.functions[origin]
        holder = self.module.get(self.origin(node.value) or "")
        if isinstance(holder, ast.ClassDef) and node.attr in (own := bindings(holder.body)):
            # A value of a class. A member of an enumeration counts as its value.
            top = self._inner_scope({})
            top.module = {**self.module, **own}
            return top.name(ast.Name(id=node.attr))
        return self.attribute_of(self.value(node.value), node.attr)

    def attribute_of(self, value: object, name: str) -> object:
        """The attribute of a value. Raises UnknownValue."""
        if isinstance(value, list) and name == "extend":
            return lambda more: value.extend(_check_size(value + items_of(more))[len(value) :])
        if (int if isinstance(value, int) else type(value), name) in _METHODS:
            return getattr(value, name)
        if isinstance(value, int | float) and name == "value":
            return value
        raise UnknownValue(f"the attribute {name}")

    def set_attribute(self, base: object, name: str, value: object) -> None:
        """Set the attribute of an object. Raises UnknownValue."""
        raise UnknownValue(f"an assignment to the attribute {name}")

    def call(self, node: ast.Call) -> PythonValue:
        """The result of a call. Raises UnknownValue."""
        return self.apply(self.value(node.func), *self.arguments(node))

    def arguments(self, node: ast.Call) -> tuple[list[PythonValue], PythonValues]:
        """The values of the arguments of a call, by position and by keyword."""
        keywords: PythonValues = {}
        for keyword in node.keywords:
            value = self.value(keyword.value)
            keywords |= value if keyword.arg is None else {keyword.arg: value}
        return self.elements(node.args), keywords

    def elements(self, nodes: Iterable[ast.expr]) -> list[PythonValue]:
        """The values of a list of expressions, perhaps with ``*`` before some."""
        values: list[PythonValue] = []
        for node in nodes:
            values += (
                items_of(self.value(node.value))
                if isinstance(node, ast.Starred)
                else [self.value(node)]
            )
        return values

    def apply(
        self,
        function: PythonValue,
        positional: list[PythonValue],
        keywords: Mapping[str, PythonValue],
    ) -> object:
        """The result of a function. Raises UnknownValue."""
        if not isinstance(function, SourceFunction):
            to_each = function in (filter, map, sorted)
            return (
                self._apply_to_each(function, positional, keywords)
                if to_each
                else function(*positional, **keywords)
            )
        inner = function.scope.inside(_bound_arguments(function, positional, keywords))
        if isinstance(function.node, ast.Lambda):
            return inner.value(function.node.body)
        try:
            inner.run(function.node.body)
        except FunctionReturn as returned:
            return returned.value
        return None

    def _apply_to_each(
        self, function: object, positional: list[object], keywords: Mapping[str, object]
    ) -> list[object]:
        def run(of: object, value: object) -> PythonValue:
            return self.apply(of, [value], {})

        if function is filter:
            keep, values = positional
            return [
                value
                for value in items_of(values)
                if (value if keep is None else self.keeps(keep, value))
            ]
        if function is map:
            of, values = positional
            return [run(of, value) for value in items_of(values)]
        key = keywords.get("key")
        return sorted(items_of(positional[0]), key=(lambda value: run(key, value)) if key else None)

    def keeps(self, condition: object, value: object) -> object:
        """Whether a filter keeps a value. Raises UnknownValue."""
        return self.apply(condition, [value], {})

    def run(self, statements: Sequence[ast.stmt]) -> None:
        """Run statements, which bind names in this scope. Raises UnknownValue and Returned."""
        for statement in statements:
            self._run(statement)

    def _run(self, statement: ast.stmt) -> None:  # noqa: C901 - one case for each statement
        match statement:
            case ast.Return(value=value):
                raise FunctionReturn(None if value is None else self.value(value))
            case ast.Assign(targets=[ast.Attribute(value=base, attr=name)], value=value):
                self.set_attribute(self.value(base), name, self.value(value))
            case ast.Assign(targets=[target], value=value):
                _bind(target, self.value(value), self.local)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self.local[name] = self.value(value)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                # As an expression, because `value` handles operators that do not fit.
                left = ast.Name(id=name, ctx=ast.Load())
                self.local[name] = self.value(ast.BinOp(left=left, op=op, right=value))
            case ast.If(test=test, body=body, orelse=otherwise):
                self.run(body if self.value(test) else otherwise)
            case ast.For(target=target, iter=iterable, body=body, orelse=otherwise):
                for value in items_of(self.value(iterable)):
                    _bind(target, value, self.local)
                    self.run(body)
                self.run(otherwise)  # a loop with `break` has no known value
            case (
                ast.Expr(value=ast.Constant())
                | ast.Pass()
                | ast.Import()
                | ast.ImportFrom()
                | ast.Assert()
            ):
                pass
            case ast.Expr(value=value):
                self.value(value)
            case _:
                raise UnknownValue(type(statement).__name__)


def _bound_arguments(
    function: SourceFunction, positional: list[object], keywords: Mapping[str, object]
) -> dict[str, object]:
    """The parameters of a function with their values."""
    arguments = function.node.args
    parameters = [parameter.arg for parameter in (*arguments.posonlyargs, *arguments.args)]
    names = {*parameters, *(parameter.arg for parameter in arguments.kwonlyargs)}
    bound: dict[str, object] = dict(zip(parameters, positional, strict=False))
    further = {name: value for name, value in keywords.items() if name not in names}
    surplus = positional[len(parameters) :]
    if (surplus and not arguments.vararg) or (further and not arguments.kwarg):
        raise UnknownValue("an argument without a parameter")
    if bound.keys() & keywords.keys():
        raise UnknownValue("two arguments for one parameter")
    bound |= {name: keywords[name] for name in keywords if name in names}
    if arguments.kwarg:
        bound[arguments.kwarg.arg] = further
    if arguments.vararg:
        bound[arguments.vararg.arg] = tuple(surplus)
    return {
        name: function.scope.value(node)
        for name, node in defaults_of(arguments).items()
        if name not in bound
    } | bound


def _bind(target: ast.expr, value: PythonValue, names: PythonValues) -> None:
    if isinstance(target, ast.Name):
        names[target.id] = value
    elif isinstance(target, ast.Tuple | ast.List):
        for element, part in zip(target.elts, items_of(value), strict=True):
            _bind(element, part, names)
    elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        names[target.value.id][ast.literal_eval(target.slice)] = value
    else:
        raise UnknownValue("an assignment to something other than a name")


# --- expressions ----------------------------------------------------------------------------------


def _comprehend(scope: Scope, node: PythonValue) -> Iterator[Scope]:
    """The scope of each element of a comprehension."""

    def inner_scopes(outer: Scope, generators: list[ast.comprehension]) -> Iterator[Scope]:
        if not generators:
            yield outer
            return
        first, *others = generators
        for value in items_of(outer.value(first.iter)):
            inner = outer.inside({})
            _bind(first.target, value, inner.local)
            if all(inner.value(test) for test in first.ifs):
                yield from inner_scopes(inner, others)

    for number, inner in enumerate(inner_scopes(scope, node.generators)):
        if number == _ITEMS:
            raise UnknownValue("too long")
        yield inner


def _compare(scope: Scope, node: ast.Compare) -> bool:
    left = scope.value(node.left)
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        right = scope.value(comparator)
        if not _COMPARISONS[type(op)](left, right):
            return False
        left = right
    return True


def _all_or_any(scope: Scope, node: ast.BoolOp) -> object:
    value = None
    for operand in node.values:
        value = scope.value(operand)
        if bool(value) is isinstance(node.op, ast.Or):
            break
    return value


def _subscript(scope: Scope, node: ast.Subscript) -> object:
    value = scope.value(node.value)
    if isinstance(node.slice, ast.Slice):
        parts = (node.slice.lower, node.slice.upper, node.slice.step)
        return value[slice(*(None if part is None else scope.value(part) for part in parts))]
    return value[scope.value(node.slice)]


def _dict(scope: Scope, node: ast.Dict) -> dict[object, object]:
    entries: dict[PythonValue, PythonValue] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        entries |= scope.value(value) if key is None else {scope.value(key): scope.value(value)}
    return entries


def _text(scope: Scope, node: ast.JoinedStr) -> str:
    return "".join(_format_part(scope, part) for part in node.values)


def _format_part(scope: Scope, part: ast.expr) -> str:
    """A part of an f-string, as its conversion and its format say."""
    if not isinstance(part, ast.FormattedValue):
        return str(scope.value(part))
    value = scope.value(part.value)
    if part.conversion != -1:
        value = _CONVERSIONS[chr(part.conversion)](value)
    form = "" if part.format_spec is None else str(scope.value(part.format_spec))
    if any(int(number) > _ITEMS for number in re.findall(r"\d+", form)):
        raise UnknownValue("too long")
    return format(value, form)


_CONVERSIONS: Mapping[str, Callable[[object], str]] = {"s": str, "r": repr, "a": ascii}


_EXPRESSIONS: Mapping[type[ast.expr], Callable[[Scope, PythonValue], PythonValue]] = {
    ast.Constant: lambda scope, node: node.value,
    ast.Name: lambda scope, node: scope.name(node),
    ast.Attribute: lambda scope, node: scope.attribute(node),
    ast.Call: lambda scope, node: scope.call(node),
    ast.Lambda: lambda scope, node: SourceFunction(node, scope),
    ast.List: lambda scope, node: scope.elements(node.elts),
    ast.Tuple: lambda scope, node: tuple(scope.elements(node.elts)),
    ast.Set: lambda scope, node: set(scope.elements(node.elts)),
    ast.Dict: _dict,
    ast.BinOp: lambda scope, node: operate(
        node.op, scope.value(node.left), scope.value(node.right)
    ),
    ast.UnaryOp: lambda scope, node: _UNARY[type(node.op)](scope.value(node.operand)),
    ast.BoolOp: _all_or_any,
    ast.Compare: _compare,
    ast.IfExp: lambda scope, node: scope.value(
        node.body if scope.value(node.test) else node.orelse
    ),
    ast.Subscript: _subscript,
    ast.JoinedStr: _text,
    ast.ListComp: lambda scope, node: [inner.value(node.elt) for inner in _comprehend(scope, node)],
    ast.SetComp: lambda scope, node: {inner.value(node.elt) for inner in _comprehend(scope, node)},
    ast.GeneratorExp: lambda scope, node: [
        inner.value(node.elt) for inner in _comprehend(scope, node)
    ],
    ast.DictComp: lambda scope, node: {
        inner.value(node.key): inner.value(node.value) for inner in _comprehend(scope, node)
    },
}
