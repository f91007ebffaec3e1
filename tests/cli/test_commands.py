"""The commands as a user runs them, in a separate folder and on real wheels."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.model import BuiltEnv
from tests import commands
from tests.forking import fork
from tests.sqlite import opened
from tests.together import for_each
from tests.waiting import PATIENCE, wait_until

ROOT = Path(__file__).parent.parent.parent
RELEASE = "triton-3.1.0"

KERNEL = """
schema = 1
kernel = "faces"
source = "faces.py"

[signature]
source = "*fp32"
result = "*fp32"
size = "i32"

[constexprs]
BLOCK = 128

[[case]]
name = "only"

[[variant]]
name = "fine"
function = "fine"

[[variant]]
name = "mismatched"
function = "mismatched"
expect = [{ status = "rejected", class = "shape-mismatch", reason = "Two sizes." }]
"""

MATRIX = """
schema = 1
kernels = ["faces.toml"]
env = [{ triton = "3.1.0", groups = ["default"] }]
[defaults]
targets = ["sm_90"]
deadline = 60
"""


@pytest.fixture
def project(tmp_path: Path, built: Callable[[str], BuiltEnv]) -> Path:
    """A user's project with its own kernels.

    It declares the same env as this project.
    """
    env = built(RELEASE)
    assert env.python
    (tmp_path / "matrix.toml").write_text(
        MATRIX.replace('"3.1.0",', '"3.1.0", install = ["setuptools<81"],')
    )
    (tmp_path / "faces.toml").write_text(KERNEL)
    (tmp_path / "faces.py").write_text((ROOT / "tests" / "kernels" / "faces.py").read_text())
    return tmp_path


def compat(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return commands.run(*arguments, cwd=project, env=environment(), timeout=PATIENCE)


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}


@pytest.mark.wheels
def test_matrix_writes_reports_and_exits_with_0_if_all_cells_are_as_declared(project: Path) -> None:
    ran = compat(project, "matrix")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1 ok, 1 rejected; all as expected" in ran.stdout
    document = json.loads((project / "reports" / "matrix.json").read_text())
    assert {cell["id"]: (cell["status"], cell["expected"]) for cell in document["cells"]} == {
        "faces/fine/only/sm_90/triton-3.1.0": ("ok", True),
        "faces/mismatched/only/sm_90/triton-3.1.0": ("rejected", True),
    }
    assert "shape-mismatch" in (project / "reports" / "matrix.md").read_text()
    again = compat(project, "matrix")
    assert "(2 from the store)" in again.stdout


@pytest.mark.wheels
def test_an_undeclared_failure_and_an_undeclared_pass_are_unexpected(project: Path) -> None:
    declared = KERNEL[KERNEL.index("expect") :]
    (project / "faces.toml").write_text(
        KERNEL.replace(declared, "").replace(
            'function = "fine"\n', f'function = "fine"\n{declared}'
        )
    )
    ran = compat(project, "matrix")
    assert ran.returncode == 1
    assert "2 cells UNEXPECTED" in ran.stdout


@pytest.mark.wheels
def test_explain_shows_the_results_of_the_last_run(project: Path) -> None:
    before = compat(project, "explain", "faces/mismatched/only/sm_90/triton-3.1.0")
    assert before.returncode == 0
    assert "not compiled yet" in before.stdout
    assert before.stdout.endswith(
        "  compile it:\n    compat matrix --kernel faces --variant mismatched --case only --target"
        " sm_90 --envs triton-3.1.0\n"
    )
    compat(project, "matrix")
    ran = compat(project, "explain", "*mismatched*")
    for phrase in (
        "rejected, as expected",
        "shape-mismatch",
        "faces.py:",
        "incompatible dimensions",
        "alone, diagnostics on",
        "Two sizes.",
        "divisible by 16: source, result (assumed, as in most launches; not in the kernel file)",
    ):
        assert phrase in ran.stdout
    document = json.loads(compat(project, "explain", "*mismatched*", "--json").stdout)
    assert document["outcome"]["status"] == "rejected"
    assert len(document["attempts"]) == 2
    several = compat(project, "explain", "*")
    assert several.returncode == 0
    first, *listed = several.stdout.splitlines()
    assert first == "2 of the 28 cells that match '*' have run; the newest release is first"
    assert listed[0] == "  faces/fine/only/sm_90/triton-3.1.0: ok"
    assert listed[1].startswith(
        "  faces/mismatched/only/sm_90/triton-3.1.0: rejected, shape-mismatch:"
    )
    assert "incompatible dimensions" in listed[-1]
    cells = json.loads(compat(project, "explain", "*", "--json").stdout)["cells"]
    assert [cell["status"] for cell in cells] == ["ok", "rejected"]


@pytest.mark.wheels
def test_list_prints_text_or_json(project: Path) -> None:
    assert compat(project, "list", "cells").stdout.split() == [
        "faces/fine/only/sm_90/triton-3.1.0",
        "faces/mismatched/only/sm_90/triton-3.1.0",
    ]
    shards = (
        compat(project, "list", "cells", "--shard", f"{number}/3").stdout.split()
        for number in (1, 2, 3)
    )
    assert (
        sorted(cell for shard in shards for cell in shard)
        == compat(project, "list", "cells").stdout.split()
    )
    for what in ("cells", "targets"):
        assert (
            "--shard: invalid shard '4/3'" in compat(project, "list", what, "--shard", "4/3").stderr
        )
    (env,) = json.loads(compat(project, "list", "envs", "--json").stdout)
    assert (env["name"], env["state"], env["triton"]) == (RELEASE, "built", "3.1.0")
    (kernel,) = json.loads(compat(project, "list", "kernels", "--variant", "mis*", "--json").stdout)
    assert kernel["declared"] == ["rejected shape-mismatch"]
    assert "gfx942" in compat(project, "list", "targets").stdout
    narrow = commands.run(
        "list", "kernels", cwd=project, env={**environment(), "COLUMNS": "20"}, timeout=PATIENCE
    )
    assert narrow.returncode == 0, narrow.stderr
    assert len(narrow.stdout.splitlines()) == 1 + 2, "a line each, where a program reads them"


@pytest.mark.wheels
def test_ctrl_c_keeps_finished_cells(project: Path) -> None:
    (project / "faces.toml").write_text(
        KERNEL + '\n[[variant]]\nname = "slow"\nfunction = "unrolled_for_ever"\n'
    )
    with (project / "out").open("w") as out, (project / "err").open("w") as errors:
        running = fork(
            "compat.cli",
            ["matrix", "--jobs", "1"],
            cwd=project,
            env=environment(),
            output=out.fileno(),
            errors=errors.fileno(),
        )
    wait_until(lambda: _finished(project))
    os.kill(running.pid, signal.SIGINT)
    exit_code, err = running.wait(), (project / "err").read_text()
    assert exit_code == 130, err
    assert "1 of 3 cells are finished and saved" in err
    assert "Traceback" not in err
    assert "(1 from the store)" in compat(project, "matrix", "--variant", "fine").stdout


def _finished(project: Path) -> bool:
    import sqlite3

    try:
        with opened(project / ".compat" / "results.sqlite") as database:
            return bool(database.execute("SELECT count(*) FROM evidence").fetchone()[0])
    except sqlite3.Error:
        return False


@for_each(
    ("arguments", "code", "message"),
    [
        (["matrix", "--envs", "nosuch"], 3, "no env, group of envs or release matches 'nosuch'"),
        (["matrix", "--kernel", "face"], 3, "Did you mean faces?"),
        (["matrix", "--target", "sm_9"], 3, "Did you mean sm_90"),
        (["matrix", "--matrix", "nope.toml"], 2, "nope.toml: there is no such file"),
        (["matrix", "--spec", "nope.toml"], 2, "no kernel file matches 'nope.toml'"),
        (
            ["bisect", "faces/*/small/sm_90/triton-3.*"],
            2,
            "these are cells, use --kernel faces --case small --target sm_90 --envs 'triton-3.*'.",
        ),
        (["matrix", "--jobs", "0"], 2, "0 is not in the range"),
        (["matrix", "--jobs", "many"], 2, "'many' is not a valid whole number."),
        (["hunt", "--minutes", "few"], 2, "'few' is not a valid number."),
        (["matrix", "--deadline", "soon"], 2, "'soon' is not a number of seconds."),
        (["matrix", "--deadline", "0"], 2, "for '--deadline': '0' is not above 0 and at"),
        (["matrix", "--deadline", "nan"], 2, "'nan' is not above 0"),
        (["matrix", "--deadline", "1e9"], 2, "'1e9' is not above 0 and at most 100,000,000."),
        (["matrix", "--envs", ""], 2, "Invalid value for '--envs': it is empty"),
        (["matrix", "--kernel", " , "], 2, "Invalid value for '--kernel': it is empty"),
        (["explain", ""], 2, "Invalid value for 'CELL|KERNEL': it is empty"),
        (["matrix", "--output", ""], 2, "Invalid value for '--output': it is empty"),
        (["matrix", "--spec", ""], 2, "Invalid value for '--spec': it is empty"),
        (["explain", "nosuch"], 3, "no cell matches 'nosuch'"),
        (["list", "everything"], 2, "'everything' is not one of"),
        (
            ["list"],
            2,
            "Missing argument '{envs|targets|kernels|cells}'. Choose one, such as `compat list"
            " envs`.",
        ),
        (["nosuch"], 2, "No such command 'nosuch'"),
    ],
)
def test_usage_errors_have_a_message_and_an_exit_code(
    tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    (tmp_path / "matrix.toml").write_text(MATRIX)
    (tmp_path / "faces.toml").write_text(KERNEL)
    (tmp_path / "faces.py").write_text((ROOT / "tests" / "kernels" / "faces.py").read_text())
    ran = compat(tmp_path, *arguments)
    assert ran.returncode == code, ran.stderr
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr


@for_each(
    ("arguments", "code", "message", "hint"),
    [
        (
            ["matrix", "--envs", "nosuch"],
            3,
            "no env, group of envs or release matches",
            "Available",
        ),
        (["fix", "nosuch"], 3, "no cell matches 'nosuch'", "unknown kernel"),
        (["diff", "old", "new"], 5, "old: cannot be read", "`compat matrix` writes"),
        (["check", "nosuch"], 125, "no cell matches 'nosuch'", "unknown kernel"),
    ],
)
def test_an_error_is_json_for_a_program_that_awaits_json(
    tmp_path: Path, arguments: list[str], code: int, message: str, hint: str
) -> None:
    (tmp_path / "matrix.toml").write_text(MATRIX)
    (tmp_path / "faces.toml").write_text(KERNEL)
    (tmp_path / "faces.py").write_text((ROOT / "tests" / "kernels" / "faces.py").read_text())
    ran = compat(tmp_path, *arguments, "--json")
    assert ran.returncode == code, ran.stderr
    document = json.loads(ran.stdout)
    assert set(document) == {"error", "hint"}
    assert document["error"].startswith(message)
    assert document["hint"].startswith(hint)
    assert f": {document['error']}\n  hint: {document['hint']}\n" in ran.stderr
    assert not compat(tmp_path, *arguments).stdout


def test_an_error_after_the_answer_adds_no_second_json(tmp_path: Path) -> None:
    (tmp_path / "matrix.toml").write_text(MATRIX)
    (tmp_path / "faces.toml").write_text(KERNEL)
    (tmp_path / "faces.py").write_text((ROOT / "tests" / "kernels" / "faces.py").read_text())
    ran = compat(tmp_path, "matrix", "--no-build", "--json", "--junit", "faces.toml/x")
    assert ran.returncode == 5, ran.stderr
    assert "faces.toml/x: cannot write the answer: Not a directory" in ran.stderr
    assert "cells" in json.loads(ran.stdout)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (MATRIX.replace("3.1.0", "three"), "matrix.toml: env[0].triton: "),
        (MATRIX.replace("kernels", "kernel"), "matrix.toml: kernel: "),
        (MATRIX + "\n[", "matrix.toml: "),
        (MATRIX.replace("deadline = 60", 'deadline = "long"'), "matrix.toml: defaults.deadline: "),
    ],
)
def test_a_typo_in_matrix_toml_is_an_error_with_its_location(
    tmp_path: Path, wrong: str, message: str
) -> None:
    (tmp_path / "matrix.toml").write_text(wrong)
    ran = compat(tmp_path, "matrix")
    assert ran.returncode == 2
    assert ran.stderr.startswith(f"error: {message}"), ran.stderr
    assert "Traceback" not in ran.stderr


def test_cells_of_an_env_that_is_not_built_are_env_broken(tmp_path: Path) -> None:
    (tmp_path / "matrix.toml").write_text(MATRIX)
    (tmp_path / "faces.toml").write_text(KERNEL)
    (tmp_path / "faces.py").write_text((ROOT / "tests" / "kernels" / "faces.py").read_text())
    ran = compat(tmp_path, "matrix", "--no-build")
    assert ran.returncode == 1
    assert "not built yet" in ran.stdout
    document = json.loads((tmp_path / "reports" / "matrix.json").read_text())
    assert {cell["status"] for cell in document["cells"]} == {"env_broken"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_folder_is_an_error_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "matrix.toml").write_text(MATRIX)
    tmp_path.chmod(0o500)
    ran = compat(tmp_path, "matrix", "--no-build")
    assert ran.returncode == 5
    assert "Traceback" not in ran.stderr


@pytest.mark.wheels
def test_workers_stay_as_long_as_the_settings_say(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A socket's path has to be short.
    with tempfile.TemporaryDirectory(prefix="rt-", dir="/tmp") as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        monkeypatch.delenv("CI", raising=False)

        def listed_after(keep: str) -> list[str]:
            monkeypatch.setenv("COMPAT_KEEP_WORKERS", keep)
            assert compat(project, "matrix", "--again", "--variant", "fine").returncode == 0
            return compat(project, "workers").stdout.splitlines()[1:]

        assert listed_after("0") == []
        monkeypatch.setenv("CI", "true")
        assert listed_after("") == []
        (row,) = listed_after("60")
        assert compat(project, "workers", "--stop").stdout == "stopped 1 worker\n"
        monkeypatch.delenv("CI")
        (other,) = listed_after("")
        assert other.split()[3] != row.split()[3]  # pids
        compat(project, "workers", "--stop")
        (project / "matrix.toml").write_text(
            (project / "matrix.toml").read_text() + "keep_workers = 0\n"
        )
        assert listed_after("") == []
        monkeypatch.setenv("COMPAT_KEEP_WORKERS", "long")
        done = compat(project, "matrix")
        assert (done.returncode, done.stderr.splitlines()[0]) == (
            3,
            "error: $COMPAT_KEEP_WORKERS: 'long' is not a number",
        )
