"""A program under construction: its statements so far, and operands for the next ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from random import Random
from typing import Any

from compat.toolchains.triton.programs.analysis import Analysis
from compat.toolchains.triton.programs.dtypes import DTYPES, INTEGERS, Bounds
from compat.toolchains.triton.programs.operations import OPERATIONS
from compat.toolchains.triton.programs.operations.memory import propose_load
from compat.toolchains.triton.programs.operations.operation import (
    UndefinedError,
    never_proposed,
    require,
)
from compat.toolchains.triton.programs.program import (
    BlockStatement,
    BlockValue,
    InputTensor,
    NestedBody,
    Output,
    Shape,
    walk,
)

Kind = tuple[str, Shape]
"""An element type and a shape."""
_SHAPES: tuple[Shape, ...] = (
    *((1 << power,) for power in range(3, 11)),
    *((1 << rows, 1 << columns) for rows in range(2, 7) for columns in range(2, 7)),
    *((2, 4, 8), (4, 8, 16), (8, 2, 32), (2, 16, 2)),
)
_TRIES = 12
"""The number of proposals that may fail before a draft skips a statement."""


class Draft:
    """The statements of a program under construction, with their scope."""

    def __init__(self, random: Random, families: Collection[str], grid: int) -> None:
        self.random, self.grid = random, grid
        self.operations = [
            operation
            for operation in OPERATIONS.values()
            if operation.family in families and operation.propose is not never_proposed
        ]
        self.tensors: dict[str, InputTensor] = {}
        self.outputs: dict[str, Output] = {}
        self.scalars: dict[str, int] = {}
        self.analysis = Analysis(self.tensors, self.outputs, self.scalars, grid)
        self._statements: list[BlockStatement] = []
        self._visible: list[BlockValue] = []
        self.depth = 0
        self.turn: BlockValue | None = None
        """The index of the innermost loop."""
        self.has_arguments = True
        """Whether the scope sees the kernel's arguments."""
        self._names = 0

    # --- state ------------------------------------------------------------------------------------

    @property
    def bounds(self) -> dict[str, Bounds]:
        """Value → its known bounds."""
        return self.analysis.known

    @property
    def latest(self) -> BlockValue:
        """The value that was defined last."""
        return self._visible[-1]

    @property
    def is_outermost(self) -> bool:
        """Whether the current scope is in no loop, branch or helper."""
        return self.depth == 0

    @property
    def turns(self) -> Fraction:
        """The largest index of the innermost loop."""
        return self.bounds[self.turn.name].high if self.turn is not None else Fraction(0)

    @property
    def used_families(self) -> set[str]:
        """The families of the operations so far."""
        statements = walk(tuple(self._statements))
        return {OPERATIONS[statement.operation].family for statement in statements}

    def statements(self) -> tuple[BlockStatement, ...]:
        """The statements of the innermost scope."""
        return tuple(self._statements)

    def values_where(self, condition: Callable[[BlockValue], bool]) -> list[BlockValue]:
        """The visible values that fulfil a condition."""
        return [value for value in self._visible if condition(value)]

    def latest_blocks(self) -> tuple[BlockValue, ...]:
        """Return the last two blocks that the innermost scope defined, without truth values."""
        defined = [
            result
            for statement in self._statements
            for result in statement.results
            if result.shape and result.dtype != "i1"
        ]
        return tuple(defined[-2:])

    # --- additions --------------------------------------------------------------------------------

    def new(self, dtype: str, shape: Shape) -> BlockValue:
        """Return a value with a new name."""
        self._names += 1
        return BlockValue(f"v{self._names}", dtype, shape)

    def define(
        self,
        operation: str,
        operands: Sequence[BlockValue],
        *kinds: Kind,
        bodies: tuple[NestedBody, ...] = (),
        known: Sequence[Bounds] | None = None,
        **settings: Any,
    ) -> list[BlockValue]:
        """Add a statement, whose results have these types and shapes, and return the results.

        ``known`` replaces the bounds that would be derived. Raises UndefinedError if the statement
        is not defined for all values that its operands may have.
        """
        results = tuple(self.new(*kind) for kind in kinds)
        statement = BlockStatement(operation, tuple(operands), results, settings, bodies)
        derived = self.analysis.derive(statement) if known is None else known
        self.bounds.update(
            {result.name: value for result, value in zip(results, derived, strict=True)}
        )
        self._statements.append(statement)
        self._visible += results
        return list(results)

    def add(
        self, operation: str, operands: Sequence[BlockValue], kind: Kind, **settings: Any
    ) -> BlockValue:
        """Add a statement with one result, as :meth:`define` does, and return the result."""
        (value,) = self.define(operation, operands, kind, **settings)
        return value

    def fill(self, count: int, without: Collection[str] = ()) -> None:
        """Add about this many statements, with the operands that they need.

        Operations of the families ``without`` are left out.
        """
        operations = [operation for operation in self.operations if operation.family not in without]
        weights = [operation.weight for operation in operations]
        for _ in range(count):
            for _ in range(_TRIES):
                if self.attempt(self.random.choices(operations, weights)[0].propose):
                    break

    def attempt(self, propose: Callable[[Draft], object]) -> bool:
        """Make a proposal, and return whether it is defined. If not, restore the draft."""
        state = list(self._statements), list(self._visible)
        tables: tuple[dict[str, Any], ...] = self.tensors, self.outputs, self.scalars
        before = [dict(table) for table in tables]
        try:
            propose(self)
        except UndefinedError:
            self._statements, self._visible = state
            for table, entries in zip(tables, before, strict=True):
                table.clear()
                table.update(entries)
            return False
        return True

    # --- scopes -----------------------------------------------------------------------------------

    @contextmanager
    def inner_scope(
        self, *parameters: tuple[BlockValue, Bounds], turn: BlockValue | None = None
    ) -> Iterator[Draft]:
        """Open a scope inside of this one, which sees all of its values."""
        with self._scope(list(self._visible), parameters, turn or self.turn):
            yield self

    @contextmanager
    def function_scope(self, *parameters: tuple[BlockValue, Bounds]) -> Iterator[Draft]:
        """Open the scope of a function, which sees its parameters only."""
        before, self.has_arguments = self.has_arguments, False
        try:
            with self._scope([], parameters, None):
                yield self
        finally:
            self.has_arguments = before

    @contextmanager
    def _scope(
        self,
        visible: list[BlockValue],
        parameters: Sequence[tuple[BlockValue, Bounds]],
        turn: BlockValue | None,
    ) -> Iterator[None]:
        before = self._statements, self._visible, self.turn, self.depth
        self._statements, self._visible = [], visible + [value for value, _ in parameters]
        self.turn, self.depth = turn, self.depth + 1
        self.bounds.update({value.name: value_bounds for value, value_bounds in parameters})
        try:
            yield
        finally:
            self._statements, self._visible, self.turn, self.depth = before

    # --- operands ---------------------------------------------------------------------------------

    def shape(self) -> Shape:
        """Choose a shape, mostly that of a visible block."""
        there = [value.shape for value in self._visible if value.shape]
        if there and self.random.random() < 0.7:
            return self.random.choice(there)
        return self.random.choice(_SHAPES)

    def block(
        self, dtypes: Sequence[str], shape: Shape | None = None, besides: BlockValue | None = None
    ) -> BlockValue:
        """Choose a visible block, or add one, of one of these types and of a shape, if it is given.

        The result is never ``besides``.
        """
        fitting = self.values_where(
            lambda value: (
                bool(value.shape)
                and value.dtype in dtypes
                and shape in (None, value.shape)
                and value != besides
            )
        )
        if fitting and self.random.random() < 0.85:
            # Late values come from more operations.
            return fitting[-1 - int(len(fitting) * self.random.random() ** 2)]
        near = self.values_where(
            lambda value: bool(value.shape) and shape in (None, value.shape) and value != besides
        )
        if near and self.random.random() < 0.5:
            value, dtype = self.random.choice(near), self.random.choice(list(dtypes))
            if self.attempt(lambda draft: draft.define("cast", (value,), (dtype, value.shape))):
                return self.latest
        available = [name for name in dtypes if DTYPES[name].in_memory]
        require(bool(available), f"there is no block of {'/'.join(dtypes)}")
        return self.small(self.random.choice(available), shape or self.shape())

    def small(self, dtype: str, shape: Shape) -> BlockValue:
        """A new block of small numbers."""
        if self.has_arguments:
            low = 0 if not DTYPES[dtype].signed else -3
            step = self.random.choice((0, 0, -1)) if DTYPES[dtype].is_float else 0
            return propose_load(self, dtype, shape, low, step)
        return self.add("full", (), (dtype, shape), shape=shape, number=self.random.randint(1, 3))

    def zeros(self, dtype: str, shape: Shape) -> BlockValue:
        """A new block of zeros."""
        return self.add("full", (), (dtype, shape), shape=shape, number=0)

    def flat(self, dtypes: Sequence[str]) -> BlockValue:
        """A block with one axis."""
        value = self.block(dtypes)
        if len(value.shape) > 1:
            shape = (value.elements,)
            return self.add("reshape", (value,), (value.dtype, shape), shape=shape)
        return value

    def mask_block(self, value: BlockValue, mask: int) -> BlockValue:
        """Return an integer block of numbers in 0 … mask; mostly ``value`` itself if that fits."""
        value_bounds = self.bounds[value.name]
        if value_bounds.low >= 0 and value_bounds.high <= mask and self.random.random() < 0.8:
            return value
        return self.add("mask", (value,), value.kind, mask=mask)

    def limit_block(self, value: BlockValue, limit: int) -> BlockValue:
        """Return a block, limited to -limit … limit."""
        return self.add("limit", (value,), value.kind, limit=limit)

    def natural(self, value: BlockValue) -> BlockValue:
        """An integer block without negative numbers."""
        return value if self.bounds[value.name].low >= 0 else self.mask_block(value, 0x7FFF)

    def above_zero(self, value: BlockValue) -> BlockValue:
        """An integer block of positive numbers."""
        if self.bounds[value.name].low > 0:
            return value
        small = self.mask_block(value, 15)
        return self.add("add_literal", (small,), small.kind, number=1)

    def condition(self) -> BlockValue:
        """A block of truth values."""
        there = self.values_where(lambda value: bool(value.shape) and value.dtype == "i1")
        if there and self.random.random() < 0.6:
            return self.random.choice(there)
        OPERATIONS[self.random.choice(("less", "equal", "greater", "unequal"))].propose(self)
        return self.latest

    def scalar_condition(self) -> BlockValue:
        """Return a truth value that depends on the number of the program or on another scalar."""
        scalars = self.values_where(lambda value: not value.shape and value.dtype in INTEGERS)
        if not scalars or self.random.random() < 0.3:
            scalars = [self.add("program", (), ("i32", ()))]
        value = self.random.choice(scalars)
        return self.add("is_odd", (value,), ("i1", ()))

    # --- arguments --------------------------------------------------------------------------------

    def scalar(self, number: int) -> str:
        """A run-time argument with this value."""
        require(self.has_arguments, "a function has no arguments of the kernel")
        for name, value in self.scalars.items():
            if value == number:
                return name
        name = f"n{len(self.scalars)}"
        self.scalars[name] = number
        return name

    def tensor(self, dtype: str, size: int, low: int, high: int, step: int) -> str:
        """An input of at least this size."""
        require(self.has_arguments, "a function has no arguments of the kernel")
        for tensor in self.tensors.values():
            same = tensor.dtype, tensor.low, tensor.high, tensor.step
            if same == (dtype, low, high, step) and tensor.size >= size:
                return tensor.name
        name = f"x{len(self.tensors)}"
        self.tensors[name] = InputTensor(
            name, dtype, size, low, high, step, self.random.randrange(1000)
        )
        return name

    def output(self, dtype: str, size: int) -> str:
        """A new output of this size."""
        name = f"y{len(self.outputs)}"
        self.outputs[name] = Output(name, dtype, size)
        return name
