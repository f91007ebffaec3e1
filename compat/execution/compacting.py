"""Outcomes in few bytes, for runs of many cells: what many have alike stands in memory once. Pure."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar

from attrs import evolve

from compat.model import Compact, Failure, Outcome

_T = TypeVar("_T")


def compacted(outcome: Outcome) -> Outcome:
    """The same outcome."""
    return evolve(
        outcome,
        failure=_compacted(outcome.failure) if outcome.failure else None,
        attempts=_once(outcome.attempts),
        warnings=_once(outcome.warnings),
        metrics=Compact(outcome.metrics) if outcome.metrics else _NOTHING,
        stages=Compact(outcome.stages) if outcome.stages else _NOTHING,
        stood_in=_once(outcome.stood_in),
    )


_NOTHING = Compact({})


@lru_cache(maxsize=4096)
def _once(value: _T) -> _T:
    """The first of all that are equal to it."""
    return value


@lru_cache(maxsize=4096)
def _compacted(failure: Failure) -> Failure:
    """The same failure; those that differ in their place or their artifacts alone share their texts."""
    return evolve(
        failure,
        failure_class=_once(failure.failure_class),
        stage=_once(failure.stage),
        fingerprint=_once(failure.fingerprint),
        excerpt=_once(failure.excerpt),
        advice=_once(failure.advice),
    )
