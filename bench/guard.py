"""The time of a guard's import on each Python here: ``python -m bench.guard [MATRIX_JSON]``.

The figures are milliseconds of the import alone, as ``-X importtime`` counts them. Each is the
minimum over several rounds, with and without a cached bytecode file. Nothing here is a test.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

import click

from compat.envs.interpreters import present
from compat.guard import Request, guard_text, make_guard
from compat.report.folder import read_report

MODULE = "_triton_guard"


@click.command()
@click.argument("name", metavar="[FILE]", default="reports/matrix.json")
@click.option("--kernel", multiple=True, metavar="GLOB", help="Kernels [all].")
@click.option("--rounds", default=10, show_default=True)
def main(name: str, kernel: tuple[str, ...], rounds: int) -> None:
    """Measure the import of a guard for the kernels of a report."""
    text = guard_text(make_guard(read_report(name), Request(kernels=kernel)))
    click.echo(f"{len(text):,} characters; milliseconds, least of {rounds}")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, f"{MODULE}.py").write_text(text, encoding="utf-8")
        for (major, minor), (python, *_) in sorted(present().items()):
            if (major, minor) >= (3, 8):
                first, again = (
                    min(_import(python, folder, uses_cache) for _ in range(rounds))
                    for uses_cache in (False, True)
                )
                click.echo(
                    f"  Python {major}.{minor:<3} compiled before {again:6.2f}   not compiled"
                    f" before {first:6.2f}"
                )


def _import(python: str, folder: str, uses_cache: bool) -> float:
    """Milliseconds of one import; with ``uses_cache``, Python keeps and reuses its bytecode."""
    own = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "" if uses_cache else "1",
        "PYTHONPYCACHEPREFIX": str(Path(folder, str(uses_cache))),
    }
    command = [python, "-X", "importtime", "-c", f"import {MODULE}"]
    stderr = subprocess.run(
        command, cwd=folder, env=own, capture_output=True, text=True, check=True
    ).stderr
    (line,) = re.findall(rf"\|\s+(\d+) \| {MODULE}$", stderr, re.MULTILINE)
    return int(line) / 1000


if __name__ == "__main__":
    main()
