# /// script
# requires-python = ">=3.10"
# dependencies = ["nvidia-cutlass-dsl==4.6.0"]
# ///
#
# CuTe DSL 4.6.0 to 4.7.1 spill registers of an attention kernel that 4.3 to 4.5.3 compile without a
# spill, with the same ptxas. Since 4.6.0 the pass `strength-reduction` runs a second time, after
# `convert-cute-to-core`. It turns `index % 2` and `index // 2 & 1` into two more values that the
# loop over the keys carries.
#
# `uv run strength-reduction-spills.py` shows it, on Linux and without a GPU or a driver, in about
# ten seconds; `python` runs it where a release from 4.3 on is installed. In 4.6 and 4.7 it compiles
# three times: as the release does, pass by pass, and pass by pass without the second
# `strength-reduction`. Exit code 0: the first two spill, and the third does not; 1: that is not so.
# Other releases compile once. Exit code 0: it spills; 1: it does not.
import os
import re
import subprocess
import sys
import tempfile
from importlib.metadata import version

import cutlass
import cutlass.cute as cute
from cutlass.base_dsl.compiler import Compiler
from cutlass.cute import runtime
from cutlass.cute.nvgpu import cpasync, make_tiled_tma_atom_A, make_tiled_tma_atom_B, tcgen05
from cutlass.utils import SmemAllocator, blackwell_helpers

RELEASE = version("nvidia-cutlass-dsl")
ROWS, KEYS, HEAD = 128, 128, 64
STAGES, THREADS, CHUNK = 2, 128, 32
S_AT, P_AT, O_AT, COLUMNS = 0, 128, 256, 512  # columns of tensor memory
LANE = 1 << 16


@cute.jit
def attention(
    q: cute.Tensor, k: cute.Tensor, v: cute.Tensor, o: cute.Tensor, scale: cutlass.Float32
):
    """O = softmax(Q · Kᵀ · scale) · V, with P in tensor memory. Four warps do everything."""
    kind = q.element_type
    one, major = tcgen05.CtaGroup.ONE, tcgen05.OperandMajorMode
    smem, tmem = tcgen05.OperandSource.SMEM, tcgen05.OperandSource.TMEM
    qk = cute.make_tiled_mma(
        tcgen05.MmaF16BF16Op(
            kind, cutlass.Float32, (ROWS, KEYS, 16), one, smem, major.K, major.K
        )
    )
    pv = cute.make_tiled_mma(
        tcgen05.MmaF16BF16Op(
            kind, cutlass.Float32, (ROWS, HEAD, 16), one, tmem, major.K, major.MN
        )
    )
    qk_tile, pv_tile = (ROWS, KEYS, HEAD), (ROWS, HEAD, KEYS)
    layout_q = blackwell_helpers.make_smem_layout_a(qk, qk_tile, kind, STAGES)
    layout_k = blackwell_helpers.make_smem_layout_b(qk, qk_tile, kind, STAGES)
    layout_v = blackwell_helpers.make_smem_layout_b(pv, pv_tile, kind, 1)
    first = (None, None, None, 0)
    load = cpasync.CopyBulkTensorTileG2SOp(one)
    q_rows = cute.make_tensor(q.iterator, cute.select(q.layout, mode=[1, 2, 0]))
    k_rows = cute.make_tensor(k.iterator, cute.select(k.layout, mode=[1, 2, 0]))
    v_columns = cute.make_tensor(v.iterator, cute.select(v.layout, mode=[2, 1, 0]))
    load_q, tma_q = make_tiled_tma_atom_A(load, q_rows, cute.slice_(layout_q, first), qk_tile, qk)
    load_k, tma_k = make_tiled_tma_atom_B(load, k_rows, cute.slice_(layout_k, first), qk_tile, qk)
    load_v, tma_v = make_tiled_tma_atom_B(
        load, v_columns, cute.slice_(layout_v, first), pv_tile, pv
    )
    kernel(
        qk, pv, load_q, load_k, load_v, tma_q, tma_k, tma_v, o, scale, layout_q, layout_k, layout_v
    ).launch(
        grid=(q.shape[1] // ROWS, 1, q.shape[0]),
        block=(THREADS, 1, 1),
        smem=2 * (STAGES * (ROWS + KEYS) * HEAD + HEAD * KEYS) + 1024,
        max_number_threads=[320, 1, 1],  # which leaves 168 registers a thread
    )


@cute.kernel
def kernel(
    qk: cute.TiledMma,
    pv: cute.TiledMma,
    load_q: cute.CopyAtom,
    load_k: cute.CopyAtom,
    load_v: cute.CopyAtom,
    tma_q: cute.Tensor,
    tma_k: cute.Tensor,
    tma_v: cute.Tensor,
    o: cute.Tensor,
    scale: cutlass.Float32,
    layout_q: cute.ComposedLayout,
    layout_k: cute.ComposedLayout,
    layout_v: cute.ComposedLayout,
):
    thread, _, _ = cute.arch.thread_idx()
    block, _, head = cute.arch.block_idx()
    warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    kind = o.element_type

    memory = SmemAllocator()
    tiles_q = memory.allocate_tensor(kind, layout_q.outer, 1024, swizzle=layout_q.inner)
    tiles_k = memory.allocate_tensor(kind, layout_k.outer, 1024, swizzle=layout_k.inner)
    tiles_v = memory.allocate_tensor(kind, layout_v.outer, 1024, swizzle=layout_v.inner)
    loaded = memory.allocate_array(cutlass.Int64, STAGES)
    spent = memory.allocate_array(cutlass.Int64, STAGES)
    values = memory.allocate_array(cutlass.Int64)
    scored = memory.allocate_array(cutlass.Int64)
    weighted = memory.allocate_array(cutlass.Int64)
    summed = memory.allocate_array(cutlass.Int64)
    held = memory.allocate_array(cutlass.Int32)
    if warp == 0:
        cute.arch.alloc_tmem(COLUMNS, held)
        with cute.arch.elect_one():
            for stage in cutlass.range_constexpr(STAGES):
                cute.arch.mbarrier_init(loaded + stage, 1)
                cute.arch.mbarrier_init(spent + stage, 1)
            cute.arch.mbarrier_init(values, 1)
            cute.arch.mbarrier_init(scored, 1)
            cute.arch.mbarrier_init(weighted, THREADS)
            cute.arch.mbarrier_init(summed, 1)
    cute.arch.mbarrier_init_fence()
    cute.arch.barrier()
    address = cute.arch.retrieve_tmem_ptr(
        cutlass.Float32, alignment=16, ptr_to_buffer_holding_addr=held
    )
    scores = cute.make_tensor(
        address + S_AT, qk.make_fragment_C(qk.partition_shape_C((ROWS, KEYS))).layout
    )
    operand_p = pv.make_fragment_A(pv.partition_shape_A((ROWS, KEYS)))
    operand_p = cute.make_tensor(
        cute.recast_ptr(address + P_AT, dtype=kind), operand_p.layout
    )
    sums = cute.make_tensor(
        address + O_AT, pv.make_fragment_C(pv.partition_shape_C((ROWS, HEAD))).layout
    )

    own_qk, own_pv = qk.get_slice(0), pv.get_slice(0)
    from_q = own_qk.partition_A(cute.local_tile(tma_q, (ROWS, HEAD), (block, None, head)))
    from_k = own_qk.partition_B(cute.local_tile(tma_k, (KEYS, HEAD), (None, None, head)))
    from_v = own_pv.partition_B(cute.local_tile(tma_v, (HEAD, KEYS), (None, None, head)))
    to_q, from_q = parted(load_q, tiles_q, from_q)
    to_k, from_k = parted(load_k, tiles_k, from_k)
    to_v, from_v = parted(load_v, tiles_v, from_v)
    operand_q, operand_k = qk.make_fragment_A(tiles_q), qk.make_fragment_B(tiles_k)
    operand_v = pv.make_fragment_B(tiles_v)
    blocks = cute.size(tma_k, mode=[0]) // KEYS
    highest, total = -cutlass.Float32.inf, cutlass.Float32(0.0)
    for index in cutlass.range(blocks, unroll=1):
        if warp == 0:
            cute.arch.mbarrier_wait(summed, (index & 1) ^ 1)
            with cute.arch.elect_one():
                cute.arch.mbarrier_arrive_and_expect_tx(values, 2 * HEAD * KEYS)
            cute.copy(load_v, from_v[None, 0, index], to_v[None, 0], tma_bar_ptr=values)
            stage, turn = index % STAGES, (index // STAGES) & 1
            cute.arch.mbarrier_wait(spent + stage, turn ^ 1)
            with cute.arch.elect_one():
                cute.arch.mbarrier_arrive_and_expect_tx(loaded + stage, 2 * (ROWS + KEYS) * HEAD)
            cute.copy(load_q, from_q[None, 0], to_q[None, stage], tma_bar_ptr=loaded + stage)
            cute.copy(load_k, from_k[None, index, 0], to_k[None, stage], tma_bar_ptr=loaded + stage)
            cute.arch.mbarrier_wait(loaded + stage, turn)
            for step in range(HEAD // 16):
                qk.set(tcgen05.Field.ACCUMULATE, step > 0)
                cute.gemm(
                    qk,
                    scores,
                    operand_q[None, None, step, stage],
                    operand_k[None, None, step, stage],
                    scores,
                )
            with cute.arch.elect_one():
                tcgen05.commit(spent + stage)
            with cute.arch.elect_one():
                tcgen05.commit(scored)

        cute.arch.mbarrier_wait(scored, index & 1)
        read, _, row, weights = registers(columns_at(address, S_AT, KEYS), thread)
        cute.copy(read, row, weights)
        cute.arch.fence_view_async_tmem_load()
        now = highest
        for key in cutlass.range_constexpr(KEYS):
            now = cute.arch.fmax(now, weights[key])
        factor = cute.arch.exp2((highest - now) * scale)
        total = total * factor
        for key in cutlass.range_constexpr(KEYS):
            weights[key] = cute.arch.exp2(weights[key] * scale - now * scale)
            total = total + weights[key]
        highest = now
        cute.arch.mbarrier_wait(summed, (index & 1) ^ 1)
        _, write, row, packed = registers(columns_at(address, P_AT, KEYS // 2), thread)
        narrow = cute.recast_tensor(packed, kind)
        narrow.store(weights.load().to(kind).reshape(narrow.shape))
        cute.copy(write, packed, row)
        for chunk in cutlass.range_constexpr(HEAD // CHUNK):
            read, write, row, part = registers(
                columns_at(address, O_AT + chunk * CHUNK, CHUNK), thread
            )
            cute.copy(read, row, part)
            cute.arch.fence_view_async_tmem_load()
            part.store(part.load() * factor)
            cute.copy(write, part, row)
        cute.arch.fence_view_async_tmem_store()
        cute.arch.mbarrier_arrive(weighted)

        if warp == 0:
            cute.arch.mbarrier_wait(values, index & 1)
            cute.arch.mbarrier_wait(weighted, index & 1)
            for step in range(KEYS // 16):
                pv.set(tcgen05.Field.ACCUMULATE, index > 0 if step == 0 else True)
                cute.gemm(
                    pv,
                    sums,
                    operand_p[None, None, step],
                    operand_v[None, None, step, 0],
                    sums,
                )
            with cute.arch.elect_one():
                tcgen05.commit(summed)

    cute.arch.mbarrier_wait(summed, (blocks - 1) & 1)
    target = cute.local_tile(o[head, None, None], (ROWS, HEAD), (block, 0))[thread, None]
    for chunk in cutlass.range_constexpr(HEAD // CHUNK):
        read, _, row, part = registers(columns_at(address, O_AT + chunk * CHUNK, CHUNK), thread)
        cute.copy(read, row, part)
        cute.arch.fence_view_async_tmem_load()
        result = cute.make_rmem_tensor(CHUNK, kind)
        result.store((part.load() * (1.0 / total)).to(kind).reshape(result.shape))
        cute.autovec_copy(result, cute.local_tile(target, (CHUNK,), (chunk,)))
    cute.arch.barrier()
    if warp == 0:
        cute.arch.relinquish_tmem_alloc_permit()
        cute.arch.dealloc_tmem(address, COLUMNS)


def parted(load, tiles, source):
    one = cute.make_layout(1)
    return cpasync.tma_partition(
        load, 0, one, cute.group_modes(tiles, 0, 3), cute.group_modes(source, 0, 3)
    )


def columns_at(address, begin, count):
    return cute.make_tensor(address + begin, cute.make_layout((ROWS, count), stride=(LANE, 1)))


def registers(table, thread):
    """Copies between a row of tensor memory and registers; that row; registers for it."""
    kind = cutlass.Float32
    read = cute.make_copy_atom(
        tcgen05.Ld32x32bOp(tcgen05.Repetition.x32, tcgen05.Pack.NONE), kind
    )
    write = cute.make_copy_atom(
        tcgen05.St32x32bOp(tcgen05.Repetition.x32, tcgen05.Unpack.NONE), kind
    )
    read = tcgen05.make_tmem_copy(read, table).get_slice(thread)
    write = tcgen05.make_tmem_copy(write, table).get_slice(thread)
    shape = read.partition_D(cute.make_identity_tensor(table.shape)).shape
    return read, write, read.partition_S(table), cute.make_rmem_tensor(shape, kind)


# --- how it is compiled, and what is read in the cubin --------------------------------------------

FLOORDIV = re.compile(r"^ *(%\S+) = arith\.floordivsi (%\S+), (%\S+) : (\S+)", re.MULTILINE)


def expanded(division):
    """MLIR's own expansion of a division that rounds down: what the pass arith-expand makes."""
    result, a, b, kind = division.groups()
    v = result.replace("%", "%x")
    return f"""
{v}q = arith.divsi {a}, {b} : {kind}
{v}m = arith.muli {v}q, {b} : {kind}
{v}r = arith.cmpi ne, {a}, {v}m : {kind}
{v}0 = arith.constant 0 : {kind}
{v}a = arith.cmpi slt, {a}, {v}0 : {kind}
{v}b = arith.cmpi slt, {b}, {v}0 : {kind}
{v}s = arith.cmpi ne, {v}a, {v}b : i1
{v}d = arith.andi {v}r, {v}s : i1
{v}1 = arith.constant -1 : {kind}
{v}l = arith.addi {v}q, {v}1 : {kind}
{result} = arith.select {v}d, {v}l, {v}q : {kind}"""


def passes_of(pipeline, manager):
    """The passes of a pipeline, spelled out."""
    text = str(manager.parse(pipeline))
    text = text[text.index("(") + 1 : text.rindex(")")]
    passes, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "({[") - (letter in ")}]")
        if letter == "," and depth == 0:
            passes.append(text[begin:at].strip())
            begin = at + 1
    return [*passes, text[begin:].strip()]


def run_singly(module, pipeline, left_out):
    """Run the passes one by one. Some are not registered by a name. Of those only arith-expand
    changes this kernel, and it is done on the text.
    """
    from cutlass._mlir.passmanager import PassManager

    with module.context:
        module.context.enable_multithreading(False)
        count = 0
        for each in passes_of(pipeline, PassManager):
            if each.startswith("arith-expand"):
                module = type(module).parse(FLOORDIV.sub(expanded, str(module)), module.context)
                continue
            count += each == "strength-reduction"
            if each == "strength-reduction" and count == left_out:
                continue
            try:
                one = PassManager.parse(f"builtin.module({each})")
            except Exception:
                continue
            one.enable_verifier(False)
            one.run(module.operation)
    return module


def facts_of(module):
    """Registers a thread, and bytes of its stack: EIATTR_REGCOUNT and EIATTR_FRAME_SIZE."""
    quoted = re.search(r'"((?:P\\EDU\\BA|\\7FELF)(?:[^"\\]|\\.)*)"', str(module))[1]
    cubin = re.sub(
        rb"\\([0-9A-Fa-f]{2}|\\)",
        lambda byte: b"\\" if byte[1] == b"\\" else bytes([int(byte[1], 16)]),
        quoted.encode("utf-8", "surrogateescape"),
    )
    found = []
    for kind in (rb"\x2f", rb"\x11"):
        numbers = re.findall(rb"\x04" + kind + rb"\x08\0.{4}(.{4})", cubin, re.DOTALL)
        found.append(max(int.from_bytes(number, "little") for number in numbers))
    return found


def compile_in(how):
    """Compile in this process as ``how`` says, print what came of it, and end."""
    release = Compiler.compile

    def compile_and_end(self, module, pipeline, *rest, **options):
        if how == "release":
            release(self, module, pipeline, *rest, **options)
        else:
            module = run_singly(module, pipeline, left_out=2 if how == "without" else 0)
        os.write(1, b"\nfacts %d %d\n" % tuple(facts_of(module)))
        os._exit(0)

    Compiler.compile = compile_and_end
    heads = cute.sym_int()
    queries, keys = cute.sym_int(divisibility=128), cute.sym_int(divisibility=128)

    def tensor(rows):
        shape, order = (heads, rows, HEAD), (2, 1, 0)
        return runtime.make_fake_compact_tensor(
            cutlass.Float16, shape, stride_order=order, assumed_align=16
        )

    q, k, v, o = tensor(queries), tensor(keys), tensor(keys), tensor(queries)
    cute.compile(attention, q, k, v, o, cutlass.Float32(1.0))


def compiled(how):
    """Compile in a process of its own; the registers and the bytes of stack."""
    with tempfile.TemporaryDirectory() as cache:
        variables = {**os.environ, "CUTE_DSL_ARCH": "sm_100a", "CUTE_DSL_CACHE_DIR": cache}
        variables["CUTE_DSL_DISABLE_FILE_CACHING"] = "1"
        command = [sys.executable, "-W", "ignore", __file__, how]
        child = subprocess.run(
            command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    facts = re.search(r"^facts (\d+) (\d+)$", child.stdout, re.MULTILINE)
    if facts is None:
        sys.exit(f"{child.stdout}\nnot reproduced: it did not compile")
    return int(facts[1]), int(facts[2])


if __name__ == "__main__":
    if sys.argv[1:]:
        compile_in(sys.argv[1])
    ways = {
        "release": f"as {RELEASE} compiles it",
        "singly": "pass by pass",
        "without": "pass by pass, without the second strength-reduction",
    }
    stacks = {}
    for how, title in ways.items():
        if how == "release" or RELEASE.startswith(("4.6.", "4.7.")):
            used, stacks[how] = compiled(how)
            print(f"{title:52}  {used:3} registers, {stacks[how]:3} bytes of stack", flush=True)
    shows = stacks["release"] > 0
    if len(stacks) > 1:
        shows = stacks["release"] == stacks["singly"] > stacks["without"] == 0
    print("reproduced" if shows else "not reproduced")
    sys.exit(0 if shows else 1)
