"""The results of functions of PyTorch and CuTe DSL that host code calls to prepare a kernel."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from compat.source.constants import PythonValue, UnknownValue
from compat.toolchains.cute.language.guessing.values import (
    TORCH_ELEMENTS,
    UNKNOWN,
    ElementKind,
    PointerValue,
    StreamValue,
    SymbolicSize,
    TensorValue,
)

PACKAGES = {"cutlass": "cutlass", "cute": "cutlass.cute", "torch": "torch"}
"""Imported name → its package, independent of the module that the import names."""
_PACKAGES = ("cutlass", "torch", "cuda", "quack", "cute")
CONSTANTS: Mapping[str, object] = {"math.gcd": math.gcd, "math.prod": math.prod}
SIZE = 1024
"""The assumed value of an unknown size."""


def is_known(origin: str) -> bool:
    """Whether a dotted name belongs to one of these libraries.

    Packages of kernels often export ``from_dlpack`` again, so the name alone counts.
    """
    return origin.partition(".")[0] in _PACKAGES or origin.rpartition(".")[2] == "from_dlpack"


def element_name(value: object) -> str | None:
    """Return the name of an element type in kernel files, or ``None`` for any other value."""
    return value.name if isinstance(value, ElementKind) else None


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) else None


# --- PyTorch --------------------------------------------------------------------------------------


def _sizes(sizes: Sequence[PythonValue]) -> list[object]:
    flat = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], tuple | list) else sizes
    return [size if isinstance(size, int | SymbolicSize) else UNKNOWN for size in flat]


def _new_tensor(
    *sizes: PythonValue, dtype: PythonValue = None, size: PythonValue = None, **_: PythonValue
) -> TensorValue:
    return TensorValue.contiguous(
        _sizes(sizes if size is None else [size]), element_name(dtype) or "fp32"
    )


def _random(
    *arguments: object, size: object = None, dtype: object = None, **_: object
) -> TensorValue:
    shape = (
        size
        if size is not None
        else next(argument for argument in arguments if isinstance(argument, tuple | list))
    )
    return TensorValue.contiguous(_sizes([shape]), element_name(dtype) or "i64")


def _empty_strided(
    size: PythonValue, stride: PythonValue, *, dtype: object = None, **_: object
) -> TensorValue:
    order = sorted(range(len(size)), key=lambda mode: -stride[mode])
    return TensorValue(_sizes([size]), order, element_name(dtype) or "fp32")


def _like(tensor: PythonValue, *, dtype: PythonValue = None, **_: object) -> TensorValue:
    return _tensor(tensor).with_changes(element=element_name(dtype) or tensor.element)


def _count(*numbers: object, dtype: object = None, **_: object) -> TensorValue:
    integers = [number for number in numbers if isinstance(number, int)]
    start, stop = (0, integers[0]) if len(integers) == 1 else (integers[0], integers[1])
    return TensorValue.contiguous([stop - start if start else stop], element_name(dtype) or "i64")


def _of_data(data: object, *, dtype: object = None, **_: object) -> TensorValue:
    shape = []
    while isinstance(data, list | tuple):
        shape.append(len(data))
        data = data[0] if data else 0
    return TensorValue.contiguous(
        shape, element_name(dtype) or ("i64" if isinstance(data, int) else "fp32")
    )


def _tensor(value: PythonValue) -> TensorValue:
    if not isinstance(value, TensorValue):
        raise UnknownValue("no tensor")
    return value


def _to(tensor: TensorValue, *positional: object, dtype: object = None, **_: object) -> TensorValue:
    kinds = [argument for argument in (*positional, dtype) if isinstance(argument, ElementKind)]
    return tensor.with_changes(element=kinds[0].name) if kinds else tensor


def _permute(tensor: TensorValue, *axes: PythonValue) -> TensorValue:
    return tensor.permute_modes(
        axes[0] if len(axes) == 1 and isinstance(axes[0], tuple | list) else axes
    )


def _transpose(tensor: TensorValue, one: int = 0, other: int = 1) -> TensorValue:
    axes = [*range(len(tensor.shape))]
    axes[one], axes[other] = axes[other], axes[one]
    return tensor.permute_modes(axes)


def _view(tensor: TensorValue, *sizes: PythonValue, **_: PythonValue) -> TensorValue:
    if len(sizes) == 1 and isinstance(sizes[0], ElementKind):
        return tensor.with_changes(element=sizes[0].name)
    known_sizes = [size for size in tensor.shape if isinstance(size, int)]
    shape = _sizes(sizes)
    if -1 in shape and len(known_sizes) == len(tensor.shape):
        others = math.prod(size for size in shape if isinstance(size, int) and size != -1)
        shape = [math.prod(known_sizes) // others if size == -1 else size for size in shape]
    return TensorValue.contiguous(
        [UNKNOWN if size == -1 else size for size in shape], tensor.element
    )


def _unsqueeze(tensor: TensorValue, axis: int) -> TensorValue:
    at = axis % (len(tensor.shape) + 1)
    order = [mode + (mode >= at) for mode in tensor.order]
    return tensor.with_changes(
        shape=[*tensor.shape[:at], 1, *tensor.shape[at:]], order=[at, *order]
    )


def _squeeze(tensor: TensorValue, axis: int) -> TensorValue:
    at = axis % len(tensor.shape)
    order = [mode - (mode > at) for mode in tensor.order if mode != at]
    return tensor.with_changes(shape=[*tensor.shape[:at], *tensor.shape[at + 1 :]], order=order)


def _of(values: Sequence[PythonValue], axis: PythonValue) -> PythonValue:
    return tuple(values) if axis is None else values[axis]


def strides_of(tensor: TensorValue) -> list[PythonValue]:
    """Return the strides of a tensor. Unknown sizes count as SIZE."""
    strides, below = [1] * len(tensor.shape), 1
    for mode in reversed(tensor.order):
        strides[mode] = below
        below *= tensor.shape[mode] if isinstance(tensor.shape[mode], int) else SIZE
    return strides


# --- tensors of CuTe DSL --------------------------------------------------------------------------


def _from_dlpack(tensor: object, assumed_align: object = None, **_: object) -> TensorValue:
    return _tensor(tensor).with_changes(alignment=_integer(assumed_align))


def _layout_dynamic(tensor: TensorValue, leading_dim: object = None) -> TensorValue:
    tensor.dynamic = dict.fromkeys(range(len(tensor.shape)), 1)
    tensor.strided = True
    if isinstance(leading_dim, int):
        _lead(tensor, leading_dim)
    return tensor


def _lead(tensor: TensorValue, mode: int) -> None:
    mode %= len(tensor.shape)
    tensor.order = [*(other for other in tensor.order if other != mode), mode]


def _compact_dynamic(
    tensor: TensorValue, mode: object, stride_order: object = None, divisibility: object = 1
) -> TensorValue:
    if isinstance(mode, int):
        tensor.dynamic[mode % len(tensor.shape)] = _symbolic_size(divisibility).divisibility
    return tensor


def _symbolic_size(divisibility: object) -> SymbolicSize:
    """Return a size with this divisibility, or with 1 if the divisibility is unknown."""
    return SymbolicSize(divisibility if isinstance(divisibility, int) else 1)


def _fake_compact(
    dtype: object,
    shape: object,
    *,
    stride_order: object = None,
    assumed_align: object = None,
    **_: object,
) -> TensorValue:
    tensor = TensorValue.contiguous(_sizes([shape]), element_name(dtype))
    if isinstance(stride_order, tuple | list):
        tensor.order = sorted(range(len(tensor.shape)), key=lambda mode: -stride_order[mode])
    return _symbolic(tensor, assumed_align)


def _fake(
    dtype: object,
    shape: object,
    stride: object = None,
    leading_dim: object = -1,
    *,
    assumed_align: object = None,
    **_: object,
) -> TensorValue:
    """Return a fake tensor. ``stride`` may also be a divisibility, as in functions of libraries."""
    tensor = TensorValue.contiguous(_sizes([shape]), element_name(dtype))
    if isinstance(stride, int):
        _lead(tensor, leading_dim if isinstance(leading_dim, int) else -1)
        tensor = _symbolic(tensor, assumed_align)
        tensor.alignment = (
            tensor.alignment or stride * ElementKind(tensor.element or "fp16").width // 8
        )
        tensor.strided, tensor.stride_divisor = len(tensor.shape) > 1, stride
        if isinstance(tensor.shape[tensor.leading], SymbolicSize):
            tensor.dynamic[tensor.leading] = stride
        return tensor
    if isinstance(stride, tuple | list):
        strides = [_integer(mode_stride) for mode_stride in stride]
        if 1 in strides:
            _lead(tensor, strides.index(1))
            tensor.strided = None in strides
    return _symbolic(tensor, assumed_align)


def _symbolic(tensor: TensorValue, alignment: object) -> TensorValue:
    for mode, size in enumerate(tensor.shape):
        if isinstance(size, SymbolicSize):
            tensor.dynamic[mode] = size.divisibility
    tensor.alignment = _integer(alignment)
    return tensor


def _cute_tensor_like(
    tensor: PythonValue,
    cutlass_dtype: PythonValue = None,
    is_dynamic_layout: object = True,
    assumed_align: object = None,
    **_: object,
) -> object:
    cute_tensor = _tensor(tensor).with_changes(
        element=element_name(cutlass_dtype) or tensor.element
    )
    cute_tensor.alignment = _integer(assumed_align)
    if is_dynamic_layout is not False:
        _layout_dynamic(cute_tensor, cute_tensor.leading)
        if isinstance(cutlass_dtype, ElementKind) and cutlass_dtype.width < 8:
            cute_tensor.dynamic[cute_tensor.leading] = 32
    return cute_tensor, cute_tensor.with_changes(dynamic={}, strided=False)


def _matrix(
    batch: object,
    mode0: object,
    mode1: object,
    is_mode0_major: object,
    cutlass_dtype: object = None,
    **_: object,
) -> TensorValue:
    shape = [mode0, mode1, batch]
    order = [2, 1, 0] if is_mode0_major is True else [2, 0, 1]
    return TensorValue(_sizes([shape]), order, element_name(cutlass_dtype) or "fp32")


def _create_and_permute(
    shape: object, dtype: object = None, permute_order: object = None, **_: object
) -> TensorValue:
    tensor = TensorValue.contiguous(_sizes([shape]), element_name(dtype))
    return (
        tensor.permute_modes(permute_order) if isinstance(permute_order, tuple | list) else tensor
    )


def _of_storage(
    tensor: object, dtype: object, leading_dim: object = None, **_: object
) -> TensorValue:
    return _layout_dynamic(_tensor(tensor).with_changes(element=element_name(dtype)), leading_dim)


def _pointer(
    dtype: object = None,
    value: object = None,
    mem_space: object = None,
    *,
    assumed_align: object = None,
    **_: object,
) -> PointerValue:
    return PointerValue(element_name(dtype), _integer(assumed_align))


CALLS: Mapping[str, Callable[..., object]] = {
    **dict.fromkeys(("empty", "zeros", "ones", "rand", "randn"), _new_tensor),
    **{f"{name}_like": _like for name in ("empty", "zeros", "ones", "rand", "randn")},
    "full_like": lambda tensor, fill_value=None, **options: _like(tensor, **options),
    "full": lambda size, fill_value=None, *, dtype=None, **_: _new_tensor(size, dtype=dtype),
    "randint": _random,
    "normal": _random,
    "empty_strided": _empty_strided,
    "arange": _count,
    "tensor": _of_data,
    "from_dlpack": _from_dlpack,
    "cute_tensor_like": _cute_tensor_like,
    "matrix": _matrix,
    "create_and_permute_torch_tensor": _create_and_permute,
    "convert_cute_tensor": lambda source, tensor, *_, **__: _tensor(tensor),
    "make_fake_compact_tensor": _fake_compact,
    "make_fake_tensor": _fake,
    "make_ptr": _pointer,
    "nullptr": _pointer,
    "dtype": lambda kind: kind,
    "sym_int": lambda width=32, *, divisibility=1, **_: _symbolic_size(divisibility),
    "sym_int32": lambda *, divisibility=1, **_: _symbolic_size(divisibility),
    "sym_int64": lambda *, divisibility=1, **_: _symbolic_size(divisibility),
    **dict.fromkeys(
        ("CUstream", "current_stream", "default_stream", "make_fake_stream", "Stream"),
        lambda *_, **__: StreamValue(),
    ),
    "select": lambda layout, mode: _tensor(layout).permute_modes(mode),
    "make_tensor": lambda iterator, layout: _tensor(layout),
    "is_fp8_dtype": lambda kind: kind.name.startswith("fp8"),
    "create_cute_tensor_for_fp8": _of_storage,
    "is_available": lambda: True,
    "ceil_div": lambda number, divisor: -(-number // divisor),
}
"""The last part of a function's name → its result."""

_METHODS: Mapping[str, Callable[..., object]] = {
    "mark_layout_dynamic": _layout_dynamic,
    "mark_compact_shape_dynamic": _compact_dynamic,
    "to": _to,
    "permute": _permute,
    "transpose": _transpose,
    "t": _transpose,
    "view": _view,
    "reshape": _view,
    "unsqueeze": _unsqueeze,
    "squeeze": _squeeze,
    "size": lambda tensor, dim=None: _of(tensor.shape, dim),
    "stride": lambda tensor, dim=None: _of(strides_of(tensor), dim),
    "dim": lambda tensor: len(tensor.shape),
    "contiguous": lambda tensor: TensorValue.contiguous(tensor.shape, tensor.element),
    "numel": lambda tensor: math.prod(
        size if isinstance(size, int) else SIZE for size in tensor.shape
    ),
    "element_size": lambda tensor: max(1, ElementKind(tensor.element or "fp16").width // 8),
    **dict.fromkeys(
        (
            "cuda",
            "clone",
            "detach",
            "cpu",
            "random_",
            "normal_",
            "uniform_",
            "fill_",
            "zero_",
            "requires_grad_",
            "copy_",
        ),
        lambda tensor, *_, **__: tensor,
    ),
    **{
        name: lambda tensor, kind=TORCH_ELEMENTS[name]: tensor.with_changes(element=kind)
        for name in ("half", "bfloat16", "float", "int", "long")
    },
}


def attribute_of(tensor: TensorValue, name: str) -> object:
    """Return an attribute or a method of a tensor. Raises UnknownValue."""
    if name in _METHODS:
        return partial(_METHODS[name], tensor)
    if name in ("dtype", "element_type") and tensor.element:
        return ElementKind(tensor.element)
    if name in ("T", "mT"):
        return _transpose(tensor, -2, -1)
    values = {
        "shape": tuple(tensor.shape),
        "ndim": len(tensor.shape),
        "is_cuda": True,
        "leading_dim": tensor.leading,
        "layout": tensor,
        "iterator": PointerValue(tensor.element, tensor.alignment),
    }
    if name not in values:
        raise UnknownValue(f"the attribute {name} of a tensor")
    return values[name]
