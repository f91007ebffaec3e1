"""The pass ``arith-expand`` for rounding divisions, because no release can run it by its name.

It replaces ``arith.floordivsi`` and ``arith.ceildivsi`` with plain operations. Strength reduction
finds other code if they are still there. MLIR's own pass expands more than these two. A full
pipeline that runs later does the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..foreign import MlirModule, Operation

NAME = "arith-expand"
_DOWN, _UP = "arith.floordivsi", "arith.ceildivsi"


def expand_divisions(module: MlirModule) -> None:
    """Replace the rounding divisions of whole numbers in a module."""
    from cutlass._mlir import ir

    divisions: list[Operation] = []

    def note(operation: Operation) -> object:
        if operation.operation.name in (_DOWN, _UP):
            divisions.append(operation.operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(note)
    for division in divisions:
        with ir.InsertionPoint(division), division.location:
            division.results[0].replace_all_uses_with(_expand_division(division))
        division.erase()


def _expand_division(division: Operation) -> object:
    """Return the result of a division, from operations in the same order as in MLIR's own pass.

    The quotient is rounded towards zero. It is one too large for rounding down if there is a
    remainder and exactly one operand is negative. It is one too small for rounding up if there is a
    remainder and both operands have the same sign.
    """
    from cutlass._mlir.dialects import arith

    a, b = division.operands
    kind, is_down = a.type, division.name == _DOWN
    test = arith.CmpIPredicate
    quotient = arith.divsi(a, b)
    product = arith.muli(quotient, b)
    remains = arith.cmpi(test.ne, a, product)
    zero = arith.constant(kind, 0)
    signs = [arith.cmpi(test.slt, number, zero) for number in (a, b)]
    corrected = arith.cmpi(test.ne if is_down else test.eq, *signs)
    condition = arith.andi(remains, corrected)
    step = arith.constant(kind, -1 if is_down else 1)
    return arith.select(condition, arith.addi(quotient, step), quotient)
