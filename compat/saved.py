"""Reports that were written: read from a file, or as a git revision has it.

In: the name of a ``matrix.json``, a path or ``REVISION:PATH``, or several. Out: the :class:`compat.report.Report` that it was made
from, or one of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from compat.errors import StoreError
from compat.execution.revisions import open_revision
from compat.report.loading import load_reports
from compat.report.summary import Report

_HINT = "`compat matrix` writes reports/matrix.json; REVISION:PATH is a file as git has it."


def read_report(*names: str) -> Report:
    """The report that a file holds, or that several hold together. A name with a colon is a git revision and a path, where there
    is no such file.

    Raises StoreError where there is no such file, for what is no report that this version reads, and for reports that do not go
    together.
    """
    return load_reports(opened(names))


def opened(names: Iterable[str]) -> Iterator[tuple[str, BinaryIO]]:
    """Such files one after the other, each with its name; closed when the next is asked for. Raises StoreError."""
    for name in names:
        with _file(name) as file:
            yield name, file


def _file(name: str) -> BinaryIO:
    path = Path(name)
    revision, colon, _ = name.partition(":")
    if colon and revision and not path.exists():
        return open_revision(name)
    try:
        return path.open("rb")
    except (OSError, ValueError) as error:
        raise StoreError(f"cannot be read: {getattr(error, 'strerror', None) or error}", where=name, hint=_HINT) from error
