"""The record of a board, ``board.json``: every kernel on every release, and every failure.

A row is a kernel of a library's version for a target. It has a mark for each release. Marks and
failures are what the site, the feed and ``compat board check`` are made from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from attrs import Factory, field, frozen

from compat import __version__
from compat.envs.index import download
from compat.envs.listing import File
from compat.errors import StoreError
from compat.model.codec import RecordError, structure, unstructure
from compat.model.fields import KEY
from compat.text import JsonObject, group_by_key, read_json, write_json

RECORD = "board.json"
"""The name of the file with the record, in the board's folder and on the site."""
SCHEMA = 1
GOOD, UNKNOWN, UNTRIED = 0, -1, -2
"""Marks of a kernel on a release: it works there, there is no answer, or it was not compiled there.
A larger mark is the number of a failure, from one.
"""


@frozen(kw_only=True)
class BoardFailure:
    """A failure with one fingerprint, over all libraries."""

    fingerprint: str
    failure_class: str = field(metadata={KEY: "class"})
    status: str
    stage: str
    pass_: str | None = field(default=None, metadata={KEY: "pass"})
    message: str
    """The compiler's message."""
    advice: str
    edits: tuple[str, ...] = ()
    """The edits that are known for the class."""
    url: str = ""
    """The address of the upstream issue; empty if none is known."""
    note: str = ""
    example: str
    """The ``compat explain`` command for the smallest kernel that has the failure."""
    cell: str
    """The id of the example's cell on the page of its library."""
    library: str
    """The library of the example's kernel."""
    dependent: int = 0
    """The number of kernels that have this failure on some releases and work on others."""

    @property
    def slug(self) -> str:
        """The name of the failure's page: its fingerprint, with ``-`` for special characters."""
        return "".join(letter if letter.isalnum() else "-" for letter in self.fingerprint)


@frozen(kw_only=True)
class BoardRow:
    """A case of a kernel of a library's version for a target, over the releases of the board."""

    AS_ARRAY = True

    kernel: str
    case: str
    """The case, after the variant if there are several of them."""
    target: str
    marks: tuple[int, ...]
    """A mark for each release of the board, in order."""


@frozen(kw_only=True)
class BoardVersion:
    """A version of a library."""

    version: str
    problem: str = ""
    """Why it has no kernels."""
    guessed: int = 0
    """How many of its kernels have guessed arguments. The others have captured ones."""
    rows: tuple[BoardRow, ...] = ()

    @cached_property
    def kernels(self) -> Mapping[str, tuple[BoardRow, ...]]:
        """Kernel → its rows."""
        return group_by_key((row.kernel, row) for row in self.rows)

    @cached_property
    def counted_rows(self) -> Mapping[str, tuple[BoardRow, ...]]:
        """Kernel → its rows with a good or an unknown mark, or all its rows if none has one.

        The rows that fail on all releases do not count, because not every case of a kernel is meant
        for every target.
        """
        return {
            kernel: tuple(row for row in group if {GOOD, UNKNOWN}.intersection(row.marks)) or group
            for kernel, group in self.kernels.items()
        }

    @cached_property
    def usable(self) -> frozenset[str]:
        """The kernels that work on some release. Guessed arguments may be wrong for the others."""
        places = range(len(self.rows[0].marks)) if self.rows else ()
        return frozenset(kernel for place in places for kernel in self.works(place))

    def mark(self, kernel: str, release: int) -> int:
        """The mark of a kernel over all targets: its lowest failure, else unknown, else good.

        Targets that were not compiled do not count. If none was, the kernel is untried.
        """
        marks = {row.marks[release] for row in self.counted_rows[kernel]} - {UNTRIED}
        failures = [mark for mark in marks if mark > 0]
        return min(failures) if failures else min(marks, default=UNTRIED)

    def works(self, release: int) -> tuple[str, ...]:
        """The kernels that work on a release for every target that they were compiled for."""
        return tuple(kernel for kernel in self.kernels if self.mark(kernel, release) == GOOD)

    def is_compiled(self, release: int) -> bool:
        """Whether any kernel was compiled on a release."""
        return any(row.marks[release] != UNTRIED for row in self.rows)

    def compiled_count(self, release: int) -> int:
        """How many of the usable kernels were compiled on a release."""
        return sum(self.mark(kernel, release) != UNTRIED for kernel in self.usable)

    def unknown(self, release: int) -> int:
        """How many kernels have no answer on a release."""
        return sum(self.mark(kernel, release) == UNKNOWN for kernel in self.kernels)

    def lost_kernels(self, before: int, release: int) -> Mapping[str, int]:
        """Kernel → the number of its failure on ``release``, if the kernel works on ``before``.

        Both releases are indexes in the board's releases.
        """
        pairs = ((kernel, self.mark(kernel, release)) for kernel in self.works(before))
        return {kernel: mark for kernel, mark in pairs if mark > 0}


@frozen(kw_only=True)
class BoardLibraryRecord:
    """A library with its versions, the oldest first."""

    name: str
    versions: tuple[BoardVersion, ...]

    @property
    def newest(self) -> BoardVersion:
        """Its newest version."""
        return self.versions[-1]


@frozen(kw_only=True)
class AffectedKernel:
    """A kernel with a certain failure, and the targets and releases that it fails for."""

    library: str
    version: str
    kernel: str
    targets: tuple[str, ...]
    releases: tuple[str, ...]


@frozen(kw_only=True)
class BoardRecord:
    """The record of a board: its releases, targets, libraries and failures."""

    schema: int = SCHEMA
    tool: str = __version__
    toolchain: str
    """The title of the toolchain."""
    releases: tuple[str, ...]
    """The releases, the oldest first."""
    targets: tuple[str, ...]
    libraries: tuple[BoardLibraryRecord, ...]
    failures: tuple[BoardFailure, ...] = Factory(tuple)
    """The failures, in the order of their numbers. Those that depend on the release are first."""

    def check_has_data(self, where: str) -> None:
        """Raise StoreError if no library has been compiled yet."""
        if not self.releases:
            hint = "`compat board run` compiles the libraries."
            raise StoreError("the board has no data yet", where=where, hint=hint)

    def place(self, release: str) -> int:
        """The index of a release in the board's releases. Raises KeyError if it is not there."""
        try:
            return self.releases.index(release)
        except ValueError:
            raise KeyError(release) from None

    def library(self, name: str) -> BoardLibraryRecord | None:
        """The library with a name; ``None`` if the board does not have it."""
        return next((library for library in self.libraries if library.name == name), None)

    @cached_property
    def affected_kernels(self) -> Mapping[int, tuple[AffectedKernel, ...]]:
        """Number of a failure → the kernels that have it."""
        every: dict[int, list[AffectedKernel]] = defaultdict(list)
        for library in self.libraries:
            for version in library.versions:
                for kernel in version.kernels:
                    for number, met in self._targets_and_places(version, kernel).items():
                        targets, places = met
                        every[number].append(
                            AffectedKernel(
                                library=library.name,
                                version=version.version,
                                kernel=kernel,
                                targets=tuple(sorted(targets)),
                                releases=tuple(self.releases[place] for place in sorted(places)),
                            )
                        )
        return {number: tuple(every[number]) for number in sorted(every)}

    @staticmethod
    def _targets_and_places(
        version: BoardVersion, kernel: str
    ) -> Mapping[int, tuple[set[str], set[int]]]:
        met: dict[int, tuple[set[str], set[int]]] = defaultdict(lambda: (set(), set()))
        for row in version.kernels[kernel]:
            for place, mark in enumerate(row.marks):
                if mark > 0:
                    met[mark][0].add(row.target)
                    met[mark][1].add(place)
        return met


def board_document(record: BoardRecord) -> JsonObject:
    """The record as a JSON object."""
    document: JsonObject = unstructure(record)
    return document


def board_json(record: BoardRecord) -> str:
    """The text of ``board.json``."""
    return write_json(board_document(record), indent=None) + "\n"


def read_record(content: bytes, where: str) -> BoardRecord:
    """Read the record from the content of a ``board.json``.

    Raises:
        StoreError: The content is not a board record, or its schema has another version.
    """
    try:
        record = structure(read_json(content), BoardRecord)
    except (RecordError, ValueError) as error:
        raise StoreError(f"this is not the record of a board: {error}", where=where) from error
    if record.schema != SCHEMA:
        raise StoreError(
            f"it has schema {record.schema}, and this version reads schema {SCHEMA}", where=where
        )
    return record


def read_published(place: str) -> BoardRecord:
    """Read the record of a board from a file or an address.

    Raises:
        StoreError: The file cannot be read, or the content is not a board record.
        IndexUnavailable: The address cannot be read.
    """
    if place.startswith(("https://", "http://")):
        return read_record(download(File(filename=RECORD, url=place)), place)
    hint = "`compat board run` writes it. --record takes an address, too."
    with StoreError.for_os_errors("cannot be read", where=place, hint=hint):
        content = Path(place).read_bytes()
    return read_record(content, place)
