"""A board as text: the result of a run, and the kernels that an upgrade breaks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from attrs import asdict

from compat.board.checking import BoardCheck, CheckedLibrary
from compat.board.record import BoardLibraryRecord, BoardRecord, BoardVersion
from compat.board.running import BoardUpdate
from compat.history.account import spans
from compat.report.render.blocks import Block, DataTable, Fit, Heading, TableColumn, TextLine
from compat.report.summary.compact import on_two_lines
from compat.text import JsonObject, amount, join_words

_NAMED = 8
"""The most kernels that a line names."""


def board_blocks(record: BoardRecord, update: BoardUpdate) -> Iterator[Block]:
    """How many kernels of each library work on each release, and what was compiled."""
    yield Fit((_table(record),), lambda: map(TextLine, _in_words(record)))
    yield TextLine()
    for place in range(1, len(record.releases)):
        yield from map(TextLine, _loss_lines(record, place))
    for name, problem in update.problems.items():
        yield TextLine(f"{name}: {problem}")
    compiled = sum(update.compiled.values())
    versions = amount(len(update.compiled), "version")
    yield TextLine(f"compiled {amount(compiled, 'cell')} of {versions}")


def _table(record: BoardRecord) -> DataTable:
    releases = (
        TableColumn(on_two_lines(release), right=True, wrap=False) for release in record.releases
    )
    return DataTable(
        columns=(TableColumn("library"), TableColumn("kernels", right=True), *releases),
        rows=tuple(
            (
                f"{library.name} {version.version}",
                str(len(version.kernels)),
                *(works_text(version, place) for place in range(len(record.releases))),
            )
            for library in record.libraries
            for version in library.versions
        ),
    )


def _in_words(record: BoardRecord) -> Iterator[str]:
    """The numbers of the table for a narrow terminal, a line for each version."""
    for library in record.libraries:
        for version in library.versions:
            releases: dict[str, list[str]] = defaultdict(list)
            for place, release in enumerate(record.releases):
                releases[works_text(version, place)].append(release)
            counts = (
                f"{text} on {spans(names, record.releases)}" for text, names in releases.items()
            )
            kernels = amount(len(version.kernels), "kernel")
            yield f"{library.name} {version.version}: {kernels}, {', '.join(counts)}"


def works_text(version: BoardVersion, place: int) -> str:
    """How many kernels of a version work on a release; a question mark if some have no answer."""
    if not (version.compiled_count(place) or version.unknown(place)):
        return "-"
    return f"{len(version.works(place))}{'?' if version.unknown(place) else ''}"


def _loss_lines(record: BoardRecord, place: int) -> Iterator[str]:
    """The libraries whose newest version loses kernels on a release, a line each."""
    for library in record.libraries:
        if lost := library.newest.lost_kernels(place - 1, place):
            yield (
                f"{record.releases[place]}: {_name(library)} loses {amount(len(lost), 'kernel')}"
            )


def _name(library: BoardLibraryRecord) -> str:
    return f"{library.name} {library.newest.version}"


def check_blocks(check: BoardCheck) -> Iterator[Block]:
    """The kernels that an upgrade breaks, library by library."""
    for library in check.libraries:
        yield Heading(f"{library.name} {library.installed}")
        yield from (TextLine(line, indent=2) for line in _library_lines(check, library))
    if check.libraries:
        yield TextLine()
    yield TextLine(_sentence(check))


def _library_lines(check: BoardCheck, library: CheckedLibrary) -> Iterator[str]:
    if not library.is_exact:
        yield f"the board has no {library.installed}; these results are of {library.version}"
    if library.guessed:
        yield f"the arguments of {amount(library.guessed, 'kernel')} are guessed"
    if library.kernels:
        works = f"{library.works} of {amount(library.kernels, 'kernel')}"
        compiles = "compiles" if library.kernels == 1 else "compile"
        yield f"{works} {compiles} with {check.toolchain} {check.before}"
    if library.unknown:
        further = "further kernel" if library.kernels else "kernel"
        yield f"no answer for {amount(library.unknown, further)}"
    for name, number in library.classes.items():
        kernels = [lost.kernel for lost in library.lost if lost.failure.failure_class == name]
        yield f"breaks {number}: {name}: {join_words(kernels, _NAMED)}"
    if library.mended:
        yield f"fixes {len(library.mended)}"


def _sentence(check: BoardCheck) -> str:
    upgrade = f"from {check.toolchain} {check.before} to {check.after}"
    if not check.libraries:
        return f"no installed package is on the board ({upgrade})"
    unknown = sum(library.unknown for library in check.libraries)
    rest = f"; no answer for {amount(unknown, 'kernel')}" if unknown else ""
    broken = [library for library in check.libraries if library.lost]
    if not broken:
        libraries = amount(len(check.libraries), "installed library", "installed libraries")
        breaks = "is known to break" if unknown else "breaks"
        return f"{upgrade}, no kernel of {libraries} {breaks}{rest}"
    lost = sum(len(library.lost) for library in broken)
    return (
        f"{upgrade}, {amount(lost, 'kernel')} of {join_words([library.name for library in broken])}"
        f" {'breaks' if lost == 1 else 'break'}{rest}"
    )


def check_document(check: BoardCheck) -> JsonObject:
    """The check as a JSON object."""
    return {
        "toolchain": check.toolchain,
        "from": check.before,
        "to": check.after,
        "libraries": [
            {
                **asdict(library, recurse=False),
                "lost": [
                    {
                        "kernel": lost.kernel,
                        "class": lost.failure.failure_class,
                        "fingerprint": lost.failure.fingerprint,
                    }
                    for lost in library.lost
                ],
                "mended": list(library.mended),
            }
            for library in check.libraries
        ],
    }
