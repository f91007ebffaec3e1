"""The data of a board on disk: a report for each version of a library, and an index.

::

    board/data/
        index.json                    which envs and targets each version was compiled for
        liger-kernel/0.6.4.json.xz    its matrix.json, compressed, without sources and folders

A version's report is written before the index names it. So a run that is killed between the two
only compiles again what the store already has.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path

from attrs import Factory, evolve, frozen
from packaging.version import Version

from compat import __version__
from compat.errors import StoreError
from compat.files import alone_in, replace_file
from compat.history.verdict import verdicts
from compat.model.codec import RecordError, structure, unstructure
from compat.report.document import matrix_json
from compat.report.loading import load_report, union
from compat.report.summary.record import Report
from compat.text import lazy_pattern, read_json, write_json

SCHEMA = 1
_PLACE = lazy_pattern(r"/[^\s\"'\\()<>:,]*/(?:site-packages|libraries/[^/\s\"\\]+)/")
"""The folder of a library or of an environment's packages on this machine, before a file in it."""
_LARGEST = 512 * 1024 * 1024
"""The most bytes that are read of an unpacked report."""


@frozen(kw_only=True)
class CompiledVersion:
    """The coverage of the report of a version."""

    columns: Mapping[str, tuple[str, ...]] = Factory(dict)
    """Env → the targets that the version was compiled for there."""
    problem: str = ""
    """The reason why there are no kernels; else empty."""
    seconds: float = 0.0
    """Seconds that the runs took."""
    captured: str = ""
    """The origin of its captured kernels (:attr:`compat.board.capturing.VersionCapture.origin`)."""


@frozen(kw_only=True)
class BoardIndex:
    """The coverage of a board's reports."""

    schema: int = SCHEMA
    tool: str = __version__
    """The version of triton-compat that made the reports."""
    libraries: Mapping[str, Mapping[str, CompiledVersion]] = Factory(dict)
    """Library → version → the coverage of its report."""

    def of(self, library: str, version: str) -> CompiledVersion:
        """The coverage of a version; empty if the version was never compiled."""
        return self.libraries.get(library, {}).get(version, CompiledVersion())

    def with_version(self, library: str, version: str, compiled: CompiledVersion) -> BoardIndex:
        """The index with another entry for a version."""
        versions = {**self.libraries.get(library, {}), version: compiled}
        ordered = {name: versions[name] for name in sorted(versions, key=Version)}
        libraries = {**self.libraries, library: ordered}
        return evolve(self, libraries={name: libraries[name] for name in sorted(libraries)})


class BoardData:
    """The reports of a board in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "data"
        self._index = self.folder / "index.json"

    def index(self) -> BoardIndex:
        """Read the index. Raises StoreError if the file is damaged."""
        with StoreError.for_os_errors("cannot be read", where=self._index):
            try:
                text = self._index.read_bytes()
            except FileNotFoundError:
                return BoardIndex()
        try:
            index = structure(read_json(text), BoardIndex)
        except (RecordError, ValueError) as error:
            raise StoreError(
                f"this is not the index of a board: {error}", where=str(self._index)
            ) from error
        if index.schema != SCHEMA:
            raise StoreError(
                f"it has schema {index.schema}, and this version reads schema {SCHEMA}",
                where=str(self._index),
            )
        # Another version may classify failures otherwise, so all cells count as new.
        return index if index.tool == __version__ else BoardIndex()

    def write_index(self, index: BoardIndex) -> None:
        """Write the index. Raises StoreError."""
        self._write(self._index, (write_json(unstructure(index)) + "\n").encode())

    def note(self, library: str, version: str, compiled: CompiledVersion) -> BoardIndex:
        """Add the coverage of a version to the index, and keep the entries of concurrent runs.

        Raises StoreError.
        """
        with StoreError.for_os_errors("cannot be written", where=self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            with alone_in(self.folder):
                index = self.index().with_version(library, version, compiled)
                self.write_index(index)
                return index

    def path(self, library: str, version: str) -> Path:
        """The file of a version's report."""
        return self.folder / library / f"{version}.json.xz"

    def write(self, library: str, version: str, report: Report) -> None:
        """Write the report of a version. It names files by their path in their package.

        Raises StoreError.
        """
        without = evolve(report, sources={}, attachments={}, api=None)
        text = _PLACE.sub("", "".join(matrix_json(without))).encode()
        self._write(self.path(library, version), lzma.compress(text, preset=6))

    def read(self, library: str, version: str) -> Report:
        """Read the report of a version. Raises StoreError if it is missing or damaged."""
        path = self.path(library, version)
        try:
            with lzma.open(path) as file:
                text = file.read(_LARGEST)
        except (OSError, EOFError, lzma.LZMAError) as error:
            raise StoreError(f"cannot be read: {error}", where=str(path)) from error
        return load_report(text, str(path))

    def reports(self, index: BoardIndex) -> Iterator[tuple[str, str, Report]]:
        """Library, version and report, for each version that has one. Raises StoreError."""
        for library, versions in index.libraries.items():
            for version, compiled in versions.items():
                if compiled.columns and not compiled.problem:
                    yield library, version, self.read(library, version)

    def _write(self, path: Path, content: bytes) -> None:
        with StoreError.for_os_errors("cannot be written", where=path):
            replace_file(path, content)


def join_reports(reports: Iterable[Report]) -> Report:
    """Join reports that have no cell in common. The facts of an env come from its last report."""
    every = tuple(reports)
    last = every[-1]
    envs = {built.env.name: built for report in every for built in report.envs}
    results = tuple(
        evolve(result, built=envs.get(result.cell.env.name, result.built))
        for result in chain(*(report.results for report in every))
    )
    return evolve(
        last,
        results=results,
        verdicts=verdicts(results, existing=last.existing),
        envs=tuple(envs.values()),
        seconds=sum(report.seconds for report in every),
        options=_options(every),
        variants=union(report.variants for report in every),
        helpers={name: files for report in every for name, files in report.helpers.items()},
    )


def _options(reports: Iterable[Report]) -> tuple[str, ...]:
    """The options that name all kernels of the reports, each pair of words once."""
    pairs = (
        pair
        for report in reports
        for pair in zip(report.options[::2], report.options[1::2], strict=True)
    )
    return tuple(chain(*dict.fromkeys(pairs)))
