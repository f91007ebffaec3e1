# /// script
# requires-python = ">=3.10,<3.15"
# dependencies = ["triton==3.9.0", "torch", "numpy"]
# ///
#
# Triton's interpreter: tl.atomic_add of bf16, and tl.atomic_xchg of fp32 and fp64, are a
# ValueError, "Unsupported data type". The compiler has them.
#
# `uv run interpreter_atomics-3.9.0.py` shows it, on Linux and without a GPU; `python` runs it where
# another release is installed. Exit code 0: it shows; 1: it does not.
import os
import sys

os.environ["TRITON_INTERPRET"] = "1"

import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y):
    at = tl.arange(0, 4)
    tl.atomic_add(y + at, tl.load(x + at))


@triton.jit
def exchange(x, y):
    at = tl.arange(0, 4)
    tl.atomic_xchg(y + at, tl.load(x + at))


def apply(kernel, dtype):
    """What the interpreter makes of an atomic: right or wrong numbers, or an exception."""
    x, y = torch.arange(4).to(dtype), torch.zeros(4, dtype=dtype)
    try:
        kernel[(1,)](x, y)
    except Exception as error:
        while error.__cause__ is not None:
            error = error.__cause__
        return f"{type(error).__name__}: {error}"
    return "right" if torch.equal(x, y) else f"wrong: {y.tolist()}"


if __name__ == "__main__":
    results = []
    for name, kernel, dtypes in (
        ("add", add, (torch.int32, torch.float16, torch.bfloat16, torch.float32, torch.float64)),
        ("xchg", exchange, (torch.int32, torch.int64, torch.float32, torch.float64)),
    ):
        for dtype in dtypes:
            results.append(apply(kernel, dtype))
            print(f"tl.atomic_{name} of {dtype}: {results[-1]}")
    shows = "ValueError: Unsupported data type" in results
    print("reproduced" if shows else "not reproduced")
    sys.exit(0 if shows else 1)
