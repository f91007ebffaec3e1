# /// script
# requires-python = ">=3.11,<3.16"
# dependencies = ["triton==3.9.0"]
# ///
#
# Triton 3.9.0 compiling fp64_to_fp8 for sm_90: compiler assertion. It is expected to print:
#
#     Unsupported conversion from f64 to f8E5M2 with rounding mode rtne
#
# `uv run fp64_to_fp8-direct-e5m2-sm_90-3.9.0.py` shows it, on Linux and without a GPU; `python` runs it
# where Triton 3.9.0 is installed. Exit code 0: the failure shows; 1: it does not.
import os
import subprocess
import sys
import tempfile

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def fp64_to_fp8(source, result, size, BLOCK: tl.constexpr):
    """A conversion that LLVM's lowering does not know: an abort to 3.2, ``PassManager::run failed`` from 3.3."""
    at = tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at).to(tl.float64).to(tl.float8e5).to(tl.float32))


EXPECTED = "Unsupported conversion from f64 to f8E5M2 with rounding mode rtne"


def compile_kernel():
    source = ASTSource(
        fn=fp64_to_fp8,
        signature={"source": "*fp32", "result": "*fp32", "size": "i32", "BLOCK": "constexpr"},
        constexprs={"BLOCK": 128},
        attrs={(0,): [["tt.divisibility", 16]], (1,): [["tt.divisibility", 16]]},
    )
    target = GPUTarget("cuda", 90, 32)
    triton.compile(source, target=target, options={})


if __name__ == "__main__":
    if sys.argv[1:] == ["compile"]:
        compile_kernel()
        sys.exit()
    # A child compiles, because a compiler that aborts ends its process. Its own cache is empty, so it does compile.
    with tempfile.TemporaryDirectory() as cache:
        variables = {**os.environ, "TRITON_ALWAYS_COMPILE": "1", "TRITON_CACHE_DIR": cache}
        command = [sys.executable, "-X", "faulthandler", __file__, "compile"]
        child = subprocess.run(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
    shows = child.returncode != 0 and EXPECTED in child.stdout
    print(child.stdout)
    print(f"{'reproduced' if shows else 'not reproduced'}: the compile ended with exit code {child.returncode}")
    sys.exit(0 if shows else 1)
