"""For which failures an edit is known, which says nothing about whether it helps."""

from __future__ import annotations

from collections.abc import Iterable

from compat import toolchains
from compat.model import Failure, Result
from compat.toolchains.edits import KnownEdit


def known_edits(failure: Failure | None, toolchain: str) -> tuple[KnownEdit, ...]:
    """The edits that are known for a failure's class, the smallest first; no edit is known where nothing failed."""
    if failure is None or failure.prediction:
        return ()
    return tuple(edit for edit in toolchains.named(toolchain).edits if failure.failure_class in edit.classes)


def with_known_edit(results: Iterable[Result]) -> tuple[Result, ...]:
    """The results whose failure is of a class that edits are known for."""
    return tuple(each for each in results if known_edits(each.outcome.failure, each.cell.env.toolchain))
