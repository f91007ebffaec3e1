"""A slow kernel stays slow while it gets smaller."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.bisect.criterion import Criterion, parse_criterion
from compat.bisect.measures import TakesLonger
from compat.bisect.timing import in_seconds, with_passes
from compat.bundle.bundle import bundle
from compat.engine.run import run
from compat.errors import SelectionError
from compat.model import BuiltEnv
from compat.reduce import Candidate, extract_functions
from compat.reduce.interestingness import InterestingnessTest, requirement_of
from compat.reduce.numbers import refuse_latency
from compat.store.store import Store
from tests.cells import cell, context_of
from tests.reduce.real import LIMITS

UNROLLED: dict[str, Any] = {
    "signature": {"source": "*fp32", "result": "*fp32"},
    "constexprs": {"N": 64},
}


def test_a_judge_that_compares_releases_is_refused() -> None:
    with pytest.raises(SelectionError, match="it compares releases"):
        refuse_latency(parse_criterion("stage.ttgir.cpu>1.5*previous"))
    refuse_latency(parse_criterion("stage.ttgir.cpu>0.5*baseline"))


@pytest.mark.wheels
@pytest.mark.parametrize("what", ["stage.ttgir.cpu", "pass.coalesce.cpu"])
def test_candidates_must_take_a_fraction_of_the_kernels_time(
    built: Callable[[str], BuiltEnv], tmp_path: Path, what: str
) -> None:
    env = built("triton-3.1.0")
    subject = cell(env, "slow", "unrolled", **UNROLLED)
    with Store(tmp_path / "store") as store:
        context = context_of(store, env)
        question = parse_criterion(f"{what}>0.4*baseline").question
        assert isinstance(question, TakesLonger)
        seconds_question = in_seconds(question, subject, context)
        assert not seconds_question.of
        assert 0.01 < seconds_question.number < 5
        (result,) = run([subject], context)
        if seconds_question.of_pass is not None:
            (result,) = with_passes([result], context)
        requirement = requirement_of(result, Criterion(question=seconds_question), LIMITS)
        start = Candidate.of(subject.spec, extract_functions(bundle(subject.spec).text, "unrolled"))
        quick = Candidate.of(subject.spec, start.text.replace("tl.static_range(N)", "range(N)"))
        brief = Candidate.of(
            subject.spec, start.text.replace("tl.static_range(N)", "tl.static_range(N // 8)")
        )
        plain = Candidate.of(subject.spec, start.text.replace(" * i", ""))
        stop = threading.Event()
        with InterestingnessTest(
            subject.spec, subject.target, [requirement], slots=1, stop=stop, context=context
        ) as test:
            assert test([start, quick, brief, plain]) == [True, False, False, True]
