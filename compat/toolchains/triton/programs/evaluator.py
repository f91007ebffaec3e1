"""The numbers that a program computes, by NumPy: the reference of every launch.

Integers have their own type and wrap around. Floats are in float64, in which every value of a
program is exact. The evaluator raises :class:`InexactError` if a value is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from compat.toolchains.triton.programs.dtypes import DTYPES, Array, numpy_dtype
from compat.toolchains.triton.programs.operations import OPERATIONS
from compat.toolchains.triton.programs.program import (
    BlockProgram,
    BlockStatement,
    InputTensor,
    NestedBody,
)


class InexactError(RuntimeError):
    """A program breaks a promise of the generator.

    A number is not exact, an index is outside of its tensor, or a result has a wrong type or shape.
    """


def elements_of(tensor: InputTensor) -> Array:
    """The elements of an input.

    The formula is that of :mod:`compat.toolchains.triton.programs.problem`, which PyTorch computes.
    """
    index = np.arange(tensor.size, dtype=np.int64)
    mixed = (index * 1103515245 + tensor.seed * 12345 + 67890) % 2147483648
    mixed = (mixed * 1103515245 + 12345) % 2147483648
    numbers = tensor.low + (mixed >> 16) % (tensor.high - tensor.low + 1)
    if DTYPES[tensor.dtype].is_float:
        return numbers * 2.0**tensor.step
    return numbers.astype(numpy_dtype(tensor.dtype))


class Machine:
    """The memory of a launch, and the program that runs."""

    tensors: dict[str, Array]
    outputs: dict[str, Array]
    program: int
    """The number of the program in the grid."""

    def __init__(self, program: BlockProgram) -> None:
        self.scalars: Mapping[str, int] = program.scalars
        self.tensors = {tensor.name: elements_of(tensor) for tensor in program.inputs}
        self.outputs = {
            output.name: np.zeros(output.size, numpy_dtype(output.dtype))
            for output in program.outputs
        }
        self.program = 0
        self._values: dict[str, Array] = {}

    def number(self, name: int | str) -> int:
        """Return the value of a run-time argument, or a number unchanged."""
        return name if isinstance(name, int) else self.scalars[name]

    def check_places(self, index: Array, size: int) -> None:
        """Raise InexactError if an index is outside of a tensor."""
        if index.size and not (index.min() >= 0 and index.max() < size):
            raise InexactError("an index is outside of its tensor")

    def run(self, body: NestedBody, arguments: Sequence[Array]) -> list[Array]:
        """The results of a body for values of its parameters."""
        for parameter, value in zip(body.parameters, arguments, strict=True):
            self._values[parameter.name] = value
        for statement in body.statements:
            self._apply(statement)
        return [self._values[value.name] for value in body.results]

    def _apply(self, statement: BlockStatement) -> None:
        operands = [self._values[operand.name] for operand in statement.operands]
        results = OPERATIONS[statement.operation].compute(statement, operands, self)
        for result, value in zip(statement.results, results, strict=True):
            array = np.asarray(value)
            if array.shape != result.shape or array.dtype != numpy_dtype(result.dtype):
                raise InexactError(
                    f"{statement.operation} computed {array.dtype}{array.shape} for {result}"
                )
            check_exact(result.dtype, array)
            self._values[result.name] = array


def check_exact(dtype: str, array: Array) -> None:
    """Raise InexactError unless a type holds all numbers of an array."""
    kind = DTYPES[dtype]
    if not kind.is_float or not array.size:
        return
    mantissa, _ = np.frexp(array)
    scaled = np.ldexp(mantissa, kind.precision)
    unit = np.ldexp(array, -kind.smallest) if kind.smallest > -1000 else array
    is_exact = (
        np.all(scaled == np.rint(scaled))
        and np.all(np.abs(array) <= float(kind.largest))
        and (kind.smallest <= -1000 or np.all(unit == np.rint(unit)))
    )
    if not is_exact:
        raise InexactError(f"a number is not exact in {dtype}")


def evaluate(program: BlockProgram) -> dict[str, Array]:
    """Return output → its elements after a launch, with one program run after the other.

    Raises InexactError.
    """
    machine = Machine(program)
    body = NestedBody((), program.statements, ())
    with np.errstate(over="ignore"):
        for machine.program in range(program.grid):
            machine.run(body, [])
    for output in program.outputs:
        check_exact(output.dtype, machine.outputs[output.name])
    return machine.outputs
