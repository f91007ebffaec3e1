"""``compat fix``: the edit that makes a rejected kernel compile."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import click

from compat import fix as fixes
from compat.cli.answer import Answer, answer_options
from compat.cli.completing import CELL
from compat.cli.invocation import command_line
from compat.cli.opening import executor_option, obtaining, opened
from compat.cli.progress import ProgressListener
from compat.cli.selecting import SECONDS, kernel_arguments, select, selection_options, split_cells
from compat.report.views.changed_kernels import diff_style, fix_document, fix_lines

NONE_FOUND = 1
"""The exit code where no edit was found, or it was not written."""


@click.command
@click.argument("cell", type=CELL, metavar="CELL|KERNEL")
@kernel_arguments
@selection_options
@executor_option
@click.option("--write", is_flag=True, help="Write the edit, unless it breaks the kernel on another release that was asked for.")
@answer_options(json_help="What was found as a JSON object.")
@click.option("--deadline", type=SECONDS, help="Seconds one cell may take.")
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="Compiles at the same time (default: number of cores).")
@click.option("--no-build", is_flag=True, help="Do not build envs that are missing.")
def fix(
    *,
    answer: Answer,
    cell: str,
    write: bool,
    deadline: float | None,
    jobs: int | None,
    no_build: bool,
    executor: str | None,
    **chosen: Any,
) -> None:
    """Find the smallest known edit that makes CELL compile, and show it as a diff.

    CELL is an id as `compat list cells` prints it, or a glob that matches one; the env in it may be a release, such as 3.9, and the
    target a GPU, such as h100. A kernel file or a Python source in its place means the only cell that the options leave of it.

    The edits known for the class of its failure are compiled in its env and in those that --envs names
    (default: those of matrix.toml), until one compiles in all of them. Numbers are not checked.

    Exits with 0 if an edit was found that compiles in the cell's env, with 1 if none was or it was not written, and with 2 if a
    kernel file is wrong and was left out.
    """
    cell, files = split_cells((cell,))
    selection = select(files=(*files, *chosen.pop("files")), **chosen)
    with opened(selection, executor, jobs) as (store, where):
        context = selection.context(store, deadline=deadline, jobs=jobs, executor=where)
        found = fixes.fix(selection, cell, context, obtaining(selection, build=not no_build), ProgressListener(judged=False))
    written = fixes.write_fix(found) if write and not found.breaks else ()
    answer.give(lambda: _styled(found), lambda: fix_document(found, written))
    for path in written:
        answer.add(f"wrote {os.path.relpath(path)}")
    sys.exit(
        NONE_FOUND if not found.best or (write and found.breaks) else selection.problems[0].exit_code if selection.problems else 0
    )


def _styled(found: fixes.Fix) -> Iterator[str]:
    for line in fix_lines(found, command_line()):
        style = diff_style(line)
        yield click.style(line, **style) if style else line
