"""A program that a user writes by hand to compile a kernel with one release.

bench/first_answer.py runs it as ``uv run --with triton==X``.
"""

import inspect

import triton
from softmax import softmax_kernel
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

types = {
    "output_ptr": "*fp32",
    "input_ptr": "*fp32",
    "input_row_stride": "i32",
    "output_row_stride": "i32",
    "n_cols": "i32",
}
constants = {"BLOCK_SIZE": 1024}
position = softmax_kernel.arg_names.index
if "constexprs" in inspect.signature(ASTSource.__init__).parameters:  # 3.3 and later
    source = ASTSource(softmax_kernel, {**types, "BLOCK_SIZE": "constexpr"}, constexprs=constants)
elif triton.__version__ >= "3.2":
    source = ASTSource(softmax_kernel, types, constants=constants)
else:
    indexed = {position(name): kind for name, kind in types.items()}
    source = ASTSource(
        softmax_kernel,
        indexed,
        constants={position(name): value for name, value in constants.items()},
    )
triton.compile(source, target=GPUTarget("cuda", 90, 32))
