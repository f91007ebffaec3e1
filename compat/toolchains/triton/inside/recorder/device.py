"""Replacements of a GPU: a driver with a target, and compiles and launches without effect."""

from __future__ import annotations

import functools
import importlib.util
import os
import types
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ....inside.foreign import Objects
    from ..foreign import GpuTarget, Source
    from .recording import TritonRecording


def _load_driver() -> Any:
    """Load the driver's module without its package, which is the adapter of a worker."""
    inside = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = os.path.join(inside, "adapter", "driver.py")
    spec = importlib.util.spec_from_file_location("_compat_driver", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


driver = _load_driver()
"""The module of stand-ins for Triton's driver, which workers also use."""


def install(recording: TritonRecording, triton: ModuleType) -> None:
    """Make Triton find a GPU of the recording's target."""
    from triton.runtime import driver as runtime_driver

    stand_in = driver.IdleDriver(recording.settings["target"])
    before = dict(vars(runtime_driver))
    runtime_driver.set_active(stand_in)

    def put_back() -> None:
        vars(runtime_driver).clear()
        vars(runtime_driver).update(before)

    recording.finally_do(put_back)
    _offer(recording, stand_in)
    compile_it, kernel = triton.compiler.compile, _kernel_class(triton.compiler.CompiledKernel)

    @functools.wraps(compile_it)
    def compile_nothing(
        src: Source, target: GpuTarget = None, options: Any = None, **_: object
    ) -> Any:
        return kernel(src, target or stand_in.get_current_target(), dict(options or {}))

    def compile_directly(
        src: object, target: object = None, options: object = None, **more: object
    ) -> object:
        """Compile without a GPU, because the program needs the code. Its launches do nothing."""
        compiled_kernel, nothing = (
            compile_it(src, target=target, options=options, **more),
            compile_nothing(src, target, options),
        )
        nothing.asm, nothing.metadata, nothing.hash = (
            compiled_kernel.asm,
            compiled_kernel.metadata,
            compiled_kernel.hash,
        )
        return nothing

    recording.replace(triton.compiler, "compile", compile_nothing)
    recording.compile_directly = compile_directly
    _time_nothing(recording)
    _hash_no_package(recording, triton)


def _offer(recording: TritonRecording, stand_in: object) -> None:
    """Make the stand-in the result of every construction of the target backend's driver."""
    from triton.backends import backends

    name = {"cuda": "nvidia", "hip": "amd"}[recording.settings["target"]["backend"]]
    backend = backends[name]

    class Driver:
        """The class that Triton uses as the class of a backend's drivers."""

        is_active = staticmethod(lambda: True)

        def __new__(cls) -> Any:
            return stand_in

    backends[name] = type(backend)(backend.compiler, Driver)
    recording.finally_do(functools.partial(backends.__setitem__, name, backend))


def _time_nothing(recording: TritonRecording) -> None:
    import triton.testing
    from triton.runtime import autotuner

    for owner in (triton.testing, autotuner):
        for name in ("do_bench", "do_bench_cudagraph"):
            if hasattr(owner, name):
                recording.replace(owner, name, driver.benchmark)


def _hash_no_package(recording: TritonRecording, triton: ModuleType) -> None:
    """Replace ``triton_key()``, which hashes the whole package (0.5 to 1.1 s), by a cheaper name.

    The key is a part of the names in caches, which are new for a capture. The environments of a
    program share them, so the name tells installations apart.
    """
    name = "%s of %s" % (triton.__file__, triton.__version__)
    for module in (triton.compiler.compiler, triton.runtime.cache):
        if hasattr(module, "triton_key"):
            recording.replace(module, "triton_key", lambda: name)


def _kernel_class(compiled_kernel: type) -> type:
    """Return a class for kernels that a launch treats as compiled, but that were not compiled."""

    class UncompiledKernel(compiled_kernel):  # type: ignore[misc]
        """The object that a launch gets instead of a compiled kernel.

        A launch of it calls the program's hooks, and does nothing else.
        """

        __getattribute__ = object.__getattribute__
        run = staticmethod(_call_hooks)
        _init_handles = driver.do_nothing
        __del__ = driver.do_nothing

        def __init__(self, src: object, gpu: GpuTarget, options: Objects) -> None:
            self.src, self.hash = src, ""
            self.asm: Objects = {}
            self.name = getattr(getattr(src, "fn", None), "__name__", "kernel")
            self.function, self.packed_metadata, self.module, self.kernel = 0, (), None, b""
            self.n_regs, self.n_spills, self.n_max_threads = 32, 0, 1024
            metadata = {
                "num_warps": 4,
                "num_stages": 2,
                "num_ctas": 1,
                "cluster_dims": (1, 1, 1),
                "shared": 1024,  # programs divide by it
                "global_scratch_size": 0,
            }
            metadata.update(options, target=gpu, name=self.name, warp_size=gpu.warp_size, hash="")
            self.metadata = types.SimpleNamespace(**metadata)

    return UncompiledKernel


def _call_hooks(*launch: Any) -> None:
    """Call the hooks of a launch, as launchers of all releases do.

    They get the grid, the stream, the function, the metadata of the kernel and of the launch, both
    hooks, and the arguments.
    """
    metadata, enter, leave = launch[6:9]
    for hook in (enter, leave):
        if hook is not None:
            hook(metadata)
