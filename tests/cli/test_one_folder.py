"""Several runs in one folder, one after the other and at the same time.

The tests use real wheels, and start the command as users do.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.model import BuiltEnv
from tests import commands
from tests.forking import Forked, fork
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
RELEASES = ("3.8.0", "3.9.0")
KERNELS = ("copy", "broken", "twice")
SOURCE = """
import triton
import triton.language as tl


@triton.jit
def {name}(source, result, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, {width})
    tl.store(result + at, tl.load(source + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), mask={mask}) * {factor})
"""
KERNEL = """
schema = 1
kernel = "{name}"
source = "{name}.py"
case = [{{ name = "small", constexprs = {{ BLOCK = 64 }} }}]
variant = [{{ name = "as_written", function = "{name}" }}]
signature = {{ source = "*fp32", result = "*fp32", size = "i32" }}
"""
MATRIX = """
schema = 1
kernels = ["k/*.toml"]
env = [{ triton = "3.8.0" }, { triton = "3.9.0" }]
[defaults]
envs = ["*"]
targets = ["sm_80", "sm_90"]
"""


def write_kernel(folder: Path, name: str, factor: int = 1) -> None:
    """Write a kernel file and its source, which compiles unless its name is ``broken``."""
    folder.mkdir(exist_ok=True)
    width = "2 * BLOCK" if name == "broken" else "BLOCK"
    (folder / f"{name}.py").write_text(
        SOURCE.format(name=name, factor=factor, width=width, mask="tl.arange(0, BLOCK) < size")
    )
    (folder / f"{name}.toml").write_text(KERNEL.format(name=name))


def write_project(folder: Path) -> None:
    (folder / "matrix.toml").write_text(MATRIX)
    for name in KERNELS:
        write_kernel(folder / "k", name)


@pytest.fixture
def project(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    built: Callable[[str], BuiltEnv],
    once: Callable[[str, Callable[[], str]], str],
) -> Path:
    """A project with results of all its cells and no report. One run compiles for all tests."""

    def compile_all() -> str:
        folder = tmp_path_factory.mktemp("compiled")
        write_project(folder)
        done = compat(folder, "matrix")
        assert "12 cells in" in done.stdout, done.stderr
        return str(folder / ".compat")

    for release in RELEASES:
        built(f"triton-{release}")
    write_project(tmp_path)
    shutil.copytree(once("one-folder", compile_all), tmp_path / ".compat")
    return tmp_path


def environ() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def compat(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return commands.run(*arguments, cwd=folder, env=environ(), timeout=PATIENCE)


def report(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "matrix.json").read_text())
    return document


def statuses(document: dict[str, Any]) -> dict[str, str]:
    return {cell["id"]: cell["status"] for cell in document["cells"]}


@pytest.mark.wheels
def test_a_narrowed_run_keeps_the_other_cells_of_the_report(project: Path) -> None:
    reports = project / "reports"
    assert compat(project, "matrix").returncode == 1, "broken is rejected"
    full = report(reports)
    assert (len(full["cells"]), full["earlier"]) == (12, 0)

    narrowed = ("matrix", "--kernel", "copy", "--envs", "triton-3.9.0", "--target", "sm_90")
    done = compat(project, *narrowed, "--junit", "junit.xml")
    assert done.returncode == 0, "the exit code speaks of the cells of this run"
    assert "1 cell in" in done.stdout
    assert "1 of its 12 cells" in done.stdout
    assert (project / "junit.xml").read_text().count("<testcase ") == 1
    joined_report = report(reports)
    assert (statuses(joined_report), joined_report["earlier"]) == (statuses(full), 11)
    assert joined_report["verdicts"] == full["verdicts"]
    assert [source["path"] for source in joined_report["sources"]] == [
        source["path"] for source in full["sources"]
    ]
    sentence = "1 of 12 cells are from this run. The others are results of earlier runs"
    assert sentence in (reports / "matrix.md").read_text()
    assert sentence in (reports / "index.html").read_text()
    read = compat(project, "report", "--json")
    assert json.loads(read.stdout)["earlier"] == 11, read.stderr

    assert compat(project, "matrix").returncode == 1
    assert (statuses(report(reports)), report(reports)["earlier"]) == (statuses(full), 0)


@pytest.mark.wheels
def test_outdated_cells_are_left_out_of_the_report(project: Path) -> None:
    reports = project / "reports"
    compat(project, "matrix")
    write_kernel(project / "k", "twice", factor=2)
    write_kernel(project / "k", "broken", factor=2)
    (project / "k" / "copy.toml").unlink()
    done = compat(project, "matrix", "--kernel", "twice", "--target", "sm_90")
    assert done.returncode == 0, done.stderr
    assert "left out 10 cells of the previous report" in done.stdout
    document = report(reports)
    assert set(statuses(document)) == {
        f"twice/as_written/small/sm_90/triton-{release}" for release in RELEASES
    }
    assert {source["path"]: "* 2" in source["text"] for source in document["sources"]} == {
        "k/twice.py": True
    }

    compat(project, "matrix")
    (reports / "matrix.json").write_text("{")
    assert compat(project, "matrix", "--kernel", "twice", "--target", "sm_90").returncode == 0
    assert len(report(reports)["cells"]) == 2, "what cannot be read is no report"


@pytest.mark.wheels
def test_a_run_of_one_kernel_file_on_another_release_adds_to_the_report(project: Path) -> None:
    compat(project, "matrix", "--envs", "triton-3.9.0", "--target", "sm_90")
    compat(project, "matrix", "k/copy.toml", "--envs", "triton-3.8.0", "--target", "sm_90")
    document = report(project / "reports")
    assert (len(document["cells"]), document["earlier"], document["options"]) == (4, 3, [])
    assert [env["name"] for env in document["envs"]] == ["triton-3.8.0", "triton-3.9.0"]


@pytest.mark.wheels
def test_a_report_of_other_kernel_files_is_written_to_its_own_folder(project: Path) -> None:
    compat(project, "matrix")
    full = statuses(report(project / "reports"))
    write_kernel(project / "more", "thrice")
    done = compat(project, "matrix", "more/thrice.toml")
    assert "wrote reports/more-thrice.toml/index.html" in done.stdout
    assert "kept the report in reports, which covers other kernel files" in done.stdout
    assert statuses(report(project / "reports")) == full
    assert len(report(project / "reports" / "more-thrice.toml")["cells"]) == 4
    compat(project, "matrix", "more/thrice.toml", "--target", "sm_80")
    assert report(project / "reports" / "more-thrice.toml")["earlier"] == 2
    done = compat(project, "matrix", "more/thrice.toml", "--output", "reports")
    assert "replaced the report of `compat matrix`, which covered other kernel files" in done.stdout
    assert len(report(project / "reports")["cells"]) == 4


@pytest.mark.wheels
def test_the_report_of_a_shard_has_no_earlier_cells(project: Path) -> None:
    compat(project, "matrix")
    compat(project, "matrix", "--shard", "1/2", "--target", "sm_90")
    assert report(project / "reports")["earlier"] == 0


def begun(folder: Path, output: str, *arguments: str) -> Forked:
    """A matrix that runs, with its reports in a folder and its text in a file of that name."""
    with (folder / f"{output}.txt").open("w") as file:
        return fork(
            "compat.cli",
            ["matrix", "--output", output, *arguments],
            cwd=folder,
            env=environ(),
            output=file.fileno(),
            errors=file.fileno(),
        )


@pytest.mark.wheels
@pytest.mark.long
def test_two_runs_at_the_same_time_compile_each_cell_once(project: Path) -> None:
    for number in range(4):
        write_kernel(project / "k", f"copy_{number}", factor=number)
    runs = {name: begun(project, name) for name in ("one", "two")}
    for name, run in runs.items():
        assert run.wait() == 1, (project / f"{name}.txt").read_text()
    one, two = (report(project / name) for name in ("one", "two"))
    assert statuses(one) == statuses(two)
    assert len(one["cells"]) == 4 * 7
    compiled = [
        {cell["id"] for cell in document["cells"] if not cell["cached"]} for document in (one, two)
    ]
    assert not compiled[0] & compiled[1]
    assert len(compiled[0] | compiled[1]) == 4 * 4


@pytest.mark.wheels
def test_a_killed_run_does_not_block_another_run(project: Path) -> None:
    for number in range(6):
        write_kernel(project / "k", f"copy_{number}", factor=number)
    first = begun(project, "one", "--jobs", "1")
    while not compiling(project):
        assert first.poll() is None
        time.sleep(0.01)
    second = begun(project, "two")
    time.sleep(0.3)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    exit_code, printed = second.wait(), (project / "two.txt").read_text()
    assert exit_code == 1, printed
    assert len(report(project / "two")["cells"]) == 4 * 9
    assert re.findall(r"(\d+) cells in", printed) == ["36"]


def compiling(folder: Path) -> bool:
    """Whether a process has claimed cells in this folder."""
    try:
        inode = (folder / ".compat" / "compiling").stat().st_ino
    except OSError:
        return False
    return any(f":{inode} " in line for line in Path("/proc/locks").read_text().splitlines())


UNWRITTEN = "import os, sqlite3\nstore = sqlite3.connect('.compat/results.sqlite')\n"
"""A program that opens the store and is killed, which leaves SQLite's log beside the store."""
READ_ONLY = "mount --bind . . && mount -o remount,ro,bind . && cd . && "


def read_only(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder that is mounted read-only for this command alone.

    The superuser cannot write to the folder either.
    """
    script = (
        f"cd {shlex.quote(str(folder))} && {READ_ONLY} cd {shlex.quote(str(folder))} && ! touch x"
        f" 2>/dev/null && {command}"
    )
    return subprocess.run(
        ["unshare", "-mr", "sh", "-c", script],
        check=False,
        env=environ(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


@pytest.fixture
def can_mount(tmp_path: Path) -> None:
    if shutil.which("unshare") is None or read_only(tmp_path, "true").returncode != 0:
        pytest.skip("this machine lets nobody mount anything")


@pytest.mark.wheels
def test_commands_show_the_results_in_a_read_only_folder(
    project: Path, can_mount: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Also if a killed program has left SQLite's log beside the store."""
    outputs = tmp_path_factory.mktemp("outputs")
    compat(project, "matrix", "--target", "sm_90")
    log = project / ".compat" / "results.sqlite-wal"
    assert not log.exists()
    read_commands_succeed(project, outputs / "before")
    add = "store.execute('CREATE TABLE more (a)')\nos.kill(os.getpid(), 9)\n"
    subprocess.run([sys.executable, "-c", UNWRITTEN + add], cwd=project, env=environ(), check=False)
    assert log.exists()
    read_commands_succeed(project, outputs / "after")


COMMANDS = {
    "explain": "explain broken/as_written/small/sm_90/triton-3.9.0",
    "api": "api --of k/copy.toml --envs triton-3.9.0",
    "guard": "guard --kernel copy --out guard.py",
    "matrix": "matrix --target sm_90",
}
EACH = """
import os, shlex, sys
from importlib import import_module
from compat.cli.commands import COMMANDS
from compat.cli.start import start

folder, *lines = sys.argv[1:]
names = [line.split()[0] for line in lines]
for name in names:
    import_module(f"compat.cli.{COMMANDS[name][0]}")
for name, line in zip(names, lines):
    if os.fork() == 0:
        for stream in (1, 2):
            os.dup2(os.open(f"{folder}/{name}.{stream}", os.O_WRONLY | os.O_CREAT), stream)
        sys.argv = ["compat", *shlex.split(line)]
        start()
    _, status = os.wait()
    print(os.waitstatus_to_exitcode(status), flush=True)
"""
"""A program that imports the command once, and forks for each line.

A mount for one process tree is not visible to the process that other tests fork from.
"""


def read_commands_succeed(project: Path, outputs: Path) -> None:
    """Commands that only read succeed in a read-only folder. The others say what they cannot write.

    Their outputs go into another folder.
    """
    store = project / ".compat"
    before = sorted(path.name for path in store.iterdir())
    outputs.mkdir()
    program = [sys.executable, "-P", "-c", EACH, str(outputs), *COMMANDS.values()]
    done = read_only(project, shlex.join(program))
    assert done.returncode == 0, done.stderr
    codes = dict(zip(COMMANDS, map(int, done.stdout.split()), strict=True))
    printed = {path.name: path.read_text() for path in outputs.iterdir()}
    assert (codes["explain"], printed["explain.2"]) == (0, "")
    assert "rejected" in printed["explain.1"]
    assert codes["api"] == 0, printed["api.2"]
    assert "ok" in printed["api.1"]
    assert codes["guard"] == 5
    assert "hint: Choose another path with --out." in printed["guard.2"]
    assert codes["matrix"] == 5, "what is compiled has to be kept"
    assert sorted(path.name for path in store.iterdir()) == before
