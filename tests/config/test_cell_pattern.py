"""Names of cells and kernels on the command line, and errors if a name matches none or several."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat.config.selection import cell_pattern, several_match
from compat.errors import SelectionError
from compat.project import Selection, select
from tests.commands import compat

ROOT = Path(__file__).parents[2]
SOURCE = """
import triton
import triton.language as tl


@triton.jit
def soft(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.exp(tl.load(x_ptr + at, mask=at < n)), mask=at < n)


@triton.jit
def hard(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)
"""
SOFT = """
schema = 1
kernel = "softmax"
source = "../ops.py"
function = "soft"
signature = { x_ptr = "*bf16", y_ptr = "*bf16", n = "i32" }
case = [
  { name = "small", constexprs = { BLOCK = 16 } },
  { name = "large", constexprs = { BLOCK = 4096 } },
]
"""
MATRIX = """
schema = 1
kernels = ["kernels/*.toml"]
env = [{ triton = "3.1.0" }, { triton = "3.9.0" }]
defaults = { envs = ["*"], targets = ["sm_80", "sm_90"] }
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "kernels").mkdir()
    files = {"ops.py": SOURCE, "kernels/soft.toml": SOFT, "matrix.toml": MATRIX}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("COMPAT_ENVS", str(tmp_path / "envs"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def described(selection: Selection) -> list[tuple[str, str, bool]]:
    return [(spec.kernel, spec.case, spec.guessed) for spec in selection.specs]


# --- which kernels --------------------------------------------------------------------------------


def test_a_function_of_a_source_is_described_by_the_projects_kernel_file(project: Path) -> None:
    spec, _ = select(kernel_files=["ops.py::soft"]).specs
    assert described(select(kernel_files=["ops.py::soft"])) == [
        ("softmax", "small", False),
        ("softmax", "large", False),
    ]
    assert spec.compile.signature["x_ptr"] == "*bf16"
    assert spec == select(kernels=["softmax"], cases=["small"]).specs[0]


def test_a_function_that_no_kernel_file_describes_is_guessed(project: Path) -> None:
    assert described(select(kernel_files=["ops.py::hard"])) == [("hard", "default", True)]
    assert described(select(kernel_files=["ops.py"])) == [
        ("softmax", "small", False),
        ("softmax", "large", False),
        ("hard", "default", True),
    ]
    (project / "matrix.toml").write_text(MATRIX.replace("kernels/*.toml", "ops.py"))
    assert described(select(kernel_files=["ops.py::soft"])) == [("soft", "default", True)]


def test_errors_in_a_kernel_file_of_other_sources_are_ignored(project: Path) -> None:
    kernel_text = SOFT.replace("softmax", "gone").replace("../ops.py", "../gone.py")
    (project / "kernels" / "gone.toml").write_text(kernel_text)
    chosen = select(kernel_files=["ops.py::soft"])
    assert (len(chosen.specs), chosen.problems) == (2, ())


def test_a_kernels_name_is_accepted_in_place_of_a_kernel_file(project: Path) -> None:
    assert described(select(kernel_files=["softmax"])) == described(select(kernels=["softmax"]))
    assert described(select(kernel_files=["ops.py", "h*"])) == [("hard", "default", True)]
    with pytest.raises(SelectionError, match="no kernel matches 'softmux'") as raised:
        select(kernel_files=["softmux"])
    assert raised.value.hint == "Did you mean softmax?"


@pytest.mark.parametrize("name", ["softmax", "ops.py::soft"])
@pytest.mark.parametrize(
    "command",
    [["list", "cells"], ["check", "--no-build"], ["matrix", "--no-build", "--envs", "3.9"]],
)
def test_commands_take_a_kernels_name(project: Path, command: list[str], name: str) -> None:
    done = compat(project, *command, name)
    assert "softmax" in done.stdout, done.stderr
    assert "hard" not in done.stdout
    assert "guessed" not in done.stderr


# --- which cells ----------------------------------------------------------------------------------


def test_the_beginning_of_an_id_matches_all_cells_that_begin_with_it(project: Path) -> None:
    chosen = select()
    for text, count in {
        "softmax": 8,
        "softmax/as_written": 8,
        "softmax/as_written/large": 4,
        "softmax/*/large/h100": 2,
    }.items():
        assert len(cell_pattern(text, chosen.config).choose(chosen.cells)) == count, text
    (one,) = cell_pattern("softmax/as_written/large/h100/3.9", chosen.config).choose(chosen.cells)
    assert one.id == "softmax/as_written/large/sm_90/triton-3.9.0"


def test_the_hint_names_the_part_of_an_id_that_does_not_match(project: Path) -> None:
    chosen = select()
    for text, hint in {
        "softmux": "unknown kernel 'softmux'. Did you mean softmax?",
        "softmax/grid": "softmax has no variant 'grid'. Available: as_written.",
        "softmax/as_written/smal/sm_90": (
            "softmax/as_written has no case 'smal'. Did you mean small?"
        ),
        "softmax/as_written/small/gfx942/3.9": (
            "softmax/as_written/small has no target 'gfx942'. Available: sm_80, sm_90."
        ),
        "softmax/as_written/small/sm_90/3.9/1": (
            "An id has 5 parts: kernel/variant/case/target/env."
        ),
    }.items():
        with pytest.raises(SelectionError) as raised:
            cell_pattern(text, chosen.config).choose(chosen.cells)
        assert (str(raised.value), raised.value.hint) == (f"no cell matches {text!r}", hint)


def test_the_hint_says_how_several_matching_cells_differ(project: Path) -> None:
    chosen = select(cases=["small"], envs=["3.9"])
    few = several_match("softmax", chosen.cells)
    assert str(few) == "'softmax' matches 2 cells"
    assert (
        few.hint
        == "Add --target, or name one:\n    softmax/as_written/small/sm_80/triton-3.9.0\n   "
        " softmax/as_written/small/sm_90/triton-3.9.0"
    )
    many = several_match("softmax", select(envs=["*"], targets=["sm_*"]).cells)
    assert many.hint is not None
    first, *options = many.hint.splitlines()
    assert (
        first == "Add --case, --target and --envs, or name one, such as"
        " softmax/as_written/small/sm_70/triton-3.1.0."
    )
    assert options[0] == "    --case: small, large"
    assert options[2] == "    --envs: triton-3.1.0, triton-3.9.0"


@pytest.mark.parametrize("name", ["softmax", "ops.py::soft"])
@pytest.mark.parametrize("command", ["explain", "fix", "reduce"])
def test_an_ambiguity_error_lists_only_matches_of_the_argument(
    project: Path, command: str, name: str
) -> None:
    (project / "kernels" / "other.toml").write_text(
        SOFT.replace('"softmax"', '"other"').replace('"soft"', '"hard"')
    )
    done = compat(project, command, name, "--envs", "3.9", "--target", "h100")
    what = "kernels and targets" if command == "reduce" else "cells"
    assert done.returncode == 3
    assert done.stderr.startswith(
        f"error: '{name}' matches 2 {what}\n  hint: Add --case, or name one:\n"
    )
    assert "softmax/as_written/small/sm_90" in done.stderr
    assert "other" not in done.stderr


def test_a_repro_of_too_many_cells_is_an_error_with_the_limit(project: Path) -> None:
    done = compat(project, "repro", "softmax", "--envs", ">=3", "--target", "sm_*")
    assert done.returncode == 3
    assert "hint: At most 12 at a time. Add --case, --target" in done.stderr
