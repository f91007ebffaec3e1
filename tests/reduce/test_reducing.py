"""Judging candidates with real compilers, and the command over them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from compat.axes.reducing import Jury, confirmed, wish_for_ok, wish_to_keep
from compat.config.kernel_files import load_kernels
from compat.config.targets import TARGETS
from compat.engine.supervise import Stopped
from compat.errors import SelectionError
from compat.model import BuiltEnv, Cell, Result, Specialization
from compat.reduce import Candidate, extracted
from compat.reduce.kernel_file import kernel_file
from compat.run import Bench, run
from compat.search.judge import parse_judge
from compat.source.bundle import bundle
from compat.store import Store
from tests.cells import POINTERS, cell
from tests.conftest import ROOT
from tests.reduce.real import LIMITS

Built = Callable[[str], BuiltEnv]
CHAIN: dict[str, Any] = {
    "constexprs": {"BLOCK": 64},
    "options": {"num_warps": 8},
    "signature": {**POINTERS, "source": "*fp16"},
}
"""``dot_into_dot`` with it is fine in 3.1.0 and crashes in 3.2.0."""


def look(wanted: Cell, env: BuiltEnv, folder: Path) -> Result:
    with Store(folder) as store:
        (result,) = run([wanted], Bench(envs={env.env.name: env}, store=store, limits=LIMITS))
    return result


def candidate_of(wanted: Cell) -> Candidate:
    return Candidate.of(wanted.spec, extracted(bundle(wanted.spec).text, wanted.spec.function))


@pytest.mark.wheels
def test_a_regression_stays_a_regression(built: Built, tmp_path: Path) -> None:
    old, new = built("triton-3.1.0"), built("triton-3.2.0")
    good, bad = cell(old, "failures", "dot_into_dot", **CHAIN), cell(new, "failures", "dot_into_dot", **CHAIN)
    wishes = [
        wish_to_keep(look(bad, new, tmp_path), parse_judge("same-failure"), LIMITS),
        wish_for_ok(look(good, old, tmp_path), parse_judge("ok"), LIMITS),
    ]
    start = candidate_of(bad)
    fine = candidate_of(cell(new, "failures", "copy"))
    fails_in_both = evolve(start, options={**start.options, "num_warps": 3})
    with Jury(bad.spec, bad.target, wishes) as jury:
        assert jury([fine, start, fails_in_both]) == [False, True, False]
        assert jury([start]) == [True]
    with Jury(bad.spec, bad.target, wishes[:1]) as jury:
        assert jury([fine, start]) == [False, True]


@pytest.mark.wheels
def test_what_does_not_fail_is_not_reduced(built: Built, tmp_path: Path) -> None:
    env = built("triton-3.1.0")
    result = look(cell(env, "faces", "fine"), env, tmp_path)
    with pytest.raises(SelectionError, match="there is nothing to reduce"):
        wish_to_keep(result, parse_judge("same-failure"), LIMITS)
    failing = look(cell(env, "faces", "missing_name"), env, tmp_path)
    with pytest.raises(SelectionError, match="not good"):
        wish_for_ok(failing, parse_judge("ok"), LIMITS)


@pytest.mark.wheels
def test_a_jury_that_is_stopped_says_so(built: Built, tmp_path: Path) -> None:
    env, stop = built("triton-3.1.0"), threading.Event()
    wanted = cell(env, "faces", "missing_name")
    wish = wish_to_keep(look(wanted, env, tmp_path), parse_judge("same-failure"), LIMITS)
    with Jury(wanted.spec, wanted.target, [wish], stop=stop) as jury:
        assert jury([candidate_of(wanted)]) == [True]
        stop.set()
        with pytest.raises(Stopped):
            jury([candidate_of(wanted)])


@pytest.mark.parametrize("last", range(5))
def test_of_many_the_last_that_holds_is_found(last: int) -> None:
    history = [Candidate(text=f"x = {number}\n", function="", signature={}) for number in range(5)]
    asked: list[int] = []

    def holds(candidate: Candidate) -> bool:
        asked.append(history.index(candidate))
        return history.index(candidate) <= last

    assert confirmed(history, holds) == last
    assert 0 not in asked
    assert len(asked) <= 4


# --- the command -------------------------------------------------------------------------------------------------------------

MATRIX = """
schema = 1
kernels = ["kernel.toml"]
env = [{ triton = "3.1.0", install = ["setuptools<81"], groups = ["default"] }]
[defaults]
targets = ["sm_90"]
"""
ID = "scan/reduced/only/sm_90/triton-3.1.0"


@pytest.fixture
def project(built: Built, tmp_path: Path) -> Path:
    """A project of a user's own with one failing kernel, that uses this checkout's env."""
    env = built("triton-3.1.0")
    assert env.python is not None
    (tmp_path / ".nox").symlink_to(ROOT / ".nox")
    (tmp_path / "matrix.toml").write_text(MATRIX)
    record = Path(".compat", "envs", "triton-3.1.0.json")
    (tmp_path / record.parent).mkdir(parents=True)
    (tmp_path / record).write_text((ROOT / record).read_text())
    begin = candidate_of(cell(env, "failures", "scan", constexprs={"BLOCK": 256}, options={"num_ctas": 2}))
    (tmp_path / "kernel.py").write_text(begin.text)
    text = kernel_file(begin, kernel="scan", case="only", source="kernel.py", summary="A test.", expectations=[])
    (tmp_path / "kernel.toml").write_text(text)
    return tmp_path


def start(project: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "compat.cli", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def told_by(project: Path, *arguments: str) -> str:
    """What a command says that ends with 0."""
    process = start(project, *arguments)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0, said
    return said


def still_fails(project: Path, env: BuiltEnv) -> Specialization:
    """The specialization in what was kept, once it is seen to fail as the kernel did."""
    (spec,) = load_kernels(["reduced/scan-only.toml"], project)
    (original,) = load_kernels(["kernel.toml"], project)
    before, after = (
        look(Cell(env=env.env, target=TARGETS["sm_90"], spec=each), env, project / "look") for each in (original, spec)
    )
    assert before.outcome.failure is not None
    assert after.outcome.failure is not None
    assert after.outcome.failure.fingerprint == before.outcome.failure.fingerprint
    return spec


@pytest.mark.wheels
def test_the_command_writes_what_every_command_takes(project: Path, built: Built) -> None:
    said = told_by(project, "reduce", ID, "--no-build")
    assert "nothing more can be taken away" in said
    assert "shrinkray" in said
    spec = still_fails(project, built("triton-3.1.0"))
    assert len(Path(spec.source).read_text()) <= 160
    reproducer = (project / "reduced" / "scan-only.triton-3.1.0.mlir").read_text()
    assert reproducer.count('"tt.scan"') == 1
    assert "(convert-triton-gpu-to-llvm{" in reproducer
    assert str(project) not in reproducer
    assert "1 crashed; all as declared" in told_by(project, "matrix", "--spec", "reduced/scan-only.toml", "--no-build")
    told_by(project, "reduce", "reduced/scan-only.py", "--no-build")


@pytest.mark.wheels
def test_a_program_of_the_users_says_what_is_to_stay(project: Path) -> None:
    """It asks for the failure, and for something of the text besides that the failure does not need."""
    (project / "keeps.sh").write_text(
        'grep -q "\\"class\\": \\"compiler-assert\\"" && grep -q "tl.store" "$COMPAT_SOURCE" && exit 1\nexit 0\n'
    )
    said = told_by(project, "reduce", ID, "--no-build", "--judge", "run=sh keeps.sh")
    assert "to stay: run=sh keeps.sh on triton-3.1.0" in said
    assert "class=" not in said, "the command that polishes asks the same program"
    text = (project / "reduced" / "scan-only.py").read_text()
    assert "tl.store" in text
    assert len(text) <= 300


@pytest.mark.wheels
def test_a_budget_ends_it_with_the_best_so_far(project: Path, built: Built) -> None:
    assert "the budget is spent" in told_by(project, "reduce", ID, "--no-build", "--budget", "1.5")
    still_fails(project, built("triton-3.1.0"))


@pytest.mark.wheels
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_ended_half_way_it_leaves_the_best_so_far(project: Path, built: Built, number: signal.Signals) -> None:
    process = start(project, "reduce", ID, "--no-build")
    kept = project / "reduced" / "scan-only.toml"
    seen = set[str]()
    while len(seen) < 3 and process.poll() is None:
        if kept.exists():
            seen.add(kept.read_text())
        time.sleep(0.002)
    assert process.poll() is None, process.communicate()[0]
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode == (-number if number is signal.SIGKILL else 130)
    spec = still_fails(project, built("triton-3.1.0"))
    assert (Path(spec.source).name == "scan-only.py") is (number is signal.SIGINT)
