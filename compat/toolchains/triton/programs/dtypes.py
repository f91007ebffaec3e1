"""The element types of generated programs, and which numbers they hold exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen

Array = np.ndarray[Any, np.dtype[Any]]
"""An array of any type and shape."""


@frozen
class NumberType:
    """An element type."""

    name: str
    """The name in the compiler's signatures: ``fp16``, ``i32``."""
    language: str
    """The name in a kernel, after ``tl.``, and for tensors in memory also in PyTorch."""
    bits: int
    signed: bool = True
    precision: int = 0
    """Bits of a float's significand, including the hidden one; 0 for an integer."""
    smallest: int = 0
    """The exponent of the smallest positive float."""
    largest: int = 0
    """The largest float that is used."""
    in_memory: bool = True
    """Whether tensors of PyTorch can have the type on every release that launches."""

    @property
    def is_float(self) -> bool:
        """Whether it is a float."""
        return self.precision > 0

    @property
    def low(self) -> int:
        """The smallest integer, or the lowest float that is used."""
        if self.is_float:
            return -self.largest
        return -(1 << self.bits - 1) if self.signed else 0

    @property
    def high(self) -> int:
        """The largest integer, or the largest float that is used."""
        if self.is_float:
            return self.largest
        return (1 << self.bits - int(self.signed)) - 1


DTYPES = {
    dtype.name: dtype
    for dtype in (
        NumberType("i1", "int1", 1, signed=False, in_memory=False),
        NumberType("i8", "int8", 8),
        NumberType("i16", "int16", 16),
        NumberType("i32", "int32", 32),
        NumberType("i64", "int64", 64),
        NumberType("u8", "uint8", 8, signed=False),
        NumberType("u16", "uint16", 16, signed=False, in_memory=False),
        NumberType("u32", "uint32", 32, signed=False, in_memory=False),
        NumberType(
            "fp8e5", "float8e5", 8, precision=3, smallest=-16, largest=57344, in_memory=False
        ),
        NumberType(
            "fp8e4nv", "float8e4nv", 8, precision=4, smallest=-9, largest=448, in_memory=False
        ),
        NumberType("fp16", "float16", 16, precision=11, smallest=-24, largest=65504),
        NumberType("bf16", "bfloat16", 16, precision=8, smallest=-133, largest=1 << 100),
        NumberType("fp32", "float32", 32, precision=24, smallest=-149, largest=1 << 100),
        NumberType("fp64", "float64", 64, precision=53, smallest=-1074, largest=1 << 900),
        NumberType("block_ptr", "pointer_type", 64, in_memory=False),
        NumberType("descriptor", "tensor_descriptor", 64, in_memory=False),
    )
}
PLACES = ("block_ptr", "descriptor")
"""The types whose values are places of tiles: the start of a tile on one axis of its matrix."""
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32")
FLOATS = ("fp16", "bf16", "fp32", "fp64")
WIDE = ("i32", "i64")
"""The integers in which all releases reduce and scan."""


@frozen
class Bounds:
    """The range of a value's elements, each of which is a multiple of ``2 ** step``."""

    low: Fraction
    high: Fraction
    step: int = 0

    @property
    def magnitude(self) -> Fraction:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    def union(self, other: Bounds) -> Bounds:
        """Return the bounds of a value that is within these bounds or the others."""
        return Bounds(
            min(self.low, other.low), max(self.high, other.high), min(self.step, other.step)
        )

    def within(self, other: Bounds) -> bool:
        """Whether other bounds allow every number that these bounds allow."""
        return other.low <= self.low and self.high <= other.high and self.step >= other.step


def bounds(low: Fraction | int, high: Fraction | int, step: int = 0) -> Bounds:
    """Bounds of numbers."""
    return Bounds(Fraction(low), Fraction(high), step)


def everything(dtype: str) -> Bounds:
    """The bounds of all integers of a type."""
    return bounds(DTYPES[dtype].low, DTYPES[dtype].high)


def holds(dtype: str, value_bounds: Bounds, precision: int | None = None) -> bool:
    """Whether a type holds every number within bounds exactly.

    ``precision`` replaces that of a float, for sums in fewer bits.
    """
    kind = DTYPES[dtype]
    if not (kind.low <= value_bounds.low and value_bounds.high <= kind.high):
        return False
    if not kind.is_float:
        return value_bounds.step >= 0
    units = value_bounds.magnitude / Fraction(2) ** value_bounds.step
    return units <= 1 << (precision or kind.precision) and value_bounds.step >= kind.smallest


def wrap_bounds(dtype: str, value_bounds: Bounds) -> Bounds:
    """Return the bounds of a result. An integer wraps around if it does not fit."""
    is_float = DTYPES[dtype].is_float
    return value_bounds if is_float or holds(dtype, value_bounds) else everything(dtype)


def numpy_dtype(dtype: str) -> np.dtype[Any]:
    """NumPy's type for an element type. All floats are float64."""
    kind = DTYPES[dtype]
    if kind.is_float:
        return np.dtype(np.float64)
    if dtype == "i1":
        return np.dtype(np.bool_)
    return np.dtype(f"{'int' if kind.signed else 'uint'}{kind.bits}")
