"""A matrix and a bisection over the same results give the same account.

The account has the word, the bracket, the unknown releases, and the results of earlier runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.version import Version

from compat.bisect import releases
from compat.bisect.answers import ReleaseAnswer
from compat.bisect.candidates import from_envs
from compat.bisect.criterion import parse_criterion
from compat.bisect.releases import ReleaseSearch, search_releases
from compat.engine.run import RunContext
from compat.history.account import Account, Judgement, Word
from compat.history.verdict import Verdict, verdicts
from compat.model import BuiltEnv, Cell, Env, Outcome, Result, Status
from compat.workers.attempt import Limits
from tests.records import (
    ASSERT,
    BROKEN,
    LOST,
    MISSING,
    OK,
    PASS,
    REMOVED,
    SHAPE,
    SHARED,
    TARGETS,
    UNKNOWN_TARGET,
    bad,
    env,
    result,
    spec,
)

LINE = ("3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.3.1", "3.4.0", "3.5.0")
OUTCOMES = (
    *(OK, OK, OK),
    *(bad(SHAPE), bad(PASS), bad(ASSERT, Status.CRASHED), bad(MISSING), bad(MISSING), bad(REMOVED)),
    *(
        bad(SHARED, Status.OK),
        bad(UNKNOWN_TARGET, Status.UNSUPPORTED),
        bad(UNKNOWN_TARGET, Status.UNSUPPORTED),
    ),
    *(BROKEN, LOST, Outcome(status=Status.SOURCE_BROKEN, stage="source"), bad(SHAPE, flaky=True)),
)
"""They include a predicted failure, an unsupported target, and outcomes without an answer."""


def name_of(release: str, torch: bool) -> BuiltEnv:
    return env(
        release,
        name=f"triton-{release}{'-torch-2' if torch else ''}",
        torch="2.0.0" if torch else None,
    )


@st.composite
def outcomes_by_env(draw: st.DrawFn) -> list[tuple[BuiltEnv, Outcome]]:
    """Some releases, each in one env or in two that may disagree, and sometimes a fork."""
    rows = []
    for release in draw(st.lists(st.sampled_from(LINE), min_size=1, unique=True)):
        envs = draw(st.sampled_from([(False,), (False,), (True,), (False, True)]))
        rows += [(name_of(release, torch), draw(st.sampled_from(OUTCOMES))) for torch in envs]
    if draw(st.integers(0, 3)) == 0:
        rows.append((env("3.2.0+ours", name="ours"), draw(st.sampled_from(OUTCOMES))))
    return draw(st.permutations(rows))


def results(rows: Sequence[tuple[BuiltEnv, Outcome]]) -> list[Result]:
    return [result(outcome, built) for built, outcome in rows]


def bisected(
    rows: Sequence[tuple[BuiltEnv, Outcome]],
    earlier: Sequence[Result],
    existing: Sequence[Version],
    **how: Any,
) -> ReleaseAnswer:
    """The answer of a bisection that tries these envs. ``rows`` has the outcome of each."""
    results_by_env = {result.cell.env.name: result for result in results(rows)}

    def run(
        cells: Sequence[Cell], context: RunContext, on_result: Callable[[Result], None], _: object
    ) -> tuple[Result, ...]:
        return tuple(results_by_env[cell.env.name] for cell in cells)

    def obtain(envs: Sequence[Env]) -> list[BuiltEnv]:
        return [results_by_env[env.name].built for env in envs]

    candidates = from_envs([built.env for built, _ in rows], Path("matrix.toml"))
    existing = existing if candidates.published else ()
    context = RunContext(
        envs={}, store=cast(Any, None), limits=Limits(deadline=1, memory=1), slots=2
    )
    release_search = ReleaseSearch(
        candidates=candidates.chosen,
        criterion=parse_criterion("ok"),
        existing=tuple(existing),
        **how,
    )
    with patch.object(releases, "run", run):
        (answer,) = search_releases(
            [(spec(), TARGETS[1])], release_search, context, obtain, recall=lambda _: earlier
        )
    return answer


def facts(account: Account) -> tuple[object, ...]:
    """All facts of an account."""
    return (
        *(
            account.word,
            account.release,
            account.phrase,
            account.bracket,
            account.since,
            account.brackets,
            account.intervals,
        ),
        *(
            account.changes,
            account.line,
            account.not_tried,
            account.untested_releases,
            account.flaky,
            account.remembered_releases,
        ),
    )


def judged(
    rows: Sequence[tuple[BuiltEnv, Outcome]], earlier: Sequence[Result], existing: Sequence[Version]
) -> Verdict:
    (verdict,) = verdicts(results(rows), remembered=earlier, existing={"triton": existing})
    return verdict


@given(outcomes_by_env(), st.booleans())
@settings(max_examples=3 * settings().max_examples)
def test_bisection_of_all_releases_gives_the_account_of_the_matrix(
    rows: list[tuple[BuiltEnv, Outcome]], complete: bool
) -> None:
    existing = () if complete else tuple(map(Version, LINE))
    answer, verdict = bisected(rows, (), existing), judged(rows, (), existing)
    assert facts(answer.account) == facts(verdict)
    assert (answer.bracket.bracket if answer.bracket else None) == verdict.bracket


@given(outcomes_by_env(), outcomes_by_env())
@settings(max_examples=2 * settings().max_examples)
def test_bisection_and_matrix_agree_on_results_of_earlier_runs(
    rows: list[tuple[BuiltEnv, Outcome]], before: list[tuple[BuiltEnv, Outcome]]
) -> None:
    """Only earlier results in the range of the bisection count, because it covers no others."""
    places = [LINE.index(str(built.release)) for built, _ in rows if "+" not in str(built.release)]
    if not places:
        return
    inside = LINE[min(places) : max(places) + 1]
    env_names = {built.env.name for built, _ in rows}
    earlier = results(
        [
            (built, outcome)
            for built, outcome in before
            if str(built.release) in inside and built.env.name not in env_names
        ]
    )
    earlier = [
        result for result in earlier if result.outcome.status.is_answer
    ]  # the store keeps nothing else
    existing = tuple(map(Version, LINE))
    assert facts(bisected(rows, earlier, existing).account) == facts(
        judged(rows, earlier, existing)
    )


def test_release_tested_earlier_outside_the_search_is_not_untested() -> None:
    old, newer, newest = LINE[0], LINE[-2], LINE[-1]
    rows = [(name_of(release, False), OK) for release in (newer, newest)]
    existing = tuple(map(Version, LINE))
    earlier = results([(name_of(old, False), OK)])
    assert old in bisected(rows, (), existing).not_tried
    answer = bisected(rows, earlier, existing)
    assert answer.not_tried == tuple(LINE[1:-2])
    assert old not in [probe.release for probe in answer.probes]
    lost = results([(name_of(old, False), evolve(OK, status=Status.LOST))])
    assert old in bisected(rows, lost, existing).not_tried


@given(outcomes_by_env(), st.data())
@settings(max_examples=3 * settings().max_examples)
def test_search_of_few_releases_never_contradicts_its_probes(
    rows: list[tuple[BuiltEnv, Outcome]], data: st.DataObject
) -> None:
    candidates = from_envs([built.env for built, _ in rows], Path("matrix.toml")).chosen
    places = st.one_of(st.none(), st.integers(0, len(candidates) - 1))
    ends = {"good": data.draw(places), "bad": data.draw(places), "fixed": data.draw(st.booleans())}
    answer, truth = bisected(rows, (), (), every=False, **ends), judged(rows, (), ())
    true_entries = {entry.release: entry for entry in truth.entries}
    tested = {probe.release for probe in answer.probes}
    for entry in answer.account.entries:
        assert entry.tested is (entry.release in tested)
        if entry.tested:
            assert (entry.judgement, entry.behaviour) == (
                true_entries[entry.release].judgement,
                true_entries[entry.release].behaviour,
            )
    assert (
        truth.word is Word.UNKNOWN
        or not answer.account.known_entries
        or _possible(answer.account, truth)
    )
    for first, last in answer.assumed:
        assert not tested & set(
            answer.searched[answer.searched.index(first) : answer.searched.index(last) + 1]
        )
    for change in answer.transitions:
        assert {change.before.release, change.after.release} <= tested
        assert not any(
            true_entries[release].is_known for release in change.untested if release in tested
        )


def _possible(account: Account, truth: Account) -> bool:
    """Whether the word is true for the releases that were tried.

    Releases that the search did not try may contradict it.
    """
    account_releases = [entry.release for entry in account.known_entries]
    good = [
        entry.judgement is Judgement.GOOD
        for entry in truth.known_entries
        if entry.release in account_releases
    ]
    turns = sum(one is not other for one, other in pairwise(good))
    steady = {
        Word.WORKS: all(good),
        Word.NEVER: not any(good),
        Word.UNSUPPORTED: not any(good),
        Word.UNKNOWN: not good,
    }
    return steady.get(account.word, turns > 0)
