"""The wheel, installed where nothing of this checkout is: from an empty folder each command answers, or says what is missing."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import click
import pytest
from attrs import frozen

from compat import __version__
from compat.cli import main

ROOT = Path(__file__).parent.parent.parent
UV = [sys.executable, "-m", "uv"]
ENVIRON = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}


@frozen
class Installed:
    """A wheel, and an environment that has it and what it requires."""

    wheel: Path
    scripts: Path
    empty: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run one of its programs from the empty folder."""
        program = str(self.scripts / command[0])
        return subprocess.run([program, *command[1:]], cwd=self.empty, env=ENVIRON, capture_output=True, text=True, timeout=60)


def uv(*arguments: str) -> None:
    done = subprocess.run([*UV, *arguments], cwd=ROOT, env=ENVIRON, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    venv = folder / "venv"
    python = str(venv / "bin" / "python")
    uv("venv", "--quiet", "--python", sys.executable, str(venv))
    probe = subprocess.run(
        [*UV, "pip", "install", "--dry-run", "--python", python, "hatchling"],
        env=ENVIRON,
        capture_output=True,
        text=True,
        timeout=240,
    )
    if probe.returncode:
        pytest.skip(f"no package index answers: {probe.stderr.strip()}")
    uv("build", "--quiet", "--wheel", "--out-dir", str(folder / "dist"), str(ROOT))
    [wheel] = (folder / "dist").glob("*.whl")
    uv("pip", "install", "--quiet", "--python", python, str(wheel))
    empty = folder / "empty"
    empty.mkdir()
    return Installed(wheel=wheel, scripts=venv / "bin", empty=empty)


def test_the_wheel_has_all_that_the_package_has(installed: Installed) -> None:
    kept = {str(path.relative_to(ROOT)) for path in (ROOT / "compat").rglob("*") if path.is_file() and path.suffix != ".pyc"}
    with zipfile.ZipFile(installed.wheel) as wheel:
        held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert "compat/py.typed" in held
    assert held == kept


def test_it_is_the_installed_one_that_runs(installed: Installed) -> None:
    done = installed.run("python", "-c", "import compat; print(compat.__file__)")
    assert Path(done.stdout.strip()).is_relative_to(installed.scripts.parent), done


def test_the_version(installed: Installed) -> None:
    done = installed.run("compat", "--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"compat {__version__} (")


@pytest.mark.parametrize("command", [(), *((name,) for name in main.list_commands(click.Context(main)))])
def test_help(installed: Installed, command: tuple[str, ...]) -> None:
    done = installed.run("compat", *command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: {' '.join(('compat', *command))}")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("list",), "Missing argument"),
        (("list", "envs"), "matrix.toml"),
        (("list", "cells"), "matrix.toml"),
        (("matrix",), "matrix.toml"),
        (("nonsense",), "No such command"),
    ],
)
def test_what_is_missing_is_said(installed: Installed, command: tuple[str, ...], message: str) -> None:
    done = installed.run("compat", *command)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(installed.empty.iterdir())
