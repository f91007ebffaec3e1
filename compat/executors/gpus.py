"""Launching on the GPUs of other machines: what an executor that has some takes and gives.

In: cells of a folder that ``compat build`` has written, of one target, which one process launches together. Out: lines of
``results.jsonl`` as the launcher writes them (``compat/toolchains/pytorch/host/__init__.py``), or why there are none.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Protocol

from attrs import frozen

LaunchKey = tuple[str, str, str]


def key_of(line: Mapping[str, Any]) -> LaunchKey:
    """What makes a result that of a cell: the same of a cell in an index, and of a line of results."""
    return str(line["identity"]), str(line["problem"]), str(line["object"])


@frozen(kw_only=True)
class GpuDevice:
    """A GPU as its driver tells of it."""

    name: str
    arch: int
    """90 for a compute capability of 9.0."""
    identity: str
    """The same for all processes of its machine."""
    visible: str | None = None
    """What ``CUDA_VISIBLE_DEVICES`` has to be for it to be the only one; ``None`` where it is that anyway."""


@frozen(kw_only=True)
class Load:
    """Cells that one process is to launch."""

    target: str
    """``sm_90``, for messages."""
    arch: int
    cells: tuple[Mapping[str, Any], ...]
    """As an index has them."""
    pack: Callable[[Sequence[Mapping[str, Any]]], bytes]
    """An archive with all that launching some of them needs."""
    options: tuple[str, ...] = ()
    """Of the launcher."""
    python: str | None = None
    """An interpreter with PyTorch, by its path there; without it that of whoever launches."""


@frozen(kw_only=True)
class LaunchedPiece:
    """What came of cells that were launched together."""

    worker: str
    lines: tuple[Mapping[str, Any], ...]


@frozen(kw_only=True)
class NotLaunched:
    """Cells that were not launched."""

    cells: tuple[Mapping[str, Any], ...]
    why: str
    is_lost: bool
    """Whether it was tried; else no machine has a GPU for them."""


class Gpus(Protocol):
    """GPUs of other machines. May be used from several threads: each launches on one GPU."""

    def lack(self, target: str, arch: int, python: str | None = None) -> str | None:
        """What is missing for a target, asked now; ``None`` where something can be launched for it. Raises as submitting does.

        ``python`` is the path of an interpreter with PyTorch that all machines have, if they need not look for one.
        """
        ...

    def count(self, arch: int) -> int:
        """How many GPUs of an architecture are known."""
        ...

    def launch(self, load: Load) -> Generator[LaunchedPiece | NotLaunched]:
        """Launch it, on one GPU at a time. Every cell is told of once. Raises what submitting a batch raises."""
        ...
