"""The search along releases over made-up histories: every kind of answer, and its limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from packaging.version import Version

from compat.bisect import releases
from compat.bisect.answers import ReleaseAnswer
from compat.bisect.request import in_range
from compat.config.matrix import load_matrix
from compat.engine.plan import Forecast
from compat.engine.run import Interrupted, existing_releases
from compat.history.account import Word
from compat.model import Cell, Outcome, Status
from compat.project import Listener
from compat.report.views.bisect_sentences import headline
from tests.bisect.invented import LINE, Invented
from tests.records import (
    ASSERT,
    BROKEN,
    MISSING,
    OK,
    REMOVED,
    SHAPE,
    TARGETS,
    UNKNOWN_TARGET,
    bad,
    result,
    spec,
)

GONE, ABSENT, CRASHED, REJECTED = (
    bad(REMOVED),
    bad(MISSING),
    bad(ASSERT, Status.CRASHED),
    bad(SHAPE),
)
FLAKY = bad(SHAPE, flaky=True)
Tell = Callable[[list[Outcome]], Invented]


@pytest.fixture
def tell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Tell:
    return lambda outcomes: Invented(monkeypatch, tmp_path, dict(zip(LINE, outcomes, strict=False)))


def ends(answer: ReleaseAnswer) -> tuple[str, str] | None:
    return (answer.bracket.before.release, answer.bracket.after.release) if answer.bracket else None


def test_removed_api_gives_removed_in_and_the_bracket(tell: Tell) -> None:
    (answer,) = tell([OK] * 9 + [GONE]).search()
    assert answer.account.word is Word.REMOVED
    assert ends(answer) == ("3.8.0", "3.9.0")
    (change,) = answer.transitions
    assert change.failure == REMOVED
    assert answer.needs is None


def test_fixed_and_needed(tell: Tell) -> None:
    (needed,) = tell([ABSENT] * 4 + [OK] * 6).search()
    assert (needed.account.word, ends(needed), needed.needs) == (
        Word.NEEDS,
        ("3.3.0", "3.4.0"),
        "3.4.0",
    )
    (fixed,) = tell([CRASHED] * 4 + [OK] * 6).search()
    assert (fixed.account.word, ends(fixed), fixed.needs) == (Word.FIXED, ("3.3.0", "3.4.0"), None)
    (broken,) = tell([OK] * 9 + [GONE]).search(fixed=True)
    assert ends(broken) == ("3.8.0", "3.9.0"), "there is no fix"
    (target,) = tell([bad(UNKNOWN_TARGET, Status.UNSUPPORTED)] * 3 + [OK] * 7).search()
    assert (target.account.word, target.needs) == (Word.NEEDS, "3.3.0")


def test_nothing_to_bisect(tell: Tell) -> None:
    (never,) = tell([REJECTED] * 10).search()
    assert (never.account.word, never.bracket, never.transitions) == (Word.NEVER, None, ())
    (always,) = tell([OK] * 10).search()
    assert (always.account.word, always.bracket) == (Word.WORKS, None)
    (unknown,) = tell([BROKEN] * 10).search()
    assert (unknown.account.word, len(unknown.inconclusive_probes)) == (Word.UNKNOWN, 10)


def test_abort_and_exception_with_one_fingerprint_are_one_failure(tell: Tell) -> None:
    """The history is an abort up to 3.2 and an exception from 3.3 on, with one fingerprint."""
    (answer,) = tell(
        [bad(ASSERT, Status.CRASHED)] * 3 + [bad(ASSERT, Status.REJECTED)] * 7
    ).search()
    (span,) = answer.spans
    assert span.statuses == (Status.CRASHED, Status.REJECTED)
    assert answer.transitions == ()


def test_change_from_one_failure_to_another_is_a_transition_and_no_bracket(tell: Tell) -> None:
    (answer,) = tell([CRASHED] * 3 + [REJECTED] * 7).search()
    assert (answer.account.word, answer.bracket) == (Word.NEVER, None)
    (change,) = answer.transitions
    assert (change.before.release, change.after.release, change.crosses) == (
        "3.2.0",
        "3.3.0",
        False,
    )
    assert change.failure == SHAPE


def test_bracket_of_an_intermittent_history_is_the_newest_change(tell: Tell) -> None:
    other = bad(evolve(ASSERT, fingerprint="compiler-assert:other"), Status.CRASHED)
    history = tell([OK, OK, CRASHED, other, OK, OK])
    (answer,) = history.search()
    assert answer.account.word is Word.INTERMITTENT
    assert [(change.before.release, change.after.release) for change in answer.transitions] == [
        ("3.1.0", "3.2.0"),
        ("3.2.0", "3.3.0"),
        ("3.3.0", "3.4.0"),
    ]
    assert ends(answer) == ("3.1.0", "3.2.0"), "the newest regression"
    (fixed,) = history.search(fixed=True)
    assert ends(fixed) == ("3.3.0", "3.4.0"), "the newest fix"


def test_answers_are_reported_when_they_are_complete_one_target_first(tell: Tell) -> None:
    history = tell([OK] * 9 + [GONE])
    events: list[tuple[str, str, int]] = []
    planned: list[int] = []

    def hear(answer: ReleaseAnswer) -> None:
        events.append((answer.target.name, answer.spec.case, len(history.tried)))

    class Plans(Listener):
        def expecting(self, cells: Sequence[Cell], forecast: Forecast) -> None:
            planned.append(len(cells))

    names = [target.name for target in TARGETS[:2]]
    answers = history.search(
        targets=TARGETS[:2],
        cases=("one", "two", "known"),
        stay=True,
        listener=Plans(),
        on_answer=hear,
    )
    assert [(answer.spec.case, answer.target.name) for answer in answers] == [
        (case, name) for case in ("one", "two", "known") for name in names
    ]
    first, second = names
    assert events == [
        (first, "known", 20),
        (second, "known", 20),
        *((first, "one", 30), (first, "two", 40)),
        *((second, "one", 50), (second, "two", 60)),
    ]
    assert [count for count in planned if count] == [40], (
        "what is to be compiled is told once, for all"
    )


def test_all_cells_are_compiled_in_one_run_if_no_worker_stays(tell: Tell) -> None:
    history = tell([OK] * 9 + [GONE])
    target_names: list[str] = []
    history.search(
        targets=TARGETS[:2],
        cases=("one", "two"),
        on_answer=lambda answer: target_names.append(answer.target.name),
    )
    assert [len(run) for run in history.runs if run] == [40]
    first, second = (target.name for target in TARGETS[:2])
    assert target_names == [first, first, second, second]


def test_inconclusive_releases_are_in_the_bracket(tell: Tell) -> None:
    (answer,) = tell([OK, OK, BROKEN, BROKEN, REJECTED]).search()
    assert answer.bracket is not None
    assert (ends(answer), answer.bracket.untested) == (("3.1.0", "3.4.0"), ("3.2.0", "3.3.0"))
    assert [probe.release for probe in answer.inconclusive_probes] == ["3.2.0", "3.3.0"]


@pytest.mark.parametrize(
    ("outcomes", "phrase", "between"),
    [
        ([OK, OK, FLAKY, REJECTED, REJECTED], "regressed after 3.1.0, by 3.3.0", ("3.2.0",)),
        ([OK, FLAKY, OK, OK, OK], "works in 4 of 5, rest unknown", None),
        ([REJECTED, REJECTED, REJECTED, FLAKY], "failed in 3 of 4, rest unknown", None),
        ([FLAKY, FLAKY], "unknown", None),
        ([OK, REJECTED, OK, FLAKY, REJECTED], "intermittent", ("3.3.0",)),
    ],
)
def test_no_release_is_blamed_if_a_flaky_one_may_be_the_culprit(
    tell: Tell, outcomes: list[Outcome], phrase: str, between: tuple[str, ...] | None
) -> None:
    (answer,) = tell(outcomes).search()
    assert (answer.account.phrase, answer.account.unsettled) == (phrase, True)
    assert (answer.bracket.untested if answer.bracket else None) == between
    assert answer.account.flaky


def test_flaky_release_outside_of_the_bracket_does_not_change_it(tell: Tell) -> None:
    (answer,) = tell([OK, FLAKY, OK, OK, REJECTED]).search()
    assert (answer.account.word, ends(answer), answer.account.flaky) == (
        Word.REGRESSED,
        ("3.3.0", "3.4.0"),
        ("3.1.0",),
    )


@pytest.mark.parametrize("every", [True, False])
def test_given_ends_are_tried_first_and_a_wrong_end_is_reported(tell: Tell, every: bool) -> None:
    history = tell([OK] * 10)
    (answer,) = history.search(good=0, bad=9, every=every)
    assert history.tried[:2] == ["3.0.0", "3.9.0"]
    assert answer.account.word is Word.WORKS
    (wrong,) = answer.otherwise
    assert wrong.release == "3.9.0"


def test_search_tries_few_releases_and_lists_those_that_it_assumes(tell: Tell) -> None:
    history = tell([OK] * 9 + [GONE])
    (answer,) = history.search(every=False)
    assert ends(answer) == ("3.8.0", "3.9.0")
    assert len(history.tried) < 10
    probes = set(history.tried)
    assumed = {
        r for first, last in answer.assumed for r in LINE[LINE.index(first) : LINE.index(last) + 1]
    }
    assert probes | assumed == set(LINE)
    assert not probes & assumed


def test_many_kernels_share_the_envs(tell: Tell) -> None:
    history = tell([OK] * 9 + [GONE])
    answers = history.search(targets=TARGETS, cases=("d64", "d128"))
    assert [(answer.spec.case, answer.target.name) for answer in answers] == [
        (case, target.name) for case in ("d64", "d128") for target in TARGETS
    ]
    assert [sorted(names) for names in history.obtained] == [sorted(LINE)], (
        "asked for at once, and once"
    )
    assert len(history.tried) == 6 * 10


def test_earlier_results_count_for_their_own_kernel_alone(tell: Tell) -> None:
    earlier = [result(REJECTED, "3.5.1", spec=spec(case="two"))]
    answers = tell([OK] * 10).search(
        cases=("one", "two"), existing=(Version("3.5.1"),), recall=lambda _: earlier
    )
    assert [answer.account.remembered_releases for answer in answers] == [(), ("3.5.1",)]


def test_judge_same_failure_means_the_failure_of_the_bad_end(tell: Tell) -> None:
    history = tell([CRASHED] * 4 + [OK] * 2 + [REJECTED] * 4)
    (answer,) = history.search(criterion="same-failure")
    assert (answer.account.word, ends(answer)) == (Word.REGRESSED, ("3.5.0", "3.6.0"))
    (older,) = history.search(criterion="same-failure", bad=2, good=9)
    assert (older.account.word, ends(older)) == (Word.FIXED, ("3.3.0", "3.4.0"))
    (oldest,) = history.search(criterion="same-failure", fixed=True)
    assert (oldest.account.word, ends(oldest)) == (Word.FIXED, ("3.3.0", "3.4.0"))
    (unknown,) = tell([CRASHED] * 9 + [BROKEN]).search(criterion="same-failure")
    assert unknown.account.word is Word.UNKNOWN
    assert headline(unknown) == (
        "judged by `same-failure`: inconclusive: the bad end gave no answer, so there is no failure"
        " to look for."
    )


def test_word_for_a_judge_of_a_class_depends_on_good_and_bad_alone(tell: Tell) -> None:
    (answer,) = tell([ABSENT] * 3 + [OK] * 6 + [GONE]).search(criterion="class=api-removed")
    assert (answer.account.word, ends(answer)) == (Word.REGRESSED, ("3.8.0", "3.9.0"))
    assert answer.needs is None


def test_search_finds_the_change_of_a_metric(tell: Tell) -> None:
    few, many = (evolve(OK, metrics={"registers": number}) for number in (96, 168))
    (answer,) = tell([few] * 5 + [many] * 4 + [GONE]).search(criterion="registers>128")
    assert (answer.account.word, ends(answer)) == (Word.REGRESSED, ("3.4.0", "3.5.0"))
    assert [probe.release for probe in answer.inconclusive_probes] == ["3.9.0"]


def test_given_ends_limit_the_range_of_a_search() -> None:
    line = [None] * 10  # only its length counts
    cases = {
        (None, None, False): range(10),
        (2, 7, False): range(2, 8),
        (7, 2, False): range(2, 8),
        (3, None, False): range(3, 10),
        (None, 6, False): range(7),
        (6, None, True): range(7),
        (None, 3, True): range(3, 10),
    }
    for (good, bad_, fixed), expected in cases.items():
        assert in_range(len(line), good, bad_, fixed=fixed) == expected


def test_existing_releases_include_those_that_a_project_leaves_out(tmp_path: Path) -> None:
    """Otherwise an answer could name one release for a change, although untried releases are
    between.
    """
    (tmp_path / "matrix.toml").write_text('env = [{ triton = "3.0.0" }, { triton = "3.9.0" }]\n')
    releases = existing_releases(load_matrix(tmp_path / "matrix.toml"))
    assert {Version("3.0.0"), Version("3.5.1"), Version("3.9.0")} <= set(releases["triton"])


@pytest.mark.parametrize(("every", "total"), [(True, 10), (False, 1)])
def test_interrupted_search_counts_the_cells_of_all_its_runs(
    tell: Tell, monkeypatch: pytest.MonkeyPatch, every: bool, total: int
) -> None:
    """Without all releases, the number of cells that the search still needs is not known."""
    history = tell([OK] * 8 + [GONE] * 2)

    def interrupted(*arguments: Any) -> object:
        if history.runs:
            raise Interrupted(0, 1)
        return history._run(*arguments)

    monkeypatch.setattr(releases, "run", interrupted)
    with pytest.raises(Interrupted) as error:
        history.search(every=every)
    assert (error.value.done, error.value.total) == (len(history.tried), total)
    assert history.tried
