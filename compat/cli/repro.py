"""``compat repro``: a failing cell as a script that anyone can run, and the issue that belongs to it."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from compat import repro as repros
from compat.bisect import bisecting
from compat.cli.answer import Answer, answer_options
from compat.cli.completing import CELL
from compat.cli.invocation import command_line, deadline_words
from compat.cli.opening import executor_option, obtaining, opened
from compat.cli.selecting import SECONDS, kernel_arguments, select, selection_options, split_cells
from compat.cli.showing import doing, say
from compat.model import BuiltEnv, Cell
from compat.project import Selection, read_matrix
from compat.repro.records import Unverified, WrittenRepro, outcome_document
from compat.repro.reproducing import ReproListener
from compat.text import printable


@click.command
@click.argument("cell", type=CELL, metavar="CELL|KERNEL")
@kernel_arguments
@selection_options
@executor_option
@click.option("--portable", is_flag=True, help="A script that runs on every release, not only on the one that fails.")
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), help="Folder for what is written [repro].")
@click.option("--reduced", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="A smaller kernel to show instead.")
@click.option("--deadline", type=SECONDS, help="Seconds after which a compile counts as hanging.")
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="Compiles at the same time (default: number of cores).")
@answer_options(file=False, json_help="What was written as a JSON array, one object per cell.")
def repro(
    *,
    answer: Answer,
    cell: str,
    portable: bool,
    output: Path | None,
    reduced: Path | None,
    deadline: float | None,
    jobs: int | None,
    executor: str | None,
    **chosen: Any,
) -> None:
    """Write a standalone script that shows how CELL fails, and an issue for Triton's tracker.

    CELL is an id as `compat list cells` prints it, a glob, or `last-bisect`: the bad endpoints that the last bisect found. What is
    written was verified: the script was run in a fresh process in every release that the issue mentions. Exits with 1 if
    that verification failed.
    """
    if cell == bisecting.WORD and not (chosen["spec"] or chosen["files"]):
        chosen["spec"] = bisecting.read_bad_ends(read_matrix(chosen["matrix_path"]).base).kernel_files
    cell, files = split_cells((cell,))
    selection = select(files=(*files, *chosen.pop("files")), **chosen)
    obtain = obtaining(selection, build=True)
    again = (*_places(selection), *_options(portable, output, reduced), *deadline_words(deadline))
    with opened(selection, executor, jobs) as (store, where):
        context = selection.context(store, deadline=deadline, jobs=jobs, executor=where)
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
        answer.give(lambda: (), lambda: [outcome_document(outcome, _command(outcome.cell, again)) for outcome in outcomes])
    sys.exit(0 if all(isinstance(outcome, WrittenRepro) for outcome in outcomes) else 1)


def _places(selection: Selection) -> Iterator[str]:
    """The options that say where the kernels are, and which envs and targets an issue's table has."""
    yield from selection.options
    asked = selection.patterns
    yield from (
        word for option, names in (("--envs", asked.envs), ("--target", asked.targets)) for name in names for word in (option, name)
    )


def _options(portable: bool, output: Path | None, reduced: Path | None) -> Iterator[str]:
    """The options that say what is written, and where."""
    yield from ("--portable",) if portable else ()
    yield from (word for option, path in (("--output", output), ("--reduced", reduced)) if path for word in (option, str(path)))


def _command(cell: Cell, options: Sequence[str]) -> str:
    return printable(shlex.join(["compat", "repro", cell.id, *options]))


class _ReproProgress(ReproListener):
    """Says how each repro goes, and unless all of it is wanted as JSON what came of it."""

    def __init__(self, answer: Answer, again: Sequence[str]) -> None:
        self._answer, self._again = answer, again

    def left_out(self, built: BuiltEnv) -> None:
        say(f"left out: {built.env.name}, {built.error}")

    @contextmanager
    def begins(self, cell: Cell, envs: int) -> Iterator[Callable[[str], None]]:
        say(f"{cell.id}: compiling, and running as a script, in {envs} envs")
        with doing(cell.id) as note:
            yield note

    def ends(self, outcome: WrittenRepro | Unverified) -> None:
        if self._answer.as_json:
            return
        if isinstance(outcome, WrittenRepro):
            click.echo(f"wrote {', '.join(os.path.relpath(path) for path in outcome.paths)}")
        else:
            click.echo("verification failed; nothing written:")
            for reason in outcome.reasons:
                click.echo(f"  {reason}")
            click.echo(f"the evidence is in {os.path.relpath(outcome.evidence)}")
        click.echo(f"again: {_command(outcome.cell, self._again)}")
