"""Of what became of the corpus, as much as tests need: one captured_failure of everything that is
told differently.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from typing import Any

from compat.diagnosis.classify import classify
from compat.diagnosis.symptoms import Symptoms
from compat.model import Cell, Evidence
from compat.toolchains.triton.failures import KNOWLEDGE
from tests.diagnosis.capture import trimmed
from tests.diagnosis.corpus import HERE

FILE = HERE / "evidence.json.gz"


def keep(cell_attempts: Iterable[tuple[Cell, tuple[Evidence, ...]]]) -> int:
    """Write the captured evidence of these cells' failures, and say how many they are."""
    captured_failures: dict[tuple[Any, ...], dict[str, Any]] = {}
    for cell, attempts in sorted(cell_attempts, key=lambda pair: pair[0].id):
        outcome = classify(attempts, target=cell.target, knowledge=KNOWLEDGE)
        if outcome.failure is None or outcome.failure.prediction:
            continue
        what = cell.spec.variant, cell.spec.kernel, cell.spec.case
        release = cell.env.name.removeprefix("triton-")
        symptoms = _told(KNOWLEDGE.symptoms(attempts[-1]))
        captured_failure = captured_failures.setdefault(
            (what, outcome.failure.stage, symptoms), {"what": what, "seen": [], "attempts": None}
        )
        captured_failure["seen"].append((release, cell.target.name))
        captured_failure["attempts"] = captured_failure["attempts"] or [
            trimmed(evidence, release) for evidence in attempts
        ]
    data = json.dumps(list(captured_failures.values()), ensure_ascii=False).encode()
    FILE.write_bytes(gzip.compress(data, mtime=0))
    return len(captured_failures)


def captured_failures() -> list[Mapping[str, Any]]:
    """The captured failures: kernel and setting, releases and targets that told the same, and the
    attempts on the first of them.
    """
    failures: list[Mapping[str, Any]] = json.loads(gzip.decompress(FILE.read_bytes()))
    return failures


def _told(symptoms: Symptoms) -> tuple[str, ...]:
    line = symptoms.assertion_line or symptoms.diagnostic_line
    return (
        symptoms.error,
        symptoms.message[:300],
        symptoms.place,
        line.partition("error: ")[2] or line,
        symptoms.assembler,
        symptoms.pass_,
    )
