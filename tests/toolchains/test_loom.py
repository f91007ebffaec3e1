"""The features that need a program or a device of the second toolchain: patterns of a loom are
captured and launched.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.sqlite import opened
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
    (folder / "matrix.toml").write_text(
        'schema = 1\nkernels = ["captured/*.toml"]\nenv = [{ loom = "1.0" }, { loom = "2.0" }]\n'
    )
    (folder / "program.py").write_text(PROGRAM)
    return folder


def test_launches_of_a_loom_program_are_captured(project: Path, registered: Path) -> None:
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
        f"striped/as_written/ROWS{rows}/sm_90/loom-{release}": "ok"
        for rows in (1, 2)
        for release in ("1.0", "2.0")
    }

    printed = compat(project, registered, *capture, "--no-gpu", "--", "program.py", code=1)
    assert (
        "in the program's environment Triton is not installed" in printed
        or "no process of the program imported Triton" in printed
    )
    assert "--toolchain loom" in printed


WOVEN = """
schema = 1
kernel = "plain"
toolchain = "loom"
source = "plain.py"
problem = { source = "problems.py", function = "checked", dtype = "yarn" }
case = [{ name = "only" }]
variant = [{ name = "even", function = "even" }, { name = "odd", function = "odd" }]
"""
WOVEN_SOURCE = """
import loom


@loom.pattern(threads=3)
def even():
    return "over under\\nunder over"


@loom.pattern(threads=3)
def odd():
    return "over over\\nunder over"
"""
EXPECTED = """
def checked(parameters, dtype, seed, device, large):
    return "over under\\nunder over"
"""


def test_toolchains_own_program_launches_compiled_kernels(project: Path, registered: Path) -> None:
    for name, text in (
        ("plain.toml", WOVEN),
        ("plain.py", WOVEN_SOURCE),
        ("problems.py", EXPECTED),
    ):
        (project / name).write_text(text)
    chosen = ("--spec", "plain.toml", "--envs", "loom-1.0")
    assert "2 cells for sm_90 in 2 binaries" in compat(
        project, registered, "build", *chosen, "--out", "built"
    )
    compat(project, registered, "launch", "built")
    compat(project, registered, "matrix", *chosen, "--launched", "built/results.jsonl", code=1)
    cells = json.loads((project / "reports" / "matrix.json").read_text())["cells"]
    assert {cell["variant"]: cell["numbers"]["gpu"]["status"] for cell in cells} == {
        "even": "ok",
        "odd": "wrong",
    }

    for command, message in (
        (
            ("launch", "built", "--executor", "dask://nowhere:1"),
            "the kernels of this folder launch on this machine only",
        ),
        (
            ("matrix", *chosen, "--launch"),
            "only the program that `compat build` writes launches kernels of Loom",
        ),
        (
            ("matrix", *chosen, "--launch", "--executor", "dask://nowhere:1"),
            "only the program that `compat build` writes launches",
        ),
    ):
        assert message in compat(project, registered, *command, code=3)


def test_build_refuses_kernels_that_cannot_be_launched(project: Path, registered: Path) -> None:
    (project / "toy.toml").write_text(
        'schema = 1\nkernel = "sums"\ntoolchain = "toy"\nsource = "sums.py"\n'
    )
    (project / "sums.py").write_text('def sums():\n    return "load"\n')
    (project / "matrix.toml").write_text(
        'schema = 1\nkernels = ["toy.toml"]\nenv = [{ toy = "1.0" }]\n'
    )
    assert "kernels of Toy cannot be launched" in compat(
        project, registered, "build", "--out", "built", code=3
    )


def test_capture_refuses_unsupported_toolchains_and_unknown_targets(
    project: Path, registered: Path
) -> None:
    for arguments, message in (
        (("--toolchain", "toy"), "launches of Toy cannot be captured"),
        (("--toolchain", "lom"), "unknown toolchain"),
        (("--toolchain", "loom", "--target", "sm_80"), "unknown target"),
    ):
        assert message in compat(
            project, registered, "capture", *arguments, "--", "program.py", code=3
        )


def test_stored_evidence_counts_only_for_the_toolchain_of_its_row(
    project: Path, registered: Path
) -> None:
    (project / "plain.toml").write_text(WOVEN)
    (project / "plain.py").write_text(WOVEN_SOURCE)
    (project / "problems.py").write_text(EXPECTED)
    compat(project, registered, "matrix", "--spec", "plain.toml", "--envs", "loom-1.0")
    with opened(project / ".compat" / "results.sqlite") as file:
        assert file.execute("SELECT DISTINCT toolchain FROM evidence").fetchall() == [("loom",)]
        file.execute("UPDATE evidence SET toolchain = 'another'")
    file.close()
    assert "(0 from the store)" in compat(
        project, registered, "matrix", "--spec", "plain.toml", "--envs", "loom-1.0"
    )
