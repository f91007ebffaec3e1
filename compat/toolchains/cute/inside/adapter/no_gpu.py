"""Replacements of a GPU: tensors for ``from_dlpack``, ctypes capsules, facts of the hardware."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ....inside.foreign import Document, Value

MADE_FOR_CUDA = 2
"""``kDLCUDA`` of DLPack."""
ARCHITECTURE = "CUTE_DSL_ARCH"
"""The environment variable with the architecture to compile for."""
_OWN_FEATURES = 90
"""The first architecture whose name gets the suffix ``a``, for features that only it has."""


def architecture(number: int) -> str:
    """Return CuTe DSL's name of the architecture with this number."""
    return "sm_%d%s" % (number, "a" if number >= _OWN_FEATURES else "")


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
    """``DLManagedTensor`` of DLPack."""

    _fields_ = [("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype = ctypes.py_object
_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_KEPT: list[TensorNowhere] = []
"""The tensors that capsules point into. No capsule reports its end, so they stay here."""


class TensorNowhere:
    """A tensor without memory, on a GPU that does not exist, for ``from_dlpack``."""

    def __init__(
        self, address: int, code: int, bits: int, shape: list[int], strides: list[int]
    ) -> None:
        numbers = ctypes.c_int64 * len(shape)
        self._shape, self._strides = numbers(*shape), numbers(*strides)
        tensor = _DLTensor(
            address,
            _Device(MADE_FOR_CUDA, 0),
            len(shape),
            _DataType(code, bits, 1),
            self._shape,
            self._strides,
            0,
        )
        self._managed = DLManaged(tensor, None, None)
        _KEPT.append(self)

    def __dlpack__(self, **_: object) -> object:
        return _capsule(ctypes.addressof(self._managed), b"dltensor", None)

    def __dlpack_device__(self) -> tuple[int, int]:
        return MADE_FOR_CUDA, 0


_L2_CACHE = 50 << 20
"""Bytes of the second-level cache of an H100, which stands for every GPU."""


def hardware_answers(target: Document) -> dict[str, Callable[..., object]]:
    """Return methods of ``HardwareInfo``, by name.

    The number of multiprocessors is that of the GPU that is assumed for the target.
    """
    count = int(target.get("multiprocessors", 0))
    return {
        "__init__": lambda self, device_id=0: None,
        "get_max_active_clusters": lambda self, cluster_size, *_, **__: count // cluster_size,
        "get_device_multiprocessor_count": lambda self: count,
        "get_l2_cache_size_in_bytes": lambda self: _L2_CACHE,
    }


_PER_MULTIPROCESSOR = "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"
_RESERVED = 1 << 10
"""Bytes of shared memory that CUDA reserves beyond the limit of one block, on every target."""


def attribute_answer(target: Document, ask: Callable[..., object]) -> Callable[..., object]:
    """Return the function that replaces the driver's query for an attribute of the GPU.

    ``launch`` asks for the shared memory of a multiprocessor if a kernel has ``min_blocks_per_mp``.
    """

    def answer(attribute: Any, *rest: object, **options: Value) -> Any:
        if getattr(attribute, "name", "") == _PER_MULTIPROCESSOR:
            return int(target["shared_memory"]) + _RESERVED
        return ask(attribute, *rest, **options)

    return answer
