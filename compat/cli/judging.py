"""The judge that the command line names, with the means to ask a program."""

from __future__ import annotations

from compat.engine import program
from compat.model import Result
from compat.report.document import cell_document, dump
from compat.search.judge import Judge, parse_judge


def read_judge(text: str) -> Judge:
    """The judge of that text. Raises SelectionError for one that there is not."""
    return parse_judge(text, _ask)


def _ask(command: str, result: Result) -> int:
    """What a program says of a result: it reads the cell as ``matrix.json`` has it, and finds its way by variables."""
    spec = result.cell.spec
    variables = {
        "COMPAT_CELL": result.cell.id,
        "COMPAT_SOURCE": spec.source,
        "COMPAT_FUNCTION": spec.function,
        "COMPAT_PYTHON": result.built.python or "",
        "COMPAT_TRITON": result.built.triton or "",
    }
    return program.ask(command, dump(cell_document(result)), variables)
