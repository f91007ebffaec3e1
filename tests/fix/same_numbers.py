"""``TRITON_INTERPRET=1 python same_numbers.py ORIGINAL.py EDITED.py KERNEL…``: whether both compute the same, bit for bit.

Runs in an env with Triton, PyTorch and NumPy. Prints one line per kernel and size, and exits with 1 where any differs.
"""

import importlib.util
import sys

import torch

SIZES = [(16, 16), (13, 7), (5, 33), (1, 1), (37, 19)]
"""Rows and columns, of which most fill no block."""
BM, BN = 16, 8
SLACK = 4096
"""Elements before and after a tensor, so that what is not checked may lie outside."""


def load(path):
    spec = importlib.util.spec_from_file_location(path.replace("/", "_").replace(".", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def outputs(kernel, rows, columns, dtype, strided):
    generator = torch.Generator().manual_seed(rows * 100 + columns)
    size = 2 * rows * columns * (2 if strided else 1) + 2 * SLACK
    x = (torch.randn(size, generator=generator) * 8).to(dtype)
    y = torch.full((size,), -7).to(dtype)
    strides = (2 * columns, 2) if strided else (columns, 1)
    kernel[(3, 2)](x[SLACK:], y[SLACK:], rows, columns, *strides, BM=BM, BN=BN)
    return x, y


def main(original, edited, *names):
    one, other = load(original), load(edited)
    differ = 0
    for name in names:
        for rows, columns in SIZES:
            for dtype in (torch.float32, torch.float16):
                for strided in (False, True):
                    before = outputs(getattr(one, name), rows, columns, dtype, strided)
                    after = outputs(getattr(other, name), rows, columns, dtype, strided)
                    same = all(torch.equal(a.view(torch.int16), b.view(torch.int16)) for a, b in zip(before, after, strict=True))
                    changed = int((before[1] != -7).sum())
                    if not same or not changed:
                        differ += 1
                        print(f"{name} {rows}x{columns} {dtype} {strided}: {'same' if same else 'DIFFERENT'}, {changed} written")
        print(f"{name}: done")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
