"""A registered format adds its option and its file to every command that has a report."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests import commands
from tests.cli.test_commands import KERNEL, MATRIX, ROOT


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("formats")
    (folder / "matrix.toml").write_text(MATRIX)
    (folder / "faces.toml").write_text(KERNEL)
    (folder / "faces.py").write_text((ROOT / "tests" / "kernels" / "faces.py").read_text())
    ran = with_toy(folder, "matrix", "--no-build", "--toy", "matrix.toy")
    assert ran.returncode == 1, ran.stderr  # its env is not built
    return folder


def with_toy(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COMPAT_ENVS": str(folder)}
    return commands.run(*arguments, cwd=folder, env=env, program="tests.cli.toy_formats")


def test_matrix_writes_a_format_on_request_or_with_every_report(project: Path) -> None:
    assert (project / "matrix.toy").read_text().endswith(" cells in ''\n")
    assert (project / "reports" / "count.txt").read_text() == (
        project / "matrix.toy"
    ).read_text().split()[0] + "\n"


@pytest.mark.parametrize("command", ["report", "merge"])
def test_other_commands_write_a_format_on_request(project: Path, command: str) -> None:
    ran = with_toy(project, command, "reports/matrix.json", "--toy", f"{command}.toy")
    assert f"wrote {command}.toy" in ran.stdout, ran.stderr
    assert (project / f"{command}.toy").read_text() == (project / "matrix.toy").read_text()


@pytest.mark.parametrize("command", ["matrix", "report", "merge"])
def test_the_option_of_a_format_is_in_the_help(project: Path, command: str) -> None:
    shown = with_toy(project, command, "--help").stdout
    assert "--toy FILE" in shown
    assert "Write a toy." in shown
    assert ("--markdown" in shown) is (command == "report")


def test_an_answer_goes_through_a_pipe_and_a_link(project: Path, tmp_path: Path) -> None:
    pipe, link, target = tmp_path / "pipe", tmp_path / "link", tmp_path / "target"
    os.mkfifo(pipe)
    link.symlink_to(target)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        done = with_toy(
            project, "report", "reports/matrix.json", "--toy", str(pipe), "--markdown", str(link)
        )
        assert done.returncode == 0, done.stderr
        assert os.read(reader, 1000).endswith(b"cells in ''\n")
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert "faces" in target.read_text()
