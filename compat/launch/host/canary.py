"""A kernel that is known to be good: y = x + 1 for 256 numbers. Where it fails, the GPU, its driver or this process is at fault."""

from __future__ import annotations

import ctypes
from typing import Any, Tuple

from .cuda import Driver, Launch

_COUNT = 256
_TEXT = """
.version %s
.target %s
.address_size 64
.visible .entry compat_canary(.param .u64 x_ptr, .param .u64 y_ptr)
{
    .reg .f32 %%f<2>;
    .reg .b32 %%r<2>;
    .reg .b64 %%rd<7>;
    ld.param.u64 %%rd1, [x_ptr];
    ld.param.u64 %%rd2, [y_ptr];
    mov.u32 %%r1, %%tid.x;
    mul.wide.u32 %%rd3, %%r1, 4;
    cvta.to.global.u64 %%rd1, %%rd1;
    cvta.to.global.u64 %%rd2, %%rd2;
    add.s64 %%rd4, %%rd1, %%rd3;
    add.s64 %%rd5, %%rd2, %%rd3;
    ld.global.f32 %%f1, [%%rd4];
    add.f32 %%f1, %%f1, 0f3F800000;
    st.global.f32 [%%rd5], %%f1;
    ret;
}
"""
_VERSIONS = (((9, 0), "7.8", "sm_90"), ((8, 0), "7.0", "sm_80"), ((7, 5), "6.3", "sm_75"), ((0, 0), "6.0", "sm_60"))
_FACTS = {
    "block": [_COUNT, 1, 1],
    "grid_scale": [1, 1, 1],
    "shared": 0,
    "cluster": None,
    "cooperative": False,
    "pdl": False,
}


class Canary:
    """The kernel, loaded, with its memory."""

    def __init__(self, driver: Driver, torch: Any, device: str) -> None:
        """Raises CudaError."""
        self._driver, self._torch = driver, torch
        version, target = _form(driver.capability)
        self._function = driver.function(driver.load((_TEXT % (version, target)).encode() + b"\0"), "compat_canary")
        self._x = torch.arange(_COUNT, dtype=torch.float32, device=device)
        self._y = torch.empty_like(self._x)
        values = [ctypes.c_uint64(each.data_ptr()) for each in (self._x, self._y)]
        self._launch = Launch(driver, self._function, _FACTS, (1, 1, 1), values)

    def is_well(self) -> bool:
        """Whether it computes what it should. Raises CudaError."""
        self._y.fill_(-1.0)
        self._launch()
        self._driver.synchronize()
        return bool(self._y.tolist() == [float(number + 1) for number in range(_COUNT)])


def _form(capability: Tuple[int, int]) -> Tuple[str, str]:
    """The version of PTX and the target that this GPU's driver certainly takes."""
    return next((version, target) for least, version, target in _VERSIONS if capability >= least)
