"""The output of a command while it runs, and the use of its answer.

The tests use real wheels, a terminal and a pipe.
"""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.model import BuiltEnv
from tests import commands
from tests.forking import fork
from tests.waiting import PATIENCE

ROOT = Path(__file__).parent.parent.parent
RELEASES = ("3.0.0", "3.8.0", "3.9.0")
SOURCE = """
import time
import triton
import triton.language as tl


@triton.jit
def copy(source, result, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=at < size), mask=at < size)


@triton.jit
def broken(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + tl.arange(0, BLOCK), tl.load(source + tl.arange(0, 2 * BLOCK)))


@triton.jit
def endless(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, 0)


endless.parse = lambda: time.sleep(600)
"""
KERNEL = """
schema = 1
kernel = "mine"
source = "mine.py"
case = [{ name = "small", constexprs = { BLOCK = 64 } }]
variant = [{ name = "copy", function = "copy" }, { name = "broken", function = "broken" }]
[signature]
source = "*fp32"
result = "*fp32"
size = "i32"
"""
ENDLESS = KERNEL.replace(
    'function = "broken" }', 'function = "broken" }, { name = "endless", function = "endless" }'
)
MATRIX = """
schema = 1
kernels = ["mine.toml"]
env = [
  { triton = "3.0.0", install = ["setuptools<81"] }, { triton = "3.8.0" }, { triton = "3.9.0" },
]
[defaults]
envs = ["*"]
targets = ["sm_90"]
"""


@pytest.fixture
def project(tmp_path: Path, built: Callable[[str], BuiltEnv]) -> Path:
    for release in RELEASES:
        built(f"triton-{release}")
    for name, text in (("matrix.toml", MATRIX), ("mine.toml", KERNEL), ("mine.py", SOURCE)):
        (tmp_path / name).write_text(text)
    return tmp_path


def environ() -> dict[str, str]:
    left_out = ("COLUMNS", "NO_COLOR", "FORCE_COLOR")
    variables = {key: value for key, value in os.environ.items() if key not in left_out}
    return {**variables, "PYTHONPATH": str(ROOT), "TERM": "xterm"}


def compat(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return commands.run(*arguments, cwd=folder, env=environ() | variables, timeout=PATIENCE)


def in_terminal(folder: Path, *arguments: str, interrupt: str = "") -> tuple[int, str]:
    """The exit code of a command, and its output in a terminal of 120 columns.

    The command gets Ctrl-C once the terminal has shown ``interrupt``.
    """
    terminal, command_end = pty.openpty()
    termios.tcsetwinsize(terminal, (40, 120))
    command = fork(
        "compat.cli",
        arguments,
        cwd=folder,
        env=environ(),
        output=command_end,
        errors=command_end,
    )
    os.close(command_end)
    output, give_up = b"", time.monotonic() + PATIENCE
    while time.monotonic() < give_up:
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            output += os.read(terminal, 1 << 16)
        except OSError:
            break
        if interrupt and interrupt in bare(output.decode(errors="replace")):
            os.kill(command.pid, signal.SIGINT)
            interrupt = ""
    exit_code = command.wait()
    os.close(terminal)
    return exit_code, bare(output.decode(errors="replace"))


def bare(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")


@pytest.mark.wheels
def test_a_terminal_shows_the_newest_release_before_the_others_are_known(project: Path) -> None:
    code, output = in_terminal(project, "matrix", "-j", "1")
    assert code == 1, output
    drawn, _, last = output.rpartition("not compiled yet")
    assert re.search(r"^copy +… +… +ok *$", drawn, re.MULTILINE), output
    assert re.search(r"\b[1-5] of 6 cells, [01] unexpected", drawn), output
    assert re.search(r"^copy +ok +ok +ok +works", last, re.MULTILINE)
    assert "6 cells in" in last


@pytest.mark.wheels
@pytest.mark.parametrize(
    ("options", "how"), [((), "again"), (("--again",), "without --again")], ids=["new", "again"]
)
def test_ctrl_c_prints_the_table_of_finished_cells(
    project: Path, options: tuple[str, ...], how: str
) -> None:
    (project / "mine.toml").write_text(ENDLESS)
    code, output = in_terminal(
        project, "matrix", "-j", "2", "--envs", "triton-3.9.0", *options, interrupt="2 of 3 cells"
    )
    assert code == 130
    last = output[output.rindex("mine\n") :]
    assert re.search(r"^copy +ok +so far: works|^copy +ok +works", last, re.MULTILINE), last
    assert "2 of 3 cells in" in last
    assert "so far" in last
    assert (
        f"interrupted: 2 of 3 cells are finished and saved; run the same command {how} to continue"
        in last
    )
    assert not (project / "reports").exists()


@pytest.mark.wheels
def test_ctrl_c_in_a_bisect_prints_the_known_results_and_no_conclusion(project: Path) -> None:
    (project / "mine.toml").write_text(ENDLESS)
    code, output = in_terminal(
        project, "bisect", "-j", "2", "--envs", "triton-3.9.0", interrupt="2 of 3 cells"
    )
    assert code == 130
    assert "mine/copy (small, sm_90), so far: ok on 3.9.0" in output
    assert "mine/broken (small, sm_90), so far: shape-mismatch on 3.9.0" in output
    assert "endless" not in output.rpartition("so far: ")[2]
    assert (
        "interrupted: 2 of 3 probes of this run are finished and saved; run the same command again"
        " to continue" in output
    )


@pytest.mark.wheels
def test_progress_names_a_slow_cell(project: Path) -> None:
    (project / "mine.toml").write_text(ENDLESS)
    _, output = in_terminal(
        project, "matrix", "--variant", "endless", "--envs", "triton-3.9.0", interrupt="slow: "
    )
    assert re.search(
        r"0 of 1 cell, 0 unexpected, slow: mine/endless/small/sm_90/triton-3.9.0 \(\d+ s\)", output
    )


@pytest.mark.wheels
def test_a_pipe_gets_unwrapped_lines_without_control_characters(project: Path) -> None:
    for command in (
        ("matrix",),
        ("explain", "mine/broken/small/sm_90/triton-3.9.0"),
        ("list", "kernels"),
        ("bisect", "--envs", "*", "--variant", "broken"),
    ):
        ran = compat(project, *command, COLUMNS="40")
        assert "\x1b" not in ran.stdout + ran.stderr
        assert "\r" not in ran.stdout + ran.stderr
        assert not [line for line in ran.stdout.splitlines() if line != line.rstrip()], command
    report = compat(project, "matrix", COLUMNS="40").stdout
    assert "F1 shape-mismatch rejected shape-mismatch:" in report
    (advice,) = [line for line in report.splitlines() if line.startswith("   advice")]
    assert len(advice) > 100


def compat_written(folder: Path, *arguments: str) -> str:
    """The answer that a command writes into a file."""
    compat(folder, *arguments, "--output", "answer.txt")
    return (folder / "answer.txt").read_text()


@pytest.mark.wheels
def test_commands_have_options_for_quiet_json_and_an_output_file(project: Path) -> None:
    ran = compat(project, "matrix", "-q", "--json")
    document = json.loads(ran.stdout)
    assert ran.stderr == ""
    assert document == json.loads((project / "reports" / "matrix.json").read_text())
    cell = "mine/broken/small/sm_90/triton-3.9.0"
    for command in (
        ("list", "cells"),
        ("init", "mine.py"),
        ("explain", cell),
        ("explain", "mine/*"),
        ("check", cell),
        ("envs", "list"),
        ("envs", "build", "triton-3.9.0"),
        ("envs", "where", "3.9"),
        ("envs", "prune", "--dry-run"),
        ("workers",),
    ):
        json_run = compat(project, *command, "-q", "--json")
        json.loads(json_run.stdout)
        silent = compat(project, *command, "-q", "--output", "answer.txt")
        assert (silent.stdout, silent.stderr, silent.returncode) == ("", "", json_run.returncode)
        assert (project / "answer.txt").read_text().endswith("\n")
    assert compat(project, "check", cell).stdout == compat_written(project, "check", cell)
    for axis in ("releases", "pass", "config"):
        search = ("bisect", "--axis", axis, "--variant", "broken", "--envs", "*", "-q")
        assert isinstance(json.loads(compat(project, *search, "--json").stdout), list)
        compat(project, *search, "--output", f"{axis}.md")
        assert "mine/broken" in (project / f"{axis}.md").read_text()
    failed = compat(project, "list", "cells", "--output", "mine.py/answer.txt")
    assert failed.returncode == 5
    assert "cannot write the answer" in failed.stderr


JUDGE = ("--judge", "run=test $COMPAT_TRITON = 3.0.0", "--judge-deadline", "20")


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory, built: Callable[[str], BuiltEnv]) -> Path:
    """A folder whose project is elsewhere, with a kernel file that matrix.toml does not name."""
    folder = tmp_path_factory.mktemp("elsewhere")
    for release in RELEASES:
        built(f"triton-{release}")
    for name, text in (
        ("own.toml", MATRIX.replace("mine.toml", "none.toml")),
        ("other.toml", KERNEL),
        ("mine.py", SOURCE),
    ):
        (folder / name).write_text(text)
    (folder / "outside").mkdir()
    return folder / "outside"


ELSEWHERE = ("--matrix", "../own.toml", "--spec", "../other.toml")
BROKEN = "mine/broken/small/sm_90/triton-3.9.0"


@pytest.mark.wheels
@pytest.mark.parametrize(
    "search",
    [
        ("--variant", "broken", "--good", "3.0", "--bad", "3.9", "--search", "--deadline", "50"),
        ("--variant", "copy", *JUDGE),
        (
            "--variant",
            "copy",
            "--fixed",
            "--no-build",
            "--judge",
            "run=test $COMPAT_TRITON != 3.0.0",
        ),
        ("--axis", "pass", "--variant", "broken", "--bad", "3.8", "--deadline", "50"),
    ],
    ids=" ".join,
)
def test_the_command_in_the_answer_of_a_bisect_gives_the_same_answer(
    outside: Path, search: tuple[str, ...]
) -> None:
    first = json.loads(
        compat(outside, "bisect", "--envs", "*", *search, *ELSEWHERE, "-q", "--json").stdout
    )[0]
    command = shlex.split(first["command"])
    second = json.loads(compat(outside, *command[1:], "-q", "--json").stdout)[0]
    assert second["command"] == first["command"]
    keys = ("kernel", "variant", "case", "target", "answer", "bracket", "class")
    assert {key: second.get(key) for key in keys} == {key: first.get(key) for key in keys}
    if "--judge-deadline" in search:
        assert "--judge-deadline 20" in first["command"]


@pytest.mark.wheels
def test_the_commands_in_a_report_and_in_explain_give_the_same_outcome(outside: Path) -> None:
    compat(outside, "matrix", *ELSEWHERE, "--envs", "3.9", "--deadline", "50")
    matrix, explain = re.findall(
        r"^compat .*$", (outside.parent / "reports" / "matrix.md").read_text(), re.MULTILINE
    )
    explained = compat(outside, *shlex.split(explain)[1:]).stdout
    assert explained.startswith(BROKEN)
    for line in (matrix, after(explained, "again:")):
        (cell,) = json.loads(compat(outside, *shlex.split(line)[1:], "--json").stdout)["cells"]
        assert cell["id"] == BROKEN
        assert cell["failure"]["fingerprint"] in explained
    assert "--deadline 50" in matrix


@pytest.mark.wheels
def test_the_command_that_repro_prints_writes_the_same_script(outside: Path) -> None:
    how = (
        "--envs",
        "3.9",
        "--target",
        "h100",
        "--portable",
        "--output",
        "scripts",
        "--deadline",
        "50",
    )
    first = compat(outside, "repro", "mine/bro*/h100/3.9", *ELSEWHERE, *how)
    assert first.returncode == 0, first.stderr
    (script,) = (outside / "scripts").glob("*.py")
    text = script.read_text()
    script.unlink()
    line = after(first.stdout, "again:")
    (again,) = json.loads(compat(outside, *shlex.split(line)[1:], "--json").stdout)
    assert again["command"] == line
    assert script.read_text() == text


@pytest.mark.wheels
def test_the_command_that_reduce_prints_for_the_issue_writes_one(outside: Path) -> None:
    reduced = compat(
        outside, "reduce", BROKEN, *ELSEWHERE, "--only", "--judge-deadline", "20", "--budget", "2"
    )
    assert "--judge-deadline 20" in after(reduced.stdout, "to shorten its text further:")
    written = compat(
        outside, *shlex.split(after(reduced.stdout, "for the issue:"))[1:], "--envs", "3.9"
    )
    assert written.returncode == 0, written.stdout + written.stderr
    assert "wrote " in written.stdout


def after(text: str, marker: str) -> str:
    return text[text.rindex(marker) + len(marker) :].strip().splitlines()[0].strip()


def completed(folder: Path, *words: str) -> list[str]:
    """The completions of bash for the last of these words."""
    variables = {
        "_COMPAT_COMPLETE": "bash_complete",
        "COMP_WORDS": shlex.join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    ran = compat(folder, **variables)
    assert ran.stderr == ""
    return [line.partition(",")[2] for line in ran.stdout.splitlines() if line]


def test_the_shell_completes_names(tmp_path: Path) -> None:
    for name, text in (("matrix.toml", MATRIX), ("mine.toml", KERNEL), ("mine.py", SOURCE)):
        (tmp_path / name).write_text(text)
    assert completed(tmp_path, "compat", "ma") == ["matrix"]
    assert completed(tmp_path, "compat", "matrix", "--kernel", "mi") == ["mine"]
    assert completed(tmp_path, "compat", "matrix", "--variant", "copy,br") == ["copy,broken"]
    assert completed(tmp_path, "compat", "matrix", "--envs", "triton-3.8") == ["triton-3.8.0"]
    assert completed(tmp_path, "compat", "bisect", "--target", "gfx94") == ["gfx942"]
    assert completed(tmp_path, "compat", "explain", "mine/copy/small/sm_90/") == [
        f"mine/copy/small/sm_90/triton-{release}" for release in RELEASES
    ]
    assert not (tmp_path / ".compat").exists()


def test_completion_and_lists_survive_broken_files(tmp_path: Path) -> None:
    for name, text in (("matrix.toml", MATRIX), ("mine.toml", "kernel = ["), ("mine.py", SOURCE)):
        (tmp_path / name).write_text(text)
    assert completed(tmp_path, "compat", "matrix", "--envs", "triton-3.8") == ["triton-3.8.0"]
    assert completed(tmp_path, "compat", "matrix", "--kernel", "mi") == []
    assert "triton-3.9.0" in compat(tmp_path, "list", "envs").stdout
    assert "gfx942" in compat(tmp_path, "list", "targets").stdout
    assert compat(tmp_path, "list", "kernels").returncode == 2
    (tmp_path / "matrix.toml").write_text("schema = [")
    assert completed(tmp_path, "compat", "matrix", "--envs", "tri") == []
    assert completed(tmp_path, "compat", "explain", "mi") == []


@pytest.mark.parametrize(
    ("typed", "meant"), [("matrx", "matrix"), ("bisec", "bisect"), ("envs biuld", "build")]
)
def test_a_misspelled_command_gets_a_suggestion(tmp_path: Path, typed: str, meant: str) -> None:
    ran = compat(tmp_path, *typed.split())
    assert ran.returncode == 2
    assert f"Did you mean '{meant}'?" in ran.stderr
    assert "Did you mean" not in compat(tmp_path, "xyzzy").stderr


@pytest.mark.wheels
def test_without_an_index_built_envs_are_used_and_missing_envs_are_named(project: Path) -> None:
    """The missing env is of an older release than the built envs.

    So the command asks for it after them.
    """
    offline = {
        "UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple",
        "PIP_FIND_LINKS": "",
        "UV_FIND_LINKS": "",
    }
    done = compat(
        project, "matrix", "--envs", "3.9.0,3.8.0,triton-3.0.90", "--variant", "copy", **offline
    )
    assert (done.returncode, "2 ok, 1 env_broken" in done.stdout) == (1, True), (
        done.stdout + done.stderr
    )
    assert (
        "warning: triton-3.0.90 cannot be built: http://127.0.0.1:9/simple/triton/ cannot be read"
        in done.stderr
    )
    assert "--no-build" in done.stderr
    assert "not built: the package index does not answer" in done.stdout
    assert "output below" not in done.stdout
    alone = compat(project, "matrix", "--envs", "triton-3.0.90", **offline)
    assert alone.returncode == 4
    assert "--no-build" in alone.stderr
