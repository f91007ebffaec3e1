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


def keep(found: Iterable[tuple[Cell, tuple[Evidence, ...]]]) -> int:
    """Write the captured evidence of these cells' failures, and say how many they are."""
    kept: dict[tuple[Any, ...], dict[str, Any]] = {}
    for cell, attempts in sorted(found, key=lambda pair: pair[0].id):
        outcome = classify(attempts, target=cell.target, knowledge=KNOWLEDGE)
        if outcome.failure is None or outcome.failure.prediction:
            continue
        what = cell.spec.variant, cell.spec.kernel, cell.spec.case
        release = cell.env.name.removeprefix("triton-")
        told = _told(KNOWLEDGE.symptoms(attempts[-1]))
        captured_failure = kept.setdefault(
            (what, outcome.failure.stage, told), {"what": what, "seen": [], "attempts": None}
        )
        captured_failure["seen"].append((release, cell.target.name))
        captured_failure["attempts"] = captured_failure["attempts"] or [
            trimmed(evidence, release) for evidence in attempts
        ]
    data = json.dumps(list(kept.values()), ensure_ascii=False).encode()
    FILE.write_bytes(gzip.compress(data, mtime=0))
    return len(kept)


def kept() -> list[Mapping[str, Any]]:
    """The captured failures: kernel and setting, releases and targets that told the same, and the
    attempts on the first of them.
    """
    captured_failures: list[Mapping[str, Any]] = json.loads(gzip.decompress(FILE.read_bytes()))
    return captured_failures


def _told(said: Symptoms) -> tuple[str, ...]:
    line = said.assertion_line or said.diagnostic_line
    return (
        said.error,
        said.message[:300],
        said.place,
        line.partition("error: ")[2] or line,
        said.assembler,
        said.pass_,
    )
