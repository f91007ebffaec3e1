"""PyTorch made to believe in a GPU that is not there: what it is asked is answered, what it would allocate is in main memory.

Triton's own driver and launcher, and PyTorch's, stay as they are: they find the stand-in for libcuda.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import types
from typing import Any, Dict

GPU: Dict[str, Any] = {"arch": 90, "multiprocessors": 132, "shared_memory": 232448, "name": "NVIDIA H100 80GB HBM3"}
_DONE = (
    *("synchronize", "empty_cache", "init", "_lazy_init", "set_device", "set_stream"),
    *("manual_seed", "manual_seed_all", "set_rng_state"),
)
"""Functions of ``torch.cuda`` that do something with a GPU: here they do nothing."""


def load_driver(library: str) -> None:
    """Have the stand-in loaded under libcuda's name, before anybody looks for the real one."""
    os.environ["COMPAT_SHARED_MEMORY"] = str(GPU["shared_memory"])
    os.environ["COMPAT_MULTIPROCESSORS"] = str(GPU["multiprocessors"])
    os.environ["COMPAT_ARCH"] = str(GPU["arch"])
    ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)


def believe() -> None:
    """Have PyTorch believe in the GPU: before TorchDynamo or Inductor are imported, which keep the functions that they find.

    Raises RuntimeError for a PyTorch that could not use one.
    """
    import torch

    if not torch.version.cuda:
        raise RuntimeError("this PyTorch is built without CUDA")
    for name, answer in _answers(torch).items():
        setattr(torch.cuda, name, answer)
    for name in _DONE:
        setattr(torch.cuda, name, _always(None))
    torch._C._cuda_getCurrentRawStream = _always(0)
    guards = torch._C._dynamo.guards
    guards._empty_strided_cuda = lambda size, stride, dtype: torch.empty_strided(size, stride, dtype=dtype).zero_()
    import torch._subclasses.fake_tensor as fake_tensor

    for name in ("init_cuda_context", "init_gpu_context"):
        if hasattr(fake_tensor, name):
            setattr(fake_tensor, name, _always(None))
    _index(fake_tensor, torch)


def _index(fake_tensor: Any, torch: Any) -> None:
    """``x[1]`` asks the GPU for its device, also where the tensor is no more than a shape; :func:`torch.select` does not."""
    usual = torch.Tensor.__getitem__

    def item(self: Any, index: Any) -> Any:
        return torch.select(self, 0, index) if type(index) is int else usual(self, index)

    fake_tensor.FakeTensor.__getitem__ = item


def _answers(torch: Any) -> Dict[str, Any]:
    """The functions of ``torch.cuda`` that are asked something, by name."""
    arch = GPU["arch"]
    properties = types.SimpleNamespace(
        name=GPU["name"],
        major=arch // 10,
        minor=arch % 10,
        multi_processor_count=GPU["multiprocessors"],
        total_memory=80 << 30,
        regs_per_multiprocessor=65536,
        max_threads_per_multi_processor=2048,
        max_threads_per_block=1024,
        shared_memory_per_block=49152,
        shared_memory_per_block_optin=GPU["shared_memory"],
        shared_memory_per_multiprocessor=233472,
        L2_cache_size=50 << 20,
        warp_size=32,
        clock_rate=1_980_000,
        memory_clock_rate=2_619_000,
        memory_bus_width=5120,
        is_integrated=0,
        is_multi_gpu_board=0,
        gcnArchName="",
    )
    stream = types.SimpleNamespace(cuda_stream=0, device_index=0, synchronize=_always(None), wait_stream=_always(None))
    return {
        "is_available": _always(True),
        "is_initialized": _always(True),
        "device_count": _always(1),
        "current_device": _always(0),
        "get_device_capability": _always((arch // 10, arch % 10)),
        "get_device_properties": _always(properties),
        "get_device_name": _always(GPU["name"]),
        "get_arch_list": _always(["sm_%d" % arch]),
        "current_stream": _always(stream),
        "is_bf16_supported": _always(True),
        "get_rng_state": lambda *_: torch.zeros(16, dtype=torch.uint8),
        "mem_get_info": _always((79 << 30, 80 << 30)),
        "_exchange_device": _always(0),
        "_maybe_exchange_device": _always(0),
        "_DeviceGuard": _Nothing,
        "device": _Nothing,
        "device_of": _Nothing,
        "stream": _Nothing,
    }


def _always(value: Any) -> Any:
    return lambda *_, **__: value


class _Nothing(contextlib.AbstractContextManager):  # type: ignore[type-arg]
    """A context in which nothing is otherwise."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.idx = 0

    def __exit__(self, *_: Any) -> None:
        return None
