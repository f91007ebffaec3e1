"""Evidence as the store's rows hold it, and beside it what was read in it.

A row's evidence is raw facts. What was read in them (:mod:`compat.diagnosis.diagnose`) stands in columns of its own, with which
reader that was, only so that it need not be read again: another reader reads anew.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from attrs import Factory, evolve, frozen

from compat import toolchains
from compat.diagnosis.bounds import readable, within_bounds
from compat.json_text import read_json
from compat.model import Diagnosis, Evidence
from compat.records import structure, unstructure
from compat.store.database import StoredRow

_UNREADABLE = (ValueError, AttributeError)
"""What reading raises where a column holds no text, or none that has the form of a row."""


@frozen(kw_only=True)
class Reading:
    """What was read in the evidence of one attempt; empty of one that came out ok."""

    stderr: str = ""
    diagnosis: Diagnosis = Factory(Diagnosis)


def row_of(key: str, attempts: Sequence[Evidence]) -> StoredRow:
    """The row for attempts that have been read by this reader."""
    text = json.dumps([unstructure(evidence, compact=True) for evidence in attempts])
    if all(evidence.complete for evidence in attempts):
        return StoredRow(key=key, attempts=text)
    readings = [Reading(stderr=evidence.stderr, diagnosis=evidence.diagnosis) for evidence in attempts]
    return StoredRow(
        key=key, attempts=text, reader=toolchains.reading_version(), readings=json.dumps(unstructure(readings, compact=True))
    )


def attempts_of(row: StoredRow) -> tuple[Evidence, ...]:
    """The raw evidence in a row; none in one that this version of the tool cannot read, or that no version has written."""
    try:
        attempts = structure(read_json(row.attempts), tuple[Evidence, ...], more=True)
    except _UNREADABLE:
        return ()
    known = all(evidence.stage in toolchains.stages() for evidence in attempts)
    return tuple(map(within_bounds, attempts)) if known else ()


def as_read(row: StoredRow, attempts: Sequence[Evidence]) -> tuple[Evidence, ...] | None:
    """The attempts of a row with what was read in them, by whichever reader; ``None`` where nobody has."""
    try:
        readings = structure(read_json(row.readings), tuple[Reading, ...], more=True)
    except _UNREADABLE:
        return None
    if len(readings) != len(attempts):
        return None
    return tuple(
        evolve(evidence, stderr=readable(reading.stderr), diagnosis=reading.diagnosis)
        for evidence, reading in zip(attempts, readings, strict=True)
    )
