"""``compat explain``: all that is known of one cell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from compat.cli.answer import Answer, answer_options
from compat.cli.completing import CELL
from compat.cli.opening import opened_store
from compat.cli.selecting import kernel_arguments, select, selection_options, split_cells
from compat.explain import CellOverview, Explanation
from compat.explain import explain as explanation_of
from compat.report.views.explanation import explanation_document, explanation_lines


@click.command
@click.argument("cell", type=CELL, metavar="CELL|KERNEL")
@kernel_arguments
@selection_options
@answer_options(json_help="The evidence and the outcome as JSON; of several cells their outcomes.")
def explain(*, answer: Answer, cell: str, **chosen: Any) -> None:
    """Show all that is known about CELL, an id as `compat list cells` prints it, or a glob.

    A kernel file or a Python source in its place means all of its cells.

    The env in an id may be a release, such as 3.9, and the target a GPU, such as h100. Of a glob that matches several cells, those
    are listed that were run, the newest release first. Nothing is compiled: it shows what the last run found.
    """
    cell, files = split_cells((cell,))
    selection = select(files=(*files, *chosen.pop("files")), **chosen)
    with opened_store(selection, only_read=True) as store:
        found = explanation_of(selection, cell, store)
    answer.give(lambda: _bold_first(found), lambda: explanation_document(found))


def _bold_first(found: Explanation | CellOverview) -> Iterator[str]:
    first, *lines = explanation_lines(found)
    yield click.style(first, bold=True)
    yield from lines
