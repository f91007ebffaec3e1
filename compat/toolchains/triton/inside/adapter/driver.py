"""A stand-in for Triton's GPU driver on machines without a GPU. It answers for a target.

Kernels ask it while they compile (``tl.target_info.cuda_capability_geq(9, 0)``, atomics on tensor
descriptors), and source files while they are imported
(``triton.runtime.driver.active.get_current_target()``, ``@triton.autotune`` before 3.4). They get
the answers that they would get on a machine with that GPU, if these follow from the target.

A worker has a :class:`RefusingDriver`, which raises an error for a launch. A program whose launches
are recorded has an :class:`IdleDriver`, on which every launch and every call succeeds and does
nothing.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ....inside.foreign import Document, Objects
    from ..foreign import GpuTarget

_CACHES = ("triton.compiler", "triton.language", "triton.runtime", "triton._utils")
"""Packages whose caches depend on the target or on earlier compiles: the shared memory of device 0,
and past warnings.
"""
_CLOCK = 1_500_000
"""Clock rate in kHz. Nothing runs, but code that computes a bandwidth needs a number."""


def target(facts: Document) -> GpuTarget:
    """Return the ``GPUTarget`` of a job."""
    from triton.backends.compiler import GPUTarget

    return GPUTarget(facts["backend"], facts["arch"], facts["warp_size"])


class TargetDriver:
    """A stand-in for the driver of a GPU."""

    def __init__(self, facts: dict[str, object] | None = None) -> None:
        self.utils = self
        self._chosen = facts

    @property
    def _facts(self) -> Document:
        if self._chosen is None:
            raise RuntimeError("no target has been chosen yet")
        return self._chosen

    @classmethod
    def is_active(cls) -> bool:
        return True

    def get_current_target(self) -> object:
        return target(self._facts)

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        pass

    def get_current_stream(self, device: object = None) -> int:
        return 0

    def get_device_capability(self, device: object = None) -> tuple[int, int]:
        arch = self._facts["arch"]
        if not isinstance(arch, int):
            raise RuntimeError("%s has no compute capability" % arch)  # noqa: TRY004 - as a driver
        return arch // 10, arch % 10

    def get_device_properties(self, device: object = None) -> Objects:
        """Return the properties that follow from the architecture."""
        facts = self._facts
        return {
            "max_shared_mem": facts["shared_memory"],
            "warpSize": facts["warp_size"],
            "arch": facts["arch"],
        }

    def get_active_torch_device(self) -> object:
        return importlib.import_module("torch").device("cuda", 0)

    def get_device_interface(self) -> object:
        return importlib.import_module("torch").cuda


class RefusingDriver(TargetDriver):
    """A driver that answers for the target of the current cell, and launches nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._modules: set[str] = set()
        """Names of the modules whose caches are known. A child need not look into them again."""
        self._caches: list[Any] = []
        self._note_caches()

    def set_target(self, facts: Document) -> None:
        """Answer for this target from now on, and clear caches that have answers for others."""
        self._chosen = facts
        self._note_caches()
        for cache in self._caches:
            cache.cache_clear()

    def _note_caches(self) -> None:
        for name in sys.modules.keys() - self._modules:
            if name.startswith(_CACHES) and (module := sys.modules[name]) is not None:
                self._caches += [
                    value
                    for value in list(vars(module).values())
                    if isinstance(value, functools._lru_cache_wrapper)
                ]
            self._modules.add(name)

    def get_device_properties(self, device: object = None) -> Objects:
        """Return the properties that follow from the architecture.

        Properties that differ between GPUs of one architecture are unknown.
        """
        return _CertainProperties(super().get_device_properties(device))

    def get_benchmarker(self) -> object:
        return refuse_launch

    def launch(self, *_arguments: object, **_options: object) -> Any:
        refuse_launch()

    launcher_cls = load_binary = get_empty_cache_for_benchmark = clear_cache = launch


class _CertainProperties(dict):  # type: ignore[type-arg]
    def __missing__(self, name: str) -> object:
        raise RuntimeError("no GPU here: %r of %s is not known" % (name, self["arch"]))


class IdleDriver(TargetDriver):
    """A driver of a GPU on which everything succeeds at once, and nothing happens."""

    launcher_cls = None

    def __getattr__(self, name: str) -> Any:
        """Return a function that does nothing, for any other function of a driver."""
        if name.startswith("__"):
            raise AttributeError(name)
        return do_nothing

    def get_device_capability(self, device: object = None) -> tuple[int, int]:
        """Return the compute capability, and for AMD the numbers that PyTorch returns instead."""
        arch = self._facts["arch"]
        return (
            super().get_device_capability(device)
            if isinstance(arch, int)
            else (int(arch[3:-2]), int(arch[-2], 16))
        )

    def get_device_properties(self, device: object = None) -> Objects:
        return {
            **super().get_device_properties(device),
            "max_num_regs": 65536,
            "multiprocessor_count": self._facts["multiprocessors"],
            "sm_clock_rate": _CLOCK,
            "mem_clock_rate": _CLOCK,
            "mem_bus_width": 4096,
        }

    def get_benchmarker(self) -> object:
        return benchmark

    def get_empty_cache_for_benchmark(self) -> object:
        return None


def refuse_launch(*_arguments: object, **_options: object) -> object:
    """Refuse to launch anything."""
    raise RuntimeError("no GPU here: kernels are compiled, not launched")


def do_nothing(*_: object, **__: object) -> None:
    """Launch nothing, and raise no error."""


def benchmark(
    call: Callable[[], object],
    *_: object,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
    **__: object,
) -> object:
    """Call once, and return the same time for everything."""
    call()
    if quantiles:
        return [1.0 for _ in quantiles]
    return [1.0] if return_mode == "all" else 1.0


def install() -> RefusingDriver:
    """Replace Triton's driver with one that refuses launches."""
    from triton.runtime import driver

    installed = RefusingDriver()
    driver.set_active(installed)
    return installed
