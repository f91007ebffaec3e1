"""The values that host code passes to kernels: tensors, pointers, numbers, dtypes, streams.

They have only the facts that types need. Every unknown value is :data:`UNKNOWN`, and an operation
on it gives UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import Factory, define, evolve, frozen

from compat.source.constants import PythonValue, PythonValues, UnknownValue
from compat.toolchains.cute.language.types import ELEMENTS

TORCH_ELEMENTS = {
    "float16": "fp16",
    "half": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
    "float": "fp32",
    "float64": "fp64",
    "double": "fp64",
    "float8_e4m3fn": "fp8e4m3fn",
    "float8_e5m2": "fp8e5m2",
    "float8_e8m0fnu": "fp8e8m0fnu",
    "bool": "bool",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int": "i32",
    "int64": "i64",
    "long": "i64",
    "uint8": "u8",
    "float4_e2m1fn_x2": "fp4e2m1fn",
}
"""PyTorch's name of a dtype → its name in kernel files."""
_WIDTHS = {
    "bool": 8,
    "tf32": 32,
    "fp8e4m3fn": 8,
    "fp8e5m2": 8,
    "fp8e8m0fnu": 8,
    "fp4e2m1fn": 4,
    "fp6e2m3fn": 6,
    "fp6e3m2fn": 6,
}


class Unknown:
    """An unknown value."""

    def __bool__(self) -> bool:
        raise UnknownValue("nothing is known about it")

    def __eq__(self, other: object) -> bool:
        raise UnknownValue("nothing is known about it")

    __hash__ = object.__hash__


UNKNOWN = Unknown()


class NamedSize(int):
    """A whole number, and the name of the variable that it was bound to first."""

    name: str

    @classmethod
    def of(cls, value: int, name: str) -> NamedSize:
        """Return a number with a name."""
        size = cls(value)
        size.name = name
        return size


@frozen
class SymbolicSize:
    """A size that is known only at run time: ``cute.sym_int(divisibility=8)``."""

    divisibility: int = 1


@frozen
class ElementKind:
    """An element type of CuTe DSL or PyTorch."""

    name: str
    """The name in kernel files."""

    @property
    def width(self) -> int:
        """The bits of an element."""
        return (
            _WIDTHS[self.name]
            if self.name in _WIDTHS
            else int(self.name.lstrip("abcdefghijklmnopqrstuvwxyz"))
        )

    @classmethod
    def from_name(cls, name: str) -> ElementKind | None:
        """Return the element type with this name in CuTe DSL or PyTorch, without a module."""
        short = ELEMENTS.get(name) or TORCH_ELEMENTS.get(name)
        return cls(short) if short else None


@frozen
class Number:
    """A number of CuTe DSL that is known only at run time: ``cutlass.Int32(n)``."""

    element: str


@frozen
class StreamValue:
    """A stream."""


@frozen
class PointerValue:
    """``make_ptr(cutlass.Float16, …, assumed_align=16)``."""

    element: str | None
    alignment: int | None = None


@frozen
class KernelObject:
    """An object of a kernel's class."""

    kind: str
    constructor_arguments: Mapping[str, PythonValue]
    """Parameter of its constructor → the given argument."""


@frozen
class ParsedCommandLine:
    """The result of parsing a command line: the defaults of its options."""

    values: Mapping[str, PythonValue]


@define(eq=False)
class TensorValue:
    """A tensor of PyTorch, or the tensor that ``from_dlpack`` makes of it."""

    shape: list[PythonValue]
    """Numbers, symbolic sizes, or UNKNOWN."""
    order: list[int]
    """Modes from the outermost to the innermost."""
    element: str | None = None
    dynamic: dict[int, int] = Factory(dict)
    """Mode with a run-time size → its divisor."""
    strided: bool = False
    """Whether the strides of all modes but the leading one are run-time values."""
    stride_divisor: int = 1
    """The divisor of these strides."""
    alignment: int | None = None

    @classmethod
    def contiguous(cls, shape: Sequence[object], element: str | None) -> TensorValue:
        """Return a tensor whose last mode is contiguous."""
        return cls(list(shape), list(range(len(shape))), element)

    def with_changes(self, **changes: object) -> TensorValue:
        """Return a copy of the tensor with changes."""
        copied: PythonValues = {
            "shape": list(self.shape),
            "order": list(self.order),
            "dynamic": dict(self.dynamic),
        }
        return evolve(self, **{**copied, **changes})

    @property
    def leading(self) -> int:
        """The mode that is contiguous."""
        return self.order[-1] if self.order else 0

    def permute_modes(self, axes: Sequence[int]) -> TensorValue:
        """Return the tensor with its modes in another order."""
        modes = [axis % len(self.shape) for axis in axes]
        return self.with_changes(
            shape=[self.shape[mode] for mode in modes],
            order=[modes.index(mode) for mode in self.order if mode in modes],
        )
