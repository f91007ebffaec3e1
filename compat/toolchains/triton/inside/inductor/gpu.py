"""A fake GPU for PyTorch: stand-ins answer its questions, and its allocations are in main memory.

The drivers and launchers of Triton and PyTorch stay unchanged: they find the stand-in for libcuda.
"""

from __future__ import annotations

import importlib
from typing import Dict

_CONTEXTS = ("_DeviceGuard", "device", "device_of", "stream")
"""Classes of ``torch.cuda`` whose objects are context managers."""


def believe(facts: Dict[str, object]) -> None:
    """Make PyTorch report a GPU.

    Call it before TorchDynamo or Inductor are imported, because they keep the functions that they
    find. Raises RuntimeError for a PyTorch that could not use a GPU.
    """
    import torch

    if not torch.version.cuda:
        raise RuntimeError("this PyTorch is built without CUDA")
    compiler = importlib.import_module("_compat_pytorch.device.compiler")
    gpu = compiler.gpu
    for name, answer in {**gpu.functions(facts), **dict.fromkeys(_CONTEXTS, gpu.Idle)}.items():
        setattr(torch.cuda, name, answer)
    torch.cuda.current_stream = lambda *_: gpu.Idle()
    torch.cuda.get_rng_state = lambda *_: torch.zeros(16, dtype=torch.uint8)
    for owner, name, value in compiler.allocations(torch):
        setattr(owner, name, value)
