"""Block programs as data: typed values, statements, inputs and outputs.

A program is in single-assignment form: each statement applies one operation of
:mod:`.operations` and defines new values. Statements of loops, branches and helpers
contain a :class:`NestedBody`. A program contains every fact that a run needs, including the sizes
and the content of its tensors. So equal programs compute equal numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import field, frozen

from compat.toolchains.programs import OWN

Shape = tuple[int, ...]
"""The sizes of a block's axes. A scalar has none."""
RESPELLED = "respelled"
"""The form that writes the same statements differently."""


@frozen
class BlockValue:
    """A value of a program: a block, or a scalar."""

    name: str
    dtype: str
    """A key of :data:`compat.toolchains.triton.programs.dtypes.DTYPES`."""
    shape: Shape = ()

    @property
    def elements(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def kind(self) -> tuple[str, Shape]:
        """Its element type and its shape."""
        return self.dtype, self.shape


@frozen
class NestedBody:
    """Statements with a scope of their own."""

    parameters: tuple[BlockValue, ...]
    """The values that are defined from outside: a loop's index, and its carried values."""
    statements: tuple[BlockStatement, ...]
    results: tuple[BlockValue, ...]
    """The values that leave the scope."""


@frozen
class BlockStatement:
    """One operation applied to values."""

    operation: str
    """A key of :data:`compat.toolchains.triton.programs.operations.OPERATIONS`."""
    operands: tuple[BlockValue, ...] = ()
    results: tuple[BlockValue, ...] = ()
    settings: Mapping[str, Any] = field(factory=dict, hash=False)
    """The parameters that are not values, such as an axis."""
    bodies: tuple[NestedBody, ...] = ()


@frozen
class InputTensor:
    """An argument in memory. Its elements are small numbers, which follow from ``seed``."""

    name: str
    dtype: str
    size: int
    """Elements."""
    low: int
    high: int
    """The smallest and the largest element, in units of ``2 ** step``."""
    step: int = 0
    seed: int = 0


@frozen
class Output:
    """A tensor that the program writes. It contains zeros before the launch."""

    name: str
    dtype: str
    size: int
    """Elements."""


@frozen
class BlockProgram:
    """A kernel with its arguments and its grid."""

    seed: int
    statements: tuple[BlockStatement, ...]
    inputs: tuple[InputTensor, ...]
    outputs: tuple[Output, ...]
    scalars: Mapping[str, int] = field(hash=False)
    """Run-time arguments of type ``i32``, with their values."""
    grid: int
    """Programs of the launch, along the first axis."""
    options: Mapping[str, int] = field(hash=False)
    """Compile options."""
    hinted: tuple[str, ...] = ()
    """The run-time arguments with the hint that they are multiples of 16."""
    form: str = OWN
    """The name of the form: that of the seed, or another one (:func:`.generator.forms_of`)."""

    @property
    def sizes(self) -> dict[str, int]:
        """Tensor → its number of elements."""
        return {tensor.name: tensor.size for tensor in self.inputs} | {
            output.name: output.size for output in self.outputs
        }

    @property
    def all_statements(self) -> tuple[BlockStatement, ...]:
        """The statements, with those inside of others, in the order of the text."""
        return tuple(walk(self.statements))

    @property
    def statements_count(self) -> int:
        """The number of statements."""
        return len(self.all_statements)

    @property
    def operations(self) -> frozenset[str]:
        """The names of the operations that the program applies."""
        return frozenset(statement.operation for statement in self.all_statements)


def walk(statements: tuple[BlockStatement, ...]) -> Iterator[BlockStatement]:
    """Statements, with those inside of others, in the order of the text."""
    for statement in statements:
        yield statement
        for body in statement.bodies:
            yield from walk(body.statements)
