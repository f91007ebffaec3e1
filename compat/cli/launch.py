"""``compat build`` compiles kernels into a folder for a GPU host.

``compat launch`` launches them there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Unpack

import click
from attrs import evolve

from compat import project
from compat.cli.answer import FilePath, relative
from compat.cli.help import Command
from compat.cli.logs import say
from compat.cli.progress import ProgressListener
from compat.cli.resources import CompileOptions, compile_options, executor_option, python_option
from compat.cli.selecting import (
    SECONDS,
    SelectionOptions,
    WholeNumber,
    kernel_arguments,
    select,
    selection_options,
)
from compat.errors import ConfigError, SelectionError
from compat.launch import building, hosting, sharing
from compat.launch.archive import pack, write_archive
from compat.launch.building import Built
from compat.launch.hosting import YieldedProblems
from compat.project import Selection
from compat.text import amount


@click.command(cls=Command)
@click.argument("folder", type=FilePath(exists=True, file_okay=False))
@python_option
@click.option(
    "--out",
    type=FilePath(dir_okay=False),
    help="The file for results.  [default: FOLDER/results.jsonl]",
)
@click.option(
    "--cells",
    multiple=True,
    metavar="GLOB",
    help="Launch only these cells: kernel/variant/case/target/env.",
)
@click.option(
    "--repeats",
    type=WholeNumber(min=2),
    metavar="N",
    default=30,
    show_default=True,
    help="Launches of each problem, at least 2.",
)
@click.option(
    "--deadline",
    type=SECONDS,
    default=30,
    show_default=True,
    help="Seconds that one cell may take.",
)
@click.option("--no-latency", is_flag=True, help="Skip latency measurements.")
@partial(executor_option, what="launch", otherwise="local")
def launch(
    *,
    folder: Path,
    executor: str | None,
    python: str | None,
    out: Path | None,
    cells: tuple[str, ...],
    repeats: int,
    deadline: float,
    no_latency: bool,
) -> None:
    """Launch every kernel in FOLDER on a GPU, check its numbers and time it.

    $ compat launch built

    `python FOLDER/launch.py` does the same and needs only PyTorch. With --executor, those workers
    of a cluster launch that have a GPU of the right architecture. The command adds results to
    FOLDER/results.jsonl and does not launch again what that file has.
    `compat matrix --launched FILE` puts them into the report.

    Exits with 0 if every cell has a result, with 1 if one is lost, with 2 if nothing could be
    launched, and with 3 if no worker has a GPU.
    """
    options = ["--repeats", f"{repeats}", "--deadline", f"{deadline:g}"]
    options += ["--no-latency"] if no_latency else []
    lost = _on_workers(folder, out, executor, (cells, options, python)) if executor else None
    if lost is not None:
        sys.exit(1 if lost else 0)
    options += ["--out", str(out)] if out else []
    options += [word for glob in cells for word in ("--cells", glob)]
    ended = hosting.launch(folder, python or hosting.python_for(folder, _selection()), options)
    sys.exit(ended.exit_code)


def _on_workers(
    folder: Path,
    out: Path | None,
    executor: str,
    request: tuple[tuple[str, ...], list[str], str | None],
) -> int | None:
    """Launch on an executor's workers, and return the number of lost cells.

    Returns ``None`` if this machine launches.
    """
    globs, options, python = request
    with project.select_places().open_executor(executor, say=say) as where:
        return sharing.launch_folder(
            folder, where, out, globs=globs, options=options, python=python, say=say
        )


def _selection() -> Selection | None:
    """The project of the current folder, whose envs may have PyTorch; ``None`` if it is invalid."""
    try:
        return project.select_places()
    except ConfigError:
        return None


@click.command(cls=Command)
@kernel_arguments
@selection_options
@click.option(
    "--out",
    type=FilePath(file_okay=False),
    required=True,
    help="Folder for binaries, inputs and the program that launches.",
)
@click.option("--archive", is_flag=True, help="Also write the folder as FOLDER.tar.xz.")
@click.option(
    "--keep-ptx", "keep_text", is_flag=True, help="Also keep the assembly text of the binaries."
)
@compile_options(
    jobs=None,
    deadline=None,
    again=None,
    no_build="Do not build missing envs; leave their cells out.",
)
def build(
    *,
    out: Path,
    archive: bool,
    keep_text: bool,
    compiling: CompileOptions,
    **values: Unpack[SelectionOptions],
) -> None:
    """Compile the cells of one target into a folder that a GPU host launches without a toolchain.

    $ compat build --envs releases --target sm_90 --out built --archive

    The command takes every chosen cell that has a problem. On the GPU host, `python
    FOLDER/launch.py` launches them and writes FOLDER/results.jsonl. `compat matrix --launched FILE`
    puts the results into the report. The command leaves out cells that do not compile.

    Exits with 0 if at least one cell can be launched, and with 1 if none can.
    """
    selection = select(**values)
    with evolve(compiling, executor="local").open_context(selection) as context:
        built = building.build(
            selection, context, compiling.obtaining(selection), ProgressListener()
        )
    program = write_archive(built, out, keep_text=keep_text)
    packed = pack(out) if archive else None
    show_built(built, program, packed)
    _show_problems(built, out, selection)
    sys.exit(0 if built.launchable else 1)


def show_built(
    built: Built, program: Path, packed: Path | None, show: Callable[[str], object] = click.echo
) -> None:
    """Show what was written for a GPU host, and the command that launches it."""
    objects = len({launchable.binary for launchable in built.launchable})
    show(
        f"{amount(len(built.launchable), 'cell')} for {built.target.name} in"
        f" {amount(objects, 'binary', 'binaries')}: python {relative(program)}"
    )
    if packed is not None:
        show(f"packed: {relative(packed)}, {packed.stat().st_size:,} bytes")
    if built.omitted_cells:
        show(f"left out: {amount(len(built.omitted_cells), 'cell')}; index.json says why")


def _show_problems(built: Built, out: Path, selection: Selection) -> None:
    """Print how many problems each kernel has, if an interpreter here has PyTorch to count them."""
    if not built.launchable:
        return
    try:
        python = hosting.find_python(selection)
    except SelectionError:
        click.echo("problems: not counted, because no interpreter here has PyTorch")
        return
    for yielded in hosting.count_problems(built, out, python):
        click.echo(f"{yielded.kernel}: {_words_for(yielded)}")


def _words_for(yielded: YieldedProblems) -> str:
    """``3 problems (2 small, 1 large)``, and the reason if some were not counted."""
    if not yielded.numbers:
        return "problems not counted in time"
    suffix = (
        f"; {amount(yielded.missing, 'further case')} not counted in time"
        if yielded.missing
        else ""
    )
    return f"{_problems_text(yielded)}{suffix}"


def _problems_text(yielded: YieldedProblems) -> str:
    why = f" ({yielded.why})" if yielded.why else ""
    small, large = (_span(numbers) for numbers in zip(*yielded.numbers, strict=True))
    if not small:
        return f"problems not counted{why}"
    if not large:
        return f"{small} small problem{_plural(small)}; large ones not counted{why}"
    total = _span([sum(filter(None, pair)) for pair in yielded.numbers])
    if total == "0":
        return "no problem, so every launch will be lost"
    return f"{total} problem{_plural(total)} ({small} small, {large} large)"


def _plural(number: str) -> str:
    return "" if number == "1" else "s"


def _span(numbers: Sequence[int | None]) -> str:
    """``2``, or ``2 to 4`` if cases differ; empty if a number is unknown."""
    known_numbers = [number for number in numbers if number is not None]
    if len(known_numbers) < len(numbers):
        return ""
    return (
        f"{min(known_numbers)}"
        if min(known_numbers) == max(known_numbers)
        else f"{min(known_numbers)} to {max(known_numbers)}"
    )
