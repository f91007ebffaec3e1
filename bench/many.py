"""How the cost of a run grows with the number of cells: ``python -m bench.many``.

Made-up projects of 50,000, 100,000 and 200,000 cells go through all of ``compat matrix``:
selection, plan, batches, store, verdicts and reports. Their worker answers at once and compiles
nothing (``tests/large``). Each project runs twice, in separate processes. In the second run, the
store has the evidence of every cell.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click
from attrs import frozen


@frozen
class Took:
    """The cost of a run."""

    clock: float
    """Seconds of wall time."""
    cpu: float
    """CPU seconds, including those of workers."""
    memory: float
    """Peak memory of the driver's process, in MB."""

    def per_cell(self, cells: int) -> str:
        """The cost in words, with seconds per cell for a run of ``cells`` cells."""
        cost = (
            f"{self.clock / cells * 1e3:.2f} ms a cell, of the processor"
            f" {self.cpu / cells * 1e3:.2f} ms"
        )
        return f"{self.clock:.0f} s, {cost}; {self.memory:.0f} MB"


@click.command()
@click.option(
    "--cells",
    multiple=True,
    type=int,
    default=(50_000, 100_000, 200_000),
    show_default=True,
    help="How many.",
)
@click.option("--steps", is_flag=True, help="Print what each step took, too.")
def main(cells: tuple[int, ...], steps: bool) -> None:
    """Measure runs of many cells."""
    for count in cells:
        with tempfile.TemporaryDirectory() as folder:
            for what in ("nothing known", "everything known"):
                click.echo(
                    f"{count:,} cells, {what}:"
                    f" {_took(Path(folder, 'project'), count, steps).per_cell(count)}"
                )


def _took(folder: Path, cells: int, steps: bool) -> Took:
    command = [sys.executable, "-m", "tests.large", str(folder), str(cells)]
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise click.ClickException(output)
    if steps:
        click.echo(output.rstrip())
    return Took(
        time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    )


if __name__ == "__main__":
    main()
