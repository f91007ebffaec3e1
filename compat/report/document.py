"""The report as data: ``reports/matrix.json``, documented in ``docs/matrix-json.md`` and checked by ``matrix.schema.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from compat import __version__
from compat.model import BuiltEnv, Expectation, Failure, Result, Verdict
from compat.report.compact import natural
from compat.report.statements import statements
from compat.report.summary import Report

SCHEMA = 1
"""The version of the format; a key may be added within one, but none goes away or changes its meaning."""

JsonObject = dict[str, Any]


def matrix_document(report: Report) -> JsonObject:
    """The whole report as JSON values, in an order that depends on nothing but the cells."""
    return {
        "schema": SCHEMA,
        "tool": {"name": "triton-compat", "version": __version__},
        "command": report.command,
        "seconds": _rounded(report.seconds),
        "interrupted": report.interrupted,
        "summary": {
            "cells": len(report.results),
            "statuses": {str(status): number for status, number in report.counts.items()},
            "unexpected": len(report.unexpected),
            "cached": report.cached,
        },
        "statements": [_statement(one.sentence, one.because) for one in statements(report)],
        "cells": [cell_document(result) for result in report.ordered],
        "verdicts": [_verdict(verdict) for verdict in sorted(report.verdicts, key=_place)],
        "envs": [_env(built) for built in sorted(report.envs, key=lambda built: natural(built.env.name))],
    }


def dump(document: Mapping[str, Any]) -> str:
    """The document as text, ending in a newline. A metric that JSON has no word for is written as text."""
    return json.dumps(document, indent=1, ensure_ascii=False, default=str) + "\n"


def schema() -> JsonObject:
    """The JSON Schema (draft 2020-12) that every document follows."""
    loaded: JsonObject = json.loads(files("compat.report").joinpath("matrix.schema.json").read_text(encoding="utf-8"))
    return loaded


def cell_document(result: Result) -> JsonObject:
    """One cell and what came of it."""
    cell, outcome = result.cell, result.outcome
    return {
        "id": cell.id,
        "kernel": cell.spec.kernel,
        "variant": cell.spec.variant,
        "case": cell.spec.case,
        "target": cell.target.name,
        "env": cell.env.name,
        "triton": result.built.triton,
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
        "stages": {stage: _rounded(seconds) for stage, seconds in outcome.stages.items()},
        "seconds": _rounded(outcome.seconds),
        "cached": result.cached,
    }


def _failure(failure: Failure | None) -> JsonObject | None:
    return (
        None
        if failure is None
        else {
            "class": failure.kind,
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
        else {"status": str(expectation.status), "class": expectation.kind, "reason": expectation.reason}
    )


def _statement(sentence: str, because: str) -> JsonObject:
    return {"text": sentence, "because": because}


def _verdict(verdict: Verdict) -> JsonObject:
    return {
        "kernel": verdict.kernel,
        "variant": verdict.variant,
        "case": verdict.case,
        "target": verdict.target,
        "verdict": verdict.phrase,
        "word": str(verdict.word),
        "release": verdict.release,
        "intervals": [
            {"from": i.first, "to": i.last, "status": str(i.status), "class": i.kind, "fingerprint": i.fingerprint}
            for i in verdict.intervals
        ],
        "changes": [{"release": change.release, "before": change.before, "after": change.after} for change in verdict.changes],
        "untested": list(verdict.untested),
        "flaky": list(verdict.flaky),
        "deprecated": list(verdict.deprecated),
    }


def _env(built: BuiltEnv) -> JsonObject:
    return {
        "name": built.env.name,
        "triton": built.triton,
        "torch": built.torch,
        "python": built.python_version,
        "packages": [
            {"name": p.name, "version": p.version, "digest": p.digest} for p in sorted(built.packages, key=lambda p: p.name)
        ],
        "digest": built.digest,
        "error": built.error,
    }


def _place(verdict: Verdict) -> tuple[object, ...]:
    return tuple(map(natural, (verdict.kernel, verdict.variant, verdict.case, verdict.target)))


def _rounded(seconds: float) -> float:
    """A tenth of a millisecond is as fine as a clock here is honest."""
    return round(seconds, 4)
