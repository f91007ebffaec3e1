"""The check that a program is defined, with bounds of every value derived anew from its statements.

The generator assumes bounds for the values that a loop carries. The analysis assumes nothing: it
derives every iteration of every loop. So it finds errors of the generator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import Factory, define

from compat.toolchains.triton.programs.dtypes import DTYPES, Bounds, bounds, holds
from compat.toolchains.triton.programs.operations import OPERATIONS
from compat.toolchains.triton.programs.operations.operation import UndefinedError
from compat.toolchains.triton.programs.program import (
    BlockProgram,
    BlockStatement,
    InputTensor,
    NestedBody,
    Output,
)


@define
class Analysis:
    """The bounds of the values of one program."""

    tensors: Mapping[str, InputTensor]
    outputs: Mapping[str, Output]
    scalars: Mapping[str, int]
    grid: int
    known: dict[str, Bounds] = Factory(dict)

    def number(self, name: int | str) -> int:
        """Return the value of a run-time argument, or a number unchanged."""
        return name if isinstance(name, int) else self.scalars[name]

    def run(self, body: NestedBody, arguments: Sequence[Bounds]) -> list[Bounds]:
        """The bounds of the results of a body, from those of its parameters."""
        for parameter, value in zip(body.parameters, arguments, strict=True):
            self.known[parameter.name] = value
        self.statements(body.statements)
        return [self.known[value.name] for value in body.results]

    def statements(self, statements: Sequence[BlockStatement]) -> None:
        """Derive the bounds of the results of statements. Raises UndefinedError."""
        for statement in statements:
            self.known |= {
                result.name: value
                for result, value in zip(statement.results, self.derive(statement), strict=True)
            }

    def derive(self, statement: BlockStatement) -> Sequence[Bounds]:
        """The bounds of the results of a statement. Raises UndefinedError."""
        operands = [self.known[operand.name] for operand in statement.operands]
        derived = OPERATIONS[statement.operation].derive(statement, operands, self)
        for result, value in zip(statement.results, derived, strict=True):
            if not holds(result.dtype, value):
                raise UndefinedError(f"{statement.operation} may not be exact in {result.dtype}")
        return derived


def check_program(program: BlockProgram) -> dict[str, Bounds]:
    """The bounds of every value of a program. Raises UndefinedError if it is not defined."""
    analysis = Analysis(
        {tensor.name: tensor for tensor in program.inputs},
        {output.name: output for output in program.outputs},
        program.scalars,
        program.grid,
    )
    for tensor in program.inputs:
        unit = bounds(tensor.low, tensor.high)
        if not DTYPES[tensor.dtype].is_float and not holds(tensor.dtype, unit):
            raise UndefinedError(f"{tensor.name} has numbers that {tensor.dtype} does not hold")
    for name in program.hinted:
        if name in program.scalars and program.scalars[name] % 16:
            raise UndefinedError(f"{name} is not a multiple of 16")
    analysis.statements(program.statements)
    return analysis.known
