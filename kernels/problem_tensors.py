"""Tensors for problems: views into larger storages full of NaN, so that whatever a kernel reads that is not its own shows in its output.

Needs PyTorch and the standard library alone, of any version that a pair has.
"""

import math

import torch

DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}
"""PyTorch's element types, by Triton's names."""

NAN = float("nan")
MARGIN = 8
"""Elements around a view: 16 bytes of fp16, so that views stay as aligned as tensor descriptors and ``divisible_by_16`` ask for."""


def generator_of(seed, device):
    """A source of random numbers on the device."""
    return torch.Generator(device=device).manual_seed(seed)


def framed(shape, dtype, device):
    """A view full of NaN, in a frame of NaN that is MARGIN wide along the two innermost axes."""
    *outer, rows, columns = shape
    storage = torch.full((*outer, rows + 2 * MARGIN, columns + 2 * MARGIN), NAN, dtype=dtype, device=device)
    return storage[..., MARGIN : MARGIN + rows, MARGIN : MARGIN + columns]


def plain(shape, dtype, device):
    """A contiguous tensor full of NaN, with NaN before and behind it, at an address that is divisible by 128."""
    size, margin = math.prod(shape), 16 * MARGIN
    storage = torch.full((size + 2 * margin,), NAN, dtype=dtype, device=device)
    return storage[margin : margin + size].view(shape)


def normal(shape, dtype, generator, make=framed):
    """Normally distributed numbers, in a view that ``make`` makes."""
    drawn = torch.randn(shape, generator=generator, device=generator.device)
    return make(shape, dtype, generator.device).copy_(drawn)


def output(reference, tolerance, reason, relative=0.0):
    """What a problem says of an output."""
    return {"reference": reference, "tolerance": tolerance, "relative": relative, "reason": reason}
