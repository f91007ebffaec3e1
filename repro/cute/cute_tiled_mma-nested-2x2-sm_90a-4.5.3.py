# /// script
# requires-python = ">=3.10"
# dependencies = ["nvidia-cutlass-dsl==4.5.3"]
# ///
#
# CuTe DSL 4.5.3 compiling nested for sm_90a: compiler aborted. It is expected to print:
#
#     Fatal Python error: Aborted, in thr_layout_vmnk
#
# `uv run cute_tiled_mma-nested-2x2-sm_90a-4.5.3.py` shows it, on Linux and without a GPU; `python` runs it
# where CuTe DSL (`pip install nvidia-cutlass-dsl`) 4.5.3 is installed. Exit code 0: the failure shows; 1: it does not.
import os
import subprocess
import sys
import tempfile

import cutlass
import cutlass.cute as cute
from cutlass.cute import runtime
from cutlass.cute.nvgpu import warp


@cute.kernel
def kernel(mma: cute.TiledMma, a: cute.Tensor):
    a[0] = a[1]


@cute.jit
def nested(a: cute.Tensor):
    op = warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (16, 8, 16))
    mma = cute.make_tiled_mma(cute.make_mma_atom(op), cute.make_layout(((2, 2), 1, 1)))
    kernel(mma, a).launch(grid=(1, 1, 1), block=(128, 1, 1))


EXPECTED = "Fatal Python error: Aborted"


def compile_kernel():
    size_n = cute.sym_int()
    cute.compile(
        nested,
        runtime.make_fake_compact_tensor(cutlass.Float16, (size_n,), stride_order=(0,), assumed_align=16),
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["compile"]:
        compile_kernel()
        sys.exit()
    # A child compiles, because a compiler that aborts ends its process. Its own cache is empty, so it does compile.
    with tempfile.TemporaryDirectory() as cache:
        variables = {**os.environ, "CUTE_DSL_DISABLE_FILE_CACHING": "1", "CUTE_DSL_CACHE_DIR": cache, "CUTE_DSL_ARCH": "sm_90a"}
        command = [sys.executable, "-X", "faulthandler", __file__, "compile"]
        child = subprocess.run(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
    shows = child.returncode != 0 and EXPECTED in child.stdout
    print(child.stdout)
    print(f"{'reproduced' if shows else 'not reproduced'}: the compile ended with exit code {child.returncode}")
    sys.exit(0 if shows else 1)
