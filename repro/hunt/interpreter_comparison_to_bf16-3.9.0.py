# /// script
# requires-python = ">=3.10,<3.15"
# dependencies = ["triton==3.9.0", "torch", "numpy"]
# ///
#
# Triton's interpreter: (x > 0).to(tl.bfloat16) of an fp32 block is a ValueError of NumPy, because
# the result of a comparison still has the type of its operands.
#
# `uv run interpreter_comparison_to_bf16-3.9.0.py` shows it, on Linux and without a GPU; `python`
# runs it where another release is installed. Exit code 0: it shows; 1: it does not.
import os
import sys

os.environ["TRITON_INTERPRET"] = "1"

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x, y):
    at = tl.arange(0, 4)
    tl.store(y + at, (tl.load(x + at) > 0).to(y.dtype.element_ty))


def compare(x, dtype):
    """What the interpreter makes of the kernel: right or wrong numbers, or an exception."""
    y = torch.zeros(4, dtype=dtype)
    try:
        kernel[(1,)](x, y)
    except Exception as error:
        while error.__cause__ is not None:
            error = error.__cause__
        return f"{type(error).__name__}: {error}"
    return "right" if torch.equal(y, (x > 0).to(dtype)) else f"wrong: {y.tolist()}"


if __name__ == "__main__":
    results = []
    for source in (torch.int32, torch.float16, torch.float32, torch.float64):
        for dtype in (torch.float32, torch.bfloat16):
            results.append(compare(torch.arange(4).to(source), dtype))
            print(f"{source} > 0 to {dtype}: {results[-1]}")
    shows = any(result.startswith("ValueError") for result in results)
    print("reproduced" if shows else "not reproduced")
    sys.exit(0 if shows else 1)
