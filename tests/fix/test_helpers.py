"""Kernels that are made of several files.

A mistake in a helper's file is edited there, and all files are written or none.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from compat import files
from compat.errors import ConfigError, StoreError
from compat.fix import Fix, changes, fix, write_fix
from compat.fix.searching import files_of
from compat.model import BuiltEnv, Failure
from compat.project import select
from compat.source.closure import LIBRARY
from tests.commands import compat
from tests.standin.packages import written

ROWS = """import triton
import triton.language as tl
from triton.language import load


@triton.jit
def load_rows(source, at, COLUMNS: tl.constexpr):
    return load(source + at + tl.arange(0, COLUMNS)[None, :])  # a row each
"""
TILES = """import triton
import triton.language as tl


@triton.jit
def load_tile(p, move_by):
    tile = tl.load(p, boundary_check=(0, 1), padding_option="zero")
    return tile, tl.advance(p, (0, move_by))
"""
PROJECT = {
    "matrix.toml": (
        """schema = 1
kernels = ["*_kernel.toml"]
env = [{ triton = "3.8.0" }, { triton = "3.9.0" }]
defaults = { envs = ["*"], targets = ["sm_90"] }
"""
    ),
    "rows_kernel.toml": (
        """schema = 1
kernel = "rows"
module = "mylib.ops.rows"
path = ["src"]
signature = { source = "*fp32", result = "*fp32", n = "i32", m = "i32" }
constexprs = { ROWS = 16, COLUMNS = 32 }
case = [{ name = "only" }]
variant = [
  { name = "axis", function = "rows" },
  { name = "both", function = "both" },
  { name = "tiles", function = "summed" },
]
"""
    ),
    "src/mylib/__init__.py": "",
    "src/mylib/ops/__init__.py": "",
    "src/mylib/helpers.py": ROWS,
    "src/mylib/ops/helpers.py": TILES,  # of the same name
    "src/mylib/tools.py": "from .ops.helpers import load_tile as tile  # handed on\n",
    "src/mylib/ops/rows.py": (
        """import triton
import triton.language as tl

from mylib import tools
from ..helpers import load_rows as some


@triton.jit
def rows(source, result, n, m, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)
    tl.store(result + at, tl.max(some(source, at, COLUMNS), 1))


@triton.jit
def both(source, result, n, m, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)
    x = some(source, at, COLUMNS)
    tl.store(result + at[:, None] + tl.arange(0, COLUMNS)[None, :], x + at)


@triton.jit
def summed(source, result, n, m, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    p = tl.make_block_ptr(source, (n, m), (m, 1), (tl.program_id(0) * ROWS, 0), (ROWS, COLUMNS), (1, 0))
    total = tl.zeros([ROWS, COLUMNS], tl.float32)
    for _ in range(0, m, COLUMNS):
        tile, p = tools.tile(p, COLUMNS)
        total += tile
    tl.store(result + tl.arange(0, ROWS), tl.sum(total, 1))
"""
    ),
}


@pytest.fixture
def project(tmp_path: Path, built: Callable[[str], BuiltEnv]) -> Path:
    for release in ("3.8.0", "3.9.0"):
        built(f"triton-{release}")
    return written(tmp_path, PROJECT)


def found_for(project: Path, variant: str, monkeypatch: pytest.MonkeyPatch) -> Fix:
    monkeypatch.chdir(project)
    selection = select(Path("matrix.toml"))
    with selection.open_store() as store:
        return fix(selection, f"rows/{variant}/only/sm_90/triton-3.9.0", selection.context(store))


@pytest.mark.wheels
def test_an_edit_is_made_in_the_file_that_the_failure_is_in(project: Path) -> None:
    done = compat(project, "fix", "rows/axis/only/h100/3.9", "--write")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "--- a/src/mylib/helpers.py\n" in done.stdout
    assert (
        "note: mylib/helpers.py changes too, and other kernels that use it were not compiled\n"
        in done.stdout
    )
    assert done.stdout.endswith("wrote src/mylib/helpers.py\n")
    assert (project / "src/mylib/helpers.py").read_text() == ROWS.replace(
        "source + at +", "source + at[:, None] +"
    )
    for name in ("src/mylib/ops/rows.py", "src/mylib/ops/helpers.py"):
        assert (project / name).read_text() == PROJECT[name]
    assert compat(project, "matrix", "--variant", "axis").returncode == 0


@pytest.mark.wheels
def test_edits_of_two_files_are_shown_and_written_together(project: Path) -> None:
    done = compat(project, "fix", "rows/both/only/h100/3.9", "--json", "--write")
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(done.stdout)
    assert [
        Path(file["path"]).relative_to(project).as_posix() for file in document["edit"]["files"]
    ] == [
        "src/mylib/ops/rows.py",
        "src/mylib/helpers.py",
    ]
    assert document["written"] == [file["path"] for file in document["edit"]["files"]]
    assert "x + at[:, None])" in (project / "src/mylib/ops/rows.py").read_text()
    assert compat(project, "matrix", "--variant", "both").returncode == 0


@pytest.mark.wheels
def test_block_pointer_passed_to_another_file_is_edited_in_both(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel imports the helper through a third file.

    If writing fails in the middle, nothing is changed.
    """
    proposal = found_for(project, "tiles", monkeypatch)
    assert proposal.best is not None
    assert [len(proposal.best.helps), proposal.best.not_even_so] == [2, ()]
    assert [change.path.name for change in proposal.changes] == ["rows.py", "helpers.py"]
    assert not any(
        "make_block_ptr" in change.new or "advance" in change.new for change in proposal.changes
    )
    assert any(
        "the parameters or the returned values change" in note
        for note in proposal.best.candidate.notes
    )
    replace, before = files.replace_file, {name: (project / name).read_bytes() for name in PROJECT}

    for error, raised in ((OSError("full"), StoreError), (KeyboardInterrupt(), KeyboardInterrupt)):

        def failing(
            path: Path, content: bytes, *, keep_mode: bool, error: BaseException = error
        ) -> None:
            if path.name == "helpers.py" and content != before["src/mylib/ops/helpers.py"]:
                raise error
            replace(path, content, keep_mode=keep_mode)

        monkeypatch.setattr(changes, "replace_file", failing)
        with pytest.raises(raised):
            write_fix(proposal)
        assert {name: (project / name).read_bytes() for name in PROJECT} == before
    monkeypatch.setattr(changes, "replace_file", replace)
    helper = project / "src/mylib/ops/helpers.py"
    helper.write_bytes(before["src/mylib/ops/helpers.py"] + b"#\n")
    with pytest.raises(ConfigError, match="has changed since"):
        write_fix(proposal)
    assert (project / "src/mylib/ops/rows.py").read_bytes() == before["src/mylib/ops/rows.py"]
    helper.write_bytes(before["src/mylib/ops/helpers.py"])
    assert write_fix(proposal) == tuple(
        project / "src/mylib/ops" / name for name in ("rows.py", "helpers.py")
    )
    assert compat(project, "matrix", "--variant", "tiles").returncode == 0


@pytest.mark.wheels
def test_a_helper_in_a_library_is_not_edited(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No edit is found that changes the helper, alone or together with the kernel."""
    library = project / "library"
    (library / "theirs").mkdir(parents=True)
    (library / LIBRARY).write_text(json.dumps({"requirement": "theirs==1.0"}))
    (library / "theirs" / "__init__.py").write_text(TILES)
    source = project / "src/mylib/ops/rows.py"
    source.write_text(
        source.read_text()
        .replace("from mylib import tools", "import theirs as tools")
        .replace("tools.tile", "tools.load_tile")
    )
    toml = project / "rows_kernel.toml"
    toml.write_text(toml.read_text().replace('["src"]', '["src", "library"]'))
    proposal = found_for(project, "tiles", monkeypatch)
    assert (proposal.best, proposal.changes) == (None, ())
    assert any("used for more than loads" in reason for reason in proposal.refused)
    assert (library / "theirs" / "__init__.py").read_text() == TILES


def test_files_of_a_failure_have_the_name_in_its_location() -> None:
    texts = {"b/k.py": "three\nfour\n", "a/k.py": "one\ntwo\n", "main.py": ""}

    def messages_for(location: str | None, excerpt: str = "") -> list[str]:
        failure = Failure(
            failure_class="c",
            stage="ast",
            fingerprint="f",
            excerpt=excerpt,
            advice="",
            location=location,
        )
        return files_of(failure, texts, "main.py")

    assert messages_for("k.py:2", "    four\n    ^") == ["b/k.py"]
    assert messages_for("k.py:2", "    call()\n    ^") == ["a/k.py", "b/k.py"]
    assert (
        messages_for("main.py:2")
        == messages_for(None)
        == messages_for("triton.py:2")
        == ["main.py"]
    )
