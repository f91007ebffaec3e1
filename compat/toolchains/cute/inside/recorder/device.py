"""Replacements of a GPU: an architecture, tensors that report to be there, and shortened compiles.

A compile ends once there is code.
"""

from __future__ import annotations

import ctypes
import functools
import os
from typing import TYPE_CHECKING, Any

from ..adapter.no_gpu import ARCHITECTURE, MADE_FOR_CUDA, DLManaged, architecture, hardware_answers

if TYPE_CHECKING:
    from ....inside.foreign import Function, Tensor, Value
    from .recording import CuteRecording

_NAMES = (b"dltensor", b"dltensor_versioned")


def announce(recording: CuteRecording) -> None:
    """Set the architecture to compile for, in this process and in its child processes."""
    before = os.environ.get(ARCHITECTURE)
    os.environ[ARCHITECTURE] = architecture(recording.settings["target"]["arch"])

    def put_back() -> None:
        os.environ.pop(ARCHITECTURE, None)
        if before is not None:
            os.environ[ARCHITECTURE] = before

    recording.finally_do(put_back)


def install(recording: CuteRecording) -> None:
    """Give CuTe DSL a fake GPU of the recording's target."""
    from cutlass.cute import runtime
    from cutlass.cutlass_dsl import CuTeDSL
    from cutlass.utils import HardwareInfo

    dsl, target = CuTeDSL._get_dsl(), recording.settings["target"]
    recording.replace(dsl.envar, "arch", os.environ[ARCHITECTURE])
    tensor, construct = runtime._Tensor, runtime._Tensor.__init__

    @functools.wraps(construct)
    def construct_on_gpu(self: object, value: object, *rest: object, **options: object) -> None:
        construct(self, OnGpu(value) if hasattr(value, "__dlpack__") else value, *rest, **options)

    recording.replace(tensor, "__init__", construct_on_gpu)
    for name, answer in hardware_answers(target).items():
        recording.replace(HardwareInfo, name, answer)


class OnGpu:
    """A tensor in main memory that reports to be on the GPU, for ``from_dlpack``."""

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor

    def __getattr__(self, name: str) -> Any:
        # Dunder names include a faster interface to other libraries, which would find main memory.
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._tensor, name)

    def __dlpack__(self, **options: Value) -> object:
        options.pop("stream", None)
        capsule = self._tensor.__dlpack__(**options)
        is_valid, pointer = (
            ctypes.pythonapi.PyCapsule_IsValid,
            ctypes.pythonapi.PyCapsule_GetPointer,
        )
        is_valid.argtypes = pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        pointer.restype = ctypes.c_void_p
        if is_valid(capsule, _NAMES[0]):
            managed = ctypes.cast(pointer(capsule, _NAMES[0]), ctypes.POINTER(DLManaged)).contents
            managed.tensor.device.type = MADE_FOR_CUDA
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return MADE_FOR_CUDA, 0


class UncompiledFunction:
    """The replacement of a compiled function that a program gets. Launching it does nothing."""

    def __init__(self, function: Function) -> None:
        self.function_name = getattr(function, "__name__", "kernel")

    def __call__(self, *_: object, **__: object) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return UncompiledFunction(None)
