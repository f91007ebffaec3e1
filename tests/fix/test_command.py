"""`compat fix` as a user runs it, and as a function, in a project of the user's own."""

from __future__ import annotations

import json
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
from compat.source.closure import LIBRARY
from tests.commands import compat
from tests.standin.packages import written

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
    for name, text in {
        "matrix.toml": MATRIX,
        "dot_kernel.toml": TOML,
        "dot_kernel.py": DOT,
        **blocks(),
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.wheels
def test_docs_page_shows_what_the_command_prints_and_writes(project: Path) -> None:
    """The test repeats the run that docs/fix.md shows.

    Afterwards the edit is in the file, and the kernel compiles everywhere in the matrix.
    """
    shown = re.search(
        r"^```console\n\$ compat fix (\S+)\n(.*?)^```", DOCS, re.MULTILINE | re.DOTALL
    )
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
def test_json_describes_the_edit_and_its_diff_can_be_applied(project: Path) -> None:
    done = compat(project, "fix", "copy/block_ptr/*/triton-3.9.0", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["class"] == "api-removed"
    assert document["known"][:2] == ["name in other releases", "plain pointers"]
    assert [result["status"] for result in document["before"]] == ["ok", "ok", "rejected"]
    assert document["edit"]["edits"] == ["plain pointers"]
    assert document["edit"]["everywhere"] is True
    assert [result["status"] for result in document["edit"]["after"]] == ["ok"] * 3
    assert document["written"] == []
    (changed,) = document["edit"]["files"]
    (project / "x.diff").write_text(changed["diff"] + "\n")
    subprocess.run(["patch", "-p1", "-i", "x.diff"], cwd=project, check=True, capture_output=True)
    assert compat(project, "matrix", "--kernel", "copy").returncode == 0


@pytest.mark.wheels
def test_an_edit_of_the_kernel_file_keeps_its_layout(project: Path) -> None:
    done = compat(project, "fix", "dot/plain/only/sm_90/triton-3.0.0", "--write")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        "-constexprs = { BLOCK = 8 } # too small\n+constexprs = { BLOCK = 16 } # too small\n"
        in done.stdout
    )
    assert (project / "dot_kernel.toml").read_text() == TOML.replace("BLOCK = 8", "BLOCK = 16")
    assert (project / "dot_kernel.py").read_text() == DOT


@pytest.mark.wheels
@pytest.mark.parametrize("cell", ["copy/block_ptr/only/h100/3.9", "copy/block_ptr/*/newest"])
def test_cell_can_name_a_release_instead_of_the_env(project: Path, cell: str) -> None:
    done = compat(project, "fix", cell, "--envs", "3.9.0", "--json")
    assert json.loads(done.stdout)["id"] == "copy/block_ptr/only/sm_90/triton-3.9.0", done.stderr


@pytest.mark.wheels
def test_exit_code_is_one_if_no_edit_is_known(project: Path) -> None:
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
def test_a_file_that_has_changed_is_not_written(
    project: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    monkeypatch.chdir(project)
    source = project / "copy_kernel.py"
    source.write_bytes(b"\xef\xbb\xbf" + source.read_bytes().replace(b"\n", ending.encode()))
    selection = select(Path("matrix.toml"), envs=["triton-3.9.0"])
    with selection.open_store() as store:
        proposal = fix(
            selection, "copy/block_ptr/only/sm_90/triton-3.9.0", selection.context(store)
        )
    content = source.read_bytes()
    source.write_bytes(content + b"#\n")
    with pytest.raises(ConfigError, match="has changed since"):
        write_fix(proposal)
    assert source.read_bytes() == content + b"#\n"
    source.write_bytes(content)
    assert write_fix(proposal) == (source,)
    edited = source.read_bytes()
    assert edited.startswith(b"\xef\xbb\xbfimport")
    assert edited.count(b"\n") == edited.count(ending.encode())
    assert b"make_block_ptr" not in edited


@pytest.mark.wheels
def test_explain_and_the_report_name_the_fix_command(project: Path) -> None:
    done = compat(project, "matrix", "--kernel", "copy", "--envs", "triton-3.9.0")
    assert "`compat fix CELL` can try edits for F1" in done.stdout
    assert (
        "compat fix copy/block_ptr/only/sm_90/triton-3.9.0"
        in (project / "reports" / "matrix.md").read_text()
    )
    assert (
        json.loads((project / "reports" / "matrix.json").read_text())["summary"]["edits_known"] == 1
    )
    explanation = compat(project, "explain", "copy/block_ptr/only/sm_90/triton-3.9.0").stdout
    assert "try an edit:\n    compat fix copy/block_ptr/only/sm_90/triton-3.9.0\n" in explanation


# --- kernels in packages, and kernels without a kernel file ---------------------------------------

PACKAGE = {
    "matrix.toml": (
        """schema = 1
kernels = ["*_kernel.toml"]
env = [{ triton = "3.8.0" }, { triton = "3.9.0" }]
defaults = { envs = ["*"], targets = ["sm_90"] }
"""
    ),
    "outer_kernel.toml": (
        """schema = 1
kernel = "outer"
module = "mylib.ops.outer"
path = ["src"]
signature = { source = "*fp32", result = "*fp32" }
constexprs = { ROWS = 16, COLUMNS = 32 }
case = [{ name = "only" }]
variant = [{ name = "as_written", function = "outer" }]
"""
    ),
    "src/mylib/__init__.py": "from .ops import outer\n",
    "src/mylib/ops/__init__.py": "from mylib.ops.outer import outer\n",
    "src/mylib/steps.py": (
        """import triton
import triton.language as tl


@triton.jit
def positions(BLOCK: tl.constexpr):
    return tl.arange(0, BLOCK)
"""
    ),
    "src/mylib/ops/outer.py": (
        """import triton
import triton.language as tl

from ..steps import positions


@triton.jit
def outer(source, result, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = positions(ROWS)[:, None] * COLUMNS + positions(COLUMNS)[None, :]
    x = tl.load(source + at)
    tl.store(result + at, x - tl.max(x, axis=1))
"""
    ),
}
"""A package that imports itself by its name and relatively, with a kernel that lacks an axis."""
GUESSED = """import triton
import triton.language as tl


@triton.jit
def softmax_kernel(source, result, ROWS: tl.constexpr = 16, COLUMNS: tl.constexpr = 32):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    x = tl.load(source + at)
    tl.store(result + at, tl.exp(x - tl.max(x, axis=1)))


@triton.jit
def width(source, result, WIDTH=16):
    at = tl.arange(0, WIDTH)
    tl.store(result + at, tl.load(source + at))


@triton.jit
def small(source, result, BLOCK: tl.constexpr = 8):
    at = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(source + at)
    tl.store(result + at, tl.dot(x, x))
"""


@pytest.fixture
def package(tmp_path: Path, built: Callable[[str], BuiltEnv]) -> Path:
    for release in ("3.8.0", "3.9.0"):
        built(f"triton-{release}")
    return written(tmp_path, PACKAGE)


@pytest.mark.wheels
def test_kernel_in_a_package_is_edited_in_place(package: Path) -> None:
    assert compat(package, "matrix").returncode == 1
    done = compat(package, "fix", "outer/as_written/only/h100/3.9", "--write")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "after:  compiles on 3.8.0–3.9.0\n" in done.stdout
    assert "unexpected" not in done.stderr
    changed = (package / "src/mylib/ops/outer.py").read_text()
    assert changed == PACKAGE["src/mylib/ops/outer.py"].replace("axis=1)", "axis=1)[:, None]")
    after = compat(package, "matrix")
    assert after.returncode == 0, after.stdout
    assert "(2 from the store)" in after.stdout, (
        "the edited copy was the same kernel, wherever it was"
    )
    assert compat(package, "matrix", "--again").returncode == 0


@pytest.mark.wheels
def test_copy_that_fails_in_another_way_is_an_error(package: Path) -> None:
    """The kernel's module reads a file that no import names, so no edited copy can be compiled.

    That does not mean that no edit helps.
    """
    source = package / "src/mylib/ops/outer.py"
    source.write_text(
        "from pathlib import"
        f" Path\nPath(__file__).with_name('sizes.txt').read_text()\n{source.read_text()}"
    )
    (package / "src/mylib/ops/sizes.txt").write_text("16 32")
    done = compat(package, "fix", "outer/as_written/only/sm_90/triton-3.9.0")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "ops/outer.py: a copy in another folder fails in another way" in done.stderr


@pytest.mark.wheels
def test_a_library_is_not_edited(package: Path) -> None:
    (package / "src" / LIBRARY).write_text(json.dumps({"requirement": "mylib==1.0"}))
    done = compat(package, "fix", "outer/as_written/only/sm_90/triton-3.9.0", "--write")
    assert done.returncode == 2
    assert (
        "the kernel is in mylib==1.0, a library from the package index, and `compat fix` does not"
        " edit libraries" in done.stderr
    )
    assert (package / "src/mylib/ops/outer.py").read_text() == PACKAGE["src/mylib/ops/outer.py"]


@pytest.mark.wheels
def test_reports_suggest_no_edit_of_a_library(package: Path) -> None:
    cell = "outer/as_written/only/sm_90/triton-3.9.0"
    assert compat(package, "matrix", "--envs", "triton-3.9.0", "-q").returncode == 1
    assert f"compat fix {cell}" in (package / "reports/matrix.md").read_text()
    assert "try an edit" in compat(package, "explain", cell).stdout
    (package / "src" / LIBRARY).write_text(json.dumps({"requirement": "mylib==1.0"}))
    done = compat(package, "matrix", "--envs", "triton-3.9.0", "-q")
    assert (done.returncode, "can try edits" in done.stdout) == (1, False)
    assert "compat fix" not in (package / "reports/matrix.md").read_text()
    assert json.loads((package / "reports/matrix.json").read_text())["summary"]["edits_known"] == 0
    explanation = compat(package, "explain", cell).stdout
    assert ("advice" in explanation, "try an edit" in explanation) == (True, False)


@pytest.mark.wheels
def test_no_edit_is_known_for_an_import_that_fails_in_another_file(
    tmp_path: Path, built: Callable[[str], BuiltEnv]
) -> None:
    built("triton-3.2.0")
    (tmp_path / "pk").mkdir()
    (tmp_path / "pk" / "__init__.py").write_text("from . import late\n")
    (tmp_path / "pk" / "late.py").write_text(
        "from triton.tools.tensor_descriptor import TensorDescriptor\n"
    )
    (tmp_path / "pk" / "kernel.py").write_text(GUESSED)
    done = compat(
        tmp_path, "matrix", "pk/kernel.py::softmax_kernel", "--envs", "3.2.0", "--target", "sm_90"
    )
    assert "No module named 'triton.tools.tensor_descriptor'" in done.stdout
    assert "can try edits" not in done.stdout


@pytest.mark.wheels
def test_python_source_without_a_kernel_file_is_edited(
    tmp_path: Path, built: Callable[[str], BuiltEnv]
) -> None:
    built("triton-3.9.0")
    source = tmp_path / "a.py"
    source.write_text(GUESSED)
    places = ("--envs", "3.9", "--target", "h100")
    done = compat(
        tmp_path, "fix", "a.py::softmax_kernel", *places, "-q", "--write", "--output", "found.txt"
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "after:  compiles on 3.9.0\n" in (tmp_path / "found.txt").read_text()
    done = compat(tmp_path, "fix", "width/*/*/h100/3.9", "a.py", *places, "--json", "--write")
    assert json.loads(done.stdout)["written"] == [str(source)], done.stderr
    done = compat(tmp_path, "fix", "small/*", "--spec", "a.py", *places)
    assert done.returncode == 2
    assert (
        "a.py::small: the edit changes the arguments (BLOCK = 16), which are guessed\n"
        in done.stderr
    )
    mended = GUESSED.replace("axis=1)", "axis=1)[:, None]").replace(
        "WIDTH=16", "WIDTH: tl.constexpr = 16"
    )
    assert source.read_text() == mended
    assert (
        compat(
            tmp_path, "matrix", "a.py::softmax_kernel", "a.py::width", *places, "--again"
        ).returncode
        == 0
    )
    assert "matches 3 cells" in compat(tmp_path, "fix", "a.py::small", "--envs", "3.9").stderr


@pytest.mark.wheels
def test_wrong_kernel_file_of_another_kernel_sets_the_exit_code(package: Path) -> None:
    (package / "wrong_kernel.toml").write_text('schema = 1\nkernel = "wrong"\n')
    done = compat(package, "fix", "outer/as_written/only/sm_90/triton-3.9.0")
    assert done.returncode == 2
    assert "edit: axis added to a term" in done.stdout
    assert "wrong_kernel.toml" in done.stderr


HELP = """
import sys
from compat.cli.commands import main
from compat.cli.start import start

for command in ("matrix", "fix", "explain"):
    print("begin:", command, file=sys.stderr)
    try:
        main([command, "--help"])
    except SystemExit as end:
        assert not end.code, command
print("begin: all", file=sys.stderr)
sys.argv[1:] = ["--help"]
start()
"""


def test_neither_libcst_nor_tomlkit_is_imported_before_an_edit_is_made() -> None:
    command = [sys.executable, "-X", "importtime", "-c", HELP]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    before, *commands = done.stderr.split("begin: ")
    assert "compat.cli.start" in before
    assert [text.split(None, 1)[0] for text in commands] == ["matrix", "fix", "explain", "all"]
    for text in (before, *commands):
        assert not re.search(r"\b(?:libcst|tomlkit)\b", text), text
