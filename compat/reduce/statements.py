"""Edits of statements and helper functions: remove, unwrap, merge a name into its use, inline.

Helper functions also lose parameters.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator, Sequence

from compat.reduce import module
from compat.reduce.candidate import Candidate, Edit, Nodes
from compat.source.parsing import argument_expressions

_WIDTH = 100
"""Maximum columns of a line after a value was merged into it."""


def drop(candidate: Candidate) -> Iterator[Edit]:
    """Remove a statement. Statements that read names which only it defines are removed with it."""
    for function, statement in _in_order(candidate):
        if not isinstance(statement, ast.Pass) or len(function.body) > 1:
            yield Edit(what=f"drop {_place(function, statement)}", nodes={statement: ()})


def unwrap(candidate: Candidate) -> Iterator[Edit]:
    """Replace a loop, a condition or a ``with`` by its body.

    A loop is replaced by its first iteration.
    """
    for function, statement in _in_order(candidate):
        for number, body in enumerate(_bodies(statement)):
            yield Edit(
                what=f"unwrap {number} {_place(function, statement)}", nodes={statement: body}
            )


def _bodies(statement: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    if isinstance(statement, ast.For):
        yield statement.body
        yield [_assign(statement.target, _first_of(statement.iter)), *statement.body]
    elif isinstance(statement, ast.While | ast.With):
        yield statement.body
    elif isinstance(statement, ast.If):
        yield statement.body
        if statement.orelse:
            yield statement.orelse


def _first_of(iterable: ast.expr) -> ast.expr:
    """The value of a loop's variable in the first iteration."""
    if isinstance(iterable, ast.Call) and len(iterable.args) > 1:
        return iterable.args[0]
    return ast.Constant(0)


def simplify(candidate: Candidate) -> Iterator[Edit]:
    """Simplify statements.

    ``x += y`` becomes ``x = y``, ``a, b = c, d`` becomes two statements, and an assignment of a
    call becomes the call.
    """
    for function, statement in _in_order(candidate):
        for number, simpler in enumerate(_simpler(statement)):
            yield Edit(
                what=f"simplify {number} {_place(function, statement)}", nodes={statement: simpler}
            )


def _simpler(statement: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    if isinstance(statement, ast.AugAssign):
        yield [_assign(statement.target, statement.value)]
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        yield [_assign(statement.target, statement.value)]
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0], statement.value
        if (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and len(target.elts) == len(value.elts)
        ):
            yield [
                _assign(name, element)
                for name, element in zip(target.elts, value.elts, strict=True)
            ]
        elif isinstance(target, ast.Tuple):
            yield from ([_assign(name, value)] for name in target.elts)
        yield [ast.Expr(value)]
    if isinstance(statement, ast.Return) and statement.value is not None:
        yield [ast.Expr(statement.value)]


def merge(candidate: Candidate) -> Iterator[Edit]:
    """Replace a name that is assigned once by its value in the place where the name is read.

    The name must be read only once, unless the value is a name or a number.
    """
    for function in candidate.functions.values():
        stores, read = _givings(function), _readings(function)
        for statement in ast.walk(function):
            if not (isinstance(statement, ast.Assign) and len(statement.targets) == 1):
                continue
            target, value, uses = statement.targets[0], statement.value, []
            if isinstance(target, ast.Name) and stores[target.id] == 1:
                uses = read.get(target.id, [])
            plain = isinstance(value, ast.Constant | ast.Name) and all(
                stores[name] < 2 for name in module.loaded_names(value)
            )
            if uses and (plain or len(uses) == 1) and (plain or _fits(function, uses[0], value)):
                nodes: Nodes = dict.fromkeys(uses, (value,))
                yield Edit(
                    what=f"merge {_place(function, statement)}", nodes={statement: (), **nodes}
                )


def _givings(function: ast.FunctionDef) -> Counter[str]:
    """The number of assignments of each name in a function; the call assigns a parameter once."""
    stores = Counter(module.parameters(function))
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            stores[node.id] += 1
    return stores


def _readings(function: ast.FunctionDef) -> dict[str, list[ast.Name]]:
    read: dict[str, list[ast.Name]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            read.setdefault(node.id, []).append(node)
    return read


def _fits(function: ast.FunctionDef, use: ast.Name, value: ast.expr) -> bool:
    """Whether the line with the merged value stays within :data:`_WIDTH`."""
    around = min(
        (s for s in ast.walk(function) if isinstance(s, ast.stmt) and use in ast.walk(s)),
        key=lambda s: len(ast.unparse(s)),
    )
    return (
        around.col_offset
        + len(ast.unparse(around).splitlines()[0])
        - len(use.id)
        + len(ast.unparse(value))
        <= _WIDTH
    )


def _assign(target: ast.expr, value: ast.expr) -> ast.Assign:
    return ast.Assign(targets=[copy.deepcopy(target)], value=copy.deepcopy(value), lineno=1)


def _in_order(candidate: Candidate) -> list[tuple[ast.FunctionDef, ast.stmt]]:
    """Return the statements in the order of the text, the last first.

    So neighbours in the list are neighbours in the kernel. No other statement needs the last one,
    so its removal is the likeliest to succeed.
    """
    inside = (
        (function, statement)
        for function in candidate.functions.values()
        for statement in _statements_in(function)
    )
    return sorted(inside, key=lambda pair: pair[1].lineno, reverse=True)


def _statements_in(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    return (
        node for node in ast.walk(function) if isinstance(node, ast.stmt) and node is not function
    )


def _place(function: ast.FunctionDef, statement: ast.stmt) -> str:
    return f"{function.name}: {ast.unparse(statement)}"


# --- of helper functions --------------------------------------------------------------------------


def inline(candidate: Candidate) -> Iterator[Edit]:
    """Replace a call of a helper by the helper's body.

    The call is a statement, or is within one if the helper is a single value.
    """
    helpers = {
        name: function
        for name, function in candidate.functions.items()
        if name != candidate.function
    }
    for function in candidate.functions.values():
        for statement in _statements_in(function):
            call = getattr(statement, "value", None)
            if (
                isinstance(call, ast.Call)
                and (helper := _called_helper(call, helpers))
                and helper is not function
            ):
                body = _body(statement, call, helper, function)
                if body is not None:
                    yield Edit(
                        what=f"inline {function.name}: {ast.unparse(statement)}",
                        nodes={statement: body},
                    )
        for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
            helper = _called_helper(call, helpers)
            if helper and helper is not function and (value := _value(call, helper)) is not None:
                yield Edit(
                    what=f"inline {function.name}: {ast.unparse(call)}", nodes={call: (value,)}
                )


def unused_arguments(candidate: Candidate) -> Iterator[Edit]:
    """Drop a parameter that a helper does not read, and the argument in its calls."""
    for name, helper in candidate.functions.items():
        if name == candidate.function:
            continue
        read = set().union(*(module.loaded_names(statement) for statement in helper.body))
        calls = [
            node
            for node in ast.walk(candidate.tree)
            if isinstance(node, ast.Call) and _called_name(node) == name
        ]
        for position, argument in enumerate(helper.args.args):
            arguments = [_find_argument(call, position, argument.arg) for call in calls]
            if argument.arg not in read and not helper.args.defaults and None not in arguments:
                drops = {node: () for node in (argument, *arguments) if node is not None}
                yield Edit(what=f"{name} without {argument.arg}", nodes=drops)


def _find_argument(call: ast.Call, position: int, name: str) -> ast.AST | None:
    keyword = next((other for other in call.keywords if other.arg == name), None)
    return keyword or (call.args[position] if position < len(call.args) else None)


def _called_name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _called_helper(call: ast.Call, helpers: dict[str, ast.FunctionDef]) -> ast.FunctionDef | None:
    return helpers.get(_called_name(call))


def _value(call: ast.Call, helper: ast.FunctionDef) -> ast.expr | None:
    """The value of a call of a helper that only returns a value, else ``None``."""
    last, bound = helper.body[-1], argument_expressions(call, helper.args)
    if (
        len(helper.body) != 1
        or not isinstance(last, ast.Return)
        or last.value is None
        or bound is None
    ):
        return None
    value: ast.expr = _Renaming(bound).visit(copy.deepcopy(last.value))
    return value


def _body(
    statement: ast.stmt, call: ast.Call, helper: ast.FunctionDef, caller: ast.FunctionDef
) -> Sequence[ast.stmt] | None:
    """Return the statements that replace ``statement``, whose value is the call of the helper.

    Returns ``None`` if the helper returns in its middle.
    """
    bound = argument_expressions(call, helper.args)
    *before, last = helper.body
    if bound is None or any(
        isinstance(node, ast.Return) for inner in before for node in ast.walk(inner)
    ):
        return None
    if any(isinstance(node, ast.Return) for node in ast.walk(last)) and not isinstance(
        last, ast.Return
    ):
        return None
    changed = set().union(*(module.assigned_names(inner) for inner in helper.body))
    used = (
        module.assigned_names(caller) | module.loaded_names(caller) | set(module.parameters(caller))
    )
    local: dict[str, ast.expr] = {}
    for name in sorted(changed):
        local[name] = ast.Name(free := _free(name, used), ast.Store())
        used.add(free)
    names = {**{name: value for name, value in bound.items() if name not in changed}, **local}
    body: list[ast.stmt] = [_assign(local[name], bound[name]) for name in bound if name in changed]
    body += [_Renaming(names).visit(copy.deepcopy(inner)) for inner in before]
    return [*body, *_end(statement, last, names)]


def _end(statement: ast.stmt, last: ast.stmt, names: dict[str, ast.expr]) -> list[ast.stmt]:
    if not isinstance(last, ast.Return):
        return [_Renaming(names).visit(copy.deepcopy(last))]
    end = copy.deepcopy(statement)
    if last.value is None:
        return []
    end.value = _Renaming(names).visit(copy.deepcopy(last.value))  # type: ignore[attr-defined]
    return [end]


def _free(name: str, used_names: set[str]) -> str:
    """``name``, or a similar unused name if the caller already uses it."""
    free = name
    while free in used_names:
        free += "_"
    return free


class _Renaming(ast.NodeTransformer):
    """Replaces names by expressions."""

    def __init__(self, names: dict[str, ast.expr]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        new = self._names.get(node.id)
        if new is None:
            return node
        if isinstance(new, ast.Name):
            return ast.Name(new.id, node.ctx)
        return copy.deepcopy(new)
