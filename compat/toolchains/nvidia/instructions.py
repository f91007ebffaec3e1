"""The instructions of a cubin, with the fields that decide their speed. Pure.

An instruction has 128 bits from Volta on. The places of the opcode, of the predicate, of widths and
of the control bits were learned from disassemblies of the kernels of this repository, made by 13
releases of Triton for ``sm_90`` (``nvdisasm -hex``). :data:`KINDS` has the opcodes there.
The control bits have the cycles until the next instruction, and the six barriers that an
instruction sets and waits for. A disassembler takes half a second of CPU time for a cubin, and does
not print them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple


class InstructionKind(StrEnum):
    """Instructions that are alike in what they use and how long they take."""

    FLOAT = "float"
    INTEGER = "integer"
    SPECIAL = "special function"
    MMA = "mma"
    WGMMA = "wgmma"
    GLOBAL_LOAD = "global load"
    GLOBAL_STORE = "global store"
    ASYNC_COPY = "asynchronous copy"
    SHARED_LOAD = "shared load"
    SHARED_STORE = "shared store"
    MATRIX_LOAD = "ldmatrix"
    MATRIX_STORE = "stmatrix"
    LOCAL_LOAD = "local load"
    LOCAL_STORE = "local store"
    SHUFFLE = "shuffle"
    BARRIER = "barrier"
    COMMIT = "commit of copies"
    WAIT = "wait for copies"
    WGMMA_WAIT = "wait for wgmma"
    BRANCH = "branch"
    END = "end"
    OTHER = "other"


def _kinds() -> dict[int, InstructionKind]:
    opcodes = {
        InstructionKind.FLOAT: "221 223 820 220 820 c20 421 423 823 c23 e23 230 435",
        InstructionKind.INTEGER: (
            "208 808 209 809 20b 80b c0c 20c 80c 210 810 c10 211 811 c11 212 812 c12 216 816"
            " 213 219 819 207 807 c07 224 225 227 424 824 825 827 c24 c25 e24 e25 23e 245 c45"
            " 248 c48 81a 81c 836 c36 846 e46 803 804"
        ),
        InstructionKind.SPECIAL: "308 305 306 307 312",
        InstructionKind.MMA: "23c 237 23f",
        InstructionKind.WGMMA: "9f0 df0",
        InstructionKind.GLOBAL_LOAD: "381 981",
        InstructionKind.GLOBAL_STORE: "386 986",
        InstructionKind.ASYNC_COPY: "fae",
        InstructionKind.SHARED_LOAD: "984",
        InstructionKind.SHARED_STORE: "388 988",
        InstructionKind.MATRIX_LOAD: "83b",
        InstructionKind.MATRIX_STORE: "844",
        InstructionKind.LOCAL_LOAD: "983",
        InstructionKind.LOCAL_STORE: "387",
        InstructionKind.SHUFFLE: "389 589 989 f89",
        InstructionKind.BARRIER: "b1d",
        InstructionKind.COMMIT: "9af",
        InstructionKind.WAIT: "91a",
        InstructionKind.WGMMA_WAIT: "9c5",
        InstructionKind.BRANCH: "947",
        InstructionKind.END: "94d",
    }
    return {int(opcode, 16): kind for kind, text in opcodes.items() for opcode in text.split()}


KINDS = _kinds()
"""The lowest 12 bits of an instruction → its kind. All others are :attr:`InstructionKind.OTHER`."""

_SIZED = frozenset(
    {
        *(InstructionKind.GLOBAL_LOAD, InstructionKind.GLOBAL_STORE, InstructionKind.ASYNC_COPY),
        *(
            InstructionKind.SHARED_LOAD,
            InstructionKind.SHARED_STORE,
            InstructionKind.LOCAL_LOAD,
            InstructionKind.LOCAL_STORE,
        ),
    }
)
_SIZES = (1, 1, 2, 2, 4, 8, 16, 16)
"""Bytes of a thread, by the three bits that encode them."""
_ALWAYS, _NEVER = 0x7, 0xF
"""The predicate that is true, and its opposite. ``@!PT LDS RZ, [RZ]`` only takes up a slot."""
_BYTES = 16


class Instruction(NamedTuple):
    """One instruction."""

    at: int
    """Its index among the instructions of the kernel."""
    kind: InstructionKind
    amount: int
    """Bytes of a thread for a load or store, matrices of ``ldmatrix``, columns of ``wgmma``, groups
    that may be in flight after a wait (-1 if it begins a group instead); 0 for all others.
    """
    guarded: bool
    """Whether a predicate can skip it."""
    target: int
    """The index of the instruction that a branch goes to; -1 for all others."""
    stall: int
    """Cycles until the next instruction of the warp."""
    sets: tuple[int, int]
    """The barriers that it sets until its result is ready, and until its operands are read; 7 means
    no barrier.
    """
    waits: int
    """The barriers that it waits for, as bits."""


class KernelCode(NamedTuple):
    """The machine code of one kernel."""

    name: str
    instructions: tuple[Instruction, ...]


def kernels_in(cubin: bytes) -> tuple[KernelCode, ...]:
    """Return the kernels of a cubin.

    The result is empty for a file that is not a cubin, and for a damaged cubin.
    """
    try:
        return tuple(_kernels(cubin))
    except (struct.error, IndexError, ValueError, OverflowError):
        return ()


_ELF = b"\x7fELF\x02"
_TEXT = ".text."
_LARGEST = 4 << 20
"""The most bytes of a cubin that is read. The largest of 1,220 without line information had 0.12
MB.
"""


def _kernels(data: bytes) -> Iterator[KernelCode]:
    if not 64 <= len(data) <= _LARGEST or data[:5] != _ELF:
        return
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [
        struct.unpack_from("<IIQQQQ", data, table + number * size) for number in range(count)
    ]
    strings = headers[names][4]
    for name, _, _, _, offset, length in headers:
        begin = strings + name
        title = data[begin : data.index(b"\0", begin)].decode()
        if title.startswith(_TEXT):
            code = data[offset : offset + length // _BYTES * _BYTES]
            yield KernelCode(title[len(_TEXT) :], tuple(_instructions(code)))


def _instructions(code: bytes) -> Iterator[Instruction]:
    for at, (low, high) in enumerate(struct.iter_unpack("<QQ", code)):
        guard = low >> 12 & 0xF
        kind = (
            KINDS.get(low & 0xFFF, InstructionKind.OTHER)
            if guard != _NEVER
            else InstructionKind.OTHER
        )
        yield Instruction(
            at,
            kind,
            _amount(kind, low, high),
            guard != _ALWAYS,
            _target(at, low, high) if kind is InstructionKind.BRANCH else -1,
            high >> 41 & 0xF,
            (high >> 46 & 7, high >> 49 & 7),
            high >> 52 & 0x3F,
        )


def _amount(kind: InstructionKind, low: int, high: int) -> int:
    if kind in _SIZED:
        return _SIZES[high >> 9 & 7]
    if kind in (InstructionKind.MATRIX_LOAD, InstructionKind.MATRIX_STORE):
        return 1 << (high >> 8 & 3)
    if kind is InstructionKind.WGMMA:
        return 8 * ((low >> 53 & 0x1F) + 1)
    if kind is InstructionKind.WAIT:
        return low >> 38 & 0x3F
    if kind is InstructionKind.WGMMA_WAIT:
        # Without this bit the instruction begins a group instead.
        return high >> 8 & 0x3F if low >> 47 & 1 else -1
    return 0


def _target(at: int, low: int, high: int) -> int:
    """Return the index of the instruction that a branch goes to.

    The machine code has an offset of 56 bits in units of four bytes, relative to the next
    instruction.
    """
    offset = (high & 0x3FFFF) << 38 | low >> 34 << 8 | low >> 16 & 0xFF
    if offset >> 55:
        offset -= 1 << 56
    return at + 1 + offset * 4 // _BYTES
