"""Python expressions of others, evaluated over literals alone: nothing of theirs runs, and nothing outside is touched.

Numbers, texts, lists, tuples and dicts of them, comprehensions, arithmetic, lambdas, a few pure functions of Python and Triton,
and functions of the same module that come to such values. What is anything else is :class:`Unknown`.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import Factory, define, frozen

from compat import constexprs
from compat.guess import tensors
from compat.guess.pure import BUILTINS, COMPARISONS, HIGHER, ITEMS, METHODS, NAMED, UNARY, Unknown, extending, items, operated

_STEPS = 200_000
"""Nodes that one evaluation may look at."""
_DEPTH = 40
"""Calls and names inside of one another."""


@frozen
class Given:
    """An argument of a launch that is there, and of which nothing else is known."""

    name: str


@frozen
class Config:
    """A ``triton.Config``: values of constexprs, and options."""

    kwargs: Mapping[str, Any]
    options: Mapping[str, Any]


@frozen
class Function:
    """A function or lambda of a source, with the names that it sees."""

    node: ast.FunctionDef | ast.Lambda
    scope: Scope


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


@define
class Scope:
    """The names that an expression sees, each with a value or an expression of one."""

    module: Mapping[str, ast.stmt]
    """Name → the last statement at the top of the module that binds it."""
    imports: Mapping[str, str]
    """Name → what is imported under it, dotted."""
    local: dict[str, Any] = Factory(dict)
    _steps: list[int] = Factory(lambda: [_STEPS])
    _depth: int = 0

    def inside(self, local: Mapping[str, Any]) -> Scope:
        """The scope of a function or a comprehension in this one."""
        if self._depth >= _DEPTH:
            raise Unknown("too deep")
        return Scope(self.module, self.imports, {**self.local, **local}, self._steps, self._depth + 1)

    def called(self, node: ast.expr) -> str | None:
        """What a name, perhaps with dots, leads to: ``tl.arange`` is ``triton.language.arange``."""
        if isinstance(node, ast.Attribute):
            before = self.called(node.value)
            return f"{before}.{node.attr}" if before else None
        return self.imports.get(node.id, node.id) if isinstance(node, ast.Name) and node.id not in self.local else None

    def value(self, node: ast.expr) -> Any:
        """The value of an expression. Raises :class:`Unknown`."""
        self._steps[0] -= 1
        if self._steps[0] < 0:
            raise Unknown("too much to evaluate")
        evaluate = _EXPRESSIONS.get(type(node))
        if evaluate is None:
            raise Unknown(type(node).__name__)
        try:
            return evaluate(self, node)
        except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise Unknown(str(error)) from error

    def try_value(self, node: ast.expr | None) -> tuple[bool, Any]:
        """Whether an expression has a value that follows from literals, and that value."""
        try:
            return (False, None) if node is None else (True, self.value(node))
        except Unknown:
            return False, None

    def call(self, function: Function, positional: list[Any], keywords: Mapping[str, Any]) -> Any:
        """What a function of the source returns. Raises :class:`Unknown`."""
        inner = function.scope.inside(_bound(function, positional, keywords))
        if isinstance(function.node, ast.Lambda):
            return inner.value(function.node.body)
        try:
            inner.run(function.node.body)
        except _Return as returned:
            return returned.value
        return None

    def run(self, statements: list[ast.stmt]) -> None:
        """Have statements bind names here. Raises :class:`Unknown`."""
        for statement in statements:
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Return(value=value):
                raise _Return(None if value is None else self.value(value))
            case ast.Assign(targets=[target], value=value):
                _bind(target, self.value(value), self.local)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self.local[name] = self.value(value)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                self.local[name] = operated(op, self.value(ast.Name(id=name, ctx=ast.Load())), self.value(value))
            case ast.If(test=test, body=body, orelse=otherwise):
                self.run(body if self.value(test) else otherwise)
            case ast.For(target=target, iter=iterable, body=body):
                for each in items(self.value(iterable)):
                    _bind(target, each, self.local)
                    self.run(body)
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Import() | ast.ImportFrom() | ast.Assert():
                pass
            case ast.Expr(value=value):
                self.value(value)
            case _:
                raise Unknown(type(statement).__name__)


def _bound(function: Function, positional: list[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    arguments = function.node.args
    parameters = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    bound = dict(zip(parameters, positional, strict=False))
    if len(positional) > len(parameters):
        raise Unknown("more arguments than parameters")
    known = {name: value for name, value in keywords.items() if name in parameters or name in _keyword_only(arguments)}
    if arguments.kwarg:
        known[arguments.kwarg.arg] = {name: value for name, value in keywords.items() if name not in known}
    if arguments.vararg:
        known[arguments.vararg.arg] = ()
    defaults = dict(zip(parameters[len(parameters) - len(arguments.defaults) :], arguments.defaults, strict=True))
    defaults |= {arg.arg: value for arg, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value}
    missing = {name: function.scope.value(value) for name, value in defaults.items() if name not in {**bound, **known}}
    return {**missing, **bound, **known}


def _keyword_only(arguments: ast.arguments) -> set[str]:
    return {each.arg for each in arguments.kwonlyargs}


def _bind(target: ast.expr, value: Any, names: dict[str, Any]) -> None:
    if isinstance(target, ast.Name):
        names[target.id] = value
    elif isinstance(target, ast.Tuple | ast.List):
        for each, part in zip(target.elts, items(value), strict=True):
            _bind(each, part, names)
    elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        kept = names[target.value.id]
        kept[ast.literal_eval(target.slice)] = value
    else:
        raise Unknown("an assignment to something else than a name")


# --- expressions -----------------------------------------------------------------------------------------------------------------


def _name(scope: Scope, node: ast.Name) -> Any:
    if node.id in scope.local:
        return scope.local[node.id]
    statement = scope.module.get(node.id)
    top = Scope(scope.module, scope.imports, {}, scope._steps, scope._depth).inside({})
    match statement:
        case ast.Assign(targets=[ast.Name()], value=value):
            return top.value(value)
        case ast.AnnAssign(value=ast.expr() as value):
            return top.value(value)
        case ast.FunctionDef():
            return Function(statement, top)
    if node.id in BUILTINS and statement is None:
        return BUILTINS[node.id]
    raise Unknown(f"the name {node.id}")


def _attribute(scope: Scope, node: ast.Attribute) -> Any:
    called = scope.called(node) or ""
    if found := _dtype(called):
        return found
    if called in NAMED:
        return NAMED[called]
    if called == "torch.version.hip":
        return None
    value = scope.value(node.value)
    if isinstance(value, tensors.Tensor):
        return value.attribute(node.attr)
    if isinstance(value, Config):
        return {"kwargs": value.kwargs, **_OPTIONS, **value.options}[node.attr]
    if isinstance(value, list) and node.attr == "extend":
        return extending(value)
    if (type(value), node.attr) in METHODS:
        return getattr(value, node.attr)
    if isinstance(value, int | float) and node.attr == "value":
        return value
    raise Unknown(f"the attribute {node.attr}")


def _dtype(called: str) -> dict[str, str] | None:
    """A dtype, as constexprs have it."""
    first, _, name = called.rpartition(".")
    if first == "torch" and name in (*constexprs.TORCH_DTYPES, *_TORCH_NAMES):
        return {"torch_dtype": _TORCH_NAMES.get(name, name)}
    if first.startswith("triton.language"):
        spelled = constexprs.DTYPES.get(name) or constexprs.DTYPES.get(_LANGUAGE_NAMES.get(name, ""))
        return {"dtype": spelled} if spelled else None
    return None


_TORCH_NAMES = {"half": "float16", "float": "float32", "int": "int32", "long": "int64", "double": "float64"}
_LANGUAGE_NAMES = {"int1": "i1"}


def _call(scope: Scope, node: ast.Call) -> Any:
    called = scope.called(node.func)
    if called in ("triton.Config", "triton.runtime.autotuner.Config", "triton.runtime.Config"):
        return _config(scope, node)
    if called in ("os.environ.get", "os.getenv"):
        return scope.value(node.args[1]) if len(node.args) > 1 else None
    if called and called.startswith("torch.") and called in tensors.MAKERS:
        return tensors.made(called, *_known_arguments(scope, node))
    is_known, function = scope.try_value(node.func)
    if is_known and isinstance(node.func, ast.Attribute) and isinstance(scope.try_value(node.func.value)[1], tensors.Tensor):
        return function(*_known_arguments(scope, node)[0], **_known_arguments(scope, node)[1])
    positional, keywords = _arguments(scope, node)
    if isinstance(function, Function):
        try:
            return scope.call(function, positional, keywords)
        except Unknown:
            return _of_this_machine(called or "")
    if callable(function):
        return function(*positional, **keywords) if function not in HIGHER else _higher(scope, function, positional, keywords)
    return _of_this_machine(called or "")


def _of_this_machine(called: str) -> bool:
    """What a function that asks which GPU is there says: one of NVIDIA's, and no features that only some have. Raises Unknown."""
    name = called.rpartition(".")[2]
    if re.fullmatch(r"_?is_(cuda|nvidia)\w*|_?is_(cuda_)?available", name):
        return True
    if re.match(r"_?(is|has|supports?|check|use)_", name):
        return False
    raise Unknown(f"the call of {called or 'an expression'}")


def _arguments(scope: Scope, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
    positional: list[Any] = []
    for each in node.args:
        positional += items(scope.value(each.value)) if isinstance(each, ast.Starred) else [scope.value(each)]
    keywords: dict[str, Any] = {}
    for keyword in node.keywords:
        value = scope.value(keyword.value)
        keywords |= value if keyword.arg is None else {keyword.arg: value}
    return positional, keywords


def _known_arguments(scope: Scope, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
    """The arguments that follow from literals and sizes: devices and the like do not."""
    positional = [value for each in node.args for known, value in [scope.try_value(each)] if known]
    if any(isinstance(each, ast.Starred) for each in node.args):
        positional = _arguments(scope, ast.Call(func=node.func, args=node.args, keywords=[]))[0]
    pairs = [(each.arg, scope.try_value(each.value)) for each in node.keywords if each.arg]
    return positional, {name: value for name, (known, value) in pairs if known}


def _config(scope: Scope, node: ast.Call) -> Config:
    named = [each for each in node.keywords if each.arg not in ("pre_hook", "ir_override")]
    plain = ast.Call(func=node.func, args=node.args, keywords=named)
    positional, keywords = _arguments(scope, plain)
    order = ("kwargs", *_OPTIONS)
    said = {**dict(zip(order, positional, strict=False)), **keywords}
    kwargs = said.pop("kwargs", {})
    own = {name: value for name, value in kwargs.items() if name not in _OPTIONS}
    moved = {name: value for name, value in kwargs.items() if name in _OPTIONS}
    return Config(own, {name: value for name, value in {**said, **moved}.items() if value is not None})


_OPTIONS: Mapping[str, Any] = {"num_warps": 4, "num_stages": 3, "num_ctas": 1, "maxnreg": None}
"""What a ``triton.Config`` says besides its values, in the order of its parameters, and what it says if it is not told."""


def _higher(scope: Scope, function: Any, positional: list[Any], keywords: Mapping[str, Any]) -> Any:
    def run(of: Any, *values: Any) -> Any:
        return scope.call(of, list(values), {}) if isinstance(of, Function) else of(*values)

    if function is filter:
        keep, values = positional
        return [each for each in items(values) if (each if keep is None else run(keep, each))]
    if function is map:
        of, values = positional
        return [run(of, each) for each in items(values)]
    key = keywords.get("key")
    return sorted(items(positional[0]), key=(lambda each: run(key, each)) if key else None)


def _comprehended(scope: Scope, node: Any) -> Iterator[Scope]:
    def nested(here: Scope, generators: list[ast.comprehension]) -> Iterator[Scope]:
        if not generators:
            yield here
            return
        first, *others = generators
        for each in items(here.value(first.iter)):
            inner = here.inside({})
            _bind(first.target, each, inner.local)
            if all(inner.value(test) for test in first.ifs):
                yield from nested(inner, others)

    return itertools.islice(nested(scope, node.generators), ITEMS)


def _compared(scope: Scope, node: ast.Compare) -> bool:
    left = scope.value(node.left)
    for op, each in zip(node.ops, node.comparators, strict=True):
        right = scope.value(each)
        if isinstance(op, ast.Eq | ast.NotEq) and (isinstance(left, Given) ^ isinstance(right, Given)):
            raise Unknown("nothing is known of the argument")
        if not COMPARISONS[type(op)](left, right):
            return False
        left = right
    return True


def _all_or_any(scope: Scope, node: ast.BoolOp) -> Any:
    value = None
    for each in node.values:
        value = scope.value(each)
        if bool(value) is isinstance(node.op, ast.Or):
            break
    return value


def _subscript(scope: Scope, node: ast.Subscript) -> Any:
    value = scope.value(node.value)
    if isinstance(node.slice, ast.Slice):
        parts = (node.slice.lower, node.slice.upper, node.slice.step)
        return value[slice(*(None if each is None else scope.value(each) for each in parts))]
    return value[scope.value(node.slice)]


def _dict(scope: Scope, node: ast.Dict) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        found |= scope.value(value) if key is None else {scope.value(key): scope.value(value)}
    return found


def _sequence(scope: Scope, node: ast.List | ast.Tuple | ast.Set) -> list[Any]:
    found: list[Any] = []
    for each in node.elts:
        found += items(scope.value(each.value)) if isinstance(each, ast.Starred) else [scope.value(each)]
    return found


def _text(scope: Scope, node: ast.JoinedStr) -> str:
    parts = (each.value if isinstance(each, ast.FormattedValue) else each for each in node.values)
    return "".join(str(scope.value(part)) for part in parts)


_EXPRESSIONS: Mapping[type[ast.expr], Callable[[Scope, Any], Any]] = {
    ast.Constant: lambda scope, node: node.value,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Lambda: lambda scope, node: Function(node, scope),
    ast.List: _sequence,
    ast.Tuple: lambda scope, node: tuple(_sequence(scope, node)),
    ast.Set: lambda scope, node: set(_sequence(scope, node)),
    ast.Dict: _dict,
    ast.BinOp: lambda scope, node: operated(node.op, scope.value(node.left), scope.value(node.right)),
    ast.UnaryOp: lambda scope, node: UNARY[type(node.op)](scope.value(node.operand)),
    ast.BoolOp: _all_or_any,
    ast.Compare: _compared,
    ast.IfExp: lambda scope, node: scope.value(node.body if scope.value(node.test) else node.orelse),
    ast.Subscript: _subscript,
    ast.JoinedStr: _text,
    ast.ListComp: lambda scope, node: [each.value(node.elt) for each in _comprehended(scope, node)],
    ast.SetComp: lambda scope, node: {each.value(node.elt) for each in _comprehended(scope, node)},
    ast.GeneratorExp: lambda scope, node: [each.value(node.elt) for each in _comprehended(scope, node)],
    ast.DictComp: lambda scope, node: {each.value(node.key): each.value(node.value) for each in _comprehended(scope, node)},
}
