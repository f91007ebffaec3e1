"""The report as the data of the page.

The data are small, because equal values are stored once, and quick to read, because they are in
columns. A *row* is a kernel in one variant and case for one target. A *point* is one release of a
row, with the cells of its envs. A point has the same mark as in ``matrix.md``
(:mod:`compat.report.summary.grid`). The facts of cells are those of ``matrix.json``
(:func:`compat.model.outcome.cell_document`).
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from attrs import define, field
from packaging.version import Version

from compat import toolchains
from compat.history.foresight import PACE
from compat.history.verdict import release_of
from compat.model import BuiltEnv, Cell, Result, Specialization
from compat.model.codec import unstructure
from compat.model.outcome import cell_document
from compat.report.summary.compact import coordinate_options, natural, numbers_of
from compat.report.summary.grid import (
    COMING,
    LEGEND,
    Mark,
    mark_of,
    phrase_in_full,
    remembered_mark,
)
from compat.report.summary.record import DistinctFailure, Report
from compat.report.summary.statements import excerpts
from compat.text import JsonObject, group_by_key, plain
from compat.tune.records import TunedRecord

_KINDS = {
    "ok": "good",
    "ok*": "good",
    "pred": "predicted",
    "n/a": "unable",
    "env": "unknown",
    "source": "unknown",
    "lost": "unknown",
    "flaky": "unsteady",
    "mixed": "unsteady",
    COMING: "absent",
    Mark().word: "absent",
}
"""The kind of a mark; every other one is ``bad``."""
UNEXPECTED, REMEMBERED = 1, 2
"""Further flags of a point."""


def pack_data(report: Report) -> str:
    """The data in the form that the page reads: JSON, compressed by gzip, as base64."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=6, mtime=0) as file:
        for piece in _pieces(_data(report)):
            file.write(piece.encode())
    return base64.b64encode(out.getbuffer()).decode()


def _pieces(value: object) -> Iterator[str]:
    """A value as JSON, in pieces. Columns become arrays, and functions become their results."""
    if callable(value):
        value = value()
    if isinstance(value, Column):
        yield "["
        yield ",".join("null" if number is None else repr(number) for number in value)
        yield "]"
    elif isinstance(value, dict) and any(
        callable(member) or isinstance(member, Column) for member in value.values()
    ):
        for number, (name, member) in enumerate(value.items()):
            yield f"{',' if number else '{'}{json.dumps(str(name), ensure_ascii=False)}:"
            yield from _pieces(member)
        yield "}"
    else:
        yield json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _data(report: Report) -> JsonObject:
    """The data, mostly columns of numbers, as JSON.

    Large parts are functions, which :func:`_pieces` calls when it writes them.
    """
    releases, tested = _releases(report), {release.label for release in report.releases}
    marks, points = _points(report, {label: number for number, (label, _) in enumerate(releases)})
    envs = sorted(report.envs, key=lambda built: natural(built.env.name))
    specs = {spec: number for number, spec in enumerate(report.specs)}
    files = {path: number for number, path in enumerate(report.sources)}
    owners = _owners(report)
    return {
        "releases": plain(
            [
                {
                    "label": label,
                    "fork": fork,
                    "tried": label in tested,
                    "toolchains": owners.get(label, []),
                }
                for label, fork in releases
            ]
        ),
        "marks": [
            {"word": word, "meaning": LEGEND[word], "kind": _KINDS.get(word, "bad")}
            for word in marks
        ],
        "rows": lambda: plain(_rows(report, specs)),
        "specs": lambda: plain([_spec(report, spec, files) for spec in specs]),
        "points": points,
        "cells": lambda: cell_columns(
            report.ordered_results, {built.env.name: number for number, built in enumerate(envs)}
        ),
        "failures": lambda: plain(
            [
                _failure(distinct, places)
                for places in (_examples(report),)
                for distinct in report.failures
            ]
        ),
        "suspicions": lambda: plain(_suspicions(report)),
        "tuned": lambda: plain(_tuning_answers(report)),
        "envs": plain([_env(built) for built in envs]),
        **({"api": plain(unstructure(report.api, compact=True))} if report.api else {}),
        "commands": plain(command_table(report.options, report.limits)),
        "sources": plain(
            [{"path": _shown_path(path), "text": text} for path, text in report.sources.items()]
        ),
    }


def _suspicions(report: Report) -> dict[int, str]:
    """Number of a cell that is likely slower than on the previous release → why, in a sentence."""
    suspects = {suspect.result.cell: suspect.sentence for suspect in report.slow_suspects}
    return {
        number: suspects[result.cell]
        for number, result in enumerate(report.ordered_results if suspects else ())
        if result.cell in suspects
    }


def _examples(report: Report) -> dict[Cell, int]:
    """The cells that are examples of failures, with their numbers."""
    examples = {distinct.example.cell for distinct in report.failures}
    return {
        result.cell: number
        for number, result in enumerate(report.ordered_results)
        if result.cell in examples
    }


def _releases(report: Report) -> list[tuple[str, bool]]:
    """The columns: every known release, tried or not, oldest first, then the tried forks."""
    remembered = {
        Version(release): release
        for verdict in report.verdicts
        for release in verdict.remembered_releases
    }
    labels = remembered | {Version(label): label for label in report.line}
    line = [labels[version] for version in sorted(labels)]
    return [
        *((label, False) for label in line),
        *((release.label, True) for release in report.releases if release.label not in line),
    ]


def _owners(report: Report) -> dict[str, tuple[str, ...]]:
    """Label of a release → titles of the toolchains that have it, as far as they are known."""
    pairs = [
        *((str(version), name) for name, line in report.existing.items() for version in line),
        *((release_of(built).label, built.env.toolchain) for built in report.envs),
    ]
    return group_by_key(
        (label, toolchains.look_up(name).title) for label, name in dict.fromkeys(pairs)
    )


# --- rows and points ------------------------------------------------------------------------------


def _rows(report: Report, specs: Mapping[Specialization, int]) -> JsonObject:
    verdicts = report.verdict_of
    first = {
        coordinate: results[0].cell.spec for coordinate, results in report.by_coordinate.items()
    }
    return {
        **{
            name: [coordinate[place] for coordinate in first]
            for place, name in enumerate(("kernel", "variant", "case", "target"))
        },
        "spec": [specs[spec] for spec in first.values()],
        "verdict": [
            phrase_in_full(verdicts[coordinate]) if coordinate in verdicts else ""
            for coordinate in first
        ],
    }


def _points(report: Report, releases: Mapping[str, int]) -> tuple[list[str], JsonObject]:
    """The marks that occur, and the points as columns, those of a row next to each other.

    Marks and failures are numbers, -1 for no failure. ``cells`` is the number of a point's cells,
    which follow each other in the order of the report.
    """
    columns = {name: Column() for name in ("row", "release", "mark", "failure", "flags", "cells")}
    earlier: dict[int, object] = {}
    mark_numbers: dict[str, int] = {}
    failures = {distinct.id: number for number, distinct in enumerate(report.failures)}

    def add(row: int, label: str, mark: Mark, cells: int) -> None:
        facts = (
            row,
            releases[label],
            mark_numbers.setdefault(mark.word, len(mark_numbers)),
            failures.get(mark.failure or "", -1),
            UNEXPECTED * mark.unexpected + REMEMBERED * (cells == 0),
            cells,
        )
        for column, fact in zip(columns.values(), facts, strict=True):
            column.add(fact)

    for row, (coordinate, points) in enumerate(report.points.items()):
        for point in points:
            add(row, point.release.label, mark_of(report, point), len(point.results))
        verdict = report.verdict_of.get(coordinate)
        for entry in verdict.entries if verdict else ():
            if entry.remembered and entry.release in releases:
                if entry.outcome and (failure := entry.outcome.failure):
                    earlier[len(columns["row"])] = plain(
                        [failure.failure_class, failure.fingerprint]
                    )
                add(row, entry.release, remembered_mark(entry), 0)
    marks = [word for word in LEGEND if word in mark_numbers or word == "-"]
    places, ordered = [marks.index(word) for word in mark_numbers], Column()
    for place in columns["mark"]:
        ordered.add(places[int(place or 0)])
    return marks, {**columns, "mark": ordered, "earlier": earlier}


# --- tuned kernels --------------------------------------------------------------------------------


def _tuning_answers(report: Report) -> list[JsonObject]:
    """The answers of ``compat tune`` for rows of the report."""
    if not report.tuned:
        return []
    rows = {coordinate: number for number, coordinate in enumerate(report.by_coordinate)}
    cells = {result.cell: number for number, result in enumerate(report.ordered_results)}
    answers = []
    for record in report.tuned:
        cases = dict.fromkeys((record.workload, *(config.case for config in record.configs)))
        coordinates = [(record.kernel, record.variant, case, record.target) for case in cases]
        own = [coordinate for coordinate in coordinates if coordinate in rows]
        if own:
            results = report.by_coordinate[own[0]]
            answers.append(
                {
                    "rows": [rows[coordinate] for coordinate in own],
                    "subject": "/".join(coordinates[0]),
                    "device": record.device,
                    "phrase": record.phrase,
                    "kept": record.configs[record.releases[0].best].label,
                    "places": list(_tuning_times(record, results, cells)),
                    "staying": [list(costs) for costs in record.staying],
                    "sentences": list(record.sentences),
                }
            )
    return answers


def _tuning_times(
    record: TunedRecord, results: Sequence[Result], cells: Mapping[Cell, int]
) -> Iterator[JsonObject]:
    """The times on each release: of the best config, and of the one that is best on the oldest."""
    numbers = {
        name: cells[result.cell]
        for result in reversed(results)
        for name in (result.cell.env.name, release_of(result.built).label)
    }
    baseline = record.releases[0].best
    for place, release in enumerate(record.releases):
        yield {
            "release": release.release,
            "cell": numbers.get(release.release),
            "best": record.configs[release.best].label,
            "us": record.latency(release.best, place),
            "kept": record.latency(baseline, place),
        }


# --- kernels, failures and envs -------------------------------------------------------------------


def _spec(report: Report, spec: Specialization, files: Mapping[str, int]) -> JsonObject:
    """A kernel; ``files`` are the numbers of its source and its imports, if the page has them."""
    source = report.source_of(spec)
    return {
        "toolchain": toolchains.look_up(spec.toolchain).title,
        "source": _shown_path(source),
        "own": source in files,
        "files": [
            files[path] for path in (source, *report.helpers.get(source, ())) if path in files
        ],
        "function": spec.function,
        "summary": spec.summary,
        "compile": {name: value for name, value in spec.compile.document().items() if value},
    }


def _shown_path(path: str) -> str:
    """A path from the project's folder, unchanged; for a file elsewhere only the name.

    The name does not reveal whose machine it was.
    """
    inside = path and not PurePosixPath(path).is_absolute()
    return path if inside else PurePosixPath(path).name


_WHERE = ("subject", "kernel", "variant", "releases", "targets")


def _failure(distinct: DistinctFailure, places: Mapping[Cell, int]) -> JsonObject:
    failure = distinct.failure
    texts = excerpts(distinct.example, distinct.results)
    return {
        "id": distinct.id,
        "class": failure.failure_class,
        "fingerprint": failure.fingerprint,
        "statuses": [str(status) for status in distinct.statuses],
        "cells": len(distinct.results),
        "where": [{name: getattr(where, name) for name in _WHERE} for where in distinct.where],
        "example": places[distinct.example.cell],
        "per_target": [list(pair) for pair in texts] if len(texts) > 1 else [],
        "edit": len(distinct.to_fix) == len(distinct.results),
        "reproducer": failure.reproducer,
        "ir": failure.ir,
    }


def _env(built: BuiltEnv) -> JsonObject:
    framework = toolchains.of(built.env).framework.title
    return {
        "name": built.env.name,
        "release": built.release,
        "framework": f"{framework} {built.framework_release}" if built.framework_release else None,
        "python": built.python_version,
        "digest": built.digest[:12],
        "packages": [
            f"{package.name} {package.version}"
            for package in sorted(built.packages, key=lambda package: package.name)
        ],
        "error": built.error,
    }


# --- commands -------------------------------------------------------------------------------------


CELL = "{kernel}/{variant}/{case}/{target}/{env}"
_COORDINATE = coordinate_options("{kernel}", "{variant}", "{case}", "{target}")
_COMPILE = ("compat", "matrix", *_COORDINATE, "--envs", "{env}", "--again")
UNTESTED = ("Compile it", _COMPILE)
"""The command for a cell without a result: the purpose, and the arguments."""
ALWAYS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Compile it again", _COMPILE),
    ("All facts about it", ("compat", "explain", CELL)),
    ("The release that changed it", ("compat", "bisect", *_COORDINATE)),
)
"""The commands for every cell with a result."""
FAILING: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("The smallest kernel that fails the same way", ("compat", "reduce", CELL)),
    ("A standalone script and an issue text", ("compat", "repro", CELL)),
)
"""Further commands for cells that fail."""
FIX = ("An edit that fixes it", ("compat", "fix", CELL))
"""The command for failures whose class has a known edit."""


def command_table(options: Sequence[str], limits: Sequence[str]) -> JsonObject:
    """The commands for cells without and with a result, that fail, and that have a known edit.

    ``options`` make a command read the same files. Commands that compile also get ``limits``.
    """

    def command(title: str, arguments: Sequence[str]) -> JsonObject:
        further = options if arguments[1] == "explain" else (*options, *limits)
        return {"title": title, "words": [*arguments, *further]}

    return {
        "untested": command(*UNTESTED),
        "always": [command(*entry) for entry in ALWAYS],
        "failing": [command(*entry) for entry in FAILING],
        "fix": command(*FIX),
    }


# --- facts of cells, as columns -------------------------------------------------------------------
#
# There is one array per fact, in the order of the report. Equal texts and records are stored once.


_NONE = -(1 << 31)
"""The whole number that means no number."""
_MOST = (1 << 31) - 1
_EXACT = 1 << 53
"""Whole numbers up to this one are exact as floating point."""


class Column:
    """A sequence of numbers and ``None``."""

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers: Any = array("i")
        """An array of whole numbers, else one of floating point, else a list."""

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, number: float | None) -> None:
        """Add a finite number, or ``None``."""
        numbers = self._numbers
        if type(numbers) is list:
            numbers.append(number)
        elif numbers.typecode == "i" and (
            number is None or (type(number) is int and -_MOST <= number <= _MOST)
        ):
            numbers.append(_NONE if number is None else number)
        elif number is None or type(number) is float or abs(number) <= _EXACT:
            if numbers.typecode == "i":
                self._numbers = numbers = array(
                    "d", (math.nan if stored == _NONE else stored for stored in numbers)
                )
            numbers.append(math.nan if number is None else number)
        else:
            self._numbers = [*self, number]

    def fill(self, length: int) -> None:
        """Add ``None`` until there are ``length`` entries."""
        while len(self._numbers) < length:
            self.add(None)

    def __iter__(self) -> Iterator[float | None]:
        if isinstance(self._numbers, list):
            yield from self._numbers
        elif self._numbers.typecode == "i":
            yield from (None if number == _NONE else number for number in self._numbers)
        else:
            yield from (
                None if math.isnan(number) else int(number) if number.is_integer() else number
                for number in self._numbers
            )


_RECORDS = ("failure", "expectation", "warnings", "attempts", "stood_in")
"""Facts that many cells share. The page has each once, and a cell has its number, or else 0."""
_PLAIN = ("env", "status", "stage", "compile_seconds", "flags")
"""Facts that each cell has for itself."""
_NAMED = ("status", "stage")
"""Facts among these with few different words."""
_RARE = ("numbers", "latency")
"""Facts of launches and the interpreter, by the number of the cell."""
_FLAGS = {"flaky": 1, "guessed": 2, "cached": 4}
_UNEXPECTED = 8


class Interned:
    """Distinct records, which have numbers. Record 0 is ``None``."""

    def __init__(self) -> None:
        self.records: list[object] = [None]
        self._places: dict[str, int] = {}

    def number(self, record: object) -> int:
        """The number of a record; 0 for an empty one."""
        if not record:
            return 0
        place = self._places.setdefault(
            json.dumps(record, sort_keys=True, default=str), len(self.records)
        )
        if place == len(self.records):
            self.records.append(record)
        return place


class Columns:
    """Facts of cells, as columns by the name of the fact. A cell without a fact has ``None``."""

    def __init__(self) -> None:
        self.columns: dict[str, Column] = {}

    def add(self, cell: int, facts: Iterable[tuple[str, float]]) -> None:
        """Add the facts of a cell; cells come in order."""
        for name, number in facts:
            if not math.isfinite(number):
                continue
            column = self.columns.get(name)
            if column is None:
                column = self.columns[name] = Column()
            column.fill(cell)
            column.add(number)

    def fill_all(self, cells: int) -> dict[str, Column]:
        """All columns, filled up to the number of cells."""
        for column in self.columns.values():
            column.fill(cells)
        return self.columns


def cell_columns(results: Iterable[Result], envs: Mapping[str, int]) -> JsonObject:
    """The facts of ``results``, in their order, with columns among them.

    ``envs`` has the number of each env.
    """
    cells = _Cells()
    for result in results:
        cells.add(cell_document(result), envs)
    return cells.document()


@define
class _Cells:
    """The facts of all cells while they are gathered."""

    count: int = 0
    columns: dict[str, Column] = field(
        factory=lambda: {name: Column() for name in (*_RECORDS, *_PLAIN)}
    )
    named: dict[str, dict[str, int]] = field(factory=lambda: {name: {} for name in _NAMED})
    """Fact → its words, with their numbers in the column."""
    interned: dict[str, Interned] = field(factory=lambda: {name: Interned() for name in _RECORDS})
    metrics: Columns = field(factory=Columns)
    stages: Columns = field(factory=Columns)
    metric_texts: dict[int, JsonObject] = field(factory=dict)
    """Metrics that are texts, by the number of the cell."""
    rare: dict[str, dict[int, object]] = field(factory=lambda: {name: {} for name in _RARE})

    def add(self, document: JsonObject, envs: Mapping[str, int]) -> None:
        """Add the next cell, in the form of ``matrix.json``."""
        for name, pool in self.interned.items():
            self.columns[name].add(pool.number(document[name]))
        for name, vocabulary in self.named.items():
            self.columns[name].add(vocabulary.setdefault(document[name], len(vocabulary)))
        self.columns["env"].add(envs[document["env"]])
        self.columns["compile_seconds"].add(document["compile_seconds"])
        flags = sum(bit for name, bit in _FLAGS.items() if document[name])
        self.columns["flags"].add(flags if document["expected"] else flags + _UNEXPECTED)
        metrics = {name: value for name, value in document["metrics"].items() if name != PACE}
        self.metrics.add(self.count, numbers_of(metrics))
        self.stages.add(
            self.count,
            ((stage, round(seconds, 3)) for stage, seconds in document["stages"].items()),
        )
        if texts := {
            name: value for name, value in document["metrics"].items() if isinstance(value, str)
        }:
            self.metric_texts[self.count] = texts
        for name, rows in self.rare.items():
            facts = document.get(name)
            if facts and any(value is not None for value in facts.values()):
                rows[self.count] = facts
        self.count += 1

    def document(self) -> JsonObject:
        """The facts of all cells, with columns among them."""
        return {
            **self.columns,
            **{
                name: {"words": plain(list(vocabulary)), "of": self.columns[name]}
                for name, vocabulary in self.named.items()
            },
            "records": {name: plain(pool.records) for name, pool in self.interned.items()},
            "metrics": self.metrics.fill_all(self.count),
            "stages": self.stages.fill_all(self.count),
            "words": plain(self.metric_texts),
            **plain(self.rare),
        }
