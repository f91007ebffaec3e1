"""Cells that several reports have: one where these say the same of it, flaky where they do not. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import evolve

from compat.model import Check, Numbers, Status
from compat.report.stored import StoredCell, StoredFailure

_BETWEEN = "\n\nand in another run, "


def name_of(cell: StoredCell) -> str:
    """What a cell is called: no report has two that are called the same."""
    return f"{cell.kernel}/{cell.variant}/{cell.case}/{cell.target}/{cell.env}"


def united(reports: Iterable[Sequence[StoredCell]]) -> tuple[StoredCell, ...]:
    """The cells of all reports, each once, in the order in which they are met."""
    found: dict[str, StoredCell] = {}
    for cells in reports:
        for cell in cells:
            name = name_of(cell)
            found[name] = _one(found[name], cell) if name in found else cell
    return tuple(found.values())


def _one(first: StoredCell, second: StoredCell) -> StoredCell:
    """What two reports say of one cell. What is no answer gives way to one."""
    if first.status.is_answer != second.status.is_answer:
        one = first if first.status.is_answer else second
    elif _fate(first) == _fate(second):
        one = first
    else:
        one = _flaky(first, second)
    return evolve(one, numbers=_numbers(first, second), latency=first.latency or second.latency)


def _fate(cell: StoredCell) -> tuple[object, ...]:
    """What two reports have to say alike. How a limit was hit is as much a matter of the machine as of the kernel."""
    failure = cell.failure
    if cell.status in (Status.TIMED_OUT, Status.OUT_OF_MEMORY):
        return cell.status, cell.flaky
    return cell.status, cell.flaky, failure and (failure.class_, failure.fingerprint)


def _flaky(first: StoredCell, second: StoredCell) -> StoredCell:
    """What failed, since that has to be looked at, with the attempts of both; and what the other says, where that failed, too."""
    one, other = (first, second) if first.failure is not None else (second, first)
    if not one.status.is_answer:
        return one
    failure = _both(one.failure, other.failure) if one.failure and other.failure else one.failure
    return evolve(one, flaky=True, expected=False, failure=failure, attempts=(*first.attempts, *second.attempts))


def _both(one: StoredFailure, other: StoredFailure) -> StoredFailure:
    if (one.class_, one.fingerprint) == (other.class_, other.fingerprint):
        return one
    return evolve(one, excerpt=f"{one.excerpt}{_BETWEEN}{other.class_}:\n{other.excerpt}")


def _numbers(first: StoredCell, second: StoredCell) -> Numbers:
    ours, theirs = first.numbers, second.numbers
    return evolve(ours, interpreter=_check(ours.interpreter, theirs.interpreter), gpu=_check(ours.gpu, theirs.gpu))


def _check(one: Check | None, other: Check | None) -> Check | None:
    """What two checks say together: of numbers that are right in one run and wrong in another, that they are unstable."""
    if one is None or other is None or other.right is None:
        return one or other
    if one.right is None or one.right == other.right:
        return other if one.right is None else one
    bad, good = (other, one) if one.right else (one, other)
    return evolve(bad, status=Status.UNSTABLE, reason="; ".join(filter(None, (bad.reason, f"{good.status} in another run"))))
