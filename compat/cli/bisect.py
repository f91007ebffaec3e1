"""``compat bisect``: the release, part of the toolchain, pass or setting behind a change."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

import click

from compat.bisect import bisecting, candidates, judging
from compat.bisect.answers import CellAnswer, ReleaseAnswer
from compat.bisect.bisecting import Bisection
from compat.bisect.candidates import CandidateQuery
from compat.bisect.criterion import Criterion
from compat.bisect.request import FEW, Axis, BisectRequest, GrowingSetting
from compat.cli.answer import (
    Answer,
    FilePath,
    answer_options,
    command_line,
    end_interrupted,
    passed_options,
    write_file,
)
from compat.cli.check import judge_options
from compat.cli.help import Command
from compat.cli.logs import say
from compat.cli.progress import ProgressListener
from compat.cli.resources import (
    CompileOptions,
    compile_options,
    executor_option,
    keep_launched,
    launch_options,
    launched_option,
    use_gpu,
)
from compat.cli.selecting import SECONDS, kernel_arguments, select, selection_options
from compat.engine.run import Interrupted
from compat.interruption import Stopped

_AXES = [str(axis) for axis in Axis]
_CANDIDATE_OPTIONS = ("patches", "pre", "find_links", "index_url", "distribution")
"""The options that choose the candidates, beside ``--releases``."""
_REQUEST = ("fixed", "every", "against", "assemblers", "budget")
"""The options that are passed on unchanged."""
_ANSWER = (
    *(
        "envs",
        "releases",
        "find_links",
        "index_url",
        "distribution",
        "patches",
        "pre",
        "every",
        "is_launching",
        "no_build",
    ),
    *("deadline", "judge_text", "judge_deadline"),
)
"""The options that the answer for one kernel depends on, besides its name and the ends."""
_INSIDE = ("against", "assemblers", "budget", "grow")
"""Further options that a search inside a failure depends on."""


@click.command(cls=Command)
@kernel_arguments
@selection_options
@executor_option
@click.option(
    "--axis",
    type=click.Choice(_AXES),
    default=_AXES[0],
    show_default=True,
    help="The axis to search along.",
)
@click.option("--good", metavar="RELEASE", help="A good release, tested first.")
@click.option("--bad", metavar="RELEASE", help="A bad release, tested first.")
@click.option(
    "--fixed",
    is_flag=True,
    help="Find the release that fixed the kernel, not the one that broke it.",
)
@judge_options("ok", "The question that decides what is good; see above.", "JUDGE")
@click.option("--releases", metavar="SPECIFIER", help="Only these releases, such as '>=3.1,<3.6'.")
@click.option(
    "--patches",
    is_flag=True,
    help="Also test patch releases, not only the first release of each minor series.",
)
@click.option("--pre", is_flag=True, help="Also test pre-releases.")
@click.option(
    "--find-links",
    type=click.Path(exists=True, file_okay=False),
    help="A folder of wheels to bisect over.",
)
@click.option(
    "--index-url",
    metavar="URL",
    help="A package index to bisect over, such as one of nightly builds.",
)
@click.option(
    "--distribution",
    metavar="NAME",
    help="The name of the distribution there.  [default: the toolchain's own]",
)
@click.option(
    "--all/--search",
    "every",
    default=None,  # neither was given
    help=f"Test every release (default for up to {FEW}), or search with few tests.",
)
@click.option(
    "--against",
    metavar="CASE",
    help="With --axis pass: the case to compare with, instead of another release.",
)
@click.option(
    "--ptxas",
    "assemblers",
    multiple=True,
    metavar="CUDA|PATH",
    help="With --axis part: another assembler to test, such as 12.9.",
)
@click.option(
    "--grow",
    multiple=True,
    metavar="NAME[=SIZES]",
    help=(
        "Measure how compile time grows with a constexpr, such as N or N=32,64,128; implies --axis"
        " config."
    ),
)
@click.option(
    "--budget",
    type=SECONDS,
    help="With --axis config: stop after this many seconds and report the result so far.",
)
@launched_option("judge")
@launch_options("Launch the cells that the judge asks about, on the GPU of this machine.")
@click.option(
    "--output",
    type=FilePath(dir_okay=False),
    help="Also write the answer for an issue tracker to this file, as Markdown.",
)
@compile_options(
    jobs=None,
    deadline=None,
    again=None,
    no_build="Do not build missing envs; count them as inconclusive.",
)
@answer_options(
    file=False, json_help="Print a JSON array with one object per kernel, variant, case and target."
)
def bisect(
    *,
    answer: Answer,
    output: Path | None,
    launched: tuple[Path, ...],
    criterion: Criterion,
    compiling: CompileOptions,
    **values: object,
) -> None:
    """Find the release that broke a kernel, and the part of the compiler.

    $ compat bisect --kernel sel_dense --variant block_ptr

    The command tests the oldest and the newest release first, unless --good and --bad name others.
    --axis searches along parts of the compiler, its passes, or the settings of the kernel instead.

    --judge says when a cell is good. Compiled cells can be judged by `ok`, `class=NAME`,
    `same-failure`, `unexpected`, `run=COMMAND`, or a metric such as `registers>128` or
    `compile_seconds>10`. Launched cells can be judged by `wrong`, `unstable`, `latency>80`,
    `latency>1.2*baseline` or `latency>1.2*previous`; these need --launch or --launched. After
    `compat tune`, `best>1.1*previous` judges the fastest config of each release, and `staying>1.2`
    the cost of keeping the fastest config of the oldest release.
    """
    request = _request(criterion, values)
    selection = request.selection
    options = (*selection.options, *passed_options(*_ANSWER))
    inside = (*options, *_ends(request), *passed_options(*_INSIDE))
    listener = BisectProgress(request.axis, inside, answer, several=len(selection.kernels) > 1)
    with listener.interruptible(), compiling.open_context(selection) as context:
        keep_launched(launched, context.store)
        bisection = bisecting.bisect(request, context, compiling.obtaining(selection), listener)
    if request.axis is Axis.RELEASES:
        _show(bisection, options, tuple(_ends(request)), answer, output)
    else:
        _write_cells(bisection, inside, answer, output)
    sys.exit(0 if bisection.conclusive else 1)


def _request(criterion: Criterion, values: dict[str, Any]) -> BisectRequest:
    """The request that the options describe. Raises SelectionError for invalid options."""
    ends = {end: values.pop(end) for end in ("good", "bad")}
    releases = candidates.parse_specifier(values.pop("releases"))
    query = CandidateQuery(
        releases=releases, **{name: values.pop(name) for name in _CANDIDATE_OPTIONS}
    )
    plain = {name: values.pop(name) for name in _REQUEST}
    plain["grow"] = tuple(map(GrowingSetting.parse, values.pop("grow")))
    axis, launching = Axis(values.pop("axis")), (values.pop("is_launching"), values.pop("python"))
    if launching[0]:
        judging.check_launching(criterion)
    selection, gpu = use_gpu(select(**values), *launching)
    named: dict[str, Any] = {
        end: candidates.named_release(text, f"--{end}", selection, query)
        for end, text in ends.items()
    }
    axis = Axis.CONFIG if plain["grow"] and axis is Axis.RELEASES else axis
    return BisectRequest(
        selection=selection, axis=axis, criterion=criterion, query=query, gpu=gpu, **named, **plain
    )


def _ends(request: BisectRequest) -> Iterator[str]:
    """The options that name the ends of the range, and ``--fixed``."""
    yield from (
        word
        for end in ("good", "bad")
        if (release := getattr(request, end))
        for word in (f"--{end}", str(release))
    )
    yield from ("--fixed",) if request.fixed else ()


# --- output, with late imports: nothing here is needed until the cells are compiled ---------------


def _show(
    bisection: Bisection,
    options: tuple[str, ...],
    ends: tuple[str, ...],
    answer: Answer,
    output: Path | None,
) -> None:
    from compat.report.views.bisect import BisectReport, bisect_blocks, bisect_document

    report = BisectReport(bisection=bisection, command=command_line(), options=options, ends=ends)
    answer.draw(lambda: bisect_blocks(report), lambda: bisect_document(report))
    if output:
        from compat.report.views.bisect import bisect_markdown

        write_file(output, bisect_markdown(report), "--output")
        answer.add(f"wrote {output}")


def _write_cells(
    bisection: Bisection, options: tuple[str, ...], answer: Answer, output: Path | None
) -> None:
    """Print the answer if it is JSON, and write the file.

    The lines about each cell were already printed when its search ended.
    """
    from compat.report.views.bisect import cell_answers_markdown

    if answer.as_json:
        _give_cells(bisection.cells, bisection.axis, options, answer)
    if output:
        write_file(
            output, cell_answers_markdown(bisection.cells, bisection.axis, options), "--output"
        )
        answer.add(f"wrote {output}")


def _give_cells(
    cells: Sequence[CellAnswer], axis: Axis, options: tuple[str, ...], answer: Answer
) -> None:
    """Give answers about cells as JSON."""
    from compat.report.views.bisect import cell_answer_document

    answer.give(list, lambda: [cell_answer_document(cell, axis, options) for cell in cells])


# --- while it searches ----------------------------------------------------------------------------


class BisectProgress(ProgressListener):
    """Prints each answer at once, even if the command prints all of them together at the end.

    The whole answer of a search inside a cell goes to standard output. A sentence about a kernel on
    all releases goes to standard error, because the final answer states once what several kernels
    have in common.
    """

    def __init__(
        self, axis: Axis, options: tuple[str, ...], answer: Answer, *, several: bool
    ) -> None:
        """``options`` are the options of a command that finds the same answer again.

        ``several`` says whether there are several answers to find.
        """
        super().__init__()
        self._axis, self._options, self._answer, self._several = axis, options, answer, several
        self._cells: list[CellAnswer] = []

    def receive_answer(self, answer: object) -> None:
        if isinstance(answer, ReleaseAnswer):
            self._tell_release(answer)
        elif isinstance(answer, CellAnswer):
            self._tell_cell(answer)

    def _tell_cell(self, answer: CellAnswer) -> None:
        self._cells.append(answer)
        if not self._answer.as_json:
            from compat.report.views.bisect import cell_answer_lines

            name = answer.cell.id
            first, *details = cell_answer_lines(answer, self._axis, self._options)
            if sys.stdout.isatty():
                width = get_terminal_size().columns
                first = textwrap.fill(first, width, break_long_words=False, break_on_hyphens=False)
            self._answer.follow(
                lambda: (click.style(name, bold=True) + first.removeprefix(name), *details), list
            )

    def _tell_release(self, answer: ReleaseAnswer) -> None:
        if self._several:
            from compat.report.views.bisect import subject_of
            from compat.report.views.bisect_sentences import headline

            say(f"{subject_of((answer,))}: {headline(answer)}")

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """On Ctrl-C, print the results that are not printed yet, and end the command.

        The last line says that finished probes are kept.
        """
        try:
            yield
        except (Stopped, KeyboardInterrupt) as interrupted:
            done = "finished probes are saved"
            if isinstance(interrupted, Interrupted):
                done = (
                    f"{interrupted.done:,} of {interrupted.total:,} probes of this run are finished"
                    " and saved"
                )
            self._give_rest()
            end_interrupted(done)

    def _give_rest(self) -> None:
        from compat.report.views.bisect import so_far_lines

        if self._answer.as_json and self._cells:
            _give_cells(self._cells, self._axis, self._options, self._answer)
        elif (
            self._axis is Axis.RELEASES
            and not self._answer.as_json
            and (lines := [*so_far_lines(self.results)])
        ):
            self._answer.give(lambda: lines, list)
