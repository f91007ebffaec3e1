"""Which parts of a block pointer (base, shape, strides, offsets) can be written where they are needed, and which a variable keeps.

A part is written out again only where that gives what it gave when the block pointer was made: if it is made of names that are
bound once and outside of loops, and of operations without effects.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Mapping
from functools import cached_property

import libcst as cst
from attrs import frozen

from compat.toolchains.language import CannotEdit
from compat.toolchains.triton.edits.block_pointers.normal import MadePointer
from compat.toolchains.triton.edits.block_pointers.webs import Definition, Flow, Web
from compat.toolchains.triton.edits.code import Code, dotted, literal, walk

Part = str | tuple[str, int]
_PURE_CALLS = ("program_id", "num_programs", "cdiv", "minimum", "maximum", "multiple_of", "max_contiguous", "full", "cast")
_PURE = (
    *(
        cst.Name,
        cst.Integer,
        cst.Float,
        cst.SimpleString,
        cst.BinaryOperation,
        cst.UnaryOperation,
        cst.Attribute,
        cst.Call,
        cst.Arg,
    ),
    *(cst.Comparison, cst.ComparisonTarget, cst.BooleanOperation, cst.IfExp, cst.BaseBinaryOp, cst.BaseUnaryOp, cst.BaseCompOp),
    *(cst.BaseBooleanOp, cst.BaseParenthesizableWhitespace, cst.LeftParen, cst.RightParen, cst.AssignEqual, cst.Comma, cst.Dot),
    *(cst.TrailingWhitespace, cst.EmptyLine, cst.Newline, cst.Comment),
)


class KeptPart:
    """A part that a variable keeps."""


KEPT = KeptPart()
Value = str | KeptPart
"""The text of a part, or that it is kept."""


@frozen(kw_only=True, eq=False, slots=False)
class Bindings:
    """What a function binds, and how often."""

    counts: Mapping[str, int]
    """Name → how often it is bound; what is bound in a loop counts as often as one likes."""
    values: Mapping[str, cst.BaseExpression]
    """Name → what it is bound to, where that is said in one assignment."""
    ranges: frozenset[str]
    """Names that count up from a number that is not negative."""
    naturals: frozenset[str]
    """Parameters that are given no negative numbers."""
    function: cst.FunctionDef
    code: Code
    """The module that the function is of."""

    @classmethod
    def of(cls, code: Code, function: cst.FunctionDef, naturals: frozenset[str] = frozenset()) -> Bindings:
        counts, values, ranges = Counter[str](), dict[str, cst.BaseExpression](), set[str]()
        counts.update(parameter.name.value for parameter in walk(function.params) if isinstance(parameter, cst.Param))
        loops = (node for node in walk(function.body) if isinstance(node, cst.For | cst.While))
        in_loops = {id(inner) for loop in loops for inner in walk(loop)}
        for node in walk(function.body):
            for target, value in _targets(node):
                for name in walk(target):
                    if isinstance(name, cst.Name):
                        counts[name.value] += 2 if id(node) in in_loops else 1
                if isinstance(target, cst.Name) and value is not None:
                    values[target.value] = value
            if isinstance(node, cst.For) and isinstance(node.target, cst.Name) and _counts_up(code, node.iter):
                ranges.add(node.target.value)
        return cls(counts=counts, values=values, ranges=frozenset(ranges), naturals=naturals, function=function, code=code)

    def stable(self, node: cst.BaseExpression) -> bool:
        """Whether an expression gives the same wherever in the function it stands."""
        return all(self._is_stable(inner) for inner in walk(node))

    def _is_stable(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Call):
            called = self.code.language.called(node)
            return called in _PURE_CALLS or (isinstance(node.func, cst.Attribute) and node.func.attr.value == "to")
        return isinstance(node, _PURE) and not (isinstance(node, cst.Name) and self.counts.get(node.value, 0) > 1)

    def natural(self, node: cst.BaseExpression, depth: int = 8) -> bool:
        """Whether a whole number is certainly not negative."""
        if (number := literal(node)) is not None:
            return number >= 0
        if depth == 0:
            return False
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add | cst.Multiply | cst.FloorDivide):
            return self.natural(node.left, depth - 1) and self.natural(node.right, depth - 1)
        if isinstance(node, cst.Call):
            return self._natural_call(node, depth)
        if not isinstance(node, cst.Name):
            return False
        if node.value in self.naturals | self.blocks or (node.value in self.ranges and self.counts.get(node.value, 0) <= 2):
            return True
        once = self.counts.get(node.value) == 1 and node.value in self.values
        return once and self.natural(self.values[node.value], depth - 1)

    def _natural_call(self, node: cst.Call, depth: int) -> bool:
        if self.code.language.called(node) in ("program_id", "num_programs"):
            return True
        converted = isinstance(node.func, cst.Attribute) and node.func.attr.value == "to"
        return converted and self.natural(node.func.value, depth - 1)  # type: ignore[attr-defined]

    @cached_property
    def blocks(self) -> frozenset[str]:
        """Names of block sizes, which are positive: what ``tl.arange(0, …)`` and the blocks of block pointers are given."""
        blocks: set[str] = set()
        for node in walk(self.function):
            if self.code.language.called(node) in ("arange", "make_block_ptr"):
                blocks |= _sizes(node)
        return frozenset(name for name in blocks if self.counts.get(name, 1) == 1 and name not in self.values)


def _sizes(call: cst.CSTNode) -> set[str]:
    assert isinstance(call, cst.Call)
    try:
        sizes = MadePointer.of(call).block if len(call.args) > 2 else (call.args[1].value,)
    except (CannotEdit, IndexError):
        return set()
    return {size.value for size in sizes if isinstance(size, cst.Name)}


def _counts_up(code: Code, node: cst.BaseExpression) -> bool:
    if not isinstance(node, cst.Call) or not (
        dotted(node.func) == "range" or code.language.called(node) in ("range", "static_range")
    ):
        return False
    values = [arg.value for arg in node.args if not arg.keyword]
    start = literal(values[0]) if len(values) > 1 else 0
    return start is not None and start >= 0 and (len(values) < 3 or not isinstance(values[2], cst.UnaryOperation))


def _targets(node: cst.CSTNode) -> list[tuple[cst.BaseExpression, cst.BaseExpression | None]]:
    if isinstance(node, cst.Assign):
        only = len(node.targets) == 1
        return [pair for target in node.targets for pair in _unpacked(target.target, node.value if only else None)]
    if isinstance(node, cst.AnnAssign | cst.AugAssign):
        return [(node.target, node.value if isinstance(node, cst.AnnAssign) else None)]
    if isinstance(node, cst.For):
        return [(node.target, None)]
    return []


def _unpacked(
    target: cst.BaseExpression, value: cst.BaseExpression | None
) -> list[tuple[cst.BaseExpression, cst.BaseExpression | None]]:
    if isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple) and len(target.elements) == len(value.elements):
        return [(one.value, other.value) for one, other in zip(target.elements, value.elements, strict=True)]
    return [(target, value)]


# --- the parts of all webs ---------------------------------------------------------------------------------------------------


class PointerParts:
    """Web and part → what it is, for all webs of a function.

    ``parts_of`` gives the parts of a block pointer as they are when it is made; ``("at", 0)`` is its first offset.
    """

    def __init__(self, flow: Flow, parts_of: Callable[[MadePointer, Definition], Mapping[Part, Value]]) -> None:
        self._flow, self._parts_of = flow, parts_of
        self._values: dict[tuple[int, Part], Value] = {}
        self._settle()

    def value(self, web: Web, part: Part) -> Value:
        """The text of a part, or :data:`KEPT`."""
        return self._values.get((id(web), part), KEPT)

    def _settle(self) -> None:
        changed = True
        while changed:
            changed = False
            for definition in self._flow.definitions:
                for part, value in self._of(definition).items():
                    key = (id(definition.web), part)
                    joined = value if self._values.get(key, value) == value else KEPT
                    changed |= self._values.get(key) != joined
                    self._values[key] = joined

    def _of(self, definition: Definition) -> dict[Part, Value]:
        if definition.made is not None:
            return dict(self._parts_of(definition.made, definition))
        source = {part: value for (web, part), value in self._values.items() if web == id(definition.source_web)}
        moved = {("at", axis) for axis, by in enumerate(definition.offsets) if moves(definition, by)}
        return {part: KEPT if part in moved else value for part, value in source.items()}


def is_moved(definition: Definition) -> bool:
    """Whether a definition advances by anything."""
    return any(moves(definition, by) for by in definition.offsets)


def moves(definition: Definition, by: cst.BaseExpression) -> bool:
    """Whether an offset of a definition makes it another one than that which it comes from had."""
    return dotted(by) != "None" if definition.placed else literal(by) != 0


def check_blocks(flow: Flow, code: Code, webs: Container[int]) -> None:
    """Raise CannotEdit where block pointers of different blocks meet in one of these webs, by ``id``."""
    for web in flow.webs:
        blocks = {_block(definition, code) for definition in web.definitions}
        if id(web) in webs and len(blocks) > 1:
            raise CannotEdit(f"{web.variable} holds block pointers of different blocks at one use")


def _block(definition: Definition, code: Code) -> tuple[str, ...]:
    made = definition.made or (definition.source_web or definition.web).made
    return tuple(code.code_for(size) for size in made.block)
