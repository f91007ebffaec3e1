"""``compat build`` compiles kernels into a folder that is carried to a GPU host; ``compat launch`` launches them there."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import click
from attrs import evolve

from compat import project
from compat.cli.answer import relative
from compat.cli.logs import say
from compat.cli.opening import CompileOptions, compile_options, executor_option
from compat.cli.progress import ProgressListener
from compat.cli.selecting import SECONDS, kernel_arguments, select, selection_options
from compat.errors import ConfigError
from compat.launch import building, hosting, sharing
from compat.launch.archive import pack, write_archive
from compat.launch.building import Built
from compat.project import Selection


@click.command
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--python", metavar="PATH", help="An interpreter that has PyTorch (default: this one, else one of the envs).")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="The file of results [FOLDER/results.jsonl].")
@click.option("--cells", multiple=True, metavar="GLOB", help="Only these: kernel/variant/case/target/env.")
@click.option("--repeats", type=click.IntRange(min=2), default=30, show_default=True, help="Launches of each problem.")
@click.option("--deadline", type=SECONDS, default=30, show_default=True, help="Seconds one cell may take.")
@click.option("--no-latency", is_flag=True, help="Take no times.")
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
    """Launch every kernel in FOLDER on the GPU of this machine, hold what it computes to its references, and time it.

    The same as `python FOLDER/launch.py`, which needs nothing but PyTorch. With --executor it is done by those workers of a
    cluster that have a GPU of the architecture, which share it. Results are added to FOLDER/results.jsonl; what that has is not
    launched again. `compat matrix --launched FILE` has them in the report.

    Exits with 0 if every cell has a result, with 1 if one is lost, with 2 if nothing could be launched, and with 3 if no
    worker can.
    """
    options = ["--repeats", f"{repeats}", "--deadline", f"{deadline:g}", *(["--no-latency"] if no_latency else [])]
    lost = _on_workers(folder, out, executor, (cells, options, python)) if executor else None
    if lost is not None:
        sys.exit(1 if lost else 0)
    options += ["--out", str(out)] if out else []
    options += [word for glob in cells for word in ("--cells", glob)]
    ended = hosting.launch(folder, python or hosting.python_for(folder, _selection()), options)
    sys.exit(ended.exit_code)


def _on_workers(folder: Path, out: Path | None, executor: str, asked: tuple[tuple[str, ...], list[str], str | None]) -> int | None:
    """Launch there; how many cells are lost, or ``None`` where it is this machine that launches."""
    globs, options, python = asked
    with project.select_places().open_executor(executor, say=say) as where:
        return sharing.launch_folder(folder, where, out, globs=globs, options=options, python=python, say=say)


def _selection() -> Selection | None:
    """The project here, whose envs may have PyTorch."""
    try:
        return project.select_places()
    except ConfigError:
        return None


@click.command
@kernel_arguments
@selection_options
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="The folder to write.")
@click.option("--archive", is_flag=True, help="Write it as FOLDER.tar.xz, too.")
@click.option("--keep-ptx", "keep_text", is_flag=True, help="Keep what the binaries were assembled from, too.")
@compile_options(jobs=None, deadline=None, again=None, no_build="Do not build envs that are missing; their cells are left out.")
def build(*, out: Path, archive: bool, keep_text: bool, compiling: CompileOptions, **chosen: Any) -> None:
    """Compile every chosen cell that has a problem, for one target, into a folder that needs no toolchain.

    On a machine with a GPU of that target and PyTorch, `python FOLDER/launch.py` launches them all, and writes
    FOLDER/results.jsonl; `compat matrix --launched FILE` has them in the report. Cells that do not compile are left out.

    Exits with 0 if at least one cell can be launched, else with 1.
    """
    selection = select(**chosen)
    with evolve(compiling, executor="local").opened(selection) as context:
        built = building.build(selection, context, compiling.obtaining(selection), ProgressListener())
    program = write_archive(built, out, keep_text=keep_text)
    packed = pack(out) if archive else None
    _show(built, program, packed)
    sys.exit(0 if built.launchable else 1)


def _show(built: Built, program: Path, packed: Path | None) -> None:
    objects = len({each.binary for each in built.launchable})
    click.echo(f"{len(built.launchable):,} cells for {built.target.name} in {objects:,} binaries: python {relative(program)}")
    if packed is not None:
        click.echo(f"packed: {relative(packed)}, {packed.stat().st_size:,} bytes")
    if built.left_out:
        click.echo(f"{len(built.left_out):,} cells are left out; index.json says why")
