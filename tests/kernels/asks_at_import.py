"""A file that looks at the GPU while it is imported, as libraries do that choose their configurations by it."""

import triton
import triton.language as tl
from triton.runtime import driver

TARGET = driver.active.get_current_target()
SHARED = driver.active.utils.get_device_properties(driver.active.get_current_device())["max_shared_mem"]
ARCH = tl.constexpr(str(TARGET.arch))
KIB = tl.constexpr(SHARED // 1024)


@triton.jit
def arch_is(source, result, size, WANTED: tl.constexpr, LIMIT: tl.constexpr):
    tl.static_assert(ARCH == WANTED)
    tl.static_assert(KIB == LIMIT)
