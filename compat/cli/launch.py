"""``compat launch``: launch what was built on the GPU of this machine."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from compat import project
from compat.cli.selecting import SECONDS
from compat.errors import ConfigError
from compat.launch import hosting
from compat.project import Selection


@click.command(short_help="Launch on a GPU what compat build has compiled.")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--python", metavar="PATH", help="An interpreter that has PyTorch (default: this one, else one of the envs).")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="The file of results [FOLDER/results.jsonl].")
@click.option("--cells", multiple=True, metavar="GLOB", help="Only these: kernel/variant/case/target/env.")
@click.option("--repeats", type=click.IntRange(min=2), default=30, show_default=True, help="Launches of each problem.")
@click.option("--deadline", type=SECONDS, default=30, show_default=True, help="Seconds one cell may take.")
@click.option("--no-latency", is_flag=True, help="Take no times.")
def launch(
    *,
    folder: Path,
    python: str | None,
    out: Path | None,
    cells: tuple[str, ...],
    repeats: int,
    deadline: float,
    no_latency: bool,
) -> None:
    """Launch every kernel in FOLDER on the GPU of this machine, hold what it computes to its references, and time it.

    The same as `python FOLDER/launch.py`, which needs nothing but PyTorch. Results are added to FOLDER/results.jsonl; what that
    has is not launched again. `compat matrix --launched FILE` has them in the report.

    Exits with 0 if every cell has a result, with 1 if one is lost, and with 2 if nothing could be launched.
    """
    options = ["--repeats", f"{repeats}", "--deadline", f"{deadline:g}", *(["--no-latency"] if no_latency else [])]
    options += ["--out", str(out)] if out else []
    options += [word for glob in cells for word in ("--cells", glob)]
    ended = hosting.launch(folder, python or hosting.find_python(_selection()), options)
    sys.exit(ended.exit_code)


def _selection() -> Selection | None:
    """The project here, whose envs may have PyTorch."""
    try:
        return project.select_places()
    except ConfigError:
        return None
