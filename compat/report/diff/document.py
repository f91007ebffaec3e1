"""A comparison as data, documented in ``docs/ci.md``."""

from __future__ import annotations

from compat.cell_document import JsonObject
from compat.report.diff.comparing import Comparison, Difference, Side, kind_of_pair
from compat.report.diff.metrics import Jump
from compat.report.diff.pairs import PairChange

SCHEMA = 1
"""The version of the format; a key may be added within one, but none goes away or changes its meaning."""


def diff_document(found: Comparison) -> JsonObject:
    """The comparison as JSON values."""
    old, new = found.only
    return {
        "schema": SCHEMA,
        "old": _side(found.old),
        "new": _side(found.new),
        "threshold": found.threshold,
        "compared": found.compared,
        "same": found.same,
        "counts": {str(kind): number for kind, number in found.counts.items()},
        "differences": [_difference(each) for each in found.differences],
        "metrics": [_jump(jump) for group in found.jumps for jump in group.jumps],
        "pairs": [_pair(change) for change in found.pairs],
        "only_old": {axis: list(values) for axis, values in old.items()},
        "only_new": {axis: list(values) for axis, values in new.items()},
        "arguments": list(found.arguments),
        "envs": [{"name": env.name, "before": env.before, "after": env.after} for env in found.envs],
    }


def _side(side: Side) -> JsonObject:
    report = side.report
    return {"name": side.name, "version": report.version, "command": report.command, "cells": len(report.results)}


def _difference(difference: Difference) -> JsonObject:
    spec, failure = difference.results[0].cell.spec, difference.failure
    return {
        "kind": str(difference.kind),
        "kernel": spec.kernel,
        "variant": spec.variant,
        "before": difference.before,
        "after": difference.after,
        "declared": difference.declared,
        "class": failure.failure_class if failure else None,
        "fingerprint": failure.fingerprint if failure else None,
        "says": difference.says,
        "cells": [result.cell.id for result in difference.results],
    }


def _pair(change: PairChange) -> JsonObject:
    return {
        "name": change.name,
        "kind": str(kind_of_pair(change)),
        "before": change.before,
        "after": change.after,
        "broken": list(change.broken),
        "fixed": list(change.fixed),
        "says": change.says,
    }


def _jump(jump: Jump) -> JsonObject:
    return {"cell": jump.result.cell.id, "metric": jump.metric, "before": jump.before, "after": jump.after}
