# /// script
# requires-python = ">=3.10,<3.15"
# dependencies = ["triton==3.9.0"]
# ///
#
# Triton 3.9.0, sm_90: x.to(tl.bfloat16).to(tl.int16) of fp16 reads the bits of the fp16 number as bf16, and rounds.
#
# `uv run casts_to_int-sm_90-3.9.0.py` shows it, on Linux and without a GPU, in the machine code. On a machine with a
# GPU from sm_90 on and PyTorch (`uv run --with torch casts_to_int-sm_90-3.9.0.py`) it launches the kernel, too.
# `python` runs it where another release from 3.3 on is installed. Exit code 0: it shows; 1: it does not.
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

os.environ["TRITON_ALWAYS_COMPILE"] = "1"

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def kernel(x, y):
    at = tl.arange(0, 128)
    tl.store(y + at, tl.load(x + at).to(tl.bfloat16).to(tl.int16))


def casts(text):
    """The instructions for conversions in PTX or SASS."""
    return list(dict.fromkeys(re.findall(r"\b(?:cvt|F2F|F2FP|F2I|HADD2)\.[\w.]*", text)))


def compiled():
    """PTX, and SASS, of the kernel."""
    source = ASTSource(fn=kernel, signature={"x": "*fp16", "y": "*i16"}, constexprs={})
    binary = triton.compile(source, target=GPUTarget("cuda", 90, 32))
    tool = os.path.join(os.path.dirname(triton.__file__), "backends", "nvidia", "bin", "nvdisasm")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(binary.asm["cubin"])
        file.flush()
        sass = subprocess.run([tool, "-c", file.name], check=True, capture_output=True, text=True).stdout
    return binary.asm["ptx"], sass


def launched():
    """What the kernel computes of 0.0, 0.5, 1.0, …, and what is right; None without a GPU."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch

    if not torch.cuda.is_available() or torch.cuda.get_device_capability() < (9, 0):
        return None
    x = (torch.arange(128, device="cuda") / 2).half()
    y = torch.zeros(128, dtype=torch.int16, device="cuda")
    kernel[(1,)](x, y)
    return y.tolist(), [number // 2 for number in range(128)]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        ptx, sass = compiled()
        numbers = launched()
    print("PTX: ", ", ".join(casts(ptx)))
    print("SASS:", ", ".join(casts(sass)))
    # Two conversions are needed: to bf16 by F2F or F2FP, and to an integer by F2I.
    shows = not any(name.startswith("F2F") for name in casts(sass))
    if numbers is None:
        print("not launched: this needs PyTorch and a GPU from sm_90 on")
    else:
        wrong = [(index / 2, got, right) for index, (got, right) in enumerate(zip(*numbers)) if got != right]
        print(f"launched: {len(wrong)} of 128 wrong", *(f"{x} -> {got}, not {right}" for x, got, right in wrong[:5]), sep="\n  ")
        shows = bool(wrong)
    print("reproduced" if shows else "not reproduced")
    sys.exit(0 if shows else 1)
