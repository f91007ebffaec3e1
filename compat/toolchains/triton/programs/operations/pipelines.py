"""Loops that add products of tiles, which releases pipeline.

An iteration loads its tiles as kernels do: at offsets, at gathered rows, through a block pointer
that it advances, or through a descriptor. One product may be an operand of the next, and a tile may
be summed as well. Another loop may be around such loops. It loads the number at which the rows of
the inner loops begin.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from compat.toolchains.triton.programs.dtypes import DTYPES, bounds
from compat.toolchains.triton.programs.operations.control import (
    DEEPEST,
    LOOP,
    envelope,
    propose_loop,
    update,
)
from compat.toolchains.triton.programs.operations.memory import propose_load
from compat.toolchains.triton.programs.operations.operation import require
from compat.toolchains.triton.programs.operations.products import narrow_product
from compat.toolchains.triton.programs.program import BlockValue, Shape

if TYPE_CHECKING:
    from compat.toolchains.triton.programs.draft import Draft

_DTYPES = ("fp16", "fp16", "fp16", "bf16", "fp32", "i8")
_SOURCES = ("offsets", "offsets", "rows", "rows", "gathered", "gathered", "pointer", "descriptor")
_MOST_BYTES = 1 << 14
"""The most bytes of an iteration's tiles, so that four stages fit into the shared memory of most
targets.
"""
_MOST_ELEMENTS = 4096
_TURNS = (1, 1, 2, 3, 4, 6, 8)
_ROWS = 64
"""Rows of the tensor from which rows are gathered."""


@frozen(kw_only=True)
class TurnPlan:
    """The loads and products in each iteration of a loop."""

    dtype: str
    rows: int
    columns: int
    """The sizes of the sum of products."""
    depth: int
    middle: int
    """The columns of the product that is an operand of the next; 0 if there is only one product."""
    source: str
    """How tiles are loaded: one of :data:`_SOURCES`."""
    transposes: bool
    """Whether the right operand of the first product is a transposed tile."""
    sums: bool
    """Whether that tile is summed, too."""
    loads_left: bool
    """Whether each iteration loads the left operand, too."""

    @property
    def step_size(self) -> int:
        """The size of the tiles along the axis on which the loop advances."""
        return self.middle or self.depth

    @property
    def result(self) -> str:
        """The element type of products."""
        return "i32" if self.dtype == "i8" else "fp32"

    @property
    def right(self) -> Shape:
        """The shape of the first right operand."""
        return self.depth, self.middle or self.columns

    @property
    def right_axis(self) -> int:
        """The axis of the first right operand on which the loop advances."""
        return 1 if self.middle else 0


def _plan(draft: Draft) -> TurnPlan:
    random = draft.random
    plan = TurnPlan(
        dtype=random.choice(_DTYPES),
        rows=random.choice((16, 32, 64, 64, 128)),
        columns=random.choice((16, 32, 64, 128)),
        depth=random.choice((16, 32, 64, 128)),
        middle=random.choice((16, 32, 64)) if random.random() < 0.6 else 0,
        source=random.choice(_SOURCES),
        transposes=random.random() < 0.6,
        sums=random.random() < 0.3,
        loads_left=random.random() < 0.5,
    )
    if plan.dtype == "i8":
        plan = evolve(plan, depth=max(plan.depth, 32), middle=0)
    elements = plan.depth * plan.right[1] + plan.middle * plan.columns
    if plan.loads_left:
        elements += plan.rows * plan.depth
    require(elements * DTYPES[plan.dtype].bits // 8 <= _MOST_BYTES, "the tiles are too large")
    sizes = plan.rows * plan.columns, plan.rows * plan.depth, plan.rows * plan.right[1]
    require(max(sizes) <= _MOST_ELEMENTS, "the blocks are too large")
    return plan


def _propose(draft: Draft) -> None:
    """Proposes a loop, or two of which the second continues the first, perhaps in an outer loop."""
    require(draft.depth < DEEPEST, "the statements are nested deeply")
    require(draft.has_arguments, "a function loads nothing")
    plan = _plan(draft)
    carried = [draft.zeros(plan.result, (plan.rows, plan.columns))]
    if plan.sums:
        carried.append(draft.zeros(plan.result, (plan.right[1],)))
    if draft.random.random() < 0.3:
        carried.append(draft.block(("i16", "i32", "i64", "u8")))
    if draft.depth + 1 < DEEPEST and draft.random.random() < 0.45:
        turns = draft.random.randint(2, 5)
        propose_loop(draft, carried, turns, partial(_outer_turn, plan=plan))
    else:
        _loops(draft, carried, plan, None)


def _outer_turn(draft: Draft, carried: list[BlockValue], plan: TurnPlan) -> list[BlockValue]:
    """Add the iteration of an outer loop, which loads the start of the rows of the inner loops."""
    assert draft.turn is not None
    size = int(draft.bounds[draft.turn.name].high) + 1
    tensor = draft.tensor("i32", size, 0, draft.random.choice((3, 15)), 0)
    start = draft.add("lookup", (draft.turn,), ("i32", ()), tensor=tensor)
    return _loops(draft, carried, plan, start)


def _loops(
    draft: Draft, carried: list[BlockValue], plan: TurnPlan, start: BlockValue | None
) -> list[BlockValue]:
    """Add one or two loops, and return the carried values after them."""
    pointers: list[BlockValue] = []
    turns = draft.random.choice(_TURNS)
    goes_on = draft.random.random() < (0.6 if plan.source == "pointer" else 0.2)
    again = draft.random.choice(_TURNS) if goes_on else 0
    tiles = _Tiles(draft, plan, turns + again, start)
    if plan.source == "pointer":
        pointers = tiles.places("block_pointer", "block_ptr")
    elif plan.source == "descriptor":
        tiles.descriptors = tiles.places("descriptor", "descriptor")
    for number in filter(None, (turns, again)):
        turn = partial(_turn, tiles=tiles, count=len(carried))
        tiles.step = plan.step_size if draft.random.random() < 0.7 else 1
        results = propose_loop(
            draft, [*carried, *pointers], number, turn, tiles.step, name="pipeline"
        )
        carried, pointers = results[: len(carried)], results[len(carried) :]
    return carried


class _Tiles:
    """The tiles of the iterations of one loop or of two."""

    def __init__(self, draft: Draft, plan: TurnPlan, turns: int, start: BlockValue | None) -> None:
        self.draft, self.plan, self.turns, self.start = draft, plan, turns, start
        self.descriptors: list[BlockValue] = []
        self.step = 1
        """The step of the loop's index."""
        self.left = None if plan.loads_left else draft.small(plan.dtype, (plan.rows, plan.depth))
        self.matrices = [self._matrix(shape, axis) for shape, axis in self.walks()]

    def walks(self) -> list[tuple[Shape, int]]:
        """Return the shapes of an iteration's tiles in memory, each with the axis of the loop."""
        plan, axis = self.plan, self.plan.right_axis
        shape = plan.right[::-1] if plan.transposes else plan.right
        walks = [(shape, 1 - axis if plan.transposes else axis)]
        if plan.middle:
            walks.append(((plan.middle, plan.columns), 0))
        return walks

    def _matrix(self, shape: Shape, axis: int) -> dict[str, Any]:
        """Return the settings of a matrix for pointers or descriptors; empty for other sources."""
        draft, plan = self.draft, self.plan
        if plan.source not in ("pointer", "descriptor"):
            return {}
        sizes = list(shape)
        sizes[axis] = max(16, shape[axis] * self.turns - draft.random.choice((0, 0, 16)))
        require(sizes[0] * sizes[1] <= 1 << 15, "the matrix is too large")
        tensor = draft.tensor(plan.dtype, sizes[0] * sizes[1], -3, 3, 0)
        return {
            "tensor": tensor,
            "rows": sizes[0],
            "columns": sizes[1],
            "strides": (sizes[1], 1),
            "order": (1, 0),
            "offsets": (0, 0),
            "block_shape": shape,
            "axis": axis,
        }

    def places(self, operation: str, dtype: str) -> list[BlockValue]:
        """Add a block pointer or a descriptor for each tile."""
        return [
            self.draft.add(operation, (), (dtype, ()), **settings) for settings in self.matrices
        ]

    def load(self, draft: Draft, number: int, pointers: list[BlockValue]) -> BlockValue:
        """Add the load of a tile in an iteration."""
        plan, (shape, axis) = self.plan, self.walks()[number]
        settings, kind = self.matrices[number], (plan.dtype, shape)
        assert draft.turn is not None
        if plan.source == "pointer":
            size = settings["rows" if axis == 0 else "columns"]
            is_inside = size >= shape[axis] * self.turns and draft.random.random() < 0.5
            checked = () if is_inside else (0, 1)
            element_bounds = [bounds(-3, 3)]
            operands = [pointers[number]]
            return draft.add(
                "load_pointed", operands, kind, known=element_bounds, checked=checked, **settings
            )
        if plan.source == "descriptor":
            operands = [self.descriptors[number], draft.turn]
            factor = shape[axis] // self.step
            return draft.add("load_described", operands, kind, factor=factor, **settings)
        if plan.source in ("rows", "gathered"):
            return self._rows(draft, shape, axis)
        step = draft.random.choice((0, 0, -1)) if plan.dtype != "i8" else 0
        return propose_load(draft, plan.dtype, shape, -3, step, follows=True)

    def _rows(self, draft: Draft, shape: Shape, axis: int) -> BlockValue:
        """Add the load of the rows of a matrix whose numbers are computed or loaded."""
        assert draft.turn is not None
        count, width = shape[axis], shape[1 - axis]
        first = draft.turn
        if self.start is not None:
            first = draft.add("add", (first, self.start), ("i32", ()))
        line = ("i32", (count,))
        along = draft.add("arange", (), line, start=0, end=count)
        begin = draft.add("splat", (first,), line, shape=(count,))
        positions = rows = draft.add("add", (begin, along), line)
        last = int(draft.bounds[positions.name].high)
        if self.plan.source == "gathered":
            tensor = draft.tensor("i32", last + 1, 0, _ROWS - 1, 0)
            rows = draft.add("lookup", (positions,), line, tensor=tensor)
            last = _ROWS - 1
        limit = None
        if draft.random.random() < 0.7:
            most = int(draft.bounds[positions.name].high) + 1
            limit = draft.scalar(draft.random.randint(max(1, most - count), most))
        tensor = draft.tensor(self.plan.dtype, (last + 1) * width, -3, 3, 0)
        return draft.add(
            "load_rows",
            (rows, positions),
            (self.plan.dtype, shape),
            tensor=tensor,
            stride=width,
            axis=axis,
            limit=limit,
        )


def _turn(draft: Draft, carried: list[BlockValue], tiles: _Tiles, count: int) -> list[BlockValue]:
    """Add the statements of an iteration, and return the values for the next one."""
    plan, pointers = tiles.plan, carried[count:]
    left = tiles.left or propose_load(draft, plan.dtype, (plan.rows, plan.depth), -3, 0)
    loaded = tiles.load(draft, 0, pointers)
    right = loaded
    if plan.transposes:
        right = draft.add("transpose", (loaded,), (plan.dtype, plan.right))
    total, *others = carried[:count]
    if plan.middle:
        left = narrow_product(draft, _multiply(draft, left, right), plan.dtype)
        right = tiles.load(draft, 1, pointers)
    ends = [_add_product(draft, total, left, right)]
    if plan.sums:
        ends.append(_add_sum(draft, others.pop(0), loaded, 1 if plan.transposes else 0))
    if others:
        draft.fill(1, without=("pipelines", "loops", "branches", "helpers", "atomics"))
    ends += [update(draft, draft.bounds[value.name], value, 1) for value in others]
    for pointer, (shape, axis) in zip(pointers, tiles.walks(), strict=False):
        by = tuple(shape[axis] if dimension == axis else 0 for dimension in range(2))
        ends.append(draft.add("advance", (pointer,), ("block_ptr", ()), by=by))
    return ends


def _multiply(draft: Draft, left: BlockValue, right: BlockValue) -> BlockValue:
    result = "i32" if left.dtype == "i8" else "fp32"
    precision = draft.random.choice(("tf32", "ieee")) if left.dtype == "fp32" else None
    kind = result, (left.shape[0], right.shape[1])
    return draft.add("dot", (left, right), kind, precision=precision)


def _add_product(
    draft: Draft, total: BlockValue, left: BlockValue, right: BlockValue
) -> BlockValue:
    """Add a product to the carried sum, as one statement or as two."""
    total_bounds = [envelope(total.dtype)]
    # Triton 3.5 to 3.7 reject integer sums here. The operation `dot` shows this often enough.
    if left.dtype != "i8" and draft.random.random() < 0.5:
        precision = "ieee" if left.dtype == "fp32" else None
        operands = (left, right, total)
        return draft.add("dot", operands, total.kind, known=total_bounds, precision=precision)
    product = _multiply(draft, left, right)
    return draft.add("add", (total, product), total.kind, known=total_bounds)


def _add_sum(draft: Draft, total: BlockValue, tile: BlockValue, axis: int) -> BlockValue:
    """Add the sum of a tile along an axis to a carried block."""
    if tile.dtype != total.dtype:
        tile = draft.add("cast", (tile,), (total.dtype, tile.shape))
    summed = draft.add("sum", (tile,), total.kind, axis=axis)
    return draft.add("add", (total, summed), total.kind, known=[envelope(total.dtype)])


OPERATIONS = (evolve(LOOP, name="pipeline", family="pipelines", propose=_propose, weight=14),)
"""The operations of this module."""
