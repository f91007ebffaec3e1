"""`compat fix` of sources as people write them, and edits that it does not write.

The source has tabs, letters of all kinds, and several kernels in a file.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.model import BuiltEnv
from tests.commands import compat
from tests.standin.packages import written

MATRIX = """schema = 1
kernels = ["*_kernel.toml"]
env = [{ triton = "3.0.0" }, { triton = "3.9.0" }]
defaults = { envs = ["*"], targets = ["sm_90"] }
[[companion]]
triton = "<3.3"
install = ["setuptools<81"]
"""
TOML = """schema = 1
kernel = "sum"
source = "sum_kernel.py"
signature = { source = "*fp32", result = "*fp32", n = "i32" }
constexprs = { ROWS = 16, COLUMNS = 32 }
case = [{ name = "only" }]
variant = [
  { name = "tabs", function = "tabs" },
  { name = "sizes", function = "sizes" },
  { name = "fine", function = "fine" },
]
"""
SOURCE = """# Zeilenweise — größte zuerst, 日本語\r
import triton\r
import triton.language as tl\r
\r
\r
@triton.autotune(\r
\tconfigs=[triton.Config({}, num_warps=4)],  # one\r
\tkey=["n"],\r
)\r
@triton.jit(\r
\tdo_not_specialize=["n"],  # änderbar\r
)\r
def tabs(\r
\tsource,  # die Quelle\r
\tresult,\r
\tn,\r
\tROWS: tl.constexpr,\r
\tCOLUMNS: tl.constexpr,\r
):\r
\t'''Größe “n”'''\r
\tp = tl.make_block_ptr(\r
\t\tsource,  # Anfang\r
\t\t(n, COLUMNS),\r
\t\t(COLUMNS, 1),\r
\t\t(0, 0),\r
\t\t(ROWS, COLUMNS),\r
\t\t(1, 0),\r
\t)\r
\tfor i in range(0, n, ROWS):  # Zeilen\r
\t\tif i % 2 == 0: tl.store(result + i, tl.sum(tl.sum(tl.load(p, boundary_check=(0,)), 1), 0))\r
\t\tp = tl.advance(p, (ROWS, 0)); # weiter\r
\r
\r
@triton.jit\r
def sizes(source, result, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):\r
\tif ROWS > 4:\r
\t\tp = tl.make_block_ptr(source, (n, COLUMNS), (COLUMNS, 1), (0, 0), (ROWS, COLUMNS), (1, 0))\r
\telse:\r
\t\tp = tl.make_block_ptr(source, (n, COLUMNS), (COLUMNS, 1), (0, 0), (ROWS, 32), (1, 0))\r
\tp = tl.advance(p, (1, 0))\r
\ttl.store(result, tl.sum(tl.sum(tl.load(p, boundary_check=(0, 1)), 1), 0))\r
\r
\r
@triton.jit\r
def fine(source, result, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):\r
\ttl.store(result, 0.0)\r
"""


@pytest.fixture
def project(tmp_path: Path, built: Callable[[str], BuiltEnv]) -> Path:
    for release in ("3.0.0", "3.9.0"):
        built(f"triton-{release}")
    files = written(tmp_path, {"matrix.toml": MATRIX, "sum_kernel.toml": TOML})
    (files / "sum_kernel.py").write_bytes(SOURCE.encode())
    return files


@pytest.mark.wheels
def test_lines_that_are_not_edited_stay_unchanged(project: Path) -> None:
    source = project / "sum_kernel.py"
    subprocess.run("git init -q . && git add sum_kernel.py", shell=True, cwd=project, check=True)
    source.write_bytes(SOURCE.replace("# one", "# eins").encode())  # not committed
    done = compat(project, "fix", "sum/tabs/only/h100/3.9", "--write")
    assert done.returncode == 0, done.stdout + done.stderr
    before, after = (
        SOURCE.replace("# one", "# eins").split("\r\n"),
        source.read_bytes().decode().split("\r\n"),
    )
    assert "\n" not in "".join(after)
    first, last = (
        before.index("\tp = tl.make_block_ptr("),
        before.index("def sizes(source, result, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):"),
    )
    assert after[:first] == before[:first]
    assert after[-(len(before) - last) :] == before[last:]
    edited = after[first : -(len(before) - last)]
    assert not any("block_ptr" in line or "advance" in line for line in edited)
    assert "\tfor i in range(0, n, ROWS):  # Zeilen" in edited
    assert any(line.endswith("# weiter") for line in edited)
    assert all(line.startswith("\t") for line in edited if line and not line.startswith("@"))
    assert compat(project, "matrix", "--variant", "tabs").returncode == 0


@pytest.mark.wheels
def test_an_edit_that_breaks_another_release_is_shown_and_not_written(project: Path) -> None:
    """The kernel advances blocks of two sizes.

    Only descriptors are an edit for it, and 3.0.0 does not have them.
    """
    done = compat(project, "fix", "sum/sizes/only/h100/3.9", "--write")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "after:  compiles on 3.9.0; fails on 3.0.0 (api-missing)\n" in done.stdout
    assert (
        "not written: on 3.0.0 the kernel compiles without this edit, but not with it; choose other"
        in done.stdout
    )
    assert "write it:" not in done.stdout
    assert (project / "sum_kernel.py").read_bytes() == SOURCE.encode()
    document = json.loads(
        compat(project, "fix", "sum/sizes/only/h100/3.9", "--write", "--json").stdout
    )
    assert (document["breaks"], document["written"]) == (["triton-3.0.0"], [])
    done = compat(project, "fix", "sum/sizes/only/h100/3.9", "--write", "--envs", "3.9")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "make_tensor_descriptor" in (project / "sum_kernel.py").read_text()


@pytest.mark.wheels
def test_cell_that_compiles_and_unknown_cell_exit_with_three(project: Path) -> None:
    done = compat(project, "fix", "sum/fine/only/h100/3.9")
    assert (done.returncode, done.stdout) == (3, "")
    assert "sum/fine/only/sm_90/triton-3.9.0 compiles" in done.stderr
    assert "There is nothing to fix." in done.stderr
    done = compat(project, "fix", "sum/tab/only/h100/3.9")
    assert (done.returncode, done.stdout) == (3, "")
    assert "hint: sum has no variant 'tab'. Did you mean tabs?" in done.stderr
