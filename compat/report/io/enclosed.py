"""What a report encloses besides results: the text of kernels' sources, and what kept artifacts of its failures hold.

Nothing here reads a file: whoever makes the report gives the texts. There is a bound to each and to all together, so that a
``matrix.json`` stays one that is opened and sent; what is left out is still where it was.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath

from attrs import evolve

from compat.model import Result
from compat.report.summary.findings import place_of
from compat.report.summary.record import Report
from compat.text import lazy_pattern, printable

SOURCE_LIMIT = 256 * 1024
"""Characters of a source that is enclosed."""
SOURCES_LIMIT = 1024 * 1024
"""Characters of all that are."""
ATTACHMENT_LIMIT = 8 * 1024 * 1024
"""Characters of an artifact that is enclosed."""
ATTACHMENTS_LIMIT = 1024 * 1024
"""Bytes of all that are, as they stand in the file."""

_BASE64 = lazy_pattern(r"[A-Za-z0-9+/]*={0,2}", re.ASCII)


def enclosing(report: Report, source: Callable[[str], str | None], artifact: Callable[[str], str | None]) -> Report:
    """The report with the texts that belong to it.

    ``source`` has the text of a file, by its absolute path, and ``artifact`` that of what was kept under a name, as it may be shown
    to anybody; both have ``None`` for what is not to be had.
    """
    sources = dict(_bounded(_sources(report, source), SOURCES_LIMIT))
    return evolve(report, sources=sources, attachments=dict(_bounded(_attachments(report, artifact), ATTACHMENTS_LIMIT)))


def within_bounds(report: Report) -> Report:
    """The report with those of its texts that belong to it, as one run encloses them: several runs had a bound each."""
    sources = dict(_bounded(_sources(report, report.sources.get), SOURCES_LIMIT))
    packed = ((name, report.attachments[name]) for name in attached(report) if name in report.attachments)
    return evolve(report, sources=sources, attachments=dict(_bounded(packed, ATTACHMENTS_LIMIT)))


def is_packed(content: str) -> bool:
    """Whether that is what :attr:`~compat.report.summary.record.Report.attachments` have: base64 of something by gzip."""
    try:
        return _BASE64.fullmatch(content) is not None and base64.b64decode(content)[:2] == b"\x1f\x8b"
    except binascii.Error:
        return False


def _sources(report: Report, text_of: Callable[[str], str | None]) -> Iterator[tuple[str, str]]:
    """By path: of kernels that fail, then the files that these failures point at, then of the other kernels."""
    failing = {report.source_of(result.cell.spec): result.cell.spec.source for result in _failing(report.ordered)}
    others = {report.source_of(spec): spec.source for spec in report.specs}
    for path, absolute in (failing | _pointed_at(report) | others).items():
        text = text_of(absolute) if absolute else None
        if text is not None and len(text) <= SOURCE_LIMIT:
            yield path, printable(text)


def _pointed_at(report: Report) -> dict[str, str]:
    """Of the files that sources import those that a failure may point at, by path."""
    names = {place[0] for result in _failing(report.ordered) if (place := place_of(result))}
    helpers = (path for paths in report.helpers.values() for path in paths)
    return {path: str(PurePath(report.root) / path) for path in helpers if PurePath(path).name in names}


def _failing(results: Iterable[Result]) -> Iterator[Result]:
    return (result for result in results if result.outcome.failure)


def attached(report: Report) -> Iterator[str]:
    """The names of artifacts that belong to a report: of each distinct failure those that its example has."""
    named = (name for distinct in report.failures for name in (distinct.failure.reproducer, distinct.failure.ir))
    return (name for name in named if name)


def _attachments(report: Report, text_of: Callable[[str], str | None]) -> Iterator[tuple[str, str]]:
    for name in attached(report):
        text = text_of(name)
        if text is not None and len(text) <= ATTACHMENT_LIMIT:
            yield name, _packed(text)


def _packed(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode("utf-8", "backslashreplace"), mtime=0)).decode()


def _bounded(texts: Iterable[tuple[str, str]], limit: int) -> Iterator[tuple[str, str]]:
    """Those that fit in together; one that does not is left out, and smaller ones after it are not."""
    taken, room = set[str](), limit
    for name, text in texts:
        if name not in taken and len(text) <= room:
            taken.add(name)
            room -= len(text)
            yield name, text
