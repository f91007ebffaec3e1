"""The captured evidence, as records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from compat.config.targets import TARGETS
from compat.model import Diagnosis, Evidence, Outcome, Raised, Target

FIXTURES = Path(__file__).parent / "fixtures"


@frozen(kw_only=True)
class Sighting:
    """One failure of one kernel on one release, as it was captured."""

    kind: str
    status: str
    release: str
    kernel: str
    target: Target
    same: str
    """Sightings with the same name are of the same defect."""
    attempts: tuple[Evidence, ...]

    @property
    def id(self) -> str:
        return f"{self.kind}-{self.kernel}-{self.target.name}-{self.release}"


def evidence_of(plain: Mapping[str, Any]) -> Evidence:
    """An attempt as fixtures keep it."""
    fields = dict(plain)
    fields["raised"] = tuple(Raised(**link) for link in fields.get("raised", ()))
    fields["diagnosis"] = Diagnosis(**fields.get("diagnosis", {}))
    return Evidence(**fields)


def all_sightings() -> list[Sighting]:
    """Everything that was captured, except installers' words."""
    return [
        Sighting(
            kind=each["expect"]["class"],
            status=each["expect"]["status"],
            release=each["release"],
            kernel=each["kernel"],
            target=TARGETS[each["target"]],
            same=each["same"],
            attempts=tuple(evidence_of(attempt) for attempt in each["attempts"]),
        )
        for path in sorted(FIXTURES.glob("*.json"))
        if path.stem != "install"
        for each in json.loads(path.read_text(encoding="utf-8"))
    ]


def installers_words() -> list[str]:
    """What an installer said, one text per attempt: no such release, another such, no wheel for the Python in question."""
    return [each["words"] for each in json.loads((FIXTURES / "install.json").read_text(encoding="utf-8"))]


def said(outcome: Outcome) -> tuple[str, str | None]:
    """Status and class of an outcome."""
    return str(outcome.status), outcome.failure.kind if outcome.failure else None
