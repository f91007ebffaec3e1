"""Calls over several lines that fail: in the front end, in a function that the kernel calls, in a verifier, in a pass, by an abort."""

import triton
import triton.language as tl


@triton.jit
def unknown_keyword(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(  # unknown_keyword
        source + at,
        mask=at < size,
        nonsense=3,
    )
    tl.store(result + at, x)


@triton.jit
def unfit_sum(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = (
        tl.load(source + at)[:, None] + tl.zeros([BLOCK // 2], tl.float32)[:, None]  # unfit_sum
    )
    tl.store(
        result + at[:, None],
        x,
    )


@triton.jit
def asserts(source, result, size, BLOCK: tl.constexpr):
    tl.static_assert(  # asserts
        BLOCK == 3,
        "BLOCK is not three",
    )
    tl.store(result, tl.load(source))


@triton.jit
def scattered(result, at):
    tl.store(  # calls_another
        result + at,
        at[:, None, None]
        + tl.zeros(
            [2, 2],
            tl.int32,
        ),
    )


@triton.jit
def calls_another(source, result, size, BLOCK: tl.constexpr):
    scattered(
        result,
        tl.arange(
            0,
            BLOCK,
        ),
    )


@triton.jit
def block_typed_bound(source, result, size, BLOCK: tl.constexpr):
    bound = tl.load(
        source + tl.arange(0, 1),
    ).to(tl.int32)
    for start in range(  # block_typed_bound
        2,
        bound,
    ):
        tl.store(
            result + start,
            start,
        )


@triton.jit
def uneven_pack(source, result, size, BLOCK: tl.constexpr):
    at = tl.arange(0, 2)
    x = tl.inline_asm_elementwise(  # uneven_pack
        "mov.b32 $0, $1;",
        "=r,r",
        [
            tl.load(
                source + at,
            ).to(tl.int8),
        ],
        dtype=tl.int8,
        is_pure=True,
        pack=3,
    )
    tl.store(result + at, x.to(tl.float32))


@triton.jit
def wide_histogram(source, result, size, BLOCK: tl.constexpr):
    counts = tl.histogram(  # wide_histogram
        tl.load(
            source + tl.arange(0, BLOCK),
        ).to(tl.int64),
        2,
    )
    tl.store(result + tl.arange(0, 2), counts.to(tl.float32))
