"""Tensors as the function around a launch has them: sizes that are assumed, strides that follow from them, and element types.

Nothing is computed with their elements. A tensor that nothing tells the element type of has that of its :attr:`Tensor.origin`, the
argument that it was made like.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from attrs import evolve, frozen

from compat.guess.pure import Unknown
from compat.patterns import lazy_pattern

SIZE = 1024
"""What a size is taken as of which nothing else is known: a multiple of 16, as most are."""
_NAMED = (
    (lazy_pattern(r"(?i).*head_?dim.*|d_?head|.*head_size|d|.*_d"), 64),
    (
        lazy_pattern(
            r"(?i).*(heads?(_[qkv]o?)?|groups?|n(um)?_blocks|experts|splits?|batch(_size)?|bsz?|topk)|[bzg]|h|h_?([qkv]|kv|qo)"
        ),
        4,
    ),
)
"""Names of sizes that are small, and what they are taken as."""
TORCH_TYPES = {
    "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8",
    "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
    "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5",
}  # fmt: skip
"""PyTorch's name of a dtype → Triton's."""


class Size(int):
    """One size of a tensor that is an argument, and was not computed with."""

    key: str
    """What sizes are equal by: the name that the source gives it, else which axis it is, of how many."""

    @property
    def is_named(self) -> bool:
        """Whether the source gives it a name."""
        return self.key.isidentifier()

    @classmethod
    def of(cls, key: str, value: int) -> Size:
        """The size that has this key."""
        found = cls(value)
        found.key = key
        return found


def size_by_name(name: str, usual: int = SIZE) -> int:
    """What a size of this name is taken as, where most are ``usual``."""
    return next((value for pattern, value in _NAMED if pattern.fullmatch(name)), usual)


@frozen
class ElementType:
    """``x.dtype`` of a tensor whose element type nothing tells."""

    origin: str


@frozen
class Tensor:
    """What is known of a tensor."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    element: str | None = None
    """Its element type, as Triton calls it."""
    origin: str | None = None
    """Where nothing tells the element type: the tensor that has the same."""

    @classmethod
    def contiguous(cls, shape: Sequence[int], element: str | None = None, origin: str | None = None) -> Tensor:
        """A tensor of this shape, row after row."""
        inner = [*accumulate([*shape[:0:-1]], lambda product, size: product * size, initial=1)][::-1] if shape else []
        if len(shape) > 1:
            inner[-2] = shape[-1]  # still the size that was given, and not a product of it
        return cls(tuple(shape), tuple(inner), element, origin)

    def attribute(self, name: str) -> Any:
        """What an attribute or a method of it is. Raises :class:`Unknown`."""
        if name in _METHODS:
            method = _METHODS[name]
            return lambda *positional, **keywords: method(self, *positional, **keywords)
        values = {"shape": self.shape, "ndim": len(self.shape), "is_cuda": True, "requires_grad": False}
        if name in values:
            return values[name]
        if name == "dtype":
            return self.dtype
        if name in ("T", "mT"):
            return _transpose(self, -2, -1)
        raise Unknown(f"the attribute {name} of a tensor")

    @property
    def dtype(self) -> Any:
        """As constexprs have it, where it is known."""
        torch = next((torch for torch, triton in TORCH_TYPES.items() if triton == self.element), None)
        if torch:
            return {"torch_dtype": torch}
        if self.origin:
            return ElementType(self.origin)
        raise Unknown("a dtype that nothing tells")

    def of_type(self, dtype: Any) -> Tensor:
        """The same with another dtype; with the same where that is ``None``."""
        element, origin = (self.element, self.origin) if dtype is None else element_of(dtype)
        return evolve(self, element=element, origin=origin)


def element_of(dtype: Any) -> tuple[str | None, str | None]:
    """Element type and origin of what is made with a dtype."""
    if isinstance(dtype, ElementType):
        return None, dtype.origin
    return (TORCH_TYPES.get(str(dtype.get("torch_dtype"))) if isinstance(dtype, Mapping) else None), None


# --- methods ---------------------------------------------------------------------------------------------------------------------


def _shape(tensor: Tensor, sizes: Sequence[Any]) -> tuple[int, ...]:
    """The sizes that a method is given, with ``-1`` replaced."""
    flat = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], tuple | list) else sizes
    if not all(isinstance(each, int) for each in flat):
        raise Unknown("a shape that is not known")
    known, whole = math.prod(each for each in flat if each != -1), math.prod(tensor.shape)
    rest = SIZE if known < 1 or whole % known else whole // known  # sizes that are assumed need not fit those that are said
    return tuple(rest if each == -1 else each for each in flat)


def _view(tensor: Tensor, *sizes: Any) -> Tensor:
    return Tensor.contiguous(_shape(tensor, sizes), tensor.element, tensor.origin)


def _new(tensor: Tensor, *sizes: Any, dtype: Any = None, **_: Any) -> Tensor:
    return _view(tensor, *sizes).of_type(dtype)


def _permute(tensor: Tensor, *axes: Any) -> Tensor:
    flat = axes[0] if len(axes) == 1 and isinstance(axes[0], tuple | list) else axes
    return evolve(tensor, shape=tuple(tensor.shape[i] for i in flat), strides=tuple(tensor.strides[i] for i in flat))


def _transpose(tensor: Tensor, one: int = 0, other: int = 1) -> Tensor:
    axes = [*range(len(tensor.shape))]
    axes[one], axes[other] = axes[other], axes[one]
    return _permute(tensor, axes)


def _flatten(tensor: Tensor, start: int = 0, end: int = -1) -> Tensor:
    rank = len(tensor.shape)
    first, last = start % rank, end % rank
    return _view(tensor, (*tensor.shape[:first], math.prod(tensor.shape[first : last + 1]), *tensor.shape[last + 1 :]))


def _unsqueeze(tensor: Tensor, axis: int) -> Tensor:
    at = axis % (len(tensor.shape) + 1)
    stride = tensor.strides[at] * tensor.shape[at] if at < len(tensor.shape) else 1
    strides = (*tensor.strides[:at], stride, *tensor.strides[at:])
    return evolve(tensor, shape=(*tensor.shape[:at], 1, *tensor.shape[at:]), strides=strides)


def _to(tensor: Tensor, *positional: Any, dtype: Any = None, **_: Any) -> Tensor:
    given = [each for each in (*positional, dtype) if isinstance(each, ElementType | Mapping)]
    return tensor.of_type(given[0] if given else None)


def _at(values: Sequence[int], axis: Any) -> Any:
    return tuple(values) if axis is None else values[axis]


_METHODS: Mapping[str, Callable[..., Any]] = {
    "stride": lambda tensor, dim=None: _at(tensor.strides, dim),
    "size": lambda tensor, dim=None: _at(tensor.shape, dim),
    "dim": lambda tensor: len(tensor.shape),
    "element_size": lambda tensor: 2,
    "is_contiguous": lambda tensor, **_: True,
    "contiguous": lambda tensor, **_: Tensor.contiguous(tensor.shape, tensor.element, tensor.origin),
    "view": _view,
    "reshape": _view,
    "flatten": _flatten,
    "permute": _permute,
    "transpose": _transpose,
    "t": _transpose,
    "unsqueeze": _unsqueeze,
    "to": _to,
    "view_as": lambda tensor, other: _view(tensor, other.shape),
    **{name: lambda tensor: math.prod(tensor.shape) for name in ("numel", "nelement")},
    **{name: lambda tensor, **_: tensor for name in ("detach", "clone", "cuda", "zero_", "requires_grad_")},
    **dict.fromkeys(("new_empty", "new_zeros", "new_ones"), _new),
    **{
        name: lambda tensor, element=element: evolve(tensor, element=element, origin=None)
        for name, element in (("half", "fp16"), ("bfloat16", "bf16"), ("float", "fp32"), ("int", "i32"), ("long", "i64"))
    },
}
ATTRIBUTES = frozenset((*_METHODS, "shape", "ndim", "is_cuda", "dtype", "T", "mT", "device", "data_ptr")) - {"to", "view", "int"}
"""What only tensors have, so that a name that has it is one."""


# --- what PyTorch makes -----------------------------------------------------------------------------------------------------------


_LIKE = frozenset(f"torch.{name}_like" for name in ("empty", "zeros", "ones", "full", "rand", "randn"))
_OF_SIZES = frozenset(f"torch.{name}" for name in ("empty", "zeros", "ones", "full", "rand", "randn"))
MAKERS = _LIKE | _OF_SIZES


def made(called: str, positional: Sequence[Any], keywords: Mapping[str, Any]) -> Tensor:
    """What one of ``MAKERS`` returns. Raises :class:`Unknown` where its shape does not follow."""
    dtype = keywords.get("dtype")
    if called in _LIKE and positional and isinstance(positional[0], Tensor):
        return Tensor.contiguous(positional[0].shape, positional[0].element, positional[0].origin).of_type(dtype)
    sizes = [keywords["size"]] if "size" in keywords else positional[:1] if called == "torch.full" else positional
    if called in _LIKE or not sizes:
        raise Unknown(f"the call of {called}")
    return Tensor.contiguous(_shape(Tensor((), ()), sizes), *element_of(dtype or {"torch_dtype": "float32"}))
