"""The programs: functions of tensors, the shapes of their arguments, and which kernels a graph of each must launch."""

from __future__ import annotations

from typing import Any, Callable, Dict, NamedTuple, Tuple

import torch
import torch.nn.functional as F


class Program(NamedTuple):
    """One function that is compiled."""

    function: Callable[..., Any]
    arguments: Tuple[Tuple[Tuple[int, ...], torch.dtype], ...]
    """The shapes and types of its tensors."""
    kernels: Tuple[str, ...]
    """How the names of kernels begin that the graph must launch, each at least once, in any order."""
    settings: Tuple[Tuple[str, Any], ...] = ()
    """Inductor's settings for it, by their names, where it has them."""
    own: Tuple[str, ...] = ()
    """Those of the kernels that a user wrote: the whole name."""


def _pointwise(x: Any, y: Any) -> Any:
    return torch.relu(x * 2.0 + y) - 1.0


def _softmax(x: Any) -> Any:
    return torch.softmax(x, -1)


def _layernorm_gelu(x: Any, weight: Any, bias: Any) -> Any:
    return F.gelu(F.layer_norm(x, (x.shape[-1],), weight, bias))


def _split_reduction(x: Any) -> Any:
    return x.sum()


def _argmax(x: Any) -> Any:
    return torch.argmax(x, 1)


def _scan(x: Any) -> Any:
    return torch.cumsum(x, 1)


def _rand(x: Any) -> Any:
    return x + torch.rand_like(x)


def _gather(x: Any, index: Any) -> Any:
    return torch.gather(x, 1, index) * 2.0


def _mm(x: Any, y: Any) -> Any:
    return torch.mm(x, y)


def _bmm(x: Any, y: Any) -> Any:
    return torch.bmm(x, y)


def _user_kernel(x: Any, y: Any) -> Any:
    from . import user_kernel

    return user_kernel.add(x, y)


def _user_kernel_autotuned(x: Any, y: Any) -> Any:
    from . import user_kernel

    return user_kernel.add_autotuned(x, y)


_TEMPLATES = (("max_autotune_gemm", True), ("max_autotune_gemm_backends", "TRITON"))
_TRITON_LAUNCHER = (("use_static_cuda_launcher", False),)
"""What PyTorch launches through Triton, and not by itself, for example where a launch has a hook."""
_F32, _F16 = torch.float32, torch.float16
_TWO = (((1000,), _F32), ((1000,), _F32))

PROGRAMS: Dict[str, Program] = {
    "pointwise": Program(_pointwise, (((1000, 37), _F32), ((1000, 37), _F32)), ("triton_poi_",)),
    "triton_launcher": Program(_pointwise, (((1000, 37), _F32), ((1000, 37), _F32)), ("triton_poi_",), _TRITON_LAUNCHER),
    "softmax": Program(_softmax, (((512, 1000), _F32),), ("triton_",)),
    "layernorm_gelu": Program(_layernorm_gelu, (((512, 768), _F32), ((768,), _F32), ((768,), _F32)), ("triton_",)),
    "split_reduction": Program(_split_reduction, (((4096, 4096), _F32),), ("triton_", "triton_")),
    "argmax": Program(_argmax, (((512, 200), _F32),), ("triton_per_",)),
    "argmax_looped": Program(_argmax, (((64, 3000), _F32),), ("triton_red_",)),
    "scan": Program(_scan, (((64, 500), _F32),), ("triton_",)),
    "rand": Program(_rand, (((1000, 37), _F32),), ("triton_",)),
    "gather": Program(_gather, (((64, 300), _F32), ((64, 20), torch.int64)), ("triton_poi_",)),
    "mm": Program(_mm, (((256, 128), _F16), ((128, 512), _F16)), ("triton_tem_",), _TEMPLATES),
    "bmm": Program(_bmm, (((4, 256, 128), _F16), ((4, 128, 512), _F16)), ("triton_tem_",), _TEMPLATES),
    "user_kernel": Program(_user_kernel, _TWO, ("compat_user_add",), own=("compat_user_add",)),
    "user_kernel_autotuned": Program(_user_kernel_autotuned, _TWO, ("compat_user_tuned",), own=("compat_user_tuned",)),
}
