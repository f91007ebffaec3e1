"""What is known of the GPU that a result is from."""

from __future__ import annotations

import ctypes
from typing import Any, Dict, Optional

from .cuda import Driver

_SM, _MEMORY = 1, 2


def facts(driver: Driver, torch: Any) -> Dict[str, Any]:
    """As a result line has it."""
    management = _Management(driver.bus)
    return {
        "name": driver.name,
        "cc": "%d.%d" % driver.capability,
        "driver": management.driver(),
        "cuda": driver.version,
        "clocks": management.clocks(),
        "torch": str(torch.__version__),
        "torch_cuda": torch.version.cuda,
    }


class _Management:
    """The management library (NVML), where there is one."""

    def __init__(self, bus: bytes) -> None:
        """``bus`` says which GPU; the numbers of the two libraries can differ."""
        self._library: Any = None
        self._device = ctypes.c_void_p()
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
            is_there = library.nvmlInit_v2() == 0 and library.nvmlDeviceGetHandleByPciBusId_v2(bus, ctypes.byref(self._device)) == 0
        except (OSError, AttributeError):
            return
        self._library = library if is_there else None

    def driver(self) -> Optional[str]:
        """The version of the driver."""
        if self._library is None:
            return None
        buffer = ctypes.create_string_buffer(96)
        answer = self._library.nvmlSystemGetDriverVersion(buffer, ctypes.c_uint(len(buffer)))
        return buffer.value.decode() if answer == 0 else None

    def clocks(self) -> Optional[Dict[str, Optional[int]]]:
        """MHz: as they are now, and the highest."""
        if self._library is None:
            return None
        return {
            "sm": self._clock("nvmlDeviceGetClockInfo", _SM),
            "memory": self._clock("nvmlDeviceGetClockInfo", _MEMORY),
            "most_sm": self._clock("nvmlDeviceGetMaxClockInfo", _SM),
            "most_memory": self._clock("nvmlDeviceGetMaxClockInfo", _MEMORY),
        }

    def _clock(self, call: str, kind: int) -> Optional[int]:
        value = ctypes.c_uint()
        return value.value if getattr(self._library, call)(self._device, kind, ctypes.byref(value)) == 0 else None
