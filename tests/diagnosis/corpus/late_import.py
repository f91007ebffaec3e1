"""A name that some releases have, asked for while the file is imported."""

import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def imports_a_late_module(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.load(source))
