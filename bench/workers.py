"""How a run scales with Dask workers: ``python -m bench.workers reports/matrix.json``.

Cells wait as long as real compiles took, according to a ``matrix.json``. They go through the
driver, the scheduler and 1, 2, 4 and 8 workers of one thread each. Waiting takes no CPU time, so
eight workers can run on two cores. All other work of the workers and the driver is real. Efficiency
is the time with one worker, divided by the number of workers and by the time with them.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from bench.__main__ import LIMITS, _envs
from bench.spent import Spent, spent
from compat.config.matrix import load_matrix
from compat.engine.run import RunContext, run
from compat.executors.dask.cluster import DaskSettings
from compat.executors.dask.executor import DaskExecutor
from compat.executors.dask.session import DaskSession
from compat.model import BuiltEnv, Cell, CompileSpec, Specialization, Status
from compat.source.closure import read_source
from compat.store.store import Store

ROOT = Path(__file__).parent.parent
WAITING = Path(__file__).parent / "waiting"
"""The folder of the worker's program."""
_SOURCE = (
    "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef cell(WAIT: tl.constexpr,"
    " CELL: tl.constexpr):\n    pass\n"
)


@click.command()
@click.argument("matrix", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--workers",
    multiple=True,
    type=int,
    default=(1, 2, 4, 8),
    show_default=True,
    help="How many; the first is the measure.",
)
@click.option("--every", default=1, show_default=True, help="Take only every Nth cell.")
@click.option("--rounds", default=1, show_default=True, help="Measurements of each.")
def main(matrix: Path, workers: tuple[int, ...], every: int, rounds: int) -> None:
    """Measure how much faster more Dask workers are."""
    with tempfile.TemporaryDirectory() as folder:
        recorded = json.loads(matrix.read_text())["cells"][::every]
        built = _envs(tuple(dict.fromkeys(cell["env"] for cell in recorded)))
        cells = _waiting(recorded, built, Path(folder))
        waits = sum(cell["seconds"] for cell in recorded)
        click.echo(f"{len(cells)} cells of {len(built)} envs, which wait {waits:.1f} s together")
        for _ in range(rounds):
            first: float | None = None
            for count in workers:
                starting, took = _measure_costs(cells, built, count)
                first = first or took.clock * count
                click.echo(
                    f"  {count} workers  {took}; efficiency {first / count / took.clock:.2f}, of no"
                    f" overhead at all {waits / count / took.clock:.2f}; starting them"
                    f" {starting.clock:.1f} s"
                )


def _waiting(
    recorded: Sequence[dict[str, object]], built: dict[str, BuiltEnv], folder: Path
) -> list[Cell]:
    """Cells that wait as long as the recorded ones took.

    Each kernel has its own source, as in the recorded run.
    """
    config = load_matrix(ROOT / "matrix.toml")
    return [
        Cell(
            env=built[str(record["env"])].env,
            target=config.choose_targets((str(record["target"]),))[0],
            spec=_spec(folder / f"{record['kernel']}.py", number, record),
        )
        for number, record in enumerate(recorded)
    ]


def _spec(source: Path, number: int, record: dict[str, object]) -> Specialization:
    if not source.exists():
        source.write_text(_SOURCE)
    return Specialization(
        kernel=str(record["kernel"]),
        variant=str(record["variant"]),
        case=str(record["case"]),
        source=str(source),
        function="cell",
        compile=CompileSpec(
            signature={},
            constexprs={"WAIT": round(float(str(record["seconds"])) * 1000), "CELL": number},
        ),
        closure=read_source(source).closure,
    )


def _measure_costs(
    cells: Sequence[Cell], built: dict[str, BuiltEnv], count: int
) -> tuple[Spent, Spent]:
    """The cost of starting ``count`` workers, and the cost of the cells on them."""
    settings = DaskSettings(where="bench", workers=count)
    with (
        DaskSession(settings) as session,
        tempfile.TemporaryDirectory() as folder,
        Store(Path(folder)) as store,
    ):
        starting = spent(lambda: session.client)
        context = RunContext(
            envs=built,
            store=store,
            limits=LIMITS,
            worker=WAITING,
            executor=partial(DaskExecutor, session),
        )
        return starting, spent(lambda: _run(cells, context))


def _run(cells: Sequence[Cell], context: RunContext) -> None:
    assert all(
        result.outcome.status is Status.OK and not result.cached for result in run(cells, context)
    )


if __name__ == "__main__":
    main()
