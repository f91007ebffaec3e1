"""``compat reduce``: the smallest kernel that still fails the same way."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from attrs import evolve

from compat.cli.answer import Answer, answer_options
from compat.cli.completing import CELL, ENV
from compat.cli.invocation import INTERRUPTED, deadline_words
from compat.cli.judging import judge_deadline_words, judge_options, read_criterion
from compat.cli.opening import executor_option, obtaining, opened, python_option
from compat.cli.reduction_progress import ReductionProgress
from compat.cli.selecting import SECONDS, kernel_arguments, select, selection_options, split_cells
from compat.project import Patterns
from compat.reduce import reducing
from compat.reduce.reduction import ReductionEnd
from compat.report.views.changed_kernels import reduction_document, reduction_lines


@click.command("reduce")
@click.argument("what", type=CELL, metavar="CELL|FILE.py")
@kernel_arguments
@selection_options
@executor_option
@click.option(
    "--bad",
    multiple=True,
    type=ENV,
    metavar="ENV|RELEASE",
    help="Where the failure must be preserved (default: the envs of the cells).",
)
@click.option(
    "--good",
    multiple=True,
    type=ENV,
    metavar="ENV|RELEASE",
    help="Where the kernel is ok and must stay ok; an error if it is not ok.",
)
@click.option("--only", is_flag=True, help="Preserve the outcomes on --bad and --good only; on other releases they may change.")
@click.option("--judge", "judge_text", default="same-failure", show_default=True, help="What to preserve, as in compat bisect.")
@judge_options
@python_option
@click.option("--budget", type=SECONDS, help="Stop after this many seconds and keep the smallest kernel found.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The .py file to write [reduced/NAME.py].")
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="Candidates compiled at the same time (default: number of cores).")
@click.option("--deadline", type=SECONDS, help="Seconds one cell may take.")
@click.option("--no-build", is_flag=True, help="Do not build envs that are missing.")
@answer_options(file=False, json_help="The result as a JSON object.")
def reduce(
    *,
    answer: Answer,
    what: str,
    bad: tuple[str, ...],
    good: tuple[str, ...],
    only: bool,
    judge_text: str,
    python: str | None,
    budget: float | None,
    output: Path | None,
    jobs: int | None,
    deadline: float | None,
    no_build: bool,
    executor: str | None,
    **chosen: Any,
) -> None:
    """Shrink a kernel while it still fails the same way, and write the result with a kernel file for it.

    CELL is an id as `compat list cells` prints it, a glob, or an id without the env; FILE.py is a kernel with a kernel file of the
    same name beside it, such as this command writes. Every command takes the result: --spec reduced/NAME.toml.

    In every other release that is built, the kernel stays ok where it was ok, and keeps its failure where it failed; --only drops
    this. --good and --bad may be repeated, and may list several, separated by commas: envs, groups, globs, or releases.
    """
    if (
        not what.endswith(".py") or not Path(what).with_suffix(".toml").exists()
    ):  # a source that has a kernel file beside it means what that describes
        what, files = split_cells((what,))
        chosen["files"] = (*files, *chosen["files"])
    selection = select(**chosen)
    with opened(selection, executor, jobs) as (store, where):
        reduction = reducing.reduce(
            selection,
            what,
            selection.context(store, deadline=deadline, jobs=jobs, executor=where),
            obtaining(selection, build=not no_build),
            ReductionProgress(),
            bad=bad,
            good=good,
            hold_rest=not only,
            criterion=read_criterion(judge_text),
            budget=budget,
            output=output,
            python=python,
        )
    options = (*evolve(selection, patterns=Patterns()).options, *deadline_words(deadline))
    limits = (*deadline_words(deadline), *judge_deadline_words())
    answer.give(lambda: reduction_lines(reduction, selection.config.path, options, limits), lambda: reduction_document(reduction))
    sys.exit(INTERRUPTED if reduction.ended is ReductionEnd.INTERRUPTED else 0)
