"""The views of a report: compact words, distinct failures, surprises, and the plain sentences."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from compat.history.account import spans
from compat.model import Failure, Outcome, Result, Status
from compat.model.evidence import StandInPackages
from compat.report.summary.compact import natural, one_line, rectangles
from compat.report.summary.record import Report
from compat.report.summary.statements import failures_to_fix, stand_ins, statements
from compat.report.views.matrix_markdown import matrix_markdown
from compat.text import join_words
from tests.records import (
    ASSERT,
    MISSING,
    OK,
    PASS,
    RELEASES,
    REMOVED,
    SHAPE,
    TARGETS,
    UNKNOWN_TARGET,
    bad,
    declared,
    env,
)
from tests.report.drawn import matrix_text
from tests.report.factory import always, expected_matrix, report, results_of, since, troubled_matrix

LINE = ("3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0")


def sentences_of(of: Report) -> list[str]:
    return [f"{one.sentence} {one.because}".strip() for one in statements(of)]


def test_spans_do_not_cross_releases_that_were_not_chosen() -> None:
    assert spans(set(LINE), LINE) == "3.0.0–3.4.0"
    assert spans({"3.0.0", "3.1.0", "3.3.0"}, LINE) == "3.0.0–3.1.0, 3.3.0"
    assert spans({"3.4.0"}, LINE) == "3.4.0"
    assert spans((), LINE) == ""


@given(st.sets(st.tuples(st.sampled_from("abcd"), st.sampled_from(("sm_80", "sm_90", "sm_100")))))
def test_rectangles_cover_every_pair_once(pairs: set[tuple[str, str]]) -> None:
    covered = [
        (case, target)
        for cases, targets in rectangles(pairs)
        for case in cases
        for target in targets
    ]
    assert sorted(covered) == sorted(pairs)


def test_lists_natural_order_and_one_line_texts() -> None:
    assert join_words(["a"]) == "a"
    assert join_words(["a", "b", "c"]) == join_words(["a", "b", "c"], 3) == "a, b and c"
    assert join_words(["a", "b", "c"], 2) == "a, b and 1 more"
    assert sorted(["d1", "d01"], key=natural) == sorted(["d01", "d1"], key=natural)
    assert sorted(["sm_100", "sm_90", "gfx942", "gfx90a"], key=natural) == [
        "gfx90a",
        "gfx942",
        "sm_90",
        "sm_100",
    ]
    assert one_line("at 3:1:\n  x = 1\n  ^\nValueError('no')") == "ValueError('no')"
    assert one_line("Error: no:\nerror: 'op' is wrong\nnote: see") == "error: 'op' is wrong"
    assert one_line("first\nlast") == "last"
    assert one_line("") == ""
    assert one_line("x" * 20, 10) == "x" * 9 + "…"


def test_the_same_fingerprint_is_one_failure_with_several_statuses() -> None:
    (failure,) = [
        f for f in expected_matrix().failures if f.failure.failure_class == "mlir-bitwidth-assert"
    ]
    assert failure.statuses == (Status.CRASHED, Status.REJECTED)
    assert [str(where) for where in failure.where] == [
        "sel_varlen/as_written: 3.0.0–3.9.0 (all), sm_80 sm_90"
    ]


def test_a_place_names_cases_only_if_some_do_not_fail() -> None:
    envs = [env("3.0.0"), env("3.1.0")]
    results = [
        *results_of("k", "v", always(OK), envs=envs, cases=("a",)),
        *results_of("k", "v", always(bad(SHAPE)), envs=envs, cases=("b", "c")),
    ]
    (failure,) = report(results).failures
    assert [str(where) for where in failure.where] == ["k/v (b, c): 3.0.0–3.1.0 (all), sm_80 sm_90"]


def test_broken_envs_are_no_defects_of_kernels() -> None:
    matrix = troubled_matrix()
    assert "install" not in {failure.failure.failure_class for failure in matrix.failures}
    (broken,) = matrix.broken_envs
    assert (broken.env.name, broken.cells) == ("triton-3.2.0", 13)
    assert len(matrix.unexpected_results) == 39


def test_surprises_are_grouped() -> None:
    surprises = [(str(s.where), s.declared, s.got) for s in troubled_matrix().surprises]
    assert surprises[0] == (
        "sel_dense/as_written: 3.5.1, sm_80 sm_90",
        "rejected (shape-mismatch)",
        "ok",
    )
    assert ("sel_dense/loop_1d: 3.5.1, sm_80 sm_90", "ok", "lost") in surprises
    assert expected_matrix().surprises == ()


def test_envs_that_differ_are_grouped() -> None:
    (division,) = troubled_matrix().divisions
    assert str(division.where) == "sel_varlen/loop_1d: 3.1.0, sm_80 sm_90"
    assert division.answers == (("triton-3.1.0", "ok"), ("pt2.5", "pass-failure"))


def test_statements_of_the_expected_matrix(golden: Callable[[str, str], None]) -> None:
    golden(
        "statements.txt", "".join(f"{sentence}\n" for sentence in sentences_of(expected_matrix()))
    )


def test_sentences_come_from_results_and_not_from_declarations() -> None:
    envs = [env(release) for release in LINE]
    mended = report(
        results_of("sel_dense", "as_written", since("3.4.0", OK, bad(SHAPE)), envs=envs)
    )
    assert sentences_of(mended) == [
        "`sel_dense/as_written` was fixed in 3.4.0; before: `shape-mismatch`."
    ]
    # A reason explains the declared failure. It does not explain a failure that came instead.
    other = report(
        results_of(
            "k",
            "v",
            always(bad(ASSERT)),
            envs=envs[:2],
            expect=[declared(SHAPE, reason="No axis.")],
        )
    )
    assert sentences_of(other) == [
        "`k/v` never worked on any of the 2 releases tested (3.0.0 to 3.1.0):"
        " `mlir-bitwidth-assert`, still there in 3.1.0, the newest tested."
    ]


def test_a_failure_that_changed_is_listed_with_its_releases() -> None:
    envs = [env(release) for release in LINE]
    (sentence,) = sentences_of(
        report(results_of("k", "v", since("3.3.0", bad(PASS), bad(ASSERT)), envs=envs))
    )
    assert (
        "): `mlir-bitwidth-assert` 3.0.0–3.2.0, then `pass-failure` 3.3.0–3.4.0, still there in"
        " 3.4.0" in sentence
    )


def test_releases_that_cannot_build_for_a_target_do_not_count() -> None:
    envs = [env(release) for release in LINE]
    fate = since("3.3.0", bad(SHAPE), bad(UNKNOWN_TARGET, Status.UNSUPPORTED))
    (sentence,) = sentences_of(report(results_of("k", "v", fate, envs=envs, targets=TARGETS[2:])))
    assert (
        "never worked on any of the 2 releases tested that can build for sm_100 (3.3.0 to 3.4.0):"
        " `shape-mismatch`" in sentence
    )
    never = bad(UNKNOWN_TARGET, Status.UNSUPPORTED)
    (unable,) = sentences_of(
        report(results_of("k", "v", always(never), envs=envs, targets=TARGETS[2:]))
    )
    assert (
        unable
        == "`k/v` cannot be built for sm_100 by any of the 5 releases tested (3.0.0 to 3.4.0)."
    )


def test_sentences_name_inconclusive_releases() -> None:
    sentences = sentences_of(troubled_matrix())
    assert (
        "`sel_varlen/loop_1d` regressed between 3.0.0 and 3.3.0 (inconclusive: 3.1.0–3.2.0):"
        " `pass-failure`." in sentences
    )
    assert (
        "`sel_dense/pointer_grid` works on all 3 releases that gave a clear answer (3.0.0–3.1.0,"
        " 3.5.1); inconclusive: 3.2.0–3.3.0." in sentences
    )
    lost = report(results_of("k", "v", always(OK), envs=[env("3.0.0", error="no")]))
    assert sentences_of(lost) == ["`k/v` could not be tried; inconclusive: 3.0.0."]


def test_files_that_cannot_be_imported_are_no_defects_of_kernels() -> None:
    failure = Failure(
        failure_class="source-needs-package",
        stage="source",
        fingerprint="source-needs-package:1",
        excerpt="ModuleNotFoundError: No module named 'torch'",
        advice="Install `torch`.",
    )
    broken = Outcome(
        status=Status.SOURCE_BROKEN,
        stage="source",
        failure=failure,
        stood_in=StandInPackages(skipped=("lib/gpu.py:6: RuntimeError: no GPU", "lib/a.py:9: x")),
    )
    envs = [env(release) for release in ("3.0.0", "3.1.0", "3.2.0")]
    matrix = report(results_of("sel", "loop", since("3.2.0", OK, broken), envs=envs))
    (source,) = matrix.unimported_sources
    assert (source.kernels, source.releases, source.cells) == (("sel",), "3.0.0–3.1.0", 4)
    assert not matrix.failures
    assert not matrix.surprises
    assert len(matrix.unexpected_results) == 4
    for text in (matrix_text(matrix, width=100), matrix_markdown(matrix)):
        assert "No module named 'torch'" in text
        assert "could not be loaded" in text or "NOT LOADED" in text
        assert "lib/gpu.py:6: RuntimeError: no GPU" in text, "the statement that failed first"
        assert "lib/a.py:9" not in text
    names = ("sel", "a", "b", "c", "d")
    of_one_file = [
        evolve(result, cell=evolve(result.cell, spec=evolve(result.cell.spec, source="lib/ops.py")))
        for name in names
        for result in results_of(name, "loop", always(broken), envs=envs)
    ]
    together = report(of_one_file)
    (source,) = together.unimported_sources
    assert (sorted(source.kernels), source.cells) == (sorted(names), len(of_one_file))
    assert matrix_text(together, width=100).count("NOT LOADED ops.py (a, b, c and 2 more): ") == 1
    misfit = evolve(broken, failure=evolve(failure, stage="trace"))
    (imported,) = report(results_of("sel", "loop", always(misfit), envs=envs)).unimported_sources
    assert imported.failed_first == "", "the import did not fail"
    assert {verdict.untested_releases for verdict in matrix.verdicts} == {("3.0.0", "3.1.0")}


def test_stand_ins_of_several_kernels_are_one_sentence() -> None:
    stood_in = evolve(
        OK,
        stood_in=StandInPackages(packages=("torch 2.9.1",), answers=("x",), skipped=("a", "b")),
    )
    envs = [env("3.2.0"), env("3.9.0")]
    results = [
        *results_of("one", "v", always(stood_in), envs=envs),
        *results_of("two", "v", always(stood_in), envs=envs),
        *results_of("three", "v", always(OK), envs=envs),
    ]
    (sentence,) = stand_ins(results)
    assert sentence == (
        "one and two: 8 cells imported with stand-ins for torch, 1 value supplied, 2 statements"
        " left out"
    )


HISTORIES: list[tuple[dict[str, Outcome], dict[str, Outcome]]] = [
    ({"3.0.0": bad(SHAPE), "3.9.0": bad(SHAPE)}, {}),
    ({"3.0.0": bad(MISSING), "3.1.0": bad(MISSING), "3.5.1": OK}, {}),
    ({"3.0.0": OK, "3.5.1": OK, "3.9.0": bad(REMOVED)}, {}),
    ({"3.5.1": OK, "3.9.0": bad(PASS)}, {}),
    ({"3.1.0": bad(PASS), "3.3.0": OK}, {}),
    ({"3.0.0": OK, "3.1.0": OK, "3.5.1": OK}, {}),
    ({"3.0.0": OK, "3.3.0": bad(PASS), "3.9.0": OK}, {}),
    ({"3.3.1": bad(MISSING), "3.4.0": OK, "3.8.0": OK, "3.9.0": bad(REMOVED)}, {}),
    ({"3.9.0": bad(PASS)}, {"3.2.0": OK, "3.8.0": OK}),
    ({"3.9.0": bad(PASS)}, {"3.8.0": bad(PASS)}),
]
"""The outcomes of a run by release, and the outcomes of earlier runs."""


def failure_classes(outcomes: dict[str, Outcome]) -> str:
    return ", ".join(
        f"{release} {outcome.failure.failure_class if outcome.failure else 'ok'}"
        for release, outcome in outcomes.items()
    )


def test_no_sentence_says_more_than_was_tested(golden: Callable[[str, str], None]) -> None:
    """The golden file has a line with the outcomes, and below it the sentence about them."""

    def results(outcomes: dict[str, Outcome]) -> list[Result]:
        envs = [env(release) for release in outcomes]
        return results_of(
            "k", "v", lambda release, _: outcomes[release], envs=envs, targets=TARGETS[:1]
        )

    text = ""
    for tested, earlier in HISTORIES:
        (sentence,) = sentences_of(
            report(results(tested), remembered=results(earlier), existing=RELEASES)
        )
        before = f"; earlier {failure_classes(earlier)}" if earlier else ""
        text += f"{failure_classes(tested)}{before}\n    {sentence}\n"
    golden("histories.txt", text)


def test_the_line_has_no_releases_of_a_toolchain_that_was_not_tried() -> None:
    matrix = report(
        results_of("k", "v", always(bad(SHAPE)), envs=[env("3.0.0"), env("3.1.0")]),
        existing=("3.0.0", "3.1.0"),
    )
    both = evolve(matrix, existing={**matrix.existing, "cute": (Version("4.0.0"),)})
    assert both.line == ("3.0.0", "3.1.0")
    assert str(both.failures[0].where[0]) == str(matrix.failures[0].where[0])


def test_a_failures_range_never_crosses_a_release_that_was_not_tried() -> None:
    results = results_of(
        "k", "v", always(bad(SHAPE)), envs=[env("3.0.0"), env("3.1.0"), env("3.5.1")]
    )
    (failure,) = report(results, existing=RELEASES).failures
    assert str(failure.where[0]) == "k/v: 3.0.0–3.1.0, 3.5.1 (all tested), sm_80 sm_90"
    (complete,) = report(results, existing=("3.0.0", "3.1.0", "3.5.1")).failures
    assert str(complete.where[0]) == "k/v: 3.0.0–3.5.1 (all), sm_80 sm_90"


def test_places_are_in_the_order_of_their_releases() -> None:
    """The shorter of two places with the same first release comes first, whatever sets do."""
    until = {"long": "3.3.0", "short": "3.2.0"}
    results = [
        results_of("k", "v", since(fixed, OK, bad(SHAPE)), envs=map(env, LINE), cases=[case])
        for case, fixed in until.items()
    ]
    assert [where.releases for where in report([*chain(*results)]).failures[0].where] == [
        "3.0.0–3.1.0",
        "3.0.0–3.2.0",
    ]


def test_failures_with_known_edits_are_all_of_them_or_named() -> None:
    def failing(*failures: Failure) -> Report:
        return report(
            [
                result
                for failure in failures
                for result in results_of(
                    "k", failure.failure_class, always(bad(failure)), envs=[env("3.9.0")]
                )
            ]
        )

    some = failing(SHAPE, REMOVED, MISSING, PASS)
    assert 2 < len(some.edits_known) < len(some.failures)
    assert failures_to_fix(some) == join_words(some.edits_known)
    assert failures_to_fix(failing(SHAPE, REMOVED, MISSING)) == "all 3"
    assert failures_to_fix(failing(SHAPE, REMOVED)) == "F1 and F2"
