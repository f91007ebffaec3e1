"""Names, differences and needs as data, documented in ``docs/triton-api.md``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from compat.api.comparing import Difference, Kind, Step
from compat.api.explaining import Kernel, Verdict, verdicts
from compat.api.histories import NameHistory
from compat.api.needing import Having, Lack, Need
from compat.api.records import Looked, Parameter
from compat.cell_document import JsonObject
from compat.history.runs import Run
from compat.report.api.sentences import phrase

SCHEMA = 1
"""The version of the format; a key may be added within one, but none goes away or changes its meaning."""
T = TypeVar("T")


def names_document(looked: Looked, histories: Sequence[NameHistory]) -> JsonObject:
    """The histories of names as JSON values."""
    return {**_head(looked), "names": [_history(each) for each in histories]}


def steps_document(looked: Looked, steps: Sequence[Step]) -> JsonObject:
    """How many names each release has, and how many changed."""
    rows = [
        {"release": step.place.label, "names": step.names, **{str(kind): step.counts.get(kind) for kind in Kind}} for step in steps
    ]
    return {**_head(looked), "steps": rows}


def difference_document(looked: Looked, difference: Difference) -> JsonObject:
    """What differs between two places, those names too that are not meant for users."""
    return {
        **_head(looked),
        "old": difference.old.label,
        "new": difference.new.label,
        "unknown": list(difference.unknown),
        "changes": [
            {
                "kind": str(change.kind),
                "name": change.shown,
                "full": change.full,
                "is": change.of,
                "said": list(change.said),
                "internal": change.internal,
            }
            for change in difference.changes
        ],
    }


def kernels_document(looked: Looked, kernels: Sequence[Kernel]) -> JsonObject:
    """What kernels need, and what each release has of it."""
    return {**_head(looked), "kernels": [_kernel(each) for each in kernels]}


def _head(looked: Looked) -> JsonObject:
    return {
        "schema": SCHEMA,
        "toolchain": looked.toolchain,
        "releases": [
            {
                "release": place.label,
                "env": place.built.env.name if place.built else None,
                "fork": place.fork,
                "looked_at": place.namespace is not None,
                "error": place.error or None,
            }
            for place in looked.places
        ],
    }


def _history(history: NameHistory) -> JsonObject:
    return {
        "name": history.shown,
        "full": history.full,
        "kind": history.kind,
        "internal": history.internal,
        "phrase": phrase(history),
        "intervals": _runs(history.states, lambda state: {"state": str(state)}),
        "parameters": [{"name": each.name, "intervals": _runs(each.runs, _parameter)} for each in history.parameters],
        "signatures": _runs(history.signatures, lambda text: {"signature": text}),
        "kinds": _runs(history.kinds, lambda text: {"kind": text}),
        "same_as": _runs(history.same_as, lambda text: {"name": text}),
        "values": _runs(history.values, lambda text: {"value": text}),
        "deprecated": _runs(history.deprecated, _words),
        "warns": _runs(history.warns, _words),
        "refuses": _runs(history.refuses, _words),
        "unknown": _runs(history.unknown, _words),
        "forks": {name: str(state) for name, state in history.forks},
    }


def _runs(found: Iterable[Run[T]], facts: Callable[[T], JsonObject]) -> list[JsonObject]:
    return [{"from": run.first, "to": run.last, **facts(run.value)} for run in found]


def _words(text: str) -> JsonObject:
    return {"says": text}


def _parameter(parameter: Parameter) -> JsonObject:
    return {"kind": parameter.kind, "default": parameter.default, "deprecated": parameter.deprecated or None}


# --- needs -----------------------------------------------------------------------------------------------------------------------


def _kernel(kernel: Kernel) -> JsonObject:
    needs = kernel.needs
    verdict_of: dict[str, Verdict] = {release: run.value for run in verdicts(kernel) for release in run.releases}
    return {
        "source": kernel.source,
        "function": kernel.function,
        "has_all": [having.place.label for having in needs.having if having.has_all],
        "uses": [_need(need) for need in needs.needs],
        "unresolved": sorted({each.name for each in needs.uses.unresolved}),
        "not_read": list(needs.uses.not_read),
        "releases": [_having(having, verdict_of.get(having.place.label)) for having in needs.having if having.looked_at],
    }


def _need(need: Need) -> JsonObject:
    return {"name": need.shown, "full": list(need.full), "keywords": list(need.keywords), "lines": [use.line for use in need.uses]}


def _having(having: Having, verdict: Verdict | None) -> JsonObject:
    facts: dict[str, Any] = {
        "release": having.place.label,
        "has_all": having.has_all,
        "lacks": [_lack(lack) for lack in having.lacks],
        "unknown": list(having.unknown),
        "deprecated": list(having.deprecated),
        "cells": verdict.cells if verdict else 0,
        "compiled": [
            {"status": str(each.status), "class": each.failure_class, "cells": each.results}
            for each in (verdict.outcomes if verdict else ())
        ],
        "differs": (verdict.because or None) if verdict else None,
    }
    return facts


def _lack(lack: Lack) -> JsonObject:
    return {
        "name": lack.shown,
        "why": lack.why,
        "lines": list(lack.lines),
        "conditions": list(lack.conditions),
        "functions": list(lack.functions),
    }
