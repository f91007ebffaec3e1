"""``compat launch``: launch what was built on the GPU of this machine."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from compat import project
from compat.cli.selecting import SECONDS
from compat.cli.showing import say
from compat.errors import ConfigError
from compat.launch import hosting, sharing
from compat.project import Selection


@click.command
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--python", metavar="PATH", help="An interpreter that has PyTorch (default: this one, else one of the envs).")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="The file of results [FOLDER/results.jsonl].")
@click.option("--cells", multiple=True, metavar="GLOB", help="Only these: kernel/variant/case/target/env.")
@click.option("--repeats", type=click.IntRange(min=2), default=30, show_default=True, help="Launches of each problem.")
@click.option("--deadline", type=SECONDS, default=30, show_default=True, help="Seconds one cell may take.")
@click.option("--no-latency", is_flag=True, help="Take no times.")
@click.option(
    "--executor",
    metavar="EXECUTOR",
    help="Where to launch: local, which is this machine, or on workers of dask://HOST:PORT that have a GPU [local].",
)
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

    The same as `python FOLDER/launch.py`, which needs nothing but PyTorch. With --executor dask://HOST:PORT it is done by those
    workers of a Dask cluster that have a GPU of the architecture, which share it. Results are added to FOLDER/results.jsonl; what
    that has is not launched again. `compat matrix --launched FILE` has them in the report.

    Exits with 0 if every cell has a result, with 1 if one is lost, with 2 if nothing could be launched, and with 3 if no
    worker can.
    """
    options = ["--repeats", f"{repeats}", "--deadline", f"{deadline:g}", *(["--no-latency"] if no_latency else [])]
    lost = _on_workers(folder, out, executor, (cells, options, python)) if executor else None
    if lost is not None:
        sys.exit(1 if lost else 0)
    options += ["--out", str(out)] if out else []
    options += [word for glob in cells for word in ("--cells", glob)]
    ended = hosting.launch(folder, python or hosting.find_python(_selection()), options)
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
