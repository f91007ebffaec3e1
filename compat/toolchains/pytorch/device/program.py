"""PyTorch with a fake GPU, for programs on a machine without one.

Tensors are in main memory and report that they are on the GPU. A mode (:class:`MainMemory`) makes
tensors in main memory if the program requests them on the GPU. It also does so in ``backward()``
and in the bodies of custom operators, where PyTorch would have turned the mode off. Queries about
the GPU get answers for the target (:mod:`.gpu`). Comparisons always succeed, so that a test
continues after the first kernel, which computed nothing.
"""

from __future__ import annotations

import collections
import functools
import importlib
import inspect
import re
import threading
import types
from types import ModuleType
from typing import TYPE_CHECKING, Any, Callable

from . import compiler, gpu

if TYPE_CHECKING:
    from typing import Protocol

    from ...inside.foreign import Function, Objects, Value

    class Changes(Protocol):
        """The changes to a process, which are undone when its recording ends."""

        def replace(self, owner: Value, name: str, value: Value) -> None:
            """Replace an attribute."""

        def finally_do(self, undo: Callable[[], None]) -> None:
            """Have ``undo()`` called in the end."""

        def record_omission(self, module: str, name: str, why: str) -> None:
            """Write down a function whose kernels are not recorded, and why."""


_CPU = "cpu"
_GPU = "cuda"
_KEYS = {"CUDA": "CPU", "AutogradCUDA": "AutogradCPU", "CPU": "CompositeExplicitAutograd"}
"""The dispatch key of an operator's function → the one that it is registered with.

The function for the GPU gets tensors in main memory, even if there is one for the CPU.
"""
_OBJECTS = ("Stream", "Event", "CUDAGraph", "device", "device_of", "stream", "graph")
NUMPY_COMPARISONS: dict[str, object] = dict.fromkeys(
    (
        "assert_allclose",
        "assert_array_equal",
        "assert_almost_equal",
        "assert_array_almost_equal",
        "assert_equal",
        "assert_array_less",
    )
)
"""Function → the result of its replacement."""
_COMPARES = re.compile(r"_?(assert|check|verify|compare)\w*_(\w*close|equal|eq)$")
_COMPARISONS = {"allclose": True, "equal": True}
_TEST_COMPARISONS = {"assert_close": None, "assert_allclose": None}


def install(changes: Changes, torch: ModuleType, facts: dict[str, object]) -> None:
    """Give PyTorch a fake GPU of a target."""
    mode = main_memory(torch)
    for name, value in _tensors(torch).items():
        changes.replace(torch.Tensor, name, value)
    for name, function in _answers(torch, facts).items():
        changes.replace(torch.cuda, name, function)
    changes.replace(torch, "compile", compiler.compile_with(changes, torch, mode))
    _versions(changes, torch, facts)
    _accelerator(changes, torch)
    agree(changes, torch, _COMPARISONS)
    agree(changes, torch.Tensor, _COMPARISONS)
    agree(changes, torch.testing, _TEST_COMPARISONS)
    changes.replace(torch, "Generator", _generator(torch))
    changes.replace(torch, "set_default_device", gpu.always(None))
    restore = torch.serialization.default_restore_location
    changes.replace(torch.serialization, "default_restore_location", _restore_here(restore))
    new_shared = torch.UntypedStorage._new_shared  # of the workers of a DataLoader
    changes.replace(torch.UntypedStorage, "_new_shared", lambda size, **_: new_shared(size))
    # Without cuDNN, nothing can lay out the weights of recurrent networks for it.
    changes.replace(torch.backends.cudnn, "is_acceptable", gpu.always(False))
    _cast_here(changes, torch)
    _stay_on(changes, torch, mode)
    _go_along(changes, mode)
    mode.__enter__()
    changes.finally_do(lambda: mode.__exit__(None, None, None))


# --- tensors --------------------------------------------------------------------------------------


def main_memory(torch: ModuleType) -> Value:
    """Return a mode that makes tensors in main memory instead of on the GPU."""
    overrides = importlib.import_module("torch.overrides")
    device_type = type(torch.device(_CPU))

    def here(value: Value) -> object:
        if isinstance(value, device_type):
            return torch.device(_CPU) if value.type == _GPU else value
        return _CPU if isinstance(value, str) and value.partition(":")[0] == _GPU else value

    is_tracing = compiler.tracing(torch)
    empty = {getattr(torch, name) for name in ("empty", "empty_like", "empty_strided")}
    empty |= {torch.Tensor.new_empty, torch.Tensor.new_empty_strided}

    class MainMemory(overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
        """Redirects all tensors to main memory."""

        def __torch_function__(
            self, function: Function, _: object, arguments: Any = (), options: Any = None
        ) -> object:
            options = options or {}
            if function is device_type or is_tracing():
                return function(*arguments, **options)
            if options:
                options = {name: here(value) for name, value in options.items()}
                options.pop("pin_memory", None)
            if type(options.get("device")) is int:  # the number of a GPU
                options["device"] = _CPU
            if function == torch.Tensor.to and [*map(type, arguments[1:2])] == [int]:
                arguments = (arguments[0], _CPU, *arguments[2:])
            try:
                result = function(*[here(argument) for argument in arguments], **options)
            except NotImplementedError:  # the CPU does not have this function
                result = compiler.blank(torch, function, arguments, options)
            if function in empty:
                # Uninitialised memory could hold anything, also NaNs.
                result.detach().zero_()
            return result

    return MainMemory()


def _tensors(torch: ModuleType) -> Objects:
    """Return the replaced attributes and methods of tensors, by name."""
    device = torch.device(_GPU, 0)

    def stay(self: object, *_: object, **__: object) -> object:
        return self

    answers: dict[str, Callable[..., Any]] = {
        "is_cuda": lambda self: True,
        "device": lambda self: device,
        "is_cpu": lambda self: False,
        "cuda": stay,
        "pin_memory": stay,
        "is_pinned": lambda self, *_: True,
        "get_device": lambda self: 0,
        "record_stream": lambda self, *_: None,
    }
    own: Objects = {name: inspect.getattr_static(torch.Tensor, name) for name in answers}
    device_of = own["device"].__get__
    return {name: _of_memory(own[name], answer, device_of) for name, answer in answers.items()}


def _of_memory(own: Any, answer: Callable[..., Any], device_of: Callable[..., Any]) -> object:
    """Return an attribute or method that answers for tensors in main memory.

    ``torch.compile`` traces with tensors that have a shape and no memory. These use their own one.
    """

    def is_here(tensor: object) -> bool:
        return (
            not type(tensor).__module__.startswith("torch._subclasses")
            and device_of(tensor).type == _CPU
        )

    if isinstance(own, (property, types.GetSetDescriptorType)):
        return property(lambda self: answer(self) if is_here(self) else own.__get__(self))

    def method(self: object, *arguments: object, **options: object) -> Any:
        if is_here(self):
            return answer(self, *arguments, **options)
        return own.__get__(self)(*arguments, **options)

    return method


def _cast_here(changes: Changes, torch: ModuleType) -> None:
    """Make ``torch.autocast`` for the GPU cast tensors in main memory, too."""
    autocast: Any = torch.autocast
    enter, leave = autocast.__enter__, autocast.__exit__

    @functools.wraps(enter)
    def enter_both(self: Any) -> object:
        if self.device == _GPU:
            self.in_memory = autocast(_CPU, self.fast_dtype, self._enabled, self._cache_enabled)
            enter(self.in_memory)
        return enter(self)

    @functools.wraps(leave)
    def leave_both(self: Any, *error: object) -> object:
        result = leave(self, *error)
        if self.device == _GPU:
            leave(self.in_memory, *error)
        return result

    changes.replace(autocast, "__enter__", enter_both)
    changes.replace(autocast, "__exit__", leave_both)


def _go_along(changes: Changes, mode: object) -> None:
    """Turn on the mode in threads that start from now on, because each thread has its own modes."""
    start = threading.Thread.start

    @functools.wraps(start)
    def start_inside(thread: threading.Thread) -> None:
        thread.run = compiler.inside(mode, thread.run)  # type: ignore[method-assign]
        start(thread)

    changes.replace(threading.Thread, "start", start_inside)


def _stay_on(changes: Changes, torch: ModuleType, mode: Value) -> None:
    """Keep the mode on in callbacks of PyTorch, which turns off a mode while this mode works."""
    graph = importlib.import_module("torch.autograd")
    if hasattr(graph, "_engine_run_backward"):
        changes.replace(
            graph, "_engine_run_backward", compiler.inside(mode, graph._engine_run_backward)
        )
    library: Any = torch.library.Library
    begin, register = library.__init__, library.impl

    @functools.wraps(begin)
    def begin_here(self: object, name: object, kind: object, dispatch_key: Any = "") -> None:
        begin(self, name, kind, _KEYS.get(dispatch_key, dispatch_key))

    @functools.wraps(register)
    def impl(
        self: object,
        name: object,
        function: object,
        dispatch_key: Any = "",
        *rest: object,
        **options: object,
    ) -> object:
        key = _KEYS.get(dispatch_key, dispatch_key)
        is_python = isinstance(function, (types.FunctionType, types.MethodType))
        if is_python and key in (
            "CPU",
            "CompositeExplicitAutograd",
            "CompositeImplicitAutograd",
            "",
        ):
            function = compiler.inside(mode, function)
        try:
            return register(self, name, function, key, *rest, **options)
        except RuntimeError:
            if key == dispatch_key:
                raise  # otherwise PyTorch calls the one that CPU tensors already have
            return None

    changes.replace(library, "__init__", begin_here)
    changes.replace(library, "impl", impl)


def _generator(torch: ModuleType) -> Any:
    kind = torch.Generator

    class Generator(kind):  # type: ignore[misc, valid-type]
        """A generator of random numbers on the CPU, for any requested device."""

        def __new__(cls, device: object = None) -> Any:  # noqa: ARG004 - as torch.Generator
            return kind.__new__(cls)

        def __init__(self, device: object = None) -> None:
            pass

    return Generator


def _restore_here(restore: Function) -> Function:
    """Return a function that leaves a loaded storage of the GPU in main memory."""

    def restore_here(storage: object, location: str) -> object:
        return storage if location.partition(":")[0] == _GPU else restore(storage, location)

    return restore_here


# --- the GPU --------------------------------------------------------------------------------------


def _answers(torch: ModuleType, facts: dict[str, object]) -> Objects:
    """Return the replaced functions and classes of ``torch.cuda``, by name."""
    idle = type("Idle", (gpu.Idle,), {"device": torch.device(_GPU, 0)})
    objects = {name: type(name, (idle,), {}) for name in _OBJECTS}
    bases: Any = getattr(torch, "_streambase", None)
    for name in ("Stream", "Event"):
        base: Any = getattr(bases, "_%sBase" % name, None)
        if hasattr(base, "register"):  # TorchDynamo 2.4 checks it
            base.register(objects[name])
    return {
        **gpu.functions(facts),
        **objects,
        "current_stream": lambda *_: idle(),
        "default_stream": lambda *_: idle(),
        "memory_stats": lambda *_, **__: collections.defaultdict(int),
        "memory_summary": gpu.always(""),
        "get_rng_state": lambda *_: torch.get_rng_state(),
        "get_rng_state_all": lambda *_: [torch.get_rng_state()],
        "initial_seed": lambda *_: torch.initial_seed(),
    }


def _versions(changes: Changes, torch: ModuleType, facts: dict[str, object]) -> None:
    hip = facts["backend"] == "hip"
    if hip and not torch.version.hip:
        changes.replace(torch.version, "hip", "6.4")
        changes.replace(torch.version, "cuda", None)
    if not hip and not torch.version.cuda:
        changes.replace(torch.version, "cuda", "12.8")


def _accelerator(changes: Changes, torch: ModuleType) -> None:
    """Replace the names that newer releases have for the same queries."""
    module = getattr(torch, "accelerator", None)
    answers = {
        "is_available": gpu.always(True),
        "device_count": gpu.always(1),
        "current_accelerator": lambda *_, **__: torch.device(_GPU),
        "current_device_index": gpu.always(0),
        "current_device_idx": gpu.always(0),
        "synchronize": gpu.always(None),
        "set_device_index": gpu.always(None),
        "current_stream": lambda *_: torch.cuda.current_stream(),
    }
    for name, answer in answers.items():
        if module is not None and hasattr(module, name):
            changes.replace(module, name, answer)
    changes.replace(torch._C, "_cuda_getCurrentRawStream", gpu.always(0))
    if hasattr(torch._C, "_cuda_getDevice"):
        changes.replace(torch._C, "_cuda_getDevice", gpu.always(0))
    changes.replace(torch._C, "_cuda_isCurrentStreamCapturing", gpu.always(False))


# --- comparisons ----------------------------------------------------------------------------------


def agree(changes: Changes, owner: Value, functions: Objects) -> None:
    """Make comparisons of a module or a class report that everything is equal.

    ``functions`` has their names and results.
    """
    for name, answer in functions.items():
        if hasattr(owner, name):
            changes.replace(owner, name, _answering(name, answer))


def agree_in_tests(changes: Changes, pytest_python: object) -> None:
    """Make comparisons of a test suite's own modules succeed, too.

    These are functions with names such as ``assert_…close`` or ``…_equal``.
    """
    for name in ("importtestmodule", "_importtestmodule"):
        owner = (
            pytest_python
            if hasattr(pytest_python, name)
            else getattr(pytest_python, "Module", None)
        )
        if hasattr(owner, name):
            changes.replace(owner, name, _agreeing_after(getattr(owner, name)))


def _agreeing_after(import_module: Any) -> object:
    @functools.wraps(import_module)
    def import_and_agree(*arguments: Value, **options: Value) -> object:
        module = import_module(*arguments, **options)
        for name, value in list(vars(module).items()):
            if isinstance(value, types.FunctionType) and _COMPARES.match(name):
                setattr(module, name, _answering(name, None))
        return module

    return import_and_agree


def _answering(name: str, answer: object) -> object:
    def compare(*_: object, **__: object) -> Any:
        return answer

    compare.__name__ = name
    return compare
