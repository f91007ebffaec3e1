"""A fake GPU for PyTorch: its questions are answered, and its allocations are in main memory.

Triton's own driver and launcher, and PyTorch's, stay as they are: they find the stand-in for
libcuda.
"""

from __future__ import annotations

import ctypes
import importlib
import os
from types import ModuleType
from typing import TYPE_CHECKING, Any, Dict

if TYPE_CHECKING:
    from ....inside.foreign import Tensor

_CONTEXTS = ("_DeviceGuard", "device", "device_of", "stream")
"""Classes of ``torch.cuda`` whose objects are entered and left."""


def load_driver(library: str, facts: Dict[str, object]) -> None:
    """Load the stand-in under libcuda's name, before anything looks for the real one."""
    os.environ["COMPAT_SHARED_MEMORY"] = str(facts["shared_memory"])
    os.environ["COMPAT_MULTIPROCESSORS"] = str(facts["multiprocessors"])
    os.environ["COMPAT_ARCH"] = str(facts["arch"])
    ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)


def believe(facts: Dict[str, object]) -> None:
    """Make PyTorch believe in a GPU.

    Call it before TorchDynamo or Inductor are imported, because they keep the functions that they
    find. Raises RuntimeError for a PyTorch that could not use a GPU.
    """
    import torch

    if not torch.version.cuda:
        raise RuntimeError("this PyTorch is built without CUDA")
    gpu = importlib.import_module("_compat_pytorch.device.gpu")
    for name, answer in {**gpu.functions(facts), **dict.fromkeys(_CONTEXTS, gpu.Idle)}.items():
        setattr(torch.cuda, name, answer)
    torch.cuda.current_stream = lambda *_: gpu.Idle()
    torch.cuda.get_rng_state = lambda *_: torch.zeros(16, dtype=torch.uint8)
    torch.cuda._exchange_device = torch.cuda._maybe_exchange_device = gpu.always(0)
    torch._C._cuda_getCurrentRawStream = gpu.always(0)
    guards = torch._C._dynamo.guards
    guards._empty_strided_cuda = lambda size, stride, dtype: torch.empty_strided(
        size, stride, dtype=dtype
    ).zero_()
    from torch._subclasses import fake_tensor

    for name in ("init_cuda_context", "init_gpu_context"):
        if hasattr(fake_tensor, name):
            setattr(fake_tensor, name, gpu.always(None))
    _index(fake_tensor, torch)


def _index(fake_tensor: ModuleType, torch: ModuleType) -> None:
    """Replace ``x[1]`` by :func:`torch.select`, which does not ask the GPU for its device.

    ``x[1]`` asks even if the tensor is only a shape.
    """
    usual = torch.Tensor.__getitem__

    def item(self: Any, index: Any) -> Tensor:
        return torch.select(self, 0, index) if type(index) is int else usual(self, index)

    fake_tensor.FakeTensor.__getitem__ = item
