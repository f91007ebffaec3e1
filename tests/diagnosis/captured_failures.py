"""The captured evidence, as records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from compat.model import (
    CompletedAction,
    Diagnosis,
    Evidence,
    Outcome,
    RaisedException,
    StandInPackages,
    Target,
)
from tests.diagnosis.corpus import targets

FIXTURES = Path(__file__).parent / "fixtures"


@frozen(kw_only=True)
class CapturedFailure:
    """One failure of one kernel on one release, as it was captured."""

    failure_class: str
    status: str
    release: str
    kernel: str
    target: Target
    same: str
    """The name of the defect. Captured failures with the same name have the same defect."""
    attempts: tuple[Evidence, ...]

    @property
    def id(self) -> str:
        return f"{self.failure_class}-{self.kernel}-{self.target.name}-{self.release}"


def evidence_of(plain: Mapping[str, Any]) -> Evidence:
    """The evidence of an attempt, from the form that fixtures keep it in."""
    fields = dict(plain)
    fields["raised"] = tuple(RaisedException(**link) for link in fields.get("raised", ()))
    fields["diagnosis"] = Diagnosis(**fields.get("diagnosis", {}))
    fields["stood_in"] = StandInPackages(**fields["stood_in"]) if fields.get("stood_in") else None
    done = (CompletedAction(do="compile"),) if fields.pop("built", False) else ()
    return Evidence(**fields, done=done)


def all_captured_failures() -> list[CapturedFailure]:
    """All captured failures, except the messages of installers."""
    return [
        CapturedFailure(
            failure_class=record["expect"]["class"],
            status=record["expect"]["status"],
            release=record["release"],
            kernel=record["kernel"],
            target=targets()[record["target"]],
            same=record["same"],
            attempts=tuple(evidence_of(attempt) for attempt in record["attempts"]),
        )
        for path in sorted(FIXTURES.glob("*.json"))
        if path.stem != "install"
        for record in json.loads(path.read_text(encoding="utf-8"))
    ]


def installers_words() -> list[str]:
    """An installer's messages, one text per attempt.

    The first two are for missing releases. The third is for a Python that a release has no wheel
    for.
    """
    return [
        record["words"]
        for record in json.loads((FIXTURES / "install.json").read_text(encoding="utf-8"))
    ]


def status_and_class(outcome: Outcome) -> tuple[str, str | None]:
    """Status and class of an outcome."""
    return str(outcome.status), outcome.failure.failure_class if outcome.failure else None
