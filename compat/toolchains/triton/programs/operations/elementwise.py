"""Operations on the elements of blocks of one shape."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from compat.toolchains.triton.programs.dtypes import (
    DTYPES,
    FLOATS,
    INTEGERS,
    WIDE,
    Array,
    Bounds,
    bounds,
    everything,
    holds,
    numpy_dtype,
    wrap_bounds,
)
from compat.toolchains.triton.programs.operations.operation import Derive, Operation, require
from compat.toolchains.triton.programs.program import BlockStatement

if TYPE_CHECKING:
    from compat.toolchains.triton.programs.draft import Draft

Numbers = Callable[[Fraction, Fraction], Fraction]
Combine = Callable[[Array, Array], Array]
Rule = Callable[..., Bounds]
"""A statement and the bounds of its operands → those of its one result."""
_ARITHMETIC = (*INTEGERS, *FLOATS)
_SIGNED = ("i8", "i16", "i32", "i64", *FLOATS)
BOOLEAN = bounds(0, 1)


# --- two operands of one type ---------------------------------------------------------------------


def in_result(rule: Rule) -> Derive:
    """Return a rule for the one result of an operation, whose integers wrap around."""
    return lambda statement, operands, analysis: [
        wrap_bounds(statement.results[0].dtype, rule(statement, *operands))
    ]


def corners(combine: Numbers, step: Callable[[int, int], int]) -> Rule:
    """Return a rule for the bounds of an operation with extremes at those of its operands."""

    def derive(_statement: BlockStatement, left: Bounds, right: Bounds) -> Bounds:
        ends = [
            combine(one, other)
            for one, other in itertools.product((left.low, left.high), (right.low, right.high))
        ]
        return Bounds(min(ends), max(ends), step(left.step, right.step))

    return derive


def bits(statement: BlockStatement, left: Bounds, right: Bounds) -> Bounds:
    """Return the bounds of an operation on bits."""
    if left.low < 0 or right.low < 0:
        if statement.operation == "and" and max(left.low, right.low) >= 0:
            return bounds(0, left.high if left.low >= 0 else right.high)
        return everything(statement.results[0].dtype)
    width = int(max(left.high, right.high)).bit_length()
    high = min(left.high, right.high) if statement.operation == "and" else (1 << width) - 1
    return bounds(0, high)


def _quotient(statement: BlockStatement, left: Bounds, right: Bounds) -> Bounds:
    require(left.low >= 0 and right.low > 0, "releases round negative quotients differently")
    if statement.operation == "remainder":
        return bounds(0, min(left.high, right.high - 1))
    return bounds(left.low // right.high, left.high // right.low)


def _comparison(_statement: BlockStatement, *_operands: Bounds) -> Bounds:
    return BOOLEAN


def _elementwise(
    name: str,
    text: str,
    propose: Callable[[Draft, str], None],
    rule: Rule,
    compute: Callable[..., Array],
    weight: int = 4,
) -> Operation:
    """Return an operation with one result. ``compute`` gets its settings by name."""
    return Operation(
        name=name,
        family="elementwise",
        text=text,
        propose=lambda draft: propose(draft, name),
        derive=in_result(rule),
        compute=lambda statement, operands, machine: [compute(*operands, **statement.settings)],
        weight=weight,
    )


def _pair(dtypes: Sequence[str], result: str | None = None) -> Callable[[Draft, str], None]:
    """Proposes two operands of one type and shape."""

    def propose(draft: Draft, name: str) -> None:
        left = draft.block(dtypes)
        right = draft.block((left.dtype,), left.shape, besides=left)
        draft.define(name, (left, right), (result or left.dtype, left.shape))

    return propose


def _divisor(draft: Draft, name: str) -> None:
    """Proposes operands that are not negative, and a divisor that is not zero."""
    value = draft.natural(draft.block(WIDE))
    divisor = draft.above_zero(draft.block((value.dtype,), value.shape))
    draft.define(name, (value, divisor), value.kind)


_SUM = corners(lambda a, b: a + b, min)
_DIFFERENCE = corners(lambda a, b: a - b, min)
_PRODUCT = corners(lambda a, b: a * b, lambda a, b: a + b)
BROADCAST: dict[str, tuple[Rule, Combine]] = {
    "+": (_SUM, np.add),
    "-": (_DIFFERENCE, np.subtract),
    "*": (_PRODUCT, np.multiply),
    "&": (bits, np.bitwise_and),
    "^": (bits, np.bitwise_xor),
}
"""Operators that also join blocks of different shapes → their bounds and their NumPy functions."""

_numbers, _bits = _pair(_ARITHMETIC), _pair((*INTEGERS, "i1"))
_ALL = (
    _elementwise("add", "{0} + {1}", _numbers, _SUM, np.add),
    _elementwise("subtract", "{0} - {1}", _numbers, _DIFFERENCE, np.subtract),
    _elementwise("multiply", "{0} * {1}", _numbers, _PRODUCT, np.multiply),
    # On some releases these two turn bfloat16 into float32.
    _elementwise(
        "minimum",
        "tl.minimum({0}, {1}).to({result})",
        _numbers,
        corners(min, min),
        np.minimum,
        weight=2,
    ),
    _elementwise(
        "maximum",
        "tl.maximum({0}, {1}).to({result})",
        _numbers,
        corners(max, min),
        np.maximum,
        weight=2,
    ),
    _elementwise("and", "{0} & {1}", _bits, bits, np.bitwise_and, weight=2),
    _elementwise("or", "{0} | {1}", _bits, bits, np.bitwise_or, weight=2),
    _elementwise("xor", "{0} ^ {1}", _bits, bits, np.bitwise_xor, weight=2),
    _elementwise("quotient", "{0} // {1}", _divisor, _quotient, np.floor_divide, weight=2),
    _elementwise("remainder", "{0} % {1}", _divisor, _quotient, np.remainder, weight=2),
    *(
        _elementwise(
            name, f"{{0}} {sign} {{1}}", _pair(_ARITHMETIC, "i1"), _comparison, compute, weight=1
        )
        for name, sign, compute in (
            ("less", "<", np.less),
            ("less_or_equal", "<=", np.less_equal),
            ("greater", ">", np.greater),
            ("equal", "==", np.equal),
            ("unequal", "!=", np.not_equal),
        )
    ),
)


# --- two operands of different types --------------------------------------------------------------

PROMOTED = {
    ("i8", "i32"): "i32",
    ("i16", "i32"): "i32",
    ("i8", "i16"): "i16",
    ("i32", "i64"): "i64",
    ("fp16", "fp32"): "fp32",
    ("bf16", "fp32"): "fp32",
    ("fp32", "fp64"): "fp64",
    ("i32", "fp32"): "fp32",
    ("i8", "fp16"): "fp16",
    ("i16", "fp32"): "fp32",
}
"""Two types → the type that the compiler computes in."""


def _propose_mixed(draft: Draft) -> None:
    left, right = draft.random.choice(list(PROMOTED))
    first = draft.block((left,))
    second = draft.block((right,), first.shape)
    draft.define("add_mixed", (first, second), (PROMOTED[left, right], first.shape))


def _derive_mixed(statement: BlockStatement, left: Bounds, right: Bounds) -> Bounds:
    dtype = statement.results[0].dtype
    for operand in (left, right):
        require(holds(dtype, operand), "an operand is not exact in the common type")
    return _SUM(statement, left, right)


def _compute_mixed(statement: BlockStatement, operands: Sequence[Array], _: object) -> list[Array]:
    dtype = numpy_dtype(statement.results[0].dtype)
    return [operands[0].astype(dtype) + operands[1].astype(dtype)]


# --- one operand ----------------------------------------------------------------------------------


def _one(dtypes: Sequence[str], **choices: Callable[[Random], Any]) -> Callable[[Draft, str], None]:
    """Proposes one operand, and then chooses the settings."""

    def propose(draft: Draft, name: str) -> None:
        value = draft.block(dtypes)
        settings: dict[str, Any] = {
            setting: choose(draft.random) for setting, choose in choices.items()
        }
        draft.define(name, (value,), value.kind, **settings)

    return propose


def _negative(_statement: BlockStatement, value: Bounds) -> Bounds:
    return Bounds(-value.high, -value.low, value.step)


def _absolute(_statement: BlockStatement, value: Bounds) -> Bounds:
    low = Fraction(0) if value.low <= 0 <= value.high else min(abs(value.low), abs(value.high))
    return Bounds(low, value.magnitude, value.step)


def _derive_invert(statement: BlockStatement, value: Bounds) -> Bounds:
    dtype = statement.results[0].dtype
    if dtype == "i1":
        return BOOLEAN
    if not DTYPES[dtype].signed:
        return everything(dtype)
    return Bounds(-value.high - 1, -value.low - 1, 0)


def _derive_rounding(_statement: BlockStatement, value: Bounds) -> Bounds:
    return bounds(value.low // 1, -(-value.high // 1), max(value.step, 0))


def _derive_shift_left(statement: BlockStatement, value: Bounds) -> Bounds:
    factor = 1 << statement.settings["by"]
    return bounds(value.low * factor, value.high * factor)


def _derive_shift_right(statement: BlockStatement, value: Bounds) -> Bounds:
    factor = 1 << statement.settings["by"]
    return bounds(value.low // factor, value.high // factor)


def _derive_scale(statement: BlockStatement, value: Bounds) -> Bounds:
    factor = Fraction(statement.settings["factor"])
    step = value.step + round(math.log2(factor))
    return Bounds(value.low * factor, value.high * factor, step)


def _with_literal(statement: BlockStatement, value: Bounds) -> Bounds:
    number = statement.settings["number"]
    return _SUM(statement, value, bounds(number, number))


def _derive_limit(statement: BlockStatement, value: Bounds) -> Bounds:
    limit = Fraction(statement.settings["limit"])
    low, high = (min(max(end, -limit), limit) for end in (value.low, value.high))
    return Bounds(low, high, min(value.step, 0))


def _mask(draft: Draft, _name: str) -> None:
    draft.mask_block(draft.block(WIDE), draft.random.choice((1, 3, 7, 12, 31)))


def _derive_mask(statement: BlockStatement, _value: Bounds) -> Bounds:
    return bounds(0, statement.settings["mask"])


_ALL += (
    Operation(
        name="add_mixed",
        family="casts",
        text="{0} + {1}",
        propose=_propose_mixed,
        derive=in_result(_derive_mixed),
        compute=_compute_mixed,
    ),
    _elementwise("negate", "-{0}", _one(_SIGNED), _negative, np.negative, weight=2),
    _elementwise("absolute", "tl.abs({0})", _one(_SIGNED), _absolute, np.abs, weight=2),
    _elementwise("invert", "~{0}", _one((*INTEGERS, "i1")), _derive_invert, np.invert, weight=2),
    *(
        _elementwise(
            name, f"tl.{name}({{0}})", _one(("fp32", "fp64")), _derive_rounding, compute, weight=2
        )
        for name, compute in (("floor", np.floor), ("ceil", np.ceil))
    ),
    _elementwise(
        "shift_left",
        "{0} << {by}",
        _one(WIDE, by=lambda random: random.randint(1, 5)),
        _derive_shift_left,
        lambda value, by: value << by,
        weight=2,
    ),
    _elementwise(
        "shift_right",
        "{0} >> {by}",
        _one(WIDE, by=lambda random: random.randint(1, 5)),
        _derive_shift_right,
        lambda value, by: value >> by,
        weight=2,
    ),
    _elementwise(
        "scale",
        "({0} * {factor}).to({result})",
        _one(("fp16", "fp32", "fp64"), factor=lambda random: 2.0 ** random.randint(-3, 3)),
        _derive_scale,
        lambda value, factor: value * factor,
    ),
    _elementwise(
        "add_literal",
        "{0} + {number}",
        _one((*WIDE, "fp32"), number=lambda random: random.randint(-9, 9)),
        _with_literal,
        lambda value, number: value + value.dtype.type(number),
    ),
    _elementwise(
        "limit",
        "tl.maximum(tl.minimum({0}, {limit}), -{limit}).to({result})",
        _one((*WIDE, "fp16", "bf16", "fp32"), limit=lambda random: random.choice((1, 3, 8, 15))),
        _derive_limit,
        lambda value, limit: np.clip(value, -limit, limit),
        weight=2,
    ),
    _elementwise(
        "mask",
        "{0} & {mask}",
        _mask,
        _derive_mask,
        lambda value, mask: value & value.dtype.type(mask),
        weight=2,
    ),
    Operation(
        name="is_odd",
        family="branches",
        text="({0} & 1) == 1",
        derive=in_result(_comparison),
        compute=lambda statement, operands, machine: [
            (operands[0] & operands[0].dtype.type(1)) == 1
        ],
    ),
)


# --- three operands -------------------------------------------------------------------------------


def _choose(draft: Draft, name: str) -> None:
    condition = draft.condition()
    first = draft.block(_ARITHMETIC, condition.shape)
    second = draft.block((first.dtype,), condition.shape, besides=first)
    draft.define(name, (condition, first, second), first.kind)


def _multiply_and_add(draft: Draft, name: str) -> None:
    first = draft.block(("fp16", "fp32", "fp64"))
    others = [draft.block((first.dtype,), first.shape) for _ in range(2)]
    draft.define(name, (first, *others), first.kind)


def _sum_of_product(statement: BlockStatement, one: Bounds, other: Bounds, added: Bounds) -> Bounds:
    return _SUM(statement, _PRODUCT(statement, one, other), added)


_ALL += (
    _elementwise(
        "where",
        "tl.where({0}, {1}, {2})",
        _choose,
        lambda _statement, _condition, one, other: one.union(other),
        np.where,
    ),
    _elementwise(
        "fma",
        "tl.fma({0}, {1}, {2})",
        _multiply_and_add,
        _sum_of_product,
        lambda one, other, added: one * other + added,
        weight=2,
    ),
)


# --- casts ----------------------------------------------------------------------------------------


_FP8 = ("fp8e5", "fp8e4nv")
_HALF = ("fp16", "bf16", "i16")


def _cast(draft: Draft) -> None:
    """Proposes a cast, or several one after the other between types of 16 bits."""
    if draft.random.random() < 0.25:
        value = draft.block(_HALF[:2])
        for _ in range(draft.random.randint(2, 3)):
            dtype = draft.random.choice([name for name in _HALF if name != value.dtype])
            value = draft.add("cast", (value,), (dtype, value.shape))
        return
    is_narrow = draft.random.random() < 0.12
    wide = (draft.random.choice(FLOATS),) if is_narrow else (*_ARITHMETIC, "i1", *_FP8)
    value = draft.block(wide)
    targets = _FP8 if is_narrow else _targets(value.dtype)
    draft.define("cast", (value,), (draft.random.choice(targets), value.shape))


def _targets(dtype: str) -> tuple[str, ...]:
    """Return the types that a type may be cast to."""
    if dtype in _FP8:
        return ("fp16", "bf16", "fp32")
    return (*_ARITHMETIC, *_FP8) if DTYPES[dtype].is_float else _ARITHMETIC


def _derive_cast(statement: BlockStatement, value: Bounds) -> Bounds:
    (operand,), (result,) = statement.operands, statement.results
    source, target = DTYPES[operand.dtype], DTYPES[result.dtype]
    is_supported = result.dtype in _targets(operand.dtype)
    require(is_supported, "fp8 is cast from floats, and to wider ones of 32 bits at most")
    if source.is_float and not target.is_float:
        require(target.signed or value.low >= 0, "the number may be negative")
        return bounds(int(value.low), int(value.high))  # towards zero
    return wrap_bounds(result.dtype, value)


def _compute_cast(statement: BlockStatement, operands: Sequence[Array], _: object) -> list[Array]:
    dtype = numpy_dtype(statement.results[0].dtype)
    value = operands[0]
    if value.dtype == np.float64 and dtype != np.float64:
        value = np.trunc(value).astype(np.int64)
    return [value.astype(dtype)]


_ALL += (
    Operation(
        name="cast",
        family="casts",
        text="{0}.to({result})",
        propose=_cast,
        # A float that does not fit in an integer does not wrap around.
        derive=lambda statement, operands, analysis: [_derive_cast(statement, *operands)],
        compute=_compute_cast,
        weight=8,
    ),
)

OPERATIONS = _ALL
"""The operations of this module."""
