# /// script
# requires-python = ">=3.9,<3.14"
# dependencies = ["triton==3.2.0", "setuptools<81"]
# ///
#
# Triton 3.2.0 compiling kernel for sm_90: IR verifier failed. It is expected to print:
#
#     'arith.select' op expected condition type to have the same shape as the result type, expected 'tensor<1x1x8xi1,
#     #triton_gpu.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [4, 1, 8], warpsPerCTA = [4, 1, 1], order = [2,
#     1, 0]}>>', but got 'tensor<1x1x8xi1, #triton_gpu.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 1, 32],
#     warpsPerCTA = [1, 1, 4], order = [0, 1, 2]}>>'
#
# `uv run masked_load_in_pipeline-reduced-default-sm_90-3.2.0.py` shows it, on Linux and without a GPU; `python` runs it
# where any Triton from 3.0 on is installed. Exit code 0: the failure shows; 1: it does not.
import inspect
import os
import subprocess
import sys
import tempfile

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def kernel(x0, x1, y2, n0, n1, n2, n4):
    v1 = tl.zeros((1, 1, 8), tl.float32)
    v4 = v1
    for v2 in tl.range(0, n1, num_stages=3):
        v7 = tl.load(x1 + tl.zeros((8,), tl.int32)[None, None, :], mask=0 < n2, other=1)
        v10 = v4 + v7
        v3, v4 = (0, v10)
    v12 = v4
    v13 = v12
    v64 = v13
    v65 = v64
    tl.store(y2 + tl.zeros((1, 4, 1), tl.int32) + tl.arange(0, 8), v65)


EXPECTED = "tensor<1x1x8xi1, #triton_gpu.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp"


def describe(fn, signature, constants, divisible_by_16, equal_to_1):
    """The specialization in the form that this release of Triton takes."""
    if "constexprs" in inspect.signature(ASTSource.__init__).parameters:  # 3.3 and later
        names = [name for name in fn.arg_names if name in signature or name in constants]
        types = {name: signature.get(name, "constexpr") for name in names}
        return ASTSource(fn, types, constants, {(index,): [["tt.divisibility", 16]] for index in divisible_by_16})
    try:  # 3.2
        from triton.backends.compiler import AttrsDescriptor

        attrs = AttrsDescriptor.from_hints({**dict.fromkeys(divisible_by_16, 16), **dict.fromkeys(equal_to_1, 1)})
    except ImportError:  # 3.0 and 3.1
        from triton.compiler.compiler import AttrsDescriptor

        attrs = AttrsDescriptor(divisible_by_16=divisible_by_16, equal_to_1=equal_to_1)
    return ASTSource(fn=fn, signature=signature, constants=constants, attrs=attrs)


def compile_kernel():
    source = describe(
        kernel,
        signature={
            "x0": "*fp32", "x1": "*fp32", "y2": "*fp64", "n0": "i32", "n1": "i32", "n2": "i32", "n4": "i32",
        },
        constants={},
        divisible_by_16=(),
        equal_to_1=(),
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
