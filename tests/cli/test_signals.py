"""A signal at any moment ends a command in order.

The command has its exit code, prints no traceback, and leaves nothing behind.
"""

from __future__ import annotations

import ctypes
import os
import platform
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from compat.model import BuiltEnv
from tests import commands
from tests.waiting import PATIENCE, SOON, wait_until

ROOT = Path(__file__).parents[2]
SLOW = """
import time, os
import triton
import triton.language as tl
time.sleep(float(os.environ.get("NEVER_SET", "0.05")))

@triton.jit
def slow(source, result, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(source + at, mask=at < size)
    for i in tl.static_range(20):
        x = tl.exp(x) + tl.sum(x, 0) * i
    tl.store(result + at, x, mask=at < size)

@triton.jit
def bad(source, result, size, BLOCK: tl.constexpr):
    tl.store(result + tl.arange(0, BLOCK), no_such_name)
"""
SPEC = """
schema = 1
kernel = "slow"
source = "slow.py"
[signature]
source = "*fp32"
result = "*fp32"
size = "i32"
[[case]]
name = "small"
constexprs = { BLOCK = 64 }
[[case]]
name = "large"
constexprs = { BLOCK = 1024 }
[[variant]]
name = "as_written"
function = "slow"
[[variant]]
name = "bad"
function = "bad"
"""
MATRIX = """
schema = 1
env = [{ triton = "3.8.0", groups = ["releases"] }, { triton = "3.9.0", groups = ["releases"] }]
[defaults]
targets = ["sm_90"]
"""
"""Two releases, because a reduction tries every release of the matrix."""
COMMANDS = {
    "matrix": [
        "matrix",
        "--spec",
        "slow.toml",
        "--envs",
        "triton-3.9.0",
        "--no-build",
        "--again",
        "-j",
        "2",
    ],
    "bisect": [
        "bisect",
        "--spec",
        "slow.toml",
        "--envs",
        "triton-3.8.0,triton-3.9.0",
        "--no-build",
        "--again",
        "--variant",
        "bad",
    ],
    "reduce": [
        "reduce",
        "--spec",
        "slow.toml",
        "slow/bad/small/sm_90/triton-3.9.0",
        "--no-build",
        "--budget",
        "1",
    ],
    "explain": ["explain", "--spec", "slow.toml", "slow/bad/small/sm_90/triton-3.9.0"],
    "list": ["list", "cells", "--spec", "slow.toml", "--envs", "releases"],
}
TRIES = int(os.environ.get("COMPAT_SIGNALS", "2"))
"""How many times each signal is sent to each command. The environment variable raises it."""

SYS_TGKILL = {"x86_64": 234, "aarch64": 131}

LENGTHS: dict[str, float] = {}
"""Seconds that each command takes without an interruption."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "slow.toml").write_text(SPEC)
    (tmp_path / "matrix.toml").write_text(MATRIX)
    return tmp_path


@pytest.fixture
def temporary() -> Iterator[Path]:
    """The commands' own folder for temporary files and sockets.

    The paths of sockets have to be short.
    """
    with tempfile.TemporaryDirectory(prefix="sig-", dir="/tmp") as folder:
        yield Path(folder)


class Run:
    """One command, with a mark in its environment that identifies all processes it starts."""

    def __init__(
        self, project: Path, temporary: Path, command: list[str], keep_workers: str = "0"
    ) -> None:
        self.mark = f"compat-signal-{os.getpid()}-{random.getrandbits(64):x}"
        self.environ = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "TMPDIR": str(temporary),
            "XDG_RUNTIME_DIR": str(temporary),
            "LOGNAME": self.mark,
            "COMPAT_KEEP_WORKERS": keep_workers,
        }
        self._before = used_by_children()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "compat.cli", *command],
            cwd=project,
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_until_armed(self) -> bool:
        """Wait until the command handles signals, and return whether it got there.

        Its own first lines set this up. Before them, only Python runs.
        """
        while self.process.poll() is None:
            status = Path(f"/proc/{self.process.pid}/status").read_text()
            caught = int(
                next(line for line in status.splitlines() if line.startswith("SigCgt")).split()[1],
                16,
            )
            if caught >> (signal.SIGTERM - 1) & 1:
                return True
            time.sleep(0.002)
        return False

    def used(self) -> float:
        """CPU seconds so far, of the command and the processes that it started and waited for.

        Nothing may have waited for the command yet.
        """
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def used_in_all(self) -> float:
        """CPU seconds in all, once the command has ended.

        The clock time would depend on what else runs.
        """
        return used_by_children() - self._before

    def left(self) -> list[int]:
        """The processes of the command that still run."""
        pids = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    if f"LOGNAME={self.mark}".encode() in (entry / "environ").read_bytes().split(
                        b"\0"
                    ):
                        pids.append(int(entry.name))
                except OSError:
                    continue
        return pids

    def end(self) -> tuple[int, str, str]:
        output, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, output, errors


def used_by_children() -> float:
    """CPU seconds of the processes that this one has waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def has_ended(run: Run) -> bool:
    return run.left() == []


def check_nothing_is_left(run: Run, temporary: Path) -> None:
    leftovers = [
        path.name for path in temporary.rglob("*") if path.name.startswith(("compat-", ".new-"))
    ]
    assert leftovers == []
    wait_until(partial(has_ended, run), SOON)


@pytest.mark.wheels
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
@pytest.mark.parametrize("name", list(COMMANDS))
def test_a_signal_at_a_random_moment_ends_the_command_in_order(
    name: str,
    number: signal.Signals,
    project: Path,
    temporary: Path,
    built: Callable[[str], BuiltEnv],
) -> None:
    built("triton-3.8.0")
    built("triton-3.9.0")
    if name not in LENGTHS:
        started = time.monotonic()
        Run(project, temporary, COMMANDS[name]).end()
        LENGTHS[name] = time.monotonic() - started
    for attempt in range(TRIES):
        run = Run(project, temporary, COMMANDS[name])
        if not run.wait_until_armed():
            continue
        time.sleep(0.0 if attempt == 0 else random.uniform(0, 0.9 * LENGTHS[name]))
        ended = run.process.poll() is not None
        used = 0.0 if ended else run.used()
        run.process.send_signal(number)
        if attempt % 2:  # an impatient user
            time.sleep(random.uniform(0, 0.2))
            run.process.send_signal(number)
        sent = time.monotonic()
        code, _, errors = run.end()
        assert "Traceback" not in errors, errors
        assert "Exception ignored" not in errors, errors
        if not ended and code != 128 + number:
            assert run.used_in_all() - used < 0.5, "it went on"
            assert code in (0, 1), (code, errors)  # the command had finished its work
        assert time.monotonic() - sent < 40
        check_nothing_is_left(run, temporary)


@pytest.mark.wheels
def test_two_copies_of_a_signal_count_as_one(
    project: Path, temporary: Path, built: Callable[[str], BuiltEnv]
) -> None:
    """`timeout` signals its child, and then the process group of that child."""
    built("triton-3.9.0")
    run = Run(project, temporary, COMMANDS["matrix"])
    assert run.wait_until_armed()
    time.sleep(0.3)
    run.process.send_signal(signal.SIGTERM)
    time.sleep(0.02)
    run.process.send_signal(signal.SIGTERM)
    code, _, errors = run.end()
    assert (code, "interrupted: " in errors) == (128 + signal.SIGTERM, True), errors
    check_nothing_is_left(run, temporary)


@pytest.mark.wheels
def test_a_signal_that_another_thread_receives_ends_the_command(
    project: Path, temporary: Path, built: Callable[[str], BuiltEnv]
) -> None:
    """The kernel may hand a signal for the process to any of its threads.

    It does so if the main thread has one pending.
    """
    built("triton-3.9.0")
    run = Run(project, temporary, [*COMMANDS["matrix"], "-j", "1"])
    tasks = Path(f"/proc/{run.process.pid}/task")
    assert run.wait_until_armed()
    wait_until(lambda: len(list(tasks.iterdir())) > 1, SOON)
    time.sleep(0.3)  # the main thread waits by now
    thread = next(int(task.name) for task in tasks.iterdir() if int(task.name) != run.process.pid)
    sent = time.monotonic()
    assert (
        ctypes.CDLL(None).syscall(
            SYS_TGKILL[platform.machine()], run.process.pid, thread, signal.SIGINT
        )
        == 0
    )
    code, _, errors = run.end()
    assert code == 128 + signal.SIGINT, errors
    assert time.monotonic() - sent < 10
    check_nothing_is_left(run, temporary)


def test_a_command_that_ends_at_once_is_silent_about_the_processes_that_it_ends() -> None:
    script = """
import sys
from compat import files
from compat.cli import start
files.remove_claimed = lambda: print("Traceback", file=sys.stderr)
print("progress", file=sys.stderr)
start._leave_at_once(130)
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "progress\n")


@pytest.mark.wheels
def test_only_workers_that_stay_go_on_after_a_signal(
    project: Path, temporary: Path, built: Callable[[str], BuiltEnv]
) -> None:
    built("triton-3.9.0")
    for delay in (0.5, 1.5, 3.0):
        run = Run(project, temporary, COMMANDS["matrix"], keep_workers="60")
        time.sleep(delay)
        run.process.send_signal(signal.SIGINT)
        run.end()
        wait_until(lambda: list(temporary.glob("compat-*")) == [], SOON)
        folders = list(temporary.glob("triton-compat-*/*"))
        assert all((folder / "about.json").exists() for folder in folders), folders
        inside = {str(Path(f"/proc/{pid}/cwd").readlink()) for pid in run.left()}
        assert inside <= {str(folder.resolve()) for folder in folders}
        commands.run("workers", "--stop", cwd=project, env=run.environ)
        wait_until(partial(has_ended, run), SOON)


@pytest.mark.wheels
def test_a_command_is_silent_if_its_output_is_not_read_to_the_end(
    project: Path, temporary: Path
) -> None:
    (project / "matrix.toml").write_text((ROOT / "matrix.toml").read_text())
    command = f"{sys.executable} -m compat.cli list cells --spec slow.toml --envs releases"
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -1; exit ${{PIPESTATUS[0]}}"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1
    assert done.returncode in (0, 141)


ASCII = {"PYTHONIOENCODING": "ascii"}
NO_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.wheels
def test_commands_print_only_ascii_if_the_terminal_needs_it(
    project: Path, built: Callable[[str], BuiltEnv]
) -> None:
    for env in ("triton-3.8.0", "triton-3.9.0"):
        built(env)
    for name, variables in (*((name, ASCII) for name in COMMANDS), ("matrix", NO_LOCALE)):
        words = [word for word in COMMANDS[name] if word != "--again"]
        done = subprocess.run(
            [sys.executable, "-m", "compat.cli", *words],
            cwd=project,
            env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
            capture_output=True,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr
        assert b"Traceback" not in done.stderr
        (done.stdout + done.stderr).decode("ascii")
