"""The GPU driver that Triton finds here: it answers for the target of the cell in flight, and launches nothing.

Kernels ask it while they compile (``tl.target_info.cuda_capability_geq(9, 0)``, atomics on tensor descriptors), and source files
while they are imported (``triton.runtime.driver.active.get_current_target()``, ``@triton.autotune`` before 3.4). What they hear is
what they would hear on a machine with that GPU, as far as it follows from the target.
"""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any

_CACHES = ("triton.compiler", "triton.language", "triton.runtime", "triton._utils")
"""Where releases keep what depends on the target or on earlier compiles: the shared memory of device 0, warnings given once."""


def target(facts: dict[str, Any]) -> Any:
    """The ``GPUTarget`` of a job."""
    from triton.backends.compiler import GPUTarget

    return GPUTarget(facts["backend"], facts["arch"], facts["warp_size"])


class Driver:
    """Stands where Triton expects the driver of a GPU."""

    def __init__(self) -> None:
        self.utils = self
        self._facts: dict[str, Any] | None = None

    def aim(self, facts: dict[str, Any]) -> None:
        """Answer for this target from now on, and forget what was found out for others."""
        self._facts = facts
        for name, module in list(sys.modules.items()):
            if name.startswith(_CACHES) and module is not None:
                for value in list(vars(module).values()):
                    if isinstance(value, functools._lru_cache_wrapper):
                        value.cache_clear()

    def is_active(self) -> bool:
        return True

    def get_current_target(self) -> Any:
        return target(self._target())

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        pass

    def get_current_stream(self, device: Any = None) -> int:
        return 0

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        facts = self._target()
        if facts["backend"] != "cuda":
            raise RuntimeError("%s has no compute capability" % facts["arch"])
        return facts["arch"] // 10, facts["arch"] % 10

    def get_device_properties(self, device: Any = None) -> Properties:
        facts = self._target()
        return Properties(max_shared_mem=facts["shared_memory"], warpSize=facts["warp_size"], arch=facts["arch"])

    def get_active_torch_device(self) -> Any:
        return importlib.import_module("torch").device("cuda", 0)

    def get_device_interface(self) -> Any:
        return importlib.import_module("torch").cuda

    def get_benchmarker(self) -> Any:
        return launch

    def launch(self, *_arguments: Any, **_options: Any) -> Any:
        launch()

    launcher_cls = load_binary = get_empty_cache_for_benchmark = clear_cache = launch

    def _target(self) -> dict[str, Any]:
        if self._facts is None:
            raise RuntimeError("no target has been chosen yet")
        return self._facts


class Properties(dict):  # type: ignore[type-arg]
    """What follows from the architecture; what GPUs of one architecture differ in is not known."""

    def __missing__(self, name: str) -> Any:
        raise RuntimeError("no GPU here: %r of %s is not known" % (name, self["arch"]))


def launch(*_arguments: Any, **_options: Any) -> Any:
    """Refuse to."""
    raise RuntimeError("no GPU here: kernels are compiled, not launched")


def install() -> Driver:
    """Put one in the place of Triton's driver."""
    from triton.runtime import driver

    installed = Driver()
    driver.set_active(installed)
    return installed
