"""`compat fix` as a user runs it, and as a function, in a project of the user's own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.errors import ConfigError
from compat.fix import fix, write_fix
from compat.model import BuiltEnv
from compat.project import select

ROOT = Path(__file__).parent.parent.parent
DOCS = (ROOT / "docs" / "fix.md").read_text()
RELEASES = ("3.0.0", "3.8.0", "3.9.0")
MATRIX = """
schema = 1
kernels = ["*_kernel.toml"]
env = [{ triton = "3.0.0" }, { triton = "3.8.0" }, { triton = "3.9.0" }]
defaults = { envs = ["*"], targets = ["sm_90"] }
[[companion]]
triton = "<3.3"
install = ["setuptools<81"]
"""
TOML = """schema = 1
kernel = "dot"
source = "dot_kernel.py"
signature = { source = "*fp16", result = "*fp32" }
constexprs = { BLOCK = 8 } # too small
case = [{ name = "only" }]
variant = [{ name = "plain", function = "dot" }, { name = "ok", function = "fine" }]
"""
DOT = """import triton
import triton.language as tl


@triton.jit
def dot(source, result, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(source + at)
    tl.store(result + at, tl.dot(x, x))


@triton.jit
def fine(source, result, BLOCK: tl.constexpr):
    tl.store(result + tl.arange(0, BLOCK), 0.0)
"""


def blocks() -> dict[str, str]:
    """The files that the page shows, by their names."""
    return dict(re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```', DOCS, re.MULTILINE | re.DOTALL))


@pytest.fixture
def project(tmp_path: Path, built: Callable[[str], BuiltEnv]) -> Path:
    for release in RELEASES:
        built(f"triton-{release}")
    for name, text in {"matrix.toml": MATRIX, "dot_kernel.toml": TOML, "dot_kernel.py": DOT, **blocks()}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def compat(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "compat.cli", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, timeout=240, check=False)


@pytest.mark.wheels
def test_the_page_shows_what_the_command_says_and_writes(project: Path) -> None:
    """The run in docs/fix.md is this one; afterwards the edit is in the file, and the matrix says that it compiles everywhere."""
    shown = re.search(r"^```console\n\$ compat fix (\S+)\n(.*?)^```", DOCS, re.MULTILINE | re.DOTALL)
    assert shown
    done = compat(project, "fix", shown[1])
    assert done.returncode == 0, done.stderr
    assert done.stdout == shown[2]
    assert "\x1b" not in done.stdout  # piped
    source = project / "copy_kernel.py"
    source.chmod(0o640)
    before = source.read_text()
    written = compat(project, "fix", shown[1], "--write")
    assert written.returncode == 0, written.stderr
    assert written.stdout.endswith("wrote copy_kernel.py\n")
    assert "make_block_ptr" in before
    assert "make_block_ptr" not in source.read_text()
    assert source.stat().st_mode & 0o777 == 0o640
    assert compat(project, "matrix", "--kernel", "copy").returncode == 0
    again = compat(project, "fix", shown[1])
    assert again.returncode == 3
    assert "compiles" in again.stderr


@pytest.mark.wheels
def test_the_diff_can_be_applied_and_the_json_says_the_same(project: Path) -> None:
    done = compat(project, "fix", "copy/block_ptr/*/triton-3.9.0", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["class"] == "api-removed"
    assert found["known"][:2] == ["name in other releases", "plain pointers"]
    assert [each["status"] for each in found["before"]] == ["ok", "ok", "rejected"]
    assert found["edit"]["edits"] == ["plain pointers"]
    assert found["edit"]["everywhere"] is True
    assert [each["status"] for each in found["edit"]["after"]] == ["ok"] * 3
    assert found["written"] == []
    (changed,) = found["edit"]["files"]
    (project / "x.diff").write_text(changed["diff"] + "\n")
    subprocess.run(["patch", "-p1", "-i", "x.diff"], cwd=project, check=True, capture_output=True)
    assert compat(project, "matrix", "--kernel", "copy").returncode == 0


@pytest.mark.wheels
def test_an_edit_of_the_kernel_file_keeps_its_layout(project: Path) -> None:
    done = compat(project, "fix", "dot/plain/only/sm_90/triton-3.0.0", "--write")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "-constexprs = { BLOCK = 8 } # too small\n+constexprs = { BLOCK = 16 } # too small\n" in done.stdout
    assert (project / "dot_kernel.toml").read_text() == TOML.replace("BLOCK = 8", "BLOCK = 16")
    assert (project / "dot_kernel.py").read_text() == DOT


@pytest.mark.wheels
@pytest.mark.parametrize("cell", ["copy/block_ptr/only/h100/3.9", "copy/block_ptr/*/newest"])
def test_a_release_may_stand_for_the_env(project: Path, cell: str) -> None:
    done = compat(project, "fix", cell, "--envs", "3.9.0", "--json")
    assert json.loads(done.stdout)["id"] == "copy/block_ptr/only/sm_90/triton-3.9.0", done.stderr


@pytest.mark.wheels
def test_where_nothing_helps_it_exits_with_one(project: Path) -> None:
    (project / "dot_kernel.py").write_text(
        DOT.replace("tl.store(result + tl.arange(0, BLOCK), 0.0)", "tl.static_assert(BLOCK > 99)")
    )
    done = compat(project, "fix", "dot/ok/only/sm_90/triton-3.9.0", "--envs", "triton-3.9.0")
    assert done.returncode == 1
    assert "no edit is known for static-assert" in done.stdout
    assert "advice: " in done.stdout
    assert compat(project, "fix", "dot/*", "--envs", "triton-3.9.0").returncode == 3


@pytest.mark.wheels
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_file_that_has_changed_is_not_written(project: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    monkeypatch.chdir(project)
    source = project / "copy_kernel.py"
    source.write_bytes(b"\xef\xbb\xbf" + source.read_bytes().replace(b"\n", ending.encode()))
    selection = select(Path("matrix.toml"), envs=["triton-3.9.0"])
    with selection.open_store() as store:
        found = fix(selection, "copy/block_ptr/only/sm_90/triton-3.9.0", selection.context(store))
    content = source.read_bytes()
    source.write_bytes(content + b"#\n")
    with pytest.raises(ConfigError, match="has changed since"):
        write_fix(found)
    assert source.read_bytes() == content + b"#\n"
    source.write_bytes(content)
    assert write_fix(found) == (source,)
    edited = source.read_bytes()
    assert edited.startswith(b"\xef\xbb\xbfimport")
    assert edited.count(b"\n") == edited.count(ending.encode())
    assert b"make_block_ptr" not in edited


@pytest.mark.wheels
def test_explain_and_the_report_name_it(project: Path) -> None:
    done = compat(project, "matrix", "--kernel", "copy", "--envs", "triton-3.9.0")
    assert "for the class of 1 of 1 distinct failure an edit is known: `compat fix CELL`" in " ".join(done.stdout.split())
    assert "compat fix copy/block_ptr/only/sm_90/triton-3.9.0" in (project / "reports" / "matrix.md").read_text()
    assert json.loads((project / "reports" / "matrix.json").read_text())["summary"]["edits_known"] == 1
    told = compat(project, "explain", "copy/block_ptr/only/sm_90/triton-3.9.0").stdout
    assert "an edit is known for this class:\n    compat fix copy/block_ptr/only/sm_90/triton-3.9.0\n" in told


def test_neither_libcst_nor_tomlkit_is_imported_before_an_edit_is_made() -> None:
    for arguments in (["--help"], ["matrix", "--help"], ["fix", "--help"], ["explain", "--help"]):
        command = [sys.executable, "-X", "importtime", "-m", "compat.cli", *arguments]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        assert not re.search(r"\b(?:libcst|tomlkit)\b", done.stderr), arguments
