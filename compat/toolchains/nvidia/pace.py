"""The pace of a kernel: facts of its machine code that decide how long a block takes. Pure.

There are two estimates. The first has the cycles of a multiprocessor's busiest unit for all
instructions of a block. The second has the cycles of one warp from beginning to end, including its
waits. :mod:`compat.history.foresight` compares them between two compiles of one kernel. They do not
predict a time, because a cubin shows neither the trips of loops, nor the caches, nor bank
conflicts. The numbers are for ``sm_90``. Those without a source in the CUDA C++ Programming Guide
("Arithmetic Instructions", throughput by compute capability) were chosen on measured latencies, as
``bench/results/foresight-2026-11.md`` describes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from compat.toolchains.nvidia.instructions import Instruction, InstructionKind, kernels_in
from compat.toolchains.nvidia.loops import Region, regions

TRIPS = 16
"""The assumed trips of every loop."""
_DEEPEST = 8
"""The largest depth of a loop that counts, which keeps all numbers in bounds."""
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
"""Cycles that a unit is busy with each byte of a thread, matrix, or column."""
_UNITS = {
    InstructionKind.FLOAT: "float",
    InstructionKind.INTEGER: "integer",
    InstructionKind.SPECIAL: "special",
    InstructionKind.MMA: "tensor",
    InstructionKind.WGMMA: "tensor",
}
"""Kind of instruction → its unit. All others with cycles use the unit for loads and stores."""
_MOVED = (InstructionKind.GLOBAL_LOAD, InstructionKind.GLOBAL_STORE, InstructionKind.ASYNC_COPY)
"""Instructions whose data passes through global memory and its caches.

They move a byte of each thread in a cycle.
"""
_CONFLICTS = 5
"""The factor on the cycles of a shared load of at most four bytes that reads an asynchronous copy.

The tile of such a copy has the layout for ``ldmatrix``. The number was chosen on measured
latencies.
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
"""Cycles until a result is ready. All other instructions take :data:`_USUAL`."""
_USUAL, _READ, _COPIED, _TOGETHER = 30, 12, 300, 30
"""Cycles of any other result, of reading operands, of an asynchronous copy and of a barrier."""
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
"""The number of followed trips of a loop. The cycles of the last one stand for all further trips.
"""
_MULTIPLY_ADDS = {InstructionKind.MMA: 2048, InstructionKind.WGMMA: 256}
"""Multiplications of an instruction of a warp: of 16×8×16 values, and of a column."""


def pace_of(cubin: bytes, threads: int) -> dict[str, int | str]:
    """Return the pace of the largest kernel in a cubin, for blocks of ``threads`` threads.

    ``units`` and ``latency`` are the estimates, in cycles. ``multiply_adds`` and ``global_bytes``
    are the work of a block. ``loops`` has the depth of each loop. All other keys count
    instructions: those in loops, or all of a kernel without loops. The result is empty for a file
    that is not a cubin, and for one that is larger than any kernel.
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
    """Return the assumed number of times that a part of the code runs."""
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
    """Return the number of instructions of each kind that the reason of a suspicion can name."""
    kinds = Counter(one.kind for one in instructions)
    numbers = {name: sum(kinds[kind] for kind in some) for name, some in _COUNTED.items()}
    return {"instructions": kinds.total(), **numbers}


def busy(runs: Mapping[tuple[InstructionKind, int], int]) -> dict[str, float]:
    """Return unit → its cycles. ``runs`` has how often instructions run, by kind and amount."""
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
    """Return the cycles of a warp, alone on a multiprocessor, for a trip through a part of code."""
    warp, before = _Warp(warps), 0.0
    for _ in range(_PASSES if part.depth else 1):
        before = warp.now
        for one in part.instructions:
            warp.run(one)
    return warp.now - before


class _Warp:
    """A simulated warp that runs instructions in order, and waits as they require."""

    def __init__(self, warps: int) -> None:
        self.now = 0.0
        self._groups_of_warps = max(1.0, warps / 4)
        self._ready = [0.0] * _BARRIERS
        """The cycle at which each of its barriers is free."""
        self._copied = 0.0
        """The cycle at which all asynchronous copies so far have arrived."""
        self._committed: list[float] = []
        """The cycle at which each group of asynchronous copies has arrived."""
        self._multiplied = 0.0
        """The cycle at which ``wgmma`` is done."""

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
        """Apply the special effects of copies, ``wgmma`` and barriers of a block."""
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
