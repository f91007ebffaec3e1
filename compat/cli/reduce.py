"""``compat reduce``: the smallest kernel that still fails the same way."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Unpack

import click
from attrs import evolve

from compat.bisect.criterion import Criterion
from compat.cli import INTERRUPTED
from compat.cli.answer import Answer, FilePath, answer_options, passed_options
from compat.cli.check import judge_options
from compat.cli.help import Command
from compat.cli.progress import ProgressListener
from compat.cli.resources import CompileOptions, compile_options, executor_option, python_option
from compat.cli.selecting import (
    CELL,
    ENV,
    SECONDS,
    SelectionOptions,
    kernel_arguments,
    select,
    selection_options,
    split_cells,
)
from compat.project import Patterns
from compat.reduce.reduction import ReductionEnd
from compat.reduce.reduction import reduce as reduce_kernel
from compat.report.views.changed_kernels import reduction_document, reduction_lines


@click.command(cls=Command, name="reduce")
@click.argument("what", type=CELL, metavar="CELL|FILE.py")
@kernel_arguments
@selection_options
@executor_option
@click.option(
    "--bad",
    multiple=True,
    type=ENV,
    metavar="ENV|RELEASE",
    help="Envs where the kernel must keep failing.  [default: the envs of the cells]",
)
@click.option(
    "--good",
    multiple=True,
    type=ENV,
    metavar="ENV|RELEASE",
    help="Envs where the kernel is ok and must stay ok.",
)
@click.option(
    "--only",
    is_flag=True,
    help="Keep the outcomes on --bad and --good only. They may change on other releases.",
)
@judge_options(
    "same-failure", "The question whose answer must stay the same; see `compat bisect --help`."
)
@python_option
@click.option(
    "--budget",
    type=SECONDS,
    help="Stop after this many seconds and keep the smallest kernel so far.",
)
@click.option(
    "--output",
    type=FilePath(dir_okay=False),
    help="The .py file for the reduced kernel.  [default: reduced/NAME.py]",
)
@compile_options(
    jobs="Candidates compiled at the same time.  [default: number of cores]",
    deadline=None,
    no_build=None,
)
@answer_options(file=False, json_help="Print the result as a JSON object.")
def reduce(
    *,
    answer: Answer,
    what: str,
    bad: tuple[str, ...],
    good: tuple[str, ...],
    only: bool,
    criterion: Criterion,
    python: str | None,
    budget: float | None,
    output: Path | None,
    compiling: CompileOptions,
    **values: Unpack[SelectionOptions],
) -> None:
    """Shrink a kernel while it still fails the same way.

    $ compat reduce sel_varlen/as_written/few/h100/3.9

    CELL is an id as `compat list cells` prints it, a glob, or an id without the env. FILE.py is a
    kernel that has a kernel file of the same name beside it. The command writes the smallest kernel
    with a kernel file, which every command takes with --spec reduced/NAME.toml.

    On every other release that is built, the kernel stays ok where it was ok and keeps its failure
    where it failed; --only drops this rule. --good and --bad take envs, groups, globs and releases,
    separated by commas, and may be repeated.
    """
    # A source with a kernel file beside it means the kernel that the file describes.
    if not what.endswith(".py") or not Path(what).with_suffix(".toml").exists():
        what, files = split_cells((what,))
        values["files"] = (*files, *values["files"])
    selection = select(**values)
    with compiling.open_context(selection) as context:
        reduction = reduce_kernel(
            selection,
            what,
            context,
            compiling.obtaining(selection),
            ProgressListener(judged=False),
            bad=bad,
            good=good,
            hold_rest=not only,
            criterion=criterion,
            budget=budget,
            output=output,
            python=python,
        )
    options = (*evolve(selection, patterns=Patterns()).options, *passed_options("deadline"))
    limits = passed_options("deadline", "judge_deadline")
    answer.give(
        lambda: reduction_lines(reduction, selection.config, options, limits),
        lambda: reduction_document(reduction),
    )
    sys.exit(INTERRUPTED if reduction.search_end is ReductionEnd.INTERRUPTED else 0)
