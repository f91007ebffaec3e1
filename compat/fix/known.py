"""For which failures an edit is known, which says nothing about whether it helps."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from compat import toolchains
from compat.bundle.closure import roots_of
from compat.config.kernel_sources import requirement_of
from compat.model import SOURCE_STAGE, Failure, Result
from compat.toolchains.edits import KnownEdit


def known_edits(failure: Failure | None, toolchain: str) -> tuple[KnownEdit, ...]:
    """The edits that are known for a failure's class, the smallest first; no edit is known where nothing failed."""
    if failure is None or failure.prediction:
        return ()
    return tuple(edit for edit in toolchains.named(toolchain).edits if failure.failure_class in edit.classes)


def edits_for(result: Result) -> tuple[KnownEdit, ...]:
    """The edits that ``compat fix`` tries on a cell: those known for its failure.

    There are none where its source is of a library, nor where the import of another file failed: edits are of the kernel's own.
    """
    spec, failure = result.cell.spec, result.outcome.failure
    source, edits = Path(spec.source), known_edits(failure, result.cell.env.toolchain)
    if not edits or failure is None or _is_elsewhere(failure, source):
        return ()
    roots = tuple(map(Path, spec.roots)) or roots_of(source)
    return () if spec.package or library_of(source, roots) else edits


def _is_elsewhere(failure: Failure, source: Path) -> bool:
    """Whether importing another file than the kernel's own failed."""
    return failure.stage == SOURCE_STAGE and (failure.location or source.name).rpartition(":")[0] not in ("", source.name)


def library_of(source: Path, roots: Iterable[Path]) -> str | None:
    """The requirement of the library of the package index that a source lies in, which no command edits; ``None`` elsewhere."""
    return next((found for root in roots if source.is_relative_to(root) and (found := requirement_of(root))), None)
