"""The record of an operation: its text, the results that it computes, and when it is defined.

A record is complete: a new operation needs no code elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from attrs import frozen

from compat.toolchains.triton.programs.dtypes import DTYPES, Array, Bounds
from compat.toolchains.triton.programs.program import BlockStatement

if TYPE_CHECKING:
    from compat.toolchains.triton.programs.analysis import Analysis
    from compat.toolchains.triton.programs.draft import Draft
    from compat.toolchains.triton.programs.evaluator import Machine
    from compat.toolchains.triton.programs.source import Printer


class UndefinedError(Exception):
    """An operation would be undefined, or not exact, for some values of its operands."""


def never_proposed(_draft: Draft) -> None:
    """Proposes nothing, because only other operations and the end of a program add the operation.

    Raises UndefinedError.
    """
    raise UndefinedError("only other operations add it")


Derive = Callable[[BlockStatement, Sequence[Bounds], "Analysis"], Sequence[Bounds]]
Compute = Callable[[BlockStatement, Sequence[Array], "Machine"], Sequence[Array]]


@frozen(kw_only=True)
class Operation:
    """An operation of the grammar."""

    name: str
    family: str
    """The name for ``--only``."""
    derive: Derive
    """Bounds of the operands → bounds of the results. Raises UndefinedError."""
    compute: Compute
    """The operands of one program → the results. Floats are in float64."""
    propose: Callable[[Draft], object] = never_proposed
    """Adds the operation to a draft, with operands for it. Raises UndefinedError if none fit."""
    text: str = ""
    """The expression, with ``{0}`` for the first operand, and settings by name."""
    write: Callable[[BlockStatement, Printer], None] | None = None
    """Writes the lines of an operation that is not one expression."""
    since: str = "3.0"
    """The first release that has it."""
    until: str | None = None
    """The first release without it."""
    weight: int = 4
    """How often it is chosen, relative to others."""


def expression(statement: BlockStatement, text: str) -> str:
    """The text of an operation that is one expression."""
    names = [operand.name for operand in statement.operands]
    result = DTYPES[statement.results[0].dtype].language
    return text.format(*names, result=f"tl.{result}", **statement.settings)


def require(condition: bool, reason: str) -> None:
    """Raise UndefinedError unless a condition holds."""
    if not condition:
        raise UndefinedError(reason)
