"""How fast a bisect over all releases is: ``python -m bench.bisect``.

1. With built envs, ``compat bisect`` probes every release. For comparison, a shell loop starts one
   process per release (see ``plain.py``). Neither uses stored evidence. The first bisect starts its
   workers. The second one finds running workers, as after an edit of a kernel. The aim is at least
   4 times the speed of the loop.
2. With ``--cold``, no env is built, but the wheels are in the installer's cache. The figure is the
   seconds of ``compat bisect`` in a fresh checkout. The aim is under 15.

Nothing here is a test: a machine that is busy with other things is slower.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from bench.spent import seconds_of
from compat.config.kernel_files import load_kernels
from compat.config.matrix import load_matrix
from compat.envs.listing import INDEX
from compat.envs.provider import Builder, build_envs
from compat.envs.record import missing_envs, read_env
from compat.model import BuiltEnv, Cell
from compat.toolchains import DEFAULT
from compat.workers.attempt import InFlightCell

ROOT = Path(__file__).parent.parent
PLAIN = Path(__file__).parent / "plain.py"
TARGET = "sm_90"
KERNELS = {
    "a small kernel": (ROOT / "tests" / "kernels" / "failures.toml", "copy", "only"),
    "selection attention": (ROOT / "kernels" / "sel_dense.toml", "loop_1d", "d64"),
}
"""Printed name → kernel file, variant and case; both kernels are ok on every release."""
Kernel = tuple[Path, str, str]

CHECKOUT = ("noxfile.py", "matrix.toml", "pyproject.toml", "compat")


@click.command()
@click.option(
    "--rounds", default=3, show_default=True, help="Measurements of each; medians are printed."
)
@click.option("--cold", is_flag=True, help="Also measure a checkout without any envs.")
def main(rounds: int, cold: bool) -> None:
    """Measure how long a bisect takes, beside what people do without it."""
    built = _envs()
    click.echo(f"one kernel over {len(built)} releases, nothing known, median of {rounds}")
    for name, kernel in KERNELS.items():
        rounds_ = [_round(kernel, built) for _ in range(rounds)]
        first, next_, loop = (statistics.median(times) for times in zip(*rounds_, strict=True))
        click.echo(f"  {name}")
        click.echo(f"    a process per release   {loop:6.2f} s")
        click.echo(f"    compat bisect           {first:6.2f} s   {loop / first:5.2f} times faster")
        click.echo(f"    compat bisect, again    {next_:6.2f} s   {loop / next_:5.2f} times faster")
        if cold:
            click.echo(f"    envs not built          {_cold(kernel):6.2f} s")


def _envs() -> list[BuiltEnv]:
    config = load_matrix(ROOT / "matrix.toml")
    chosen, cache = config.choose_envs(["releases"]), config.env_cache()
    build_envs(
        Builder(cache=cache, index_cache=ROOT / INDEX, say=click.echo), missing_envs(chosen, cache)
    )
    return [read_env(env, cache) for env in chosen]


def _round(kernel: Kernel, built: list[BuiltEnv]) -> tuple[float, float, float]:
    """Seconds of the first bisect, of the second one and of the loop.

    They are measured in turn so that drift of the machine affects all three.
    """
    first = seconds_of(lambda: _ours(kernel, ROOT, "--envs", "releases"))
    _ours(kernel, ROOT, "--envs", "releases", keep=60)
    next_ = seconds_of(lambda: _ours(kernel, ROOT, "--envs", "releases", keep=60))
    return first, next_, seconds_of(lambda: _loop(kernel, built))


def _ours(kernel: Kernel, root: Path, *candidates: str, keep: int = 0) -> None:
    path, variant, case = kernel
    command = [
        sys.executable,
        "-m",
        "compat.cli",
        "bisect",
        "--spec",
        str(path),
        "--variant",
        variant,
        "--case",
        case,
    ]
    command += ["--target", TARGET, *candidates, "--again", "--json"]
    environ = {**os.environ, "COMPAT_KEEP_WORKERS": str(keep)}
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, check=True, env=environ)
    (answer,) = json.loads(done.stdout)
    assert answer["answer"] == "works", answer["sentence"]
    assert len(answer["probes"]) == len(load_matrix(ROOT / "matrix.toml").choose_envs(["releases"]))


def _loop(kernel: Kernel, built: list[BuiltEnv]) -> None:
    """Compile in one process per release, one after the other, as a loop in a shell does."""
    path, variant, case = kernel
    (target,) = load_matrix(ROOT / "matrix.toml").choose_targets([TARGET])
    (spec,) = (
        s for s in load_kernels([path.name], path.parent) if (s.variant, s.case) == (variant, case)
    )
    with tempfile.TemporaryDirectory() as folder:
        for env in built:
            jobs = Path(folder, "jobs.json")
            jobs.write_text(
                json.dumps(
                    [InFlightCell(cell=Cell(env=env.env, target=target, spec=spec), nonce="").job()]
                )
            )
            command = [str(env.python), "-I", str(PLAIN), str(DEFAULT.adapter), str(jobs)]
            done = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True
            )
            assert done.stdout.split()[-1] == "1"


def _cold(kernel: Kernel) -> float:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "checkout")
        root.mkdir()
        for name in CHECKOUT:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copy(ROOT / name, root / name)
        return seconds_of(lambda: _ours(kernel, root, "--patches"))


if __name__ == "__main__":
    main()
