# /// script
# requires-python = ">=3.10"
# dependencies = ["nvidia-cutlass-dsl==4.5.0"]
# ///
#
# CuTe DSL 4.5.0 traces a kernel more slowly than 4.4.2 and 4.5.3 do. This script traces a kernel
# with 2,048 calls of `cute.gemm` five times, each in a new process, and prints the CPU seconds. It
# compiles nothing.
#
# `uv run trace-time.py` runs it on Linux, without a GPU or a driver. `python` runs it with any
# installed release from 4.1 on (`pip install nvidia-cutlass-dsl==4.4.2`). The exit code is 0 if all
# five end, because one release alone shows no difference.
import os
import subprocess
import sys
import time

import cutlass
import cutlass.cute as cute
from cutlass.base_dsl.compiler import Compiler
from cutlass.cute.nvgpu import tcgen05
from cutlass.utils import SmemAllocator, blackwell_helpers

CHAIN, TILE = 512, (128, 128, 64)


@cute.kernel
def chain_kernel(
    tiled_mma: cute.TiledMma, layout_a: cute.ComposedLayout, layout_b: cute.ComposedLayout
):
    memory = SmemAllocator()
    tile_a = memory.allocate_tensor(cutlass.Float16, layout_a.outer, 128, swizzle=layout_a.inner)
    tile_b = memory.allocate_tensor(cutlass.Float16, layout_b.outer, 128, swizzle=layout_b.inner)
    held = memory.allocate_array(cutlass.Int32)
    address = cute.arch.retrieve_tmem_ptr(
        cutlass.Float32, alignment=16, ptr_to_buffer_holding_addr=held
    )
    fragment = tiled_mma.make_fragment_C(tiled_mma.partition_shape_C(TILE[:2]))
    sums = cute.make_tensor(address, fragment.layout)
    operand_a = tiled_mma.make_fragment_A(tile_a)
    operand_b = tiled_mma.make_fragment_B(tile_b)
    for _ in cutlass.range_constexpr(CHAIN):
        for k in cutlass.range_constexpr(4):
            step = (None, None, k, 0)
            cute.gemm(tiled_mma, sums, operand_a[step], operand_b[step], sums)
            tiled_mma.set(tcgen05.Field.ACCUMULATE, True)


@cute.jit
def chain():
    major = tcgen05.OperandMajorMode.K
    one, source = tcgen05.CtaGroup.ONE, tcgen05.OperandSource.SMEM
    tiled_mma = cute.make_tiled_mma(
        tcgen05.MmaF16BF16Op(
            cutlass.Float16, cutlass.Float32, (128, 128, 16), one, source, major, major
        )
    )
    layout_a = blackwell_helpers.make_smem_layout_a(tiled_mma, TILE, cutlass.Float16, 1)
    layout_b = blackwell_helpers.make_smem_layout_b(tiled_mma, TILE, cutlass.Float16, 1)
    chain_kernel(tiled_mma, layout_a, layout_b).launch(
        grid=(1, 1, 1), block=(128, 1, 1), smem=40000
    )


def stop(self, module, pipeline, *rest, **options):
    """Replace the compiler: print the CPU seconds of tracing, and end the process."""
    os.write(1, f"\n{time.process_time() - BEGIN:.2f}\n".encode())
    os._exit(0)


if __name__ == "__main__":
    if sys.argv[1:] == ["trace"]:
        Compiler.compile = stop
        BEGIN = time.process_time()
        cute.compile(chain)
    variables = {**os.environ, "CUTE_DSL_ARCH": "sm_100a"}
    for _ in range(5):
        command = [sys.executable, "-W", "ignore", __file__, "trace"]
        child = subprocess.run(
            command, env=variables, stdout=subprocess.PIPE, text=True, check=True
        )
        print(child.stdout.split()[-1], flush=True)
