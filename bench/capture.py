"""The cost of recording a program's launches: ``python -m bench.capture``.

``… --python PYTHON -- PROGRAM [ARGUMENT]…`` names another program. A program runs without a GPU
twice: once with the fake GPU and the recorder, and once with the fake GPU alone. Neither run
compares code. The default program imports PyTorch and a small library, and launches its kernels
repeatedly.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from bench.__main__ import ROOT
from compat.capturing.capturing import command
from compat.capturing.checking import CodeCheck, Options, capturing_of, recorder_settings, variables
from compat.config.matrix import load_matrix
from compat.envs.record import read_env
from compat.toolchains import DEFAULT

LIBRARY = ROOT / "tests" / "capturing" / "library"
PROGRAM = """
import torch
from waves import operators

for number in range({rounds}):
    x = torch.ones(64 + number % 256, device="cuda")
    operators.apply(x, "exp")
    operators.double(x)
    operators.scaled(x, x)
    operators.padded(x)
"""
NOT_RECORDING = """
import sys
sys.path[:] = [{start!r} if each == {here!r} else each for each in sys.path]
import importlib.abc

class Idle(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "triton":
            sys.meta_path.remove(self)
            launches = sys.modules["_compat_toolchains.triton.inside.recorder.launches"]
            launches.watch = lambda *_: None

sys.meta_path.insert(0, Idle())
sys.modules.pop("sitecustomize", None)
import sitecustomize
"""


@click.command(context_settings={"allow_interspersed_args": False})
@click.option(
    "--env", default="triton-3.5.1-torch-2.9.1", show_default=True, help="An env with PyTorch."
)
@click.option(
    "--python",
    "other",
    help="The Python of another environment, with PyTorch and what the program needs.",
)
@click.option(
    "--launches", default=4000, show_default=True, help="Launches that the program makes."
)
@click.option(
    "--rounds", default=3, show_default=True, help="Measurements of each; medians are printed."
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def main(env: str, other: str | None, launches: int, rounds: int, words: tuple[str, ...]) -> None:
    """Measure a program with and without recording."""
    python = other or _python_of(env)
    with tempfile.TemporaryDirectory() as folder:
        program, idle = Path(folder, "program.py"), Path(folder, "idle")
        program.write_text(PROGRAM.format(rounds=launches // 4))
        idle.mkdir()
        (idle / "sitecustomize.py").write_text(
            NOT_RECORDING.format(here=str(idle), start=str(capturing_of(DEFAULT).start))
        )
        arguments = command(words or (str(program),), python)
        times = [
            (_seconds(arguments, capturing_of(DEFAULT).start), _seconds(arguments, idle))
            for _ in range(rounds)
        ]
    recorded, plain = (statistics.median(samples) for samples in zip(*times, strict=True))
    click.echo(
        f"{' '.join(words) or f'{launches:,} launches'} in {other or env}, median of {rounds}"
    )
    click.echo(f"  recorded      {recorded:6.2f} s")
    click.echo(f"  not recorded  {plain:6.2f} s   recorded/not {recorded / plain:5.2f}")


def _python_of(name: str) -> str:
    config = load_matrix(ROOT / "matrix.toml")
    python = read_env(config.env(name), config.env_cache()).python
    assert python is not None, f"{name} is not built: compat envs build {name}"
    return python


def _seconds(arguments: Sequence[str], start: Path) -> float:
    """The CPU seconds of a program that has ``start`` first in its ``PYTHONPATH``."""
    with tempfile.TemporaryDirectory() as folder:
        settings = recorder_settings(Options(fake=True, check=CodeCheck.NOTHING), Path(folder))
        environ = {
            **os.environ,
            **variables(settings, capturing_of(DEFAULT), Path(folder, "cache")),
        }
        environ["PYTHONPATH"] = os.pathsep.join([str(start), str(LIBRARY)])
        began = os.times().children_user + os.times().children_system
        subprocess.run(arguments, env=environ, check=False)
        return os.times().children_user + os.times().children_system - began


if __name__ == "__main__":
    main()
