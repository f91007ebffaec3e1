"""PyTorch without a GPU, for programs that are to believe in one.

Tensors are in main memory and say that they are on the GPU. What is asked to be there is made here (:class:`Mode`), also in
``backward()`` and in the bodies of custom operators, where PyTorch would have taken the mode away. Questions about the GPU are
answered for the target.
"""

from __future__ import annotations

import functools
import importlib
import threading
import types
from typing import TYPE_CHECKING, Any

from . import testing
from .device import capability

if TYPE_CHECKING:
    from .recording import Recording

_MEMORY = 80 << 30
"""Bytes that a GPU has."""
_CPU = "cpu"
_GPU = "cuda"
_DONE = (
    *("synchronize", "empty_cache", "init", "_lazy_init", "set_device", "set_stream", "manual_seed", "manual_seed_all", "seed"),
    *("reset_peak_memory_stats", "reset_max_memory_allocated", "ipc_collect", "_sleep", "set_rng_state", "set_rng_state_all"),
)
"""Functions of ``torch.cuda`` that do something with a GPU: here they do nothing."""
_MEMORY_IN_USE = ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved")
_OBJECTS = ("Stream", "Event", "CUDAGraph", "device", "device_of", "stream", "graph")
_AS_IT_IS = ("compile",)
"""Decorators that leave a function as it is: it is not compiled for a GPU that is not there."""


def install(recording: Recording, torch: Any) -> None:
    """Make PyTorch believe in a GPU of the recording's target."""
    mode = _mode(torch)
    for name, value in _tensors(torch).items():
        recording.replace(torch.Tensor, name, value)
    for name, function in _questions(torch, recording.settings["target"]).items():
        recording.replace(torch.cuda, name, function)
    _versions(recording, torch)
    _accelerator(recording, torch)
    for name in _AS_IT_IS:
        recording.replace(torch, name, _leave)
    testing.agree(recording, torch, testing.OF_TORCH)
    testing.agree(recording, torch.Tensor, testing.OF_TORCH)
    testing.agree(recording, torch.testing, testing.OF_TORCH_TESTING)
    recording.replace(torch, "Generator", _generator(torch))
    recording.replace(torch, "set_default_device", _always(None))
    _stay_on(recording, torch, mode)
    _go_along(recording, mode)
    mode.__enter__()
    recording.finally_do(lambda: mode.__exit__(None, None, None))


# --- tensors -----------------------------------------------------------------------------------------------------------------


def _mode(torch: Any) -> Any:
    """A mode that makes here what is to be made on the GPU."""
    overrides = importlib.import_module("torch.overrides")
    device_type = type(torch.device(_CPU))

    def here(value: Any) -> Any:
        if isinstance(value, device_type):
            return torch.device(_CPU) if value.type == _GPU else value
        return _CPU if isinstance(value, str) and value.partition(":")[0] == _GPU else value

    empty = {getattr(torch, name) for name in ("empty", "empty_like", "empty_strided")}
    empty |= {torch.Tensor.new_empty, torch.Tensor.new_empty_strided}

    class Mode(overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
        """Sends everything to main memory."""

        def __torch_function__(self, function: Any, _: Any, arguments: Any = (), options: Any = None) -> Any:
            options = options or {}
            if options:
                options = {name: here(value) for name, value in options.items()}
                options.pop("pin_memory", None)
            made = function(*[here(each) for each in arguments], **options)
            return made.zero_() if function in empty else made  # else it would be full of whatever was there, NaNs too

    return Mode()


def _tensors(torch: Any) -> dict[str, Any]:
    """Attributes and methods of tensors, by name."""
    gpu = torch.device(_GPU, 0)

    def stay(self: Any, *_: Any, **__: Any) -> Any:
        return self

    def record_stream(self: Any, *_: Any) -> None:
        pass

    return {
        "is_cuda": property(lambda self: True),
        "device": property(lambda self: gpu),
        "is_cpu": property(lambda self: False),
        "cuda": stay,
        "pin_memory": stay,
        "is_pinned": lambda self, *_: True,
        "get_device": lambda self: 0,
        "record_stream": record_stream,
    }


def _inside(mode: Any, function: Any) -> Any:
    """A function in which the mode is on."""

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        with mode:
            return function(*arguments, **options)

    return call


def _go_along(recording: Recording, mode: Any) -> None:
    """Have the mode on in threads that are begun from now on: each thread has modes of its own."""
    start = threading.Thread.start

    @functools.wraps(start)
    def start_inside(thread: threading.Thread) -> None:
        thread.run = _inside(mode, thread.run)  # type: ignore[method-assign]
        start(thread)

    recording.replace(threading.Thread, "start", start_inside)


def _stay_on(recording: Recording, torch: Any, mode: Any) -> None:
    """Keep the mode in what PyTorch calls back: it takes a mode away while that mode works."""
    graph = importlib.import_module("torch.autograd")
    if hasattr(graph, "_engine_run_backward"):
        recording.replace(graph, "_engine_run_backward", _inside(mode, graph._engine_run_backward))
    library = torch.library.Library
    register = library.impl

    @functools.wraps(register)
    def impl(self: Any, name: Any, function: Any, dispatch_key: Any = "", *rest: Any, **options: Any) -> Any:
        key = {"CUDA": "CPU", "AutogradCUDA": "AutogradCPU"}.get(dispatch_key, dispatch_key)
        is_python = isinstance(function, (types.FunctionType, types.MethodType))
        if is_python and key in ("CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd", ""):
            function = _inside(mode, function)
        try:
            return register(self, name, function, key, *rest, **options)
        except RuntimeError:
            if key == dispatch_key:
                raise  # else there is one for CPU tensors already, and that one is called
            return None

    recording.replace(library, "impl", impl)


def _generator(torch: Any) -> Any:
    kind = torch.Generator

    class Generator(kind):  # type: ignore[misc, valid-type]
        """A generator of random numbers, which is here wherever it is to be."""

        def __new__(cls, device: Any = None) -> Any:
            return kind.__new__(cls)

        def __init__(self, device: Any = None) -> None:
            pass

    return Generator


def _leave(function: Any = None, *_: Any, **__: Any) -> Any:
    return function if callable(function) else _leave


# --- the GPU -----------------------------------------------------------------------------------------------------------------


class _Nothing:
    """A stream, an event, a device to be on, a graph: it can be waited for, entered and left, and nothing happens."""

    cuda_stream = 0
    device_index = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def __call__(self, function: Any) -> Any:
        return function

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _none

    def elapsed_time(self, *_: Any) -> float:
        return 1.0

    def query(self) -> bool:
        return True

    @property
    def device(self) -> Any:
        return importlib.import_module("torch").device(_GPU, 0)


def _none(*_: Any, **__: Any) -> None:
    return None


def _always(value: Any) -> Any:
    """A function that returns this, unlike any other: PyTorch's compiler has rules for functions by their identity."""

    def answer(*_: Any, **__: Any) -> Any:
        return value

    return answer


def _questions(torch: Any, facts: dict[str, Any]) -> dict[str, Any]:
    """Functions and classes of ``torch.cuda``, by name."""
    found: dict[str, Any] = {name: _always(None) for name in _DONE}
    found.update((name, _always(0)) for name in _MEMORY_IN_USE)
    found.update((name, type(name, (_Nothing,), {})) for name in _OBJECTS)
    found.update(
        is_available=_always(True),
        is_initialized=_always(True),
        device_count=_always(1),
        current_device=_always(0),
        current_stream=lambda *_: _Nothing(),
        default_stream=lambda *_: _Nothing(),
        is_current_stream_capturing=_always(False),
        get_device_name=_always(facts["gpu"]),
        get_device_capability=_always(capability(facts)),
        get_device_properties=_always(_properties(facts)),
        get_arch_list=_always(["sm_%s" % facts["arch"]] if facts["backend"] == "cuda" else [facts["arch"]]),
        is_bf16_supported=_always(facts["backend"] != "cuda" or facts["arch"] >= 80),
        mem_get_info=_always((_MEMORY, _MEMORY)),
        memory_stats=lambda *_, **__: {},
        get_rng_state=lambda *_: torch.get_rng_state(),
        get_rng_state_all=lambda *_: [torch.get_rng_state()],
        initial_seed=lambda *_: torch.initial_seed(),
    )
    return found


def _properties(facts: dict[str, Any]) -> Any:
    major, minor = capability(facts)
    return types.SimpleNamespace(
        name=facts["gpu"],
        major=major,
        minor=minor,
        total_memory=_MEMORY,
        multi_processor_count=facts["multiprocessors"],
        warp_size=facts["warp_size"],
        shared_memory_per_block=48 << 10,
        shared_memory_per_block_optin=facts["shared_memory"],
        shared_memory_per_multiprocessor=facts["shared_memory"] + 1024,
        regs_per_multiprocessor=65536,
        max_threads_per_multi_processor=2048,
        gcnArchName=str(facts["arch"]),
        L2_cache_size=50 << 20,
        is_integrated=False,
        is_multi_gpu_board=False,
    )


def _versions(recording: Recording, torch: Any) -> None:
    hip = recording.settings["target"]["backend"] == "hip"
    if hip and not torch.version.hip:
        recording.replace(torch.version, "hip", "6.4")
        recording.replace(torch.version, "cuda", None)
    if not hip and not torch.version.cuda:
        recording.replace(torch.version, "cuda", "12.8")


def _accelerator(recording: Recording, torch: Any) -> None:
    """The names that newer releases have for the same questions."""
    module = getattr(torch, "accelerator", None)
    answers = {
        "is_available": _always(True),
        "device_count": _always(1),
        "current_accelerator": lambda *_, **__: torch.device(_GPU),
        "current_device_index": _always(0),
        "current_device_idx": _always(0),
        "synchronize": _always(None),
        "set_device_index": _always(None),
        "current_stream": lambda *_: _Nothing(),
    }
    for name, answer in answers.items():
        if module is not None and hasattr(module, name):
            recording.replace(module, name, answer)
    recording.replace(torch._C, "_cuda_getCurrentRawStream", _always(0))
    if hasattr(torch._C, "_cuda_getDevice"):
        recording.replace(torch._C, "_cuda_getDevice", _always(0))
    recording.replace(torch._C, "_cuda_isCurrentStreamCapturing", _always(False))
