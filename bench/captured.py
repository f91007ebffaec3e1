"""The engine's CPU cost over plain compiles: ``python -m bench.captured 'captured/**/*.toml'``.

The engine compiles captured kernels. For comparison, unprotected processes import Triton and
compile their shares in a row (``bench/plain.py``). The time of these processes is the cost of
compiling. The figures are CPU seconds, including those of the driver and the assembler, because CPU
seconds are comparable even on a machine with other load.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import click

from bench.__main__ import LIMITS, ROOT, _engine, _envs, _plain, _shares
from compat.config.kernel_files import load_kernels
from compat.config.matrix import load_matrix
from compat.engine import plan
from compat.engine.run import RunContext, run
from compat.model import Status
from compat.store.store import Store


@click.command()
@click.argument("spec")
@click.option(
    "--envs",
    multiple=True,
    default=("triton-3.5.1",),
    show_default=True,
    help="Envs to compile in.",
)
@click.option("--every", default=1, show_default=True, help="Take only every Nth specialization.")
@click.option(
    "--slots", default=2, show_default=True, help="Processes that compile at the same time."
)
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    default=ROOT / ".compat",
    help="What is known of them, in the folder of a project.",
)
def main(spec: str, envs: tuple[str, ...], every: int, slots: int, store: Path) -> None:
    """Measure what the engine takes for captured kernels, beside a loop that compiles the same."""
    built = _envs(envs)
    targets = load_matrix(ROOT / "matrix.toml").choose_targets(("sm_90",))
    specs = load_kernels([spec], Path.cwd())[::every]
    all_cells = plan.cross([env.env for env in built.values()], targets, specs)
    with Store(store) as open_store:
        results = run(all_cells, RunContext(envs=built, store=open_store, limits=LIMITS))
    cells = [result.cell for result in results if result.outcome.status is Status.OK]
    engine = _cpu(lambda: _engine(cells, built, slots))
    loop = _cpu(lambda: _plain(_shares(cells, slots), built, slots))
    click.echo(
        f"{len(cells)} ok cells of {len(specs)} specializations in {', '.join(built)}, CPU seconds"
    )
    click.echo(f"  engine            {engine:8.2f} s")
    click.echo(f"  unprotected loop  {loop:8.2f} s   engine/loop {engine / loop:5.2f}")


def _cpu(action: Callable[[], object]) -> float:
    """CPU seconds of this process and of those that it started and waited for."""
    before = sum(os.times()[:4])
    action()
    return sum(os.times()[:4]) - before


if __name__ == "__main__":
    main()
