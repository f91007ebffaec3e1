# /// script
# requires-python = ">=3.8,<3.13"
# dependencies = ["triton==3.0.0", "setuptools<81"]
# ///
#
# Triton 3.0.0 compiling sel_varlen_as_written for sm_90: a block where MLIR wants a scalar. It is expected to say:
#
#     only integers and floats have a bitwidth
#
# `uv run sel_varlen-as_written-few-sm_90-3.0.0.py` shows it, on Linux and without a GPU; `python` runs it
# where Triton 3.0.0 is installed. Exit code 0: the failure shows; 1: it does not.
import os
import subprocess
import sys
import tempfile

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def _sequence(cu_seqlens_ptr, seq_ptr, r):
    """First packed row (64 bits) and length (32 bits) of the sequence that query row r looks into."""
    b = tl.load(seq_ptr + r)
    first = tl.load(cu_seqlens_ptr + b)
    length = tl.load(cu_seqlens_ptr + b + 1) - first
    return first.to(tl.int64), length.to(tl.int32)


@triton.jit
def _owned(cu_ranges_ptr, r, NUM_RANGES: tl.constexpr):
    """Bounds of the ranges of query row r: computed where all rows have NUM_RANGES of them, loaded where NUM_RANGES is 0."""
    if NUM_RANGES > 0:
        first = r * NUM_RANGES
        last = first + NUM_RANGES
    else:
        first = tl.load(cu_ranges_ptr + r)
        last = tl.load(cu_ranges_ptr + r + 1)
    return first, last


@triton.jit
def _fold(scores, m, s):
    """Fold a tile of scores [H, L] into the running row maximum and sum of exponentials, [H] each.

    At least one column of the tile must be a selected key: then the new maximum is finite, and no ∞ - ∞ can arise.
    """
    m_new = tl.maximum(m, tl.max(scores, axis=1))
    s = s * tl.exp(m - m_new) + tl.sum(tl.exp(scores - m_new[:, None]), axis=1)
    return m_new, s


@triton.jit
def _normalize(acc, s):
    """Divide the accumulated output by the row sums.

    The largest score contributes exp(0), so a sum below 1 is that of a row with no key at all, whose output is to be 0, not 0/0.
    """
    return acc / tl.maximum(s, 1.0)[:, None]


@triton.jit
def sel_varlen_as_written(
    Q_ptr,
    K_ptr,
    V_ptr,
    O_ptr,
    cu_seqlens_ptr,
    seq_ptr,
    cu_ranges_ptr,
    ranges_ptr,
    H,
    scale,
    stride_qR,
    stride_qH,
    stride_qd,
    stride_kL,
    stride_kd,
    stride_vL,
    stride_vd,
    stride_oR,
    stride_oH,
    stride_od,
    D: tl.constexpr,
    DV: tl.constexpr,
    NUM_RANGES: tl.constexpr,
    BLOCK_H: tl.constexpr,
    BLOCK_L: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_DV: tl.constexpr,
):
    """The ends of a range are loaded through ``tl.arange(0, 1)``, so they are blocks of shape [1], and one of them bounds a loop.

    A loop's bounds must be scalars. Triton's front end does not check: it asks a block type for its width in bits, and LLVM aborts the
    process. The rest is sound: in Triton's interpreter it computes the right thing. To mend it, load from scalar pointers.
    """
    r = tl.program_id(0).to(tl.int64)
    offs_1 = tl.arange(0, 1)
    offs_H = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    offs_L = tl.arange(0, BLOCK_L)
    offs_D = tl.arange(0, BLOCK_D)
    offs_V = tl.arange(0, BLOCK_DV)
    row, length = _sequence(cu_seqlens_ptr, seq_ptr, r)
    first, last = _owned(cu_ranges_ptr, r, NUM_RANGES)
    K_ptr += row * stride_kL
    V_ptr += row * stride_vL

    q_ptrs = Q_ptr + r * stride_qR + offs_H[:, None] * stride_qH + offs_D[None, :] * stride_qd
    q = tl.load(q_ptrs, mask=(offs_H < H)[:, None] & (offs_D < D)[None, :], other=0.0)

    m = tl.full([BLOCK_H], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK_H], tl.float32)
    for i in range(first, last):
        start = tl.maximum(0, tl.minimum(tl.load(ranges_ptr + 2 * i + offs_1), length))
        end = tl.maximum(0, tl.minimum(tl.load(ranges_ptr + 2 * i + 1 + offs_1), length))
        L = end - start
        for l0 in range(0, L, BLOCK_L):
            k_ptrs = K_ptr + (start + l0 + offs_L)[:, None] * stride_kL + offs_D[None, :] * stride_kd
            k = tl.load(k_ptrs, mask=(l0 + offs_L < L)[:, None] & (offs_D < D)[None, :], other=0.0)
            scores = tl.where((l0 + offs_L < L)[None, :], tl.dot(q, tl.trans(k)) * scale, float("-inf"))
            m, s = _fold(scores, m, s)

    acc = tl.zeros([BLOCK_H, BLOCK_DV], tl.float32)
    for i in range(first, last):
        start = tl.maximum(0, tl.minimum(tl.load(ranges_ptr + 2 * i + offs_1), length))
        end = tl.maximum(0, tl.minimum(tl.load(ranges_ptr + 2 * i + 1 + offs_1), length))
        L = end - start
        for l0 in range(0, L, BLOCK_L):
            k_ptrs = K_ptr + (start + l0 + offs_L)[:, None] * stride_kL + offs_D[None, :] * stride_kd
            v_ptrs = V_ptr + (start + l0 + offs_L)[:, None] * stride_vL + offs_V[None, :] * stride_vd
            k = tl.load(k_ptrs, mask=(l0 + offs_L < L)[:, None] & (offs_D < D)[None, :], other=0.0)
            v = tl.load(v_ptrs, mask=(l0 + offs_L < L)[:, None] & (offs_V < DV)[None, :], other=0.0)
            scores = tl.where((l0 + offs_L < L)[None, :], tl.dot(q, tl.trans(k)) * scale, float("-inf"))
            p = tl.exp(scores - m[:, None])
            acc += tl.dot(p.to(v.dtype), v)

    o_ptrs = O_ptr + r * stride_oR + offs_H[:, None] * stride_oH + offs_V[None, :] * stride_od
    tl.store(o_ptrs, _normalize(acc, s).to(O_ptr.dtype.element_ty), mask=(offs_H < H)[:, None] & (offs_V < DV)[None, :])


EXPECTED = "only integers and floats have a bitwidth"


def compile_kernel():
    from triton.compiler.compiler import AttrsDescriptor

    source = ASTSource(
        fn=sel_varlen_as_written,
        signature={
            "Q_ptr": "*fp16",
            "K_ptr": "*fp16",
            "V_ptr": "*fp16",
            "O_ptr": "*fp16",
            "cu_seqlens_ptr": "*i32",
            "seq_ptr": "*i32",
            "cu_ranges_ptr": "*i32",
            "ranges_ptr": "*i32",
            "H": "i32",
            "scale": "fp32",
            "stride_qR": "i32",
            "stride_qH": "i32",
            "stride_kL": "i32",
            "stride_vL": "i32",
            "stride_oR": "i32",
            "stride_oH": "i32",
        },
        constants={
            "stride_qd": 1,
            "stride_kd": 1,
            "stride_vd": 1,
            "stride_od": 1,
            "D": 64,
            "DV": 64,
            "NUM_RANGES": 2,
            "BLOCK_H": 16,
            "BLOCK_L": 128,
            "BLOCK_D": 64,
            "BLOCK_DV": 64,
        },
        attrs=AttrsDescriptor(divisible_by_16=(0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 13, 15, 17, 18), equal_to_1=(12, 14, 16, 19)),
    )
    target = GPUTarget("cuda", 90, 32)
    triton.compile(source, target=target, options={"num_warps": 4, "num_stages": 2})


if __name__ == "__main__":
    if sys.argv[1:] == ["compile"]:
        compile_kernel()
        sys.exit()
    # In a child, since a compiler that aborts takes its process with it; with a cache of its own, so that it does compile.
    with tempfile.TemporaryDirectory() as cache:
        variables = {**os.environ, "TRITON_ALWAYS_COMPILE": "1", "TRITON_CACHE_DIR": cache}
        command = [sys.executable, "-X", "faulthandler", __file__, "compile"]
        child = subprocess.run(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
    shows = child.returncode != 0 and EXPECTED in child.stdout
    print(child.stdout)
    print(f"{'reproduced' if shows else 'not reproduced'}: the compile ended with exit code {child.returncode}")
    sys.exit(0 if shows else 1)
