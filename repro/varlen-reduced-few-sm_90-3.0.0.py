# /// script
# requires-python = ">=3.8,<3.13"
# dependencies = ["triton==3.0.0", "setuptools<81"]
# ///
#
# Triton 3.0.0 compiling kernel for sm_90: a type without a bit width. It is expected to print:
#
#     only integers and floats have a bitwidth
#
# `uv run varlen-reduced-few-sm_90-3.0.0.py` shows it, on Linux and without a GPU; `python` runs it
# where Triton 3.0.0 is installed. Exit code 0: the failure shows; 1: it does not.
import os
import subprocess
import sys
import tempfile

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def kernel():
    for l0 in range(tl.arange(0, 1)):
        pass


EXPECTED = "only integers and floats have a bitwidth"


def compile_kernel():
    from triton.compiler.compiler import AttrsDescriptor

    source = ASTSource(
        fn=kernel,
        signature={},
        constants={},
        attrs=AttrsDescriptor(divisible_by_16=(), equal_to_1=()),
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
