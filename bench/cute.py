"""The time that the engine adds to compiles with CuTe DSL: ``python -m bench.cute``.

1. The engine compiles in child processes of workers that have imported CuTe DSL. For comparison,
   one process makes the same compiles in a row, and its import does not count. The aim is at most
   1.3 times as long.
2. ``compat bisect --all`` of one kernel over all releases, without stored evidence, against one
   process per release. The aim is at most twice the processor time of those processes, divided by
   the number of cores. The first bisect starts its workers; the second one finds them running.

Nothing here is a test: a machine that is busy with other things is slower.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import click

from bench.spent import seconds_of
from compat import toolchains
from compat.config.kernel_files import load_kernels
from compat.config.matrix import load_matrix
from compat.engine import plan
from compat.engine.run import RunContext, run
from compat.envs.listing import INDEX
from compat.envs.provider import Builder, build_envs
from compat.envs.record import missing_envs, read_env
from compat.model import BuiltEnv, Cell, Specialization, Status
from compat.processes.supervisor import AVAILABLE_CORES
from compat.store.store import Store
from compat.workers.attempt import InFlightCell, Limits

ROOT = Path(__file__).parent.parent
PLAIN = Path(__file__).parent / "plain_cute.py"
KERNELS = ("kernels/cute/*.toml",)
CUTE = toolchains.look_up("cute")
LIMITS = Limits(deadline=300, memory=8 << 30)
STAY = 60.0
"""Seconds for which workers wait for the next command."""


@click.command()
@click.option(
    "--envs",
    multiple=True,
    default=("cute-4.2.1", "cute-4.5.3", "cute-4.8.1"),
    show_default=True,
    help="Envs of the first part.",
)
@click.option("--target", default="sm_90a", show_default=True)
@click.option("--kernel", default="cute_copy", show_default=True, help="What is bisected.")
@click.option(
    "--rounds", default=3, show_default=True, help="Measurements of each; medians are printed."
)
def main(envs: tuple[str, ...], target: str, kernel: str, rounds: int) -> None:
    """Measure what the engine adds to a compile, and how long a bisect takes."""
    for env in _envs(envs):
        cells = _ok_cells(env, target)
        engine, compiles = _engine_and_compiles(cells, env, rounds)
        ratio = engine / compiles
        click.echo(
            f"{env.env.name}: {len(cells)} cells, engine {engine:.2f} s, compiles {compiles:.2f} s,"
            f" ratio {ratio:.2f}"
        )
    measured = [_time_bisects(kernel, target) for _ in range(rounds)]
    first, again, loop, processor = (
        statistics.median(seconds) for seconds in zip(*measured, strict=True)
    )
    share = processor / AVAILABLE_CORES
    click.echo(f"{kernel} over the releases, median of {rounds}")
    click.echo(
        f"  a process per release   {loop:6.2f} s, {processor:.2f} s of the processor, {share:.2f}"
        f" s on {AVAILABLE_CORES} cores"
    )
    click.echo(f"  compat bisect --all     {first:6.2f} s   {first / share:5.2f} times that")
    click.echo(f"  the same, again         {again:6.2f} s   {again / share:5.2f} times that")


def _envs(names: Sequence[str]) -> list[BuiltEnv]:
    config = load_matrix(ROOT / "matrix.toml")
    chosen, cache = config.choose_envs(names), config.env_cache()
    build_envs(
        Builder(cache=cache, index_cache=ROOT / INDEX, say=click.echo), missing_envs(chosen, cache)
    )
    return [read_env(env, cache) for env in chosen]


def _specs() -> list[Specialization]:
    return list(load_kernels(KERNELS, ROOT))


def _ok_cells(env: BuiltEnv, target: str) -> list[Cell]:
    """The cells that compile in an env."""
    named = [device_target for device_target in CUTE.device.targets if device_target.name == target]
    cells = plan.cross([env.env], named, _specs())
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder)) as store:
        results = run(
            cells,
            RunContext(envs={env.env.name: env}, store=store, limits=LIMITS, idle_timeout=STAY),
        )
    return [result.cell for result in results if result.outcome.status is Status.OK]


def _engine_and_compiles(cells: Sequence[Cell], env: BuiltEnv, rounds: int) -> tuple[float, float]:
    """Median seconds of the engine and of plain compiles.

    They are measured in turn so that drift of the machine affects both.
    """
    pairs = [
        (seconds_of(lambda: _engine(cells, env)), _plain(cells, env)[1]) for _ in range(rounds)
    ]
    engine, compiles = (statistics.median(seconds) for seconds in zip(*pairs, strict=True))
    return engine, compiles


def _engine(cells: Sequence[Cell], env: BuiltEnv) -> None:
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder)) as store:
        results = run(
            cells,
            RunContext(
                envs={env.env.name: env}, store=store, limits=LIMITS, slots=1, idle_timeout=STAY
            ),
        )
    assert all(result.outcome.status is Status.OK and not result.cached for result in results)


def _plain(cells: Sequence[Cell], env: BuiltEnv) -> tuple[float, float, float]:
    """Seconds of the import, seconds of the compiles, and CPU seconds of one plain process."""
    with tempfile.TemporaryDirectory() as folder:
        jobs = Path(folder, "jobs.json")
        jobs.write_text(json.dumps([InFlightCell(cell=cell, nonce="").job() for cell in cells]))
        command = [str(env.python), "-I", str(PLAIN), str(CUTE.adapter), str(jobs)]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            assert process.stdout is not None
            count, imported, compiles = process.stdout.read().split()[-3:]
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
    assert (process.returncode, int(count)) == (0, len(cells))
    return float(imported), float(compiles), usage.ru_utime + usage.ru_stime


def _time_bisects(kernel: str, target: str) -> tuple[float, float, float, float]:
    """Seconds of the first bisect, of the second one, and of a process per release in a row.

    The fourth figure is the CPU seconds of those processes.
    """
    envs = _envs(["cute-releases"])
    spec = next(spec for spec in _specs() if spec.kernel == kernel)
    (named,) = (
        device_target for device_target in CUTE.device.targets if device_target.name == target
    )
    first = seconds_of(lambda: _bisect(spec, target, keep=0))
    _bisect(spec, target, keep=120)
    again = seconds_of(lambda: _bisect(spec, target, keep=120))
    began = time.perf_counter()
    processor = sum(_plain([Cell(env=env.env, target=named, spec=spec)], env)[2] for env in envs)
    return first, again, time.perf_counter() - began, processor


def _bisect(spec: Specialization, target: str, *, keep: int) -> None:
    command = [
        sys.executable,
        "-m",
        "compat.cli",
        "bisect",
        "--spec",
        *KERNELS,
        "--kernel",
        spec.kernel,
        "--variant",
        spec.variant,
    ]
    command += [
        "--case",
        spec.case,
        "--target",
        target,
        "--envs",
        "cute-releases",
        "--all",
        "--again",
        "--json",
    ]
    environ = {**os.environ, "COMPAT_KEEP_WORKERS": str(keep)}
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, env=environ)
    (answer,) = json.loads(done.stdout)
    assert len(answer["probes"]) == len(
        load_matrix(ROOT / "matrix.toml").choose_envs(["cute-releases"])
    ), answer["sentence"]


if __name__ == "__main__":
    main()
