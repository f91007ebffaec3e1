"""The log messages of a command, and its log file."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from compat.cli import logs
from compat.cli.commands import main
from tests.conftest import ROOT

MATRIX = """
schema = 1
kernels = ["kernel.toml"]
env = [{ triton = "3.1.0", groups = ["default"] }]
[defaults]
targets = ["sm_90"]
"""
KERNEL = """
schema = 1
kernel = "copy"
source = "copy.py"
[[case]]
name = "all"
[[variant]]
name = "only"
function = "copy"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose only env is missing and cannot be built."""
    (tmp_path / "matrix.toml").write_text(MATRIX)
    (tmp_path / "kernel.toml").write_text(KERNEL)
    (tmp_path / "copy.py").write_text("def copy():\n    pass\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compat(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


class FullDisk(logging.FileHandler):
    def __init__(self, _: Path, **options: Any) -> None:
        super().__init__("/dev/full", **options)


@pytest.mark.usefixtures("project")
def test_a_full_disk_below_the_log_leaves_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging, "FileHandler", FullDisk)
    assert compat("check", "copy", "--no-build").exit_code == 125


def test_the_whole_log_of_a_run_is_in_a_file(project: Path) -> None:
    done = compat("matrix", "--no-build")
    assert done.exit_code == 1
    assert "INFO" not in done.stderr
    (log,) = (project / ".compat" / "log").iterdir()
    lines = log.read_text().splitlines()
    assert all(
        re.match(r"\d\d:\d\d:\d\d\.\d{3} (DEBUG|INFO) \S+ compat[.:]", line) for line in lines
    ), lines
    assert any("compat.engine.run: 1 cells: 1 in the store, 0 to compile" in line for line in lines)


def test_verbose_options_show_log_messages(project: Path) -> None:
    assert "INFO compat.engine.run: 1 cells" in compat("-v", "matrix", "--no-build").stderr
    assert "DEBUG" not in compat("-v", "matrix", "--no-build").stderr
    assert "DEBUG" in compat("-vv", "matrix", "--no-build").stderr


@pytest.mark.parametrize(
    "command",
    [["matrix", "--no-build"], ["bisect", "--envs", "3.1", "--no-build"], ["check", "--no-build"]],
)
def test_verbose_options_mean_the_same_before_and_after_a_command(
    project: Path, command: list[str]
) -> None:
    name, *options = command

    def levels(done: Result) -> list[str]:
        # Without the message that has the command line itself.
        lines = (line for line in done.stderr.splitlines() if not line.startswith("DEBUG compat: "))
        return [line.partition(" ")[0] for line in lines if line.startswith(("INFO", "DEBUG"))]

    assert levels(compat(*command)) == []
    for option in ("-v", "-vv"):
        assert levels(compat(name, option, *options)) == levels(compat(option, *command)) != []
    assert levels(compat("-v", name, "-v", *options)) == levels(compat("-vv", *command))


def test_a_command_leaves_no_handler_behind(project: Path) -> None:
    compat("-vv", "matrix", "--no-build")
    assert logging.getLogger("compat").handlers == []


@pytest.mark.parametrize("debug", [(), ("--debug",)])
def test_an_error_has_a_traceback_only_with_debug(project: Path, debug: tuple[str, ...]) -> None:
    done = compat(*debug, "list", "kernels", "--kernel", "nothing")
    assert done.exit_code == 3
    assert ("Traceback (most recent call last)" in done.stderr) is bool(debug)
    assert "error: " in done.stderr


def test_old_logs_are_deleted(project: Path) -> None:
    folder = project / ".compat" / "log"
    folder.mkdir(parents=True)
    for number in range(30):
        (folder / f"20000101-0000{number:02}-1.log").write_text("")
    compat("matrix", "--no-build")
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 20
    assert names[0] == "20000101-000011-1.log"


def test_a_command_goes_on_if_its_log_cannot_be_written(project: Path) -> None:
    (project / ".compat").mkdir()
    (project / ".compat" / "log").write_text("in the way")
    assert compat("matrix", "--no-build").exit_code == 1


def test_control_characters_are_escaped_in_a_log(tmp_path: Path) -> None:
    logs.begin(0)
    try:
        logs.keep(tmp_path)
        logging.getLogger("compat.test").info("nox: %s", "\x1b[2Jgone")
    finally:
        logs.end()
    (log,) = (tmp_path / "log").iterdir()
    assert "nox: \\x1b[2Jgone\n" in log.read_text()


def test_a_kernel_source_may_have_the_name_of_a_module_of_python(project: Path) -> None:
    """`python -m` puts the current folder first on the path.

    Then attrs would import `copy.py` there instead of Python's own module.
    """
    command = [sys.executable, "-m", "compat.cli", "list", "kernels"]
    done = subprocess.run(
        command,
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
