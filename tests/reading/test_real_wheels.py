"""A compile that prints much costs little time, and its important parts are kept.

The tests run on the oldest and the newest release.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compat.diagnosis import classify, symptoms
from compat.model import BuiltEnv, Evidence
from compat.store.store import Store
from compat.toolchains.triton.failures import KNOWLEDGE
from compat.workers.attempt import DIAGNOSTIC, Limits
from compat.workers.spawn import OwnWorker
from compat.workers.watch import attempt
from tests.cells import cell

pytestmark = pytest.mark.wheels

LIMITS = Limits(deadline=60, memory=4 << 30)
_ENOUGH = 6.0
"""Seconds of the driver's own CPU time that one attempt may take on a slow machine.

Some attempts took minutes.
"""


@pytest.fixture(scope="module", params=["triton-3.0.0", "triton-3.9.0"])
def env(request: pytest.FixtureRequest, built: Callable[[str], BuiltEnv]) -> BuiltEnv:
    return built(request.param)


@pytest.fixture(scope="module")
def server(env: BuiltEnv) -> Iterator[OwnWorker]:
    assert env.python is not None
    with OwnWorker(env.python) as started:
        yield started


def read_attempt(server: OwnWorker, env: BuiltEnv, function: str, folder: Path) -> Evidence:
    """The evidence of one attempt alone, after it was classified, stored and read back.

    All of this takes less than :data:`_ENOUGH` seconds of the driver's own CPU time.
    """
    own = cell(env, "talkative", function)
    with Store(folder) as store:
        before = time.process_time()
        ((_, evidence),) = attempt(
            server, [own], LIMITS, stop=threading.Event(), mode=DIAGNOSTIC, keep=store.keep
        )
        classify.classify([evidence], target=own.target, knowledge=KNOWLEDGE)
        store.write("k", own, (evidence,))
        assert store.read(["k"], deadline=0, memory=0) == {"k": (evidence,)}
        duration = time.process_time() - before
    assert duration < _ENOUGH
    return evidence


def test_one_long_word_is_cut_and_its_message_is_kept(
    server: OwnWorker, env: BuiltEnv, tmp_path: Path
) -> None:
    evidence = read_attempt(server, env, "word", tmp_path)
    assert evidence.raised[-1].message == "a word"
    assert len(evidence.stderr) < 10_000


@pytest.mark.parametrize("function", ["floods", "endless"])
def test_a_hundred_megabytes_of_output_are_cut(
    server: OwnWorker, env: BuiltEnv, tmp_path: Path, function: str
) -> None:
    evidence = read_attempt(server, env, function, tmp_path)
    assert len(evidence.stderr) <= 64 * 1024
    assert ("the last words" in evidence.stderr) is (function == "floods")
    assert "left out" in evidence.stderr


def test_a_message_of_eight_megabytes_keeps_its_beginning_and_its_end(
    server: OwnWorker, env: BuiltEnv, tmp_path: Path
) -> None:
    evidence = read_attempt(server, env, "long", tmp_path)
    (message,) = (link.message for link in evidence.raised if "the beginning" in link.message)
    assert message.startswith("the beginning\n")
    assert message.endswith("NameError('b_ps is not defined')")
    assert "8327" in message.replace(",", "") or "characters left out" in message
    assert len(message) <= 64 * 1024
    assert "b_ps is not defined" in symptoms.of(evidence, KNOWLEDGE.wording).message


def test_a_chain_of_five_hundred_exceptions_keeps_its_ends(
    server: OwnWorker, env: BuiltEnv, tmp_path: Path
) -> None:
    evidence = read_attempt(server, env, "chained", tmp_path)
    assert len(evidence.raised) <= 32
    assert evidence.raised[0].message == "link 499"
    assert evidence.raised[-1].message == "the innermost"


def test_invalid_metrics_are_left_out_and_the_answer_counts(
    server: OwnWorker, env: BuiltEnv, tmp_path: Path
) -> None:
    evidence = read_attempt(server, env, "odd_metrics", tmp_path)
    assert evidence.answered
    assert not isinstance(evidence.metrics.get("shared"), float)
