"""A hunt: the defects that were found, and what was tried, as text and data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import asdict, astuple, fields

from compat.hunt.defects import FamilyCoverage
from compat.report.render.blocks import Block, DataTable, Heading, TableColumn, TextLine
from compat.report.summary.compact import counted, listed
from compat.repro.records import WrittenRepro
from compat.text import JsonObject
from compat.toolchains.programs import OWN

if TYPE_CHECKING:
    from compat.hunt.defects import Defect, HuntAnswer
    from compat.repro.records import Unverified

SCHEMA = 1


def hunt_blocks(
    answer: HuntAnswer,
    examples: Mapping[str, Path],
    repros: Mapping[str, WrittenRepro | Unverified],
) -> Iterator[Block]:
    """The answer for a terminal, with the examples and the repros of defects by fingerprint."""
    for defect in answer.defects:
        yield Heading(f"{defect.oracle}  {defect.fingerprint}")
        for label, text in _facts(answer, defect):
            yield TextLine(f"  {label:<9} {text}")
        if defect.known is None and defect.fingerprint in examples:
            yield TextLine(f"  example   {relpath(examples[defect.fingerprint])}")
        if (outcome := repros.get(defect.fingerprint)) is not None:
            yield TextLine(f"  issue     {_repro_words(outcome)}")
        yield TextLine()
    yield DataTable(
        columns=(
            TableColumn("family"),
            *(TableColumn(attribute.name, right=True) for attribute in fields(FamilyCoverage)),
        ),
        rows=tuple(
            (family, *(str(number) for number in astuple(covered)))
            for family, covered in answer.coverage.items()
        ),
        gap=2,
        ruled=False,
    )
    yield TextLine()
    for sentence in sentences(answer):
        yield TextLine(sentence)


def _facts(answer: HuntAnswer, defect: Defect) -> Iterator[tuple[str, str]]:
    """What is known of a defect, with labels."""
    example = defect.example
    total = len(answer.verdicts)
    forms = sorted({hit.program.form for hit in defect.hits} - {OWN})
    if defect.known is not None:
        note = f" ({defect.known.note})" if defect.known.note else ""
        yield "known", f"{defect.known.url}{note}"
    yield "says", example.reason.strip().splitlines()[0] if example.reason.strip() else "nothing"
    if (failure := example.result.outcome.failure) is not None:
        yield "stage", failure.stage + (f", in the pass {failure.pass_}" if failure.pass_ else "")
    yield "envs", f"{', '.join(defect.envs)}; {', '.join(defect.targets)}"
    if right := [name for name in defect.limits(answer) if name is not None]:
        yield "not in", " and ".join(right)
    yield "programs", f"{len(defect.seeds)} of {total}, the first from seed {defect.seeds[0]}"
    if not any(hit.program.form == OWN for hit in defect.hits):
        yield "forms", f"only {listed(forms)}"


def _repro_words(outcome: WrittenRepro | Unverified) -> str:
    if isinstance(outcome, WrittenRepro):
        return next(relpath(path) for path in outcome.paths if path.suffix == ".md")
    return f"not verified, see {relpath(outcome.evidence)}: {'; '.join(outcome.reasons)}"


def sentences(answer: HuntAnswer) -> Iterator[str]:
    """What was done, in sentences."""
    programs, cells = len(answer.verdicts), answer.cells
    first, end = answer.seeds
    yield (
        f"{counted(programs, 'program')} from seeds {first} to {end - 1}, {counted(cells, 'cell')}"
        f" in {answer.seconds:.0f} s ({programs / max(answer.seconds, 0.001):.1f} programs per"
        " second)"
    )
    tried = len(answer.tried)
    valid = tried - len(answer.invalid)
    yield f"{valid} of {counted(tried, 'program')} are valid ({valid / max(tried, 1):.1%})"
    if tried < programs:
        left = counted(programs - tried, "program")
        yield f"no chosen release has the operations of {left}"
    if answer.invalid:
        seeds = [str(verdict.program.seed) for verdict in answer.invalid[:8]]
        yield f"every release rejects those of the seeds {listed(seeds)}"
    known = sum(defect.known is not None for defect in answer.defects)
    yield (
        f"{counted(sum(bool(verdict.hits) for verdict in answer.verdicts), 'program')} with a hit,"
        f" {counted(len(answer.defects), 'distinct hit')}"
        + (f", {known} of them known" if known else "")
    )


def hunt_document(
    answer: HuntAnswer,
    examples: Mapping[str, Path],
    repros: Mapping[str, WrittenRepro | Unverified],
) -> JsonObject:
    """The answer as JSON values."""
    return {
        "schema": SCHEMA,
        "seeds": list(answer.seeds),
        "programs": len(answer.verdicts),
        "cells": answer.cells,
        "interrupted": answer.interrupted,
        "seconds": round(answer.seconds, 1),
        "envs": list(answer.envs),
        "targets": list(answer.targets),
        "invalid": [verdict.program.seed for verdict in answer.invalid],
        "defects": [
            {
                "oracle": str(defect.oracle),
                "fingerprint": defect.fingerprint,
                "reason": defect.example.reason,
                "envs": list(defect.envs),
                "not_in": list(defect.limits(answer)),
                "targets": list(defect.targets),
                "seeds": list(defect.seeds),
                "forms": sorted({hit.program.form for hit in defect.hits}),
                "example": (
                    relpath(examples[defect.fingerprint])
                    if defect.known is None and defect.fingerprint in examples
                    else None
                ),
                "repro": [
                    relpath(path) for path in getattr(repros.get(defect.fingerprint), "paths", ())
                ],
                "known": None if defect.known is None else defect.known.url,
            }
            for defect in answer.defects
        ],
        "coverage": {family: asdict(covered) for family, covered in answer.coverage.items()},
    }
