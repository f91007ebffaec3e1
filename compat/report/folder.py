"""Reports on disk: read them from files or git revisions, write them, and merge them.

To read, in: the name of a ``matrix.json``, a path or ``REVISION:PATH``, or several names. Out: the
:class:`~compat.report.summary.record.Report` that it was made from, or one report of all files. To
write, in: a report, and a folder. Out: the files in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import reduce
from operator import add
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

from compat.errors import SelectionError, StoreError
from compat.files import replace_file
from compat.processes.supervisor import run
from compat.project import STATE, read_matrix
from compat.report.document import within_bounds
from compat.report.loading import load_reports
from compat.report.render import FORMATS
from compat.report.summary.record import Report
from compat.store import merging
from compat.store.merging import StoreMerge
from compat.store.store import Store
from compat.text import amount, join_words

_HINT = "`compat matrix` writes reports/matrix.json; REVISION:PATH is a file as git has it."
_REVISION_HINT = (
    "REVISION:PATH is as `git show` takes it: `HEAD~1:reports/matrix.json`; a path that begins with"
    " ./ is from this folder."
)


def read_report(*names: str) -> Report:
    """Read one report, or several as one.

    Args:
        names: Paths of ``matrix.json`` files. If a name with a colon is not a file, it is a git
            revision and a path.

    Raises:
        StoreError: A file does not exist, is not a report that this version reads, or does not fit
            the others.
    """
    return load_reports(open_files(names))


def open_files(names: Iterable[str]) -> Iterator[tuple[str, BinaryIO]]:
    """Yield each file with its name. A file is closed when the next one is requested.

    Raises StoreError.
    """
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
        raise StoreError(
            f"cannot be read: {getattr(error, 'strerror', None) or error}",
            where=name or "''",
            hint=_HINT,
        ) from error


def open_revision(name: str) -> BinaryIO:
    """A file with the committed content of ``REVISION:PATH`` in a git repository.

    The repository is that of the current folder. Raises StoreError, with git's own message, if
    there is no such file, no repository, or no git.
    """
    if name.startswith("-"):
        raise StoreError("a revision does not begin with a hyphen", where=name, hint=_REVISION_HINT)
    with ExitStack() as stack:
        file = stack.enter_context(TemporaryFile())
        try:
            ended = run(["git", "cat-file", "blob", name], into=file)
        except FileNotFoundError as error:
            raise StoreError(
                "git is not installed, and there is no file of this name",
                where=name,
                hint=_REVISION_HINT,
            ) from error
        if ended.exit_code:
            message = (ended.output.strip().splitlines() or ["the file is empty"])[0]
            raise StoreError(f"git has no such file: {message}", where=name, hint=_REVISION_HINT)
        file.seek(0)
        stack.pop_all()  # the caller closes it
        return file


# --- the folder that a run writes its report into -------------------------------------------------


def write_reports(report: Report, folder: Path) -> tuple[Path, ...]:
    """Write a report in every format. Each file is written completely or not at all.

    Returns:
        The paths of the files.

    Raises:
        StoreError: The folder cannot be written.
    """
    formats = [always for always in FORMATS if always.file]
    try:
        for written in formats:
            replace_file(folder / written.file, written.render(report, ""))
    except OSError as error:
        raise StoreError(
            f"the report could not be written: {error.strerror or error}",
            where=str(folder),
            hint=(
                "All results are kept. Run the same command with another --output, without --again"
                " if it has that. It compiles nothing again."
            ),
        ) from error
    return tuple(folder / written.file for written in formats)


_NAMED = 5
"""The number of cells that a message names if stores disagree."""


def are_stores(files: Sequence[Path]) -> bool:
    """Whether the files are stores; otherwise they count as reports.

    Raises SelectionError if some are and some are not.
    """
    stores = [file for file in files if merging.is_store(file)]
    if 0 < len(stores) < len(files):
        other = next(file for file in files if file not in stores)
        raise SelectionError(
            f"{stores[0]} is a store, but {other} is not",
            hint="Join reports with reports, or stores with stores.",
        )
    return bool(stores)


def merge_reports(files: Sequence[Path]) -> Report:
    """Merge reports into one, as if one run had made it.

    A cell with two different answers is flaky.

    Raises:
        StoreError: A file is not a report that this version reads, or does not fit the others.
    """
    return within_bounds(load_reports(open_files(map(str, files)), overlapping=True))


def merge_stores(files: Sequence[Path], folder: Path | None = None) -> tuple[Path, StoreMerge]:
    """Merge stores into one.

    Args:
        files: The databases to merge.
        folder: Folder of the target store, created if needed. ``None``: the project's.

    Returns:
        The path of the target store, and what was merged.

    Raises:
        StoreError: A file is not a store of this version, or cannot be read or written.
    """
    into = folder or read_matrix().base / STATE
    with Store(into) as store:
        return into, reduce(add, (merging.merge_store(file, store) for file in files))


def store_merge_sentences(merged: StoreMerge, files: int) -> Iterator[str]:
    """The merged stores, in words."""
    new = f"{amount(merged.new, 'result')} of {amount(files, 'store')} new"
    yield f"{new}, {merged.known:,} known already"
    if merged.unreadable:
        yield f"{amount(merged.unreadable, 'row')} cannot be read by this version"
    if merged.artifacts:
        yield f"{amount(merged.artifacts, 'artifact')} missing beside them"
    if cells := merged.disagreeing:
        named = join_words(cells, _NAMED)
        yield f"{amount(len(cells), 'cell')} with different results: {named}"
