"""Products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from compat.toolchains.triton.programs.dtypes import DTYPES, Array, Bounds, holds, numpy_dtype
from compat.toolchains.triton.programs.operations.operation import Operation, require
from compat.toolchains.triton.programs.program import BlockStatement, BlockValue, Shape

if TYPE_CHECKING:
    from compat.toolchains.triton.programs.draft import Draft

_FLOATS = ("fp16", "fp16", "bf16", "fp32", "fp8e5", "fp8e4nv")
_OPERANDS = (*_FLOATS, "i8")
_SIZES = (16, 32, 64, 64, 128)
_TF32 = 11
"""Bits of the significand of an operand in ``tf32``."""
_IN_FP8 = 13
"""Bits in which Hopper adds products of fp8."""


def _propose(draft: Draft) -> None:
    """Proposes a product, or one that is an operand of another."""
    first = _product(draft, None)
    if first.dtype == "fp32" and draft.random.random() < 0.5:
        _product(draft, first)


def _product(draft: Draft, first: BlockValue | None) -> BlockValue:
    """Add a product. Its operands are loaded or computed, and one may come from ``first``."""
    dtype = draft.random.choice(_OPERANDS if first is None else _FLOATS)
    rows, depth, columns = (draft.random.choice(_SIZES) for _ in range(3))
    if first is not None:
        size, other = first.shape
        rows, depth, columns = draft.random.choice(((size, other, columns), (rows, size, other)))
    if DTYPES[dtype].bits == 8:
        depth = max(depth, 32)
    require(rows * columns <= 4096 and (rows + columns) * depth <= 8192, "the blocks are too large")
    left = _operand(draft, dtype, (rows, depth), first)
    right = _operand(draft, dtype, (depth, columns), first)
    result = "i32" if dtype == "i8" else "fp32"
    operands = [left, right]
    if draft.random.random() < 0.4:
        operands.append(draft.block((result,), (rows, columns)))
    precision = draft.random.choice(("tf32", "ieee")) if dtype == "fp32" else None
    kind = result, (rows, columns)
    return draft.define("dot", tuple(operands), kind, precision=precision)[0]


def _text(statement: BlockStatement) -> str:
    left, right, *added = (operand.name for operand in statement.operands)
    precision = statement.settings["precision"]
    more = "".join(f", acc={name}" for name in added)
    more += f', input_precision="{precision}"' if precision else ""
    return f"tl.dot({left}, {right}{more})"


def _operand(
    draft: Draft, dtype: str, shape: Shape, product: BlockValue | None = None
) -> BlockValue:
    """Return an operand from a product, loaded, or computed; perhaps a transposed block."""
    if product is not None and product.shape == shape:
        return narrow_product(draft, product, dtype)
    if draft.random.random() < 0.3:
        value = _operand(draft, dtype, shape[::-1])
        return draft.add("transpose", (value,), (dtype, shape))
    if not DTYPES[dtype].in_memory:
        loaded = draft.small("fp16", shape)
        return draft.add("cast", (loaded,), (dtype, shape))
    fitting = draft.values_where(
        lambda value: (
            value.dtype == dtype
            and value.shape == shape
            and draft.bounds[value.name].magnitude <= 8
            and draft.bounds[value.name].step >= -1
        )
    )
    if fitting and draft.random.random() < 0.5:
        return draft.random.choice(fitting)
    return draft.small(dtype, shape)


def narrow_product(draft: Draft, value: BlockValue, dtype: str) -> BlockValue:
    """Return a product as an operand of another one: limited so that it fits, and cast."""
    if not holds(dtype, draft.bounds[value.name]) or draft.random.random() < 0.4:
        value = draft.limit_block(value, 7 if dtype.startswith("fp8") else 15)
    if dtype != value.dtype:
        value = draft.add("cast", (value,), (dtype, value.shape))
    return value


def _derive(statement: BlockStatement, operands: Sequence[Bounds], _: object) -> list[Bounds]:
    left, right = operands[:2]
    dtype = statement.operands[0].dtype
    for operand in (left, right):
        require(
            statement.settings["precision"] != "tf32" or holds("fp32", operand, _TF32),
            "an operand may not be exact in tf32",
        )
    most = left.magnitude * right.magnitude * statement.operands[0].shape[1]
    result_bounds = Bounds(Fraction(-most), Fraction(most), left.step + right.step)
    precision = _IN_FP8 if dtype.startswith("fp8") else None
    if len(operands) > 2:
        added = operands[2]
        result_bounds = Bounds(
            result_bounds.low + added.low,
            result_bounds.high + added.high,
            min(result_bounds.step, added.step),
        )
    result = statement.results[0].dtype
    require(holds(result, result_bounds, precision), f"a partial sum may not be exact in {result}")
    return [result_bounds]


def _compute(statement: BlockStatement, operands: Sequence[Array], _: object) -> list[Array]:
    dtype = numpy_dtype(statement.results[0].dtype)
    product = operands[0].astype(dtype) @ operands[1].astype(dtype)
    return [product + operands[2] if len(operands) > 2 else product]


OPERATIONS = (
    Operation(
        name="dot",
        family="dot",
        write=lambda statement, printer: printer.assign(statement, _text(statement)),
        propose=_propose,
        derive=_derive,
        compute=_compute,
        weight=12,
    ),
)
"""The operations of this module."""
