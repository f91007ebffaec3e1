"""Pairs as JSON, documented in ``docs/matrix-json.md``, where they stand under ``pairs``."""

from __future__ import annotations

from compat.cell_document import JsonObject, rounded
from compat.pairs.records import Grid, Pair, Program


def grid_document(grid: Grid) -> JsonObject:
    """All that ``compat pairs`` found."""
    return {
        "schema": 1,
        "command": grid.command,
        "seconds": rounded(grid.seconds),
        "ok": grid.ok,
        "pins": dict(grid.pins),
        "notes": list(grid.notes),
        "classes": dict(grid.classes),
        "pairs": [pair_document(pair) for pair in grid.pairs],
    }


def pair_document(pair: Pair) -> JsonObject:
    """One pair."""
    return {
        "torch": pair.torch,
        "release": pair.release,
        "env": pair.env,
        "own": pair.own,
        "ok": pair.ok,
        "error": pair.error,
        "static_launcher": pair.static_launcher,
        "cached": pair.cached,
        "seconds": rounded(pair.seconds),
        "programs": [_program(program) for program in pair.programs],
    }


def _program(program: Program) -> JsonObject:
    return {
        "name": program.name,
        "status": str(program.status),
        "class": program.failure_class,
        "message": program.message,
        "stage": program.stage,
        "launched": list(program.launched),
        "seconds": rounded(program.seconds),
    }
