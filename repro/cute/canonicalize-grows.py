# /// script
# requires-python = ">=3.10"
# dependencies = ["nvidia-cutlass-dsl==4.8.1"]
# ///
#
# CuTe DSL 4.8.1: the time of MLIR's pass `canonicalize` grows nearly with the cube of the number of
# `cute.gemm` calls in a row. A Python loop over the steps of a tiled product makes such a row. The
# time of tracing grows linearly.
#
# `uv run canonicalize-grows.py` shows it in about half a minute, on Linux and without a GPU or a
# driver. `python` runs it where CuTe DSL 4.8.1 is installed (`pip install
# nvidia-cutlass-dsl==4.8.1`). Exit code 0: the last step costs more than four times as much; 1: it
# does not. Arguments are other values of N.
import os
import re
import subprocess
import sys
import time

import cutlass
import cutlass.cute as cute
from cutlass.base_dsl.compiler import Compiler
from cutlass.cute.nvgpu import tcgen05
from cutlass.utils import SmemAllocator, blackwell_helpers

TILE = (128, 128, 64)


@cute.kernel
def chain_kernel(
    tiled_mma: cute.TiledMma,
    layout_a: cute.ComposedLayout,
    layout_b: cute.ComposedLayout,
    CHAIN: cutlass.Constexpr,
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
def chain(CHAIN: cutlass.Constexpr):
    major = tcgen05.OperandMajorMode.K
    one, source = tcgen05.CtaGroup.ONE, tcgen05.OperandSource.SMEM
    tiled_mma = cute.make_tiled_mma(
        tcgen05.MmaF16BF16Op(
            cutlass.Float16, cutlass.Float32, (128, 128, 16), one, source, major, major
        )
    )
    layout_a = blackwell_helpers.make_smem_layout_a(tiled_mma, TILE, cutlass.Float16, 1)
    layout_b = blackwell_helpers.make_smem_layout_b(tiled_mma, TILE, cutlass.Float16, 1)
    chain_kernel(tiled_mma, layout_a, layout_b, CHAIN).launch(
        grid=(1, 1, 1), block=(128, 1, 1), smem=40000
    )


def run_timed(self, module, pipeline, *rest, **options):
    """Run the pipeline as the compiler does, with MLIR's own report of times."""
    from cutlass._mlir.passmanager import PassManager

    with module.context:
        module.context.enable_multithreading(False)
        passes = PassManager.parse(pipeline)
        passes.enable_timing()
        begin = time.process_time()
        passes.run(module.operation)
        os.write(1, f"\ntrace {begin - BEGIN}\npipeline {time.process_time() - begin}\n".encode())
        del passes  # MLIR prints its report when the pass manager is destroyed
    os._exit(0)


def measured(length):
    """Return the CPU seconds of tracing, of canonicalize, and of the rest of the pipeline."""
    command = [sys.executable, __file__, "compile", str(length)]
    variables = {**os.environ, "CUTE_DSL_ARCH": "sm_100a"}
    text = subprocess.run(
        command,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        errors="replace",
        check=True,
    ).stdout
    trace, pipeline = (
        float(re.search(rf"^{name} ([\d.e-]+)", text, re.M)[1]) for name in ("trace", "pipeline")
    )
    # MLIR reports wall time. With one thread, its shares are also those of CPU time.
    shares = map(float, re.findall(r"\( *([\d.]+)%\) +Canonicalizer", text))
    canonicalize = pipeline * sum(shares) / 100
    return trace, canonicalize, pipeline - canonicalize


if __name__ == "__main__":
    if sys.argv[1:2] == ["compile"]:
        BEGIN = time.process_time()
        Compiler.compile = run_timed
        cute.compile(chain, int(sys.argv[2]))
    lengths = [int(length) for length in sys.argv[1:]] or [64, 128, 256]
    print("   N   trace  canonicalize  all other passes, libNVVM and ptxas (CPU seconds)")
    before = growth = None
    for length in lengths:
        trace, canonicalize, others = measured(length)
        growth = canonicalize / before if before else None
        print(
            f"{length:4}  {trace:6.2f}  {canonicalize:12.2f}  {others:6.2f}"
            + (f"   {growth:.1f} times" if growth else ""),
            flush=True,
        )
        before = canonicalize
    shows = growth is not None and growth > 4
    print(
        f"{'reproduced' if shows else 'not reproduced'}: the last step costs"
        f" {growth:.1f} times as much in canonicalize"
    )
    sys.exit(0 if shows else 1)
