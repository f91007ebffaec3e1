"""Kernels that fail, each in one way, for whatever release."""

import cutlass
import cutlass.cute as cute
from cutlass._mlir.dialects import llvm
from cutlass.cute.nvgpu import tcgen05
from cutlass.utils import SmemAllocator

registers = cute.make_rmem_tensor if hasattr(cute, "make_rmem_tensor") else cute.make_fragment


@cute.kernel
def k_shape(a: cute.Tensor, b: cute.Tensor):
    x, y = registers((4, 4), cutlass.Float16), registers((4, 2), cutlass.Float16)
    atom = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), cutlass.Float16)
    cute.copy(atom, x, y)


@cute.jit
def shape(a: cute.Tensor, b: cute.Tensor):
    k_shape(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_divide(a: cute.Tensor, b: cute.Tensor):
    cute.local_tile(a, (4, 4, 4), (0, 0, 0))


@cute.jit
def divide(a: cute.Tensor, b: cute.Tensor):
    k_divide(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.jit
def tcgen(a: cute.Tensor, b: cute.Tensor):
    major = tcgen05.OperandMajorMode.K
    one, source = tcgen05.CtaGroup.ONE, tcgen05.OperandSource.SMEM
    tcgen05.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (128, 64, 16), one, source, major, major)
    k_shape(a, b).launch(grid=(1, 1, 1), block=(128, 1, 1))


@cute.kernel
def k_name(a: cute.Tensor, b: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    b[i] = a[i] + no_such_name


@cute.jit
def name(a: cute.Tensor, b: cute.Tensor):
    k_name(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_branch(a: cute.Tensor, b: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    if i < 4:
        value = a[i]
    b[i] = value


@cute.jit
def branch(a: cute.Tensor, b: cute.Tensor):
    k_branch(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_early(a: cute.Tensor, b: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    if i < 4:
        return
    b[i] = a[i]


@cute.jit
def early(a: cute.Tensor, b: cute.Tensor):
    k_early(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_brk(a: cute.Tensor, b: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    for j in range(i):
        if j > 4:
            break
    b[i] = a[i]


@cute.jit
def brk(a: cute.Tensor, b: cute.Tensor):
    k_brk(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_carried(a: cute.Tensor, b: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    x = cutlass.Int32(0)
    for j in range(i):
        x = x + cutlass.Float32(1.5)
    b[i] = x.to(cutlass.Float16)


@cute.jit
def carried(a: cute.Tensor, b: cute.Tensor):
    k_carried(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_carriedif(a: cute.Tensor, b: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    x = cutlass.Int32(0)
    if i < 3:
        x = cutlass.Float32(1.5)
    b[i] = x.to(cutlass.Float16)


@cute.jit
def carriedif(a: cute.Tensor, b: cute.Tensor):
    k_carriedif(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_constant(a: cute.Tensor, b: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    for j in cutlass.range_constexpr(i):
        b[j] = a[j]


@cute.jit
def constant(a: cute.Tensor, b: cute.Tensor):
    k_constant(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_constif(a: cute.Tensor, b: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    if cutlass.const_expr(i < 3):
        b[i] = a[i]


@cute.jit
def constif(a: cute.Tensor, b: cute.Tensor):
    k_constif(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_missing(a: cute.Tensor, b: cute.Tensor):
    cute.no_such_function(a)


@cute.jit
def missing(a: cute.Tensor, b: cute.Tensor):
    k_missing(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.jit
def changed(a: cute.Tensor, b: cute.Tensor):
    cute.make_layout((4, 4), strides=(1, 4))
    k_missing(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.jit
def lacking(a: cute.Tensor, b: cute.Tensor):
    cute.make_identity_tensor()
    k_missing(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.jit
def asserted(a: cute.Tensor, b: cute.Tensor):
    assert cute.rank(a) == 3, "a has to have three modes"
    k_missing(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_big(a: cute.Tensor, b: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    s = SmemAllocator().allocate_tensor(cutlass.Float32, cute.make_layout(100000), 16)
    s[i] = cutlass.Float32(1.0)
    cute.arch.barrier()
    b[i] = s[i + 1].to(cutlass.Float16)


@cute.jit
def big(a: cute.Tensor, b: cute.Tensor):
    k_big(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1), smem=400000)


@cute.kernel
def k_ptx(a: cute.Tensor, b: cute.Tensor):
    llvm.inline_asm(None, [], "no_such_instruction;", "", has_side_effects=True, is_align_stack=False)


@cute.jit
def ptx(a: cute.Tensor, b: cute.Tensor):
    k_ptx(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_align(a: cute.Tensor, b: cute.Tensor):
    atom = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), cutlass.Float16, num_bits_per_copy=128)
    i, _, _ = cute.arch.thread_idx()
    x = cute.make_tensor(a.iterator + 1, cute.make_layout(8))
    y = cute.make_tensor(b.iterator + 1, cute.make_layout(8))
    cute.copy(atom, x, y)


@cute.jit
def align(a: cute.Tensor, b: cute.Tensor):
    k_align(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_alloc(a: cute.Tensor, b: cute.Tensor):
    p = SmemAllocator().allocate_array(cutlass.Int32)
    cute.arch.alloc_tmem(128, p)


@cute.jit
def alloc(a: cute.Tensor, b: cute.Tensor):
    k_alloc(a, b).launch(grid=(1, 1, 1), block=(128, 1, 1), smem=16)


@cute.jit
def nothing(a: cute.Tensor, b: cute.Tensor):
    pass


@cute.kernel
def k_range(a: cute.Tensor, b: cute.Tensor, n: cutlass.Constexpr):
    i, _, _ = cute.arch.thread_idx()
    b[i] = a[i]


@cute.jit
def given(a: cute.Tensor, b: cute.Tensor, n: cutlass.Constexpr):
    k_range(a, b, n).launch(grid=(1, 1, 1), block=(32, 1, 1))
