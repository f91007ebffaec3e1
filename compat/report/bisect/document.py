"""Answers as data, documented in ``docs/bisect.md`` and checked by ``bisect.schema.json``."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from compat.bisect.measured import check_words
from compat.bisect.probes import Probe, ReleaseAnswer, Transition
from compat.model import Result
from compat.report.bisect import BisectReport
from compat.report.bisect.onwards import compare_url, repeat_command
from compat.report.bisect.sentences import headline, number_of, remarks
from compat.report.document import bracket_document

SCHEMA = 2
"""The version of the format; a key may be added within one, but none goes away or changes its meaning."""

JsonObject = dict[str, Any]


def bisect_document(report: BisectReport) -> list[JsonObject]:
    """One object per kernel variant, case and target."""
    return [_answer(answer, report) for answer in report.answers]


def schema() -> JsonObject:
    """The JSON Schema (draft 2020-12) that every such array follows."""
    loaded: JsonObject = json.loads(files("compat.report.bisect").joinpath("bisect.schema.json").read_text(encoding="utf-8"))
    return loaded


def _answer(answer: ReleaseAnswer, report: BisectReport) -> JsonObject:
    spec, part, account = answer.spec, answer.part, answer.account
    return {
        "schema": SCHEMA,
        "kernel": spec.kernel,
        "variant": spec.variant,
        "case": spec.case,
        "target": answer.target.name,
        "judge": answer.criterion.text,
        "answer": str(account.word),
        "verdict": account.phrase,
        "release": account.release,
        "sentence": headline(answer),
        "remarks": remarks(answer, fixed=report.fixed),
        "needs": answer.needs,
        "bracket": bracket_document(answer.bracket.bracket) if answer.bracket else None,
        "since": bracket_document(account.since),
        "transitions": [_transition(change, answer) for change in answer.transitions],
        "part": {"name": str(part.name), "sentence": part.sentence, "steps": list(part.steps)} if part else None,
        "probes": [_probe(probe, result, answer) for probe in answer.probes for result in probe.results],
        "searched": list(answer.searched),
        "assumed": [{"from": first, "to": last} for first, last in answer.assumed],
        "not_tried": list(answer.not_tried),
        "flaky": list(account.flaky),
        "compare": compare_url(answer.bracket) if answer.bracket else None,
        "command": repeat_command(answer, report.options, report.ends),
    }


def _transition(change: Transition, answer: ReleaseAnswer) -> JsonObject:
    failure = change.failure
    return {
        "from": change.before.release,
        "to": change.after.release,
        "change": _change(change, answer),
        "class": failure.failure_class if failure else None,
        "fingerprint": failure.fingerprint if failure else None,
        "untested": list(change.untested),
    }


def _change(change: Transition, answer: ReleaseAnswer) -> str:
    if not change.crosses:
        return "failure changed"
    good, bad = ("ok", "failed") if answer.criterion.asks_ok else ("good", "bad")
    return f"{bad}→{good}" if change.is_fix else f"{good}→{bad}"


def _probe(probe: Probe, result: Result, answer: ReleaseAnswer) -> JsonObject:
    outcome, failure = result.outcome, result.outcome.failure
    return {
        result.cell.env.toolchain: probe.release,
        "env": result.cell.env.name,
        "status": str(outcome.status),
        "class": failure.failure_class if failure else None,
        "fingerprint": failure.fingerprint if failure else None,
        "judgement": str(probe.judgement),
        "flaky": outcome.flaky,
        "value": number_of(answer, result),
        "ran": check_words(check) if (check := result.numbers.decisive) else None,
        "cached": result.cached,
        "remembered": probe.remembered,
    }
