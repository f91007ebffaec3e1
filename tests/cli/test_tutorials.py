"""The commands of a tutorial print what its page says.

The test writes the files of the page, and runs its commands in order in an empty folder. A line `…`
on a page stands for any lines. Seconds differ from run to run.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compat.model import BuiltEnv
from tests import commands
from tests.repro.scripts import repro

ROOT = Path(__file__).parents[2]
RELEASES = (
    "3.0.0",
    "3.1.0",
    "3.2.0",
    "3.3.0",
    "3.3.1",
    "3.4.0",
    "3.5.0",
    "3.5.1",
    "3.6.0",
    "3.7.0",
    "3.7.1",
    "3.8.0",
    "3.9.0",
)
NOWHERE = "http://127.0.0.1:9/simple"
"""An index that does not answer. The folder has its earlier answer.

So a later release does not change what a page prints.
"""
_BLOCK = re.compile(
    r"^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_SECONDS = re.compile(r"\b\d+\.\d+ s\b|\b\d+ (s|min)(?=\)$)", re.MULTILINE)
_ANY = "…"


@pytest.fixture
def environment() -> dict[str, str]:
    """Environment variables of this tree's command."""
    left_out = ("COLUMNS", "NO_COLOR", "FORCE_COLOR")
    own = {key: value for key, value in os.environ.items() if key not in left_out}
    return {**own, "PYTHONPATH": str(ROOT), "UV_DEFAULT_INDEX": NOWHERE}


@pytest.mark.wheels
@pytest.mark.parametrize("page", ["tutorial-package", "tutorial-bisect"])
@pytest.mark.long
def test_a_tutorial_prints_what_it_says(
    page: str, tmp_path: Path, environment: dict[str, str], built: Callable[[str], BuiltEnv]
) -> None:
    for release in RELEASES:
        built(f"triton-{release}")
    index = tmp_path / ".compat" / "index"
    index.mkdir(parents=True)
    files = [
        [f"triton-{release}-cp311-cp311-manylinux_2_17_x86_64.whl", None, False]
        for release in RELEASES
    ]
    (index / "triton.json").write_text(json.dumps({NOWHERE: {"asked": 0, "files": files}}))
    for block in _BLOCK.finditer((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")):
        if block["title"]:
            (tmp_path / block["title"]).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / block["title"]).write_text(block["text"], encoding="utf-8")
        elif block["language"] == "console":
            for command, shown in _commands(block["text"]):
                ran = _run(command, tmp_path, environment)
                assert "Traceback" not in ran.stderr, ran.stderr
                assert _is_shown(shown, ran.stdout), f"$ {command}\n{ran.stdout}{ran.stderr}"


def _run(
    command: str, folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a command line: `compat`, perhaps with a filter behind it, or a command of the shell."""
    if not command.startswith("compat "):
        return _run_in_shell(command, folder)
    command, _, output_filter = command.partition(" | ")
    _, name, *arguments = shlex.split(command)
    if name == "repro":
        ran = repro(*arguments, cwd=folder, env=environment)
    else:
        ran = commands.run(name, *arguments, cwd=folder, env=environment, timeout=200)
    return _run_in_shell(output_filter, folder, ran.stdout) if output_filter else ran


def _run_in_shell(
    command: str, folder: Path, text: str | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command],
        check=False,
        cwd=folder,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
        input=text,
        capture_output=True,
        text=True,
        timeout=200,
    )


def _commands(text: str) -> Iterator[tuple[str, str]]:
    """Each command of a block, and the output that is shown below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def _is_shown(shown: str, printed: str) -> bool:
    """Whether a text has the lines that a page shows, in order and without others between them."""
    lines = [
        "(?:.*\n)*?" if line == _ANY else re.escape(f"{line}\n")
        for line in _SECONDS.sub("? s", shown).splitlines()
    ]
    return re.fullmatch("".join(lines), _SECONDS.sub("? s", printed)) is not None
