"""The features that need a program, or a device, of the second toolchain: what a loom runs is captured, and launched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.toolchains.loom.index import write_index
from tests.toolchains.test_toy import compat

PROGRAM = """
import loom

WIDTH = 2


@loom.pattern(threads=2)
def striped(ROWS):
    row = "over under " * WIDTH
    return "\\n".join([row] * ROWS)


loom.run(striped, ROWS=1)
loom.run(striped, ROWS=2)
"""
CAPTURED = """import loom

WIDTH = 2


@loom.pattern(threads=2)
def striped(ROWS):
    row = "over under " * WIDTH
    return "\\n".join([row] * ROWS)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the loom's releases, and a program."""
    write_index(tmp_path / "simple" / "loom")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "matrix.toml").write_text('schema = 1\nkernels = ["captured/*.toml"]\nenv = [{ loom = "1.0" }, { loom = "2.0" }]\n')
    (folder / "program.py").write_text(PROGRAM)
    return folder


def test_what_a_program_runs_on_a_loom_is_captured(project: Path, registered: Path) -> None:
    python = compat(project, registered, "envs", "build", "loom-1.0").split()[-1]
    capture = ("capture", "--python", python)
    printed = compat(project, registered, *capture, "--toolchain", "loom", "--", "program.py")
    assert "captured with Loom 1.0, 1 process, without a GPU" in printed
    assert "1 kernel launched, 1 captured as 2 cases, 0 not" in printed
    assert "same code as the program's own compile: 2 of 2" in printed
    assert (project / "captured" / "striped.py").read_text() == CAPTURED
    index = json.loads((project / "captured" / "index.json").read_text())
    assert (index["toolchain"], index["release"], index["target"]) == ("loom", "1.0", "sm_90")

    compat(project, registered, "matrix", "--spec", "captured/*.toml", "--envs", "loom-*")
    report = json.loads((project / "reports" / "matrix.json").read_text())
    assert {cell["id"]: cell["status"] for cell in report["cells"]} == {
        f"striped/as_written/ROWS{rows}/sm_90/loom-{release}": "ok" for rows in (1, 2) for release in ("1.0", "2.0")
    }

    printed = compat(project, registered, *capture, "--no-gpu", "--", "program.py", code=1)
    assert "in the program's environment Triton is not there" in printed or "no process of the program imported Triton" in printed
    assert "--toolchain loom" in printed


def test_what_cannot_be_captured_is_said(project: Path, registered: Path) -> None:
    for arguments, message in (
        (("--toolchain", "toy"), "what Toy launches cannot be captured"),
        (("--toolchain", "lom"), "no toolchain is called so"),
        (("--toolchain", "loom", "--target", "sm_80"), "no target is called so"),
    ):
        assert message in compat(project, registered, "capture", *arguments, "--", "program.py", code=3)
