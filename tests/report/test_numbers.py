"""Reports of wrong numbers, and of those that a kernel file declares."""

from __future__ import annotations

import json

from attrs import evolve
from jsonschema import Draft202012Validator

from compat.model import NOT_RUN, Check, Expectation, Failure, Latency, Numbers, Result, Status
from compat.model.outcome import cell_document
from compat.report.document import dump, matrix_document, schema
from compat.report.loading import load_report
from compat.report.summary.checks import checks_by_device, legend
from compat.report.summary.grid import grids, legend_of
from tests import records
from tests.records import env
from tests.report import factory
from tests.report.factory import always, results_of
from tests.together import for_each

OK, WRONG = (
    Check(status=Status.OK),
    Check(status=Status.WRONG, max_abs=2.0, where="odd: O_ptr[3]", reason="off by 2"),
)


def result(
    numbers: Numbers = NOT_RUN, declared: Status | None = None, *, strict: bool = True
) -> Result:
    (base_result,) = results_of(
        "k", "v", always(records.OK), envs=[env("3.1.0")], targets=records.TARGETS[:1]
    )
    return evolve(
        base_result,
        numbers=numbers,
        expectation=Expectation(status=declared, strict=strict) if declared else None,
    )


@for_each(
    "status",
    [Status.WRONG, Status.UNSTABLE, Status.FAULTED, Status.LAUNCH_REFUSED, Status.TIMED_OUT],
)
def test_a_compiled_kernel_with_a_failed_check_is_unexpected(status: Status) -> None:
    assert not result(Numbers(gpu=Check(status=status))).expected
    assert not result(Numbers(interpreter=Check(status=status), gpu=OK)).expected


def test_a_lost_launch_is_unexpected_and_an_unsupported_check_is_not() -> None:
    assert result().expected
    assert result(Numbers(interpreter=Check(status=Status.UNSUPPORTED, reason="bf16"))).expected
    assert not result(Numbers(gpu=Check(status=Status.LOST))).expected


@for_each(
    ("declared", "actual", "expected"),
    [
        (Status.WRONG, Status.WRONG, True),
        (Status.WRONG, Status.UNSTABLE, True),
        (Status.UNSTABLE, Status.WRONG, True),
        (Status.FAULTED, Status.FAULTED, True),
        (Status.FAULTED, Status.WRONG, False),
        (Status.WRONG, Status.OK, False),
    ],
)
def test_a_failed_check_is_expected_if_it_matches_the_declaration(
    declared: Status, actual: Status, expected: bool
) -> None:
    assert result(Numbers(gpu=Check(status=actual)), declared).expected is expected


def test_only_a_gpu_can_disprove_a_strict_declaration() -> None:
    assert result(declared=Status.WRONG).expected
    assert result(Numbers(interpreter=OK), Status.WRONG).expected
    assert result(Numbers(interpreter=OK, gpu=OK), Status.WRONG, strict=False).expected


def test_numbers_are_right_if_a_check_ran_and_none_was_wrong() -> None:
    unable = Check(status=Status.UNSUPPORTED)
    assert NOT_RUN.right is None
    assert NOT_RUN.decisive is None
    assert Numbers(interpreter=unable).right is None
    assert Numbers(interpreter=unable, gpu=OK).right is True
    assert Numbers(interpreter=WRONG, gpu=OK).right is False
    assert Numbers(interpreter=WRONG, gpu=OK).decisive is WRONG
    assert Numbers(interpreter=OK, gpu=unable).decisive is OK


def test_numbers_and_latency_are_read_back() -> None:
    numbers = Numbers(
        interpreter=WRONG, gpu=evolve(OK, max_abs=0.001, launches=30, differing=0, device="H200")
    )
    speed = Latency(us=10.0, spread=0.5, baseline_us=8.0, ratio=1.25, device="H200")
    written = dump(matrix_document(factory.report([evolve(result(numbers), latency=speed)])))
    Draft202012Validator(schema()).validate(json.loads(written))
    (read,) = load_report(written).results
    assert (read.numbers, read.latency) == (numbers, speed)


@for_each(
    ("status", "mark", "run_mark"),
    [
        (Status.UNSTABLE, "UNSTABLE!", "UNSTABLE"),
        (Status.REJECTED, "stopped!", "rej"),
        (Status.CRASHED, "stopped!", "CRASH"),
        (Status.OUT_OF_MEMORY, "stopped!", "mem"),
        (Status.TIMED_OUT, "stopped!", "time"),
        (Status.LOST, "stopped!", "lost"),
    ],
)
def test_a_grid_shows_that_a_kernel_compiles_and_its_run_fails(
    status: Status, mark: str, run_mark: str
) -> None:
    ran = factory.report([result(Numbers(interpreter=Check(status=status)))])
    (grid,) = grids(ran)
    assert [mark.text for row in grid.rows for mark in row.marks] == [mark]
    assert next(iter(legend_of([grid]).values())).startswith("compiles, and ")
    assert [*legend(checks_by_device(ran))] == [run_mark]


def test_the_document_has_numbers_and_latency() -> None:
    wrong_result = evolve(
        result(Numbers(interpreter=WRONG)), latency=Latency(us=10.0, spread=0.5, device="H200")
    )
    document = cell_document(wrong_result)
    assert document["status"] == "ok"
    assert document["numbers"]["interpreter"]["where"] == "odd: O_ptr[3]"
    assert document["numbers"]["gpu"] is None
    assert document["latency"] == {
        "us": 10.0,
        "spread": 0.5,
        "baseline_us": None,
        "ratio": None,
        "device": "H200",
    }


def test_a_predicted_launch_refusal_is_expected_if_it_is_declared() -> None:
    (base_result,) = results_of(
        "k", "v", always(records.OK), envs=[env("3.1.0")], targets=records.TARGETS[:1]
    )
    failure = Failure(
        failure_class="shared-memory",
        stage="cubin",
        fingerprint="f",
        excerpt="",
        advice="",
        prediction=True,
    )
    declared = Expectation(status=Status.REJECTED, failure_class="shared-memory")
    predicted = evolve(
        base_result,
        outcome=evolve(base_result.outcome, status=Status.REJECTED, failure=failure),
        numbers=Numbers(gpu=Check(status=Status.LAUNCH_REFUSED)),
        expectation=declared,
    )
    assert predicted.expected
    assert not evolve(predicted, expectation=None).expected
    assert not evolve(
        predicted, outcome=evolve(predicted.outcome, failure=evolve(failure, prediction=False))
    ).expected
