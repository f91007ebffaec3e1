"""The check of a kernel in an interpreter, and failures that are the interpreter's own fault."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from compat.diagnosis.numbers import (
    Interpreter,
    Probe,
    check_of,
    combine_checks,
    excuse_check,
    is_confirmed,
    is_mistake,
    suspects,
)
from compat.model import Check, CompletedAction, Evidence, RaisedException, Status
from tests.together import for_each

DOT = Probe(name="dot", uses=re.compile(r"\bdot:bf16\b"), defect="gets products wrong")
LOOP = Probe(name="loop", uses=re.compile(r"\.range\b"), defect="cannot loop")
INTERPRETER = Interpreter(
    packages=("torch",),
    probe_file=Path("probes.py"),
    probes=(DOT, LOOP),
    missing_feature_patterns=(re.compile("not supported in interpreter"),),
)
USES = "dot:bf16 store:fp32 .range .tl"


def compared(status: str = "wrong", uses: str = USES, **facts: Any) -> Evidence:
    check = {
        "status": status,
        "max_abs": 1.0,
        "max_rel": None,
        "where": "odd: O[3]",
        "reason": "is 1, expected 2",
        **facts,
    }
    metrics = {"problem": "odd", "problems": 1, "uses": uses, "check": check}
    return Evidence(
        answered=True,
        requested=("interpret",),
        done=(CompletedAction(do="interpret"),),
        stage="check",
        metrics=metrics,
    )


def raised(
    message: str = "no such thing",
    line: int = 7,
    kind: str = "builtins.TypeError",
    stage: str = "interpret",
) -> Evidence:
    frames = (
        f'  File "kernel.py", line 3, in kernel\n    x\n  File "interpreter.py", line {line}, in'
        " create\n    y\n"
    )
    return Evidence(
        answered=True,
        requested=("interpret",),
        stage=stage,
        raised=(
            RaisedException(type="InterpreterError", message=f"({message})"),
            RaisedException(type=kind, message=message, traceback=frames),
        ),
        at="/somewhere/kernel.py:3",
        metrics={"problem": "odd", "uses": USES},
    )


def ended(**how: Any) -> Evidence:
    return Evidence(answered=False, requested=("interpret",), **{"stage": "interpret", **how})


def test_comparison_becomes_a_check_with_the_same_values() -> None:
    assert check_of(compared(), INTERPRETER) == Check(
        status=Status.WRONG, max_abs=1.0, where="odd: O[3]", reason="is 1, expected 2"
    )
    assert check_of(compared("ok", where="", reason=""), INTERPRETER) == Check(
        status=Status.OK, max_abs=1.0
    )


@pytest.mark.parametrize("facts", [{"status": "fine"}, {"status": None}, {"status": "crashed"}])
def test_comparison_with_an_invalid_status_is_lost(facts: dict[str, Any]) -> None:
    assert check_of(compared(**facts), INTERPRETER).status is Status.LOST


def test_errors_that_are_not_numbers_become_none() -> None:
    check = check_of(compared(max_abs="1", max_rel=float("nan")), INTERPRETER)
    assert (check.max_abs, check.max_rel) == (None, None)


@for_each(
    ("evidence", "status", "reason"),
    [
        (ended(deadline=5.0), Status.TIMED_OUT, "took more than 5 s in the interpreter"),
        (
            ended(deadline=120.0, stage="source"),
            Status.LOST,
            "importing its file took more than 120 s",
        ),
        (ended(memory=5 << 30), Status.OUT_OF_MEMORY, "took 5,120 MiB in the interpreter"),
        (ended(signal="SIGSEGV"), Status.CRASHED, "the interpreter ended by SIGSEGV"),
        (ended(signal="SIGKILL"), Status.LOST, "the interpreter gave no answer"),
        (ended(exit_code=1), Status.LOST, "the interpreter gave no answer"),
        (ended(refused="no room"), Status.LOST, "no room"),
        (
            ended(
                toolchain_broken=True,
                raised=(RaisedException(type="builtins.ImportError", message="no torch"),),
            ),
            Status.LOST,
            "the interpreter could not be started: ImportError: no torch",
        ),
        (raised(), Status.REJECTED, "raised in the interpreter: TypeError: no such thing"),
        (
            raised(stage="source"),
            Status.LOST,
            "its file cannot be imported to be interpreted: TypeError: no such thing",
        ),
        (
            raised("asm not supported in interpreter mode"),
            Status.UNSUPPORTED,
            (
                "this release's interpreter cannot run it: TypeError: asm not supported in"
                " interpreter mode"
            ),
        ),
        (
            raised("two problems are called 'x'", kind="_compat_numerics.problems.ProblemError"),
            Status.LOST,
            "a mistake in the problem, not in the kernel: two problems are called 'x'",
        ),
        (
            raised("the function yielded no problem", kind="_compat_numerics.problems.NoProblem"),
            Status.UNSUPPORTED,
            "its problem has no small sizes for an interpreter",
        ),
    ],
)
def test_every_end_has_a_status_and_a_reason(
    evidence: Evidence, status: Status, reason: str
) -> None:
    check = check_of(evidence, INTERPRETER)
    assert (check.status, check.reason) == (status, reason)


def test_exception_is_reported_with_the_problem_and_the_line() -> None:
    assert check_of(raised(), INTERPRETER).where == "odd, kernel.py:3"


def test_only_a_problem_error_is_a_mistake_in_the_problem() -> None:
    mistake = raised(kind="_compat_numerics.problems.ProblemError")
    assert is_mistake(mistake)
    assert not is_mistake(raised())
    assert check_of(mistake, INTERPRETER).where == "", "the problem before it is right"


def suspected(evidence: Evidence) -> list[str]:
    return [
        probe.name for probe in suspects(evidence, check_of(evidence, INTERPRETER), INTERPRETER)
    ]


def test_suspects_are_probes_of_what_a_kernel_uses() -> None:
    assert suspected(compared()) == ["dot", "loop"]
    assert suspected(compared(uses="dot:fp32 .range")) == ["loop"]
    assert suspected(compared(uses="dot:fp32 .arange")) == []


def test_right_or_unknown_results_have_no_suspects() -> None:
    assert suspected(compared("ok")) == []
    assert suspected(raised("asm not supported in interpreter mode")) == []
    assert suspected(ended(signal="SIGSEGV")) == [], "nobody knows what it used"


def verdict(evidence: Evidence, *probes: tuple[Probe, Evidence]) -> Status:
    return excuse_check(evidence, check_of(evidence, INTERPRETER), probes, INTERPRETER).status


def test_wrong_numbers_are_excused_by_a_probe_with_wrong_numbers() -> None:
    assert verdict(compared(), (DOT, compared())) is Status.UNSUPPORTED
    assert verdict(compared(), (DOT, compared("ok")), (LOOP, compared())) is Status.UNSUPPORTED
    assert verdict(compared(), (DOT, compared("ok"))) is Status.WRONG
    assert verdict(compared()) is Status.WRONG


def test_wrong_numbers_are_not_excused_by_a_probe_that_raises() -> None:
    assert verdict(compared(), (DOT, raised())) is Status.WRONG
    assert verdict(compared(), (DOT, ended(signal="SIGSEGV"))) is Status.WRONG


def test_exception_is_excused_by_a_probe_that_raises_it_at_the_same_line() -> None:
    assert verdict(raised("3 of 4"), (LOOP, raised("1 of 4"))) is Status.UNSUPPORTED
    assert verdict(raised(line=7), (LOOP, raised(line=8))) is Status.REJECTED
    assert verdict(raised(), (LOOP, raised(kind="builtins.ValueError"))) is Status.REJECTED
    assert verdict(raised(), (LOOP, compared())) is Status.REJECTED


def test_excuse_names_the_defect_of_the_interpreter() -> None:
    evidence = compared()
    check = excuse_check(
        evidence, check_of(evidence, INTERPRETER), [(DOT, compared())], INTERPRETER
    )
    reason = (
        "inconclusive: this release's interpreter gets products wrong (an element of a correct"
        " kernel is 1, expected 2)"
    )
    assert (check.reason, check.where, check.max_abs) == (reason, "odd: O[3]", None)


def settled_as(first: Status, *later: Status) -> Check:
    return combine_checks(
        Check(status=first, reason="the first"), [Check(status=status) for status in later]
    )


@for_each(
    ("runs", "status"),
    [
        ("wrong", "wrong"),
        ("wrong wrong", "wrong"),
        ("wrong lost", "wrong"),
        ("wrong ok wrong", "unstable"),
        ("wrong ok ok", "unstable"),
        ("rejected wrong crashed", "unstable"),
        ("out_of_memory ok ok", "ok"),
        ("out_of_memory ok out_of_memory", "ok"),
        ("out_of_memory ok wrong", "unstable"),
        ("out_of_memory out_of_memory", "out_of_memory"),
        ("timed_out out_of_memory timed_out", "timed_out"),
        ("wrong timed_out wrong", "wrong"),
    ],
)
def test_several_runs_are_combined_into_one_status(runs: str, status: str) -> None:
    assert settled_as(*map(Status, runs.split())).status == status


def test_reason_lists_different_statuses_in_order() -> None:
    reason = (
        "not the same in each of 3 runs in the interpreter: wrong, then ok, then crashed (the"
        " first)"
    )
    assert settled_as(Status.WRONG, Status.OK, Status.CRASHED).reason == reason


@for_each(
    ("status", "again"),
    [
        ("ok", False),
        ("wrong", True),
        ("crashed", True),
        ("rejected", True),
        ("timed_out", False),
        ("unsupported", False),
        ("lost", False),
    ],
)
def test_only_certain_failures_are_run_again(status: str, again: bool) -> None:
    assert is_confirmed(Check(status=Status(status))) is again
