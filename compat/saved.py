"""Reports that were written: read from a file, or as a git revision has it.

In: the name of a ``matrix.json``, a path or ``REVISION:PATH``, or several. Out: the :class:`~compat.report.summary.record.Report`
that it was made from, or one of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

from compat.errors import StoreError
from compat.processes.supervisor import run
from compat.report.io.loading import load_reports
from compat.report.summary.record import Report

_HINT = "`compat matrix` writes reports/matrix.json; REVISION:PATH is a file as git has it."
_REVISION_HINT = (
    "REVISION:PATH is as `git show` takes it: `HEAD~1:reports/matrix.json`; a path that begins with ./ is from this folder."
)


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


def open_revision(name: str) -> BinaryIO:
    """A file that has the content of ``REVISION:PATH`` in the git repository of the current folder, as it was committed.

    Raises StoreError, with git's own words, where there is no such file, no repository, or no git.
    """
    if name.startswith("-"):
        raise StoreError("a revision does not begin with a hyphen", where=name, hint=_REVISION_HINT)
    with ExitStack() as stack:
        file = stack.enter_context(TemporaryFile())
        try:
            ended = run(["git", "cat-file", "blob", name], into=file)
        except FileNotFoundError as error:
            raise StoreError("git is not installed, and there is no file of this name", where=name, hint=_REVISION_HINT) from error
        if ended.exit_code:
            message = (ended.output.strip().splitlines() or ["it says nothing"])[0]
            raise StoreError(f"git has no such file: {message}", where=name, hint=_REVISION_HINT)
        file.seek(0)
        stack.pop_all()  # whoever asked for it closes it
        return file
