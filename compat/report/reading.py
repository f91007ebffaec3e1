"""A ``matrix.json`` as records of what stands in it, checked, and safe to show; cell by cell, so that its size matters little."""

from __future__ import annotations

import io
import re
from functools import lru_cache
from typing import Any, BinaryIO, TypeVar

from attrs import evolve

from compat import toolchains
from compat.errors import StoreError
from compat.execution.compacting import compact, once
from compat.json_stream import read_json_stream
from compat.model import NOT_RUN
from compat.printable import printable
from compat.records import RecordError, structure
from compat.report.document import SCHEMA
from compat.report.stored import StoredCell, StoredFailure, StoredMatrix, StoredVerdict

_T = TypeVar("_T")
_SHARD = re.compile(r"[1-9][0-9]{0,5}/[1-9][0-9]{0,5}")

Content = str | bytes | BinaryIO
"""The text of a file, or the file, opened to be read as bytes."""

HINT = "Is it a matrix.json, as `compat matrix` writes it?"


def stored_matrix(content: Content, where: str) -> StoredMatrix:
    """What a file holds; ``where`` is what errors call it. Raises StoreError."""
    reading = _Reading()
    try:
        document = _shown(read_json_stream(_opened(content), {"cells": reading.cell, "verdicts": reading.verdict}))
        _check_schema(document, where)
        return reading.matrix(document)
    except RecordError as error:
        raise StoreError(str(error), where=where, hint=HINT) from error
    except (ValueError, RecursionError) as error:
        words = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise StoreError(f"this is not JSON: {words}", where=where, hint=HINT) from error
    except OSError as error:
        raise StoreError(f"cannot be read: {error.strerror or error}", where=where, hint=HINT) from error


def _opened(content: Content) -> BinaryIO:
    if isinstance(content, str):
        return io.BytesIO(content.encode("utf-8", "backslashreplace"))
    return io.BytesIO(content) if isinstance(content, bytes) else content


class _Reading:
    """Cells and verdicts as they come."""

    def __init__(self) -> None:
        self._wrong: RecordError | None = None
        """The first that is not as it should be. It is told when it is known that the file has a schema that is read here."""

    def cell(self, place: int, value: Any) -> StoredCell | None:
        """The record of an item of ``cells``."""
        record = self._record(f"cells[{place}]", value, StoredCell)
        return _compacted(record) if record else None

    def verdict(self, place: int, value: Any) -> StoredVerdict | None:
        """The record of an item of ``verdicts``."""
        record = self._record(f"verdicts[{place}]", value, StoredVerdict)
        return evolve(record, intervals=once(record.intervals), not_tried=once(record.not_tried)) if record else None

    def matrix(self, document: dict[str, Any]) -> StoredMatrix:
        """The record of the whole, of which cells and verdicts are made already. Raises RecordError."""
        if self._wrong is not None:
            raise self._wrong
        made = {name: document[name] for name in ("cells", "verdicts") if isinstance(document.get(name), list)}
        rest = structure(_with_releases({**document, **{name: [] for name in made}}), StoredMatrix, more=True)
        for place, shard in enumerate(rest.shards):
            if not _SHARD.fullmatch(shard):
                raise RecordError(f"shards[{place}]: expected one of several, such as '3/8', found {shard!r}")
        records: dict[str, Any] = {name: tuple(those) for name, those in made.items()}
        return evolve(rest, **records)

    def _record(self, where: str, value: Any, kind: type[_T]) -> _T | None:
        try:
            return structure(_shown(value), kind, more=True)
        except RecordError as error:
            words = str(error)
            inside = where if words.startswith("the whole: ") else f"{where}."
            self._wrong = self._wrong or RecordError(f"{inside}{words.removeprefix('the whole')}")
            return None


def _compacted(cell: StoredCell) -> StoredCell:
    """The same cell in few bytes."""
    return evolve(
        cell,
        kernel=once(cell.kernel),
        variant=once(cell.variant),
        case=once(cell.case),
        target=once(cell.target),
        env=once(cell.env),
        stage=once(cell.stage),
        expectation=once(cell.expectation),
        failure=_compacted_failure(cell.failure) if cell.failure else None,
        attempts=once(cell.attempts),
        warnings=once(cell.warnings),
        metrics=compact(cell.metrics),
        stages=compact(cell.stages),
        stood_in=once(cell.stood_in),
        numbers=NOT_RUN if cell.numbers == NOT_RUN else cell.numbers,
    )


@lru_cache(maxsize=4096)
def _compacted_failure(failure: StoredFailure) -> StoredFailure:
    """The same failure; those that differ in their place or their artifacts alone share their texts."""
    texts = ("class_", "fingerprint", "excerpt", "stage", "advice")
    return evolve(failure, **{name: once(getattr(failure, name)) for name in texts})


def _shown(value: Any) -> Any:
    """The same with strings that are safe to show; records are made of such."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [_shown(item) for item in value]
    if isinstance(value, dict):
        return {printable(key): _shown(item) for key, item in value.items()}
    return value


def _check_schema(document: Any, where: str) -> None:
    schema = document.get("schema") if isinstance(document, dict) else None
    if type(schema) is not int or schema < 1:
        raise StoreError("this is no report: it does not say which schema it has", where=where, hint=HINT)
    if schema > SCHEMA:
        hint = "Install the triton-compat that wrote it, or a newer one."
        raise StoreError(f"it has schema {schema}, and this version reads schemas up to {SCHEMA}", where=where, hint=hint)


def _with_releases(document: dict[str, Any]) -> dict[str, Any]:
    """The release of an env stands under the name of its toolchain."""
    envs = document.get("envs")
    if not isinstance(envs, list):
        return document
    return {**document, "envs": [_with_release(env) if isinstance(env, dict) else env for env in envs]}


def _with_release(env: dict[str, Any]) -> dict[str, Any]:
    toolchain = env.get("toolchain", toolchains.DEFAULT.name)
    return {**env, "release": env.get(toolchain) if isinstance(toolchain, str) else None}
