"""``compat fix``: the edit that makes a rejected kernel compile."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from compat import fix as fixes
from compat.cli.completing import CELL
from compat.cli.invocation import command_line
from compat.cli.progress import ProgressListener
from compat.cli.selecting import SECONDS, kernel_arguments, obtaining, opened_store, select, selection_options
from compat.json_text import write_json
from compat.report.fix import diff_style, fix_document, fix_lines

NONE_FOUND = 1
"""The exit code where no edit was found."""


@click.command(short_help="Find the edit that makes a rejected kernel compile.")
@click.argument("cell", type=CELL)
@kernel_arguments
@selection_options
@click.option("--write", is_flag=True, help="Write the edit into the file, if that is still what was read.")
@click.option("--json", "as_json", is_flag=True, help="What was found as JSON.")
@click.option("--deadline", type=SECONDS, help="Seconds one cell may take.")
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="Compiles at the same time (default: number of cores).")
@click.option("--no-build", is_flag=True, help="Do not build envs that are missing.")
def fix(*, cell: str, write: bool, as_json: bool, deadline: float | None, jobs: int | None, no_build: bool, **chosen: Any) -> None:
    """Find the smallest known edit that makes CELL compile, and show it as a diff.

    CELL is an id as `compat list cells` prints it, or a glob that matches one. The edits known for the class of its failure are
    compiled in its env and in those that --envs names (default: those of matrix.toml), until one compiles in all of them. Numbers
    are not checked. Exits with 1 if no edit was found that compiles in the cell's env.
    """
    selection = select(**chosen)
    with opened_store(selection) as store:
        context = selection.context(store, deadline=deadline, jobs=jobs)
        found = fixes.fix(selection, cell, context, obtaining(selection, build=not no_build), ProgressListener())
    written = fixes.write_fix(found) if write else ()
    if as_json:
        click.echo(write_json(fix_document(found, written), indent=2))
    else:
        for line in fix_lines(found, command_line()):
            click.echo(click.style(line, **diff_style(line)) if diff_style(line) else line)
        for path in written:
            click.echo(f"wrote {os.path.relpath(path)}")
    sys.exit(0 if found.found else NONE_FOUND)
