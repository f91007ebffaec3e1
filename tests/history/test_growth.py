"""The growth that points show: its law, its band, and the sentence about it."""

from __future__ import annotations

import random

import pytest
from attrs import evolve

from compat.history.growth import Growth, GrowthPoint, Law, SettingGrowth, fit, roughly
from compat.model import Outcome, Status
from tests.records import OK
from tests.together import for_each


def points(law: object, sizes: tuple[int, ...] = (32, 64, 128, 256, 512)) -> list[GrowthPoint]:
    assert callable(law)
    return [GrowthPoint(size=size, seconds=law(size)) for size in sizes]


@for_each("power", [1, 1.5, 2, 3, 4])
@for_each("base", [0.0, 0.2])
@for_each("sizes", [(32, 64, 128, 256, 512), (100, 150, 225, 340, 500, 750), (64, 128, 256, 512)])
def test_power_law_is_found_with_and_without_a_constant_base(
    power: float, base: float, sizes: tuple[int, ...]
) -> None:
    growth = fit(points(lambda n: base + 0.08 * (n / sizes[0]) ** power, sizes))
    assert growth.law is Law.POWER
    assert growth.best.rate == pytest.approx(power, abs=0.25)
    goal = 4 * sizes[-1]
    span = growth.at(goal)
    assert span is not None
    assert span.middle == pytest.approx(base + 0.08 * (goal / sizes[0]) ** power, rel=0.4)


@for_each("seed", range(20))
def test_band_roughly_contains_the_next_size_despite_noise(seed: int) -> None:
    chance = random.Random(seed)
    growth = fit(points(lambda n: (0.1 + 0.1 * (n / 64) ** 3) * chance.uniform(0.95, 1.05)))
    span = growth.at(1024)
    assert span is not None
    assert span.low * 0.8 < 0.1 * 16**3 < span.high * 1.25


def test_doubling_with_each_step_is_an_exponential() -> None:
    growth = fit(points(lambda n: 0.05 * 2**n, (1, 2, 3, 4, 6, 8)))
    assert growth.law is Law.EXPONENTIAL
    assert growth.law_text("DEPTH") == "doubles with every 1 of DEPTH"
    span = growth.at(12)
    assert span is not None
    assert span.middle == pytest.approx(0.05 * 2**12, rel=0.1)


@for_each(
    ("seconds", "law"),
    [
        ((0.2, 0.21, 0.19), Law.FLAT),
        ((0.001, 0.002, 0.004, 0.016), Law.FLAT),
        ((0.2, 0.8), Law.UNKNOWN),
        ((), Law.UNKNOWN),
        ((0.2, 0.8, 3.2), Law.POWER),
    ],
)
def test_law_is_flat_without_growth_and_unknown_with_too_few_points(
    seconds: tuple[float, ...], law: Law
) -> None:
    growth = fit(
        [GrowthPoint(size=64 << step, seconds=duration) for step, duration in enumerate(seconds)]
    )
    assert growth.law is law
    assert (growth.at(4096) is None) is (law is Law.UNKNOWN)


def test_durations_are_rounded_to_common_units() -> None:
    texts = [
        roughly(seconds) for seconds in (0.0432, 3.14, 46.8, 420, 10_000, 20_000, 400_000, 1e12)
    ]
    assert texts == ["0.043 s", "3.1 s", "47 s", "7 min", "2.8 h", "5.6 h", "5 days", "years"]


# --- growth of outcomes ---------------------------------------------------------------------------


def took(**stages: float) -> Outcome:
    return evolve(OK, stages=stages)


CUBIC = {n: took(ttir=0.1, ttgir=0.2 + (n / 64) ** 3 / 5, llir=n / 640) for n in (32, 64, 128, 256)}
STOPPED = evolve(took(ttir=0.1, ttgir=57.0), status=Status.TIMED_OUT)


def test_sentence_names_the_slowest_stage() -> None:
    sentence = SettingGrowth.of("N", CUBIC).sentence(2048)
    assert sentence.startswith("slow, not stuck: stage ttgir grows as N^3.0 (")
    assert "13 s at 256, about " in sentence


def test_sentence_names_a_pass_that_takes_most_of_its_stage() -> None:
    timed = {
        n: evolve(outcome, metrics={"passes": {"coalesce": (n / 64) ** 3 / 5, "cse": 0.1}})
        for n, outcome in CUBIC.items()
    }
    assert (
        SettingGrowth.of("N", timed)
        .sentence(2048)
        .startswith("slow, not stuck: coalesce, in stage ttgir, grows as N^3.0")
    )


def test_stopped_compile_is_slow_if_its_growth_explains_the_time() -> None:
    assert (
        SettingGrowth.of("N", CUBIC | {512: STOPPED}).sentence(512).startswith("slow, not stuck: ")
    )


def test_compile_that_is_stopped_long_after_its_estimate_may_be_stuck() -> None:
    quick = {n: took(ttgir=n / 500) for n in (32, 64, 128, 256)}
    assert (
        SettingGrowth.of("N", quick | {512: STOPPED})
        .sentence(512)
        .endswith(
            "512 took 57 s until it was stopped, more than this growth explains: it may be stuck"
        )
    )


def test_sentence_predicts_nothing_without_growth() -> None:
    flat = {n: took(ttgir=0.2) for n in (32, 64, 128, 256)}
    assert (
        SettingGrowth.of("N", flat).sentence(2048)
        == "compiling does not grow with N: 0.2 s at 32, 0.2 s at 64, 0.2 s at 128, 0.2 s at 256"
    )
    assert SettingGrowth.of("N", flat | {512: STOPPED}).sentence(512).endswith("; stopped at 512")
    assert not SettingGrowth.of("N", {}).grows
    assert Growth(points=(), law=Law.UNKNOWN).at(8) is None


def stopped(stage: str, **stages: float) -> Outcome:
    return evolve(OK, status=Status.TIMED_OUT, stage=stage, stages=stages, metrics={})


def ended(**stages: float) -> Outcome:
    return evolve(OK, stages=stages, metrics={"shared": 0})


def test_curve_is_not_below_the_time_of_a_stopped_compile() -> None:
    seconds = {32: 0.16, 64: 0.52, 128: 2.7}
    outcomes = {size: ended(mlir=duration) for size, duration in seconds.items()}
    alone = SettingGrowth.of("CHAIN", outcomes).parts["mlir"]
    bounded = SettingGrowth.of("CHAIN", {**outcomes, 256: stopped("mlir", mlir=24.0)}).parts["mlir"]
    for growth, least in ((alone, 0.0), (bounded, 24.0)):
        span = growth.at(256)
        assert span is not None
        assert span.low >= least * 0.999
    assert bounded.best.rate > alone.best.rate
    far = bounded.at(2048)
    assert far is not None
    assert far.low <= far.middle <= far.high
