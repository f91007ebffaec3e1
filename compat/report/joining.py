"""Files of several runs as one: those of jobs that each tried some of the envs, and kernels that are the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from attrs import evolve
from packaging.version import Version

from compat.errors import StoreError
from compat.report.overlap import name_of, united
from compat.report.shards import Share, together
from compat.report.stored import StoredMatrix

_ALIKE: Mapping[str, tuple[str, Callable[[Any], Hashable]]] = {
    "envs": ("env", lambda env: env.name),
    "kernels": ("kernel", lambda kernel: f"{kernel.kernel}/{kernel.variant}/{kernel.case}"),
    "targets": ("target", lambda target: target.name),
    "sources": ("source", lambda source: source.path),
}
"""What may be in several files, and has to be the same in all of them: what it is, and what it is called."""
_HINT = "Only reports of one version of the kernels can be joined, in which no cell is twice."

Part = tuple[str, StoredMatrix]
"""What a file is called, and what it holds."""


def joined(parts: Sequence[Part], *, overlapping: bool = False) -> StoredMatrix:
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
        shards=together([_share(matrix) for matrix in matrices]),
        verdicts=tuple(verdict for matrix in matrices for verdict in matrix.verdicts),
        pairs=tuple({(each.env, each.release): each for matrix in matrices for each in matrix.pairs}.values()),
        attachments=tuple({each.name: each for matrix in matrices for each in matrix.attachments}.values()),
        api=max((matrix.api for matrix in matrices if matrix.api), key=lambda packed: len(packed.seen), default=None),
        helpers=_union(matrix.helpers for matrix in matrices),
        variants=_union(matrix.variants for matrix in matrices),
        existing={name: tuple(sorted(known)) for name, known in _union(matrix.existing for matrix in matrices).items()},
        **alike,
    )


def _share(matrix: StoredMatrix) -> Share:
    return Share(shards=matrix.shards, envs=frozenset(env.name for env in matrix.envs))


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
