"""Sinusoids of positions: angles, their sine and cosine, and the rotation of interleaved pairs of features."""

import triton
import triton.language as tl


@triton.jit
def angles(positions, theta, D: tl.constexpr):
    """The angle of pair i at a position is position · θ^(-2i / D): [P] → [P, D / 2], for i from 0 to D / 2 - 1."""
    pairs = tl.arange(0, D // 2)
    return positions.to(tl.float32)[:, None] * tl.exp(-tl.log(theta) * (2.0 / D) * pairs)[None, :]


@triton.jit
def sine_and_cosine(x):
    """Sine and cosine of angles of up to 100,000, in fp32, to within 2e-7 of those of x.

    Written out because ``tl.sin`` and ``tl.cos`` take hundreds of instructions for each number, most of them for larger angles.
    """
    turns = tl.floor(x * 0.6366197723675814 + 0.5)
    # x - turns · π/2, with π/2 in three parts, of which two have so few bits that their products are exact.
    x = ((x - turns * 1.5703125) - turns * 4.837512969970703125e-4) - turns * 7.549789954891882e-8
    square = x * x
    sine = x + x * square * (-1.0 / 6 + square * (1.0 / 120 + square * (-1.0 / 5040 + square * (1.0 / 362880))))
    cosine = 1.0 + square * (-0.5 + square * (1.0 / 24 + square * (-1.0 / 720 + square * (1.0 / 40320))))
    quarter = turns.to(tl.int32) & 3
    odd = (quarter & 1) == 1
    sine, cosine = tl.where(odd, cosine, sine), tl.where(odd, -sine, cosine)
    return tl.where(quarter >= 2, -sine, sine), tl.where(quarter >= 2, -cosine, cosine)


@triton.jit
def advance(sine, cosine, sine_of_step, cosine_of_step):
    """Sine and cosine of an angle and a step together."""
    return sine * cosine_of_step + cosine * sine_of_step, cosine * cosine_of_step - sine * sine_of_step


@triton.jit
def rotate_pairs(even, odd, sine, cosine):
    """Rotate each (even, odd) by its angle."""
    return even * cosine - odd * sine, even * sine + odd * cosine


@triton.jit
def rotate(x, sine, cosine, P: tl.constexpr, D: tl.constexpr):
    """Rotate each pair of neighbouring features (2i, 2i + 1) of x [P, D] by its angle, whose sine and cosine are [P, D / 2]."""
    even, odd = tl.split(tl.reshape(x.to(tl.float32), (P, D // 2, 2)))
    even, odd = rotate_pairs(even, odd, sine, cosine)
    return tl.reshape(tl.join(even, odd), (P, D)).to(x.dtype)


@triton.jit
def add_sinusoids(x, sine, cosine, P: tl.constexpr, D: tl.constexpr):
    """Add the sine of its angle to the first feature of each pair of x [P, D], and the cosine to the second."""
    return (x.to(tl.float32) + tl.reshape(tl.join(sine, cosine), (P, D))).to(x.dtype)
