"""The site of a board: static pages from its data, which a browser can open from disk.

::

    index.html                 libraries × releases: how many kernels compile
    library/NAME.html          the page of a report, with all versions of a library
    release/RELEASE.html       what fails on a release, and what fails there first
    failures.html, failure/FINGERPRINT.html
    board.json, feed.xml, board.css, board.js, report.css, report.js

Names and fingerprints are the names of pages, so links stay valid.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property
from importlib.resources import files
from itertools import groupby
from pathlib import Path

from attrs import frozen
from jinja2 import Environment
from markupsafe import Markup

from compat.board.data import BoardData, join_reports
from compat.board.declaration import BoardDeclaration
from compat.board.gathering import record_of_board
from compat.board.record import (
    RECORD,
    UNKNOWN,
    AffectedKernel,
    BoardFailure,
    BoardRecord,
    BoardVersion,
    board_json,
)
from compat.errors import StoreError
from compat.files import replace_file
from compat.report.render.page import (
    SITE_POLICY,
    asset_text,
    html_environment,
    icons,
    in_script,
    matrix_html,
    site_assets,
)
from compat.report.summary.compact import coordinate_options, one_line
from compat.text import amount, write_json

_COMMON = 10
"""The most failures that the start page shows."""
_ROWS = 400
"""The most kernels that the page of a failure lists."""
_LONGEST_LINE = 140
"""The most characters of a compiler message in a list."""
_LONGEST_FILE = 100_000
"""The most characters of a file on the page of a failure."""


def write_site(
    board: BoardDeclaration, folder: Path, *, released: Mapping[str, date], url: str = ""
) -> tuple[Path, ...]:
    """Write the site of a board into a folder.

    Args:
        board: The board.
        folder: The folder for the site.
        released: Release → the day of its publication, for the feed.
        url: The address of the site, for its feed.

    Returns:
        The paths of the files.

    Raises:
        ConfigError: ``known.toml`` in the board's folder is invalid.
        StoreError: The board has no data, a report cannot be read, or the folder cannot be
            written.
    """
    data, record = BoardData(board.folder), record_of_board(board)
    record.check_has_data(str(board.folder))
    pages = _Pages(record, board.folder / "failures")
    texts = {
        "index.html": pages.index(),
        "failures.html": pages.failures(),
        RECORD: board_json(record),
        "board.css": asset_text("style", ("colours", "base")) + _board_asset("board.css"),
        **site_assets(),
        "board.js": asset_text("script", ("dom", "theme")) + _board_asset("board.js"),
        "feed.xml": pages.feed(released, url.rstrip("/")),
        **{f"release/{name}.html": pages.release(name) for name in record.releases},
        **{
            f"failure/{failure.slug}.html": pages.failure(number)
            for number, failure in enumerate(record.failures, 1)
        },
    }
    with StoreError.for_os_errors("the site cannot be written", where=folder):
        for name, text in texts.items():
            replace_file(folder / name, text)
        written = [folder / name for name in texts]
        by_library = groupby(data.reports(data.index()), key=lambda entry: entry[0])
        for library, entries in by_library:
            report = join_reports([report for _, _, report in entries])
            path = folder / "library" / f"{library}.html"
            replace_file(path, matrix_html(report, site="../"))
            written.append(path)
    return tuple(written)


@frozen(kw_only=True)
class ReleaseNumber:
    """How many kernels of a library's version work on a release, as the start page shows it."""

    works: int
    compiled: int
    unknown: int
    never: int
    """Kernels that work on no release; 0 if none was compiled on this one."""
    lost: int
    """Kernels that work on the previous release, and not on this one."""

    @property
    def text(self) -> str:
        """The number, with a question mark if some kernels have no answer."""
        return f"{self.works}{'?' if self.unknown else ''}"

    @property
    def sentence(self) -> str:
        """The number in a sentence."""
        if not (self.compiled or self.never):
            return "not compiled there"
        lost = f"; {self.lost} no longer {_verb(self.lost)}" if self.lost else ""
        never = f"; {self.never} {_verb(self.never)} on no release" if self.never else ""
        return (
            f"{self.works} of {amount(self.compiled, 'kernel')} {_verb(self.compiled)}{lost}{never}"
        )

    @property
    def tone(self) -> str:
        """The name of the number's colour."""
        if not self.compiled:
            return "none"
        if self.works == self.compiled:
            return "all"
        return "some" if self.works * 2 >= self.compiled else "few"


@frozen(kw_only=True)
class FailingGroup:
    """Kernels of a library's version that have the same failure on a release."""

    failure: BoardFailure
    kernels: tuple[tuple[str, bool], ...]
    """Kernel, and whether it works on the previous release."""


@frozen(kw_only=True)
class ReleasePart:
    """A library's version on the page of a release."""

    library: str
    version: str
    sentence: str
    groups: tuple[FailingGroup, ...]
    unknown: tuple[str, ...]


@frozen(kw_only=True)
class FeedEntry:
    """A breakage: a release, and a library's version that loses kernels there."""

    library: str
    version: str
    release: str
    updated: str
    title: str
    summary: str

    @property
    def id(self) -> str:
        """The id of the entry in the feed, which stays the same in later runs."""
        return f"urn:triton-compat:board:{self.release}:{self.library}:{self.version}"


def _verb(kernels: int) -> str:
    return "compiles" if kernels == 1 else "compile"


def number_of(version: BoardVersion, place: int) -> ReleaseNumber:
    """The number of a library's version on a release, which is an index in the releases."""
    return ReleaseNumber(
        works=len(version.works(place)),
        compiled=version.compiled_count(place),
        unknown=version.unknown(place),
        never=len(version.kernels) - len(version.usable) if version.is_compiled(place) else 0,
        lost=len(version.lost_kernels(place - 1, place)) if place else 0,
    )


def _bisect_command(failure: BoardFailure) -> str:
    """The command that finds the release since which the example of a failure fails."""
    which = coordinate_options(*failure.cell.split("/")[:4])
    return shlex.join(["compat", "bisect", *which, *shlex.split(failure.example)[3:]])


class _Pages:
    """The pages of a record."""

    def __init__(self, record: BoardRecord, scripts: Path) -> None:
        self.record = record
        self.scripts = _scripts(scripts)

    @cached_property
    def _templates(self) -> Environment:
        environment = html_environment("compat.board")
        environment.filters.update(first_line=_first_line, amount=amount)
        environment.globals.update(
            policy=SITE_POLICY,
            icons=icons(),
            record=self.record,
            scripts=self.scripts,
            number_of=number_of,
            extent_of=self._extent,
        )
        return environment

    def _page(self, template: str, page: str, up: str, **values: object) -> str:
        return self._templates.get_template(template).render(page=page, up=up, **values)

    def index(self) -> str:
        """The start page."""
        common = [
            (number, failure)
            for number, failure in enumerate(self.record.failures[:_COMMON], 1)
            if failure.dependent
        ]
        return self._page(
            "index.html.j2",
            "index",
            "",
            headline=headline(self.record),
            common=common,
            index=Markup(in_script(write_json(self._search_index(), indent=None))),
        )

    def failures(self) -> str:
        """The list of all failures."""
        numbers = {
            failure.fingerprint: number for number, failure in enumerate(self.record.failures, 1)
        }
        return self._page("failures.html.j2", "failures", "", numbers=numbers)

    def failure(self, number: int) -> str:
        """The page of a failure."""
        failure, rows = self.record.failures[number - 1], self.record.affected_kernels[number]
        met = {release for row in rows for release in row.releases}
        return self._page(
            "failure.html.j2",
            "failure",
            "../",
            failure=failure,
            number=number,
            bisect=_bisect_command(failure),
            rows=rows[:_ROWS],
            further=len(rows) - _ROWS,
            releases=[release for release in self.record.releases if release in met],
            files=self.scripts.get(failure.slug, ()),
        )

    def release(self, name: str) -> str:
        """The page of a release."""
        place = self.record.place(name)
        parts = [
            self._part(library.name, version, place)
            for library in self.record.libraries
            for version in reversed(library.versions)
            if version.rows
        ]
        return self._page(
            "release.html.j2",
            "release",
            "../",
            release=name,
            parts=parts,
            headline=headline(self.record, place),
        )

    def feed(self, released: Mapping[str, date], url: str) -> str:
        """The feed of breakages, the newest first."""
        entries = sorted(
            self._entries(released), key=lambda entry: (entry.updated, entry.id), reverse=True
        )
        return self._templates.get_template("feed.xml.j2").render(
            url=url,
            feed_id=f"{url}/feed.xml" if url else "urn:triton-compat:board",
            updated=entries[0].updated if entries else _moment(None),
            entries=entries,
        )

    def _part(self, library: str, version: BoardVersion, place: int) -> ReleasePart:
        marks = {kernel: version.mark(kernel, place) for kernel in version.kernels}
        lost = version.lost_kernels(place - 1, place) if place else {}
        groups: dict[int, list[tuple[str, bool]]] = defaultdict(list)
        for kernel, mark in marks.items():
            if mark > 0:
                groups[mark].append((kernel, kernel in lost))
        return ReleasePart(
            library=library,
            version=version.version,
            sentence=number_of(version, place).sentence,
            groups=tuple(
                FailingGroup(
                    failure=self.record.failures[number - 1],
                    kernels=tuple(sorted(kernels, key=lambda pair: (not pair[1], pair[0]))),
                )
                for number, kernels in sorted(groups.items(), key=lambda group: -len(group[1]))
            ),
            unknown=tuple(kernel for kernel, mark in marks.items() if mark == UNKNOWN),
        )

    def _extent(self, number: int) -> str:
        """How many kernels of how many libraries have a failure."""
        rows: Sequence[AffectedKernel] = self.record.affected_kernels[number]
        kernels = {(row.library, row.kernel) for row in rows}
        libraries = sorted({row.library for row in rows})
        where = libraries[0] if len(libraries) == 1 else f"{len(libraries)} libraries"
        return f"{amount(len(kernels), 'kernel')} of {where}"

    def _entries(self, released: Mapping[str, date]) -> Iterator[FeedEntry]:
        for library in self.record.libraries:
            version = library.newest
            for place, release in enumerate(self.record.releases[1:], 1):
                if lost := version.lost_kernels(place - 1, place):
                    classes = {
                        self.record.failures[number - 1].failure_class for number in lost.values()
                    }
                    yield FeedEntry(
                        library=library.name,
                        version=version.version,
                        release=release,
                        updated=_moment(released.get(release)),
                        title=(
                            f"{self.record.toolchain} {release} breaks"
                            f" {amount(len(lost), 'kernel')} of {library.name} {version.version}"
                        ),
                        summary=f"{', '.join(sorted(classes))}: {', '.join(lost)}",
                    )

    def _search_index(self) -> list[tuple[str, str, str]]:
        """Text, kind and link of each library, failure and kernel that a reader can search for."""
        libraries = [
            (library.name, "library", f"library/{library.name}.html")
            for library in self.record.libraries
        ]
        failures = [
            (
                f"{failure.failure_class} {failure.fingerprint}: {_first_line(failure.message)}",
                "failure",
                f"failure/{failure.slug}.html",
            )
            for failure in self.record.failures
        ]
        kernels = [
            (
                f"{library.name} {kernel}",
                "kernel",
                f"library/{library.name}.html#view=grid&q={kernel}",
            )
            for library in self.record.libraries
            for kernel in dict.fromkeys(
                kernel for version in library.versions for kernel in version.kernels
            )
        ]
        return [*libraries, *failures, *kernels]


def headline(record: BoardRecord, place: int = -1) -> str:
    """How many kernels of the libraries' newest versions a release compiles and breaks, as text."""
    place %= len(record.releases)
    newest = [library.newest for library in record.libraries]
    works = sum(len(version.works(place)) for version in newest)
    kernel_count = sum(version.compiled_count(place) for version in newest)
    libraries = sum(bool(version.compiled_count(place)) for version in newest)
    text = (
        f"{record.toolchain} {record.releases[place]} compiles {works:,} of"
        f" {amount(kernel_count, 'kernel')} that compile on some release, in"
        f" {amount(libraries, 'library', 'libraries')}"
    )
    lost = sum(len(version.lost_kernels(place - 1, place)) for version in newest) if place else 0
    if not place:
        return f"{text}."
    before = record.releases[place - 1]
    if not lost:
        return f"{text}. Every kernel that compiles with {before} still does."
    broken = f"{amount(lost, 'kernel')} that {_verb(lost)}"
    return f"{text}. {broken} with {before} no longer {'does' if lost == 1 else 'do'}."


def _first_line(text: str) -> str:
    return one_line(text.strip(), _LONGEST_LINE)


def _board_asset(name: str) -> str:
    return (files("compat.board") / "html" / name).read_text(encoding="utf-8")


def _moment(day: date | None) -> str:
    return f"{(day or date(2024, 1, 1)).isoformat()}T00:00:00Z"


def _scripts(folder: Path) -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Slug of a failure → name and text of its issue texts, and then of its scripts."""
    scripts: dict[str, tuple[tuple[str, str], ...]] = {}
    for place in sorted(folder.glob("*/")):
        texts = sorted(place.glob("*.md")) + sorted(place.glob("*.py"))
        scripts[place.name] = tuple(
            (path.name, path.read_text(encoding="utf-8", errors="replace")[:_LONGEST_FILE])
            for path in texts
        )
    return scripts
