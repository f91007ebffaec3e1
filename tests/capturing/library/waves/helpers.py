"""Helpers of kernels, which use those of another module."""

import triton
import triton.language as tl
from triton.language import exp2 as power_of_two

from . import constants
from .constants import LOG2E
from .constants import shift as moved


@triton.jit
def exponential(x):
    return power_of_two(x * LOG2E)


@triton.jit
def leaky(x):
    return tl.where(x > 0, x, x * constants.SLOPE)


@triton.jit
def activation(x, KIND: tl.constexpr):
    if KIND == "exp":
        return exponential(x)
    return moved(leaky(x))
