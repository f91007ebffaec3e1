# /// script
# requires-python = ">=3.10,<3.15"
# dependencies = ["triton==3.9.0", "torch", "numpy"]
# ///
#
# Triton's interpreter: a cast of fp64 to fp8, or of fp8 to fp64, is a TypeError of NumPy if some
# element is zero.
#
# `uv run interpreter_fp64_to_fp8-3.9.0.py` shows it, on Linux and without a GPU; `python` runs it
# where another release is installed. Exit code 0: it shows; 1: it does not.
import os
import sys

os.environ["TRITON_INTERPRET"] = "1"

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x, y):
    at = tl.arange(0, 4)
    tl.store(y + at, tl.load(x + at).to(y.dtype.element_ty))


def cast(x, dtype):
    """What the interpreter makes of a cast: right or wrong numbers, or an exception."""
    y = torch.zeros(4, dtype=dtype)
    try:
        kernel[(1,)](x, y)
    except Exception as error:
        while error.__cause__ is not None:
            error = error.__cause__
        return f"{type(error).__name__}: {str(error).partition(',')[0]}"
    return "right" if torch.equal(y.double(), x.to(dtype).double()) else f"wrong: {y.tolist()}"


if __name__ == "__main__":
    results = []
    for fp8 in (torch.float8_e5m2, torch.float8_e4m3fn):
        for numbers in ([0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0]):
            x = torch.tensor(numbers, dtype=torch.float64)
            for source, dtype in ((x, fp8), (x.to(fp8), torch.float64)):
                results.append(cast(source, dtype))
                print(f"{source.dtype} {numbers} to {dtype}: {results[-1]}")
    shows = any(result.startswith("TypeError") for result in results)
    print("reproduced" if shows else "not reproduced")
    sys.exit(0 if shows else 1)
