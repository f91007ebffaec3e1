"""Comparisons of configs: the best by release, stretches, inversions, and the cost of staying."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from compat.model import Cell, Check, Latency, Numbers, Problem, Result, Specialization, Status
from compat.report.render.terminal import plain_text
from compat.report.views.tune import sentences, tune_blocks, tune_document, tune_markdown
from compat.tune.answers import Timing, TuningAnswer, answers_of
from compat.tune.configs import Config, Workload
from tests.records import OK, TARGETS, bad, env, failure

US = Sequence[float | None]


def workload(count: int) -> Workload:
    problem = Problem(source="/p.py", function="add", dtype="fp16")
    spec = Specialization(
        kernel="add", variant="loop", case="d64", source="/add.py", function="add", problem=problem
    )
    configs = (
        Config(settings={"num_warps": 2**power}, spec=evolve(spec, case=f"d64_w{2**power}"))
        for power in range(count)
    )
    return Workload(name="d64", cases=(spec,), configs=tuple(configs))


def answered(*rows: US, spread: float = 0.0) -> TuningAnswer:
    """Rows of microseconds, one for each config, of releases 3.0, 3.1, …"""
    return TuningAnswer(
        workload=workload(len(rows)),
        target="sm_90",
        device="H100",
        releases=tuple(f"3.{minor}.0" for minor in range(len(rows[0]))),
        envs=tuple(f"triton-3.{minor}.0" for minor in range(len(rows[0]))),
        timings={
            (config, release): (
                Timing(status=Status.WRONG)
                if us is None
                else Timing(status=Status.OK, latency=Latency(us=float(us), spread=spread))
            )
            for config, row in enumerate(rows)
            for release, us in enumerate(row)
        },
    )


INVERTED = answered([100, 100, 150, 150], [120, 120, 75, 75], [110, 110, 90, 90])


def test_answer_has_the_best_by_release_and_the_cost_of_staying() -> None:
    assert [INVERTED.best(release) for release in range(4)] == [0, 0, 1, 1]
    assert INVERTED.staying(0, 3) == 2.0
    assert INVERTED.staying(3, 0) == 1.2
    assert INVERTED.dearest() == (1, 2, 2.0)
    assert INVERTED.steadiest() == (1, 1.2)


def test_an_inversion_has_two_stretches() -> None:
    assert [(stretch.config, stretch.first, stretch.last) for stretch in INVERTED.stretches()] == [
        (0, 0, 1),
        (1, 2, 3),
    ]
    ((old, new),) = INVERTED.inversions()
    assert (old.last, new.first) == (1, 2)
    assert list(sentences(INVERTED)) == [
        "The optimum inverts between 3.1.0 and 3.2.0: num_warps=1 takes 2.00 times as long as the"
        " best on 3.2.0, and num_warps=2 takes 1.20 times as long as the best on 3.1.0.",
        "Staying costs the most from 3.1.0 to 3.2.0: the best config of 3.1.0 takes 2.00 times as"
        " long there as the best.",
        "num_warps=2 takes at most 1.20 times as long as the best config on every release.",
    ]


def test_new_best_config_that_was_as_good_before_is_not_an_inversion() -> None:
    answer = answered([100, 150], [100, 100])
    assert not list(answer.inversions())
    assert [(stretch.config, stretch.first, stretch.last) for stretch in answer.stretches()] == [
        (1, 0, 1)
    ]
    both_in_between = answered([100, 100, 150], [150, 100, 100])
    assert [stretch.config for stretch in both_in_between.stretches()] == [0, 1]
    assert not list(both_in_between.inversions())
    later = answered([100, 150, 150], [100, 100, 120], [130, 130, 100])
    assert [stretch.config for stretch in later.stretches()] == [1, 2]


def test_sentence_names_a_config_that_is_as_good_on_every_release() -> None:
    (sentence,) = sentences(answered([100, 100], [100.5, 100.5]))
    assert sentence == "num_warps=1 is as good as the best config on every release."


def test_a_release_on_which_even_the_best_is_slower_is_named() -> None:
    answer = answered([100, 105, 130, 110], [200, 200, 200, 200])
    assert list(answer.slower()) == [(2, 130 / 105)]
    assert "Even the best config takes 1.24 times as long on 3.2.0 as on 3.1.0." in sentences(
        answer
    )


def test_latencies_within_their_spread_or_one_percent_are_as_good() -> None:
    assert answered([100.0], [100.9]).is_as_good(1, 0)
    assert not answered([100.0], [101.1]).is_as_good(1, 0)
    assert answered([100.0], [104.0], spread=4.0).is_as_good(1, 0)
    timings = {
        (config, 0): Timing(status=Status.OK, latency=Latency(us=float(us), spread=spread))
        for config, (us, spread) in enumerate([(100.0, 4.0), (104.0, 0.1)])
    }
    assert evolve(answered([100.0], [104.0]), timings=timings).is_as_good(1, 0)


def test_config_that_is_wrong_on_a_release_is_not_the_steadiest() -> None:
    answer = answered([100, None], [300, 300])
    assert answer.steadiest() == (1, 3.0)
    assert answer.staying(0, 1) is None
    assert answered([100, None], [None, 300]).steadiest() is None
    ((old, new),) = answered([100, None], [None, 300]).inversions()
    assert (old.config, new.config) == (0, 1)
    texts = list(sentences(answered([100, None], [None, 300])))
    assert texts[0].startswith(
        "The optimum inverts between 3.0.0 and 3.1.0: num_warps=1 does not run right on 3.1.0,"
    )
    assert texts[-1] == "2 configs on 2 releases: 2 timed, 2 wrong."


@given(
    st.integers(1, 4).flatmap(
        lambda configs: st.lists(
            st.lists(st.floats(50, 200), min_size=configs, max_size=configs),
            min_size=1,
            max_size=6,
        )
    )
)
def test_stretches_cover_all_releases_and_are_as_few_as_possible(table: list[list[float]]) -> None:
    rows = [[release[config] for release in table] for config in range(len(table[0]))]
    answer = answered(*rows)
    stretches = answer.stretches()
    assert stretches[0].first == 0
    assert stretches[-1].last == len(table) - 1
    assert all(old.last + 1 == new.first for old, new in pairwise(stretches))
    for stretch in stretches:
        for release in range(stretch.first, stretch.last + 1):
            assert answer.is_as_good(stretch.config, release)
    assert len(stretches) == fewest(answer, len(table))
    assert all(answer.staying(release, release) == 1.0 for release in range(len(table)))


def fewest(answer: TuningAnswer, releases: int) -> int:
    """The number of stretches, by trying every end of the last one."""
    if not releases:
        return 0
    return 1 + min(
        fewest(answer, first)
        for first in range(releases)
        if any(
            all(answer.is_as_good(config, place) for place in range(first, releases))
            for config in range(len(answer.configs))
        )
    )


# --- measured on a GPU ----------------------------------------------------------------------------

MEASURED = json.loads((Path(__file__).parent / "measured.json").read_text())
"""Latencies of our kernels with all configs on all releases, on one H100 (``bench/results``)."""


def measured(name: str) -> TuningAnswer:
    table = MEASURED[name]
    configs = tuple(
        evolve(config, settings=row["settings"])
        for config, row in zip(
            workload(len(table["configs"])).configs, table["configs"], strict=True
        )
    )
    return TuningAnswer(
        workload=Workload(name="measured", cases=(configs[0].spec,), configs=configs),
        target="sm_90",
        device=table["device"],
        releases=tuple(table["releases"]),
        envs=tuple(table["releases"]),
        timings={
            (config, release): Timing(
                status=Status.OK if us is not None else Status.UNSTABLE,
                latency=None if us is None else Latency(us=us, spread=row["spread"][release]),
            )
            for config, row in enumerate(table["configs"])
            for release, us in enumerate(row["us"])
        },
    )


def inverted(answer: TuningAnswer) -> list[tuple[str, str, str, str]]:
    return [
        (
            answer.releases[old.last],
            answer.configs[old.config].label,
            answer.releases[new.first],
            answer.configs[new.config].label,
        )
        for old, new in answer.inversions()
    ]


def test_the_best_number_of_warps_of_a_layer_norm_inverts_twice() -> None:
    answer = measured("layer_norm/whole_row/n16384")
    assert inverted(answer) == [
        ("3.7.1", "num_warps=32", "3.8.0", "num_warps=4"),
        ("3.8.0", "num_warps=4", "3.9.0", "num_warps=16"),
    ]
    dearest = answer.dearest()
    assert dearest is not None
    old, new, cost = dearest
    assert (answer.releases[old], answer.releases[new], round(cost, 2)) == ("3.8.0", "3.9.0", 2.02)


def test_a_pipeline_is_worse_than_none_in_3_3() -> None:
    answer = measured("sel_varlen/broadcast_2d/few")
    two_stages, one_stage = "num_warps=4, num_stages=2", "num_warps=2, num_stages=1"
    assert inverted(answer) == [
        ("3.2.0", two_stages, "3.3.0", one_stage),
        ("3.3.1", one_stage, "3.4.0", two_stages),
    ]
    assert [str(timing.status) for timing in answer.timings.values()].count("unstable") == 2


# --- from results ---------------------------------------------------------------------------------


def result(
    config: Config,
    release: str,
    us: float | None,
    status: Status = Status.OK,
    device: str = "H100",
) -> Result:
    built = env(release)
    latency = None if us is None else Latency(us=us, spread=0.1, device=device)
    return Result(
        cell=Cell(env=built.env, target=TARGETS[1], spec=config.spec),
        built=built,
        outcome=OK,
        numbers=Numbers(gpu=Check(status=status, device=device)),
        latency=latency,
    )


def test_answers_come_from_results_in_the_order_of_releases() -> None:
    work = workload(3)
    first, second, third = work.configs
    results = [
        result(first, "3.10.0", 90.0),
        result(first, "3.9.0", 100.0),
        result(second, "3.9.0", None, Status.WRONG),
        evolve(
            result(third, "3.9.0", None), outcome=bad(failure("shared-memory")), numbers=Numbers()
        ),
        result(second, "3.8.0", None, Status.FAULTED),
    ]
    (answer,) = answers_of([work], results)
    assert answer.releases == ("3.9.0", "3.10.0")
    assert answer.subject == "add/loop/d64/sm_90"
    assert answer.device == "H100"
    statuses = {place: str(timing.status) for place, timing in answer.timings.items()}
    assert statuses == {(0, 0): "ok", (0, 1): "ok", (1, 0): "wrong", (2, 0): "rejected"}
    assert answers_of([work], results[2:]) == ()


def test_configs_are_compared_on_one_gpu() -> None:
    work = workload(3)
    first, second, third = work.configs
    results = [
        result(first, "3.9.0", 100.0),
        result(first, "3.9.0", None, Status.WRONG, "H200"),
        result(second, "3.9.0", 50.0, device="H200"),
        evolve(result(third, "3.9.0", None), numbers=Numbers()),
    ]
    on_h100, on_h200 = answers_of([work], results)
    assert (on_h100.device, on_h100.timed_configs, on_h100.best(0)) == ("H100", (0,), 0)
    assert (on_h200.device, on_h200.timed_configs, on_h200.best(0)) == ("H200", (1,), 1)
    assert list(sentences(on_h100)) == ["3 configs on 1 release: 1 timed, 2 not tested."]
    assert list(sentences(on_h200)) == [
        "3 configs on 1 release: 1 timed, 1 wrong and 1 not tested."
    ]


def test_latency_with_unstable_numbers_does_not_count() -> None:
    work = workload(2)
    results = [
        result(work.configs[0], "3.9.0", 10.0, Status.UNSTABLE),
        result(work.configs[1], "3.9.0", 20.0),
    ]
    (answer,) = answers_of([work], results)
    assert answer.best(0) == 1


# --- output ---------------------------------------------------------------------------------------

SHOWN = """\

add/loop/d64/sm_90 on H100
   config       best on
A  num_warps=1  3.0.0 to 3.1.0
B  num_warps=2  3.2.0 to 3.3.0

release  best µs     A     B
3.0.0      100.0  1.00  1.20
3.1.0      100.0  1.00  1.20
3.2.0       75.0  2.00  1.00
3.3.0       75.0  2.00  1.00

"""


def test_answer_is_shown_as_a_legend_a_table_and_sentences() -> None:
    text = plain_text(tune_blocks([INVERTED]))
    assert text.startswith(SHOWN)
    assert text[len(SHOWN) :].split("\n")[0].startswith("The optimum inverts between")
    lines = list(tune_markdown([INVERTED]))
    assert "| A | num_warps=1 | 3.0.0 to 3.1.0 |" in lines
    assert "| 3.2.0 | 75.0 | 2.00 | 1.00 |" in lines


def test_document_has_all_timings_and_costs() -> None:
    (answer,) = tune_document([INVERTED])["answers"]
    assert answer["staying"][0] == [1.0, 1.0, 2.0, 2.0]
    assert [release["best"] for release in answer["releases"]] == [0, 0, 1, 1]
    assert answer["releases"][2]["timings"][0] == {
        "status": "ok",
        "us": 150,
        "spread": 0.0,
        "cost": 2.0,
    }
    assert answer["inversions"] == [["3.1.0", "3.2.0"]]
    assert answer["steadiest"] == {"config": 1, "cost": 1.2}
