# /// script
# requires-python = ">=3.9,<3.14"
# dependencies = ["triton==3.2.0", "setuptools<81"]
# ///
#
# Triton 3.2.0 compiling kernel for sm_90: compiler crashed. It is expected to print:
#
#     Fatal Python error: Floating point exception
#
# `uv run division_by_zero-reduced-default-sm_90-3.2.0.py` shows it, on Linux and without a GPU; `python` runs it
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
def kernel(result):
    for at in range(2):
        tl.store(result + at // 0, 0)


EXPECTED = "Fatal Python error: Floating point exception"


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
        signature={"result": "*i32"},
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
