# /// script
# requires-python = ">=3.10,<3.15"
# dependencies = ["triton==3.8.0"]
# ///
#
# Triton 3.8.0 compiling kernel for sm_90: compiler pass failed. It is expected to print:
#
#     PassManager::run failed
#
# `uv run division_by_zero-reduced-default-sm_90-3.8.0.py` shows it, on Linux and without a GPU; `python` runs it
# where Triton 3.8.0 is installed. Exit code 0: the failure shows; 1: it does not.
import os
import subprocess
import sys
import tempfile

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def kernel(result):
    for at in range(2):
        tl.store(result + at // 0, 0)


EXPECTED = "PassManager::run failed"


def compile_kernel():
    source = ASTSource(
        fn=kernel,
        signature={"result": "*i32"},
        constexprs={},
        attrs={},
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
