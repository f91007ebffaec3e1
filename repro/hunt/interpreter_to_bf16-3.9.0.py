# /// script
# requires-python = ">=3.10,<3.15"
# dependencies = ["triton==3.9.0", "torch", "numpy"]
# ///
#
# Triton's interpreter, all releases from 3.0.0 to 3.9.0: a cast of integers or of fp64 to tl.bfloat16 stores the
# number itself as the bits of the bf16: 1 becomes 9.2e-41, -1 becomes NaN.
#
# `uv run interpreter_to_bf16-3.9.0.py` shows it, on Linux and without a GPU; `python` runs it where another release is
# installed. Exit code 0: it shows; 1: it does not.
import os
import sys

os.environ["TRITON_INTERPRET"] = "1"

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x, y):
    at = tl.arange(0, 8)
    tl.store(y + at, tl.load(x + at).to(tl.bfloat16))


if __name__ == "__main__":
    wrong = []
    for dtype in (torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64):
        x = torch.arange(-4, 4).to(dtype)
        y = torch.zeros(8, dtype=torch.bfloat16)
        kernel[(1,)](x, y)
        if not torch.equal(y, x.to(torch.bfloat16)):
            wrong.append(dtype)
        print(f"{'wrong' if dtype in wrong else 'right'}: {dtype} {x.tolist()} to {y.tolist()}")
    print("reproduced" if wrong else "not reproduced")
    sys.exit(0 if wrong else 1)
