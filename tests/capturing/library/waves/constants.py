"""What other modules take from here by its name, by an alias, or as an attribute of this module."""

import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)
SLOPE = tl.constexpr(0.25)
HAS_DESCRIPTORS = hasattr(tl, "make_tensor_descriptor")

if HAS_DESCRIPTORS:

    @triton.jit
    def shift(x):
        return x + 2.0

else:

    @triton.jit
    def shift(x):
        return x + 1.0


if hasattr(tl, "gather"):
    gather = tl.gather
else:

    @triton.jit
    def gather(source, index, axis):
        return source


constexpr_function = getattr(triton, "constexpr_function", lambda function: function)


@constexpr_function
def next_power(n):
    power = 1
    while power < n:
        power = power * 2
    return power
