"""Reports that were written: read from a file, or as a git revision has it.

In: the name of a ``matrix.json``, a path or ``REVISION:PATH``. Out: the :class:`compat.report.Report` that it was made from.
"""

from __future__ import annotations

from pathlib import Path

from compat.errors import StoreError
from compat.execution.revisions import read_revision
from compat.report.loading import load_report
from compat.report.summary import Report

_HINT = "`compat matrix` writes reports/matrix.json; REVISION:PATH is a file as git has it."


def read_report(name: str) -> Report:
    """The report that a file holds. A name with a colon is a git revision and a path, where there is no such file.

    Raises StoreError where there is no such file, and for what is no report that this version reads.
    """
    path = Path(name)
    revision, colon, _ = name.partition(":")
    if colon and revision and not path.exists():
        return load_report(read_revision(name), where=name)
    try:
        return load_report(path.read_bytes(), where=name)
    except (OSError, ValueError) as error:
        raise StoreError(f"cannot be read: {getattr(error, 'strerror', None) or error}", where=name, hint=_HINT) from error
