"""The outcomes that a reduction preserves, and its report of those that it could not preserve."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve
from packaging.version import Version

from compat.bisect.criterion import parse_criterion
from compat.model import Outcome, Result, Status
from compat.project import read_matrix
from compat.reduce.interestingness import expectations_of
from compat.reduce.original import (
    Goal,
    ReductionSubject,
    differences,
    newest_first,
    releases_without_env,
)
from tests import records
from tests.cells import cell
from tests.records import TARGETS, env, failure, spec
from tests.reduce.real import LIMITS


def result(release: str, status: str = "ok", kind: str = "", flaky: bool = False) -> Result:
    outcome = Outcome(
        status=Status(status),
        stage="ast",
        failure=failure(kind, stage="ast") if kind else None,
        flaky=flaky,
        seconds=0.1,
    )
    return records.result(outcome, release, spec=cell(env(release), "faces", "fine").spec)


BAD = result("3.3.1", "crashed", "compiler-assert")
REST = [
    result("3.0.0", "rejected", "api-missing"),
    result("3.1.0"),
    result("3.2.0"),
    result("3.4.0", "timed_out", "timeout"),
    result("3.5.1", flaky=True),
    result("3.6.0", "lost"),
    result("3.8.0"),
    result("3.9.0"),
]


def goal() -> Goal:
    return Goal.of([BAD], [], list(reversed(REST)), parse_criterion("same-failure"), LIMITS)


def test_the_outcome_of_every_release_with_an_answer_must_stay() -> None:
    existing = list(map(Version, ("3.0.0", "3.1.0", "3.2.0", "3.3.1", "3.4.0", "3.8.0", "3.9.0")))
    assert goal().lines(existing) == [
        "compiler-assert:1 on 3.3.1",
        "api-missing:1 on 3.0.0",
        "ok on 3.1.0–3.2.0, 3.8.0–3.9.0",
        "timeout:1 on 3.4.0",
    ]
    between = sorted([*existing, Version("3.1.1")])
    assert goal().lines(between)[2] == "ok on 3.1.0, 3.2.0, 3.8.0–3.9.0", "3.1.1 was not tried"
    assert [built.env.name for built, _ in goal().dropped_outcomes] == [
        "triton-3.5.1",
        "triton-3.6.0",
    ]


def test_every_candidate_is_tested_on_the_bad_release_and_its_neighbours() -> None:
    first, later = goal().tiers(1.0, 60.0)
    assert [requirement.built.env.name for requirement in first] == [
        "triton-3.3.1",
        "triton-3.2.0",
        "triton-3.8.0",
    ]
    assert [requirement.built.env.name for requirement in later] == [
        "triton-3.0.0",
        "triton-3.1.0",
        "triton-3.9.0",
    ], "what hangs waits for the end"
    reduction_goal = goal()
    reduction_goal.tested_envs.add("triton-3.4.0")
    assert "triton-3.4.0" in [
        requirement.built.env.name for requirement in reduction_goal.tiers(1.0, 60.0)[0]
    ], "unless it was seen to matter"


def test_the_wait_for_a_hanging_release_has_a_limit() -> None:
    reduction_goal = goal()
    reduction_goal.tested_envs.add("triton-3.4.0")
    for patience, deadline in ((1.0, 2.0), (2.0, 4.0), (5.0, 7.0)):
        (hanging,) = [
            requirement
            for requirement in reduction_goal.tiers(patience, 7.0)[0]
            if requirement.hangs
        ]
        assert hanging.limits.deadline == deadline
    assert [reduction_goal.may_wait_longer(patience, 7.0) for patience in (1.0, 3.0, 5.0)] == [
        True,
        True,
        False,
    ]


def test_the_named_release_is_never_dropped() -> None:
    reduction_goal = goal()
    assert not reduction_goal.drop("triton-3.3.1", "why")
    assert reduction_goal.drop("triton-3.1.0", "why")
    assert "3.1.0" not in reduction_goal.lines([])[2]
    assert [(built.env.name, why) for built, why in reduction_goal.dropped_outcomes][-1] == (
        "triton-3.1.0",
        "why",
    )


def test_releases_with_a_different_outcome_are_listed() -> None:
    before = [BAD, *REST]
    assert differences(before, before) == [
        d for d in differences(before, before) if d.before.outcome.flaky
    ]
    after = [
        evolve(cell_result, outcome=REST[0].outcome) if cell_result is REST[1] else cell_result
        for cell_result in before[:4]
    ]
    assert [difference.text for difference in differences(before, after)] == [
        "3.1.0: rejected (api-missing), the original ok"
    ]
    assert [difference.text for difference in differences(before, [REST[1]])] == []


def test_releases_with_the_same_outcome_are_declared_together() -> None:
    expectations = expectations_of(
        [
            BAD,
            *REST,
            result("3.3.0", "crashed", "compiler-assert"),
            result("3.7.0", "crashed", "compiler-assert"),
        ]
    )
    assert [
        (str(expectation.releases), expectation.status, expectation.failure_class)
        for expectation in expectations
    ] == [
        ("==3.0.0", Status.REJECTED, "api-missing"),
        ("<=3.3.1,>=3.3.0", Status.CRASHED, "compiler-assert"),
        ("==3.4.0", Status.TIMED_OUT, "timeout"),
        ("==3.7.0", Status.CRASHED, "compiler-assert"),
    ]
    assert [
        cell_result.built.release for cell_result in newest_first([BAD, REST[0], REST[-1]])
    ] == [
        "3.9.0",
        "3.3.1",
        "3.0.0",
    ]


def test_runs_of_releases_without_an_env_cross_no_undeclared_release(tmp_path: Path) -> None:
    releases = ("3.1.0", "3.2.0", "3.4.0", "3.9.0")
    declared = ", ".join(f'{{ triton = "{release}" }}' for release in releases)
    (tmp_path / "matrix.toml").write_text(f"env = [{declared}]\n")
    subject = ReductionSubject(
        spec=spec(),
        target=TARGETS[1],
        bad=(env("3.9.0").env,),
        good=(),
        existing=tuple(Version(release) for release in (*releases[:2], "3.3.0", *releases[2:])),
    )
    assert releases_without_env(subject, read_matrix(tmp_path / "matrix.toml")) == (
        "3.1.0–3.2.0, 3.4.0"
    )
