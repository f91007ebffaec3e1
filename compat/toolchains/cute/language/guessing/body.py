"""Facts about parameters from a jit function's body: modes of tensors, and literals."""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from attrs import define, field

from compat.source.constants import PythonValue, Scope
from compat.source.parsing import bound_names, dotted_name, named_parameters
from compat.text import lazy_pattern

_TUPLE = lazy_pattern(r"\(\s*([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_0-9]\w*)*)\s*,?\s*\)")
_NOTED = 4
"""The depth of calls through which a parameter is followed."""
_OF_TENSORS = frozenset(
    {"shape", "element_type", "iterator", "layout", "stride", "memspace", "dtype"}
)


@define
class ArgumentUses:
    """The uses of a parameter in one function and in the functions that it calls."""

    modes: int = 0
    """The largest number of its modes that the body uses."""
    exact: bool = False
    """Whether it has exactly this number of modes."""
    sizes: tuple[str, ...] = ()
    """The names of its sizes, if a comment or docstring has them."""
    parts: int = 0
    """The number of variables that it is unpacked into."""
    is_tensor: bool = False
    is_indexed: bool = False
    """Whether one number indexes it."""

    def has(self, modes: int, *, exact: bool = False) -> None:
        """Note that it has at least ``modes`` modes, or with ``exact`` exactly so many."""
        if exact and not self.exact:
            self.modes, self.exact = modes, True
        elif not self.exact:
            self.modes = max(self.modes, modes)


_Place = tuple[str, ast.FunctionDef, frozenset[tuple[str, str]], int]
"""A parameter, its function, the texts of constants, and the depth of calls that remains."""


@define
class UsesReader:
    """Reads how the functions of a source use their parameters.

    It follows a parameter into a called function only once, because many calls may lead there.
    """

    others: Mapping[str, ast.FunctionDef]
    """Functions that a function may pass a parameter to."""
    lines: Sequence[str]
    """The lines of the source."""
    _uses: dict[_Place, ArgumentUses] = field(factory=dict)

    def uses_of(
        self, name: str, function: ast.FunctionDef, constants: Mapping[str, object]
    ) -> ArgumentUses:
        """Return how a function uses one of its parameters in the code that is compiled.

        ``constants`` are the values of parameters and of attributes (``self.x``) that decide which
        branches are compiled.
        """
        uses = ArgumentUses()
        _note_comment(uses, name, function, self.lines)
        self._look(uses, name, function, constants, _NOTED)
        return uses

    def _look(  # noqa: C901 - one case for each form of use
        self,
        uses: ArgumentUses,
        name: str,
        function: ast.FunctionDef,
        constants: Mapping[str, object],
        depth: int,
    ) -> None:
        changed = bound_names(function.body)
        local = {word: value for word, value in constants.items() if word not in changed}
        scope = _Constants(module={}, imports={}, local=local)
        for node in _compiled_nodes(function, scope):
            match node:
                case ast.Assign(
                    targets=[ast.Tuple(elts=targets)],
                    value=ast.Attribute(value=ast.Name(id=owner), attr="shape" | "stride"),
                ):
                    if owner == name and not any(
                        isinstance(target, ast.Starred) for target in targets
                    ):
                        uses.has(len(targets), exact=True)
                case ast.Subscript(
                    value=ast.Attribute(value=ast.Name(id=owner), attr="shape" | "stride"),
                    slice=ast.Constant(value=int(at)),
                ):
                    if owner == name:
                        uses.has(at + 1)
                case ast.Subscript(value=ast.Name(id=owner), slice=ast.Tuple(elts=indices)) if (
                    owner == name
                ):
                    uses.is_tensor = True
                    uses.has(
                        len(indices),
                        exact=not any(isinstance(part, ast.Starred) for part in indices),
                    )
                case ast.Subscript(value=ast.Name(id=owner), slice=index) if owner == name:
                    uses.is_tensor = True
                    uses.is_indexed |= isinstance(index, ast.Name | ast.BinOp | ast.Constant)
                case ast.Attribute(value=ast.Name(id=owner), attr=attribute) if (
                    owner == name and attribute in _OF_TENSORS
                ):
                    uses.is_tensor = True
                case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Name(id=owner)) if (
                    owner == name
                ):
                    uses.parts = len(targets)
                case ast.Call():
                    self._note_call(uses, name, node, scope, depth)

    def _note_call(
        self, uses: ArgumentUses, name: str, call: ast.Call, scope: _Constants, depth: int
    ) -> None:
        """Note the uses of a parameter that a call gets."""
        last = call.func.attr if isinstance(call.func, ast.Attribute) else dotted_name(call.func)
        about = [index for index, argument in enumerate(call.args) if _is(argument, name)]
        if about and about[0] == 0:
            if count := _modes_in_order(call.args[1:]):
                uses.has(count, exact=True)
            if last in ("select", "group_modes", "size", "get", "slice_", "dice"):
                for modes in (
                    keyword.value for keyword in call.keywords if keyword.arg in ("mode", "order")
                ):
                    numbers = [
                        node.value
                        for node in ast.walk(modes)
                        if isinstance(node, ast.Constant) and isinstance(node.value, int)
                    ]
                    uses.has(
                        max(numbers, default=-1) + 1,
                        exact=last == "select" and len(numbers) > max(numbers, default=0),
                    )
            if (
                last == "group_modes"
                and len(call.args) == 3
                and isinstance(end := call.args[2], ast.Constant)
            ):
                uses.has(int(end.value) if isinstance(end.value, int) else 0)
            if (
                last in ("local_tile", "zipped_divide", "tiled_divide", "flat_divide")
                and len(call.args) > 1
            ):
                sizes = getattr(call.args[1], "elts", ())
                uses.has(len(sizes))
        if depth and last in self.others:
            for inner in self._inner_uses(name, call, self.others[last], scope, depth):
                uses.is_tensor |= inner.is_tensor
                uses.is_indexed |= inner.is_indexed
                if inner.modes:
                    uses.has(inner.modes, exact=inner.exact)

    def _inner_uses(
        self, name: str, call: ast.Call, function: ast.FunctionDef, scope: _Constants, depth: int
    ) -> Iterator[ArgumentUses]:
        """Yield how the called function uses a parameter that the call passes on."""
        constants = _constants_passed(function, call, scope)
        values = frozenset((word, repr(value)) for word, value in constants.items())
        for parameter, argument in _passed(function, call):
            if _is_name(argument, name):
                place = parameter, function, values, depth
                if place not in self._uses:
                    uses = ArgumentUses()
                    self._look(uses, parameter, function, constants, depth - 1)
                    self._uses[place] = uses
                yield self._uses[place]


class _Constants(Scope):
    """The constants that the conditions of branches depend on, also as ``self.x``."""

    def attribute(self, node: ast.Attribute) -> PythonValue:
        name = dotted_name(node)
        return self.local[name] if name in self.local else super().attribute(node)

    def call(self, node: ast.Call) -> PythonValue:
        if dotted_name(node.func).rpartition(".")[2] == "const_expr" and len(node.args) == 1:
            return self.value(node.args[0])
        return super().call(node)


def _compiled_nodes(function: ast.FunctionDef, constants: _Constants) -> Iterator[ast.AST]:
    """Yield the nodes of a function, without branches that the constants leave out."""
    waiting: deque[ast.AST] = deque([function])
    while waiting:
        node = waiting.popleft()
        yield node
        inner: Sequence[ast.AST] = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.If | ast.IfExp):
            is_known, holds = constants.try_value(node.test)
            if is_known:
                branch = node.body if holds else node.orelse
                inner = branch if isinstance(branch, list) else [branch]
        waiting.extend(inner)


def _note_comment(
    uses: ArgumentUses, name: str, function: ast.FunctionDef, lines: Sequence[str]
) -> None:
    """Note sizes from the comment in the line of the parameter, or from the docstring."""
    parameter = next(
        argument for argument in named_parameters(function.args) if argument.arg == name
    )
    line = lines[parameter.lineno - 1] if parameter.lineno <= len(lines) else ""
    texts = [line.partition("#")[2]]
    texts += re.findall(rf"\b{re.escape(name)}\b[^\n]*", ast.get_docstring(function) or "")
    for text in texts:
        if match := _TUPLE.search(text):
            sizes = tuple(size.strip() for size in match[1].split(","))
            if len(sizes) > 1:
                uses.sizes = sizes
                uses.has(len(sizes), exact=True)
                return


def _modes_in_order(arguments: Sequence[ast.expr]) -> int:
    """Return the number of modes of a tensor that is passed with their order, as ``[1, 2, 0]``.

    The result is 0 if there is no such order.
    """
    match arguments:
        case [ast.List(elts=parts) | ast.Tuple(elts=parts), *_]:
            numbers = [part.value for part in parts if isinstance(part, ast.Constant)]
            is_order = len(numbers) == len(parts) > 1 and set(numbers) == set(range(len(parts)))
            return len(parts) if is_order else 0
    return 0


def _constants_passed(
    function: ast.FunctionDef, call: ast.Call, scope: _Constants
) -> dict[str, object]:
    """Return the constants that a function gets from a call, and those of its own object."""
    constants: dict[str, object] = {}
    if dotted_name(call.func).startswith("self.") and _is_method(function):
        constants = {word: value for word, value in scope.local.items() if word.startswith("self.")}
    for parameter, argument in _passed(function, call):
        is_known, value = scope.try_value(argument)
        if is_known:
            constants[parameter] = value
    return constants


def _is_method(function: ast.FunctionDef) -> bool:
    return [parameter.arg for parameter in named_parameters(function.args)][:1] == ["self"]


def _passed(function: ast.FunctionDef, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """Yield the parameters that a call gives arguments to, with the arguments."""
    names = [parameter.arg for parameter in named_parameters(function.args)]
    names = names[_is_method(function) :]
    yield from zip(names, call.args, strict=False)
    for keyword in call.keywords:
        if keyword.arg in names:
            yield keyword.arg, keyword.value


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is(node: ast.expr, name: str) -> bool:
    """Whether an expression is the parameter, or its layout or shape."""
    return _is_name(node, name) or (
        isinstance(node, ast.Attribute)
        and node.attr in ("layout", "shape")
        and _is_name(node.value, name)
    )


def literals_of(
    name: str, kind: ast.ClassDef | ast.FunctionDef, *, allowed: bool = False
) -> list[object]:
    """Return the literals that a name, or the attribute of ``self`` with it, is compared with.

    With ``allowed``, return those that it must be one of: ``name in (64, 128)``.
    """
    literals: list[object] = []
    for node in ast.walk(kind):
        if isinstance(node, ast.Compare) and dotted_name(node.left).removeprefix("self.") == name:
            for operation, comparator in zip(node.ops, node.comparators, strict=True):
                is_choice = isinstance(comparator, ast.Tuple | ast.List | ast.Set)
                if allowed and not (is_choice and isinstance(operation, ast.In | ast.NotIn)):
                    continue
                literals += [
                    literal.value
                    for literal in getattr(comparator, "elts", [comparator])
                    if isinstance(literal, ast.Constant) and literal.value is not None
                ]
    return literals
