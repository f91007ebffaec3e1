"""The outcome of a changed specialization compared with the original failure; and how a sentence lists several things."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Fate(StrEnum):
    """The outcome of a changed specialization compared with the original failure."""

    OK = "ok"
    SAME = "same"
    """It fails the same way."""
    UNKNOWN = "inconclusive"
    """It fails differently, or there is no answer: inconclusive."""


def listed(words: Iterable[str]) -> str:
    """Words as a sentence lists them: ``4, 8 and 16``."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
