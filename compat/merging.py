"""What several runs found, as one: reports of shards or of several machines, and the stores of several drivers.

In: the names of files, each a ``matrix.json`` or a ``results.sqlite``. Out: one :class:`~compat.report.summary.record.Report`, or
one store.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from pathlib import Path

from compat.errors import SelectionError
from compat.project import STATE, read_matrix
from compat.report.io.document import within_bounds
from compat.report.io.loading import load_reports
from compat.report.summary.compact import counted, listed
from compat.report.summary.record import Report
from compat.saved import opened
from compat.store import merging
from compat.store.merging import Merged
from compat.store.store import Store

_NAMED = 5
"""Cells that are named of those of which stores disagree."""


def are_stores(files: Sequence[Path]) -> bool:
    """Whether these are stores; else they are taken for reports. Raises SelectionError where some are and some are not."""
    stores = [file for file in files if merging.is_store(file)]
    if 0 < len(stores) < len(files):
        other = next(file for file in files if file not in stores)
        raise SelectionError(
            f"{stores[0]} is a store and {other} is none", hint="Join reports with reports, and stores with stores."
        )
    return bool(stores)


def merge_reports(files: Sequence[Path]) -> Report:
    """The report of one run of all that several have tried. A cell of which two do not say the same is flaky.

    Raises StoreError where a file is no report that this version reads, and where they do not go together.
    """
    return within_bounds(load_reports(opened(map(str, files)), overlapping=True))


def merge_stores(files: Sequence[Path], folder: Path | None = None) -> tuple[Path, Merged]:
    """Join stores to that of the project, or to the one in a folder, which may be none yet; where that is, and what came of it.

    Raises StoreError where one is no store of this version's, or cannot be read or written.
    """
    into = folder or read_matrix().base / STATE
    with Store(into) as store:
        return into, reduce(add, (merging.merge_store(file, store) for file in files))


def told_of(merged: Merged, files: int) -> list[str]:
    """What was joined, in words."""
    words = [f"{counted(merged.new, 'result')} of {counted(files, 'store')} new, {merged.known:,} known already"]
    words += [f"{counted(merged.unreadable, 'row')} cannot be read by this version"] if merged.unreadable else []
    words += [f"{counted(merged.artifacts, 'artifact')} missing beside them"] if merged.artifacts else []
    if found := merged.disagreeing:
        more = [f"{len(found) - _NAMED:,} more"] if len(found) > _NAMED else []
        words += [f"{counted(len(found), 'cell')} flaky, since they do not agree: {listed([*found[:_NAMED], *more])}"]
    return words
