"""How many blocks of a kernel a multiprocessor of NVIDIA takes at the same time, and what keeps it from taking more.

Limits: CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability": blocks, threads, 32-bit registers and
shared memory per multiprocessor, threads and registers per block, registers per thread. From 8.0 on 1 KiB of a block's shared
memory is the system's, as the sections "Shared Memory" there say. How registers and shared memory are allocated, and how many
blocks named barriers leave room for, is as in ``cuda_occupancy.h`` of CUDA 12.9: registers to whole warps, in units of 256, from
one of four equal parts of a multiprocessor; shared memory in units of 128 bytes, 256 before 8.0. What is computed here was compared
with that header over 184,800 combinations of the table's architectures, threads, registers, bytes and barriers: no difference.

A block of a cluster is counted as any other: how many clusters fit is not known here.
"""

from __future__ import annotations

from typing import Any

_WARP = 32
_REGISTERS, _PARTS, _UNIT = 65_536, 4, 256
"""Of a multiprocessor, and of a block at most; the parts that they lie in; and what is allocated to a warp at a time."""
_OF_THREAD = 255
_OF_BLOCK = 1024
"""Threads of a block at most."""
_KIB = 1024

_LIMITS = {
    70: (32, 2048, 96, 96, 0, 256, 0),
    75: (16, 1024, 64, 64, 0, 256, 0),
    80: (32, 2048, 164, 163, 1, 128, 0),
    86: (16, 1536, 100, 99, 1, 128, 0),
    89: (24, 1536, 100, 99, 1, 128, 0),
    90: (32, 2048, 228, 227, 1, 128, 2),
    100: (32, 2048, 228, 227, 1, 128, 2),
    120: (24, 1536, 100, 99, 1, 128, 1),
}
"""Compute capability times ten → blocks and threads; KiB of shared memory of a multiprocessor, of a block, and of the system in it;
its unit, in bytes; named barriers for each block that a multiprocessor takes, 0 where they limit nothing (before 9.0)."""


def occupancy(arch: Any, threads: int, registers: int, shared: int, barriers: int = 1) -> dict[str, Any]:
    """Blocks per multiprocessor, by what they are limited, and how many more registers a thread could have without losing one.

    Of a kernel's threads per block, registers per thread, bytes of shared memory per block and named barriers. Empty for an
    architecture of which nothing is known here, or a block of no threads.
    """
    if arch not in _LIMITS or threads < 1:
        return {}
    limits = _room(_LIMITS[arch], threads, registers, shared, barriers)
    blocks = min(limits.values())
    found = {"threads": threads, "blocks": blocks, "limited_by": next(name for name, room in limits.items() if room == blocks)}
    if blocks:
        others = min(room for name, room in limits.items() if name != "registers")
        found["spare_registers"] = _most_registers(threads, min(blocks, others)) - registers
    return found


def _room(limits: tuple[int, ...], threads: int, registers: int, shared: int, barriers: int) -> dict[str, int]:
    """What limits blocks → how many it leaves room for."""
    most, most_threads, of_all, of_block, reserved, unit, for_each = limits
    allocated = _up(shared + reserved * _KIB, unit)
    fits = shared <= of_block * _KIB
    return {
        "registers": _by_registers(threads, registers),
        "shared memory": (of_all * _KIB // allocated if allocated else most) if fits else 0,
        "threads": most_threads // _WARP // _warps(threads) if threads <= _OF_BLOCK else 0,
        "barriers": most * for_each // barriers if barriers and for_each else most,
        "blocks": most,
    }


def _by_registers(threads: int, registers: int) -> int:
    each = max(_up(registers * _WARP, _UNIT), _UNIT)
    if registers > _OF_THREAD or each * _up(_warps(threads), _PARTS) > _REGISTERS:
        return 0
    return _REGISTERS // _PARTS // each * _PARTS // _warps(threads)


def _most_registers(threads: int, blocks: int) -> int:
    """The most registers per thread with which registers leave room for that many blocks."""
    return max(registers for registers in range(1, _OF_THREAD + 1) if _by_registers(threads, registers) >= blocks)


def _warps(threads: int) -> int:
    return -(-threads // _WARP)


def _up(amount: int, unit: int) -> int:
    return -(-amount // unit) * unit
