"""Kernels that fail, each in one way, for whatever release."""

import cutlass
import cutlass.cute as cute
from cutlass._mlir.dialects import llvm
from cutlass.cute.nvgpu import tcgen05, warpgroup
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


@cute.jit
def sliced(a: cute.Tensor, b: cute.Tensor):
    cute.slice_(cute.make_composed_layout(cute.make_swizzle(3, 4, 3), 0, cute.make_layout((10, 2), stride=(2, 1))), (None, 0))
    k_missing(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_printed(a: cute.Tensor, b: cute.Tensor):
    swizzled = cute.make_composed_layout(cute.make_swizzle(3, 3, 3), 0, cute.make_layout(1024))
    cute.printf("{}", SmemAllocator().allocate_tensor(cutlass.Float16, swizzled, 16))


@cute.jit
def printed(a: cute.Tensor, b: cute.Tensor):
    k_printed(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.jit
def wgmma(a: cute.Tensor, b: cute.Tensor):
    source, major = warpgroup.OperandSource.SMEM, warpgroup.OperandMajorMode.K
    warpgroup.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (64, 64, 16), source, major, major)
    k_missing(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_plain(a: cute.Tensor, b: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    b[i] = a[i]


@cute.jit
def plain(a: cute.Tensor, b: cute.Tensor):
    k_plain(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.jit
def count(a: cute.Tensor, b: cute.Tensor):
    k_plain(a).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.jit
def inner(a: cute.Tensor, b: cute.Tensor):
    k_plain(a, 1).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_length(a: cute.Tensor, b: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    values = [cutlass.Int32(0)]
    for j in range(i):
        values = [*values, j]
    b[i] = values[0].to(cutlass.Float16)


@cute.jit
def length(a: cute.Tensor, b: cute.Tensor):
    k_length(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


exec(
    "@cute.kernel\ndef k_typed_in(a: cute.Tensor, b: cute.Tensor):\n    i, _, _ = cute.arch.thread_idx()\n    if i < 2:\n        b[i] = a[i]\n",
    globals(),
)


@cute.jit
def sourceless(a: cute.Tensor, b: cute.Tensor):
    k_typed_in(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_unrolled(a: cute.Tensor, b: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    x = a[i]
    for j in cutlass.range_constexpr(1 << 30):
        x = x * x + a[i]
    b[i] = x


@cute.jit
def unrolled(a: cute.Tensor, b: cute.Tensor):
    k_unrolled(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.jit
def gone(a: cute.Tensor, b: cute.Tensor):
    cute.arch.ProxyKind.async_shared
    k_plain(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.jit
def notyet(a: cute.Tensor, b: cute.Tensor):
    cute.sym_int
    k_plain(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.jit
def method(a: cute.Tensor, b: cute.Tensor):
    a.no_such_method()
    k_plain(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_raising(a: cute.Tensor, b: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    if i < 4:
        raise ValueError("too small")
    b[i] = a[i]


@cute.jit
def raising(a: cute.Tensor, b: cute.Tensor):
    k_raising(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_told(a: cute.Tensor, b: cute.Tensor):
    raise ValueError("a kernel for rows of 64")


@cute.jit
def told(a: cute.Tensor, b: cute.Tensor):
    k_told(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_listed(a: cute.Tensor, b: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    values = [1.0, 2.0]
    b[i] = cutlass.Float16(values[i])


@cute.jit
def listed(a: cute.Tensor, b: cute.Tensor):
    k_listed(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_truth(a: cute.Tensor, b: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    b[i] = a[i] if (True if bool(i < 4) else False) else b[i]


@cute.jit
def truth(a: cute.Tensor, b: cute.Tensor):
    k_truth(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_stored(a: cute.Tensor, b: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    b[i] = a


@cute.jit
def stored(a: cute.Tensor, b: cute.Tensor):
    k_stored(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_ranked(a: cute.Tensor, b: cute.Tensor):
    b[0, 0, 0] = a[0]


@cute.jit
def ranked(a: cute.Tensor, b: cute.Tensor):
    k_ranked(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_element(a: cute.Tensor, b: cute.Tensor):
    atom = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), cutlass.Float16)
    cute.copy(atom, registers(4, cutlass.Float16), registers(4, cutlass.Float32))


@cute.jit
def element(a: cute.Tensor, b: cute.Tensor):
    k_element(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def k_tuples(a: cute.Tensor, b: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    x = None
    if i < 4:
        x = cutlass.Int32(1)
    b[i] = a[i]


@cute.jit
def tuples(a: cute.Tensor, b: cute.Tensor):
    k_tuples(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.jit
def blocks(a: cute.Tensor, b: cute.Tensor):
    k_plain(a, b).launch(grid=(1, 1), block=(32, 1, 1))


@cute.jit
def unlaunched(a: cute.Tensor, b: cute.Tensor):
    k_plain(a, b)


@cute.kernel
def k_nested(a: cute.Tensor, b: cute.Tensor):
    k_plain(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.jit
def nested(a: cute.Tensor, b: cute.Tensor):
    k_nested(a, b).launch(grid=(1, 1, 1), block=(32, 1, 1))
