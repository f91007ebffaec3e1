"""Every command uses the results of the others, and says where they come from.

The project's ``matrix.toml`` declares one release only.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.model import BuiltEnv
from tests import commands
from tests.repro.scripts import repro

pytestmark = pytest.mark.wheels

ROOT = Path(__file__).parents[2]
RELEASES = ("3.7.0", "3.8.0", "3.9.0")
"""Releases whose envs are built. ``matrix.toml`` declares the newest."""
NOWHERE = "http://127.0.0.1:9/simple"
"""An index that does not answer. The project has its earlier answer."""
MATRIX = """
schema = 1
kernels = ["kernel.toml"]
env = [{ triton = "3.9.0", groups = ["releases"] }]
defaults = { envs = ["releases"], targets = ["sm_90"] }
"""
KERNEL = """
schema = 1
kernel = "pointer"
source = "kernel.py"
signature = { source = "*fp32", result = "*fp32", size = "i32" }
constexprs = { BLOCK = 128 }
case = [{ name = "only" }]
variant = [{ name = "block", function = "block_pointer" }]
"""
SOURCE = """
import triton
import triton.language as tl


@triton.jit
def block_pointer(source, result, size, BLOCK: tl.constexpr):
    block = tl.make_block_ptr(source, (size,), (1,), (0,), (BLOCK,), (0,))
    tl.store(result + tl.arange(0, BLOCK), tl.load(block))
"""
CELL = "pointer/block/only/sm_90/triton-3.9.0"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, built: Callable[[str], BuiltEnv]) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "matrix.toml").write_text(MATRIX)
    (folder / "kernel.toml").write_text(KERNEL)
    (folder / "kernel.py").write_text(SOURCE)
    for release in RELEASES:
        built(f"triton-{release}")
    (folder / ".compat" / "index").mkdir(parents=True)
    files = [
        [f"triton-{release}-cp311-cp311-manylinux_2_17_x86_64.whl", None, False]
        for release in ("3.7.1", *RELEASES)
    ]
    (folder / ".compat" / "index" / "triton.json").write_text(
        json.dumps({NOWHERE: {"asked": 0, "files": files}})
    )
    return folder


def compat(project: Path, *arguments: str, code: int = 0) -> str:
    """What a command prints, without line breaks."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "200",
        "UV_DEFAULT_INDEX": NOWHERE,
    }
    if arguments[0] == "repro":
        ran = repro(*arguments[1:], cwd=project, env=environment)
    else:
        ran = commands.run(*arguments, cwd=project, env=environment, timeout=300)
    assert ran.returncode == code, ran.stdout + ran.stderr
    return " ".join(ran.stdout.split())


@pytest.fixture(scope="module")
def bisected(project: Path) -> str:
    """The answer of a bisect, after a matrix of the newest release alone."""
    output = compat(project, "matrix", "--no-build", code=1)
    assert "failed in 1 of 4, rest unknown" in output
    sentence = json.loads((project / "reports" / "matrix.json").read_text())["statements"][0][
        "text"
    ]
    assert (
        sentence
        == "`pointer/block` failed on the only release tested, 3.9.0: `api-removed`; not tested:"
        " 3.7.0–3.8.0."
    )
    return compat(project, "bisect", "--no-build", "--kernel", "pointer")


def test_a_bisect_prints_its_bracket_and_the_untested_releases(bisected: str) -> None:
    assert (
        "removed in 3.9.0. Last good 3.8.0, first bad 3.9.0: API removed (api-removed)." in bisected
    )
    assert "Not tested: 3.7.1." in bisected


def test_a_repro_of_the_last_bisect_has_the_results_of_the_bisect(
    project: Path, bisected: str
) -> None:
    compat(project, "repro", "last-bisect")
    text = (project / "repro" / "pointer-block-only-sm_90-3.9.0.md").read_text()
    assert (
        "On sm_90 it was removed in 3.9.0. 3.7.0 and 3.8.0: ok; 3.9.0: this failure. Not tested:"
        " 3.7.1." in text
    )
    assert re.findall(r"^\| ([\d.]+) \| (.*) \|$", text, re.MULTILINE) == [
        ("3.7.0", "ok"),
        ("3.8.0", "ok"),
        ("3.9.0", "**fails**"),
    ]
    compat(project, "repro", CELL, "--envs", "triton-3.9.0", "--output", "narrow")
    narrow = (project / "narrow" / "pointer-block-only-sm_90-3.9.0.md").read_text()
    assert (
        "it was removed in 3.9.0. 3.7.0 and 3.8.0: ok; 3.9.0: this failure. Not tested: 3.7.1."
        " Tested in earlier runs: 3.7.0," in narrow
    )


def test_a_matrix_verdict_includes_the_results_of_the_bisect(project: Path, bisected: str) -> None:
    assert "removed in 3.9.0" in compat(project, "matrix", "--no-build", code=1)
    document = json.loads((project / "reports" / "matrix.json").read_text())
    (verdict,) = document["verdicts"]
    assert (verdict["verdict"], verdict["remembered"], verdict["not_tried"]) == (
        "removed in 3.9.0",
        ["3.7.0", "3.8.0"],
        ["3.7.1"],
    )
    assert verdict["bracket"]["last_good"] == "3.8.0"
    assert [cell["triton"] for cell in document["cells"]] == ["3.9.0"]
    assert (
        document["statements"][0]["text"]
        == "`pointer/block` works up to 3.8.0; removed in 3.9.0: `api-removed`; tested in earlier"
        " runs: 3.7.0, 3.8.0."
    )


def test_explain_prints_the_history_of_a_cell(project: Path, bisected: str) -> None:
    output = compat(project, "explain", CELL)
    assert (
        "history, from all runs: removed in 3.9.0 3.7.0 ok 3.8.0 ok 3.9.0 api-removed not tested:"
        " 3.7.1" in output
    )
    assert "history, from all runs: removed in 3.9.0" in compat(
        project, "explain", CELL.replace("3.9.0", "3.8.0")
    )


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        # Up to 3.8.0 two strides for one axis are rejected. 3.9.0 does not check them.
        (
            "tl.make_block_ptr(source, (1,), (1, 2), (0,), (4,), (0,))",
            1,
            "the original is ok in 3.8.0, and the kernel to be shown is not",
        ),
        ("tl.make_block_ptr(source, (1,), (1,), (0,), (4,), (0,))\n    (two := 2)", 0, ""),
    ],
)
def test_a_repro_of_a_reduced_kernel_has_the_history_of_the_original(
    project: Path, bisected: str, body: str, code: int, message: str
) -> None:
    (project / "smaller.py").write_text(
        SOURCE.partition("(source, result")[0] + f"(source):\n    {body}\n"
    )
    output = compat(
        project, "repro", CELL, "--reduced", "smaller.py", "--output", f"smaller-{code}", code=code
    )
    assert message in output
    issue = project / f"smaller-{code}" / "pointer-block-only-sm_90-3.9.0.md"
    assert issue.exists() is (code == 0)
    if code == 0:
        text = issue.read_text()
        assert (
            "On sm_90 the original kernel was removed in 3.9.0. 3.7.0 and 3.8.0: ok; 3.9.0: this"
            " failure. Not tested: 3.7.1." in text
        )
        assert (
            "The kernel above is not the original one, and behaves differently in some releases: in"
            " 3.7.0 it has another failure (unsupported-syntax), the original none." in text
        )
