"""A kernel can make a compiler print control characters, and commands never show them raw.

The tests check the terminal, Markdown, JSON and the issue, with real wheels.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.model import BuiltEnv
from compat.text import printable
from tests import commands
from tests.sqlite import opened

pytestmark = pytest.mark.wheels

ROOT = Path(__file__).parent.parent.parent
RELEASES = ("triton-3.8.0", "triton-3.9.0")
MATRIX = """
schema = 1
kernels = ["talkative.toml"]
env = [
  { triton = "3.8.0", groups = ["default", "releases"] },
  { triton = "3.9.0", groups = ["default", "releases"] },
]
[defaults]
targets = ["sm_90"]
"""
KERNEL = """
schema = 1
kernel = "talkative"
source = "talkative.py"
[signature]
source = "*fp32"
result = "*fp32"
size = "i32"
[constexprs]
BLOCK = 128
[[case]]
name = "only"
[[variant]]
name = "escapes"
function = "escapes"
"""
CELL = "talkative/escapes/only/sm_90/triton-3.9.0"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, built: Callable[[str], BuiltEnv]) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "matrix.toml").write_text(MATRIX)
    (folder / "talkative.toml").write_text(KERNEL)
    source = (ROOT / "tests" / "kernels" / "talkative.py").read_text()
    source = source.replace(
        "    tl.static_assert(", "    # raw \x1b[32m and \u202e in a comment\n    tl.static_assert("
    )
    (folder / "talkative.py").write_text(source)
    for release in RELEASES:
        built(release)
    ran = compat(folder, "matrix", "--no-build")
    assert "rejected" in ran.stdout, ran.stdout + ran.stderr
    return folder


def compat(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    variables = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "200",
        "FORCE_COLOR": "",
        "NO_COLOR": "1",
    }
    return commands.run(*arguments, cwd=project, env=variables, timeout=300)


def assert_safe(text: str, *, with_failure: bool = True) -> None:
    """Fails if a text has characters that a reader would obey, or does not mention the failure."""
    assert printable(text) == text
    assert not with_failure or "red" in text


def test_the_compilers_own_messages_have_raw_control_characters(project: Path) -> None:

    with opened(project / ".compat" / "results.sqlite") as database:
        rows = [json.loads(text) for (text,) in database.execute("SELECT attempts FROM evidence")]
    database.close()
    raw_text = "".join(
        link["message"] for attempts in rows for evidence in attempts for link in evidence["raised"]
    )
    assert "\x1b]0;owned\x07" in raw_text
    assert "\0" in raw_text
    assert "\u202e" in raw_text


def test_matrix(project: Path) -> None:
    ran = compat(project, "matrix", "--no-build")
    assert_safe(ran.stdout)
    assert_safe(ran.stderr, with_failure=False)
    assert r"\x1b]0;owned\x07" in ran.stdout
    assert_safe((project / "reports" / "matrix.md").read_text())
    text = (project / "reports" / "matrix.json").read_text()
    assert_safe(text)
    excerpts = [cell["failure"]["excerpt"] for cell in json.loads(text)["cells"]]
    for excerpt in excerpts:
        assert_safe(excerpt)


def test_explain(project: Path) -> None:
    assert_safe(compat(project, "explain", CELL).stdout)
    text = compat(project, "explain", CELL, "--json").stdout
    assert_safe(text)
    document = json.loads(text)
    assert_safe(document["outcome"]["failure"]["excerpt"])
    assert_safe(document["attempts"][0]["raised"][-1]["message"])


def test_bisect_check_and_list(project: Path) -> None:
    arguments = ["bisect", "--envs", "releases", "--no-build"]
    ran = compat(project, *arguments, "--output", "bisect.md")
    assert_safe(ran.stdout)
    assert_safe((project / "bisect.md").read_text())
    as_json = compat(project, *arguments, "--json").stdout
    assert_safe(as_json, with_failure=False)
    json.loads(as_json)
    assert_safe(compat(project, "check", "*", "--no-build").stdout)
    assert_safe(compat(project, "list", "kernels").stdout, with_failure=False)


def test_the_issue_of_a_repro(project: Path) -> None:
    ran = compat(project, "repro", CELL, "--output", "repro")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert_safe(ran.stdout, with_failure=False)
    for path in (project / "repro").iterdir():
        assert_safe(path.read_text())


def test_reduce(project: Path) -> None:
    ran = compat(project, "reduce", CELL, "--no-build", "--output", "reduced.py", "--budget", "20")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert_safe(ran.stdout, with_failure=False)
    assert_safe((project / "reduced.toml").read_text(), with_failure=False)


def test_usage_errors_quote_no_raw_control_characters(project: Path, tmp_path: Path) -> None:
    (tmp_path / "matrix.toml").write_text('schema = 1\n"\\u001b[31mkey" = 1\n')
    ran = compat(tmp_path, "matrix")
    assert (ran.returncode, r"\x1b[31mkey" in ran.stderr) == (2, True)
    assert_safe(ran.stderr, with_failure=False)
    (tmp_path / "matrix.toml").write_text(MATRIX.replace('"talkative.toml"', '"a\\u0000b.toml"'))
    ran = compat(tmp_path, "matrix")
    assert (ran.returncode, "control character" in ran.stderr) == (2, True)
    assert_safe(ran.stderr, with_failure=False)
    ran = compat(project, "list", "kernels", "--kernel", "\x1b[31mred")
    assert ran.returncode == 3
    assert_safe(ran.stderr)
