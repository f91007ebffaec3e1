"""Launches without a reference: they are right or wrong only if two implementations agree."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from compat.diagnosis.numbers import samples_in, samples_of, with_agreement
from compat.model import RECORDED, Check, Numbers, Problem, Result, Sample, Status
from tests import records
from tests.cells import spec
from tests.records import OK, env

PROBLEM = Problem(
    source="/k/recorded_problems.py",
    function=RECORDED,
    closure="c",
    dtype="fp32",
    parameters={RECORDED: {}},
)
UNKNOWN = Check(status=Status.UNSUPPORTED, reason="not compared")
SPEC = spec("faces", "fine", problem=PROBLEM)
RIGHT = (1.0, -2.0, 3.0)


def sample(
    values: tuple[float, ...], kind: str = "float32", written: tuple[bool, ...] = (True, True, True)
) -> Sample:
    return Sample(name="o_ptr", type=kind, elements=3, values=values, written=written)


def result(release: str, gpu: Sample | None = None, interpreter: Sample | None = None) -> Result:
    checks = [
        evolve(UNKNOWN, samples=(sample,)) if sample else None for sample in (interpreter, gpu)
    ]
    numbers = Numbers(interpreter=checks[0], gpu=checks[1] and evolve(checks[1], device="H200"))
    built = env(release, name=f"triton-{release}-torch" if interpreter else "")
    return records.result(OK, built, spec=SPEC, numbers=numbers)


def gpu_of(*results: Result) -> list[tuple[Status, str]]:
    checks = [result.numbers.gpu for result in with_agreement(results)]
    return [(check.status, check.reason) for check in checks if check is not None]


def test_newest_release_that_agrees_with_an_interpreter_is_the_reference() -> None:
    near, far = sample((1.001, -2.0, 3.0)), sample((1.5, -2.0, 3.0))
    verdicts = gpu_of(
        result("3.5.1", interpreter=sample(RIGHT)),
        result("3.0.0", gpu=near),
        result("3.8.0", gpu=near),
        result("3.9.0", gpu=far),
    )
    assert [status for status, _ in verdicts] == [Status.OK, Status.OK, Status.WRONG]
    assert (
        verdicts[0][1]
        == "compared with 3.8.0, which agrees with the interpreter of 3.5.1, in 3 elements"
    )
    assert verdicts[1][1] == "compared with the interpreter of 3.5.1, in 3 elements"
    assert verdicts[2][1].startswith(
        "o_ptr has 1.5 where the other has 1.001, and 0.006 is allowed; compared with 3.8.0"
    )


def test_without_agreement_nothing_is_right_or_wrong() -> None:
    verdicts = gpu_of(
        result("3.5.1", interpreter=sample(RIGHT)), result("3.0.0", gpu=sample((9.0, 9.0, 9.0)))
    )
    assert verdicts == [(Status.UNSUPPORTED, "not compared")]
    assert gpu_of(result("3.0.0", gpu=sample(RIGHT)), result("3.9.0", gpu=sample(RIGHT))) == 2 * [
        (Status.UNSUPPORTED, "not compared")
    ]


@pytest.mark.parametrize("field", ["kernel", "variant", "case"])
def test_another_kernel_variant_or_case_is_not_a_reference(field: str) -> None:
    other = result("3.5.1", interpreter=sample(RIGHT))
    changes: dict[str, Any] = {field: "another"}
    spec = evolve(other.cell.spec, **changes)
    other = evolve(other, cell=evolve(other.cell, spec=spec))
    assert gpu_of(other, result("3.0.0", gpu=sample(RIGHT))) == [
        (Status.UNSUPPORTED, "not compared")
    ]


@pytest.mark.parametrize(
    ("got", "agrees"),
    [
        (sample((1, -2, 3), "int32"), True),
        (sample((1, -2, 4), "int32"), False),
        (sample((1.0, -2.0, float("nan"))), False),
        # Elements that the kernel did not write add nothing to the tolerance.
        (sample((0.001, 7.0, 7.0), written=(True, False, False)), False),
    ],
)
def test_numbers_agree_within_the_tolerance_of_their_type(got: Sample, *, agrees: bool) -> None:
    expected = sample(RIGHT)
    if got.type == "int32":
        expected = sample((1, -2, 3), "int32")
    if not all(got.written):
        expected = sample((0.002, 7.0, 7.0), written=got.written)
    ((status, _),) = gpu_of(result("3.5.1", interpreter=expected), result("3.0.0", gpu=got))
    assert (status is Status.OK) == agrees


def test_different_interpreters_are_reported_but_not_wrong() -> None:
    results = [
        result("3.5.1", interpreter=sample(RIGHT)),
        result("3.0.0", interpreter=sample((1.0, 2.0, 3.0))),
    ]
    checks = [cell_result.numbers.interpreter for cell_result in with_agreement(results)]
    assert [check and check.right for check in checks] == [None, None]
    assert checks[0] is not None
    assert (
        "other ones in triton-3.0.0-torch: o_ptr has -2 where the other has 2" in checks[0].reason
    )


def test_malformed_samples_are_left_out() -> None:
    fine = {
        "name": "o",
        "type": "float32",
        "elements": 2,
        "changed": 2,
        "sample": ["1.5", "nan"],
        "written": "10",
    }
    assert [
        sample.written
        for sample in samples_of(
            [fine, {**fine, "written": "1"}, {**fine, "sample": ["x", "1"]}, 3]
        )
    ] == [(True, False)]
    assert samples_in("[{") == samples_in(3) == samples_of({}) == ()
