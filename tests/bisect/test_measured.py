"""Judges of numbers and latencies of kernels that ran.

They judge one result at a time, and results along the releases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from compat.bisect import releases
from compat.bisect.answers import ReleaseAnswer
from compat.bisect.bisecting import Bisection
from compat.bisect.criterion import parse_criterion
from compat.bisect.judging import criteria
from compat.bisect.request import Axis
from compat.engine.run import RunContext
from compat.history.account import Judgement, Word
from compat.model import Check, Latency, Numbers, Outcome, Problem, Result, Status
from compat.report.views.bisect import BisectReport, bisect_document
from compat.report.views.bisect_sentences import headline, remarks
from tests.bisect.invented import Invented
from tests.records import OK, SHAPE, bad, result, spec
from tests.together import for_each

G, B, U = Judgement.GOOD, Judgement.BAD, Judgement.UNKNOWN
DEVICE = "NVIDIA H200"


def gpu(status: Status, **facts: Any) -> Numbers:
    return Numbers(
        gpu=evolve(Check(status=status, launches=30, differing=0, device=DEVICE), **facts)
    )


def interpreted(status: Status) -> Numbers:
    return Numbers(interpreter=Check(status=status))


def latency(us: float, baseline: float | None = None, device: str = DEVICE) -> Latency:
    return Latency(
        us=us,
        spread=0.1,
        baseline_us=baseline,
        ratio=us / baseline if baseline else None,
        device=device,
    )


@for_each(
    ("text", "numbers", "expected"),
    [
        ("wrong", gpu(Status.OK), G),
        ("wrong", gpu(Status.WRONG), B),
        ("wrong", gpu(Status.UNSTABLE), B),
        ("wrong", gpu(Status.FAULTED), B),
        ("wrong", gpu(Status.LAUNCH_REFUSED), U),
        ("wrong", gpu(Status.TIMED_OUT), U),
        ("wrong", Numbers(), U),
        ("wrong", interpreted(Status.OK), G),
        ("wrong", interpreted(Status.WRONG), B),
        ("wrong", interpreted(Status.UNSUPPORTED), U),
        (
            "wrong",
            Numbers(interpreter=Check(status=Status.OK), gpu=Check(status=Status.TIMED_OUT)),
            U,
        ),
        ("wrong", Numbers(interpreter=Check(status=Status.WRONG), gpu=Check(status=Status.OK)), B),
        ("unstable", gpu(Status.OK), G),
        ("unstable", gpu(Status.WRONG), G),
        ("unstable", gpu(Status.UNSTABLE), B),
        ("unstable", gpu(Status.WRONG, differing=3), B),
        ("unstable", gpu(Status.FAULTED), U),
        ("unstable", gpu(Status.UNSUPPORTED), G),
        ("unstable", gpu(Status.UNSUPPORTED, launches=None, differing=None), U),
        ("unstable", interpreted(Status.OK), U),
    ],
)
def test_numbers(text: str, numbers: Numbers, expected: Judgement) -> None:
    assert parse_criterion(text)(result(OK, numbers=numbers)) is expected


@for_each(
    ("text", "timing", "expected"),
    [
        ("latency>80", latency(81), B),
        ("latency>80", latency(80), G),
        ("latency >= 80", latency(80), B),
        ("latency<80", latency(79), B),
        ("latency>80", None, U),
        ("latency>1.2*baseline", latency(130, 100), B),
        ("latency > 1.2 * baseline", latency(120, 100), G),
        ("latency>baseline", latency(101, 100), B),
        ("latency>1.2*baseline", latency(130), U),
        ("latency>1.2*previous", latency(130), U),
        ("best>80", latency(81), B),
        ("best>1.2*baseline", latency(120, 100), G),
        ("staying>1.2", latency(121, 100), B),
        ("staying>1.2", latency(120, 100), G),
        ("staying>1.2", None, U),
    ],
)
def test_latency(text: str, timing: Latency | None, expected: Judgement) -> None:
    assert parse_criterion(text)(result(OK, latency=timing)) is expected


def test_cell_that_did_not_compile_is_inconclusive() -> None:
    assert parse_criterion("wrong")(result(bad(SHAPE))) is U


@for_each(
    "text",
    [
        *("wrong", "unstable", "latency>80", "latency>1.2*baseline", "latency>=1.2*previous"),
        *("best>80", "best>1.1*previous", "staying>1.2"),
    ],
)
def test_judges_keep_their_text(text: str) -> None:
    assert parse_criterion(text).text == text


def along(text: str, *latencies: Latency | None) -> list[Judgement]:
    """The judgements of consecutive releases."""
    results = [
        result(OK, f"3.{number}.0", latency=latency) for number, latency in enumerate(latencies)
    ]
    of_cell = criteria(results, parse_criterion(text))
    return [of_cell[cell_result.cell](cell_result) for cell_result in results]


class TestPrevious:
    def test_slower_releases_are_bad_until_one_is_as_fast_again(self) -> None:
        assert along("latency>1.2*previous", *map(latency, (156, 300, 299, 160, 150))) == [
            G,
            B,
            B,
            G,
            G,
        ]

    def test_releases_that_stay_slower_are_all_bad(self) -> None:
        assert along("latency>1.2*previous", *map(latency, (100, 154, 160, 158))) == [G, B, B, B]

    def test_unmeasured_releases_are_skipped(self) -> None:
        assert along("latency>1.2*previous", None, latency(100), None, latency(130)) == [U, G, U, B]

    def test_latency_of_another_device_is_inconclusive(self) -> None:
        assert along(
            "latency>1.2*previous", latency(100), latency(300, device="NVIDIA A100"), latency(101)
        ) == [G, U, G]
        assert along(
            "latency>1.2*previous", latency(100), latency(50, device="NVIDIA A100"), latency(130)
        ) == [G, U, B]

    def test_judge_can_ask_for_faster_releases(self) -> None:
        assert along("latency<0.8*previous", *map(latency, (834, 547, 403))) == [G, B, B]


def test_interpreter_alone_is_not_good_if_another_release_was_launched() -> None:
    numbers = [interpreted(Status.OK), gpu(Status.OK), interpreted(Status.WRONG)]
    results = [
        result(OK, f"3.{number}.0", numbers=measurement)
        for number, measurement in enumerate(numbers)
    ]
    of_cell = criteria(results, parse_criterion("wrong"))
    assert [of_cell[cell_result.cell](cell_result) for cell_result in results] == [U, G, B]


class TestBisect:
    def search(
        self,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
        criterion: str,
        measurements: Mapping[str, tuple[Numbers, Latency | None]],
        problem: bool = True,
    ) -> ReleaseAnswer:
        def numbered(results: Sequence[Result], *_: object) -> tuple[Result, ...]:
            rows = [
                (result, *measurements.get(str(result.cell.env.release), (Numbers(), None)))
                for result in results
            ]
            return tuple(
                evolve(result, numbers=numbers, latency=us) for result, numbers, us in rows
            )

        monkeypatch.setattr(releases, "with_numbers", numbered)
        outcomes: dict[str, Outcome] = dict.fromkeys(("3.0.0", "3.1.0", "3.2.0", "3.3.0"), OK)
        (answer,) = Invented(monkeypatch, tmp_path, outcomes).search(criterion=criterion)
        if problem:
            answer = evolve(
                answer,
                spec=evolve(
                    answer.spec, problem=Problem(source="/p.py", function="p", dtype="fp16")
                ),
            )
        return answer

    def test_answer_names_the_release_that_fixed_the_numbers(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        wrong, right = gpu(Status.UNSTABLE, max_abs=0.5, differing=28), gpu(Status.OK)
        measurements = {
            "3.0.0": (wrong, None),
            "3.1.0": (wrong, None),
            "3.2.0": (right, None),
            "3.3.0": (right, None),
        }
        answer = self.search(monkeypatch, tmp_path, "wrong", measurements)
        assert answer.account.word is Word.FIXED
        assert (
            headline(answer)
            == "judged by `wrong`: Last bad 3.1.0, first good 3.2.0: unstable, 28 of 30 launches"
            " differ → ok, on NVIDIA H200."
        )
        bisection = Bisection(axis=Axis.RELEASES, releases=(answer,))
        (document,) = bisect_document(BisectReport(bisection=bisection, command=""))
        assert [probe["ran"] for probe in document["probes"]] == [
            *["unstable, 28 of 30 launches differ"] * 2,
            "ok",
            "ok",
        ]

    def test_answer_names_the_release_that_became_slower(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        measurements = {
            release: (gpu(Status.OK), latency(us))
            for release, us in (("3.0.0", 155), ("3.1.0", 156), ("3.2.0", 300.4))
        }
        answer = self.search(monkeypatch, tmp_path, "latency>1.2*previous", measurements)
        assert (
            headline(answer)
            == "judged by `latency>1.2*previous`: Last good 3.1.0, first bad 3.2.0: 156 → 300.4 µs,"
            " on NVIDIA H200."
        )
        assert remarks(answer, fixed=False)[0] == "Inconclusive: 3.3.0 (not launched)."
        assert remarks(answer, fixed=False)[1].startswith(
            "To launch the others: `compat build --target TARGET --out DIR`"
        )

    def test_answer_without_numbers_says_how_to_get_them(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        text = headline(self.search(monkeypatch, tmp_path, "wrong", {}))
        assert text.startswith(
            "judged by `wrong`: inconclusive: no release has the numbers that the judge asks for."
            " `compat build --target"
        )

    def test_answer_says_that_the_kernel_file_has_no_problem(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        text = headline(self.search(monkeypatch, tmp_path, "wrong", {}, problem=False))
        assert "its kernel file has no [problem]" in text
        assert spec().problem is None


def test_numbered_keeps_results_that_have_no_numbers_in_the_store(tmp_path: Path) -> None:
    from compat.bisect.judging import with_numbers
    from compat.store.store import Store
    from compat.workers.attempt import Limits

    with Store(tmp_path) as store:
        context = RunContext(envs={}, store=store, limits=Limits(deadline=1, memory=1))
        results = (result(OK),)
        assert with_numbers(results, parse_criterion("ok"), context) == results
        assert with_numbers(results, parse_criterion("wrong"), context) == results
