"""Kernels that say much, or say what a terminal would obey."""

import os

import triton
import triton.language as tl


@triton.jit
def fine(source, result, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=at < size) + 1, mask=at < size)


@triton.jit
def escapes(source, result, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.static_assert(BLOCK == 0, "\x1b]0;owned\x07\x1b[31mred\x1b[0m nul\x00 bell\x07 back\x08 c1\x9b31m bidi\u202eabc\u2066")
    tl.store(result + at, tl.load(source + at, mask=at < size) + 1, mask=at < size)


class Saying:
    """Says something when Triton asks for the function's text, in the middle of a compile."""

    def __init__(self, act):
        self.__dict__.update(fine.__dict__)
        self.act = act

    @property
    def __class__(self):
        return type(fine)

    def __getattr__(self, name):
        return getattr(fine, name)

    def parse(self):
        return self.act()


def _word():
    os.write(2, b"deadbeef" * (8 * 1024))
    raise ValueError("a word")


def _floods():
    line = b"  %0 = arith.constant dense<1.0> : tensor<128x64xf32, #blocked> loc(#loc)\n"
    for _ in range(100):
        os.write(2, line * (1024 * 1024 // len(line)))
    os.write(2, b"the last words\n")
    raise ValueError("flooded")


def _endless():
    for _ in range(100):
        os.write(2, b"deadbeef" * (128 * 1024))
    raise ValueError("no end of line")


def _long():
    raise ValueError("the beginning\n" + "x" * (8 << 20) + "\nNameError('b_ps is not defined')")


def _chained():
    error = ValueError("the innermost")
    for number in range(500):
        try:
            raise RuntimeError("link %d" % number) from error
        except RuntimeError as caught:
            error = caught
    raise error


def _odd_metrics():
    from triton.compiler.compiler import CompiledKernel

    original_init = CompiledKernel.__init__

    def make(self, *arguments, **options):
        original_init(self, *arguments, **options)
        deep = []
        for _ in range(100_000):
            deep = [deep]
        self.metadata = self.metadata._replace(shared=float("nan"), num_warps=deep)

    CompiledKernel.__init__ = make
    return fine.parse()


word, floods, endless, long, chained, odd_metrics = map(Saying, (_word, _floods, _endless, _long, _chained, _odd_metrics))
