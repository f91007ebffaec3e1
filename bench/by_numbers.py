"""``python -m bench.by_numbers``: candidates per second, with one launcher or one per candidate.

On a machine without a GPU, ``--library`` names a stand-in for the GPU's driver
(``tests/launch/standin.c``), and the launches run on the CPU. Then the figures include the import
of PyTorch and the start of processes, but not the cost of the GPU and its driver.
"""

from __future__ import annotations

import tempfile
import time
from contextlib import closing
from pathlib import Path

import click

from compat.launch import hosting
from compat.launch.building import Launchable, build
from compat.launch.hosting import Comparer, Gpu
from compat.project import Listener, select

ROOT = Path(__file__).parent.parent
ROUNDS, DEADLINE = 30, 60.0


@click.command()
@click.option(
    "--library", type=click.Path(exists=True), help="A stand-in for the driver's library."
)
@click.option("--python", help="An interpreter that has PyTorch.")
@click.option(
    "--spec",
    default=str(ROOT / "tests/launch/kernels/by_code.toml"),
    show_default=True,
    help="A kernel file.",
)
@click.option("--envs", default="3.1.0,3.2.0", show_default=True, help="Two releases.")
@click.option(
    "--count",
    default=20,
    show_default=True,
    help="How often the kernel is compared, as if it were so many candidates.",
)
def main(library: str | None, python: str | None, spec: str, envs: str, count: int) -> None:
    """Compare the builds of two releases again and again."""
    with tempfile.TemporaryDirectory() as folder:
        matrix = Path(folder, "matrix.toml")
        matrix.write_text(f'schema = 1\nkernels = ["{Path(spec).resolve()}"]\n')
        selection = select(matrix, envs=(envs,), targets=("sm_90",))
        options = ("--device", "cpu", "--library", str(Path(library).resolve())) if library else ()
        python = python or hosting.find_python(select(ROOT / "matrix.toml", envs=("*",)))
        gpu = Gpu(target=selection.targets[0], python=python, options=options)
        with selection.open_store() as store:
            built = build(
                selection, selection.context(store), selection.build_envs, Listener()
            ).launchable
        _report("one that stays", count, _staying(built, gpu, count))
        few = min(count, 3)
        _report("one for each", few, sum(_staying(built, gpu, 1) for _ in range(few)))


def _staying(built: tuple[Launchable, ...], gpu: Gpu, count: int) -> float:
    """Seconds of ``count`` comparisons by one launcher, including its start."""
    old, new = built[:2]
    began = time.monotonic()
    with closing(Comparer(new, gpu)) as comparer:
        click.echo(f"  started in {time.monotonic() - began:.1f} s")
        for _ in range(count):
            comparer.ask([new], [old], ROUNDS, DEADLINE, None)
    return time.monotonic() - began


def _report(what: str, count: int, seconds: float) -> None:
    click.echo(
        f"{what}: {count} candidates in {seconds:.1f} s, {1000 * seconds / count:.0f} ms each"
    )


if __name__ == "__main__":
    main()
