"""Reports that were written: read from a file, or as a git revision has it.

In: the name of a ``matrix.json``, a path or ``REVISION:PATH``, or several. Out: the :class:`compat.report.Report` that it was made
from, or one of all.
"""

from __future__ import annotations

from pathlib import Path

from compat.errors import StoreError
from compat.execution.revisions import read_revision
from compat.report.loading import load_reports
from compat.report.summary import Report

_HINT = "`compat matrix` writes reports/matrix.json; REVISION:PATH is a file as git has it."


def read_report(*names: str) -> Report:
    """The report that a file holds, or that several hold together. A name with a colon is a git revision and a path, where there
    is no such file.

    Raises StoreError where there is no such file, for what is no report that this version reads, and for reports that do not go
    together.
    """
    return load_reports([(name, content(name)) for name in names])


def content(name: str) -> bytes:
    """What such a file holds. Raises StoreError where there is none."""
    path = Path(name)
    revision, colon, _ = name.partition(":")
    if colon and revision and not path.exists():
        return read_revision(name)
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise StoreError(f"cannot be read: {getattr(error, 'strerror', None) or error}", where=name, hint=_HINT) from error
