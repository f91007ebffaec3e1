"""The views of a report: compact words, distinct failures, surprises, and the plain sentences."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compat.model import Status
from compat.report.compact import listed, natural, one_line, rectangles, spans
from compat.report.statements import statements
from compat.report.summary import Report
from tests.report.factory import (
    ASSERT,
    OK,
    PASS,
    SHAPE,
    TARGETS,
    UNKNOWN_TARGET,
    always,
    bad,
    declared,
    env,
    expected_matrix,
    report,
    since,
    tried,
    troubled_matrix,
)

LINE = ("3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0")


def said(of: Report) -> list[str]:
    return [f"{one.sentence} {one.because}".strip() for one in statements(of)]


def test_spans_do_not_cross_what_was_not_chosen() -> None:
    assert spans(set(LINE), LINE) == "3.0.0–3.4.0"
    assert spans({"3.0.0", "3.1.0", "3.3.0"}, LINE) == "3.0.0–3.1.0, 3.3.0"
    assert spans({"3.4.0"}, LINE) == "3.4.0"
    assert spans((), LINE) == ""


@given(st.sets(st.tuples(st.sampled_from("abcd"), st.sampled_from(("sm_80", "sm_90", "sm_100")))))
def test_rectangles_cover_every_pair_once(pairs: set[tuple[str, str]]) -> None:
    covered = [(case, target) for cases, targets in rectangles(pairs) for case in cases for target in targets]
    assert sorted(covered) == sorted(pairs)


def test_words() -> None:
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert sorted(["sm_100", "sm_90", "gfx942", "gfx90a"], key=natural) == ["gfx90a", "gfx942", "sm_90", "sm_100"]
    assert one_line("at 3:1:\n  x = 1\n  ^\nValueError('no')") == "ValueError('no')"
    assert one_line("first\nlast") == "last"
    assert one_line("") == ""
    assert one_line("x" * 20, 10) == "x" * 9 + "…"


def test_the_same_fingerprint_is_one_failure_whatever_its_face() -> None:
    (found,) = [f for f in expected_matrix().failures if f.failure.kind == "mlir-bitwidth-assert"]
    assert found.statuses == (Status.CRASHED, Status.REJECTED)
    assert [str(where) for where in found.where] == ["sel_varlen/as_written: 3.0.0–3.9.0 (all), sm_80 sm_90"]


def test_where_names_cases_only_if_not_all_are_meant() -> None:
    envs = [env("3.0.0"), env("3.1.0")]
    results = [
        *tried("k", "v", always(OK), envs=envs, cases=("a",)),
        *tried("k", "v", always(bad(SHAPE)), envs=envs, cases=("b", "c")),
    ]
    (found,) = report(results).failures
    assert [str(where) for where in found.where] == ["k/v (b, c): 3.0.0–3.1.0 (all), sm_80 sm_90"]


def test_broken_envs_are_no_defects_of_kernels() -> None:
    found = troubled_matrix()
    assert "install" not in {failure.failure.kind for failure in found.failures}
    (broken,) = found.broken
    assert (broken.env.name, broken.cells) == ("triton-3.2.0", 13)
    assert len(found.unexpected) == 39


def test_surprises_are_told_together() -> None:
    told = [(str(s.where), s.declared, s.got) for s in troubled_matrix().surprises]
    assert told[0] == ("sel_dense/as_written: 3.5.1, sm_80 sm_90", "rejected (shape-mismatch)", "ok")
    assert ("sel_dense/loop_1d: 3.5.1, sm_80 sm_90", "ok", "lost") in told
    assert expected_matrix().surprises == ()


def test_envs_that_differ_are_told_together() -> None:
    (division,) = troubled_matrix().divisions
    assert str(division.where) == "sel_varlen/loop_1d: 3.1.0, sm_80 sm_90"
    assert division.answers == (("triton-3.1.0", "ok"), ("pt2.5", "pass-failure"))


def test_what_these_kernels_show() -> None:
    every, still = "13 releases tested (3.0.0 to 3.9.0)", "still there in 3.9.0, the newest tested"
    assert said(expected_matrix()) == [
        f"`sel_dense/as_written` never worked on any of the {every}: `shape-mismatch`, {still}. "
        "The row term of the load has no [:, None].",
        "`sel_dense/block_ptr` works up to 3.8.0; removed in 3.9.0: `api-removed`. Removed in favour of tensor descriptors.",
        "`sel_dense/descriptor` needs Triton 3.4.0 or newer; before: `api-missing`. Descriptors came with 3.4.",
        f"`sel_dense/broadcast_2d`, `sel_dense/loop_1d` and `sel_dense/pointer_grid` work on all {every}.",
        f"`sel_varlen/as_written` never worked on any of the {every}: `mlir-bitwidth-assert`, {still}. "
        "The bound of the loop is a block of shape [1] that was loaded.",
        f"`sel_varlen/as_written_mask_broadcast` works on all {every}. "
        "Masks broadcast to k_ptrs.shape: the first fix attempt, blamed for the abort.",
        f"`sel_varlen/broadcast_2d` works on all {every}.",
    ]


def test_sentences_come_from_the_results_not_from_what_we_believe() -> None:
    envs = [env(release) for release in LINE]
    mended = report(tried("sel_dense", "as_written", since("3.4.0", OK, bad(SHAPE)), envs=envs))
    assert said(mended) == ["`sel_dense/as_written` was fixed in 3.4.0; before: `shape-mismatch`."]
    # A reason explains what was declared; what came instead of it, it does not explain.
    other = report(tried("k", "v", always(bad(ASSERT)), envs=envs[:2], expect=[declared(SHAPE, reason="No axis.")]))
    assert said(other) == [
        "`k/v` never worked on any of the 2 releases tested (3.0.0 to 3.1.0): `mlir-bitwidth-assert`, "
        "still there in 3.1.0, the newest tested."
    ]


def test_a_failure_that_changed_is_told_with_its_releases() -> None:
    envs = [env(release) for release in LINE]
    (sentence,) = said(report(tried("k", "v", since("3.3.0", bad(PASS), bad(ASSERT)), envs=envs)))
    assert "): `mlir-bitwidth-assert` 3.0.0–3.2.0, then `pass-failure` 3.3.0–3.4.0, still there in 3.4.0" in sentence


def test_releases_that_cannot_build_for_a_target_are_not_held_against_a_kernel() -> None:
    envs = [env(release) for release in LINE]
    fate = since("3.3.0", bad(SHAPE), bad(UNKNOWN_TARGET, Status.UNSUPPORTED))
    (sentence,) = said(report(tried("k", "v", fate, envs=envs, targets=TARGETS[2:])))
    assert "never worked on any of the 2 releases tested that can build for sm_100 (3.3.0 to 3.4.0): `shape-mismatch`" in sentence
    never = bad(UNKNOWN_TARGET, Status.UNSUPPORTED)
    (unable,) = said(report(tried("k", "v", always(never), envs=envs, targets=TARGETS[2:])))
    assert unable == "`k/v` cannot be built for sm_100 by any of the 5 releases tested (3.0.0 to 3.4.0)."


def test_sentences_say_what_they_cannot_know() -> None:
    told = said(troubled_matrix())
    assert (
        "`sel_varlen/loop_1d` regressed in 3.3.0 (3.0.0 was good): `pass-failure` – or already in 3.1.0 or 3.2.0, of which nothing "
        "certain is known." in told
    )
    lost = report(tried("k", "v", always(OK), envs=[env("3.0.0", error="no")]))
    assert said(lost) == ["`k/v` could not be tried; nothing certain is known of 3.0.0."]
