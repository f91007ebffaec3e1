# /// script
# requires-python = ">=3.11,<3.16"
# dependencies = ["triton==3.9.0"]
# ///
#
# Triton 3.9.0 compiling sel_dense_as_written for sm_90: shapes do not fit. It is expected to print:
#
#     Cannot make_shape_compatible: incompatible dimensions at index 1: 128 and 64
#
# `uv run sel_dense-as_written-d64-sm_90-3.9.0.py` shows it, on Linux and without a GPU; `python` runs it
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
def _normalize(acc, s):
    """Divide the accumulated output by the row sums.

    The largest score contributes exp(0), so a sum below 1 is that of a row with no key at all, whose output is to be 0, not 0/0.
    """
    return acc / tl.maximum(s, 1.0)[:, None]


@triton.jit
def sel_dense_as_written(
    Q_ptr, K_ptr, V_ptr, O_ptr, H, L, scale,
    stride_qN, stride_qH, stride_qd, stride_kN, stride_kL, stride_kd,
    stride_vN, stride_vL, stride_vd, stride_oN, stride_oH, stride_od,
    D: tl.constexpr, DV: tl.constexpr,
    BLOCK_H: tl.constexpr, BLOCK_L: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_DV: tl.constexpr,
):
    """The loads of K and V lack ``[:, None]`` on their row term, although their masks have it.

    ``(l0 + offs_L) * stride_kL`` is [BLOCK_L]; added to [1, BLOCK_D] it is taken for a row, [1, BLOCK_L], which is of another length.
    Where BLOCK_L equals BLOCK_D it would even compile, and read the diagonal neighbours of what was meant.
    """
    n = tl.program_id(0).to(tl.int64)
    Q_ptr += n * stride_qN
    K_ptr += n * stride_kN
    V_ptr += n * stride_vN
    O_ptr += n * stride_oN
    offs_H = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    offs_L = tl.arange(0, BLOCK_L)
    offs_D = tl.arange(0, BLOCK_D)
    offs_V = tl.arange(0, BLOCK_DV)

    m = tl.full([BLOCK_H], float("-inf"), tl.float32)
    s = tl.zeros([BLOCK_H], tl.float32)
    for l0 in range(0, L, BLOCK_L):
        scores = tl.zeros([BLOCK_H, BLOCK_L], tl.float32)
        for d0 in range(0, D, BLOCK_D):
            k = tl.load(
                K_ptr + (l0 + offs_L) * stride_kL + (d0 + offs_D)[None, :] * stride_kd,
                mask=(l0 + offs_L < L)[:, None] & (d0 + offs_D < D)[None, :],
                other=0.0,
            )
            q = tl.load(
                Q_ptr + offs_H[:, None] * stride_qH + (d0 + offs_D)[None, :] * stride_qd,
                mask=(offs_H < H)[:, None] & (d0 + offs_D < D)[None, :],
                other=0.0,
            )
            scores += tl.dot(q, tl.trans(k))
        scores = tl.where((l0 + offs_L < L)[None, :], scores * scale, float("-inf"))
        m_new = tl.maximum(m, tl.max(scores, axis=1))
        s = s * tl.exp(m - m_new) + tl.sum(tl.exp(scores - m_new[:, None]), axis=1)
        m = m_new

    acc = tl.zeros([BLOCK_H, BLOCK_DV], tl.float32)
    for l0 in range(0, L, BLOCK_L):
        scores = tl.zeros([BLOCK_H, BLOCK_L], tl.float32)
        for d0 in range(0, D, BLOCK_D):
            k = tl.load(
                K_ptr + (l0 + offs_L) * stride_kL + (d0 + offs_D)[None, :] * stride_kd,
                mask=(l0 + offs_L < L)[:, None] & (d0 + offs_D < D)[None, :],
                other=0.0,
            )
            q = tl.load(
                Q_ptr + offs_H[:, None] * stride_qH + (d0 + offs_D)[None, :] * stride_qd,
                mask=(offs_H < H)[:, None] & (d0 + offs_D < D)[None, :],
                other=0.0,
            )
            scores += tl.dot(q, tl.trans(k))
        scores = tl.where((l0 + offs_L < L)[None, :], scores * scale, float("-inf"))
        p = tl.exp(scores - m[:, None])
        v = tl.load(
            V_ptr + (l0 + offs_L) * stride_vL + offs_V[None, :] * stride_vd,
            mask=(l0 + offs_L < L)[:, None] & (offs_V < DV)[None, :],
            other=0.0,
        )
        acc += tl.dot(p.to(v.dtype), v)

    o_ptrs = O_ptr + offs_H[:, None] * stride_oH + offs_V[None, :] * stride_od
    tl.store(o_ptrs, _normalize(acc, s).to(O_ptr.dtype.element_ty), mask=(offs_H < H)[:, None] & (offs_V < DV)[None, :])


EXPECTED = "Cannot make_shape_compatible: incompatible dimensions at index 1: 128 and 64"


def compile_kernel():
    source = ASTSource(
        fn=sel_dense_as_written,
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
