"""A fake GPU for ``torch.compile``, on which all code is equally fast.

Inductor generates code for it. TorchDynamo and Inductor trace with tensors that have a shape and no
memory. PyTorch itself places these tensors on the GPU. A C library answers PyTorch's queries to the
CUDA driver and runtime about them (:func:`load_driver`). It does so for a target of AMD, too,
because Inductor asks Python modules for the kind of GPU. Tensors with memory are in main memory.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import logging
import os
from types import ModuleType
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Tuple

from . import gpu

if TYPE_CHECKING:
    from ...inside.foreign import Function, Objects, Tensor, Value

Replacement = Tuple[Any, str, Any]
"""The owner, the name of its attribute, and the new value."""
_DRIVER = (
    "no library that stands in for a CUDA driver was loaded before PyTorch; it needs a C compiler"
)
_NAME = "torch.compile"
_CONVERTS = "torch._dynamo.convert_frame"
"""The logger of exceptions that TorchDynamo suppresses."""
_NO_CUDA = "this PyTorch is built without CUDA"


def load_driver(library: str, facts: Dict[str, object]) -> None:
    """Load the stand-in under libcuda's name, before PyTorch looks for the real one."""
    os.environ["COMPAT_SHARED_MEMORY"] = str(facts["shared_memory"])
    os.environ["COMPAT_MULTIPROCESSORS"] = str(facts["multiprocessors"])
    if facts["backend"] == "cuda":
        os.environ["COMPAT_ARCH"] = str(facts["arch"])
    ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)


# --- in a program whose launches are recorded -----------------------------------------------------


def compile_with(changes: Value, torch: ModuleType, mode: Value) -> Any:
    """Return ``torch.compile`` for a fake GPU.

    If it cannot compile, it returns functions unchanged and writes down why.
    """
    compile_it, missing = torch.compile, _missing(torch)
    prepared: List[bool] = []

    @functools.wraps(compile_it)
    def compile_for_gpu(model: Any = None, *rest: object, **options: object) -> Any:
        if missing:
            if model is not None:
                name = getattr(model, "__qualname__", type(model).__qualname__)
                changes.record_omission(_NAME, name, "it is left as it is: " + missing)
            return model if callable(model) else compile_for_gpu
        if not prepared:
            prepared.append(True)
            _prepare(changes, torch, mode)
        return compile_it(model, *rest, **options)

    return compile_for_gpu


class _UntracedLog(logging.Handler):
    """Writes down functions that TorchDynamo could not trace and ran unchanged."""

    def __init__(self, changes: Value) -> None:
        super().__init__(logging.WARNING)
        self._changes = changes

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            self._changes.record_omission(
                _NAME, "a function", "TorchDynamo fails: %s" % _error_line(error)
            )


def _error_line(error: BaseException) -> str:
    """Return the class of an exception, and the first line of its message."""
    lines = str(error).strip().splitlines()
    return "%s: %s" % (type(error).__name__, lines[0]) if lines else type(error).__name__


def _missing(torch: ModuleType) -> str:
    """Return why PyTorch cannot compile for a GPU, or an empty text if it can."""
    if not torch.version.cuda:
        return _NO_CUDA
    return "" if torch._C._cuda_getDeviceCount() else _DRIVER


def _prepare(changes: Value, torch: ModuleType, mode: Value) -> None:
    for replacement in (*allocations(torch), *timings(), *computations(mode)):
        changes.replace(*replacement)
    dynamo = importlib.import_module("torch._dynamo")
    changes.replace(dynamo.config, "suppress_errors", True)
    logger, handler = logging.getLogger(_CONVERTS), _UntracedLog(changes)
    logger.addHandler(handler)
    changes.finally_do(lambda: logger.removeHandler(handler))
    compile_fx = importlib.import_module("torch._inductor.compile_fx")
    compile_graph = compile_fx.compile_fx

    @functools.wraps(compile_graph)
    def compile_or_leave(graph: Any, *rest: object, **options: object) -> Any:
        try:
            return compile_graph(graph, *rest, **options)
        except Exception as error:
            changes.record_omission(_NAME, "a graph", "Inductor fails: %s" % _error_line(error))
            return graph

    changes.replace(compile_fx, "compile_fx", compile_or_leave)
    # Nothing runs that a CUDA graph could record.
    changes.replace(compile_fx, "cudagraphify", lambda graph, *_, **__: graph)


def tracing(torch: ModuleType) -> Callable[[], bool]:
    """Return a function that returns whether calls are traced with tensors without memory."""
    if not hasattr(getattr(torch, "compiler", None), "is_dynamo_compiling"):
        return gpu.always(False)
    key = torch._C._TorchDispatchModeKey.FAKE

    def is_tracing() -> bool:
        # TorchDynamo reads this function, too, and takes the first call as true.
        return torch.compiler.is_dynamo_compiling() or torch._C._get_dispatch_mode(key) is not None

    return is_tracing


def blank(torch: ModuleType, function: Function, arguments: Any, options: Objects) -> Any:
    """Return the results of a function that only a GPU has, in their shapes and filled with 0."""
    fake = importlib.import_module("torch._subclasses.fake_tensor")
    tree = importlib.import_module("torch.utils._pytree")
    with fake.FakeTensorMode() as shapes:

        def shape(value: Value) -> Value:
            return shapes.from_tensor(value) if isinstance(value, torch.Tensor) else value

        results = function(*tree.tree_map(shape, arguments), **tree.tree_map(shape, options))

    def in_memory(value: Value) -> Value:
        if not isinstance(value, torch.Tensor):
            return value
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype).zero_()

    return tree.tree_map(in_memory, results)


# --- replacements ---------------------------------------------------------------------------------


def inside(mode: Value, function: Function) -> Any:
    """Return a function that turns on a mode while it runs."""

    @functools.wraps(function)
    def call(*arguments: Value, **options: Value) -> Value:
        with mode:
            return function(*arguments, **options)

    return call


def allocations(torch: ModuleType) -> Iterator[Replacement]:
    """Yield replacements for the allocations and device contexts of a compiled graph.

    They must precede the imports of TorchDynamo and Inductor, which keep the functions that they
    find.
    """

    def empty_strided(size: object, stride: object, dtype: object) -> Tensor:
        # Uninitialised memory could hold anything, also NaNs.
        return torch.empty_strided(size, stride, dtype=dtype).zero_()

    yield torch._C._dynamo.guards, "_empty_strided_cuda", empty_strided
    for name in ("_exchange_device", "_maybe_exchange_device"):
        yield torch.cuda, name, gpu.always(0)
    yield torch._C, "_cuda_getCurrentRawStream", gpu.always(0)
    fake_tensor = importlib.import_module("torch._subclasses.fake_tensor")
    for name in ("init_cuda_context", "init_gpu_context"):
        if hasattr(fake_tensor, name):
            yield fake_tensor, name, gpu.always(None)
    # Otherwise torch.tensor() makes a tensor with memory, and copies it to the GPU.
    yield fake_tensor.FakeTensorMode, "avoid_device_init", True


def timings() -> Iterator[Replacement]:
    """Yield replacements of functions that time kernels.

    Raises any exception of the import of Inductor.
    """
    importlib.import_module("torch._dynamo")
    # This import must precede that of torch._inductor.kernel, which needs it.
    importlib.import_module("torch._inductor.lowering")
    select = importlib.import_module("torch._inductor.select_algorithm")
    heuristics = importlib.import_module("torch._inductor.runtime.triton_heuristics")
    yield heuristics.CachingAutotuner, "bench", gpu.always(1.0)
    padding = importlib.import_module("torch._inductor.fx_passes.pad_mm")
    for name in ("should_pad_bench", "should_pad"):  # up to 2.13, from 2.14 on
        if hasattr(padding, name):
            yield padding, name, gpu.always(False)
    choose = select.AlgorithmSelectorCache.__call__

    def first_template(
        self: object, name: str, choices: List[object], *rest: object, **more: Value
    ) -> object:
        """Choose the first template, because no template can be timed."""
        templates = [
            choice for choice in choices if isinstance(choice, select.TritonTemplateCaller)
        ]
        return choose(self, name, templates[:1] or choices, *rest, **more)

    yield select.AlgorithmSelectorCache, "__call__", first_template


def computations(mode: Value) -> Iterator[Replacement]:
    """Yield replacements of functions that compute while a graph is traced or optimized.

    They compute with tensors that have memory. A mode keeps these in main memory.
    """
    for module, owner, name in (
        ("torch._inductor.fx_passes.joint_graph", None, "constant_fold_uniform_value"),
        ("torch._dynamo.variables.optimizer", "OptimizerVariable", "call_method"),
    ):
        there: Any = importlib.import_module(module)
        there = getattr(there, owner) if owner else there
        yield there, name, inside(mode, getattr(there, name))
