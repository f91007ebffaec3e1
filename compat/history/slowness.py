"""Decide whether a compile is slow or stuck, and find the stage that takes its time. Pure.

A compile is slow if it took long and ended, or if the growth of smaller compiles explains its time.
It is stuck if it stood still: it used hardly any CPU time in the stage in which it was stopped. An
endless computation and a compile of hours look the same, unless smaller compiles show the
difference.
"""

from __future__ import annotations

from collections.abc import Sequence

from compat.history.growth import SLOW, SettingGrowth, roughly
from compat.history.sizes import value_of
from compat.model import LATER_STAGES, SOURCE_STAGE, Evidence, Outcome, Specialization, Status

_STILL = 0.05
"""A stage stands still if its CPU time is at most this share of its wall time."""
_SHORTEST = 5.0
"""The least seconds in a stage for that conclusion."""


def slowness(
    spec: Specialization,
    outcome: Outcome,
    attempts: Sequence[Evidence],
    growths: Sequence[SettingGrowth],
) -> str | None:
    """Return a sentence about a slow compile, without its full stop.

    Returns ``None`` for a compile that did not take long.
    """
    seconds = outcome.compile_seconds or 0.0
    stopped = outcome.status is Status.TIMED_OUT and outcome.stage != SOURCE_STAGE
    if not stopped and seconds < SLOW:
        return None
    if stopped and (
        still := next(
            (remark for evidence in attempts if (remark := _standing_still(evidence))), None
        )
    ):
        return still
    growing = [(growth, value_of(spec, growth.setting) or 1) for growth in growths if growth.grows]
    if growing:
        growth, own = max(growing, key=lambda pair: pair[0].total.points[-1].seconds)
        sentence = growth.sentence(own)
        return (
            sentence
            if sentence.startswith("slow") or (stopped and sentence.endswith("stuck"))
            else f"slow: {sentence}"
        )
    if not stopped:
        return f"slow, {_where(outcome)}"
    sentence = f"slow or stuck, not decided: it used CPU time, {_where(outcome)}"
    return (
        sentence
        if outcome.stage == _longest(outcome)
        else f"{sentence}; stopped in {outcome.stage}"
    )


def _standing_still(evidence: Evidence) -> str | None:
    """Return a sentence that says that an attempt stood still; ``None`` if it did not."""
    inside, cpu = evidence.seconds - evidence.entered, evidence.stages.get(evidence.stage)
    if evidence.deadline is None or cpu is None or inside < _SHORTEST or cpu > _STILL * inside:
        return None
    return (
        f"stuck: in stage {evidence.stage} it used {roughly(cpu)} of CPU time in {roughly(inside)}"
    )


def _where(outcome: Outcome) -> str:
    """Return the stage with the most CPU time, in words.

    An example is ``in stage ttgir: 57 s of 59 s of CPU time``.
    """
    compiling, longest = _compiling(outcome), _longest(outcome)
    return (
        f"in stage {longest}: {roughly(compiling.get(longest, 0.0))} of"
        f" {roughly(sum(compiling.values()))} of CPU time"
    )


def _longest(outcome: Outcome) -> str:
    """The stage that took the most CPU time."""
    compiling = _compiling(outcome)
    return max(compiling, key=lambda name: compiling[name], default=outcome.stage)


def _compiling(outcome: Outcome) -> dict[str, float]:
    """Return the CPU seconds of a compile's stages, without the stages before and after it."""
    return {
        name: seconds
        for name, seconds in outcome.stages.items()
        if name not in (SOURCE_STAGE, *LATER_STAGES)
    }
