"""``compat explain``: all that is known of one cell."""

from __future__ import annotations

from typing import Any

import click

from compat.cli.selecting import kernel_arguments, opened_store, select, selection_options
from compat.explain import explain as explanation_of
from compat.json_text import write_json
from compat.report.explanation import explanation_document, explanation_lines


@click.command(short_help="Show all that is known about one cell.")
@click.argument("cell")
@kernel_arguments
@selection_options
@click.option("--json", "as_json", is_flag=True, help="The evidence and the outcome as JSON.")
def explain(*, cell: str, as_json: bool, **chosen: Any) -> None:
    """Show all that is known about CELL, an id as `compat list cells` prints it, or a glob that matches one.

    The env in an id may be a release, such as 3.9, and the target a GPU, such as h100.

    Nothing is compiled: it shows what the last run found.
    """
    selection = select(**chosen)
    with opened_store(selection) as store:
        found = explanation_of(selection, cell, store)
    if as_json:
        click.echo(write_json(explanation_document(found), indent=2))
        return
    first, *lines = explanation_lines(found)
    click.echo("\n".join([click.style(first, bold=True), *lines]))
