"""``compat matrix``: compile every chosen cell and say what was found."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from compat import run
from compat.cli.invocation import INTERRUPTED, command_line
from compat.cli.obtaining import Obtainer
from compat.cli.progress import Progress
from compat.cli.selecting import select, selection_options
from compat.errors import StoreError
from compat.files import replace_file
from compat.model import Cell, Result
from compat.report import Report, document, markdown
from compat.report.terminal import TerminalReport
from compat.run import Bench, Interrupted
from compat.search.verdict import verdicts
from compat.store import Store


@click.command()
@selection_options
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), help="Folder for matrix.md and matrix.json [reports].")
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="Cells compiled at the same time (default: the cores there are).")
@click.option("--deadline", type=click.FloatRange(min=0, min_open=True), help="Seconds one cell may take.")
@click.option("--again", is_flag=True, help="Compile cells even where nothing has changed since their last result.")
@click.option("--no-build", is_flag=True, help="Do not build envs that are missing; report them as broken.")
def matrix(
    *,
    output: Path | None,
    jobs: int | None,
    deadline: float | None,
    again: bool,
    no_build: bool,
    **chosen: Any,
) -> None:
    """Compile every chosen cell, and write reports/matrix.md and reports/matrix.json.

    Exits with 0 when every cell came out as declared, with 1 when one did not.
    """
    selection = select(**chosen)
    started = time.monotonic()
    obtain = Obtainer(root=selection.root, matrix=selection.config.path, build=not no_build)
    envs = obtain(selection.envs)
    with Store(selection.state) as store:
        results = _results(selection.cells, selection.bench(store, obtain.envs, deadline=deadline, jobs=jobs, again=again))
    found = Report(
        results=results,
        verdicts=verdicts(results),
        envs=tuple(envs),
        command=command_line(),
        seconds=time.monotonic() - started,
    )
    folder = output or selection.root / "reports"
    written = _write(found, folder)
    Console(highlight=False, soft_wrap=False).print(TerminalReport(report=found))
    click.echo(f"wrote {' and '.join(written)}")
    sys.exit(1 if found.unexpected else 0)


def _results(cells: Sequence[Cell], bench: Bench) -> tuple[Result, ...]:
    with Progress(len(cells)) as progress:
        try:
            return run.run(cells, bench, progress.note)
        except Interrupted as interrupted:
            progress.stop()
            click.echo(
                f"interrupted: {interrupted.done:,} of {interrupted.total:,} cells are done and kept; "
                "the same command goes on from there",
                err=True,
            )
            sys.exit(INTERRUPTED)


def _write(found: Report, folder: Path) -> list[str]:
    """Write both reports, each whole or not at all. Raises StoreError where the folder will not have them."""
    texts = {"matrix.md": markdown.render(found), "matrix.json": document.dump(document.matrix_document(found))}
    try:
        for name, text in texts.items():
            replace_file(folder / name, text)
    except OSError as error:
        raise StoreError(
            f"the report could not be written: {error}",
            where=str(folder),
            hint="All results are kept: run the same command with another --output; nothing is compiled again.",
        ) from error
    return [_relative(folder / name) for name in texts]


def _relative(path: Path) -> str:
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
