"""A program as the text of a kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from compat.toolchains.triton.programs.operations import OPERATIONS
from compat.toolchains.triton.programs.operations.operation import expression
from compat.toolchains.triton.programs.operations.reducing import COMBINED
from compat.toolchains.triton.programs.program import (
    RESPELLED,
    BlockProgram,
    BlockStatement,
    NestedBody,
)

KERNEL = "kernel"
"""The name of the kernel."""
_COMMUTATIVE = re.compile(r"^\{0\}( [+*&|^] )\{1\}$|^(tl\.(?:max|min)imum\()\{0\}(, )\{1\}")
_RECURRENCE = """@triton.jit
def combine_recurrence(a, b, c, d):
    return a * c, c * b + d
"""


class Printer:
    """Writes statements, and the helper functions that they call."""

    def __init__(self, *, respelled: bool = False) -> None:
        self.respelled = respelled
        self.helpers: list[str] = []
        self._lines: list[str] = []
        self._depth = 1

    def line(self, text: str) -> None:
        """Add a line at the current depth."""
        self._lines.append("    " * self._depth + text)

    @contextmanager
    def indented(self) -> Iterator[None]:
        """Add lines one level deeper."""
        self._depth += 1
        yield
        self._depth -= 1

    def assign(self, statement: BlockStatement, text: str) -> None:
        """Add the assignment of an expression to the results of a statement."""
        self.line(f"{', '.join(result.name for result in statement.results)} = {text}")

    def statements(self, statements: Sequence[BlockStatement]) -> None:
        """Add the lines of statements."""
        for statement in statements:
            operation = OPERATIONS[statement.operation]
            if operation.write is not None:
                operation.write(statement, self)
            else:
                text = _swap_operands(operation.text) if self.respelled else operation.text
                self.assign(statement, expression(statement, text))

    def helper(self, body: NestedBody) -> str:
        """Write a body as a function of its own, and return its name."""
        before, depth = self._lines, self._depth
        self._lines, self._depth = [], 1
        self.statements(body.statements)
        self.line(f"return {', '.join(value.name for value in body.results)}")
        lines = self._lines
        self._lines, self._depth = before, depth
        name = f"helper{len(self.helpers)}"
        parameters = ", ".join(parameter.name for parameter in body.parameters)
        self.helpers.append("\n".join(["@triton.jit", f"def {name}({parameters}):", *lines, ""]))
        return name

    def text(self) -> str:
        """All lines."""
        return "\n".join(self._lines)


def kernel_source(program: BlockProgram) -> str:
    """The module of a program's kernel."""
    printer = Printer(respelled=program.form == RESPELLED)
    printer.statements(program.statements)
    used = {
        str(statement.settings["function"])
        for statement in program.all_statements
        if "function" in statement.settings
    }
    functions = [
        f"@triton.jit\ndef {name}(a, b):\n    return {COMBINED[name][0]}\n" for name in sorted(used)
    ]
    if "recurrence" in program.operations:
        functions.append(_RECURRENCE)
    parameters = ", ".join(argument_names(program))
    kernel = f"@triton.jit\ndef {KERNEL}({parameters}):\n{printer.text()}\n"
    parts = ["import triton\nimport triton.language as tl\n", *functions, *printer.helpers, kernel]
    return "\n\n".join(parts)


def _swap_operands(text: str) -> str:
    """Return an expression with its operands swapped, if the operation is commutative."""
    return _COMMUTATIVE.sub(r"\2{1}\1\3{0}", text)


def argument_names(program: BlockProgram) -> list[str]:
    """Return the names of the run-time arguments, in order."""
    return [
        *(tensor.name for tensor in program.inputs),
        *(output.name for output in program.outputs),
        *program.scalars,
    ]
