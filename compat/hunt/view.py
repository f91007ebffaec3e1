"""The answer of a hunt, as text and as JSON: the defects that it found, and what it tried."""

from __future__ import annotations

from collections.abc import Iterator
from os.path import relpath

from attrs import asdict

from compat.hunt.defects import Defect, HuntAnswer
from compat.hunt.examples import WrittenHunt
from compat.report.render.blocks import Block, DataTable, Heading, TableColumn, TextLine
from compat.report.summary.compact import one_line
from compat.text import JsonObject, amount, join_words
from compat.toolchains.programs import OWN

SCHEMA = 1
_STAGES = ("programs", "compiled", "interpreted", "launched")
"""The counts that the table shows for each family, from tried to launched programs."""

_LONGEST_MESSAGE = 400
"""Characters. The messages of MLIR's verifier end with the cause."""


def hunt_blocks(answer: HuntAnswer, written: WrittenHunt) -> Iterator[Block]:
    """The answer for a terminal."""
    for defect in answer.defects:
        yield Heading(f"{defect.oracle}  {defect.fingerprint}")
        for label, text in (*_facts(answer, defect), *_files(defect, written)):
            yield TextLine(f"  {label:<9} {text}")
    if answer.defects:
        yield TextLine()
    yield DataTable(
        columns=(TableColumn("family"), *(TableColumn(stage, right=True) for stage in _STAGES)),
        rows=tuple(
            (family, *(str(getattr(covered, stage)) for stage in _STAGES))
            for family, covered in answer.coverage.items()
        ),
        gap=2,
        ruled=False,
    )
    yield TextLine()
    for sentence in sentences(answer):
        yield TextLine(sentence)


def _facts(answer: HuntAnswer, defect: Defect) -> Iterator[tuple[str, str]]:
    """Yield the facts about a defect, each after its label."""
    example = defect.example
    total = len(answer.verdicts)
    forms = sorted({hit.program.form for hit in defect.hits} - {OWN})
    if defect.known is not None:
        note = f" ({defect.known.note})" if defect.known.note else ""
        yield "known", f"{defect.known.url}{note}"
    yield "says", one_line(example.reason, _LONGEST_MESSAGE) or "nothing"
    if (failure := example.result.outcome.failure) is not None:
        yield "stage", failure.stage + (f", in the pass {failure.pass_}" if failure.pass_ else "")
    yield "envs", f"{', '.join(defect.envs)}; {', '.join(defect.targets)}"
    if right := [name for name in defect.limits(answer) if name is not None]:
        yield "not in", " and ".join(right)
    yield "programs", f"{len(defect.seeds)} of {total}, the first from seed {defect.seeds[0]}"
    if not any(hit.program.form == OWN for hit in defect.hits):
        yield "forms", f"only {join_words(forms)}"


def _files(defect: Defect, written: WrittenHunt) -> Iterator[tuple[str, str]]:
    """Yield the files that the hunt wrote for a defect, each after its label."""
    if (path := _example(defect, written)) is not None:
        yield "example", path
    issue = written.issues.get(defect.name)
    if issue is None:
        return
    texts = [relpath(path) for path in issue.paths if path.suffix == ".md"]
    yield "issue", texts[0] if texts else f"no script shows it: {'; '.join(issue.reasons)}"


def _example(defect: Defect, written: WrittenHunt) -> str | None:
    """The path of a new defect's kernel file; ``None`` for known defects and without a file."""
    if defect.known is not None or defect.name not in written.examples:
        return None
    return relpath(written.examples[defect.name])


def sentences(answer: HuntAnswer) -> Iterator[str]:
    """Yield a summary of the hunt, in sentences."""
    programs, cells = len(answer.verdicts), answer.cells
    first, end = answer.seeds
    seeds = f"seed {first}" if programs == 1 else f"seeds {first} to {end - 1}"
    tried = f"{amount(programs, 'program')} from {seeds}" if programs else "no program"
    yield (
        f"{tried}, {amount(cells, 'cell')}"
        f" in {answer.seconds:.0f} s ({answer.rate:.1f} programs per second)"
    )
    attempts = len(answer.informative_verdicts)
    valid = attempts - len(answer.invalid)
    if attempts:
        are = "is" if 1 in (valid, attempts) else "are"
        yield f"{valid} of {amount(attempts, 'program')} {are} valid"
    if attempts < programs:
        remaining = amount(programs - attempts, "program")
        yield f"no chosen release has the operations of {remaining}"
    if answer.invalid:
        rejected = [str(verdict.program.seed) for verdict in answer.invalid[:8]]
        those = "that of the seed" if len(rejected) == 1 else "those of the seeds"
        yield f"every release rejects {those} {join_words(rejected)}"
    known_count = sum(defect.known is not None for defect in answer.defects)
    yield (
        f"{amount(sum(bool(verdict.hits) for verdict in answer.verdicts), 'program')} with a hit,"
        f" {amount(len(answer.defects), 'distinct hit')}"
        + (f", {known_count} of them known" if known_count else "")
    )


def hunt_document(answer: HuntAnswer, written: WrittenHunt) -> JsonObject:
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
                "example": _example(defect, written),
                "issue": [
                    relpath(path)
                    for name, issue in written.issues.items()
                    if name == defect.name
                    for path in issue.paths
                ],
                "known": None if defect.known is None else defect.known.url,
            }
            for defect in answer.defects
        ],
        "coverage": {family: asdict(covered) for family, covered in answer.coverage.items()},
    }
