"""A defect of ptxas 12.8: the high word of a wgmma descriptor is computed from its low word.

A descriptor of ``wgmma.mma_async`` has 64 bits, in two uniform registers. The descriptor for the
next slice is its sum with a constant, in two instructions with a carry between them. If the high
word before the sum is zero, the second instruction must add a register that holds zero. With the
defect it adds the register of the low word::

    UIADD3 UR8, UP0, UR6, 0x40, URZ                   the low word, UR6, and a constant
    UIADD3.X UR9, UR6, 0x40000040, URZ, UP0, !UPT     the high word, with UR6 once more

The same happens to sums of ``IADD3`` in registers of threads, which ``R2UR`` moves to uniform
registers. There, a sum counts only if its constant is the high word of a descriptor. Most other
sums are addresses.

The names of the registers prove nothing, because registers are reused, and correct code has ``UMOV
UR6, URZ`` between the two instructions. So the search follows writes, in straight-line code. The
defect is a high word that is computed from a value that the first instruction has read or written.
The search needs a disassembly, which takes longer than many compiles. Few binaries have the names
at all, and :func:`has_the_names` recognises these by their bytes.

On an H100, 31 binaries with such sums of uniform registers were wrong, and so was one with such a
sum in registers of threads. 160 binaries of the same kernels without such sums were correct.
"""

from __future__ import annotations

import re
import struct
import subprocess
import tempfile

_SECONDS = 60.0
"""Time limit for the disassembly of one binary."""
_LINE = re.compile(
    r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?\w+\s+)?(?P<name>[A-Z]\w*)(?P<kinds>[\w.]*)\s*(?P<operands>[^;\n]*);|^\.\w+:",
    re.MULTILINE,
)
"""An instruction, or a label."""
_REGISTER = re.compile(r"(U?R)(\d+)")
_CARRY = re.compile(r"U?P\d")
_CONSTANT = re.compile(r"-?0x[0-9a-f]+")
_WIDE = {"64": 2, "WIDE": 2, "2": 2, "128": 4, "4": 4}
"""Part of an instruction's name → how many registers it writes. Without such a part, it is one."""
_PRODUCT = re.compile(r"64x(\d+)x\d+")
"""The shape of a ``wgmma``. A thread has half as many registers of the result as columns."""

_SUMS = (0x290, 0x890)
"""``UIADD3`` of sm_90 in the lowest 12 bits, with a register and with a constant as the second
operand.
"""
_SUMS_OF_THREADS = (0x210, 0x810)
"""``IADD3``, likewise."""
_MOVES = {0x882: True, 0xC82: True, 0x224: False}
"""Instruction → whether its register is uniform: ``UMOV`` of a constant and of a register, and
``IMAD``, which moves a register of a thread. They most often overwrite a register of a sum.
"""
_URZ, _RZ, _UPT = 63, 255, 7
_CONTINUES = 1 << 10
"""The bit of ``.X`` in the high half of an instruction."""


def mixed_descriptors(binary: bytes, disassembler: str) -> int | None:
    """Return how many sums of a descriptor use the low word for the high word.

    Returns ``None`` if the disassembler fails.
    """
    if not has_the_names(binary):
        return 0
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(binary)
        file.flush()
        command = [disassembler, "-c", file.name]
        try:
            result = subprocess.run(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return None
    return (
        count_mixed_sums(result.stdout.decode(errors="replace")) if result.returncode == 0 else None
    )


def has_the_names(binary: bytes) -> bool:
    """Return whether the second half of any sum names a register that the first half named.

    Registers that an unconditional move has written in between do not count. The result is true for
    all machine code for sm_90 with the defect, and sometimes for code without it.
    """
    names: dict[tuple[bool, int], set[int]] = {}  # by the carry of the sum
    for low, high in struct.iter_unpack("<QQ", binary[: len(binary) // 16 * 16]):
        name, written, first = low & 0xFFF, low >> 16 & 0xFF, low >> 24 & 0xFF
        if name in _MOVES and low >> 12 & 0xF == _UPT:  # it is made under no condition
            for (is_uniform, _), of_sum in names.items():
                if is_uniform is _MOVES[name]:
                    of_sum.discard(written)
        is_uniform = name in _SUMS
        if not is_uniform and name not in _SUMS_OF_THREADS:
            continue
        has_constant = name in (_SUMS[1], _SUMS_OF_THREADS[1])
        read = {first, high & 0xFF, *(() if has_constant else (low >> 32 & 0xFF,))} - {
            _URZ if is_uniform else _RZ
        }
        if high & _CONTINUES:
            if (is_uniform or (has_constant and _is_high_word(low >> 32))) and read & names.get(
                (is_uniform, high >> 23 & 7), set()
            ):
                return True
        elif high >> 17 & 7 != _UPT:
            names[is_uniform, high >> 17 & 7] = {written, *read}
    return False


def _is_high_word(constant: int) -> bool:
    """Return whether a number is the high word of a descriptor: a swizzle, and a stride."""
    return bool(constant & 0xC0000000) and constant & 0x3FFFFFFF < 1 << 14


def count_mixed_sums(disassembly: str) -> int:
    """Return how many sums in a disassembly of ``nvdisasm`` use the low word for the high word."""
    count = 0
    written: dict[str, int] = {}  # register → the instruction that wrote it last
    # Carry → registers of the first instruction of its sum, each with its last write at that point.
    low: dict[str, set[tuple[str, int]]] = {}
    for number, line in enumerate(_LINE.finditer(disassembly), 1):
        if line["name"] is None:
            low.clear()  # a label: other code can jump here
            continue
        operands = [part.strip().partition(".reuse")[0] for part in line["operands"].split(",")]
        kinds = line["kinds"].split(".")
        sources = [
            (operand, written.get(operand, 0))
            for operand in operands[1:]
            if _REGISTER.fullmatch(operand)
        ]
        carries = [operand for operand in operands[1:] if _CARRY.fullmatch(operand)]
        constants = [int(operand, 16) for operand in operands if _CONSTANT.fullmatch(operand)]
        is_sum = line["name"] == "UIADD3" or (
            line["name"] == "IADD3" and ("X" not in kinds or any(map(_is_high_word, constants)))
        )
        if is_sum and "X" in kinds and carries:
            count += any(source in low.get(carries[-1], ()) for source in sources)
        registers = _written_registers(operands[0], kinds)
        written.update(dict.fromkeys(registers, number))
        if is_sum and kinds == [""] and carries and constants:
            low[carries[0]] = {*sources, *((register, number) for register in registers)}
    return count


def _written_registers(operand: str, kinds: list[str]) -> list[str]:
    """Return the registers that an instruction with this first operand writes, if any."""
    register = _REGISTER.fullmatch(operand)
    if not register:
        return []
    products = [int(shape.group(1)) // 2 for kind in kinds for shape in _PRODUCT.finditer(kind)]
    file, first = register.group(1), int(register.group(2))
    count = max(*products, *(_WIDE.get(kind, 1) for kind in kinds), 1)
    return ["%s%d" % (file, number) for number in range(first, first + count)]
