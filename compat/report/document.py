"""The report as data: ``reports/matrix.json``, documented in ``docs/matrix-json.md`` and checked by ``matrix.schema.json``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from compat.cell_document import JsonObject, cell_document, rounded
from compat.history.account import Bracket
from compat.history.running import Fast, Right
from compat.history.verdict import Verdict
from compat.json_text import json_pieces, write_json
from compat.model import BuiltEnv, Specialization, Target
from compat.records import unstructure
from compat.report.compact import natural
from compat.report.pairs.document import pair_document
from compat.report.statements import statements
from compat.report.summary import Report
from compat.report.versions import LibraryVersion, library_versions

SCHEMA = 2
"""The version of the format; a key may be added within one, but none goes away or changes its meaning."""


def matrix_document(report: Report) -> JsonObject:
    """The whole report as JSON values, in an order that depends on nothing but the cells."""
    return {name: list(value) if isinstance(value, Iterator) else value for name, value in _document(report).items()}


def matrix_json(report: Report) -> Iterator[str]:
    """The text of :func:`matrix_document` as :func:`dump` has it, in pieces: all cells together would take much memory."""
    yield from json_pieces(_document(report))
    yield "\n"


def _document(report: Report) -> JsonObject:
    return {
        "schema": SCHEMA,
        "tool": {"name": "triton-compat", "version": report.version},
        "command": report.command,
        "options": list(report.options),
        "limits": list(report.limits),
        "shards": list(report.shards),
        "earlier": report.earlier,
        "seconds": rounded(report.seconds),
        "summary": {
            "cells": len(report.results),
            "statuses": {str(status): number for status, number in report.counts.items()},
            "unexpected": len(report.unexpected),
            "cached": report.cached,
            "failures": len(report.failures),
            "edits_known": report.edits_known,
        },
        "statements": [_statement(one.sentence, one.because) for one in statements(report)],
        "cells": map(cell_document, report.ordered),
        "verdicts": map(verdict_document, sorted(report.verdicts, key=_place)),
        "envs": [_env(built) for built in sorted(report.envs, key=lambda built: natural(built.env.name))],
        "kernels": [_kernel(report, spec) for spec in report.specs],
        "helpers": {source: list(files) for source, files in sorted(report.helpers.items())},
        "variants": {kernel: list(declared) for kernel, declared in sorted(report.variants.items())},
        "targets": [_target(target) for target in _targets(report)],
        "sources": [{"path": path, "text": text} for path, text in sorted(report.sources.items())],
        "attachments": [{"name": name, "gzip": content} for name, content in sorted(report.attachments.items())],
        "packages": [_library(each) for each in library_versions(report)],
        "existing": {name: [str(version) for version in sorted(known)] for name, known in sorted(report.existing.items())},
        "pairs": [pair_document(pair) for pair in report.pairs],
        **({"api": unstructure(report.api, compact=True)} if report.api else {}),
    }


def dump(document: Mapping[str, Any]) -> str:
    """The document as text, ending in a newline; every JSON reader takes it, and no terminal obeys it."""
    return write_json(document) + "\n"


def schema() -> JsonObject:
    """The JSON Schema (draft 2020-12) that every document follows."""
    loaded: JsonObject = json.loads(files("compat.report").joinpath("matrix.schema.json").read_text(encoding="utf-8"))
    return loaded


def _statement(sentence: str, because: str) -> JsonObject:
    return {"text": sentence, "because": because}


def verdict_document(verdict: Verdict) -> JsonObject:
    """What the releases together say of a kernel."""
    return {
        "kernel": verdict.kernel,
        "variant": verdict.variant,
        "case": verdict.case,
        "target": verdict.target,
        "verdict": verdict.phrase,
        "word": str(verdict.word),
        "release": verdict.release,
        "bracket": bracket_document(verdict.bracket),
        "since": bracket_document(verdict.since),
        "intervals": [
            {"from": i.first, "to": i.last, "status": str(i.status), "class": i.failure_class, "fingerprint": i.fingerprint}
            for i in verdict.intervals
        ],
        "changes": [{"release": change.release, "before": change.before, "after": change.after} for change in verdict.changes],
        "not_tried": list(verdict.not_tried),
        "untested": list(verdict.untested),
        "flaky": list(verdict.flaky),
        "deprecated": list(verdict.deprecated),
        "remembered": list(verdict.remembered),
        "right": None if verdict.right is None else {**_ran(verdict.right), "by": list(verdict.right.by)},
        "fast": _fast(verdict.fast),
    }


def _fast(fast: Fast | None) -> JsonObject | None:
    return None if fast is None else {**_ran(fast), "device": fast.device, "best": {"release": fast.best, "us": fast.best_us}}


def _ran(account: Right | Fast) -> JsonObject:
    """What releases on which a kernel was run say together."""
    return {
        "verdict": account.phrase,
        "word": str(account.word),
        "release": account.release,
        "bracket": bracket_document(account.bracket),
        "good": list(account.good),
        "bad": list(account.bad),
    }


def bracket_document(bracket: Bracket | None) -> JsonObject | None:
    """A change between good and bad: the known releases around it, and those between them of which nothing certain is known."""
    if bracket is None:
        return None
    before, after, fix = bracket.before, bracket.after, bracket.is_fix
    return {
        "last_good": None if fix else before,
        "first_bad": None if fix else after,
        "last_bad": before if fix else None,
        "first_good": after if fix else None,
        "untested": list(bracket.between),
    }


def _kernel(report: Report, spec: Specialization) -> JsonObject:
    return {
        "kernel": spec.kernel,
        "variant": spec.variant,
        "case": spec.case,
        "toolchain": spec.toolchain,
        "source": report.source_of(spec),
        "function": spec.function,
        "package": spec.package,
        "origin": spec.origin,
        "summary": spec.summary,
        "compile": spec.compile.document(),
    }


def _library(found: LibraryVersion) -> JsonObject:
    return {
        "package": found.name,
        "version": found.version,
        "kernels": found.kernels,
        "releases": [
            {
                "release": release,
                "compile": tally.compile,
                "fail": tally.fail,
                "unknown": tally.unknown,
                "classes": dict(tally.classes),
            }
            for release, tally in found.releases.items()
        ],
    }


def _targets(report: Report) -> tuple[Target, ...]:
    """The targets that were compiled for, each once."""
    found = {result.cell.target.name: result.cell.target for result in report.ordered}
    return tuple(found[name] for name in sorted(found, key=natural))


def _target(target: Target) -> JsonObject:
    return {
        "name": target.name,
        "backend": target.backend,
        "arch": target.arch,
        "warp_size": target.warp_size,
        "shared_memory": target.shared_memory,
    }


def _env(built: BuiltEnv) -> JsonObject:
    return {
        "name": built.env.name,
        "toolchain": built.env.toolchain,
        "distribution": built.env.distribution,
        built.env.toolchain: built.release,
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
