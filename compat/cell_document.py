"""A cell and what came of it as JSON values: the form that ``matrix.json`` has, and that a user's judging program reads."""

from __future__ import annotations

from typing import Any

from compat.model import Check, Expectation, Failure, Latency, Result, StoodIn

JsonObject = dict[str, Any]


def cell_document(result: Result) -> JsonObject:
    """One cell and what came of it."""
    cell, outcome = result.cell, result.outcome
    return {
        "id": cell.id,
        "kernel": cell.spec.kernel,
        "variant": cell.spec.variant,
        "case": cell.spec.case,
        "guessed": cell.spec.guessed,
        "target": cell.target.name,
        "env": cell.env.name,
        cell.env.toolchain: result.built.release,
        "torch": result.built.torch,
        "status": str(outcome.status),
        "expected": result.expected,
        "expectation": _expectation(result.expectation),
        "stage": outcome.stage,
        "failure": _failure(outcome.failure),
        "flaky": outcome.flaky,
        "attempts": list(outcome.attempts),
        "warnings": [{"type": warning.type, "message": warning.message} for warning in outcome.warnings],
        "metrics": dict(outcome.metrics),
        "stages": {stage: rounded(seconds) for stage, seconds in outcome.stages.items()},
        "compile_seconds": None if outcome.compile_seconds is None else rounded(outcome.compile_seconds),
        "seconds": rounded(outcome.seconds),
        "cached": result.cached,
        "stood_in": _stood_in(outcome.stood_in),
        "numbers": {"interpreter": _check(result.numbers.interpreter), "gpu": _launched(result.numbers.gpu)},
        "latency": _latency(result.latency),
    }


def _check(check: Check | None) -> JsonObject | None:
    return (
        None
        if check is None
        else {
            "status": str(check.status),
            "max_abs": check.max_abs,
            "max_rel": check.max_rel,
            "where": check.where,
            "reason": check.reason,
        }
    )


def _launched(check: Check | None) -> JsonObject | None:
    told = _check(check)
    if check is None or told is None:
        return None
    told |= {"launches": check.launches, "differing": check.differing, "device": check.device}
    return told if check.worker is None else {**told, "worker": check.worker}


def _latency(latency: Latency | None) -> JsonObject | None:
    if latency is None:
        return None
    told = {
        "us": latency.us,
        "spread": latency.spread,
        "baseline_us": latency.baseline_us,
        "ratio": latency.ratio,
        "device": latency.device,
    }
    return told if latency.worker is None else {**told, "worker": latency.worker}


def _stood_in(stood_in: StoodIn | None) -> JsonObject | None:
    return (
        None
        if stood_in is None
        else {
            "packages": list(stood_in.packages),
            "answers": list(stood_in.answers),
            "skipped": list(stood_in.skipped),
        }
    )


def _failure(failure: Failure | None) -> JsonObject | None:
    return (
        None
        if failure is None
        else {
            "class": failure.failure_class,
            "fingerprint": failure.fingerprint,
            "excerpt": failure.excerpt,
            "stage": failure.stage,
            "pass": failure.pass_,
            "op": failure.op,
            "location": failure.location,
            "reproducer": failure.reproducer,
            "ir": failure.ir,
            "advice": failure.advice,
            "prediction": failure.prediction,
        }
    )


def _expectation(expectation: Expectation | None) -> JsonObject | None:
    return (
        None
        if expectation is None
        else {
            "status": str(expectation.status),
            "class": expectation.failure_class,
            "reason": expectation.reason,
            "strict": expectation.strict,
        }
    )


def rounded(seconds: float) -> float:
    """Rounded to a tenth of a millisecond, the precision of these timings."""
    return round(seconds, 4)
