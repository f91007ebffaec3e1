"""A file that asks the toolchain for a name it has not, at import."""

import triton
from triton.language import no_such_function


@triton.jit
def asking(source, result, size):
    no_such_function(source)
