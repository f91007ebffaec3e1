# /// script
# requires-python = ">=3.11,<3.16"
# dependencies = ["triton==3.9.0"]
# ///
#
# Triton 3.9.0 compiling sel_dense_block_ptr for sm_90: API removed. It is expected to print:
#
#     Block pointers have been removed in favor of the tensor descriptor API
#
# `uv run sel_dense-block_ptr-d64-sm_90-3.9.0.py` shows it, on Linux and without a GPU; `python` runs it
# where Triton 3.9.0 is installed. Exit code 0: the failure shows; 1: it does not.
import os
import subprocess
import sys
import tempfile

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def _fold(scores, m, s):
    """Fold a tile of scores [H, L] into the running row maximum and sum of exponentials, [H] each.

    At least one column of the tile must be a real key: then the new maximum is finite, and no ∞ - ∞ can arise.
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
def sel_dense_block_ptr(
    Q_ptr, K_ptr, V_ptr, O_ptr, H, L, scale,
    stride_qN, stride_qH, stride_qd, stride_kN, stride_kL, stride_kd,
    stride_vN, stride_vL, stride_vd, stride_oN, stride_oH, stride_od,
    D: tl.constexpr, DV: tl.constexpr,
    BLOCK_H: tl.constexpr, BLOCK_L: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_DV: tl.constexpr,
):
    """Block pointers: the tensor's shape goes into the pointer, and ``boundary_check`` stands for the mask. Deprecated in 3.7, gone in 3.9.

    Padding is zero, which is a score like any other: keys beyond L still have to be taken out of the softmax by hand.
    """
    n = tl.program_id(0).to(tl.int64)
    h0 = tl.program_id(1) * BLOCK_H
    offs_L = tl.arange(0, BLOCK_L)
    # One pointer per tensor, at the first tile; the loops advance copies of it.
    q_first = tl.make_block_ptr(Q_ptr + n * stride_qN, (H, D), (stride_qH, stride_qd), (h0, 0), (BLOCK_H, BLOCK_D), (1, 0))
    k_first = tl.make_block_ptr(K_ptr + n * stride_kN, (L, D), (stride_kL, stride_kd), (0, 0), (BLOCK_L, BLOCK_D), (1, 0))
    v_block = tl.make_block_ptr(V_ptr + n * stride_vN, (L, DV), (stride_vL, stride_vd), (0, 0), (BLOCK_L, BLOCK_DV), (1, 0))
    o_block = tl.make_block_ptr(O_ptr + n * stride_oN, (H, DV), (stride_oH, stride_od), (h0, 0), (BLOCK_H, BLOCK_DV), (1, 0))

    m = tl.full([BLOCK_H], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK_H], tl.float32)
    k_row = k_first
    for l0 in range(0, L, BLOCK_L):
        scores = tl.zeros([BLOCK_H, BLOCK_L], tl.float32)
        q_block = q_first
        k_block = k_row
        for d0 in range(0, D, BLOCK_D):
            q = tl.load(q_block, boundary_check=(0, 1), padding_option="zero")
            k = tl.load(k_block, boundary_check=(0, 1), padding_option="zero")
            scores += tl.dot(q, tl.trans(k))
            q_block = tl.advance(q_block, (0, BLOCK_D))
            k_block = tl.advance(k_block, (0, BLOCK_D))
        scores = tl.where((l0 + offs_L < L)[None, :], scores * scale, float("-inf"))
        m, s = _fold(scores, m, s)
        k_row = tl.advance(k_row, (BLOCK_L, 0))

    acc = tl.zeros([BLOCK_H, BLOCK_DV], tl.float32)
    k_row = k_first
    for l0 in range(0, L, BLOCK_L):
        scores = tl.zeros([BLOCK_H, BLOCK_L], tl.float32)
        q_block = q_first
        k_block = k_row
        for d0 in range(0, D, BLOCK_D):
            q = tl.load(q_block, boundary_check=(0, 1), padding_option="zero")
            k = tl.load(k_block, boundary_check=(0, 1), padding_option="zero")
            scores += tl.dot(q, tl.trans(k))
            q_block = tl.advance(q_block, (0, BLOCK_D))
            k_block = tl.advance(k_block, (0, BLOCK_D))
        scores = tl.where((l0 + offs_L < L)[None, :], scores * scale, float("-inf"))
        p = tl.exp(scores - m[:, None])
        v = tl.load(v_block, boundary_check=(0, 1), padding_option="zero")
        acc += tl.dot(p.to(v.dtype), v)
        k_row = tl.advance(k_row, (BLOCK_L, 0))
        v_block = tl.advance(v_block, (BLOCK_L, 0))

    tl.store(o_block, _normalize(acc, s).to(O_ptr.dtype.element_ty), boundary_check=(0, 1))


EXPECTED = "Block pointers have been removed in favor of the tensor descriptor API"


def compile_kernel():
    source = ASTSource(
        fn=sel_dense_block_ptr,
        signature={
            "Q_ptr": "*fp16", "K_ptr": "*fp16", "V_ptr": "*fp16", "O_ptr": "*fp16", "H": "i32", "L": "i32",
            "scale": "fp32", "stride_qN": "i32", "stride_qH": "i32", "stride_qd": "constexpr",
            "stride_kN": "i32", "stride_kL": "i32", "stride_kd": "constexpr", "stride_vN": "i32",
            "stride_vL": "i32", "stride_vd": "constexpr", "stride_oN": "i32", "stride_oH": "i32",
            "stride_od": "constexpr", "D": "constexpr", "DV": "constexpr", "BLOCK_H": "constexpr",
            "BLOCK_L": "constexpr", "BLOCK_D": "constexpr", "BLOCK_DV": "constexpr",
        },
        constexprs={
            "stride_qd": 1, "stride_kd": 1, "stride_vd": 1, "stride_od": 1, "D": 64, "DV": 64, "BLOCK_H": 16,
            "BLOCK_L": 128, "BLOCK_D": 64, "BLOCK_DV": 64,
        },
        attrs={(index,): [["tt.divisibility", 16]] for index in (0, 1, 2, 3, 7, 8, 10, 11, 13, 14, 16, 17)},
    )
    target = GPUTarget("cuda", 90, 32)
    triton.compile(source, target=target, options={"num_warps": 4, "num_stages": 2})


if __name__ == "__main__":
    if sys.argv[1:] == ["compile"]:
        compile_kernel()
        sys.exit()
    # A child compiles, because a compiler that aborts ends its process. Its own cache is empty, so it does compile.
    with tempfile.TemporaryDirectory() as cache:
        variables = {**os.environ, "TRITON_ALWAYS_COMPILE": "1", "TRITON_CACHE_DIR": cache}
        command = [sys.executable, "-X", "faulthandler", __file__, "compile"]
        child = subprocess.run(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
    shows = child.returncode != 0 and EXPECTED in child.stdout
    print(child.stdout)
    print(f"{'reproduced' if shows else 'not reproduced'}: the compile ended with exit code {child.returncode}")
    sys.exit(0 if shows else 1)
