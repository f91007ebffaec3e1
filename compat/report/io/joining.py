"""Files of several runs as one: those of jobs that each tried some of the envs, and kernels that are the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from attrs import evolve
from packaging.version import Version

from compat.cell_document import CellRecord
from compat.errors import StoreError
from compat.model import DEFAULT_TOOLCHAIN, Check, Failure, Numbers, Status
from compat.report.io.matrix_records import MatrixRecord
from compat.report.summary.record import ShardShare, shards_together

_ALIKE: Mapping[str, tuple[str, Callable[[Any], Hashable]]] = {
    "envs": ("env", lambda env: env.name),
    "kernels": ("kernel", lambda kernel: f"{kernel.kernel}/{kernel.variant}/{kernel.case}"),
    "targets": (
        "target",
        lambda target: target.name if target.toolchain == DEFAULT_TOOLCHAIN else f"{target.toolchain}:{target.name}",
    ),
    "sources": ("source", lambda source: source.path),
}
"""What may be in several files, and has to be the same in all of them: what it is, and what it is called."""
_HINT = "Only reports of one version of the kernels can be joined, in which no cell is twice."

Part = tuple[str, MatrixRecord]
"""What a file is called, and what it holds."""


def joined(parts: Sequence[Part], *, overlapping: bool = False) -> MatrixRecord:
    """What all the files hold together, of which there is at least one. Raises StoreError where they do not go together.

    Where they may be ``overlapping``, a cell of which several say the same is one, and one of which they do not is flaky.
    """
    (_, first), *_ = parts
    for where, other in parts[1:]:
        _check_same(where, "version of triton-compat", first.tool.version, other.tool.version)
        _check_same(where, "choice of files", first.options, other.options)
    if not overlapping and len(parts) > 1:
        _check_cells(parts)
    matrices = [matrix for _, matrix in parts]
    alike: dict[str, Any] = {field: _alike(parts, field) for field in _ALIKE}
    return evolve(
        first,
        command=" && ".join(dict.fromkeys(matrix.command for matrix in matrices)),
        limits=max((matrix.limits for matrix in matrices), key=len),
        seconds=sum(matrix.seconds for matrix in matrices),
        cells=united([matrix.cells for matrix in matrices]) if overlapping else tuple(chain(*(each.cells for each in matrices))),
        earlier=sum(matrix.earlier for matrix in matrices),
        shards=shards_together([_share(matrix) for matrix in matrices]),
        verdicts=tuple(verdict for matrix in matrices for verdict in matrix.verdicts),
        pairs=tuple({(pair.env, pair.release): pair for matrix in matrices for pair in matrix.pairs}.values()),
        attachments=tuple({attachment.name: attachment for matrix in matrices for attachment in matrix.attachments}.values()),
        api=max((matrix.api for matrix in matrices if matrix.api), key=lambda packed: len(packed.seen), default=None),
        helpers=_union(matrix.helpers for matrix in matrices),
        variants=_union(matrix.variants for matrix in matrices),
        existing={name: tuple(sorted(known)) for name, known in _union(matrix.existing for matrix in matrices).items()},
        **alike,
    )


def _share(matrix: MatrixRecord) -> ShardShare:
    return ShardShare(shards=matrix.shards, envs=frozenset(env.name for env in matrix.envs))


def _check_same(where: str, what: str, one: object, other: object) -> None:
    if one != other:
        raise StoreError(f"it was made with another {what} than the first report", where=where, hint=_HINT)


def _check_cells(parts: Sequence[Part]) -> None:
    """No cell is in two files; twice in one it is an error of that file, which others tell."""
    seen: dict[str, str] = {}
    for where, matrix in parts:
        names = {name_of(cell) for cell in matrix.cells}
        for name in sorted(names & seen.keys()):
            raise StoreError(f"the cell {name} is in {seen[name]} already", where=where, hint=_HINT)
        seen |= dict.fromkeys(names, where)


def _alike(parts: Sequence[Part], field: str) -> tuple[Any, ...]:
    """What the files have of something, each once."""
    noun, called = _ALIKE[field]
    found: dict[Hashable, Any] = {}
    for where, matrix in parts:
        for each in getattr(matrix, field):
            if found.setdefault(called(each), each) != each:
                raise StoreError(f"the {noun} {called(each)} is another one than in the files before", where=where, hint=_HINT)
    return tuple(found.values())


def _union(mappings: Iterable[Mapping[str, tuple[Any, ...]]]) -> dict[str, tuple[Any, ...]]:
    """Name → what any of them has there, each once, in the order in which it is met."""
    found: dict[str, dict[str | Version, None]] = {}
    for mapping in mappings:
        for name, values in mapping.items():
            found.setdefault(name, {}).update(dict.fromkeys(values))
    return {name: tuple(values) for name, values in found.items()}


_BETWEEN = "\n\nand in another run, "


def name_of(cell: CellRecord) -> str:
    """What a cell is called: no report has two that are called the same."""
    return f"{cell.kernel}/{cell.variant}/{cell.case}/{cell.target}/{cell.env}"


def united(reports: Iterable[Sequence[CellRecord]]) -> tuple[CellRecord, ...]:
    """The cells of all reports, each once, in the order in which they are met."""
    found: dict[str, CellRecord] = {}
    for cells in reports:
        for cell in cells:
            name = name_of(cell)
            found[name] = _one(found[name], cell) if name in found else cell
    return tuple(found.values())


def _one(first: CellRecord, second: CellRecord) -> CellRecord:
    """What two reports say of one cell. What is no answer gives way to one."""
    if first.status.is_answer != second.status.is_answer:
        one = first if first.status.is_answer else second
    elif _fate(first) == _fate(second):
        one = first
    else:
        one = _flaky(first, second)
    return evolve(one, numbers=_numbers(first, second), latency=first.latency or second.latency)


def _fate(cell: CellRecord) -> tuple[object, ...]:
    """What two reports have to say alike. How a limit was hit is as much a matter of the machine as of the kernel."""
    failure = cell.failure
    if cell.status in (Status.TIMED_OUT, Status.OUT_OF_MEMORY):
        return cell.status, cell.flaky
    return cell.status, cell.flaky, failure and (failure.failure_class, failure.fingerprint)


def _flaky(first: CellRecord, second: CellRecord) -> CellRecord:
    """What failed, since that has to be looked at, with the attempts of both; and what the other says, where that failed, too."""
    one, other = (first, second) if first.failure is not None else (second, first)
    if not one.status.is_answer:
        return one
    failure = _both(one.failure, other.failure) if one.failure and other.failure else one.failure
    return evolve(one, flaky=True, expected=False, failure=failure, attempts=(*first.attempts, *second.attempts))


def _both(one: Failure, other: Failure) -> Failure:
    if (one.failure_class, one.fingerprint) == (other.failure_class, other.fingerprint):
        return one
    return evolve(one, excerpt=f"{one.excerpt}{_BETWEEN}{other.failure_class}:\n{other.excerpt}")


def _numbers(first: CellRecord, second: CellRecord) -> Numbers:
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
