"""``compat explain``: all that is known of one cell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from compat.cli.answer import Answer, answer_options
from compat.cli.completing import CELL
from compat.cli.selecting import kernel_arguments, opened_store, select, selection_options, split_cells
from compat.explain import Explanation, Tried
from compat.explain import explain as explanation_of
from compat.report.explanation import explanation_document, explanation_lines, lack_of


@click.command(short_help="Show all that is known about one cell.")
@click.argument("cell", type=CELL, metavar="CELL|KERNEL")
@kernel_arguments
@selection_options
@click.option(
    "--executor",
    metavar="EXECUTOR",
    help="The cluster to fetch artifacts from that stayed on its workers, or local for none"
    " (default: what matrix.toml says, and where they were left).",
)
@answer_options(json_help="The evidence and the outcome as JSON; of several cells their outcomes.")
def explain(*, answer: Answer, cell: str, executor: str | None, **chosen: Any) -> None:
    """Show all that is known about CELL, an id as `compat list cells` prints it, or a glob.

    A kernel file or a Python source in its place means all of its cells.

    The env in an id may be a release, such as 3.9, and the target a GPU, such as h100. Of a glob that matches several cells, those
    are listed that were run, the newest release first. Nothing is compiled: it shows what the last run found. What stayed on
    workers of a cluster is fetched; exits with 8 where that cannot be, having shown the rest.
    """
    cell, files = split_cells((cell,))
    selection = select(files=(*files, *chosen.pop("files")), **chosen)
    with opened_store(selection, executor, only_read=True) as store:
        found = explanation_of(selection, cell, store)
    answer.give(lambda: _bold_first(found), lambda: explanation_document(found))
    if lack := lack_of(found):
        raise lack


def _bold_first(found: Explanation | Tried) -> Iterator[str]:
    first, *lines = explanation_lines(found)
    yield click.style(first, bold=True)
    yield from lines
