"""The programs: traced with fake GPU tensors, compiled by Inductor, called with tensors in memory.

A program is a function of tensors, the shapes of its arguments, and the kernels that its graph must
launch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Callable, Dict, NamedTuple, Tuple

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch._decomp import core_aten_decompositions  # noqa: F401 - registers Inductor's operations
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

if TYPE_CHECKING:
    from ....inside.foreign import Function, Tensor, Value
    from ..foreign import CompiledKernel


class Program(NamedTuple):
    """One function that is compiled."""

    function: Callable[..., Function]
    arguments: Tuple[Tuple[Tuple[int, ...], torch.dtype], ...]
    """The shapes and types of its tensors."""
    kernels: Tuple[str, ...]
    """The beginnings of the names of kernels that the graph must launch, each at least once, in any
    order.
    """
    settings: Tuple[Tuple[str, Any], ...] = ()
    """Inductor's settings for it, by name, if the release has them."""
    own: Tuple[str, ...] = ()
    """The full names of the kernels that a user wrote."""


def _pointwise(x: Tensor, y: Tensor) -> object:
    return torch.relu(x * 2.0 + y) - 1.0


def _softmax(x: object) -> object:
    return torch.softmax(x, -1)


def _layernorm_gelu(x: Tensor, weight: Tensor, bias: Tensor) -> object:
    return F.gelu(F.layer_norm(x, (x.shape[-1],), weight, bias))


def _split_reduction(x: Tensor) -> object:
    return x.sum()


def _argmax(x: object) -> object:
    return torch.argmax(x, 1)


def _scan(x: object) -> object:
    return torch.cumsum(x, 1)


def _rand(x: object) -> object:
    return x + torch.rand_like(x)


def _gather(x: object, index: object) -> object:
    return torch.gather(x, 1, index) * 2.0


def _mm(x: object, y: object) -> object:
    return torch.mm(x, y)


def _bmm(x: object, y: object) -> object:
    return torch.bmm(x, y)


def _user_kernel(x: object, y: object) -> object:
    from . import user_kernel

    return user_kernel.add(x, y)


def _user_kernel_autotuned(x: object, y: object) -> object:
    from . import user_kernel

    return user_kernel.add_autotuned(x, y)


_TEMPLATES = (("max_autotune_gemm", True), ("max_autotune_gemm_backends", "TRITON"))
_TRITON_LAUNCHER = (("use_static_cuda_launcher", False),)
"""The setting with which PyTorch launches kernels through Triton instead of by itself, as it does
for a launch with a hook.
"""
_F32, _F16 = torch.float32, torch.float16
_TWO = (((1000,), _F32), ((1000,), _F32))

PROGRAMS: Dict[str, Program] = {
    "pointwise": Program(_pointwise, (((1000, 37), _F32), ((1000, 37), _F32)), ("triton_poi_",)),
    "triton_launcher": Program(
        _pointwise, (((1000, 37), _F32), ((1000, 37), _F32)), ("triton_poi_",), _TRITON_LAUNCHER
    ),
    "softmax": Program(_softmax, (((512, 1000), _F32),), ("triton_",)),
    "layernorm_gelu": Program(
        _layernorm_gelu, (((512, 768), _F32), ((768,), _F32), ((768,), _F32)), ("triton_",)
    ),
    "split_reduction": Program(_split_reduction, (((4096, 4096), _F32),), ("triton_", "triton_")),
    "argmax": Program(_argmax, (((512, 200), _F32),), ("triton_per_",)),
    "argmax_looped": Program(_argmax, (((64, 3000), _F32),), ("triton_red_",)),
    "scan": Program(_scan, (((64, 500), _F32),), ("triton_",)),
    "rand": Program(_rand, (((1000, 37), _F32),), ("triton_",)),
    "gather": Program(_gather, (((64, 300), _F32), ((64, 20), torch.int64)), ("triton_poi_",)),
    "mm": Program(_mm, (((256, 128), _F16), ((128, 512), _F16)), ("triton_tem_",), _TEMPLATES),
    "bmm": Program(
        _bmm, (((4, 256, 128), _F16), ((4, 128, 512), _F16)), ("triton_tem_",), _TEMPLATES
    ),
    "user_kernel": Program(_user_kernel, _TWO, ("compat_user_add",), own=("compat_user_add",)),
    "user_kernel_autotuned": Program(
        _user_kernel_autotuned, _TWO, ("compat_user_tuned",), own=("compat_user_tuned",)
    ),
}


# --- the compile of a program ---------------------------------------------------------------------


def prepare() -> None:
    """Import Inductor, as ``torch.compile`` does, and make it measure the same time for everything.

    Raises what an import raises.
    """
    compiler = importlib.import_module("_compat_pytorch.device.compiler")
    program = importlib.import_module("_compat_pytorch.device.program")
    replacements = (*compiler.timings(), *compiler.computations(program.main_memory(torch)))
    for owner, name, value in replacements:
        setattr(owner, name, value)
    from torch._inductor import config
    from torch._inductor.compile_fx import compile_fx_inner  # noqa: F401

    _set(
        config,
        {
            "compile_threads": 1,
            "fx_graph_cache": False,
            "force_disable_caches": True,
            "triton.unique_kernel_names": True,
        },
    )


def compile_with_inductor(program: Program) -> Callable[[], CompiledKernel]:
    """Return a function that calls the compiled graph. Raises what the compile raises."""
    from torch._guards import TracingContext, tracing
    from torch._inductor import config, decomposition
    from torch._inductor.compile_fx import compile_fx_inner
    from torch._inductor.fx_passes.joint_graph import joint_graph_passes
    from torch._inductor.virtualized import V

    table = decomposition.select_decomp_table()
    fake = FakeTensorMode(allow_non_fake_inputs=True)
    with fake:
        inputs = [
            torch.empty(shape, dtype=dtype, device="cuda:0") for shape, dtype in program.arguments
        ]
    settings = {name: value for name, value in program.settings if _has(config, name)}
    with config.patch(settings), torch.no_grad():
        with fake:
            graph = make_fx(torch.func.functionalize(program.function), decomposition_table=table)(
                *inputs
            )
        output = next(node for node in graph.graph.nodes if node.op == "output")
        if not isinstance(output.args[0], (tuple, list)):
            output.args = ((output.args[0],),)
            graph.recompile()
        with fake, V.set_fake_mode(fake):
            joint_graph_passes(graph)
        with tracing(TracingContext(fake)):
            call = compile_fx_inner(graph, inputs)
    real = [torch.ones(shape).to(dtype) for shape, dtype in program.arguments]
    real = [tensor.zero_() if tensor.dtype is torch.int64 else tensor for tensor in real]
    return lambda: call(list(real))


def _set(config: object, values: Dict[str, object]) -> None:
    for name, value in values.items():
        if _has(config, name):
            owner, _, last = name.rpartition(".")
            setattr(getattr(config, owner) if owner else config, last, value)


def _has(config: object, name: str) -> bool:
    owner: Value = config
    for part in name.split("."):
        if not hasattr(owner, part):
            return False
        owner = getattr(owner, part)
    return True
