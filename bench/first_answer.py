"""How long a new user waits for the first answer: ``python -m bench.first_answer``.

From a folder that has a softmax kernel and nothing else, with no environment built and all wheels
in uv's cache, over all plain releases on sm_90:

1. ``compat init softmax.py && compat matrix``, from a fresh installation. The seconds of the
   installation are a separate figure.
2. The same by hand: ``uv run --with triton==X`` of a short script (``by_hand/attempt.py``) for one
   release after the other.

Each round starts with empty caches, except uv's cache of wheels, which is the user's. Run the
benchmark twice and take the second figures. Nothing here is a test: a machine that is busy with
other things is slower.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click
from packaging.version import Version

from bench.spent import seconds_of
from compat import toolchains
from compat.config.matrix import load_matrix

ROOT = Path(__file__).parent.parent
KERNEL = ROOT / "bench" / "by_hand" / "softmax.py"
BY_HAND = ROOT / "bench" / "by_hand" / "attempt.py"


@click.command()
@click.option(
    "--rounds", default=3, show_default=True, help="Measurements of each; medians are printed."
)
def main(rounds: int) -> None:
    """Measure the time to the first answer, beside a loop over `uv run`."""
    releases = _releases()
    measured = [_round(releases) for _ in range(rounds)]
    install, first, again, loop = (
        statistics.median(seconds) for seconds in zip(*measured, strict=True)
    )
    click.echo(
        f"one softmax kernel, {len(releases)} releases, sm_90, no env built, median of {rounds}"
    )
    click.echo(f"  install with uv            {install:6.2f} s")
    click.echo(f"  compat init && matrix      {first:6.2f} s")
    click.echo(f"  the same, after an edit    {again:6.2f} s")
    click.echo(f"  loop over uv run           {loop:6.2f} s   {loop / first:5.2f} times as long")


def _releases() -> list[str]:
    config = load_matrix(ROOT / "matrix.toml")
    plain = {
        env.release
        for env in config.envs
        if not env.has_framework and env.toolchain == toolchains.DEFAULT.name
    }
    return [
        str(release)
        for release in sorted(release for release in plain if isinstance(release, Version))
    ]


def _round(releases: Sequence[str]) -> tuple[float, float, float, float]:
    """Seconds: to install, to the first answer, to the answer after an edit, and of the loop."""
    with tempfile.TemporaryDirectory(prefix="first-answer-") as folder:
        base = Path(folder)
        project = base / "project"
        project.mkdir()
        shutil.copy(KERNEL, project)
        install = seconds_of(lambda: _install(base / "venv"))
        compat = str(base / "venv" / "bin" / "compat")
        environ = {**os.environ, "COMPAT_ENVS": str(base / "envs"), "COMPAT_KEEP_WORKERS": "0"}
        environ.pop("PYTHONPATH", None)
        arguments = ["matrix", "--target", "sm_90"]

        def first() -> None:
            _run([compat, "init", "softmax.py"], project, environ)
            _run([compat, *arguments], project, environ)

        took = seconds_of(first)
        source = project / "softmax.py"
        source.write_text(
            source.read_text().replace("e / tl.sum(e, axis=0)", "e / (tl.sum(e, axis=0) + 1e-6)")
        )
        again = seconds_of(lambda: _run([compat, *arguments], project, environ))
        return install, took, again, seconds_of(lambda: _loop(releases, base))


def _install(venv: Path) -> None:
    _run(["uv", "venv", "-q", "--python", sys.executable, str(venv)], ROOT)
    _run(
        ["uv", "pip", "install", "-q", "--python", str(venv / "bin" / "python"), f"{ROOT}[uv]"],
        ROOT,
    )


def _loop(releases: Sequence[str], base: Path) -> None:
    for release in releases:
        environ = {
            **os.environ,
            "PYTHONPATH": str(KERNEL.parent),
            "TRITON_CACHE_DIR": str(base / "triton-cache"),
        }
        options = ["--with", f"triton=={release}", "--with", "setuptools"]
        _run(
            ["uv", "run", "-q", "--no-project", "--python", "3.11", *options, str(BY_HAND)],
            base,
            environ,
        )


def _run(command: Sequence[str], folder: Path, environ: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise click.ClickException(
            f"{' '.join(command)} failed ({done.returncode}):\n{done.stdout}{done.stderr}"
        )


if __name__ == "__main__":
    main()
