"""Outcomes in few bytes, for runs of many cells: what many have alike stands in memory once. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar

from attrs import evolve

from compat.model import Compact, Failure, Outcome

_T = TypeVar("_T")


def compacted(outcome: Outcome) -> Outcome:
    """The same outcome."""
    return evolve(
        outcome,
        failure=_compacted(outcome.failure) if outcome.failure else None,
        attempts=once(outcome.attempts),
        warnings=once(outcome.warnings),
        metrics=compact(outcome.metrics),
        stages=compact(outcome.stages),
        stood_in=once(outcome.stood_in),
    )


_NOTHING = Compact({})


def compact(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same facts."""
    return Compact(facts) if facts else _NOTHING


@lru_cache(maxsize=4096)
def once(value: _T) -> _T:
    """The first of all that are equal to it."""
    return value


@lru_cache(maxsize=4096)
def _compacted(failure: Failure) -> Failure:
    """The same failure; those that differ in their place or their artifacts alone share their texts."""
    return evolve(
        failure,
        failure_class=once(failure.failure_class),
        stage=once(failure.stage),
        fingerprint=once(failure.fingerprint),
        excerpt=once(failure.excerpt),
        advice=once(failure.advice),
    )
