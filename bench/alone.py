"""Compile each cell in a process without triton-compat: ``python -m bench.alone SPEC…``.

``--package`` names libraries in place of kernel files, and ``--sample 50`` takes 50 of the cells.

The worker compiles the cells of each env as it does for ``compat matrix``. For comparison, a repro
script compiles each cell in its own process, with Triton alone. A cell is equal if both make the
same assembly, or if neither makes any. The benchmark prints the cells that differ, and exits with 1
if there is one.
"""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from bench.__main__ import LIMITS, ROOT, _envs
from compat import project, toolchains
from compat.bundle.bundle import bundle
from compat.model import BuiltEnv, Cell
from compat.repro.script import Script
from compat.workers.spawn import OwnWorker
from compat.workers.watch import attempt

WITHOUT_LINES = {"TRITON_DISABLE_LINE_INFO": "1"}
ASSEMBLY = ("ptx", "amdgcn")


@click.command()
@click.argument("specs", nargs=-1)
@click.option("--package", "packages", multiple=True, help="A library: gemlite==0.6.0.post2.")
@click.option("--sample", type=int, help="The number of cells, chosen by chance.  [default: all]")
@click.option("--envs", multiple=True, default=("releases",), show_default=True)
@click.option("--target", "targets", multiple=True, default=("sm_90",), show_default=True)
@click.option("--slots", default=2, show_default=True, help="Processes at the same time.")
def main(
    specs: tuple[str, ...],
    packages: tuple[str, ...],
    sample: int | None,
    envs: tuple[str, ...],
    targets: tuple[str, ...],
    slots: int,
) -> None:
    """Compare what the worker makes of cells with what processes of their own make."""
    built = _envs(envs)
    cells = project.select(
        ROOT / "matrix.toml", envs=envs, targets=targets, kernel_files=specs, packages=packages
    ).cells
    if sample is not None:
        cells = tuple(random.Random(0).sample(cells, min(sample, len(cells))))
    worker = {cell.id: digest for name in built for cell, digest in _by_worker(built[name], cells)}
    with ThreadPoolExecutor(slots) as executor:
        alone = executor.map(lambda cell: _alone(cell, built[cell.env.name]), cells)
        differing = [
            (cell, worker[cell.id], digest)
            for cell, digest in zip(cells, alone, strict=True)
            if worker[cell.id] != digest
        ]
    for cell, one, other in differing:
        click.echo(f"{cell.id}: {one or 'nothing'} in the worker, {other or 'nothing'} alone")
    compiled = sum(digest is not None for digest in worker.values())
    click.echo(f"{len(cells)} cells, {compiled} compiled, {len(differing)} differ")
    sys.exit(bool(differing))


def _by_worker(env: BuiltEnv, cells: tuple[Cell, ...]) -> list[tuple[Cell, str | None]]:
    """Compile the cells of an env in one worker; return each cell with the hash of its assembly.

    The hash is ``None`` if the worker makes no assembly.
    """
    assert env.python
    env_cells = [cell for cell in cells if cell.env == env.env]
    with OwnWorker(env.python, variables=WITHOUT_LINES) as server:
        attempts = attempt(server, env_cells, LIMITS, stop=threading.Event())
        return [
            (
                cell,
                next((artifacts[stage].digest for stage in ASSEMBLY if stage in artifacts), None),
            )
            for cell, evidence in attempts
            for artifacts in [evidence.done[0].outputs if evidence.has_binary else {}]
        ]


def _alone(cell: Cell, env: BuiltEnv) -> str | None:
    """The hash of the assembly that a cell's repro script makes; ``None`` if it makes none."""
    assert env.python
    toolchain = toolchains.of(cell.env)
    calls = toolchain.language.script
    assert calls is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "script.py"
        script = Script(
            name="script",
            bundle=bundle(
                cell.spec,
                decorators=toolchain.language.decorators,
                constant=toolchain.language.constant,
                package=toolchain.language.package,
            ),
            target=cell.target,
            release=env.release or "",
            form=calls.form_of(env.release),
            toolchain=toolchain,
            calls=calls,
            requires_python=">=3.9",
            dependencies=(),
            headline="",
            message="",
            expected="",
            prediction="",
        )
        path.write_text(script.source(), encoding="utf-8")
        cache = Path(folder) / "cache"
        ran = subprocess.run(
            [env.python, str(path), "compile"],
            env={**os.environ, **WITHOUT_LINES, "TRITON_CACHE_DIR": str(cache)},
            cwd=folder,
            capture_output=True,
            check=False,
        )
        files = [file for stage in ASSEMBLY for file in cache.rglob(f"*.{stage}")]
        if ran.returncode or not files:
            return None
        return hashlib.sha256(files[0].read_bytes()).hexdigest()[:_DIGITS]


_DIGITS = 16
"""Digits of a hash, as in the worker's answer."""


if __name__ == "__main__":
    main()
