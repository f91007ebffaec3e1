"""The package as a user has it: a wheel, installed apart from this checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from attrs import Factory, frozen

from tests import commands
from tests.waiting import PATIENCE

ROOT = Path(__file__).parent.parent
UV = [sys.executable, "-m", "uv"]


def environ() -> dict[str, str]:
    """This process's environment without variables that would lead a command to this checkout."""
    return {
        key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")
    }


@frozen
class Installed:
    """A wheel, and an environment that has it and its requirements."""

    wheel: Path
    scripts: Path
    empty: Path
    environ: Mapping[str, str] = Factory(dict)
    """Variables that differ from this process's own environment."""

    @classmethod
    def at(cls, folder: Path, empty: Path) -> Installed:
        """What :func:`install` put into a folder. Commands start in the empty folder."""
        [wheel] = (folder / "dist").glob("*.whl")
        return cls(wheel=wheel, scripts=folder / "venv" / "bin", empty=empty)

    def start(self, *command: str) -> subprocess.Popen[str]:
        """Start one of its programs in the empty folder."""
        program = str(self.scripts / command[0])
        own = {**environ(), **self.environ}
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [program, *command[1:]], cwd=self.empty, env=own, stdout=pipe, stderr=pipe, text=True
        )

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run one of its programs from the empty folder.

        ``compat`` is forked from a process that has imported the installed package.
        """
        if command[0] != "compat":
            return ended(self.start(*command))
        return commands.run(
            *command[1:],
            cwd=self.empty,
            env={**environ(), **self.environ},
            timeout=PATIENCE,
            script=self.scripts / "compat",
        )


def ended(command: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    """Wait for a command, and return its result."""
    with command:
        try:
            out, err = command.communicate(timeout=PATIENCE)
        except BaseException:
            command.kill()
            raise
    return subprocess.CompletedProcess(command.args, command.returncode, out, err)


def uv(*arguments: str) -> None:
    """Run uv from this checkout."""
    done = subprocess.run(
        [*UV, *arguments],
        check=False,
        cwd=ROOT,
        env=environ(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr


def install(folder: Path) -> Path:
    """Build the wheel and install it into an environment in a folder.

    Skips the test where no package index answers.
    """
    venv = folder / "venv"
    python = str(venv / "bin" / "python")
    uv("venv", "--quiet", "--python", sys.executable, str(venv))
    command = [*UV, "pip", "install", "--dry-run", "--python", python, "hatchling"]
    probe = subprocess.run(
        command, check=False, env=environ(), capture_output=True, text=True, timeout=PATIENCE
    )
    if probe.returncode:
        pytest.skip(f"no package index answers: {probe.stderr.strip()}")
    uv("build", "--quiet", "--wheel", "--out-dir", str(folder / "dist"), str(ROOT))
    [wheel] = (folder / "dist").glob("*.whl")
    uv("pip", "install", "--quiet", "--python", python, str(wheel))
    return folder
