"""Guards that are made from reports.

The tests cover goldens, the outcomes that count as working, and that a guard never chooses a
variant that is known to fail.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from functools import cache
from itertools import product

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from compat.errors import SelectionError, StoreError
from compat.guard import Guard, Request, check_guard, guard_text, make_guard, read_guard
from compat.guard.checking import Kind, guard_check_document, guard_check_lines, guard_lines
from compat.guard.facts import guarding_of
from compat.model import Check, Numbers, Outcome, Result, Status, Target
from compat.report.document import dump, matrix_document
from compat.report.loading import load_report
from compat.report.summary.record import Report
from compat.toolchains import DEFAULT
from tests.records import (
    ASSERT,
    BROKEN,
    DEPRECATED,
    LOST,
    OK,
    PASS,
    REMOVED,
    SHAPE,
    SHARED,
    TARGETS,
    UNKNOWN_TARGET,
    bad,
    env,
)
from tests.report.factory import always, expected_matrix, report, results_of, troubled_matrix
from tests.together import for_each

ENVS = [env("3.8.0"), env("3.9.0")]
ONE = TARGETS[1:2]
OUTCOMES: dict[str, tuple[Outcome, bool | None]] = {
    "ok": (OK, True),
    "deprecated": (DEPRECATED, True),
    "rejected": (bad(SHAPE), False),
    "crashed": (bad(ASSERT, Status.CRASHED), False),
    "wrong": (evolve(OK, status=Status.WRONG), False),
    "would fail when launched": (evolve(OK, failure=SHARED), False),
    "cannot build for the target": (bad(UNKNOWN_TARGET, Status.UNSUPPORTED), False),
    "flaky": (bad(ASSERT, Status.CRASHED, flaky=True), False),
    "flaky, and good in the end": (evolve(OK, flaky=True), False),
    "lost": (LOST, None),
    "env broken": (BROKEN, None),
    "source broken": (bad(SHAPE, Status.SOURCE_BROKEN), None),
}
"""Each outcome, and whether a variant with it works: None where that is unknown."""


def guard_of(matrix: Report, policy: str = "", **options: tuple[str, ...]) -> Guard:
    return make_guard(matrix, Request(policy=policy, **options))


def one_variant(*fates: Outcome, policy: str = "") -> Guard:
    """A guard for a kernel with these outcomes on releases 3.1.0, 3.2.0 and so on."""
    results = [
        result
        for number, fate in enumerate(fates, 1)
        for result in results_of("k", "v", always(fate), envs=[env(f"3.{number}.0")], targets=ONE)
    ]
    return guard_of(report(results), policy)


# --- goldens --------------------------------------------------------------------------------------


def test_guard_file_and_printed_lines_match_the_goldens(golden: Callable[[str, str], None]) -> None:
    matrix = evolve(
        troubled_matrix(),
        variants={"sel_dense": ("pointer_grid", "loop_1d", "broadcast_2d", "as_written")},
    )
    guard = evolve(
        guard_of(matrix, kernels=("sel_dense",), prefer=("broadcast_2d",)), version="0.0.1"
    )
    golden("guard.txt", guard_text(guard))
    golden("guard-lines.txt", "\n".join(guard_lines(guard)) + "\n")


def test_answer_of_a_check_matches_the_goldens(golden: Callable[[str, str], None]) -> None:
    guard = guard_of(
        expected_matrix(["3.5.0", "3.6.0", "3.7.0"]), kernels=("sel_dense",), prefer=("block_ptr",)
    )
    later = expected_matrix(["3.6.0", "3.7.0", "3.8.0", "3.9.0"])
    broken = [
        evolve(r, outcome=bad(PASS)) if _is(r, "block_ptr", "3.7.0") else r for r in later.results
    ]
    fixed = [evolve(r, outcome=OK) if _is(r, "as_written", "3.6.0") else r for r in broken]
    checked = check_guard(guard_text(guard), report(fixed))
    golden(
        "check.txt",
        "\n".join(guard_check_lines(checked, "lib/guard.py", "reports/matrix.json")) + "\n",
    )
    golden("check.json", json.dumps(guard_check_document(checked), indent=1) + "\n")
    assert not checked.agrees


def _is(result: Result, variant: str, release: str) -> bool:
    return (result.cell.spec.variant, result.built.release) == (variant, release)


# --- which outcomes work --------------------------------------------------------------------------


@for_each("name", OUTCOMES)
def test_outcome_decides_whether_a_variant_is_chosen(name: str) -> None:
    fate, works = OUTCOMES[name]
    assert one_variant(fate).answer("k", "3.1.0", "sm_90") == ("v" if works else None)
    assert one_variant(OK, fate, OK).answer("k", "3.2.0", "sm_90") == ("v" if works else None)
    optimistic = one_variant(OK, fate, OK, policy="optimistic")
    assert optimistic.answer("k", "3.2.0", "sm_90") == (None if works is False else "v")


@for_each("one", OUTCOMES)
def test_all_cases_have_to_work(one: str) -> None:
    for other, fate_of_other in OUTCOMES.items():
        fates = (OUTCOMES[one], fate_of_other)
        results = [
            result
            for case, (fate, _) in zip("ab", fates, strict=True)
            for result in results_of("k", "v", always(fate), envs=ENVS, targets=ONE, cases=(case,))
        ]
        works = all(verdict for _, verdict in fates)
        matrix = report(results)
        answer = guard_of(matrix).answer("k", "3.8.0", "sm_90")
        assert answer == ("v" if works else None), other
        answer_for_a = guard_of(matrix, cases=("a",)).answer("k", "3.8.0", "sm_90")
        assert answer_for_a == ("v" if fates[0][1] else None), other


def test_variant_with_an_untried_case_is_not_known_to_work() -> None:
    results = [
        *results_of("k", "v", always(OK), envs=ENVS, targets=ONE, cases=("a",)),
        *results_of("k", "v", always(OK), envs=ENVS[:1], targets=ONE, cases=("b",)),
    ]
    matrix = report(results)
    assert guard_of(matrix).answer("k", "3.8.0", "sm_90") == "v"
    assert guard_of(matrix).answer("k", "3.9.0", "sm_90") is None
    assert guard_of(matrix, "optimistic").answer("k", "3.9.0", "sm_90") == "v"
    results += results_of("k", "v", always(OK), envs=ENVS, targets=TARGETS[:1], cases=("a",))
    assert guard_of(report(results)).answer("k", "3.8.0", "sm_80") is None


def test_envs_of_one_release_have_to_agree() -> None:
    pair = env("3.9.0", name="pair", torch="2.9.1")
    results = [
        *results_of("k", "v", always(OK), envs=ENVS, targets=ONE),
        *results_of("k", "v", always(bad(SHAPE)), envs=[pair], targets=ONE),
    ]
    assert guard_of(report(results), "optimistic").answer("k", "3.9.0", "sm_90") is None


def test_results_of_a_fork_count_for_that_fork_only() -> None:
    forks = [
        env("3.9.0+ours", name="ours"),
        env("3.9.0", name="theirs", distribution="their-triton"),
    ]
    results = [
        *results_of("k", "v", always(bad(SHAPE)), envs=[ENVS[1], forks[1]], targets=ONE),
        *results_of("k", "v", always(OK), envs=forks[:1], targets=ONE),
    ]
    for policy in ("pessimistic", "optimistic"):
        guard = guard_of(report(results), policy)
        answers = [
            guard.answer("k", release, "sm_90")
            for release in ("3.9.0", "3.9.0+ours", "their-triton 3.9.0", "3.9.0+git1")
        ]
        assert answers == [None, "v", None, None]


def test_results_of_earlier_runs_do_not_count() -> None:
    results = results_of("k", "v", always(OK), envs=ENVS[:1], targets=ONE)
    earlier = results_of("k", "v", always(OK), envs=[env("3.6.0")], targets=ONE)
    guard = guard_of(report(results, remembered=earlier, existing=("3.6.0", "3.7.0", "3.8.0")))
    assert guard.facts.releases == ("3.8.0",)
    assert [guard.answer("k", release, "sm_90") for release in ("3.6.0", "3.8.0")] == [None, "v"]


@for_each(
    ("numbers", "reason"),
    [
        (Numbers(gpu=Check(status=Status.OK, device="H100")), "works with Triton 3.8.0 for sm_90"),
        (Numbers(gpu=Check(status=Status.LOST)), "works with Triton 3.8.0 for sm_90"),
        (Numbers(interpreter=Check(status=Status.UNSUPPORTED)), "works with Triton 3.8.0 for"),
        (
            Numbers(gpu=Check(status=Status.WRONG, device="H100")),
            "does not work with Triton 3.8.0 (wrong on H100) for sm_90",
        ),
        (
            Numbers(
                interpreter=Check(status=Status.UNSTABLE),
                gpu=Check(status=Status.OK, device="H100"),
            ),
            "does not work with Triton 3.8.0 (unstable in the interpreter) for sm_90",
        ),
    ],
)
def test_a_variant_with_wrong_numbers_does_not_work(numbers: Numbers, reason: str) -> None:
    fork = env("3.9.0+ours", name="ours")
    results = results_of("k", "v", always(OK), envs=[ENVS[0], fork], targets=ONE)
    guard = guard_of(report([evolve(result, numbers=numbers) for result in results]))
    decide = guarding_of(guard.toolchain).decide
    choice = decide(guard.decision_data, "k", "3.8.0", "sm_90", "pessimistic")
    assert reason in choice.why
    works = choice.variant == "v"
    assert works is reason.startswith("works")
    assert (guard.answer("k", "3.9.0+ours", "sm_90") == "v") is works


# --- order of variants ----------------------------------------------------------------------------


def three() -> Report:
    declared = ("second", "first", "third")
    results = [
        result
        for variant in declared
        for result in results_of("k", variant, always(OK), envs=ENVS, targets=ONE)
    ]
    return evolve(report(results), variants={"k": declared})


def test_variants_have_the_declared_order_unless_one_is_preferred() -> None:
    assert list(guard_of(three()).facts.kernels["k"]) == ["second", "first", "third"]
    assert list(guard_of(three(), prefer=("third",)).facts.kernels["k"]) == [
        "third",
        "second",
        "first",
    ]
    assert list(guard_of(three(), variants=("f*", "third")).facts.kernels["k"]) == [
        "first",
        "third",
    ]
    assert list(guard_of(evolve(three(), variants={})).facts.kernels["k"]) == [
        "first",
        "second",
        "third",
    ]


def test_report_file_keeps_the_declared_order() -> None:
    read = load_report(dump(matrix_document(three())))
    assert read.variants == {"k": ("second", "first", "third")}
    assert guard_text(guard_of(read)) == guard_text(guard_of(three()))


@pytest.mark.parametrize(
    ("guard_request", "message"),
    [
        (Request(kernels=("j",)), "no kernel matches 'j'"),
        (Request(variants=("fist",)), "no variant matches 'fist'"),
        (Request(cases=("no",)), "no case matches 'no'"),
        (Request(prefer=("fist",)), "no variant matches 'fist'"),
    ],
)
def test_name_that_matches_nothing_is_an_error(guard_request: Request, message: str) -> None:
    with pytest.raises(SelectionError, match=message):
        make_guard(three(), guard_request)


# --- any report -----------------------------------------------------------------------------------

LINE = ("3.0.0", "3.1.0", "3.2.0", "3.3.0")
FATES = st.sampled_from([fate for fate, _ in OUTCOMES.values()])


@st.composite
def reports(draw: st.DrawFn) -> Report:
    """A report of two variants with two cases, on four releases and two targets.

    Each cell is untried or has any of the outcomes.
    """
    results: list[Result] = []
    for variant, case, target, release in product("vw", "ab", TARGETS[:2], LINE):
        if draw(st.integers(0, 5)):
            results += results_of(
                "k",
                variant,
                always(draw(FATES)),
                envs=[env(release)],
                targets=[target],
                cases=(case,),
            )
    return report(results)


@given(reports(), st.sampled_from(LINE), st.sampled_from(TARGETS[:2]))
def test_guard_never_chooses_a_variant_that_is_known_to_fail(
    matrix: Report, release: str, target: Target
) -> None:
    if not matrix.results:
        return
    tested = {
        (r.cell.spec.variant, r.cell.spec.case): next(
            verdict for fate, verdict in OUTCOMES.values() if fate == r.outcome
        )
        for r in matrix.results
        if (r.cell.target, r.built.release) == (target, release)
    }
    cases = {(r.cell.spec.variant, r.cell.spec.case) for r in matrix.results}
    good = [
        v
        for v in "vw"
        if [pair for pair in cases if pair[0] == v]
        and all(tested.get(c) for c in cases if c[0] == v)
    ]
    failing = {variant for (variant, _), verdict in tested.items() if verdict is False}
    assert guard_of(matrix).answer("k", release, target.name) == (good[0] if good else None)
    hopeful = guard_of(matrix, "optimistic").answer("k", release, target.name)
    assert hopeful not in failing
    assert hopeful is not None or not good


@settings(max_examples=settings().max_examples // 2)
@given(reports())
def test_written_guard_reads_back_and_agrees_with_its_report(matrix: Report) -> None:
    if not matrix.results:
        return
    guard = guard_of(matrix)
    text = guard_text(guard)
    assert guard_text(read_guard(text)) == text
    checked = check_guard(text, matrix)
    assert checked.agrees
    assert not checked.contradictions
    ast.parse(text, feature_version=(3, 8))


ODD = ['"""\nimport os\n"""', "\\", '"', "'''", "{% x %}", "\u2028", "a b"]


@cache
def usual_parts() -> tuple[list[type[ast.stmt]], list[str]]:
    """The kinds of the statements of a guard, and the lines from the end of its facts on."""
    return parts(guard_text(guard_of(three())))


def parts(text: str) -> tuple[list[type[ast.stmt]], list[str]]:
    nodes = ast.parse(text, feature_version=(3, 8)).body
    return [type(node) for node in nodes], text.split("\n")[nodes[5].lineno - 1 :]


@given(st.lists(st.text(min_size=1) | st.sampled_from(ODD), min_size=3, max_size=3))
def test_names_are_text_and_never_code(names: list[str]) -> None:
    kernel, variant, case = names
    target = evolve(TARGETS[1], name=f"sm_90 {kernel}")
    results = results_of(kernel, variant, always(OK), envs=ENVS, targets=[target], cases=(case,))
    matrix = load_report(dump(matrix_document(report(results))))
    (spec,) = matrix.specs
    text = guard_text(make_guard(matrix, Request(prefer=(spec.variant,))))
    assert parts(text) == usual_parts()
    assert list(read_guard(text).facts.kernels) == [spec.kernel]
    assert check_guard(text, matrix).agrees


# --- a guard and another report -------------------------------------------------------------------


def test_check_ignores_layout_and_detects_other_edits() -> None:
    matrix = three()
    text = guard_text(guard_of(matrix))
    assert check_guard(ast.unparse(ast.parse(text)), matrix).agrees
    for edited in (
        text.replace('"+"', '"?"'),
        text.replace("return True", "return False"),
        text.replace('"first": {', '"last": {'),
    ):
        assert edited != text
        checked = check_guard(edited, matrix)
        assert (checked.intact, checked.agrees) == (False, False)


def test_facts_that_the_report_lacks_are_no_disagreement() -> None:
    text = guard_text(guard_of(three()))
    part = report(results_of("k", "second", always(OK), envs=ENVS[:1], targets=ONE))
    checked = check_guard(text, part)
    assert checked.agrees
    assert {contradiction.kind for contradiction in checked.contradictions} == {Kind.GONE}
    assert not checked.answers


def test_guard_disagrees_with_a_report_of_a_new_release() -> None:
    guard = guard_of(report(results_of("k", "v", always(OK), envs=ENVS[:1], targets=ONE)))
    checked = check_guard(
        guard_text(guard), report(results_of("k", "v", always(OK), envs=ENVS, targets=ONE))
    )
    assert [
        (contradiction.kind, contradiction.releases, contradiction.targets)
        for contradiction in checked.contradictions
    ] == [(Kind.NEW, ("3.9.0",), ("sm_90",))]
    assert [
        (answer.release, answer.current_variant, answer.new_variant) for answer in checked.answers
    ] == [("3.9.0", None, "v")]
    assert not checked.agrees


def test_guard_disagrees_if_only_its_facts_or_only_its_answers_differ() -> None:
    text = guard_text(guard_of(three()))
    results = [
        evolve(r, outcome=bad(SHAPE)) if r.cell.spec.variant == "third" else r
        for r in three().results
    ]
    of_facts = check_guard(text, evolve(report(results), variants=three().variants))
    assert (bool(of_facts.contradictions), of_facts.answers, of_facts.agrees) == (True, (), False)
    other_order = evolve(three(), variants={"k": ("first", "second", "third")})
    of_answers = check_guard(text, other_order)
    assert (of_answers.contradictions, bool(of_answers.answers), of_answers.agrees) == (
        (),
        True,
        False,
    )


def test_guard_agrees_if_only_the_failure_class_differs() -> None:
    guard = guard_of(report(results_of("k", "v", always(bad(SHAPE)), envs=ENVS, targets=ONE)))
    checked = check_guard(
        guard_text(guard),
        report(results_of("k", "v", always(bad(REMOVED)), envs=ENVS, targets=ONE)),
    )
    assert checked.agrees


@for_each(
    "text",
    [
        "",
        "x = 1\n",
        "FACTS: dict = {}\n",
        "FACTS: dict = open('x')\n",
        "FACTS: dict = {1: {2}}\n",
        "def",
        "\0",
        "(" * 10_000,
    ],
)
def test_file_that_is_not_a_guard_is_an_error(text: str) -> None:
    with pytest.raises(StoreError, match=r"^lib/x\.py: the file is not a guard: ") as caught:
        read_guard(text, "lib/x.py")
    assert "compat guard" in (caught.value.hint or "")


def test_default_toolchain_has_guards_with_a_pessimistic_first_policy() -> None:
    assert DEFAULT.language.guarding is not None
    assert DEFAULT.language.guarding.policies[0] == "pessimistic"
