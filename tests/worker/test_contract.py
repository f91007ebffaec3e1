"""The driver's side of the contract, with servers that break it. The driver never answers ``ok``,
never hangs, and never ends in a traceback.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from compat.diagnosis.classify import classify
from compat.errors import UnknownAction
from compat.model import Cell, Env, Evidence, Status
from compat.toolchains.triton.failures import KNOWLEDGE
from compat.workers.attempt import Compile, Limits, Mode
from compat.workers.spawn import OwnWorker
from compat.workers.watch import attempt
from tests.cells import cell
from tests.targets import TARGETS
from tests.together import for_each

FAKE = Path(__file__).parent / "fake_worker.py"
LIMITS = Limits(deadline=1.0, memory=4 << 30, import_deadline=1.0)


def cells(count: int = 2) -> list[Cell]:
    return [
        cell(Env(name="fake"), "faces", "fine", constexprs={"BLOCK": 2**n}) for n in range(count)
    ]


def attempts(behaviour: str, count: int = 2) -> list[Evidence]:
    with OwnWorker(sys.executable, worker=FAKE, variables={"BEHAVIOUR": behaviour}) as server:
        assert server.hello.ready
        return [
            evidence
            for _, evidence in attempt(server, cells(count), LIMITS, stop=threading.Event())
        ]


def test_answers_of_a_worker_that_keeps_the_contract_count() -> None:
    assert [e.has_binary for e in attempts("well")] == [True, True]


@for_each(
    "behaviour",
    [
        "garbage",
        "silent_exit",
        "no_start",
        "wrong_nonce",
        "half_a_line",
        "done_is_no_object",
        "actions_are_text",
        "actions_are_names",
        "built_as_of_old",
        "binary",
        "never_ends",
    ],
)
def test_invalid_answer_counts_as_no_answer(behaviour: str) -> None:
    all_evidence = attempts(behaviour)
    assert len(all_evidence) == 2
    for evidence in all_evidence:
        assert not evidence.has_binary
        assert not evidence.answered
        assert evidence.protocol or evidence.exit_code == 0 or evidence.deadline


@pytest.mark.parametrize("behaviour", ["does_nothing", "does_something_else"])
def test_answer_without_the_requested_action_is_lost(behaviour: str) -> None:
    for evidence in attempts(behaviour):
        assert evidence.answered
        assert not evidence.complete
        outcome = classify([evidence], target=TARGETS["sm_90"], knowledge=KNOWLEDGE)
        assert outcome.status is Status.LOST


def test_answer_with_one_of_two_actions_is_lost() -> None:
    """A cell without an answer about its launch is not ``ok``, even if it compiled."""

    @frozen
    class Launch:
        do = "launch"

        def document(self) -> dict[str, Any]:
            return {"do": "launch"}

    both = Mode(actions=(Compile(), Launch()))  # type: ignore[arg-type]
    with OwnWorker(sys.executable, worker=FAKE, variables={"BEHAVIOUR": "does_half"}) as server:
        ((_, evidence),) = attempt(server, cells(1), LIMITS, stop=threading.Event(), mode=both)
    assert (evidence.requested, evidence.has_binary, evidence.complete) == (
        ("compile", "launch"),
        True,
        False,
    )
    assert classify([evidence], target=TARGETS["sm_90"], knowledge=KNOWLEDGE).status is Status.LOST


def test_worker_that_refuses_an_action_is_a_usage_error() -> None:
    with pytest.raises(UnknownAction, match="this worker does not support: launch"):
        attempts("refuses")


@pytest.mark.parametrize("behaviour", ["answers_twice", "garbage_between", "answers_for_the_next"])
def test_noise_around_right_answers_does_not_change_them(behaviour: str) -> None:
    all_evidence = attempts(behaviour)
    assert [(evidence.answered, evidence.has_binary) for evidence in all_evidence] == [
        (True, False),
        (True, True),
    ]


def test_later_success_does_not_replace_a_failure() -> None:
    first, *_ = attempts("fails_then_builds", count=1)
    assert (first.answered, first.has_binary) == (True, False)
    assert first.raised[0].type == "ValueError"


@pytest.mark.parametrize(
    "behaviour", ["server_exits", "server_says_nothing_sensible", "server_breaks"]
)
def test_server_that_never_gets_ready_is_not_alive(behaviour: str) -> None:
    with OwnWorker(sys.executable, worker=FAKE, variables={"BEHAVIOUR": behaviour}) as server:
        assert not server.hello.ready
        assert not server.alive


def test_a_server_that_dies_with_a_cell_in_flight_leaves_no_answer() -> None:
    all_evidence = attempts("server_dies", count=1)
    assert [(e.answered, e.has_binary, e.exit_code, e.signal) for e in all_evidence] == [
        (False, False, None, None)
    ]
