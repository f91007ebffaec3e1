"""In the place of a GPU: a driver that answers for a target, a compiler that compiles nothing, and launches that do nothing."""

from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .recording import Recording

_REGISTERS = 65536
"""Registers of 32 bits that a multiprocessor has, on every architecture that there is a target for."""
_CLOCK = 1_500_000
"""kHz. Nothing runs: whoever computes a bandwidth gets a number."""


def install(recording: Recording, triton: Any) -> None:
    """Make Triton believe in a GPU of the recording's target."""
    from triton.runtime import driver

    stand_in = Driver(recording.settings["target"])
    before = dict(vars(driver))
    driver.set_active(stand_in)

    def put_back() -> None:
        vars(driver).clear()
        vars(driver).update(before)

    recording.finally_do(put_back)
    compile_it, kernel = triton.compiler.compile, _kernel_class(triton.compiler.CompiledKernel)

    @functools.wraps(compile_it)
    def compile_nothing(src: Any, target: Any = None, options: Any = None, **_: Any) -> Any:
        return kernel(src, target or stand_in.get_current_target(), dict(options or {}))

    def compile_directly(src: Any, target: Any = None, options: Any = None, **more: Any) -> Any:
        """Code is made without a GPU too, and the program wants it; a launch of it does nothing."""
        made, nothing = compile_it(src, target=target, options=options, **more), compile_nothing(src, target, options)
        nothing.asm, nothing.metadata, nothing.hash = made.asm, made.metadata, made.hash
        return nothing

    recording.replace(triton.compiler, "compile", compile_nothing)
    recording.compile_directly = compile_directly
    _time_nothing(recording)


def _time_nothing(recording: Recording) -> None:
    import triton.testing
    from triton.runtime import autotuner

    for owner in (triton.testing, autotuner):
        for name in ("do_bench", "do_bench_cudagraph"):
            if hasattr(owner, name):
                recording.replace(owner, name, benchmark)


def benchmark(call: Any, *_: Any, quantiles: Any = None, return_mode: str = "mean", **__: Any) -> Any:
    """Call once, and find everything equally fast."""
    call()
    if quantiles:
        return [1.0 for _ in quantiles]
    return [1.0] if return_mode == "all" else 1.0


class Driver:
    """Stands where Triton expects the driver of a GPU."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self._facts = facts
        self.utils = self
        self.launcher_cls = None

    def __getattr__(self, name: str) -> Any:
        """What else a release or a library asks for, to do something on a GPU: it is not done."""
        if name.startswith("__"):
            raise AttributeError(name)
        return _do_nothing

    @classmethod
    def is_active(cls) -> bool:
        return True

    def get_current_target(self) -> Any:
        return target(self._facts)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: Any = None) -> int:
        return 0

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        return capability(self._facts)

    def get_device_properties(self, device: Any = None) -> dict[str, int]:
        return {
            "max_shared_mem": self._facts["shared_memory"],
            "max_num_regs": _REGISTERS,
            "multiprocessor_count": self._facts["multiprocessors"],
            "warpSize": self._facts["warp_size"],
            "sm_clock_rate": _CLOCK,
            "mem_clock_rate": _CLOCK,
            "mem_bus_width": 4096,
            "arch": self._facts["arch"],
        }

    def get_active_torch_device(self) -> Any:
        import importlib

        return importlib.import_module("torch").device("cuda", 0)

    def get_device_interface(self) -> Any:
        import importlib

        return importlib.import_module("torch").cuda

    def get_benchmarker(self) -> Any:
        return benchmark

    def get_empty_cache_for_benchmark(self) -> Any:
        return None


def target(facts: dict[str, Any]) -> Any:
    """The ``GPUTarget`` of a target."""
    from triton.backends.compiler import GPUTarget

    return GPUTarget(facts["backend"], facts["arch"], facts["warp_size"])


def capability(facts: dict[str, Any]) -> tuple[int, int]:
    """The compute capability of a target; for AMD what PyTorch says in its place."""
    arch = facts["arch"]
    if isinstance(arch, int):
        return arch // 10, arch % 10
    return int(arch[3:-2]), int(arch[-2], 16)


def _do_nothing(*_: Any, **__: Any) -> None:
    return None


def _kernel_class(compiled_kernel: type) -> type:
    """A class of compiled kernels that were not compiled."""

    class Kernel(compiled_kernel):  # type: ignore[misc]
        """What a launch gets in the place of a compiled kernel. Launching it does nothing."""

        __getattribute__ = object.__getattribute__
        run = staticmethod(_do_nothing)
        launch_metadata = staticmethod(_do_nothing)
        _init_handles = _do_nothing
        __del__ = _do_nothing

        def __init__(self, src: Any, gpu: Any, options: dict[str, Any]) -> None:
            self.src, self.hash = src, ""
            self.asm: dict[str, Any] = {}
            self.name = getattr(getattr(src, "fn", None), "__name__", "kernel")
            self.function, self.packed_metadata, self.module, self.kernel = 0, (), None, b""
            self.n_regs, self.n_spills, self.n_max_threads = 32, 0, 1024
            known = {
                "num_warps": 4,
                "num_stages": 2,
                "num_ctas": 1,
                "cluster_dims": (1, 1, 1),
                "shared": 0,
                "global_scratch_size": 0,
            }
            known.update(options, target=gpu, name=self.name, warp_size=gpu.warp_size, hash="")
            self.metadata = types.SimpleNamespace(**known)

        def __getitem__(self, grid: Any) -> Any:
            return _do_nothing

    return Kernel
