"""``compat explain`` shows one cell."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from shutil import get_terminal_size
from typing import Unpack

import click

from compat.cli.answer import Answer, answer_options
from compat.cli.help import Command
from compat.cli.resources import open_project_store
from compat.cli.selecting import (
    CELL,
    SelectionOptions,
    kernel_arguments,
    select_cells,
    selection_options,
)
from compat.explain import CellOverview, Explanation
from compat.explain import explain as explanation_of
from compat.report.views.explanation import explanation_document, explanation_lines, wrap_lines


@click.command(cls=Command)
@click.argument("cell", type=CELL, metavar="CELL|KERNEL")
@kernel_arguments
@selection_options
@answer_options(
    json_help="Print the evidence and the outcome as JSON; for several cells, their outcomes."
)
def explain(*, answer: Answer, cell: str, **values: Unpack[SelectionOptions]) -> None:
    """Show everything that the last run found about CELL.

    $ compat explain sel_dense/block_ptr/d64/h100/3.9

    CELL is an id as `compat list cells` prints it, or a glob. The env in an id may be a release,
    and the target may be a GPU. If a glob matches several cells, the command lists those that were
    run, the newest release first. A kernel file or a Python source means all of its cells. The
    command compiles nothing.
    """
    cell, selection = select_cells(cell, **values)
    with open_project_store(selection, only_read=True) as store:
        explanation = explanation_of(selection, cell, store)
    answer.give(lambda: _bold_first(explanation), lambda: explanation_document(explanation))


def _bold_first(explanation: Explanation | CellOverview) -> Iterator[str]:
    first, *lines = explanation_lines(explanation)
    yield click.style(first, bold=True)
    yield from wrap_lines(lines, get_terminal_size().columns) if sys.stdout.isatty() else lines
