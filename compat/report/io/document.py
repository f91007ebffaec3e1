"""The report as data: ``reports/matrix.json``, documented in ``docs/matrix-json.md`` and checked by ``matrix.schema.json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compat.cell_document import cell_document, with_toolchain
from compat.history.account import Bracket
from compat.history.verdict import Verdict
from compat.json_text import JsonObject, json_pieces, write_json
from compat.model import BuiltEnv, Target
from compat.model.codec import record_of, rounded, schema_of, unstructure
from compat.report.io.matrix_records import (
    SCHEMA,
    AttachmentRecord,
    EnvRecord,
    KernelRecord,
    MatrixRecord,
    SourceRecord,
    StatementRecord,
    SummaryRecord,
    ToolRecord,
    bracket_record,
    library_record,
    verdict_record,
)
from compat.report.summary.compact import natural
from compat.report.summary.record import Report
from compat.report.summary.statements import statements
from compat.report.summary.versions import library_versions


def matrix_document(report: Report) -> JsonObject:
    """The whole report as JSON values, in an order that depends on nothing but the cells."""
    return {name: list(value) if isinstance(value, Iterator) else value for name, value in _document(report).items()}


def matrix_json(report: Report) -> Iterator[str]:
    """The text of :func:`matrix_document` as :func:`dump` has it, in pieces: all cells together would take much memory."""
    yield from json_pieces(_document(report))
    yield "\n"


def _document(report: Report) -> JsonObject:
    facts = {"cells": len(report.results), "unexpected": len(report.unexpected), "failures": len(report.failures)}
    summary = record_of(SummaryRecord, report, statuses=report.counts, **facts)
    records = {
        "schema": SCHEMA,
        "tool": ToolRecord(version=report.version),
        "command": report.command,
        "options": report.options,
        "limits": report.limits,
        "shards": report.shards,
        "earlier": report.earlier,
        "seconds": rounded(report.seconds),
        "summary": summary,
        "statements": tuple(StatementRecord(text=one.sentence, because=one.because) for one in statements(report)),
        "cells": map(cell_document, report.ordered),
        "verdicts": map(verdict_document, sorted(report.verdicts, key=_order)),
        "envs": [_env(built) for built in sorted(report.envs, key=lambda built: natural(built.env.name))],
        "kernels": tuple(record_of(KernelRecord, spec, source=report.source_of(spec)) for spec in report.specs),
        "helpers": dict(sorted(report.helpers.items())),
        "variants": dict(sorted(report.variants.items())),
        "targets": _targets(report),
        "sources": tuple(SourceRecord(path=path, text=text) for path, text in sorted(report.sources.items())),
        "attachments": tuple(AttachmentRecord(name=name, gzip=content) for name, content in sorted(report.attachments.items())),
        "packages": tuple(map(library_record, library_versions(report))),
        "existing": {name: sorted(versions) for name, versions in sorted(report.existing.items())},
        "pairs": report.pairs,
    }
    api = {"api": unstructure(report.api, compact=True)} if report.api else {}
    return {name: record if isinstance(record, Iterator) else unstructure(record) for name, record in records.items()} | api


def dump(document: Mapping[str, Any]) -> str:
    """The document as text, ending in a newline; every JSON reader takes it, and no terminal obeys it."""
    return write_json(document) + "\n"


def schema() -> JsonObject:
    """The JSON Schema (draft 2020-12) that every document follows."""
    return schema_of(MatrixRecord, f"triton-compat matrix, schema {SCHEMA}")


def verdict_document(verdict: Verdict) -> JsonObject:
    """What the releases together say of a kernel."""
    document: JsonObject = unstructure(verdict_record(verdict))
    return document


def bracket_document(bracket: Bracket | None) -> JsonObject | None:
    """A change between good and bad: the known releases around it, and those between them of which nothing certain is known."""
    document: JsonObject | None = unstructure(bracket_record(bracket))
    return document


def _targets(report: Report) -> tuple[Target, ...]:
    """The targets that were compiled for, each once."""
    targets = {(result.cell.target.name, result.cell.target.toolchain): result.cell.target for result in report.ordered}
    return tuple(targets[key] for key in sorted(targets, key=lambda key: (natural(key[0]), key[1])))


def _env(built: BuiltEnv) -> JsonObject:
    packages = tuple(sorted(built.packages, key=lambda package: package.name))
    record = record_of(EnvRecord, built, built.env, python=built.python_version, packages=packages)
    return with_toolchain(unstructure(record), built.env.toolchain)


def _order(verdict: Verdict) -> tuple[object, ...]:
    return tuple(map(natural, (verdict.kernel, verdict.variant, verdict.case, verdict.target)))
