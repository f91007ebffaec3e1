"""Judging candidates with real compilers, and the command `compat reduce`."""

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

from compat.bisect.criterion import parse_criterion
from compat.bundle.bundle import bundle
from compat.config.kernel_files import load_kernels
from compat.engine.run import run
from compat.errors import SelectionError
from compat.interruption import Stopped
from compat.model import BuiltEnv, Cell, CompileSpec, Outcome, Result, Specialization, Status
from compat.reduce import Candidate, extract_functions
from compat.reduce.interestingness import (
    InterestingnessTest,
    confirmed_positions,
    requirement_of,
    requirement_to_be_ok,
    requirement_to_stay,
)
from compat.reduce.output import kernel_file
from compat.store.store import Store
from tests.cells import POINTERS, cell, context_of
from tests.commands import compat
from tests.conftest import ROOT
from tests.forking import fork
from tests.reduce.real import LIMITS
from tests.targets import TARGETS
from tests.together import for_each
from tests.waiting import PATIENCE

Built = Callable[[str], BuiltEnv]
CHAIN: dict[str, Any] = {
    "constexprs": {"BLOCK": 64},
    "options": {"num_warps": 8},
    "signature": {**POINTERS, "source": "*fp16"},
    "divisible_by_16": (),
}
"""With it, ``dot_into_dot`` is fine in 3.1.0 and crashes in 3.2.0.

With hints, each binary of 3.1.0 needs a disassembly, which takes longer than all the rest.
"""


def look(cell: Cell, env: BuiltEnv, folder: Path) -> Result:
    with Store(folder) as store:
        (result,) = run([cell], context_of(store, env))
    return result


Regression = tuple[Result, Result, Candidate]


@pytest.fixture(scope="module")
def regression(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Regression:
    """The results of the chain in 3.1.0 and 3.2.0, and a candidate that fails in both."""
    folder = tmp_path_factory.mktemp("regression")
    good, bad = (
        look(cell(env, "failures", "dot_into_dot", **CHAIN), env, folder)
        for env in (built("triton-3.1.0"), built("triton-3.2.0"))
    )
    start = candidate_of(bad.cell)
    options = {**start.compile.options, "num_warps": 3}
    return good, bad, evolve(start, compile=evolve(start.compile, options=options))


def candidate_of(cell: Cell) -> Candidate:
    return Candidate.of(cell.spec, extract_functions(bundle(cell.spec).text, cell.spec.function))


@pytest.mark.wheels
def test_a_regression_stays_a_regression(regression: Regression) -> None:
    good, bad, fails_in_both = regression
    requirements = [
        requirement_of(bad, parse_criterion("same-failure"), LIMITS),
        requirement_to_be_ok(good, LIMITS),
    ]
    start, spec, target = candidate_of(bad.cell), bad.cell.spec, bad.cell.target
    fine = candidate_of(cell(bad.built, "failures", "copy"))
    with InterestingnessTest(spec, target, requirements) as interesting:
        assert interesting([fine, start, fails_in_both]) == [False, True, False]
        assert interesting([start]) == [True]
    with InterestingnessTest(spec, target, requirements[:1]) as interesting:
        assert interesting([fine, start]) == [False, True]


@pytest.mark.wheels
def test_launches_judge_only_candidates_that_take_their_arguments(regression: Regression) -> None:
    _, bad, _ = regression
    start = candidate_of(bad.cell)
    signature = dict.fromkeys(start.compile.signature, "*fp64")
    others = evolve(start, compile=evolve(start.compile, signature=signature))
    every: Any = lambda builds, stop: [True for _ in builds]  # noqa: E731
    with InterestingnessTest(bad.cell.spec, bad.cell.target, [], question=every) as interesting:
        assert interesting([others, start]) == [False, True]


@pytest.mark.wheels
def test_a_later_requirement_that_refuses_applies_to_every_candidate(
    regression: Regression,
) -> None:
    good, bad, fails_in_both = regression
    fails = requirement_of(bad, parse_criterion("same-failure"), LIMITS)
    works = requirement_to_stay(good, LIMITS)
    assert works is not None
    start, spec, target = candidate_of(bad.cell), bad.cell.spec, bad.cell.target
    with InterestingnessTest(spec, target, [fails], later=[works]) as interesting:
        interesting.requirements = [
            evolve(fails, criterion=parse_criterion("ok"))
        ]  # it only asks whether a candidate is bad at all, so both pass
        assert interesting([start, fails_in_both]) == [True, True]
        assert interesting.verify(start)
        assert (interesting.requirements[1:], interesting.later) == (
            [],
            [works],
        ), "what passes changes nothing"
        assert not interesting.verify(fails_in_both)
        assert (interesting.requirements[1:], interesting.later) == (
            [works],
            [],
        ), "what refuses is asked of every candidate from then on"
        assert not interesting.verify(fails_in_both), (
            "it passed before that was asked, so it is asked now"
        )
        assert interesting([start, fails_in_both]) == [True, False]


@pytest.mark.wheels
def test_a_failure_on_another_release_must_stay_the_same(built: Built, tmp_path: Path) -> None:
    env = built("triton-3.1.0")
    missing, mismatched = (
        look(cell(env, "faces", name), env, tmp_path) for name in ("missing_name", "mismatched")
    )
    requirement = requirement_to_stay(missing, LIMITS)
    assert requirement is not None
    assert requirement.accepts_outcome(missing.cell, missing.outcome)
    assert not requirement.accepts_outcome(mismatched.cell, mismatched.outcome)
    assert (
        requirement_to_stay(evolve(missing, outcome=evolve(missing.outcome, flaky=True)), LIMITS)
        is None
    )
    assert (
        requirement_to_stay(
            evolve(missing, outcome=Outcome(status=Status.LOST, stage="ast")), LIMITS
        )
        is None
    )


@pytest.mark.wheels
def test_a_cell_that_does_not_fail_is_not_reduced(built: Built, tmp_path: Path) -> None:
    env = built("triton-3.1.0")
    result = look(cell(env, "faces", "fine"), env, tmp_path)
    with pytest.raises(SelectionError, match="so there is nothing to reduce"):
        requirement_of(result, parse_criterion("same-failure"), LIMITS)
    failing = look(cell(env, "faces", "missing_name"), env, tmp_path)
    with pytest.raises(SelectionError, match="not good"):
        requirement_to_be_ok(failing, LIMITS)


@pytest.mark.wheels
def test_a_stopped_interestingness_test_raises_stopped(built: Built, tmp_path: Path) -> None:
    env, stop = built("triton-3.1.0"), threading.Event()
    subject = cell(env, "faces", "missing_name")
    requirement = requirement_of(
        look(subject, env, tmp_path), parse_criterion("same-failure"), LIMITS
    )
    with InterestingnessTest(subject.spec, subject.target, [requirement], stop=stop) as interesting:
        assert interesting([candidate_of(subject)]) == [True]
        stop.set()
        with pytest.raises(Stopped):
            interesting([candidate_of(subject)])


@for_each("last", range(5))
def test_confirmed_finds_the_last_candidate_that_holds(last: int) -> None:
    history = [
        Candidate(text=f"x = {number}\n", function="", compile=CompileSpec(signature={}))
        for number in range(5)
    ]
    indices: list[int] = []

    def holds(candidate: Candidate) -> bool:
        indices.append(history.index(candidate))
        return history.index(candidate) <= last

    assert list(confirmed_positions(history, holds))[-1] == last
    assert 0 not in indices
    assert len(indices) <= 4


# --- the command ----------------------------------------------------------------------------------

MATRIX = """
schema = 1
kernels = ["kernel.toml"]
env = [{ triton = "3.1.0", install = ["setuptools<81"], groups = ["default"] }]
[defaults]
targets = ["sm_90"]
"""
STARTING = 10.0
"""Seconds that a command may take besides a budget, on a busy machine.

The command needs them to start, and to end its workers.
"""
ID = "scan/reduced/only/sm_90/triton-3.1.0"
HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
SCAN = Candidate(
    text=f"{HEAD}def scan(result):\n    at = tl.arange(0, 256)\n    tl.static_assert(True)\n"
    "    tl.store(result + at, tl.cumsum(at, 0))\n",
    function="scan",
    compile=CompileSpec(signature={"result": "*i32"}, options={"num_ctas": 2}),
)
"""A kernel that fails as the one of the project, and needs fewer candidates."""
BLOCKS = Candidate(
    text=f"{HEAD}def blocks(source):\n    at = tl.arange(0, 1)\n"
    "    tl.make_block_ptr(source, (0,), (0,), (0,), (1,), (0,))\n    tl.store(source + at, 0)\n",
    function="blocks",
    compile=CompileSpec(signature={"source": "*i32"}),
)
"""A kernel that works up to 3.8."""


@pytest.fixture
def project(built: Built, tmp_path: Path) -> Path:
    """A user's project with one failing kernel.

    It requests an env that this repository has, too.
    """
    env = built("triton-3.1.0")
    assert env.python is not None
    (tmp_path / "matrix.toml").write_text(MATRIX)
    begin = candidate_of(
        cell(env, "failures", "scan", constexprs={"BLOCK": 256}, options={"num_ctas": 2})
    )
    describe(tmp_path, begin, "scan")
    return tmp_path


def start(project: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "compat.cli", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command,
        cwd=project,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def told_by(project: Path, *arguments: str, code: int = 0) -> str:
    """The output of a command that must end with an exit code."""
    done = compat(project, *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def still_fails(project: Path, env: BuiltEnv) -> Specialization:
    """The specialization of the reduced kernel, after a check that it fails as the original."""
    (spec,) = load_kernels(["reduced/scan-only.toml"], project)
    (original,) = load_kernels(["kernel.toml"], project)
    before, after = (
        look(Cell(env=env.env, target=TARGETS["sm_90"], spec=specialization), env, project / "look")
        for specialization in (original, spec)
    )
    assert before.outcome.failure is not None
    assert after.outcome.failure is not None
    assert after.outcome.failure.fingerprint == before.outcome.failure.fingerprint
    assert after.outcome.failure.pass_ == before.outcome.failure.pass_
    assert not after.outcome.flaky
    return spec


@pytest.mark.wheels
@pytest.mark.long
def test_the_command_writes_files_that_other_commands_accept(project: Path, built: Built) -> None:
    describe(project, SCAN, "scan")
    output = told_by(project, "reduce", ID, "--no-build")
    assert "nothing more can be removed" in output
    assert "shrinkray" in output
    spec = still_fails(project, built("triton-3.1.0"))
    text = Path(spec.source).read_text()
    assert len(text) <= 160
    assert Candidate.of(spec, text).kernel_lines <= 4
    assert spec.compile.options == {"num_ctas": 2}
    reproducer = (project / "reduced" / "scan-only.triton-3.1.0.mlir").read_text()
    assert reproducer.count('"tt.scan"') == 1
    assert "(convert-triton-gpu-to-llvm{" in reproducer
    assert str(project) not in reproducer
    assert "1 crashed; all as expected" in told_by(
        project, "matrix", "--spec", "reduced/scan-only.toml", "--no-build"
    )
    told_by(project, "reduce", "reduced/scan-only.py", "--no-build")


@pytest.mark.wheels
@pytest.mark.long
def test_a_users_program_decides_what_must_stay(project: Path) -> None:
    """The program asks for the failure, and for some text that the failure does not need."""
    (project / "keeps.sh").write_text(
        'grep -q "\\"class\\": \\"compiler-assert\\"" &&'
        ' grep -q "static_assert" "$COMPAT_SOURCE" && exit 1\nexit 0\n'
    )
    describe(project, SCAN, "scan")
    output = told_by(project, "reduce", ID, "--no-build", "--judge", "run=sh keeps.sh")
    assert "preserving: run=sh keeps.sh on 3.1.0" in output
    assert "class=" not in output, "the command that polishes asks the same program"
    text = (project / "reduced" / "scan-only.py").read_text()
    assert "tl.static_assert(" in text
    assert "tl.store(" not in text


@pytest.mark.wheels
def test_the_end_of_the_budget_leaves_the_best_candidate_so_far(
    project: Path, built: Built
) -> None:
    # Then the store has the outcome of the kernel itself.
    told_by(project, "matrix", "--spec", "kernel.toml", "--no-build", code=1)
    began = time.monotonic()
    assert "stopped at the end of the time budget" in told_by(
        project, "reduce", ID, "--no-build", "--budget", "4"
    )
    assert time.monotonic() - began < 4 + STARTING
    still_fails(project, built("triton-3.1.0"))


@pytest.mark.wheels
@pytest.mark.long
def test_a_budget_bounds_a_kernel_that_hangs(project: Path, built: Built) -> None:
    """The budget bounds the run of the kernel itself, the search and the confirmation.

    Otherwise, each of these waits for a deadline of 60 s.
    """
    begin = candidate_of(cell(built("triton-3.1.0"), "failures", "unrolled_for_ever"))
    describe(project, begin, "hang")
    began = time.monotonic()
    output = told_by(
        project, "reduce", "hang/reduced/only/sm_90/triton-3.1.0", "--no-build", "--budget", "24"
    )
    assert time.monotonic() - began < 24 + STARTING
    assert (
        "stopped at the end of the time budget" in output or "nothing more can be removed" in output
    )
    assert "confirmed with a deadline of 2 s, all that a budget of 24 s allows" in output
    # The progress of the search depends on the machine. Its best candidate is not lost.
    assert len((project / "reduced" / "hang-only.py").read_text()) < len(begin.text)


@pytest.mark.wheels
def test_a_budget_too_short_for_the_kernel_itself_is_an_error(project: Path) -> None:
    output = told_by(project, "reduce", ID, "--no-build", "--budget", "0.01", code=3)
    assert "the time budget ended before the original kernel was tested" in output


# --- every release ---

RELEASES = ("3.6.0", "3.8.0", "3.9.0")
MANY = """
schema = 1
kernels = ["kernel.toml"]
env = [{ triton = "3.6.0" }, { triton = "3.8.0" }, { triton = "3.9.0" }]
[defaults]
envs = ["*"]
targets = ["sm_90"]
"""
GONE = "blocks/reduced/only/sm_90/triton-3.9.0"


@pytest.fixture
def releases(built: Built, project: Path) -> Path:
    """A project of three releases, with a kernel that works up to 3.8."""
    for release in RELEASES:
        built(f"triton-{release}")
    (project / "matrix.toml").write_text(MANY)
    describe(project, BLOCKS, "blocks")
    return project


def describe(project: Path, candidate: Candidate, name: str) -> None:
    """Replaces the project's kernel."""
    (project / "kernel.py").write_text(candidate.text)
    text = kernel_file(
        candidate,
        kernel=name,
        case="only",
        source=project / "kernel.py",
        summary="A test.",
        expectations=[],
    )
    (project / "kernel.toml").write_text(text)


def history(project: Path, built: Built, kernel: str) -> list[str]:
    """The fingerprint or the status of a kernel on each release."""
    (spec,) = load_kernels([kernel], project)
    envs = [built(f"triton-{release}") for release in RELEASES]
    results = [
        look(Cell(env=env.env, target=TARGETS["sm_90"], spec=spec), env, project / "look")
        for env in envs
    ]
    return [
        result.outcome.failure.fingerprint if result.outcome.failure else str(result.outcome.status)
        for result in results
    ]


@pytest.mark.wheels
@pytest.mark.long
def test_the_outcome_on_every_other_release_stays(releases: Path, built: Built) -> None:
    output = told_by(releases, "reduce", GONE, "--good", "3.8.0", "--no-build")
    assert "preserving: ok on 3.6.0, 3.8.0" in output
    assert "  same as the original: 3.6.0, 3.8.0–3.9.0\n" in output
    assert "differs from the original" not in " ".join(output.split())
    before, after = (
        history(releases, built, name) for name in ("kernel.toml", "reduced/blocks-only.toml")
    )
    assert before == after
    assert before[:2] == ["ok", "ok"]
    assert "all as expected" in told_by(
        releases, "matrix", "--spec", "reduced/blocks-only.toml", "--no-build"
    )


@pytest.mark.wheels
@pytest.mark.long
def test_with_only_the_command_lists_the_releases_that_differ(releases: Path, built: Built) -> None:
    output = told_by(releases, "reduce", GONE, "--good", "3.8.0", "--only", "--no-build")
    assert (
        "  same as the original: 3.8.0–3.9.0\n"
        "  differs from the original: 3.6.0: rejected (python-value), the original ok\n" in output
    )
    assert history(releases, built, "reduced/blocks-only.toml") != history(
        releases, built, "kernel.toml"
    )
    kernel = (releases / "reduced" / "blocks-only.toml").read_text()
    assert (
        "It differs from the original in 3.6.0: rejected (python-value), the original ok" in kernel
    )
    assert "all as expected" in told_by(
        releases, "matrix", "--spec", "reduced/blocks-only.toml", "--no-build"
    )


@pytest.mark.wheels
@pytest.mark.parametrize("named", [["3.6.0,triton-3.8.0"], ["triton-3.6.*", "3.8"]])
def test_good_accepts_lists_of_releases_and_envs(releases: Path, named: list[str]) -> None:
    options = [word for value in named for word in ("--good", value)]
    read, write = os.pipe()
    process = fork(
        "compat.cli",
        ["reduce", GONE, *options, "--only", "--no-build"],
        cwd=releases,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        output=write,
        errors=write,
    )
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as output:
        message = next(line for line in output if line.startswith("preserving: ok "))
        os.kill(process.pid, signal.SIGINT)  # the line comes before the search
        output.read()
    assert process.wait() == 130
    assert message == "preserving: ok on 3.6.0, 3.8.0\n"


@pytest.mark.wheels
def test_releases_named_good_must_be_good(releases: Path) -> None:
    cell = GONE.replace("3.9.0", "3.8.0")
    output = told_by(
        releases, "reduce", cell, "--bad", "3.9.0", "--good", "3.6.0,3.9.0", "--no-build", code=3
    )
    assert "triton-3.9.0 is rejected, not good" in output
    assert "hint: Name another env or release. `compat explain " in output
    assert "nowhere" in told_by(
        releases, "reduce", GONE, "--good", "3.6.0,nowhere", "--no-build", code=3
    )


@pytest.mark.wheels
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_or_interrupted_command_leaves_the_best_candidate_so_far(
    project: Path, built: Built, number: signal.Signals
) -> None:
    process = start(project, "reduce", ID, "--no-build")
    kernel_path = project / "reduced" / "scan-only.toml"
    seen = set[str]()
    while len(seen) < 3 and process.poll() is None:
        if kernel_path.exists():
            seen.add(kernel_path.read_text())
        time.sleep(0.002)
    assert process.poll() is None, process.communicate()[0]
    process.send_signal(number)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == (-number if number is signal.SIGKILL else 130)
    spec = still_fails(project, built("triton-3.1.0"))
    assert (Path(spec.source).name == "scan-only.py") is (number is signal.SIGINT)
