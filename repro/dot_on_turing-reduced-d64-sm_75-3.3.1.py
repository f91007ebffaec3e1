# /// script
# requires-python = ">=3.9,<3.14"
# dependencies = ["triton==3.3.1"]
# ///
#
# Triton 3.3.1 compiling kernel for sm_75: compiler assertion. It is expected to print:
#
#     Unsupported conversion from f16 to f16
#
# `uv run dot_on_turing-reduced-d64-sm_75-3.3.1.py` shows it, on Linux and without a GPU; `python` runs it
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
def kernel(V_ptr, O_ptr):
    offs_H = tl.arange(0, 16)
    v = tl.load(V_ptr + tl.zeros((16, 1), tl.int32) + offs_H)
    tl.store(O_ptr + offs_H[:, None] + offs_H, tl.dot(tl.zeros([16, 16], tl.int32).to(v.dtype), v))


EXPECTED = "Unsupported conversion from f16 to f16"


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
        signature={"V_ptr": "*fp16", "O_ptr": "*i32"},
        constants={},
        divisible_by_16=(0, 1),
        equal_to_1=(),
    )
    target = GPUTarget("cuda", 75, 32)
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
