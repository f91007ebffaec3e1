"""A search for settings that ends early: by Ctrl-C, or with its budget.

It reports its results until then.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.model import BuiltEnv
from tests.commands import compat
from tests.sqlite import opened
from tests.waiting import PATIENCE, wait_until

ROOT = Path(__file__).parents[2]
SOURCE = """
import time
import triton
import triton.language as tl
time.sleep(0.2)

@triton.jit
def bounded(x_ptr, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK < 128, "too wide")
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, at)
"""
SPEC = """
schema = 1
kernel = "bounded"
source = "bounded.py"
signature = { x_ptr = "*i32" }
constexprs = { BLOCK = 128 }
"""
MATRIX = """
schema = 1
kernels = ["bounded.toml"]
env = [{ triton = "3.9.0" }]
defaults = { envs = ["*"], targets = ["sm_90"] }
"""
COMMAND = ("bisect", "bounded", "--axis", "config", "--envs", "3.9", "--no-build", "-j", "1")

pytestmark = pytest.mark.wheels


@pytest.fixture
def project(tmp_path: Path, built: Callable[[str], BuiltEnv]) -> Path:
    built("triton-3.9.0")
    for name, text in {"bounded.py": SOURCE, "bounded.toml": SPEC, "matrix.toml": MATRIX}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def started(project: Path) -> subprocess.Popen[str]:
    """Start the command as a shell does: in its own process group, which does not ignore Ctrl-C."""
    return subprocess.Popen(
        [sys.executable, "-m", "compat.cli", *COMMAND],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - one thread here
    )


def results(project: Path) -> int:
    try:
        with opened(project / ".compat" / "results.sqlite") as database:
            return int(database.execute("SELECT count(*) FROM evidence").fetchone()[0])
    except sqlite3.Error:
        return 0


@pytest.mark.long
def test_results_are_reported_on_ctrl_c_and_at_the_end_of_the_budget(project: Path) -> None:
    running = started(project)
    # Wait for the cell itself, and for a change that is ok.
    wait_until(lambda: results(project) >= 2 or running.poll() is not None)
    os.killpg(running.pid, signal.SIGINT)
    answer, progress = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130, progress
    first, *details = answer.splitlines()
    cell = "bounded/as_written/default/sm_90/triton-3.9.0"
    assert first.startswith(f"{cell}: Interrupted, after "), answer
    assert (
        ". It is ok with BLOCK=64 instead of 128. In short: fails with BLOCK = 128, ok with "
        in first
    )
    assert "not tried" in answer
    assert any(
        line.startswith("  again: compat bisect --axis config --kernel bounded") for line in details
    )
    assert "Traceback" not in progress
    assert (
        "probes of this run are finished and saved; run the same command again to continue"
        in progress
    )

    ended = compat(project, *COMMAND, "--budget", "0.001")
    answer = ended.stdout
    assert ended.returncode == 0, ended.stderr
    assert f"{cell}: Stopped at the end of the time budget, after " in answer
    assert "It is ok with BLOCK=64 instead of 128." in answer
    assert "--budget 0.001" in answer

    ended = compat(project, *COMMAND, "--json")
    assert ended.returncode == 0, ended.stderr
    (config_answer,) = (entry["answer"] for entry in json.loads(ended.stdout))
    assert (config_answer["end"], config_answer["left_out"]) == ("done", 0)
    (block,) = (need for need in config_answer["needs"] if need["setting"] == "BLOCK")
    assert (block["ok"], block["fails"]) == (["16", "32", "64"], ["256"])
    assert "Stopped" not in config_answer["sentence"]
    shown = compat(project, *COMMAND).stdout
    assert " In short: fails with BLOCK = 128 and 256, ok with 16, 32 and 64" in shown
    assert shown.count("fails with BLOCK") == 1, shown


def test_budget_that_ends_before_any_result_gives_no_answer(project: Path) -> None:
    ended = compat(project, *COMMAND, "--budget", "0.001")
    assert ended.returncode == 1, ended.stderr
    assert "Stopped at the end of the time budget, after 0 of at most " in ended.stdout
    assert "None is known yet." in ended.stdout
