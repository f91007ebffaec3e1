"""Read ``matrix.json``, and return the :class:`Report` that it was made from.

All formats can be made from the report again. Cells and verdicts become records while the file is
read, and equal parts are in memory once. The content of a file is not trusted: it is checked, and
made safe to show. The verdicts are computed again.
"""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, BinaryIO, TypeVar

from attrs import evolve, frozen
from packaging.version import InvalidVersion, Version

from compat import toolchains
from compat.errors import StoreError
from compat.history.account import Interval
from compat.history.verdict import Coordinate, coordinate_of, verdicts
from compat.model import (
    DEFAULT_TOOLCHAIN,
    NOT_RUN,
    BuiltEnv,
    Cell,
    Check,
    Env,
    Failure,
    Numbers,
    Outcome,
    Result,
    Specialization,
    Status,
    Target,
    ToolchainWarning,
)
from compat.model.codec import RecordError, record_of, structure
from compat.model.outcome import FRAMEWORK, RELEASE, CellRecord, compact_record, fate_of, once
from compat.pairs.records import Pair
from compat.report.document import (
    SCHEMA,
    EnvRecord,
    KernelRecord,
    MatrixRecord,
    VerdictRecord,
    is_packed,
)
from compat.report.summary.record import Report, ShardShare, shards_together
from compat.text import JsonObject, read_json_stream
from compat.tune.records import TunedRecord


def load_report(text: Content, where: str = "matrix.json") -> Report:
    """Return the report that a ``matrix.json`` contains.

    Args:
        text: The content of the file.
        where: Name of the file in errors.

    Raises:
        StoreError: The content is not a report, or it has another schema. The error names the
            place in the file.
    """
    return load_reports([(where, text)])


def load_reports(texts: Iterable[tuple[str, Content]], *, overlapping: bool = False) -> Report:
    """Return one report of several files, each with its name in errors.

    The files are of runs that tried different envs, targets or kernels. With ``overlapping``, they
    may have the same cells. Raises StoreError as :func:`load_report` does, and if files do not fit
    together.
    """
    parts = [(where, read_matrix(text, where)) for where, text in texts]
    where = ", ".join(where for where, _ in parts)
    matrix = join_parts(parts, overlapping=overlapping)
    del parts
    return _report(where, matrix)


# --- a file, checked ------------------------------------------------------------------------------


_T = TypeVar("_T")
_SHARD = re.compile(r"[1-9][0-9]{0,5}/[1-9][0-9]{0,5}")

Content = str | bytes | BinaryIO
"""The text of a file, or the file, opened to be read as bytes."""

HINT = "Is it a matrix.json, as `compat matrix` writes it?"


def read_matrix(content: Content, where: str) -> MatrixRecord:
    """Read a file into a record; ``where`` is its name in errors. Raises StoreError."""
    items = _Items()
    try:
        arrays = {"cells": items.cell, "verdicts": items.verdict}
        document = read_json_stream(_open_content(content), arrays)
        _check_schema(document, where)
        return items.matrix(document)
    except RecordError as error:
        raise StoreError(str(error), where=where, hint=HINT) from error
    except (ValueError, RecursionError) as error:
        message = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise StoreError(f"this is not JSON: {message}", where=where, hint=HINT) from error
    except OSError as error:
        raise StoreError(
            f"cannot be read: {error.strerror or error}", where=where, hint=HINT
        ) from error


def _open_content(content: Content) -> BinaryIO:
    if isinstance(content, str):
        return io.BytesIO(content.encode("utf-8", "backslashreplace"))
    return io.BytesIO(content) if isinstance(content, bytes) else content


class _Items:
    """The records of cells and verdicts, made while the file is read."""

    def __init__(self) -> None:
        self._error: RecordError | None = None
        """The first malformed item. :meth:`matrix` raises this error, after the schema was checked.
        """

    def cell(self, place: int, value: object) -> CellRecord | None:
        """The record of an item of ``cells``."""
        record = self._record(f"cells[{place}]", value, CellRecord)
        if record is None:
            return None
        names = (
            "kernel",
            "variant",
            "case",
            "target",
            "env",
            "release",
            "framework_release",
            "stage",
            "expectation",
        )
        shared: JsonObject = {name: once(getattr(record, name)) for name in names}
        numbers = NOT_RUN if record.numbers == NOT_RUN else record.numbers
        return evolve(compact_record(record), id="", numbers=numbers, **shared)

    def verdict(self, place: int, value: object) -> VerdictRecord | None:
        """The record of an item of ``verdicts``."""
        record = self._record(f"verdicts[{place}]", value, VerdictRecord)
        return (
            evolve(record, intervals=once(record.intervals), not_tried=once(record.not_tried))
            if record
            else None
        )

    def matrix(self, document: JsonObject) -> MatrixRecord:
        """The record of the whole file, whose cells and verdicts are already records.

        Raises RecordError.
        """
        if self._error is not None:
            raise self._error
        items = {
            name: document[name]
            for name in ("cells", "verdicts")
            if isinstance(document.get(name), list)
        }
        rest = structure(
            _with_releases({**document, **{name: [] for name in items}}), MatrixRecord, more=True
        )
        for place, shard in enumerate(rest.shards):
            if not _SHARD.fullmatch(shard):
                raise RecordError(
                    f"shards[{place}]: expected one of several, such as '3/8', found {shard!r}"
                )
        records: JsonObject = {name: tuple(those) for name, those in items.items()}
        return evolve(rest, **records)

    def _record(self, where: str, value: object, kind: type[_T]) -> _T | None:
        try:
            return structure(value, kind, more=True)
        except RecordError as error:
            message = str(error)
            inside = where if message.startswith("the whole: ") else f"{where}."
            self._error = self._error or RecordError(f"{inside}{message.removeprefix('the whole')}")
            return None


def _check_schema(document: object, where: str) -> None:
    schema = document.get("schema") if isinstance(document, dict) else None
    if type(schema) is not int:
        raise StoreError("this is not a report: it has no schema number", where=where, hint=HINT)
    if schema != SCHEMA:
        raise StoreError(
            f"it has schema {schema}, and this version reads schema {SCHEMA}",
            where=where,
            hint="Install the triton-compat that wrote it.",
        )


def _with_releases(document: JsonObject) -> JsonObject:
    """Give the releases of all envs the keys of the schema.

    In the file, their keys are the names of the env's toolchain and framework.
    """
    envs = document.get("envs")
    if not isinstance(envs, list):
        return document
    return {
        **document,
        "envs": [_with_release(env) if isinstance(env, dict) else env for env in envs],
    }


def _with_release(env: JsonObject) -> JsonObject:
    toolchain = toolchains.find(env.get("toolchain"))
    names = {RELEASE: toolchain.name, FRAMEWORK: toolchain.framework.name} if toolchain else {}
    return {
        **env,
        RELEASE: None,
        FRAMEWORK: None,
        **{key: env.get(name) for key, name in names.items()},
    }


# --- files of several runs as one -----------------------------------------------------------------
#
# The files come from jobs that each tried some of the envs with the same kernels.


_ALIKE: Mapping[str, tuple[str, Callable[[Any], Hashable]]] = {
    "envs": ("env", lambda env: env.name),
    "kernels": ("kernel", lambda kernel: f"{kernel.kernel}/{kernel.variant}/{kernel.case}"),
    "targets": (
        "target",
        lambda target: (
            target.name
            if target.toolchain == DEFAULT_TOOLCHAIN
            else f"{target.toolchain}:{target.name}"
        ),
    ),
    "sources": ("source", lambda source: source.path),
}
"""Part of a file that must be equal in all files that have it → its name, and its key."""
_HINT = "Join reports of the same version of the kernels that have no cell in common."

Part = tuple[str, MatrixRecord]
"""The name of a file, and its content."""


def join_parts(parts: Sequence[Part], *, overlapping: bool = False) -> MatrixRecord:
    """Join the contents of all files, at least one.

    With ``overlapping``, a cell with the same answer in several files is one cell, and a cell with
    different answers is flaky. Raises StoreError if the files do not fit together.
    """
    (_, first), *_ = parts
    for where, other in parts[1:]:
        _check_same(where, "version of triton-compat", first.tool.version, other.tool.version)
        _check_same(where, "choice of files", first.options, other.options)
    if not overlapping and len(parts) > 1:
        _check_cells(parts)
    matrices = [matrix for _, matrix in parts]
    alike: JsonObject = {field: _distinct_values(parts, field) for field in _ALIKE}
    cells = (
        unite_cells([matrix.cells for matrix in matrices])
        if overlapping
        else tuple(chain(*(matrix.cells for matrix in matrices)))
    )
    own = sum(len(matrix.cells) - matrix.earlier for matrix in matrices)
    return evolve(
        first,
        command=" && ".join(dict.fromkeys(matrix.command for matrix in matrices)),
        limits=max((matrix.limits for matrix in matrices), key=len),
        seconds=sum(matrix.seconds for matrix in matrices),
        cells=cells,
        earlier=max(0, len(cells) - own),
        shards=shards_together([_share(matrix) for matrix in matrices]),
        verdicts=tuple(verdict for matrix in matrices for verdict in matrix.verdicts),
        pairs=_merge_pairs(matrices),
        attachments=tuple(
            {
                attachment.name: attachment
                for matrix in matrices
                for attachment in matrix.attachments
            }.values()
        ),
        tuned=_merge_tuned_records(matrices),
        api=max(
            (matrix.api for matrix in matrices if matrix.api),
            key=lambda packed: len(packed.inspected_releases),
            default=None,
        ),
        helpers=union(matrix.helpers for matrix in matrices),
        variants=union(matrix.variants for matrix in matrices),
        existing={
            name: tuple(sorted(versions))
            for name, versions in union(matrix.existing for matrix in matrices).items()
        },
        **alike,
    )


def _merge_pairs(matrices: Sequence[MatrixRecord]) -> tuple[Pair, ...]:
    """The pairs of all files; of two answers about one, that with more failed programs."""
    pairs: dict[tuple[str, str], Pair] = {}
    for pair in (pair for matrix in matrices for pair in matrix.pairs):
        name = pair.env, pair.release
        pairs[name] = max(
            pairs.get(name, pair),
            pair,
            key=lambda pair: (pair.error is None, len(pair.failed_programs)),
        )
    return tuple(pairs.values())


def _merge_tuned_records(matrices: Sequence[MatrixRecord]) -> tuple[TunedRecord, ...]:
    """The answers of all files; of two for one workload and GPU, the one on more releases."""
    records: dict[tuple[str, ...], TunedRecord] = {}
    for record in (record for matrix in matrices for record in matrix.tuned):
        name = (record.kernel, record.variant, record.workload, record.target, record.device)
        if name not in records or len(records[name].releases) < len(record.releases):
            records[name] = record
    return tuple(records.values())


def _share(matrix: MatrixRecord) -> ShardShare:
    return ShardShare(shards=matrix.shards, envs=frozenset(env.name for env in matrix.envs))


def _check_same(where: str, what: str, one: object, other: object) -> None:
    if one != other:
        raise StoreError(
            f"it was made with a different {what} than the first report", where=where, hint=_HINT
        )


def _check_cells(parts: Sequence[Part]) -> None:
    """Raise StoreError if a cell is in two files.

    Other code reports a cell that is twice in one file.
    """
    seen: dict[str, str] = {}
    for where, matrix in parts:
        names = {name_of(cell) for cell in matrix.cells}
        for name in sorted(names & seen.keys()):
            raise StoreError(f"the cell {name} is also in {seen[name]}", where=where, hint=_HINT)
        seen |= dict.fromkeys(names, where)


def _distinct_values(parts: Sequence[Part], field: str) -> tuple[object, ...]:
    """The values of a field in all files, each once."""
    noun, called = _ALIKE[field]
    values: dict[Hashable, object] = {}
    for where, matrix in parts:
        for value in getattr(matrix, field):
            if values.setdefault(called(value), value) != value:
                raise StoreError(
                    f"the {noun} {called(value)} differs from that in the files before",
                    where=where,
                    hint=_HINT,
                )
    return tuple(values.values())


def union(mappings: Iterable[Mapping[str, tuple[_T, ...]]]) -> dict[str, tuple[_T, ...]]:
    """Name → the values of all mappings, each once, in the order of their first occurrence."""
    values_by_name: dict[str, dict[_T, None]] = {}
    for mapping in mappings:
        for name, values in mapping.items():
            values_by_name.setdefault(name, {}).update(dict.fromkeys(values))
    return {name: tuple(values) for name, values in values_by_name.items()}


_BETWEEN = "\n\nand in another run, "


def name_of(cell: CellRecord) -> str:
    """The name of a cell; no report has two with the same name."""
    return f"{cell.kernel}/{cell.variant}/{cell.case}/{cell.target}/{cell.env}"


def unite_cells(reports: Iterable[Sequence[CellRecord]]) -> tuple[CellRecord, ...]:
    """The cells of all reports, each once, in the order of their first occurrence."""
    cells_by_id: dict[str, CellRecord] = {}
    for cells in reports:
        for cell in cells:
            name = name_of(cell)
            cells_by_id[name] = _one(cells_by_id[name], cell) if name in cells_by_id else cell
    return tuple(cells_by_id.values())


def _one(first: CellRecord, second: CellRecord) -> CellRecord:
    """Join the records of a cell in two reports. An answer replaces a record without one."""
    if first.status.is_answer != second.status.is_answer:
        one = first if first.status.is_answer else second
    elif fate_of(first) == fate_of(second):
        one = first
    else:
        one = _flaky(first, second)
    return evolve(one, numbers=_numbers(first, second), latency=first.latency or second.latency)


def _flaky(first: CellRecord, second: CellRecord) -> CellRecord:
    """The failed one of two records, with the attempts and failures of both.

    A reader has to look at the failure.
    """
    one, other = (first, second) if first.failure is not None else (second, first)
    if not one.status.is_answer:
        return one
    failure = _both(one.failure, other.failure) if one.failure and other.failure else one.failure
    return evolve(
        one,
        flaky=True,
        expected=False,
        failure=failure,
        attempts=(*first.attempts, *second.attempts),
    )


def _both(one: Failure, other: Failure) -> Failure:
    if (one.failure_class, one.fingerprint) == (other.failure_class, other.fingerprint):
        return one
    return evolve(one, excerpt=f"{one.excerpt}{_BETWEEN}{other.failure_class}:\n{other.excerpt}")


def _numbers(first: CellRecord, second: CellRecord) -> Numbers:
    ours, second_numbers = first.numbers, second.numbers
    return evolve(
        ours,
        interpreter=_check(ours.interpreter, second_numbers.interpreter),
        gpu=_check(ours.gpu, second_numbers.gpu),
    )


def _check(one: Check | None, other: Check | None) -> Check | None:
    """Join two checks.

    Numbers that are right in one run and wrong in another run on the same device are unstable.
    """
    if one is None or other is None or other.right is None:
        return one or other
    if one.right is None or one.right == other.right:
        return other if one.right is None else one
    bad, good = (other, one) if one.right else (one, other)
    if bad.device != good.device:
        return bad
    return evolve(
        bad,
        status=Status.UNSTABLE,
        reason="; ".join(filter(None, (bad.reason, f"{good.status} in another run"))),
    )


# --- the report -----------------------------------------------------------------------------------


def _report(where: str, matrix: MatrixRecord) -> Report:
    try:
        return _Loading(matrix).report()
    except RecordError as error:
        raise StoreError(str(error), where=where, hint=HINT) from error


@frozen
class _Loading:
    """Converts records of a file into those of a report.

    Raises RecordError for records that do not fit together.
    """

    matrix: MatrixRecord

    def report(self) -> Report:
        results = self._results()
        return record_of(
            Report,
            self.matrix,
            results=results,
            verdicts=verdicts(
                results, remembered=self._earlier_results(results), existing=self.matrix.existing
            ),
            envs=tuple(self.envs.values()),
            version=self.matrix.tool.version,
            sources={source.path: source.text for source in self.matrix.sources},
            attachments={
                attachment.name: attachment.gzip
                for attachment in self.matrix.attachments
                if is_packed(attachment.gzip)
            },
            tuned=self._check_tuned_records(),
        )

    def _check_tuned_records(self) -> tuple[TunedRecord, ...]:
        for place, record in enumerate(self.matrix.tuned):
            if not record.is_sound:
                raise RecordError(f"tuned[{place}]: its configs and releases do not fit together")
        return self.matrix.tuned

    @cached_property
    def envs(self) -> Mapping[str, BuiltEnv]:
        """The envs by name."""
        for place, env in enumerate(self.matrix.envs):
            _check_toolchain(env.toolchain, f"envs[{place}]")
        return {env.name: _built_env(env) for env in self.matrix.envs}

    @cached_property
    def kernels(self) -> Mapping[tuple[str, str, str], KernelRecord]:
        """The kernels by kernel, variant and case."""
        for place, kernel in enumerate(self.matrix.kernels):
            _check_toolchain(kernel.toolchain, f"kernels[{place}]")
        return {
            (kernel.kernel, kernel.variant, kernel.case): kernel for kernel in self.matrix.kernels
        }

    @cached_property
    def targets(self) -> Mapping[tuple[str, str], Target]:
        """The targets by toolchain and name."""
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
                raise RecordError(
                    f"cells[{place}].target: there is no {record.target!r} in targets"
                )
            names = (record.kernel, record.variant, record.case, record.guessed)
            if (spec := specs.get(names)) is None:
                if names[:3] not in self.kernels:
                    raise RecordError(
                        f"cells[{place}].kernel: there is no {'/'.join(names[:3])} in kernels"
                    )
                spec = specs[names] = record_of(
                    Specialization, self.kernels[names[:3]], guessed=record.guessed
                )
            result = _result(record, spec, target, built)
            where = places.setdefault((record.target, record.env), (record.target, record.env))
            if where in seen[names[:3]]:
                raise RecordError(f"cells[{place}]: {result.cell.id} is there twice")
            seen[names[:3]].add(where)
            results.append(result)
        return tuple(results)

    def _earlier_results(self, results: tuple[Result, ...]) -> tuple[Result, ...]:
        """The results of earlier runs that the verdicts contain."""
        cells: dict[Coordinate, Cell] = {}
        for result in results:
            cells.setdefault(coordinate_of(result.cell.spec, result.cell.target), result.cell)
        return tuple(
            _earlier(verdict, release, cell)
            for verdict in self.matrix.verdicts
            if (cell := cells.get((verdict.kernel, verdict.variant, verdict.case, verdict.target)))
            for release in verdict.remembered
        )


def _check_toolchain(toolchain: str, where: str) -> None:
    if toolchain not in {installed.name for installed in toolchains.every()}:
        raise RecordError(f"{where}.toolchain: no toolchain called {toolchain!r} is installed here")


def _built_env(record: EnvRecord) -> BuiltEnv:
    env = Env(
        name=record.name,
        toolchain=record.toolchain,
        release=Version(record.release) if record.release else None,
        framework=toolchains.look_up(record.toolchain).framework.name,
        framework_release=Version(record.framework_release) if record.framework_release else None,
        distribution=record.distribution,
    )
    return BuiltEnv(
        env=env,
        python_version=record.python,
        packages=record.packages,
        error=record.error,
        digest=record.digest,
    )


def _result(record: CellRecord, spec: Specialization, target: Target, built: BuiltEnv) -> Result:
    cell = Cell(env=built.env, target=target, spec=spec)
    failure = record.failure and evolve(record.failure, toolchain=built.env.toolchain)
    return record_of(
        Result, record, cell=cell, built=built, outcome=record_of(Outcome, record, failure=failure)
    )


# --- earlier runs ---------------------------------------------------------------------------------


_REMEMBERED = ToolchainWarning(type="DeprecationWarning", message="deprecated, from an earlier run")
_UNSTEADY = Outcome(status=Status.REJECTED, stage="", flaky=True)
"""The outcome if earlier runs disagree: flaky, so nothing follows from it."""


def _earlier(verdict: VerdictRecord, label: str, cell: Cell) -> Result:
    """The result of an earlier run on a release, by its interval.

    Nothing is certain about a release outside all intervals.
    """
    version = Version(label)
    interval = next(
        (interval for interval in verdict.intervals if _contains(interval, version)), None
    )
    env = Env(name=label, toolchain=cell.spec.toolchain, release=version)
    return Result(
        cell=Cell(env=env, target=cell.target, spec=cell.spec),
        built=BuiltEnv(env=env),
        outcome=(
            _outcome(interval, env.toolchain, deprecated=label in verdict.deprecated)
            if interval
            else _UNSTEADY
        ),
        cached=True,
    )


def _outcome(interval: Interval, toolchain: str, *, deprecated: bool) -> Outcome:
    failure = None
    if interval.failure_class is not None:
        failure = Failure(
            failure_class=interval.failure_class,
            toolchain=toolchain,
            fingerprint=interval.fingerprint or "",
            stage="",
            excerpt="",
            advice="",
        )
    warnings = (_REMEMBERED,) if deprecated else ()
    return Outcome(status=interval.status, stage="", failure=failure, warnings=warnings)


def _contains(interval: Interval, version: Version) -> bool:
    try:
        return Version(interval.first) <= version <= Version(interval.last)
    except InvalidVersion:  # a fork has no version to compare
        return False
