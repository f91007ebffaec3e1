"""Numbers and latency in every form of the report, separate from compiling."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from attrs import evolve
from jsonschema import Draft202012Validator

from compat.history.verdict import Verdict, verdicts
from compat.model import Check, Result, Status
from compat.report.document import dump, matrix_document, schema
from compat.report.render.ci import findings
from compat.report.summary.checks import check_text, checks_by_device, latencies
from compat.report.summary.statements import statements
from compat.report.views.matrix_markdown import matrix_markdown
from tests.records import OK, REMOVED, TARGETS, bad, env
from tests.report.drawn import matrix_text
from tests.report.factory import (
    GPU,
    UNABLE,
    UNSTABLE,
    always,
    checked_matrix,
    interpreted,
    launched,
    report,
    results_of,
)
from tests.together import for_each

RELEASES = ("3.1.0", "3.2.0", "3.3.0", "3.4.0")
WRONG = Check(status=Status.WRONG, max_abs=2.0, max_rel=1.0, where="odd: O_ptr[3]", device=GPU)


def compiled(releases: Sequence[str] = RELEASES) -> list[Result]:
    return results_of(
        "k", "v", always(OK), envs=[env(release) for release in releases], targets=TARGETS[1:2]
    )


def numbers(statuses: str) -> Verdict:
    """The verdict on releases that are right (``r``), wrong (``w``) or not run (``-``)."""
    kinds = {"r": None, "w": WRONG}
    results = [
        launched(result, check=kinds[status]) if status in kinds else result
        for result, status in zip(compiled(), statuses, strict=True)
    ]
    return verdicts(results)[0]


@for_each(
    ("statuses", "phrase"),
    [
        ("rrrr", "right"),
        ("wwww", "never right"),
        ("rrww", "wrong since 3.3.0"),
        ("wrrr", "right since 3.2.0"),
        ("r-ww", "wrong after 3.1.0, by 3.3.0"),
        ("w--r", "right after 3.1.0, by 3.4.0"),
        ("rwwr", "wrong in 3.2.0–3.3.0"),
        ("wrwr", "wrong in 3.1.0, 3.3.0"),
        ("--rr", "right"),
    ],
)
def test_the_verdict_on_numbers_is_apart_from_compiling(statuses: str, phrase: str) -> None:
    verdict = numbers(statuses)
    assert verdict.right is not None
    assert (verdict.right.phrase, verdict.right.by) == (phrase, (GPU,))
    assert verdict.phrase == "works"
    assert len(verdict.right.bad) == statuses.count("w")


def test_kernels_without_launches_have_no_verdict_on_numbers() -> None:
    verdict = numbers("----")
    assert verdict.right is None
    assert verdict.fast is None
    assert checks_by_device(report(compiled())) == ()


@for_each(
    ("us", "phrase", "best"),
    [
        ((100, 101, 99, 110), "steady", "3.3.0"),
        ((100, 100, 100, 121), "slower since 3.4.0", "3.1.0"),
        ((300, 100, 100, 100), "faster since 3.2.0", "3.2.0"),
        ((100, 200, 200, 100), "slower in 3.2.0–3.3.0", "3.1.0"),
        ((100, None, 200, 200), "slower after 3.1.0, by 3.3.0", "3.1.0"),
    ],
)
def test_the_verdict_on_latency_names_the_fastest_release(
    us: tuple[float | None, ...], phrase: str, best: str
) -> None:
    (verdict,) = verdicts(
        [launched(result, time) for result, time in zip(compiled(), us, strict=True)]
    )
    assert verdict.fast is not None
    assert (verdict.fast.phrase, verdict.fast.best) == (phrase, best)


def test_a_table_of_envs_agrees_with_the_verdict() -> None:
    """A failed check of any env counts, and the shortest latency."""
    envs = [env("3.1.0"), env("3.1.0", name="pt2.9", torch="2.9.1")]
    right, wrong = results_of("k", "v", always(OK), envs=envs, targets=TARGETS[1:2])
    one = report([launched(right, 300.0), launched(wrong, 100.0, WRONG)])
    (device,) = checks_by_device(one)
    ((row,),) = (grid.rows for grid in device.grids)
    assert ([mark.text for mark in row.marks], row.verdict) == (["WRONG!"], "never right")
    ((timed,),) = (table.rows for table in latencies(one))
    assert (timed.cells, timed.verdict) == (("100 (1.25)",), "steady")


def test_latencies_of_two_gpus_are_not_compared() -> None:
    results = [launched(result, 100.0) for result in compiled()]
    slow = results[3].latency
    assert slow is not None
    results[3] = evolve(results[3], latency=evolve(slow, us=500.0, device="another GPU"))
    (verdict,) = verdicts(results)
    assert verdict.fast is not None
    assert (verdict.fast.device, verdict.fast.phrase) == (GPU, "steady")


def test_the_interpreter_is_counted_once_for_all_targets() -> None:
    results = [
        interpreted(result)
        for result in results_of("k", "v", always(OK), envs=[env("3.5.1")], targets=TARGETS)
    ]
    (device_checks,) = checks_by_device(report(results))
    assert device_checks.counts == {Status.OK: 1}
    assert device_checks.sentence == "1 run in the interpreter, on the CPU: 1 right"


def test_a_check_in_words() -> None:
    assert (
        check_text(UNSTABLE)
        == "unstable on NVIDIA H200, 7 of 30 launches computed different bits from the first, at"
        " sixteen ranges: O_ptr[1, 0, 5], largest error 1.5 (0.8 relative): the first launch was"
        " right"
    )
    assert (
        check_text(UNABLE)
        == "unsupported in the interpreter: it computes a dot of bf16 blocks wrong"
    )


def test_a_kernel_with_unstable_numbers_is_not_said_to_work() -> None:
    sentences = [one.sentence for one in statements(report(checked_matrix()))]
    statement = next(sentence for sentence in sentences if "block_ptr" in sentence)
    assert (
        statement == "`sel_varlen/block_ptr` compiles on all 4 releases tested (3.1.0 to 3.4.0); "
        "its numbers are unstable in 3.1.0 (run on NVIDIA H200)."
    )
    assert any("`sel_varlen/loop_1d` works on all" in sentence for sentence in sentences)


def test_a_removed_kernel_with_unstable_numbers_compiles_up_to_its_removal() -> None:
    results = [
        *(
            launched(result, 50.0, check=UNSTABLE)
            for result in results_of("k", "v", always(OK), envs=[env("3.1.0")])
        ),
        *results_of("k", "v", always(OK), envs=[env("3.8.0")]),
        *results_of("k", "v", always(bad(REMOVED)), envs=[env("3.9.0")]),
    ]
    (statement,) = statements(report(results))
    assert statement.sentence.startswith(
        "`k/v` compiles up to 3.8.0; removed in 3.9.0: `api-removed`; its numbers are unstable in"
        " 3.1.0"
    )


def test_a_sentence_says_how_runs_without_numbers_ended() -> None:
    ends = {
        "3.0.0": Check(status=Status.TIMED_OUT),
        "3.1.0": Check(status=Status.WRONG),
        "3.2.0": Check(status=Status.CRASHED),
    }
    results = [
        interpreted(result, check)
        for release, check in ends.items()
        for result in results_of("k", "v", always(OK), envs=[env(release)])
    ]
    (statement,) = statements(report(results))
    assert statement.sentence.endswith(
        "; its numbers are wrong in 3.1.0 (run in the interpreter), and runs timed out in 3.0.0 (in"
        " the interpreter) and crashed in 3.2.0 (in the interpreter)."
    )


def test_one_sentence_has_the_numbers_of_two_variants() -> None:
    results = [
        launched(result, 50.0, check=UNSTABLE)
        for variant in ("first", "second")
        for result in results_of("k", variant, always(OK), envs=[env("3.1.0")])
    ]
    (statement,) = statements(report(results))
    assert (
        "`k/first` and `k/second` compile on the only release tested, 3.1.0; their numbers are"
        " unstable" in statement.sentence
    )


@pytest.mark.parametrize("width", [80, 160])
def test_a_terminal_shows_unstable_numbers_and_slower_releases(width: int) -> None:
    text = " ".join(matrix_text(report(checked_matrix()), width=width).split())
    for phrase in (
        "UNSTABLE! ok ok ok compiles; right since 3.2.0",
        "4 right and 8 inconclusive",
        "12 launched cells on one NVIDIA H200: 11 right and 1 unstable",
        "!! sel_varlen/block_ptr: 3.1.0, sm_90 unstable on NVIDIA H200, 7 of 30 launches",
        "sel_varlen/loop_1d (few): slower in 3.3.0 (300 µs in 3.3.0, 156 µs in 3.4.0)",
        "expected ok, got unstable (NVIDIA H200)",
    ):
        assert phrase in text


def test_markdown_has_tables_of_numbers_and_latency() -> None:
    text = matrix_markdown(report(checked_matrix()))
    assert "| `block_ptr` | right | right | right | right | right |" in text
    assert "| `block_ptr` | **UNSTABLE!** | right | right | right | right since 3.2.0 |" in text
    assert "| `loop_1d` | n/a | n/a | n/a | n/a | unknown |" in text
    assert "n/a: inconclusive: no reference, no small problem, or a fault of the" in text
    assert (
        "| loop_1d (few) | 156 (1.96) | 156 (1.96) | 300 (3.75) | 156 (1.96) | slower in 3.3.0 |"
        in text
    )


def test_a_finding_has_the_check_in_words() -> None:
    (finding,) = findings(report(checked_matrix()))
    assert (finding.title, finding.status) == (
        "sel_varlen/block_ptr: unstable (NVIDIA H200)",
        Status.UNSTABLE,
    )
    assert check_text(UNSTABLE) in finding.body


def test_the_document_follows_the_schema() -> None:
    document = json.loads(
        dump(matrix_document(report(checked_matrix(), existing=("3.0.0", *RELEASES))))
    )
    Draft202012Validator(schema()).validate(document)
    verdict = next(entry for entry in document["verdicts"] if entry["variant"] == "block_ptr")
    assert (verdict["right"]["verdict"], verdict["right"]["bad"]) == (
        "right since 3.2.0",
        ["3.1.0"],
    )
    assert verdict["fast"]["best"] == {"release": "3.1.0", "us": 200.0}
