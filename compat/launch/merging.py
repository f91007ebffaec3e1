"""Results from a GPU host: read them, keep them in the store, and add them to results of compiles.

The key of a result is the identity of its cell and the digest of its problem. So a result is valid
exactly as long as both stay the same.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from attrs import evolve, frozen

from compat.diagnosis.numbers import samples_of
from compat.errors import StoreError
from compat.launch.building import identity_of, problem_digest
from compat.model import NOT_RUN, Check, Latency, Result, Status
from compat.store.database import LaunchedRow
from compat.store.store import Store
from compat.text import JsonMapping, amount, group_by_key, printable, read_json, write_json
from compat.toolchains.pytorch.host.results import SCHEMA

_STATUSES = frozenset(
    {
        Status.OK,
        Status.WRONG,
        Status.UNSTABLE,
        Status.FAULTED,
        Status.LAUNCH_REFUSED,
        Status.TIMED_OUT,
        Status.UNSUPPORTED,
    }
)
_LONGEST = 2000
"""The maximum number of characters of a text."""
_HINT = "Name a file that launch.py wrote."


class _MalformedLine(Exception):
    """A line is not a valid result."""


@frozen(kw_only=True)
class MergedResults:
    """The numbers of results of each kind in a file."""

    stored: int
    """The number of stored results."""
    lost: int
    """Number of cells without an answer."""
    unreadable: int
    """Number of lines that cannot be read, such as a truncated one."""

    def __add__(self, other: MergedResults) -> MergedResults:
        return MergedResults(
            stored=self.stored + other.stored,
            lost=self.lost + other.lost,
            unreadable=self.unreadable + other.unreadable,
        )


NOTHING = MergedResults(stored=0, lost=0, unreadable=0)


def merge(path: Path, store: Store) -> MergedResults:
    """Keep the results of a file in the store. If a cell occurs twice, the last result counts.

    Raises:
        StoreError: The file does not contain results.
    """
    with StoreError.for_os_errors("cannot read the results", where=path, hint=_HINT):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return merge_lines(map(_parse_line, filter(str.strip, lines)), store, where=str(path))


def _parse_line(line: str) -> object:
    try:
        return read_json(line)
    except ValueError:
        return None


def merge_lines(lines: Iterable[object], store: Store, *, where: str) -> MergedResults:
    """Keep the result of each line in the store; ``where`` names their origin in errors.

    Raises StoreError if none of the lines is a result, or if a line has another schema.
    """
    rows: dict[tuple[str, str, str], LaunchedRow] = {}
    lost: set[tuple[str, str]] = set()
    unreadable = 0
    for line in lines:
        try:
            result = _object(line)
            if result.get("schema") != SCHEMA:
                raise StoreError(
                    f"it has schema {result.get('schema')!r}, and this version reads {SCHEMA}",
                    where=where,
                    hint=_HINT,
                )
            place = (_text(result, "identity"), _text(result, "problem"))
            if _object(result.get("check")).get("status") == Status.LOST:
                lost.add(place)
                continue
            row = _row(result)
        except (_MalformedLine, ValueError):
            unreadable += 1
            continue
        rows[row.identity, row.problem, row.device] = row
        lost.discard(place)
    if not rows and not lost:
        raise StoreError("the file has no results", where=where, hint=_HINT)
    store.add_launched(tuple(rows.values()))
    return MergedResults(stored=len(rows), lost=len(lost), unreadable=unreadable)


def with_launched(results: Sequence[Result], store: Store) -> tuple[Result, ...]:
    """Return results with the launches of the cells that the store has.

    If a cell was launched on several GPUs, one with wrong numbers counts, or else the GPU with the
    most launches of ``results``.
    """
    launches = _launches(results, store)
    counts = Counter(row.device for rows in launches for row in rows)

    def place_of(row: LaunchedRow) -> tuple[bool, int, str]:
        return len(counts) > 1 and not _is_wrong(row), -counts[row.device], row.device

    return tuple(
        _add_launch(result, min(rows, key=place_of)) if rows else result
        for result, rows in zip(results, launches, strict=True)
    )


def with_every_launch(results: Sequence[Result], store: Store) -> tuple[Result, ...]:
    """Return results with the launches in the store, one result for each GPU of a cell."""
    return tuple(
        launched
        for result, rows in zip(results, _launches(results, store), strict=True)
        for launched in ([_add_launch(result, row) for row in rows] or [result])
    )


def _launches(results: Sequence[Result], store: Store) -> list[tuple[LaunchedRow, ...]]:
    """Return the stored launches of each result, one for each GPU."""
    places = [_place(result) if _can_be_known(result) else None for result in results]
    stored = store.launch_rows(place[0] for place in places if place)
    rows = group_by_key(((row.identity, row.problem), row) for row in stored)
    return [rows.get(place, ()) if place else () for place in places]


def with_launch_of(result: Result, identity: str, store: Store) -> Result:
    """Return a result with the stored launch of another identity.

    An example of such an identity is a combination of two releases. Of several GPUs, one with wrong
    numbers counts.
    """
    assert result.cell.spec.problem is not None
    digest = problem_digest(result.cell.spec.problem)
    rows = [row for row in store.launch_rows([identity]) if row.problem == digest]
    if not rows:
        return evolve(result, numbers=NOT_RUN, latency=None)
    return _add_launch(result, min(rows, key=lambda row: (not _is_wrong(row), row.device)))


def _can_be_known(result: Result) -> bool:
    return (
        result.outcome.has_code
        and result.cell.spec.problem is not None
        and result.built.error is None
    )


def _place(result: Result) -> tuple[str, str]:
    assert result.cell.spec.problem is not None
    return identity_of(result.cell, result.built), problem_digest(result.cell.spec.problem)


def _is_wrong(row: LaunchedRow) -> bool:
    try:
        return _check(_object(read_json(row.result)), row.device).right is False
    except (_MalformedLine, ValueError):
        return False


def _add_launch(result: Result, row: LaunchedRow) -> Result:
    try:
        launched = _object(read_json(row.result))
        worker = _worker(launched)
        check, latency = (
            _check(launched, row.device, worker),
            _latency(launched.get("latency"), row.device, worker),
        )
    except (_MalformedLine, ValueError):  # no version of this tool wrote this row
        return result
    return evolve(result, numbers=evolve(result.numbers, gpu=check), latency=latency)


# --- one line -------------------------------------------------------------------------------------


def _row(result: Mapping[str, object]) -> LaunchedRow:
    device = _text(_object(result.get("device")), "name")
    _check(result, device)
    _latency(result.get("latency"), device)
    return LaunchedRow(
        identity=_text(result, "identity"),
        problem=_text(result, "problem"),
        device=printable(device),
        cell=printable(_text(result, "cell")),
        object=_text(result, "object"),
        result=write_json({name: result.get(name) for name in ("check", "latency", "device")}),
    )


def _check(result: Mapping[str, object], device: str, worker: str | None = None) -> Check:
    check = _object(result.get("check"))
    status = check.get("status")
    if status not in _STATUSES:
        raise _MalformedLine
    return Check(
        status=Status(status),
        max_abs=_number(check.get("max_abs")),
        max_rel=_number(check.get("max_rel")),
        where=_short_text(check.get("where")),
        reason=_short_text(check.get("reason")),
        launches=_count(check.get("launches")),
        differing=_count(check.get("differing")),
        device=device,
        worker=worker,
        samples=samples_of(check.get("values")),
    )


def _worker(launched: JsonMapping) -> str | None:
    """The worker of a cluster that launched the cell."""
    device = launched.get("device")
    return (_short_text(device.get("worker")) or None) if isinstance(device, dict) else None


def _latency(value: object, device: str, worker: str | None = None) -> Latency | None:
    if value is None:
        return None
    latency = _object(value)
    us, spread = _number(latency.get("us")), _number(latency.get("spread"))
    if not us or spread is None:  # no launch takes no time
        raise _MalformedLine
    return Latency(
        us=us,
        spread=spread,
        baseline_us=_number(latency.get("baseline_us")),
        ratio=_number(latency.get("ratio")),
        device=device,
        worker=worker,
    )


def _object(value: object) -> JsonMapping:
    if not isinstance(value, dict):
        raise _MalformedLine
    return value


def _text(result: Mapping[str, object], name: str) -> str:
    value = result.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST:
        raise _MalformedLine
    return value


def _short_text(value: object) -> str:
    return printable(value[:_LONGEST]) if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    is_number = (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and value >= 0
    )
    return float(value) if is_number else None  # type: ignore[arg-type]


def _count(value: object) -> int | None:
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31
        else None
    )


def merge_summary(merged: Iterable[MergedResults]) -> str:
    """The merged results, in words."""
    total = sum(merged, NOTHING)
    parts = [f"launched {amount(total.stored, 'cell')}"]
    parts += [f"{total.lost:,} lost"] if total.lost else []
    parts += [amount(total.unreadable, "unreadable line")] if total.unreadable else []
    return ", ".join(parts)
