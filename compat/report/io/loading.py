"""``matrix.json`` read back: the :class:`Report` that it was made from, of which every output can be made again.

Cells and verdicts become records as they are read, and what many of them have alike is in memory once.

What a file says is data, whoever wrote it: it is checked, and made safe to show. What the releases say together is computed again.
"""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, BinaryIO, TypeVar

from attrs import evolve, frozen
from packaging.version import InvalidVersion, Version

from compat import toolchains
from compat.cell_document import RELEASE, CellRecord
from compat.errors import StoreError
from compat.history.account import Interval
from compat.history.verdict import Coordinate, verdicts
from compat.json_text import JsonObject, read_json_stream
from compat.model import (
    NOT_RUN,
    BuiltEnv,
    Cell,
    Env,
    Failure,
    Noticed,
    Outcome,
    Result,
    Specialization,
    Status,
    Target,
)
from compat.model.compact import compacted, once
from compat.printable import printable
from compat.records import RecordError, record_of, structure
from compat.report.io import enclosed
from compat.report.io.joining import joined
from compat.report.io.matrix_records import SCHEMA, EnvRecord, KernelRecord, MatrixRecord, VerdictRecord
from compat.report.summary.record import Report

_REMEMBERED = Noticed(type="DeprecationWarning", message="deprecated, as an earlier run found")

_UNSTEADY = Outcome(status=Status.REJECTED, stage="", flaky=True)
"""Earlier runs found one thing and another, of which nothing is concluded."""


def load_report(text: Content, where: str = "matrix.json") -> Report:
    """The report that a ``matrix.json`` was made from; ``where`` is what errors call the file.

    Raises StoreError, with the place in the file, for what is no such file, and for one of a newer version.
    """
    return load_reports([(where, text)])


def load_reports(texts: Iterable[tuple[str, Content]], *, overlapping: bool = False) -> Report:
    """One report of several files, each with what errors call it: runs that tried other envs, targets or kernels.

    They may only be ``overlapping``, having the same cells, where that is said. Raises StoreError as :func:`load_report` does, and
    where files do not go together.
    """
    parts = [(where, read_matrix(text, where)) for where, text in texts]
    where = ", ".join(where for where, _ in parts)
    whole = joined(parts, overlapping=overlapping)
    del parts
    return _report(where, whole)


def _report(where: str, matrix: MatrixRecord) -> Report:
    try:
        return _Loading(matrix).report()
    except RecordError as error:
        raise StoreError(str(error), where=where, hint=HINT) from error


@frozen
class _Loading:
    """Records of a file as they become those of a report. Raises RecordError for what does not fit together."""

    matrix: MatrixRecord

    def report(self) -> Report:
        results = self._results()
        return Report(
            results=results,
            verdicts=verdicts(results, remembered=self._remembered(results), existing=self.matrix.existing),
            envs=tuple(self.envs.values()),
            command=self.matrix.command,
            seconds=self.matrix.seconds,
            existing=self.matrix.existing,
            api=self.matrix.api,
            options=self.matrix.options,
            limits=self.matrix.limits,
            shards=self.matrix.shards,
            earlier=self.matrix.earlier,
            version=self.matrix.tool.version,
            sources={source.path: source.text for source in self.matrix.sources},
            attachments={
                attachment.name: attachment.gzip for attachment in self.matrix.attachments if enclosed.is_packed(attachment.gzip)
            },
            variants=self.matrix.variants,
            helpers=self.matrix.helpers,
            pairs=self.matrix.pairs,
        )

    @cached_property
    def envs(self) -> Mapping[str, BuiltEnv]:
        """By name."""
        for place, env in enumerate(self.matrix.envs):
            _check_toolchain(env.toolchain, f"envs[{place}]")
        return {env.name: _built(env) for env in self.matrix.envs}

    @cached_property
    def kernels(self) -> Mapping[tuple[str, str, str], KernelRecord]:
        """By kernel, variant and case."""
        for place, kernel in enumerate(self.matrix.kernels):
            _check_toolchain(kernel.toolchain, f"kernels[{place}]")
        return {(kernel.kernel, kernel.variant, kernel.case): kernel for kernel in self.matrix.kernels}

    @cached_property
    def targets(self) -> Mapping[tuple[str, str], Target]:
        """By toolchain and name."""
        return {(target.toolchain, target.name): target for target in self.matrix.targets}

    def _results(self) -> tuple[Result, ...]:
        specs: dict[tuple[str, str, str, bool], Specialization] = {}
        seen: dict[tuple[str, str, str], set[tuple[str, str]]] = defaultdict(set)
        places: dict[tuple[str, str], tuple[str, str]] = {}
        results: list[Result] = []
        for place, record in enumerate(self.matrix.cells):
            if record.env not in self.envs:
                raise RecordError(f"cells[{place}].env: there is no {record.env!r} in envs")
            built = self.envs[record.env]
            target = self.targets.get((built.env.toolchain, record.target))
            if target is None:
                raise RecordError(f"cells[{place}].target: there is no {record.target!r} in targets")
            names = (record.kernel, record.variant, record.case, record.guessed)
            if (spec := specs.get(names)) is None:
                if names[:3] not in self.kernels:
                    raise RecordError(f"cells[{place}].kernel: there is no {'/'.join(names[:3])} in kernels")
                spec = specs[names] = record_of(Specialization, self.kernels[names[:3]], guessed=record.guessed)
            result = _result(record, spec, target, built)
            where = places.setdefault((record.target, record.env), (record.target, record.env))
            if where in seen[names[:3]]:
                raise RecordError(f"cells[{place}]: {result.cell.id} is there twice")
            seen[names[:3]].add(where)
            results.append(result)
        return tuple(results)

    def _remembered(self, results: tuple[Result, ...]) -> tuple[Result, ...]:
        """What earlier runs found, as far as the verdicts tell it."""
        cells: dict[Coordinate, Cell] = {}
        for result in results:
            spec, target = result.cell.spec, result.cell.target
            cells.setdefault((spec.kernel, spec.variant, spec.case, target.name), result.cell)
        return tuple(
            _earlier(verdict, release, cell)
            for verdict in self.matrix.verdicts
            if (cell := cells.get((verdict.kernel, verdict.variant, verdict.case, verdict.target)))
            for release in verdict.remembered
        )


def _check_toolchain(toolchain: str, where: str) -> None:
    if toolchain not in {installed.name for installed in toolchains.every()}:
        raise RecordError(f"{where}.toolchain: no toolchain called {toolchain!r} is installed here")


def _built(record: EnvRecord) -> BuiltEnv:
    env = Env(
        name=record.name,
        toolchain=record.toolchain,
        release=Version(record.release) if record.release else None,
        framework_release=Version(record.framework_release) if record.framework_release else None,
        distribution=record.distribution,
    )
    return BuiltEnv(env=env, python_version=record.python, packages=record.packages, error=record.error, digest=record.digest)


def _result(record: CellRecord, spec: Specialization, target: Target, built: BuiltEnv) -> Result:
    cell = Cell(env=built.env, target=target, spec=spec)
    failure = record.failure and evolve(record.failure, toolchain=built.env.toolchain)
    return record_of(Result, record, cell=cell, built=built, outcome=record_of(Outcome, record, failure=failure))


# --- earlier runs ----------------------------------------------------------------------------------------------------------------


def _earlier(verdict: VerdictRecord, label: str, cell: Cell) -> Result:
    """What an earlier run found on a release: what its interval says, nothing certain where it is in none."""
    version = Version(label)
    interval = next((interval for interval in verdict.intervals if _contains(interval, version)), None)
    env = Env(name=label, toolchain=cell.spec.toolchain, release=version)
    return Result(
        cell=Cell(env=env, target=cell.target, spec=cell.spec),
        built=BuiltEnv(env=env),
        outcome=_outcome(interval, env.toolchain, deprecated=label in verdict.deprecated) if interval else _UNSTEADY,
        cached=True,
    )


def _outcome(interval: Interval, toolchain: str, *, deprecated: bool) -> Outcome:
    return Outcome(
        status=interval.status,
        stage="",
        failure=_bare_failure(interval.failure_class, interval.fingerprint or "", toolchain)
        if interval.failure_class is not None
        else None,
        warnings=(_REMEMBERED,) if deprecated else (),
    )


def _bare_failure(failure_class: str, fingerprint: str, toolchain: str) -> Failure:
    """A failure of which no more is known."""
    return Failure(failure_class=failure_class, toolchain=toolchain, fingerprint=fingerprint, stage="", excerpt="", advice="")


def _contains(interval: Interval, version: Version) -> bool:
    try:
        return Version(interval.first) <= version <= Version(interval.last)
    except InvalidVersion:  # a fork, which stands for itself
        return False


_T = TypeVar("_T")
_SHARD = re.compile(r"[1-9][0-9]{0,5}/[1-9][0-9]{0,5}")

Content = str | bytes | BinaryIO
"""The text of a file, or the file, opened to be read as bytes."""

HINT = "Is it a matrix.json, as `compat matrix` writes it?"


def read_matrix(content: Content, where: str) -> MatrixRecord:
    """What a file holds; ``where`` is what errors call it. Raises StoreError."""
    items = _Items()
    try:
        document = _printable(read_json_stream(_opened(content), {"cells": items.cell, "verdicts": items.verdict}))
        _check_schema(document, where)
        return items.matrix(document)
    except RecordError as error:
        raise StoreError(str(error), where=where, hint=HINT) from error
    except (ValueError, RecursionError) as error:
        message = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise StoreError(f"this is not JSON: {message}", where=where, hint=HINT) from error
    except OSError as error:
        raise StoreError(f"cannot be read: {error.strerror or error}", where=where, hint=HINT) from error


def _opened(content: Content) -> BinaryIO:
    if isinstance(content, str):
        return io.BytesIO(content.encode("utf-8", "backslashreplace"))
    return io.BytesIO(content) if isinstance(content, bytes) else content


class _Items:
    """The records of cells and verdicts, made while the file is read."""

    def __init__(self) -> None:
        self._error: RecordError | None = None
        """The first that is not as it should be. It is raised when it is known that the file has the schema that is read here."""

    def cell(self, place: int, value: Any) -> CellRecord | None:
        """The record of an item of ``cells``."""
        record = self._record(f"cells[{place}]", value, CellRecord)
        if record is None:
            return None
        names = ("kernel", "variant", "case", "target", "env", "release", "framework_release", "stage", "expectation")
        shared: dict[str, Any] = {name: once(getattr(record, name)) for name in names}
        numbers = NOT_RUN if record.numbers == NOT_RUN else record.numbers
        return evolve(compacted(record), id="", numbers=numbers, **shared)

    def verdict(self, place: int, value: Any) -> VerdictRecord | None:
        """The record of an item of ``verdicts``."""
        record = self._record(f"verdicts[{place}]", value, VerdictRecord)
        return evolve(record, intervals=once(record.intervals), not_tried=once(record.not_tried)) if record else None

    def matrix(self, document: JsonObject) -> MatrixRecord:
        """The record of the whole, of which cells and verdicts are made already. Raises RecordError."""
        if self._error is not None:
            raise self._error
        items = {name: document[name] for name in ("cells", "verdicts") if isinstance(document.get(name), list)}
        rest = structure(_with_releases({**document, **{name: [] for name in items}}), MatrixRecord, more=True)
        for place, shard in enumerate(rest.shards):
            if not _SHARD.fullmatch(shard):
                raise RecordError(f"shards[{place}]: expected one of several, such as '3/8', found {shard!r}")
        records: dict[str, Any] = {name: tuple(those) for name, those in items.items()}
        return evolve(rest, **records)

    def _record(self, where: str, value: Any, kind: type[_T]) -> _T | None:
        try:
            return structure(_printable(value), kind, more=True)
        except RecordError as error:
            message = str(error)
            inside = where if message.startswith("the whole: ") else f"{where}."
            self._error = self._error or RecordError(f"{inside}{message.removeprefix('the whole')}")
            return None


def _printable(value: Any) -> Any:
    """The same with strings that are safe to show; records are made of such."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [_printable(item) for item in value]
    if isinstance(value, dict):
        return {printable(key): _printable(item) for key, item in value.items()}
    return value


def _check_schema(document: Any, where: str) -> None:
    schema = document.get("schema") if isinstance(document, dict) else None
    if type(schema) is not int:
        raise StoreError("this is no report: it does not say which schema it has", where=where, hint=HINT)
    if schema != SCHEMA:
        hint = (
            "Install the triton-compat that wrote it."
            if schema < SCHEMA
            else "Install the triton-compat that wrote it, or a newer one."
        )
        raise StoreError(f"it has schema {schema}, and this version reads schema {SCHEMA}", where=where, hint=hint)


def _with_releases(document: JsonObject) -> JsonObject:
    """The release of an env is under the name of its toolchain in the file."""
    envs = document.get("envs")
    if not isinstance(envs, list):
        return document
    return {**document, "envs": [_with_release(env) if isinstance(env, dict) else env for env in envs]}


def _with_release(env: JsonObject) -> JsonObject:
    toolchain = env.get("toolchain")
    return {**env, RELEASE: env.get(toolchain) if isinstance(toolchain, str) else None}
