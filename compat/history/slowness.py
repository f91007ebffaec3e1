"""Whether a compile is slow or stuck, as far as that can be told, and where its time goes. Pure.

It is slow where it took long and ended, or where the time of smaller ones grows so that it explains
the rest. It is stuck where it stood still: hardly any CPU time passed in the stage in which it was
stopped. A compile that computes for ever cannot be told from one that takes hours, unless smaller
ones tell.
"""

from __future__ import annotations

from collections.abc import Sequence

from compat.history.growth import SettingGrowth, roughly
from compat.history.sizes import value_of
from compat.model import LATER_STAGES, SOURCE_STAGE, Evidence, Outcome, Specialization, Status

SLOW = 10.0
"""CPU seconds of a compile from which on it is called slow."""
_STILL = 0.05
"""The share of CPU time in the time of a stage below which the stage stands still."""
_SHORTEST = 5.0
"""Seconds in a stage below which that says nothing."""


def slowness(
    spec: Specialization,
    outcome: Outcome,
    attempts: Sequence[Evidence],
    growths: Sequence[SettingGrowth],
) -> str | None:
    """The remarks on a slow compile, in a sentence without its full stop.

    It is ``None`` for a compile that did not take long.
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
        growth, own = max(growing, key=lambda pair: pair[0].whole.points[-1].seconds)
        sentence = growth.sentence(own)
        return (
            sentence
            if sentence.startswith("slow") or (stopped and sentence.endswith("stuck"))
            else f"slow: {sentence}"
        )
    if not stopped:
        return f"slow, {_where(outcome)}"
    sentence = f"slow or stuck, not decided: it used CPU time all the while, {_where(outcome)}"
    return (
        sentence
        if outcome.stage == _longest(outcome)
        else f"{sentence}; stopped in {outcome.stage}"
    )


def _standing_still(evidence: Evidence) -> str | None:
    """That an attempt stood still, where it did."""
    inside, cpu = evidence.seconds - evidence.entered, evidence.stages.get(evidence.stage)
    if evidence.deadline is None or cpu is None or inside < _SHORTEST or cpu > _STILL * inside:
        return None
    return (
        f"stuck: in stage {evidence.stage} it used {roughly(cpu)} of CPU time in {roughly(inside)}"
    )


def _where(outcome: Outcome) -> str:
    """``in stage ttgir: 57 s of 59 s of CPU time``."""
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
    """The CPU seconds of a compile's stages, without what came before and after it."""
    return {
        name: seconds
        for name, seconds in outcome.stages.items()
        if name not in (SOURCE_STAGE, *LATER_STAGES)
    }
