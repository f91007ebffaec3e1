"""Histories of kernels on real wheels, with the command that a user runs."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import uuid
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from compat.cli.commands import main
from tests.waiting import PATIENCE, wait_until

ROOT = Path(__file__).parents[2]
FAILURES = ("--spec", str(ROOT / "tests" / "kernels" / "failures.toml"))
NEW_OR_GONE = ("--spec", str(ROOT / "tests" / "bisect" / "histories.toml"))
SEL_DENSE = ("--spec", str(ROOT / "kernels" / "sel_dense.toml"), "--case", "d64")

pytestmark = [pytest.mark.wheels, pytest.mark.usefixtures("shared_project")]


def bisect(*arguments: str, code: int = 0) -> dict[str, Any]:
    """The one answer that ``compat bisect`` gives."""
    command = ["bisect", "--json", *arguments]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == code, done.output
    (answer,) = json.loads(done.stdout)
    return dict(answer)


def failures(answer: dict[str, Any]) -> set[tuple[str, str]]:
    return {(probe["class"], probe["fingerprint"]) for probe in answer["probes"] if probe["class"]}


def changes(answer: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(change["from"], change["to"], change["change"]) for change in answer["transitions"]]


def test_block_pointers_were_removed_in_3_9() -> None:
    answer = bisect(*NEW_OR_GONE, "--variant", "block_pointer", "--target", "sm_90")
    assert (answer["answer"], answer["verdict"]) == ("removed in", "removed in 3.9.0")
    assert (answer["bracket"]["last_good"], answer["bracket"]["first_bad"]) == ("3.8.0", "3.9.0")
    assert [
        (change["from"], change["to"], change["class"]) for change in answer["transitions"]
    ] == [("3.8.0", "3.9.0", "api-removed")]
    assert answer["part"]["name"] == "front end"
    assert "Last good 3.8.0, first bad 3.9.0: API removed (api-removed)." in answer["sentence"]


def test_descriptors_need_3_4() -> None:
    answer = bisect(
        *NEW_OR_GONE,
        "--variant",
        "descriptor",
        "--target",
        "sm_90",
        "--releases",
        ">=3.2,<3.6",
        "--patches",
    )
    assert (answer["answer"], answer["needs"], answer["verdict"]) == (
        "needs ≥",
        "3.4.0",
        "needs ≥ 3.4.0",
    )
    assert (answer["bracket"]["last_bad"], answer["bracket"]["first_good"]) == ("3.3.1", "3.4.0")
    assert "3.0.0" in answer["not_tried"]
    assert {kind for kind, _ in failures(answer)} == {"api-missing"}


def test_the_missing_axis_never_worked() -> None:
    answer = bisect(*SEL_DENSE, "--variant", "as_written", "--target", "sm_90", "--patches")
    assert (answer["answer"], answer["bracket"], answer["part"]) == ("never worked", None, None)
    assert (answer["verdict"], answer["not_tried"]) == ("never worked", [])
    assert "nothing to bisect" in answer["sentence"]
    assert len(answer["probes"]) >= 10
    assert {kind for kind, _ in failures(answer)} == {"shape-mismatch"}


def test_the_block_typed_bound_crashes_everywhere_as_one_failure() -> None:
    answer = bisect(*FAILURES, "--variant", "block_typed_bound", "--target", "sm_90", "--patches")
    assert (answer["answer"], answer["transitions"]) == ("never worked", [])
    assert len(answer["probes"]) >= 13
    assert {probe["status"] for probe in answer["probes"]} == {"crashed"}
    ((kind, _),) = failures(answer)
    assert kind == "mlir-bitwidth-assert"


def test_assertion_in_a_pass_is_one_failure_as_abort_and_as_exception() -> None:
    answer = bisect(*FAILURES, "--variant", "scan", "--target", "sm_90", "--releases", ">=3.1,<3.5")
    assert answer["answer"] == "never worked"
    assert [probe["triton"] for probe in answer["probes"] if not probe["remembered"]] == [
        "3.1.0",
        "3.2.0",
        "3.3.0",
        "3.4.0",
    ]
    ((kind, _),) = failures(answer)
    assert kind == "compiler-assert"


def test_sm_100_needs_3_3() -> None:
    answer = bisect(
        *FAILURES, "--variant", "copy", "--target", "sm_100", "--releases", "<3.5,>=3.0"
    )
    assert (answer["answer"], answer["needs"]) == ("needs ≥", "3.3.0")
    statuses = {
        probe["triton"]: probe["status"] for probe in answer["probes"] if not probe["remembered"]
    }
    assert statuses == {
        "3.0.0": "unsupported",
        "3.1.0": "unsupported",
        "3.2.0": "unsupported",
        "3.3.0": "ok",
        "3.4.0": "ok",
    }


def test_kernel_that_broke_and_was_fixed_is_intermittent() -> None:
    answer = bisect(
        *FAILURES,
        "--variant",
        "dot_into_dot",
        "--target",
        "sm_90",
        "--releases",
        ">=3.0,<3.6",
        "--patches",
    )
    assert answer["answer"] == "intermittent"
    assert changes(answer) == [
        ("3.1.0", "3.2.0", "ok→failed"),
        ("3.2.0", "3.3.0", "failure changed"),
        ("3.3.1", "3.4.0", "failed→ok"),
    ]
    assert len(failures(answer)) == 2
    assert (
        "intermittent: ok in 3.0.0 to 3.1.0, then broken in 3.2.0 to 3.3.1 (compiler-assert), then"
        " ok in 3.4.0" in answer["sentence"]
    )


def test_given_end_that_is_wrong_is_reported() -> None:
    answer = bisect(
        *FAILURES,
        "--variant",
        "copy",
        "--target",
        "sm_90",
        "--good",
        "3.1",
        "--bad",
        "3.3.1",
        "--search",
    )
    assert answer["answer"] == "works"
    assert [probe["triton"] for probe in answer["probes"]] == ["3.1.0", "3.3.1"]
    assert answer["remarks"][0] == "3.3.1 was given as bad, but is good: ok."


def test_repeating_compiles_nothing() -> None:
    arguments = (
        *FAILURES,
        "--variant",
        "copy",
        "--target",
        "sm_90",
        "--releases",
        ">=3.3,<3.5",
    )
    bisect(*arguments)
    assert all(probe["cached"] for probe in bisect(*arguments)["probes"])


def test_bisection_without_built_envs_is_inconclusive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPAT_ENVS", str(tmp_path / "envs"))
    envs = '[{ triton = "3.1.0" }, { triton = "3.2.0" }]'
    (tmp_path / "matrix.toml").write_text(
        f'schema = 1\nkernels = ["none.toml"]\nenv = {envs}\n[defaults]\nenvs = ["*"]\n'
    )
    arguments = [*FAILURES, "--variant", "copy", "--target", "sm_90", "--envs", "*", "--no-build"]
    done = CliRunner().invoke(
        main, ["bisect", "--matrix", str(tmp_path / "matrix.toml"), *arguments]
    )
    assert done.exit_code == 1
    assert (
        "inconclusive: no release gave an answer. 3.2.0: env_broken, install: not built yet"
        in " ".join(done.output.split())
    )


def test_program_judges_a_fact_that_no_built_in_judge_asks_for() -> None:
    """The program runs in the env of each release.

    Its judgement is not about a failure, so the answer blames no part of the toolchain.
    """
    program = (
        "run=$COMPAT_PYTHON -c 'import importlib.util as i; raise"
        ' SystemExit(i.find_spec("triton.knobs") is None)\''
    )
    between = ("--releases", ">=3.2,<3.6")
    answer = bisect(
        *FAILURES, "--variant", "copy", "--target", "sm_90", "--fixed", "--judge", program, *between
    )
    assert (answer["answer"], answer["judge"]) == ("fixed in", program)
    assert (answer["bracket"]["last_bad"], answer["bracket"]["first_good"]) == ("3.3.0", "3.4.0")
    assert answer["part"] is None
    one = (*FAILURES, "--variant", "copy", "--target", "sm_90", *between)
    done = CliRunner().invoke(
        main,
        ["bisect", *one, "--judge", "run=no-such-program"],
    )
    assert done.exit_code == 3
    assert "error: --judge run=no-such-program: the command could not start" in done.stderr


SLOW = """\
import time

import triton
import triton.language as tl

time.sleep(2)  # {nonce}: nothing is known of a file that was never there


@triton.jit
def copy(source, result, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=at < size), mask=at < size)
"""


def test_interrupted_bisection_keeps_its_probes(tmp_path: Path, shared_project: Path) -> None:
    """The bisection runs as its own process.

    The test interrupts that process as soon as the store has the first probe.
    """
    name = f"slow_{uuid.uuid4().hex}"
    (tmp_path / "slow.py").write_text(SLOW.format(nonce=name))
    declared = (
        (ROOT / "tests" / "kernels" / "failures.toml").read_text().partition("[[variant]]")[0]
    )
    declared = declared.replace('"failures', f'"{name}', 1).replace("failures.py", "slow.py")
    (tmp_path / "slow.toml").write_text(
        declared + '[[variant]]\nname = "only"\nfunction = "copy"\n'
    )
    arguments = [
        "bisect",
        "--spec",
        str(tmp_path / "slow.toml"),
        "--target",
        "sm_90",
        "--releases",
        ">=3.1,<3.9",
        "-j",
        "1",
    ]
    command = [sys.executable, "-m", "compat.cli", *arguments]
    running = subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(lambda: _probed(shared_project, name) or running.poll() is not None)
    running.send_signal(signal.SIGINT)
    _, stderr = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130, stderr
    assert re.search(
        r"interrupted: [1-7] of 8 probes of this run are finished and saved; run the same command"
        r" again to continue",
        stderr,
    )
    assert _probed(shared_project, name) in range(1, 8)


def _probed(project: Path, kernel: str) -> int:
    """The number of cells of a kernel in the store of a project."""
    try:
        with closing(
            sqlite3.connect(project / ".compat" / "results.sqlite", timeout=60)
        ) as database:
            (count,) = database.execute(
                "SELECT count(*) FROM evidence WHERE cell LIKE ?", (f"{kernel}/%",)
            ).fetchone()
            return int(count)
    except sqlite3.OperationalError:  # no bisect has made the store yet
        return 0
