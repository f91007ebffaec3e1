"""How the time of a compile grows with a setting, as text and as data."""

from __future__ import annotations

from collections.abc import Iterator

from compat.bisect.answers import GrowthAnswer
from compat.history.growth import Growth, SettingGrowth, roughly
from compat.text import JsonObject

_PARTS = 3
"""The number of slowest parts of a compile in a row."""


def growth_lines(growth: SettingGrowth) -> Iterator[str]:
    """A line for each value: its outcome, its time, and the slowest stages."""
    for size, outcome in sorted(growth.outcomes.items()):
        total = outcome.compile_seconds
        parts = sorted(outcome.stages.items(), key=lambda part: -part[1])[:_PARTS]
        where = ", ".join(
            f"{stage} {roughly(seconds)}"
            for stage, seconds in parts
            if total and seconds > total / 20
        )
        took = "" if total is None else f", {roughly(total)}" + (f" ({where})" if where else "")
        yield f"{growth.setting}={size}: {outcome.status}{took}"


def growth_document(answer: GrowthAnswer) -> JsonObject:
    """The answer as JSON values."""
    return {
        "sentence": answer.sentence,
        "settings": [_setting(growth) for growth in answer.growths],
        "ended": str(answer.end),
    }


def _setting(growth: SettingGrowth) -> JsonObject:
    compiles = [
        {
            "size": size,
            "status": str(outcome.status),
            "compile_seconds": outcome.compile_seconds,
            "stages": dict(outcome.stages),
        }
        for size, outcome in sorted(growth.outcomes.items())
    ]
    parts = {name: _fit_document(part) for name, part in growth.parts.items() if part.grows}
    return {
        "setting": growth.setting,
        **_fit_document(growth.total),
        "compiles": compiles,
        "parts": parts,
    }


def _fit_document(growth: Growth) -> JsonObject:
    return {
        "law": str(growth.law),
        "rate": growth.best.rate,
        "low": growth.low,
        "high": growth.high,
    }
