"""A file that hands the compiler IR which is none, as soon as it is imported."""

import os
import tempfile

import triton
from triton.backends.compiler import GPUTarget

IR = """module {
  tt.func public @broken(%source: !tt.ptr<f32>) attributes {noinline = false} {
    %zero = arith.konstant 0 : i32
    tt.return
  }
}
"""

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "broken.ttir")
    with open(path, "w") as file:
        file.write(IR)
    triton.compile(path, target=GPUTarget("cuda", 80, 32))


@triton.jit
def broken(source, result, size):
    pass
