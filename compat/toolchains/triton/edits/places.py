"""Where in a source a failure is."""

from __future__ import annotations

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from compat.model import Failure
from compat.toolchains.triton.edits.code import walk


def line_of(failure: Failure) -> int | None:
    """The line that a failure is about."""
    number = (failure.location or "").rpartition(":")[2]
    return int(number) if number.isdigit() else None


def statement_at(module: cst.Module, failure: Failure) -> cst.SimpleStatementLine | None:
    """The statement that a failure is about, where it is one without a body."""
    found = nodes_at(module, failure)
    return next((node for node in found if isinstance(node, cst.SimpleStatementLine)), None)


def nodes_at(module: cst.Module, failure: Failure) -> list[cst.CSTNode]:
    """The statements that the line of a failure is in, outermost first."""
    line = line_of(failure)
    if line is None:
        return []
    places = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    statements = [node for node in walk(module) if isinstance(node, cst.SimpleStatementLine | cst.BaseCompoundStatement)]
    return [node for node in statements if places[node].start.line <= line <= places[node].end.line]
