"""C = A · Bᵀ for A [M, K] and B [N, K], which both have their last axis contiguous, as C [M, N] has.

The variants differ in how they find their tiles: by pointers with masks, by tensor descriptors that the kernel makes, and by tensor
descriptors that the host makes. The grid is one program per tile of C; tiles that share rows of B are neighbours.
"""

import triton
import triton.language as tl


@triton.jit
def _corner(M, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """The first row and column of this program's tile."""
    tile = tl.program_id(0)
    rows = tl.cdiv(M, BLOCK_M)
    return tile % rows * BLOCK_M, tile // rows * BLOCK_N


@triton.jit
def gemm_pointer_grid(
    A_ptr, B_ptr, C_ptr, M, N, K, stride_a, stride_b, stride_c,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Grids of pointers; what lies outside of a tensor reads as zero."""
    m0, n0 = _corner(M, BLOCK_M, BLOCK_N)
    offs_m, offs_n, offs_k = m0 + tl.arange(0, BLOCK_M), n0 + tl.arange(0, BLOCK_N), tl.arange(0, BLOCK_K)
    a_ptrs = A_ptr + offs_m.to(tl.int64)[:, None] * stride_a + offs_k[None, :]
    b_ptrs = B_ptr + offs_n.to(tl.int64)[:, None] * stride_b + offs_k[None, :]
    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for k0 in range(0, K, BLOCK_K):
        inside = (k0 + offs_k < K)[None, :]
        a = tl.load(a_ptrs + k0, mask=(offs_m < M)[:, None] & inside, other=0.0)
        b = tl.load(b_ptrs + k0, mask=(offs_n < N)[:, None] & inside, other=0.0)
        acc = tl.dot(a, tl.trans(b), acc)
    c_ptrs = C_ptr + offs_m.to(tl.int64)[:, None] * stride_c + offs_n[None, :]
    tl.store(c_ptrs, acc.to(C_ptr.dtype.element_ty), mask=(offs_m < M)[:, None] & (offs_n < N)[None, :])


@triton.jit
def gemm_descriptor(
    A_ptr, B_ptr, C_ptr, M, N, K, stride_a, stride_b, stride_c,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Tensor descriptors that every program makes for itself, in memory that the host provides."""
    m0, n0 = _corner(M, BLOCK_M, BLOCK_N)
    a_desc = tl.make_tensor_descriptor(A_ptr, [M, K], [stride_a, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(B_ptr, [N, K], [stride_b, 1], [BLOCK_N, BLOCK_K])
    c_desc = tl.make_tensor_descriptor(C_ptr, [M, N], [stride_c, 1], [BLOCK_M, BLOCK_N])
    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for k0 in range(0, K, BLOCK_K):
        acc = tl.dot(a_desc.load([m0, k0]), tl.trans(b_desc.load([n0, k0])), acc)
    c_desc.store([m0, n0], acc.to(C_ptr.dtype.element_ty))


@triton.jit
def gemm_host_descriptor(
    A_desc, B_desc, C_desc, M, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Tensor descriptors that the host makes, and passes as the kernel's arguments."""
    m0, n0 = _corner(M, BLOCK_M, BLOCK_N)
    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for k0 in range(0, K, BLOCK_K):
        acc = tl.dot(A_desc.load([m0, k0]), tl.trans(B_desc.load([n0, k0])), acc)
    C_desc.store([m0, n0], acc.to(C_desc.dtype))
