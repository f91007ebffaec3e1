"""The commands for a failing cell.

``compat repro`` writes a repro script and an issue text for the cell. ``compat fix`` finds the edit
that makes its kernel compile.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Unpack

import click

from compat import fix as fixes
from compat import repro as repros
from compat.bisect import bisecting
from compat.cli.answer import Answer, FilePath, answer_options, command_line, passed_options
from compat.cli.help import Command
from compat.cli.progress import ProgressListener
from compat.cli.resources import CompileOptions, compile_options, executor_option
from compat.cli.selecting import (
    CELL,
    SelectionOptions,
    kernel_arguments,
    select_cells,
    selection_options,
)
from compat.model import Cell
from compat.project import read_matrix
from compat.report.views.changed_kernels import diff_style, fix_document, fix_lines
from compat.repro.records import UnverifiedCell, WrittenRepro, outcome_document
from compat.text import printable

_JOBS = "Compiles at the same time.  [default: number of cores]"
NONE_FOUND = 1
"""The exit code of `compat fix` if it found no edit, or did not write the edit."""


@click.command(cls=Command)
@click.argument("cell", type=CELL, metavar="CELL|KERNEL")
@kernel_arguments
@selection_options
@executor_option
@click.option(
    "--portable",
    is_flag=True,
    help="Write a script that runs on every release, not only on the one that fails.",
)
@click.option(
    "--output",
    type=FilePath(file_okay=False),
    help="Folder for the script and the issue.  [default: repro]",
)
@click.option(
    "--reduced",
    type=FilePath(exists=True, dir_okay=False),
    help="Show this smaller kernel instead.",
)
@compile_options(deadline="Seconds after which a compile counts as hanging.", jobs=_JOBS)
@answer_options(file=False, json_help="Print a JSON array with one object per cell.")
def repro(
    *,
    answer: Answer,
    cell: str,
    portable: bool,
    output: Path | None,
    reduced: Path | None,
    compiling: CompileOptions,
    **values: Unpack[SelectionOptions],
) -> None:
    """Write a standalone script that shows how CELL fails, and the text of an issue for the
    compiler's tracker.

    $ compat repro sel_dense/as_written/d64/h100/3.9

    CELL is an id as `compat list cells` prints it, a glob, or `last-bisect`: the bad ends of the
    brackets that the last bisect found. The command runs the script in a fresh process in every
    release that the issue mentions.

    Exits with 1 if the script does not show the failure.
    """
    if cell == bisecting.WORD and not (values["spec"] or values["files"]):
        values["spec"] = bisecting.read_bad_ends(
            read_matrix(values["matrix_path"]).base
        ).kernel_files
    cell, selection = select_cells(cell, **values)
    obtain = compiling.obtaining(selection)
    again = (
        *selection.options,
        *passed_options("envs", "targets", "portable", "output", "reduced", "deadline"),
    )
    with compiling.open_context(selection) as context:
        outcomes = repros.repro(
            selection,
            cell,
            context,
            obtain,
            _ReproProgress(answer, again),
            folder=output,
            reduced=reduced,
            portable=portable,
            command=command_line(),
        )
    if answer.as_json:
        answer.give(
            lambda: (),
            lambda: [
                outcome_document(outcome, _command(outcome.cell, again)) for outcome in outcomes
            ],
        )
    sys.exit(0 if all(isinstance(outcome, WrittenRepro) for outcome in outcomes) else 1)


def _command(cell: Cell, options: Sequence[str]) -> str:
    return printable(shlex.join(["compat", "repro", cell.id, *options]))


class _ReproProgress(ProgressListener):
    """Prints the result of each repro at once, unless the answer is JSON."""

    def __init__(self, answer: Answer, again: Sequence[str]) -> None:
        super().__init__()
        self._answer, self._again = answer, again

    def receive_answer(self, answer: object) -> None:
        if self._answer.as_json or not isinstance(answer, WrittenRepro | UnverifiedCell):
            return
        if isinstance(answer, WrittenRepro):
            click.echo(f"wrote {', '.join(os.path.relpath(path) for path in answer.paths)}")
        else:
            click.echo("verification failed; nothing written:")
            for reason in answer.reasons:
                click.echo(f"  {reason}")
            click.echo(f"the evidence is in {os.path.relpath(answer.evidence)}")
        click.echo(f"again: {_command(answer.cell, self._again)}")


@click.command(cls=Command)
@click.argument("cell", type=CELL, metavar="CELL|KERNEL")
@kernel_arguments
@selection_options
@executor_option
@click.option(
    "--write",
    is_flag=True,
    help="Apply the edit to the source, unless it breaks the kernel on another chosen release.",
)
@answer_options(json_help="Print the answer as a JSON object.")
@compile_options(deadline=None, jobs=_JOBS, no_build=None)
def fix(
    *,
    answer: Answer,
    cell: str,
    write: bool,
    compiling: CompileOptions,
    **values: Unpack[SelectionOptions],
) -> None:
    """Find the smallest known edit that makes CELL compile, and show it as a diff.

    $ compat fix sel_dense/block_ptr/d64/h100/3.9 --envs releases

    CELL is an id as `compat list cells` prints it, or a glob that matches one cell. A kernel file
    or a Python source means its only cell. The command compiles the known edits for the failure
    class, in the cell's env and in those of --envs, until one compiles in all of them. It does not
    check numbers.

    Exits with 0 if it found an edit that compiles in the cell's env, with 1 if it found or wrote
    none, and with 2 if it skipped an invalid kernel file.
    """
    cell, selection = select_cells(cell, **values)
    with compiling.open_context(selection) as context:
        proposal = fixes.fix(
            selection, cell, context, compiling.obtaining(selection), ProgressListener(judged=False)
        )
    written = fixes.write_fix(proposal) if write and not proposal.breaks else ()
    answer.give(lambda: _style_fix(proposal), lambda: fix_document(proposal, written))
    for path in written:
        answer.add(f"wrote {os.path.relpath(path)}")
    sys.exit(
        NONE_FOUND
        if not proposal.best or (write and proposal.breaks)
        else selection.problems[0].exit_code
        if selection.problems
        else 0
    )


def _style_fix(proposal: fixes.Fix) -> Iterator[str]:
    for line in fix_lines(proposal, command_line()):
        style = diff_style(line)
        yield click.style(line, **style) if style else line
