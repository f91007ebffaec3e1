"""``compat matrix``: compile every chosen cell and report the results."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Unpack

import click

from compat.cli.answer import (
    FOLDER_FILES,
    Answer,
    FilePath,
    FormatFiles,
    answer_options,
    command_line,
    end_interrupted,
    format_options,
    relative,
    show_report,
    tell_github,
    write_formats,
)
from compat.cli.help import Command
from compat.cli.resources import (
    CompileOptions,
    compile_options,
    executor_option,
    launch_options,
    launched_option,
)
from compat.cli.selecting import (
    SelectionOptions,
    kernel_arguments,
    select,
    selection_options,
    shard_option,
)

if TYPE_CHECKING:
    from compat.engine.run import RunContext
    from compat.launch.sharing import MatrixLaunches
    from compat.matrix import WrittenReport
    from compat.project import Obtain, Selection
    from compat.report.summary.record import Report


@click.command(cls=Command)
@kernel_arguments
@selection_options
@shard_option
@executor_option
@answer_options(file=False, json_help="Print the report as JSON instead of a table.")
@click.option(
    "--output",
    type=FilePath(file_okay=False),
    help=f"Folder for {', '.join(FOLDER_FILES)}.  [default: reports]",
)
@format_options()
@compile_options(
    jobs=None,
    deadline=None,
    again=None,
    no_build="Do not build missing envs; report them as broken.",
)
@launched_option("show")
@launch_options("Also launch the cells that compile, here or on the executor's workers.")
def matrix(
    *,
    answer: Answer,
    output: Path | None,
    launched: tuple[Path, ...],
    is_launching: bool,
    python: str | None,
    formats: FormatFiles,
    compiling: CompileOptions,
    **values: Unpack[SelectionOptions],
) -> None:
    """Compile every chosen cell and write reports/index.html, reports/matrix.md and
    reports/matrix.json.

    $ compat matrix --envs releases --target sm_90,gfx942

    Without a matrix.toml, KERNEL names sources or kernel files, and the command compiles them on
    every release of their toolchain. If no option chooses kernels, it also tests envs that have a
    PyTorch as pairs (see `compat pairs`); --kernel pair tests only these.

    Exits with 0 if every cell is as expected and every pair works, with 1 if one is not, with 2 if
    it skipped an invalid kernel file, and with 3 if --launch finds no GPU.
    """
    from compat.cli.progress import ProgressListener
    from compat.matrix import MatrixInterrupted, run_matrix, update_reports

    listener = ProgressListener()
    selection = select(**values, note=False)
    obtain = compiling.obtaining(selection)
    try:
        with compiling.open_context(selection) as context:
            with _launching(
                selection, context, obtain, (launched, is_launching, python)
            ) as launches:
                report = run_matrix(
                    selection, context, obtain, listener, command=command_line(), launches=launches
                )
            written = update_reports(report, selection, context, output)
    except MatrixInterrupted as interrupted:
        if interrupted.report.results:
            show_report(interrupted.report, answer)
        done = f"{interrupted.done:,} of {interrupted.total:,} cells are finished and saved"
        end_interrupted(done)
    show_report(report, answer)
    for sentence in _report_file_sentences(written):
        answer.add(sentence)
    write_formats(report, answer, selection.root, formats)
    _end(report, selection, launches)


def _report_file_sentences(written: WrittenReport) -> Iterator[str]:
    """Sentences about the written files, and about the report that was there before."""
    from compat.text import amount, join_words

    yield f"wrote {join_words([relative(path) for path in written.files])}"
    if written.beside is not None:
        yield f"kept the report in {relative(written.beside)}, which covers other kernel files"
    if written.replaced:
        yield f"replaced the report of `{written.replaced}`, which covered other kernel files"
    if earlier := written.report.earlier:
        cells = len(written.report.results)
        yield (
            f"{cells - earlier:,} of its {amount(cells, 'cell')} are from this run, the others"
            " from earlier runs"
        )
    if written.dropped:
        yield (
            f"left out {amount(written.dropped, 'cell')} of the previous report: their inputs have"
            " changed or are missing"
        )


def _end(report: Report, selection: Selection, launches: MatrixLaunches | None) -> NoReturn:
    """End the command with the exit code of the report.

    Raises SelectionError if cells had to be launched and there was no GPU.
    """
    tell_github(report, selection.root)
    if launches is not None:
        launches.check()
    sys.exit(
        1
        if report.unexpected_results or report.failing_pairs
        else selection.problems[0].exit_code
        if selection.problems
        else 0
    )


@contextmanager
def _launching(
    selection: Selection,
    context: RunContext,
    obtain: Obtain,
    request: tuple[tuple[Path, ...], bool, str | None],
) -> Iterator[MatrixLaunches | None]:
    """Store launches from GPU hosts, and launch cells if the user asked for that.

    ``request`` has the files with launches, whether to launch, and the Python that launches. This
    machine launches before the block runs. Workers of a cluster launch while it runs.
    """
    from compat.launch import merging

    files, is_launching, python = request
    merged = [merging.merge(path, context.store) for path in files]
    launches: MatrixLaunches | None = None
    if is_launching:
        from compat.cli.progress import ProgressListener
        from compat.launch import hosting, sharing

        listener = ProgressListener()
        launches = sharing.begin(selection, context, obtain, listener, python=python)
        if launches is None:
            merged.append(
                hosting.build_and_launch(selection, context, obtain, listener, python=python)
            )
    if merged:
        click.echo(merging.merge_summary(merged), err=True)
    with closing(launches) if launches else nullcontext():
        yield launches
    if launches is not None and launches.total:
        click.echo(merging.merge_summary([launches.merged_results]), err=True)
