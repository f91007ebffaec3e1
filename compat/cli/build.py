"""``compat build``: compile kernels into a folder that is carried to a GPU host and launched there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from compat.cli.invocation import relative
from compat.cli.opening import obtaining, opened_store
from compat.cli.progress import ProgressListener
from compat.cli.selecting import SECONDS, kernel_arguments, select, selection_options
from compat.launch import building
from compat.launch.archive import pack, write_archive
from compat.launch.building import Built


@click.command
@kernel_arguments
@selection_options
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="The folder to write.")
@click.option("--archive", is_flag=True, help="Write it as FOLDER.tar.xz, too.")
@click.option("--keep-ptx", "keep_text", is_flag=True, help="Keep what the binaries were assembled from, too.")
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="Cells compiled at the same time (default: number of cores).")
@click.option("--deadline", type=SECONDS, help="Seconds one cell may take.")
@click.option("--again", is_flag=True, help="Compile cells even if nothing has changed since their last result.")
@click.option("--no-build", is_flag=True, help="Do not build envs that are missing; their cells are left out.")
def build(
    *,
    out: Path,
    archive: bool,
    keep_text: bool,
    jobs: int | None,
    deadline: float | None,
    again: bool,
    no_build: bool,
    **chosen: Any,
) -> None:
    """Compile every chosen cell that has a problem, for one target, into a folder that needs no toolchain.

    On a machine with a GPU of that target and PyTorch, `python FOLDER/launch.py` launches them all, and writes
    FOLDER/results.jsonl; `compat matrix --launched FILE` has them in the report. Cells that do not compile are left out.

    Exits with 0 if at least one cell can be launched, else with 1.
    """
    selection = select(**chosen)
    with opened_store(selection) as store:
        context = selection.context(store, deadline=deadline, jobs=jobs, again=again)
        built = building.build(selection, context, obtaining(selection, build=not no_build), ProgressListener(selection.cells))
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
