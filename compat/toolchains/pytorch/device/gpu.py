"""The answers of ``torch.cuda`` about a GPU, for all code that replaces one.

This module needs only the standard library.

``facts`` has the facts of a target: ``backend``, ``arch``, ``warp_size``, ``shared_memory``. If a
GPU of the architecture is known, it also has ``gpu``, the name of the GPU, and ``multiprocessors``.
GPUs of one architecture differ in these two facts, so they are assumed.
"""

from __future__ import annotations

import os
import types
from typing import TYPE_CHECKING, Any, Callable, Dict, Tuple

if TYPE_CHECKING:
    from ...inside.foreign import Document, Objects, Value

MEMORY = 80 << 30
"""Bytes of the GPU's memory."""
_ACTIONS = (
    "synchronize",
    "empty_cache",
    "init",
    "_lazy_init",
    "set_device",
    "set_stream",
    "manual_seed",
    "manual_seed_all",
    "seed",
    "reset_peak_memory_stats",
    "reset_max_memory_allocated",
    "ipc_collect",
    "_sleep",
    "set_rng_state",
    "set_rng_state_all",
)
"""Functions of ``torch.cuda`` that act on a GPU. Their replacements do nothing."""
_MEMORY_IN_USE = (
    "memory_allocated",
    "max_memory_allocated",
    "memory_reserved",
    "max_memory_reserved",
)


_DEVICES = ("/dev/nvidia0", "/dev/kfd", "/dev/dxg")
"""The device files of machines with a GPU."""


def is_there() -> bool:
    """Whether this machine has a GPU that a program may use."""
    return any(map(os.path.exists, _DEVICES)) and os.environ.get("CUDA_VISIBLE_DEVICES", "0") != ""


def capability(facts: Document) -> Tuple[int, int]:
    """Return the compute capability of a target, or for AMD the pair that PyTorch reports."""
    arch = facts["arch"]
    if isinstance(arch, int):
        return arch // 10, arch % 10
    return int(arch[3:-2]), int(arch[-2], 16)


def has_bf16(facts: Dict[str, object]) -> bool:
    """Whether a target computes with bfloat16."""
    return facts["backend"] != "cuda" or capability(facts) >= (8, 0)


def certain_properties(facts: Dict[str, object]) -> Objects:
    """Return the device properties that are the same for every GPU of an architecture."""
    major, minor = capability(facts)
    certain = {
        "major": major,
        "minor": minor,
        "warp_size": facts["warp_size"],
        "shared_memory_per_block_optin": facts["shared_memory"],
    }
    of_backend = (
        {"gcnArchName": str(facts["arch"])}
        if facts["backend"] == "hip"
        else {"shared_memory_per_block": 48 << 10}
    )
    return {**certain, **of_backend}


def assumed_properties(facts: Dict[str, object]) -> Objects:
    """Return the properties that differ between GPUs of an architecture, of the assumed GPU.

    The result is empty if no GPU is assumed.
    """
    return (
        {"name": facts["gpu"], "multi_processor_count": facts["multiprocessors"]}
        if "gpu" in facts
        else {}
    )


def properties(facts: Document) -> object:
    """Return all device properties, for programs that continue with a fake GPU.

    Properties that are neither certain nor assumed are those of some GPU.
    """
    return types.SimpleNamespace(
        **{
            "total_memory": MEMORY,
            "shared_memory_per_block": 48 << 10,
            "shared_memory_per_multiprocessor": facts["shared_memory"] + 1024,
            "regs_per_multiprocessor": 65536,
            "max_threads_per_multi_processor": 2048,
            "max_threads_per_block": 1024,
            "gcnArchName": str(facts["arch"]),
            "L2_cache_size": 50 << 20,
            "clock_rate": 1_980_000,
            "memory_clock_rate": 2_619_000,
            "memory_bus_width": 5120,
            "is_integrated": False,
            "is_multi_gpu_board": False,
            **certain_properties(facts),
            **assumed_properties(facts),
        }
    )


def functions(facts: Document) -> Dict[str, Callable[..., Any]]:
    """Return the functions of ``torch.cuda`` with a constant answer, by name.

    They are for programs that continue with a fake GPU.
    """
    answers = {
        **dict.fromkeys(_ACTIONS),
        **dict.fromkeys(_MEMORY_IN_USE, 0),
        "is_available": True,
        "is_initialized": True,
        "device_count": 1,
        "current_device": 0,
        "is_current_stream_capturing": False,
        "get_device_name": facts["gpu"],
        "get_device_capability": capability(facts),
        "get_device_properties": properties(facts),
        "get_arch_list": (
            ["sm_%s" % facts["arch"]] if facts["backend"] == "cuda" else [facts["arch"]]
        ),
        "is_bf16_supported": has_bf16(facts),
        "mem_get_info": (MEMORY, MEMORY),
    }
    return {name: always(answer) for name, answer in answers.items()}


def always(value: Value) -> Callable[..., Any]:
    """Return a new function that returns ``value``.

    It is not shared, because PyTorch's compiler has rules for functions by their identity.
    """

    def answer(*_: object, **__: object) -> Any:
        return value

    return answer


class Idle:
    """A stream, event, device context or graph that does nothing.

    Code can wait for it, enter it and leave it.
    """

    cuda_stream = 0
    device_index = 0
    idx = 0

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, function: object) -> object:
        return function

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return always(None)

    def elapsed_time(self, *_: object) -> float:
        """Return a constant number of milliseconds."""
        return 1.0

    def query(self) -> bool:
        """Return that all work is done."""
        return True
