"""The problems of docs/problems.md, as a user runs them.

One kernel is right, and another one is wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.model import BuiltEnv
from tests.commands import compat

pytestmark = pytest.mark.wheels

ROOT = Path(__file__).parent.parent.parent
PAIR = "triton-3.5.1-torch-2.9.1"
KERNELS = """
import triton
import triton.language as tl

@triton.jit
def add(x_ptr, y_ptr, o_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o_ptr + at, tl.load(x_ptr + at, mask=at < n) + tl.load(y_ptr + at, mask=at < n), mask=at < n)

@triton.jit
def no_mask(x_ptr, y_ptr, o_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o_ptr + at, tl.load(x_ptr + at, mask=at < n) + tl.load(y_ptr + at, mask=at < n), mask=at < n + 1)
"""
KERNEL_FILE = """
schema = 1
kernel = "add"
source = "add.py"
signature = { x_ptr = "*fp16", y_ptr = "*fp16", o_ptr = "*fp16", n = "i32" }
constexprs = { BLOCK = 128 }
variant = [{ name = "right", function = "add" }, { name = "no_mask", function = "no_mask" }]
"""
MATRIX = """
schema = 1
kernels = ["add.toml"]
[defaults]
envs = ["3.5.1-torch-2.9.1"]
targets = ["sm_80", "sm_90"]
"""


def block(language: str) -> str:
    """The first code block of a language on the page."""
    match = re.search(
        rf"```{language}\n(.*?)```",
        (ROOT / "docs" / "problems.md").read_text(encoding="utf-8"),
        re.DOTALL,
    )
    assert match is not None
    return match.group(1)


@pytest.fixture
def project(tmp_path: Path, built: Callable[[str], BuiltEnv]) -> Path:
    built(PAIR)
    (tmp_path / "matrix.toml").write_text(MATRIX)
    (tmp_path / "add.toml").write_text(KERNEL_FILE + block("toml"))
    (tmp_path / "add.py").write_text(KERNELS)
    (tmp_path / "problems.py").write_text(block("python"))
    return tmp_path


def test_wrong_numbers_are_unexpected_and_reported(project: Path) -> None:
    ran = compat(project, "matrix", "--no-build")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "2 cells UNEXPECTED" in ran.stdout
    cells = json.loads((project / "reports" / "matrix.json").read_text())["cells"]
    numbers = {(cell["variant"], cell["target"]): cell["numbers"]["interpreter"] for cell in cells}
    right = {"status": "ok", "max_abs": 0.0, "max_rel": 0.0, "where": "", "reason": ""}
    assert numbers["right", "sm_80"] == numbers["right", "sm_90"] == right
    wrong = numbers["no_mask", "sm_90"]
    assert (wrong["status"], wrong["where"]) == ("wrong", "one more than a block")
    again = compat(project, "matrix", "--no-build")
    assert again.returncode == 1
    assert "(4 from the store)" in again.stdout
    explained = compat(project, "explain", f"add/no_mask/default/sm_90/{PAIR}")
    assert (
        "in the interpreter, on the CPU: wrong, at one more than a block\n"
        "      wrote outside of o_ptr: 1 of the elements around it changed" in explained.stdout
    )
    assert (
        f"  add/no_mask/default/sm_90/{PAIR}: ok, numbers wrong, UNEXPECTED"
        in compat(project, "explain", "*").stdout
    )
