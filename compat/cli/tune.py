"""``compat tune``: the best config of a kernel on each release, and the cost of keeping another."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Unpack

import click
from attrs import evolve

from compat.cli.answer import Answer, FilePath, answer_options, command_line, relative, write_file
from compat.cli.help import Command
from compat.cli.launch import show_built
from compat.cli.progress import ProgressListener
from compat.cli.resources import (
    CompileOptions,
    build_options,
    compile_options,
    keep_launched,
    launch_options,
    launched_option,
    use_gpu,
)
from compat.cli.selecting import (
    DecimalNumber,
    SelectionOptions,
    kernel_arguments,
    select,
    selection_options,
)
from compat.errors import SelectionError
from compat.launch import hosting
from compat.launch.archive import pack, write_archive
from compat.report.render.page import matrix_html
from compat.report.views.tune import tune_blocks, tune_document, tune_markdown, tuning_report
from compat.tune import tuning
from compat.tune.tuning import CompiledConfigs


@click.command(cls=Command)
@kernel_arguments
@selection_options
@build_options("Write a folder for a GPU host instead of an answer.")
@launched_option("compare")
@launch_options("Launch what was not launched before, on the GPU of this machine.")
@click.option(
    "--minutes",
    type=DecimalNumber(min=0, min_open=True),
    metavar="N",
    help="With --launch: the minutes that launches may take.  [default: no limit]",
)
@click.option(
    "--output",
    type=FilePath(dir_okay=False),
    help="Also write the answer to this file, as Markdown.",
)
@click.option(
    "--html",
    "page",
    type=FilePath(dir_okay=False),
    help="Also write the answer to this file, as a page.",
)
@compile_options(
    jobs=None,
    deadline=None,
    again=None,
    no_build="Do not build missing envs; leave their cells out.",
)
@answer_options(file=False, json_help="Print the answer as JSON.")
def tune(
    *,
    answer: Answer,
    folder: Path | None,
    archive: bool,
    launched: tuple[Path, ...],
    is_launching: bool,
    minutes: float | None,
    python: str | None,
    output: Path | None,
    page: Path | None,
    compiling: CompileOptions,
    **values: Unpack[SelectionOptions],
) -> None:
    """Find the best config of a kernel on each release, and what it costs to keep another.

    $ compat tune sel_dense --envs releases --target sm_90 --build tuned

    The command compiles every config that [tune] of the kernel file and the cases describe, on
    every release. On the GPU host, `python tuned/launch.py --minutes 10` checks the configs, then
    times the right ones. `compat tune sel_dense --envs releases --target sm_90 --launched
    tuned/results.jsonl` compares them. With --launch, the GPU of this machine does all of it.

    Exits with 0 if at least one kernel has an answer, and with 3 if none has or if --launch finds
    no GPU. With --build, exits with 1 if no config can be launched.
    """
    files = {"--output": output, "--html": page}
    selection, gpu = use_gpu(select(**values), is_launching, python)
    plan = tuning.plan_tuning(selection)
    with evolve(compiling, executor="local").open_context(selection) as context:
        listener = ProgressListener(judged=False)
        keep_launched(launched, context.store)
        compiled = tuning.compile_configs(plan, context, compiling.obtaining(selection), listener)
        if folder is not None:
            _write(compiled, folder, archive)
        if gpu is not None:
            options = () if minutes is None else ("--minutes", f"{minutes:g}")
            hosting.launch_and_keep(
                compiled.build(),
                selection.state / "tune",
                evolve(gpu, options=options),
                context.store,
            )
        _show(compiled, answer, files)


def _show(compiled: CompiledConfigs, answer: Answer, files: Mapping[str, Path | None]) -> None:
    """Show the answers, and write the options' files. Raises SelectionError without answers."""
    answers = compiled.answers()
    if not answers:
        raise SelectionError("no config was launched", hint=_HINT)
    answer.draw(lambda: tune_blocks(answers), lambda: tune_document(answers))
    texts: dict[str, Callable[[], str]] = {
        "--output": lambda: "\n".join(tune_markdown(answers)),
        "--html": lambda: matrix_html(tuning_report(compiled, answers, command_line())),
    }
    for option, path in files.items():
        if path is not None:
            write_file(path, texts[option](), option)
            answer.add(f"wrote {relative(path)}")


_HINT = (
    "Write a folder with --build FOLDER, launch it on a GPU host with `python FOLDER/launch.py`,"
    " and name its results with --launched FOLDER/results.jsonl."
)


def _write(compiled: CompiledConfigs, folder: Path, archive: bool) -> None:
    """Write the folder that a GPU host launches, and end the command."""
    built = compiled.build()
    program = write_archive(built, folder)
    show_built(built, program, pack(folder) if archive else None)
    sys.exit(0 if built.launchable else 1)
