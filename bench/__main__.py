"""Speed, as ratios measured side by side in one run: ``nox -s bench`` or ``python -m bench``.

1. The engine against one process per cell, and against an unprotected loop, on the same ok cells
   with as many processes.
2. A run of ``compat matrix`` in which nothing has changed.
3. The driver's time per cell when the store has the evidence of every cell.

``bench/results`` has the figures. Nothing here is a test: a machine that is busy with other things
is slower.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click
from attrs import evolve

from bench.spent import seconds_of
from compat.config.kernel_files import load_kernels
from compat.config.matrix import load_matrix
from compat.engine import plan
from compat.engine.run import RunContext, run
from compat.envs.listing import INDEX
from compat.envs.provider import Builder, build_envs
from compat.envs.record import missing_envs, read_env
from compat.executors.executor import LocalExecutor, OpenExecutor
from compat.files import folder_digest
from compat.model import (
    BuiltEnv,
    Cell,
    CompileSpec,
    CompletedAction,
    Evidence,
    Specialization,
    Status,
)
from compat.source.closure import read_source
from compat.store.keys import cell_key
from compat.store.store import Store
from compat.toolchains import DEFAULT
from compat.workers.attempt import InFlightCell, Limits
from compat.workers.spawn import WORKER

ROOT = Path(__file__).parent.parent
TARGETS = ("sm_80", "sm_89", "sm_90")
PLAIN = Path(__file__).parent / "plain.py"
LIMITS = Limits(deadline=120, memory=8 << 30)


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
@click.option(
    "--every",
    default=1,
    show_default=True,
    help="Take only every Nth specialization, to spread over more envs.",
)
@click.option(
    "--slots", default=2, show_default=True, help="Processes that compile at the same time."
)
@click.option(
    "--rounds", default=3, show_default=True, help="Measurements of each; medians are printed."
)
def main(envs: tuple[str, ...], kernels: str, every: int, slots: int, rounds: int) -> None:
    """Measure how fast the engine is, beside what people do without it."""
    built = _envs(envs)
    cells = _ok_cells(built, (_small() if kernels == "small" else _sel())[::every])
    click.echo(
        f"{len(cells)} ok cells of {kernels} kernels in {', '.join(built)}, {slots} at a time,"
        f" median of {rounds}"
    )
    engine, loop = _time_in_turn(
        lambda: _engine(cells, built, slots),
        lambda: _plain(_shares(cells, slots), built, slots),
        rounds,
    )
    per_process = seconds_of(lambda: _plain([[cell] for cell in cells], built, slots))
    click.echo(f"  engine                 {engine:8.2f} s")
    click.echo(f"  unprotected loop       {loop:8.2f} s   engine/loop    {engine / loop:5.2f}")
    click.echo(
        f"  one process per cell   {per_process:8.2f} s   per-cell/engine"
        f" {per_process / engine:5.2f}  (one round)"
    )
    click.echo(f"compat matrix, nothing changed: {_rerun(envs, rounds):.2f} s")
    click.echo(
        "driver per known cell, 20,000 cells:"
        f" {_known(next(iter(built.values())), 20_000) / 20:.3f} ms"
    )


def _envs(names: Sequence[str]) -> dict[str, BuiltEnv]:
    config = load_matrix(ROOT / "matrix.toml")
    chosen, cache = config.choose_envs(names), config.env_cache()
    build_envs(
        Builder(cache=cache, index_cache=ROOT / INDEX, say=click.echo), missing_envs(chosen, cache)
    )
    return {env.name: read_env(env, cache) for env in chosen}


def _small() -> list[Specialization]:
    """Specializations of the small kernels, over a grid of block sizes and numbers of warps."""
    source = Path(__file__).parent / "small.py"
    return [
        Specialization(
            kernel=function,
            variant="small",
            case=f"{block}x{warps}",
            source=str(source),
            function=function,
            compile=CompileSpec(
                signature={"source": "*fp32", "result": "*fp32", "size": "i32"},
                constexprs={"BLOCK": block},
                divisible_by_16=("source", "result"),
                options={"num_warps": warps},
            ),
            closure=read_source(source).closure,
        )
        for function in ("scale", "softmax", "total")
        for block in (256, 512, 1024, 2048)
        for warps in (2, 4, 8)
    ]


def _sel() -> list[Specialization]:
    """This repository's own kernels, which are large."""
    config = load_matrix(ROOT / "matrix.toml")
    return list(load_kernels(config.kernels, config.base))


def _ok_cells(built: dict[str, BuiltEnv], specs: Sequence[Specialization]) -> list[Cell]:
    """The cells with status ``ok``, according to the project's store or to a new compile."""
    targets = load_matrix(ROOT / "matrix.toml").choose_targets(TARGETS)
    cells = plan.cross([env.env for env in built.values()], targets, specs)
    with Store(ROOT / ".compat") as store:
        results = run(cells, RunContext(envs=built, store=store, limits=LIMITS))
    return [result.cell for result in results if result.outcome.status is Status.OK]


# --- three ways to compile the cells --------------------------------------------------------------


def _engine(cells: Sequence[Cell], built: dict[str, BuiltEnv], slots: int) -> None:
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder)) as store:
        results = run(cells, RunContext(envs=built, store=store, limits=LIMITS, slots=slots))
    assert all(result.outcome.status is Status.OK and not result.cached for result in results)


def _shares(cells: Sequence[Cell], slots: int) -> list[list[Cell]]:
    """Split the cells of each env evenly into shares, for one process per env and slot."""
    names = dict.fromkeys(cell.env.name for cell in cells)
    of_env = ([cell for cell in cells if cell.env.name == name] for name in names)
    return [share for group in of_env for slot in range(slots) if (share := group[slot::slots])]


def _plain(shares: Sequence[Sequence[Cell]], built: dict[str, BuiltEnv], slots: int) -> None:
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(slots) as executor:
        paths = [Path(folder, f"{number}.json") for number in range(len(shares))]
        for path, share in zip(paths, shares, strict=True):
            path.write_text(json.dumps([InFlightCell(cell=cell, nonce="").job() for cell in share]))
        pythons = [built[share[0].env.name].python for share in shares]
        plain = ["-I", str(PLAIN), str(DEFAULT.adapter)]
        commands = [
            [str(python), *plain, str(path)] for python, path in zip(pythons, paths, strict=True)
        ]
        counts = list(executor.map(_count, commands))
    assert counts == [len(share) for share in shares]


def _count(command: list[str]) -> int:
    return int(
        subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1]
    )


def _rerun(envs: Sequence[str], rounds: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "compat.cli",
            "matrix",
            "--envs",
            ",".join(envs),
            "--target",
            ",".join(TARGETS),
            "--output",
            folder,
        ]
        subprocess.run(command, check=False, cwd=ROOT, capture_output=True)
        return statistics.median(
            seconds_of(lambda: _run_without_compiles(command, folder)) for _ in range(rounds)
        )


def _run_without_compiles(command: list[str], folder: str) -> None:
    subprocess.run(command, check=False, cwd=ROOT, capture_output=True)
    cells = json.loads(Path(folder, "matrix.json").read_text())["cells"]
    assert all(cell["cached"] or cell["status"] == "env_broken" for cell in cells)


def _known(built: BuiltEnv, count: int, executor: OpenExecutor = LocalExecutor) -> float:
    """Seconds of a run of ``count`` cells when the store has the evidence of all of them."""
    config = load_matrix(ROOT / "matrix.toml")
    spec = load_kernels(config.kernels, config.base)[0]
    target = config.choose_targets(("sm_90",))[0]
    specs = [
        evolve(
            spec,
            case=f"case-{number}",
            compile=evolve(spec.compile, constexprs={**spec.compile.constexprs, "N": number}),
        )
        for number in range(count)
    ]
    cells = plan.cross([built.env], [target], specs)
    evidence = Evidence(
        answered=True,
        done=(CompletedAction(do="compile"),),
        stage="cubin",
        stages={"ast": 0.1},
        metrics={"shared": 0},
    )
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder)) as store:
        for cell in cells:
            store.write(cell_key(cell, built, folder_digest(WORKER)), cell, (evidence,))
        context = RunContext(
            envs={built.env.name: built}, store=store, limits=LIMITS, executor=executor
        )
        return seconds_of(lambda: run(cells, context))


# --- timing ---------------------------------------------------------------------------------------


def _time_in_turn(
    one: Callable[[], object], other: Callable[[], object], rounds: int
) -> tuple[float, float]:
    """Median seconds of both actions, measured in turn so that a machine's drift affects both."""
    times = [(seconds_of(one), seconds_of(other)) for _ in range(rounds)]
    return statistics.median(first for first, _ in times), statistics.median(
        second for _, second in times
    )


if __name__ == "__main__":
    main()
