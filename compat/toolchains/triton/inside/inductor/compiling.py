"""A program on its way: traced with tensors that claim a GPU, compiled by Inductor, called with tensors in main memory."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Dict, Iterator, List

import torch
from torch._decomp import core_aten_decompositions  # noqa: F401  (registers what Inductor starts from)
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from .programs import Program


def prepare() -> None:
    """Import Inductor, as ``torch.compile`` does, and have it find everything equally fast. Raises whatever an import raises."""
    import torch._dynamo
    import torch._inductor.config as config
    import torch._inductor.lowering  # noqa: F401  (before anything of torch._inductor.kernel, which needs it)
    from torch._inductor import select_algorithm
    from torch._inductor.compile_fx import compile_fx_inner  # noqa: F401
    from torch._inductor.runtime import triton_heuristics

    _set(config, {"compile_threads": 1, "fx_graph_cache": False, "force_disable_caches": True, "triton.unique_kernel_names": True})
    triton_heuristics.CachingAutotuner.bench = lambda *_, **__: 1.0
    _leave_out_patterns()
    choose = select_algorithm.AlgorithmSelectorCache.__call__

    def first_template(self: Any, name: str, choices: List[Any], *rest: Any, **more: Any) -> Any:
        """Nothing can be timed: the first template is as good as any."""
        templates = [choice for choice in choices if isinstance(choice, select_algorithm.TritonTemplateCaller)]
        return choose(self, name, templates[:1] or choices, *rest, **more)

    select_algorithm.AlgorithmSelectorCache.__call__ = first_template


def _leave_out_patterns() -> None:
    """Patterns that put attention and the like in the place of what a graph has are traced with tensors on a GPU."""
    from torch._inductor.fx_passes import fuse_attention, joint_graph, misc_patterns, pad_mm

    for module, name in ((fuse_attention, "_sfdp_init"), (misc_patterns, "_misc_patterns_init"), (pad_mm, "_pad_mm_init")):
        setattr(module, name, lambda *_, **__: None)
    joint_graph.constant_fold_uniform_value = lambda *_, **__: None  # it computes what it folds


def compiled(program: Program) -> Callable[[], Any]:
    """A call of the compiled graph. Raises whatever compiling raises."""
    import torch._inductor.config as config
    from torch._inductor import decomposition
    from torch._inductor.compile_fx import compile_fx_inner
    from torch._inductor.fx_passes.joint_graph import joint_graph_passes
    from torch._inductor.virtualized import V

    table = decomposition.select_decomp_table()
    fake = FakeTensorMode(allow_non_fake_inputs=True)
    with fake:
        inputs = [torch.empty(shape, dtype=dtype, device="cuda:0") for shape, dtype in program.arguments]
    with settings(config, dict(program.settings)), torch.no_grad():
        with fake:
            graph = make_fx(torch.func.functionalize(program.function), decomposition_table=table)(*inputs)
        if not _returns_a_tuple(graph):
            _return_a_tuple(graph)
        with fake, V.set_fake_mode(fake):
            joint_graph_passes(graph)
        with _tracing(fake, inputs):
            call = compile_fx_inner(graph, inputs)
    real = [torch.ones(shape).to(dtype) for shape, dtype in program.arguments]
    real = [tensor.zero_() if tensor.dtype is torch.int64 else tensor for tensor in real]
    return lambda: call(list(real))


@contextlib.contextmanager
def _tracing(fake: Any, inputs: List[Any]) -> Iterator[None]:
    from torch._guards import TracingContext, tracing

    with tracing(TracingContext(fake)):
        yield


def _returns_a_tuple(graph: Any) -> bool:
    output = next(node for node in graph.graph.nodes if node.op == "output")
    return isinstance(output.args[0], (tuple, list))


def _return_a_tuple(graph: Any) -> None:
    output = next(node for node in graph.graph.nodes if node.op == "output")
    output.args = ((output.args[0],),)
    graph.recompile()


@contextlib.contextmanager
def settings(config: Any, values: Dict[str, Any]) -> Iterator[None]:
    present = {name: value for name, value in values.items() if _has(config, name)}
    with config.patch(present):
        yield


def _set(config: Any, values: Dict[str, Any]) -> None:
    for name, value in values.items():
        if _has(config, name):
            owner, _, last = name.rpartition(".")
            setattr(getattr(config, owner) if owner else config, last, value)


def _has(config: Any, name: str) -> bool:
    owner: Any = config
    for part in name.split("."):
        if not hasattr(owner, part):
            return False
        owner = getattr(owner, part)
    return True
