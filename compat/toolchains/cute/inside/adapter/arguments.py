"""What a kernel is given, made of the types and values in a kernel file.

Tensors come from nowhere: ``from_dlpack`` of a capsule of our own, made with ctypes, that says CUDA and an address which is never
looked at. So it is one way in every release, and the one in which programs hand over tensors. (NumPy's arrays would be in generic
memory, where copies fail that do not fail on a GPU; fake tensors came with 4.3.)
"""

from __future__ import annotations

import ctypes
import inspect
import re
from typing import Any, NamedTuple

_ADDRESS = 1 << 40
"""Divisible by whatever alignment is assumed."""
MADE_FOR_CUDA = 2
"""``kDLCUDA`` of DLPack."""
_UNSIGNED, _FLOAT, _SIGNED, _BFLOAT, _BOOL = 1, 2, 0, 4, 6
"""The codes of element types in DLPack."""
_ANY = 64
"""What stands for a size that is known at run time only."""

_ELEMENTS: dict[str, tuple[str, int, int]] = {
    "bool": ("Boolean", _UNSIGNED, 8),
    **{"i%d" % bits: ("Int%d" % bits, _SIGNED, bits) for bits in (8, 16, 32, 64)},
    **{"u%d" % bits: ("Uint%d" % bits, _UNSIGNED, bits) for bits in (8, 16, 32, 64)},
    "fp16": ("Float16", _FLOAT, 16),
    "bf16": ("BFloat16", _BFLOAT, 16),
    "fp32": ("Float32", _FLOAT, 32),
    "tf32": ("TFloat32", _FLOAT, 32),
    "fp64": ("Float64", _FLOAT, 64),
    "fp8e4m3fn": ("Float8E4M3FN", _UNSIGNED, 8),
    "fp8e5m2": ("Float8E5M2", _UNSIGNED, 8),
}
"""A type's name in kernel files → what CuTe DSL calls it, and how DLPack does."""
_DTYPES = {"int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32"}
"""Names that constexprs have in JSON → those in kernel files, where they differ."""

_TENSOR = re.compile(
    r"(?P<element>\w+)\[(?P<shape>[^\]]*)\](?::\[(?P<strides>[^\]]*)\])?(?: leading=(?P<leading>\d+))?(?: align=(?P<align>\d+))?"
)
_POINTER = re.compile(r"ptr<(?P<element>\w+)>(?: align=(?P<align>\d+))?")
_USUAL_ALIGNMENT = 16


class KernelFileError(Exception):
    """What a kernel file says does not fit its function. The message says why, in a sentence."""


def bound(function: Any, job: dict[str, Any]) -> tuple[Any, list[Any]]:
    """The function that is compiled, and what it is given, in order. Raises KernelFileError.

    Of a class an object is made, of the constexprs that its constructor takes; its ``__call__`` takes the others.
    """
    constants = {name: constant(value) for name, value in job["constexprs"].items()}
    if inspect.isclass(function):
        names = _names(function.__init__, "constructor of %s" % function.__name__, constants)
        made = {name: constants.pop(name) for name in names if name in constants}
        function = function(**made)
        call = type(function).__call__
    else:
        call = function
    parameters = _parameters(call)
    if not inspect.isfunction(inspect.unwrap(function)) and "self" in parameters:
        parameters.pop("self")
    given = {**{name: argument(name, kind) for name, kind in job["signature"].items()}, **constants}
    for name in given:
        if name not in parameters:
            raise KernelFileError("the function has no parameter %r, but the kernel file gives it a type or a value" % name)
    lacking = [name for name, parameter in parameters.items() if name not in given and parameter.default is parameter.empty]
    if lacking:
        raise KernelFileError("the kernel file gives no type or value to %s" % ", ".join(lacking))
    return function, [given.get(name, parameter.default) for name, parameter in parameters.items()]


def _names(function: Any, what: str, constants: dict[str, Any]) -> list[str]:
    """The parameters of a constructor. Raises KernelFileError where one that it needs has no value."""
    if function is object.__init__:
        return []
    parameters = _parameters(function)
    parameters.pop("self", None)
    lacking = [name for name, each in parameters.items() if each.default is each.empty and name not in constants]
    if lacking:
        raise KernelFileError("the kernel file gives no value to %s, which the %s takes" % (", ".join(lacking), what))
    return list(parameters)


def _parameters(function: Any) -> dict[str, Any]:
    parameters = inspect.signature(inspect.unwrap(function)).parameters
    return {name: each for name, each in parameters.items() if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)}


def constant(value: Any) -> Any:
    """A constexpr from its JSON form: ``{"dtype": "fp16"}`` is a type of CuTe DSL's, a list is a tuple."""
    if isinstance(value, list):
        return tuple(map(constant, value))
    if isinstance(value, dict):
        if "dtype" not in value:
            raise KernelFileError("a constexpr of CuTe DSL is a number, a text, a dtype, nothing, or a tuple of such")
        name: str = value["dtype"]
        return element(_DTYPES.get(name, name))
    return value


def element(name: str) -> Any:
    """The type of CuTe DSL that a name means. Raises KernelFileError, and AttributeError where this release has none."""
    import cutlass

    if name not in _ELEMENTS:
        raise KernelFileError("%r is not a type of elements: one of %s" % (name, ", ".join(_ELEMENTS)))
    return getattr(cutlass, _ELEMENTS[name][0])


def options(said: dict[str, Any]) -> dict[str, str]:
    """Compile options as ``cute.compile`` takes them, in one text; nothing where there are none."""
    words = []
    for name, value in said.items():
        if value is not False:
            words.append("--" + name if value is True else "--%s %s" % (name, value))
    return {"options": " ".join(words)} if words else {}


# --- run-time arguments -------------------------------------------------------------------------------------------------------


def argument(name: str, kind: Any) -> Any:
    """What stands for an argument of this type. Raises KernelFileError."""
    if isinstance(kind, list):
        return tuple(argument(name, each) for each in kind)
    if kind == "stream":
        return _stream()
    found = _POINTER.fullmatch(kind)
    if found:
        return _pointer(found["element"], int(found["align"] or _USUAL_ALIGNMENT))
    tensor = _TENSOR.fullmatch(kind)
    if tensor is None:
        return element(kind)(1)
    try:
        return _tensor(_layout(tensor))
    except ValueError as error:
        raise KernelFileError("%s: %s: %s" % (name, kind, error)) from error


class _Layout(NamedTuple):
    """What a tensor's type says, with sizes in the place of names."""

    element: str
    shape: list[int]
    strides: list[int]
    order: tuple[int, ...]
    """Modes from the outermost to the innermost, of a compact tensor; empty where strides are given."""
    dynamic: dict[int, int]
    """Mode whose size is known at run time only → what it is divisible by."""
    strided: int | None
    """The mode with stride 1, where sizes and all other strides are known at run time only."""
    alignment: int


def _layout(found: re.Match[str]) -> _Layout:
    sizes = [_size(text) for text in found["shape"].split(",")]
    shape = [size for size, _ in sizes]
    dynamic = {mode: divisor for mode, (_, divisor) in enumerate(sizes) if divisor}
    alignment = int(found["align"] or _USUAL_ALIGNMENT)
    if found["strides"] is None:
        leading = int(found["leading"]) if found["leading"] else len(shape) - 1
        if leading >= len(shape):
            raise ValueError("there is no mode %d" % leading)
        order = (*(mode for mode in range(len(shape)) if mode != leading), leading)
        return _Layout(found["element"], shape, _compact(shape, order), order, dynamic, None, alignment)
    strides = [_size(text) for text in found["strides"].split(",")]
    if len(strides) != len(shape):
        raise ValueError("there are %d sizes and %d strides" % (len(shape), len(strides)))
    strided = None
    if dynamic or any(divisor for _, divisor in strides):
        strided = next((mode for mode, (size, divisor) in enumerate(strides) if size == 1 and not divisor), None)
        if strided is None:
            raise ValueError("one of the strides has to be 1, where others are known at run time only")
        order = (*(mode for mode in range(len(shape)) if mode != strided), strided)
        return _Layout(found["element"], shape, _compact(shape, order), (), {}, strided, alignment)
    return _Layout(found["element"], shape, [size for size, _ in strides], (), {}, None, alignment)


def _size(text: str) -> tuple[int, int]:
    """A size, and what it is divisible by where it is a name: ``64``, ``m``, ``k%8``. 0 where it is a number."""
    text = text.strip()
    if text.isdigit():
        return int(text), 0
    divisor = int(text.partition("%")[2] or 1)
    return _ANY * divisor, divisor


def _compact(shape: list[int], order: tuple[int, ...]) -> list[int]:
    strides, below = [0] * len(shape), 1
    for mode in reversed(order):
        strides[mode] = below
        below *= shape[mode]
    return strides


def _tensor(layout: _Layout) -> Any:
    from cutlass.cute.runtime import from_dlpack

    _, code, bits = _ELEMENTS.get(layout.element, ("", 0, 0))
    kind = element(layout.element)
    tensor = from_dlpack(_Nowhere(code, bits, layout.shape, layout.strides), assumed_align=layout.alignment)
    tensor.element_type = kind
    if layout.strided is not None:
        return tensor.mark_layout_dynamic(leading_dim=layout.strided)
    for mode, divisor in layout.dynamic.items():
        tensor.mark_compact_shape_dynamic(mode=mode, stride_order=layout.order, divisibility=divisor)
    return tensor


def _pointer(name: str, alignment: int) -> Any:
    import cutlass.cute as cute
    from cutlass.cute.runtime import make_ptr

    return make_ptr(element(name), _ADDRESS, cute.AddressSpace.gmem, assumed_align=alignment)


def _stream() -> Any:
    from cuda.bindings import driver

    return driver.CUstream(0)


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


class DLManaged(ctypes.Structure):
    _fields_ = [("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype = ctypes.py_object
_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_KEPT: list[_Nowhere] = []
"""Capsules point into them, and say to nobody when they go."""


class _Nowhere:
    """A tensor on a GPU that is not there, for ``from_dlpack``."""

    def __init__(self, code: int, bits: int, shape: list[int], strides: list[int]) -> None:
        numbers = ctypes.c_int64 * len(shape)
        self._shape, self._strides = numbers(*shape), numbers(*strides)
        tensor = _DLTensor(_ADDRESS, _Device(MADE_FOR_CUDA, 0), len(shape), _DataType(code, bits, 1), self._shape, self._strides, 0)
        self._managed = DLManaged(tensor, None, None)
        _KEPT.append(self)

    def __dlpack__(self, **_: Any) -> Any:
        return _capsule(ctypes.addressof(self._managed), b"dltensor", None)

    def __dlpack_device__(self) -> tuple[int, int]:
        return MADE_FOR_CUDA, 0
