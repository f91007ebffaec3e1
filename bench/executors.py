"""The cost of the Dask executor over the local one: ``python -m bench.executors``.

1. Real compiles on two Dask workers of this machine, and on two slots of the local executor, in
   turn. The time to start the cluster is a separate figure.
2. A run for which the store has all evidence: it imports no part of Dask.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from bench.__main__ import LIMITS, _envs, _known, _ok_cells, _sel, _small
from bench.spent import Spent, spent
from compat.engine.run import RunContext, run
from compat.executors.dask.cluster import DaskSettings
from compat.executors.dask.executor import DaskExecutor
from compat.executors.dask.session import DaskSession
from compat.executors.executor import LocalExecutor, OpenExecutor
from compat.model import BuiltEnv, Cell, Status
from compat.store.store import Store

KNOWN = 20_000
"""Cells of the run for which the store has all evidence."""


@click.command()
@click.option(
    "--envs",
    multiple=True,
    default=("triton-3.1.0", "triton-3.5.1"),
    show_default=True,
    help="Envs to compile in.",
)
@click.option(
    "--kernels",
    type=click.Choice(["small", "sel"]),
    default="small",
    show_default=True,
    help="What to compile.",
)
@click.option("--every", default=1, show_default=True, help="Take only every Nth specialization.")
@click.option(
    "--slots", default=2, show_default=True, help="Workers of one thread each, and slots."
)
@click.option(
    "--rounds", default=3, show_default=True, help="Measurements of each; medians are printed."
)
@click.option(
    "--known",
    is_flag=True,
    help="Measure only a run in which everything is known, and print what it imports of Dask.",
)
def main(
    envs: tuple[str, ...], kernels: str, every: int, slots: int, rounds: int, known: bool
) -> None:
    """Measure the Dask executor beside the local one."""
    built = _envs(envs)
    if known:
        _tell_known(next(iter(built.values())))
        return
    cells = _ok_cells(built, (_small() if kernels == "small" else _sel())[::every])
    click.echo(
        f"{len(cells)} ok cells of {kernels} kernels in {', '.join(built)}, {slots} at a time,"
        f" median of {rounds}"
    )
    measurements = [
        (_dask(cells, built, slots), _compile_cost(cells, built, slots, LocalExecutor))
        for _ in range(rounds)
    ]
    dask, local = (
        _median([dask for (_, dask), _ in measurements]),
        _median([local for _, local in measurements]),
    )
    click.echo(
        f"  Dask   {dask}; starting and ending the cluster"
        f" {_median([starting for (starting, _), _ in measurements])}"
    )
    click.echo(f"  local  {local}")
    click.echo(
        f"  ratio  {dask.clock / local.clock:.2f} on the clock, {dask.cpu / local.cpu:.2f} of the"
        " processor"
    )
    command = [sys.executable, "-m", "bench.executors", "--known", "--envs", envs[0]]
    click.echo(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())


def _dask(cells: Sequence[Cell], built: dict[str, BuiltEnv], slots: int) -> tuple[Spent, Spent]:
    """The cost of starting a cluster, and the cost of compiling the cells on it."""
    with DaskSession(DaskSettings(where="bench", workers=slots)) as session:
        starting = spent(lambda: session.client)
        return starting, _compile_cost(cells, built, slots, partial(DaskExecutor, session))


def _compile_cost(
    cells: Sequence[Cell], built: dict[str, BuiltEnv], slots: int, executor: OpenExecutor
) -> Spent:
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder)) as store:
        context = RunContext(envs=built, store=store, limits=LIMITS, slots=slots, executor=executor)
        return spent(lambda: _check_run(cells, context))


def _check_run(cells: Sequence[Cell], context: RunContext) -> None:
    assert all(
        result.outcome.status is Status.OK and not result.cached for result in run(cells, context)
    )


def _tell_known(built: BuiltEnv) -> None:
    """Run known cells with a Dask session, and print the seconds and the imported Dask modules."""
    with DaskSession(DaskSettings(where="bench", workers=2)) as session:
        seconds = _known(built, KNOWN, partial(DaskExecutor, session))
    imported = sorted({"dask", "distributed"} & set(sys.modules))
    click.echo(
        f"{KNOWN:,} known cells with --executor dask:local: {seconds:.2f} s; imported of Dask:"
        f" {', '.join(imported) or 'nothing'}"
    )


def _median(measured: Sequence[Spent]) -> Spent:
    return Spent(
        statistics.median(sample.clock for sample in measured),
        statistics.median(sample.cpu for sample in measured),
    )


if __name__ == "__main__":
    main()
