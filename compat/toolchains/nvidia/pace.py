"""The pace of a kernel: facts of its machine code that decide how long a block takes. Pure.

There are two estimates. The busiest unit of a multiprocessor takes so many cycles for all
instructions of a block. One warp takes so many cycles from the beginning to the end, with what it
waits for. :mod:`compat.history.foresight` compares them between two compiles of one kernel. They
predict no time: a cubin has neither the trips of loops, nor the caches, nor conflicts between
banks. The numbers are for ``sm_90``. Those without a source in the CUDA C++ Programming Guide
("Arithmetic Instructions", throughput by compute capability) were chosen on measured latencies, as
``bench/results/foresight-2026-11.md`` tells.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from compat.toolchains.nvidia.instructions import Instruction, InstructionKind, kernels_in
from compat.toolchains.nvidia.loops import Region, regions

TRIPS = 16
"""The assumed trips of every loop."""
_DEEPEST = 8
"""The depth of a loop that counts. No number gets out of bounds that way."""
_WARP = 32
_ISSUE = 0.25
"""Cycles of an instruction of a warp for the four schedulers of a multiprocessor."""
_CYCLES = {
    InstructionKind.FLOAT: 0.25,
    InstructionKind.INTEGER: 0.5,
    InstructionKind.SPECIAL: 2.0,
    InstructionKind.MMA: 1.6,
    InstructionKind.SHUFFLE: 1.0,
}
"""Cycles that a unit is busy with an instruction of a warp."""
_PER_AMOUNT = {
    InstructionKind.GLOBAL_LOAD: 0.25,
    InstructionKind.GLOBAL_STORE: 0.25,
    InstructionKind.ASYNC_COPY: 0.25,
    InstructionKind.LOCAL_LOAD: 0.5,
    InstructionKind.LOCAL_STORE: 0.5,
    InstructionKind.SHARED_LOAD: 0.25,
    InstructionKind.SHARED_STORE: 0.25,
    InstructionKind.MATRIX_LOAD: 1.0,
    InstructionKind.MATRIX_STORE: 1.0,
    InstructionKind.WGMMA: 1 / 8,
}
"""The same for each byte of a thread, matrix, or column."""
_UNITS = {
    InstructionKind.FLOAT: "float",
    InstructionKind.INTEGER: "integer",
    InstructionKind.SPECIAL: "special",
    InstructionKind.MMA: "tensor",
    InstructionKind.WGMMA: "tensor",
}
"""All other instructions with cycles keep the unit for loads and stores busy."""
_MOVED = (InstructionKind.GLOBAL_LOAD, InstructionKind.GLOBAL_STORE, InstructionKind.ASYNC_COPY)
"""What global memory and its caches have to move, at a byte of each thread in a cycle."""
_CONFLICTS = 5
"""How often longer a shared load of at most four bytes takes that reads an asynchronous copy.

Such a tile lies in memory as ``ldmatrix`` reads it. The number was chosen on measured latencies.
"""
_SCALAR = 4

_LATENCY = {
    InstructionKind.GLOBAL_LOAD: 300,
    InstructionKind.MATRIX_LOAD: 33,
    InstructionKind.LOCAL_LOAD: 40,
    InstructionKind.SHUFFLE: 25,
    InstructionKind.SPECIAL: 25,
    InstructionKind.MMA: 33,
}
"""Cycles until a result is there; of all others :data:`_USUAL`."""
_USUAL, _READ, _COPIED, _TOGETHER = 30, 12, 300, 30
"""Cycles of any other result, until operands are read, of an asynchronous copy and a barrier."""
_BARRIERS = 6
"""Barriers of a warp. Higher numbers in an instruction stand for none."""
_PARTICULAR = frozenset(
    {
        *(InstructionKind.BARRIER, InstructionKind.ASYNC_COPY, InstructionKind.COMMIT),
        *(InstructionKind.WAIT, InstructionKind.WGMMA, InstructionKind.WGMMA_WAIT),
    }
)
_COLUMN = 0.5
"""Cycles of a column of ``wgmma`` for a group of four warps."""
_PASSES = 3
"""How often a loop is followed until its cycles are those of all further trips."""
_MULTIPLY_ADDS = {InstructionKind.MMA: 2048, InstructionKind.WGMMA: 256}
"""Multiplications of an instruction of a warp: of 16×8×16 values, and of a column."""


def pace_of(cubin: bytes, threads: int) -> dict[str, int | str]:
    """Return the pace of the largest kernel in a cubin, for blocks of so many threads.

    ``units`` and ``latency`` are the estimates, in cycles. ``multiply_adds`` and ``global_bytes``
    are the work of a block. ``loops`` has the depth of each loop. All others count instructions:
    those in loops, or all of a kernel without loops. The result is empty for a file that is no
    cubin, and for one that is larger than any kernel.
    """
    kernel = max(kernels_in(cubin), key=lambda candidate: len(candidate.instructions), default=None)
    parts = regions(kernel.instructions) if kernel else ()
    if not parts or threads < 1:
        return {}
    warps = -(-threads // _WARP)
    runs: Counter[tuple[InstructionKind, int]] = Counter()
    for part in parts:
        trips = _trips(part)
        for one in part.instructions:
            runs[one.kind, one.amount] += trips * warps
    looped = [one for part in parts if part.depth for one in part.instructions]
    return {
        "units": round(max(busy(runs).values())),
        "latency": round(sum(_trips(part) * warp_cycles(part, warps) for part in parts)),
        "multiply_adds": sum(
            number * _MULTIPLY_ADDS[kind] * max(amount, 1)
            for (kind, amount), number in runs.items()
            if kind in _MULTIPLY_ADDS
        ),
        "global_bytes": sum(
            number * amount * _WARP
            for (kind, amount), number in runs.items()
            if kind in (InstructionKind.GLOBAL_LOAD, InstructionKind.ASYNC_COPY)
        ),
        "loops": " ".join(str(part.depth) for part in parts if part.depth),
        **counts(looped or parts[0].instructions),
    }


def _trips(part: Region) -> int:
    """How often a part of the code runs, as is assumed."""
    return int(TRIPS ** min(part.depth, _DEEPEST))


_COUNTED = {
    "local": (InstructionKind.LOCAL_LOAD, InstructionKind.LOCAL_STORE),
    "ldmatrix": (InstructionKind.MATRIX_LOAD,),
    "shared_loads": (InstructionKind.SHARED_LOAD,),
    "mma": (InstructionKind.MMA,),
    "wgmma": (InstructionKind.WGMMA,),
    "async_copies": (InstructionKind.ASYNC_COPY,),
}


def counts(instructions: Iterable[Instruction]) -> dict[str, int]:
    """What a reason can name → its number among instructions."""
    kinds = Counter(one.kind for one in instructions)
    numbers = {name: sum(kinds[kind] for kind in some) for name, some in _COUNTED.items()}
    return {"instructions": kinds.total(), **numbers}


def busy(runs: Mapping[tuple[InstructionKind, int], int]) -> dict[str, float]:
    """Return unit → cycles for instructions, by kind and amount, that run so often."""
    units: dict[str, float] = defaultdict(float)
    copies = any(kind is InstructionKind.ASYNC_COPY for kind, _ in runs)
    for (kind, amount), number in runs.items():
        cycles = _CYCLES.get(kind, 0.0) + _PER_AMOUNT.get(kind, 0.0) * amount
        if kind in (InstructionKind.SHARED_LOAD, InstructionKind.SHARED_STORE):
            cycles = max(cycles, 1.0)
        if kind is InstructionKind.SHARED_LOAD and amount <= _SCALAR and copies:
            cycles *= _CONFLICTS
        units["issue"] += _ISSUE * number
        units[_UNITS.get(kind, "memory")] += cycles * number
        if kind in _MOVED:
            units["global"] += amount * number
    return dict(units)


def warp_cycles(part: Region, warps: int) -> float:
    """Cycles of one warp, alone on a multiprocessor, for a trip through a part of the code."""
    warp, before = _Warp(warps), 0.0
    for _ in range(_PASSES if part.depth else 1):
        before = warp.now
        for one in part.instructions:
            warp.run(one)
    return warp.now - before


class _Warp:
    """One warp that runs instructions in order, and waits as they say."""

    def __init__(self, warps: int) -> None:
        self.now = 0.0
        self._groups_of_warps = max(1.0, warps / 4)
        self._ready = [0.0] * _BARRIERS
        """When each of its barriers is free."""
        self._copied = 0.0
        """When the asynchronous copies so far are there."""
        self._committed: list[float] = []
        """The same for each group of them."""
        self._multiplied = 0.0
        """When ``wgmma`` is done."""

    def run(self, one: Instruction) -> None:
        if one.waits:
            free = [free for at, free in enumerate(self._ready) if one.waits >> at & 1]
            self.now = max(self.now, *free)
        if one.kind in _PARTICULAR:
            self._wait_or_begin(one)
        result, operands = one.sets
        if result < _BARRIERS:
            self._ready[result] = self.now + _LATENCY.get(one.kind, _USUAL)
        if operands < _BARRIERS:
            self._ready[operands] = max(self._ready[operands], self.now + _READ)
        self.now += one.stall or 1

    def _wait_or_begin(self, one: Instruction) -> None:
        """What is particular to copies, ``wgmma`` and barriers of a block."""
        match one.kind:
            case InstructionKind.BARRIER:
                self.now += _TOGETHER
            case InstructionKind.ASYNC_COPY:
                self._copied = self.now + _COPIED
            case InstructionKind.COMMIT:
                self._committed.append(self._copied)
            case InstructionKind.WAIT:
                done = self._committed[: len(self._committed) - one.amount]
                self.now = max(self.now, *done, 0.0)
            case InstructionKind.WGMMA:
                began = max(self._multiplied, self.now)
                self._multiplied = began + one.amount * _COLUMN * self._groups_of_warps
            case InstructionKind.WGMMA_WAIT if one.amount == 0:
                self.now = max(self.now, self._multiplied)
