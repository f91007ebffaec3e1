"""``TRITON_INTERPRET=1 python same_numbers.py [ORIGINAL.py EDITED.py LAYOUT KERNEL… --]…``: whether both compute the same bits.

The layout is ``any``, contiguous and not, or ``aligned``: an innermost stride of 1, and the other one a multiple of 16 elements, as
the interpreter of 3.5.1 wants it for tensor descriptors. It also asserts that offsets along the innermost axis are multiples of 16
bytes, which this program leaves out. ``whole`` is ``aligned`` with sizes that fill every block.

Runs in an env with Triton, PyTorch and NumPy. Prints one line per kernel and size, and exits with 1 where any differs.
"""

import gc
import importlib.util
import inspect
import sys
from pathlib import Path

import torch
from triton.runtime import interpreter

SIZES = [(16, 7), (37, 19)]
"""Rows and columns, of which most fill no block."""
BM, BN = 16, 8
SLACK = 4096
"""Elements before and after a tensor, so that what is not checked may lie outside."""


def load(path):
    spec = importlib.util.spec_from_file_location(path.replace("/", "_").replace(".", "_"), path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sizes(layout):
    """Rows and columns. The layout ``whole`` is ``aligned`` with sizes that fill every block, and programs for those only."""
    return [(BM, BN), (3 * BM, BN)] if layout == "whole" else SIZES


def forms(columns, layout):
    """For each form of a layout the dtype of its tensors, and the strides of rows and columns in elements."""
    if layout in ("aligned", "whole"):
        return [(dtype, -(-columns // 16) * 16, 1) for dtype in (torch.float32, torch.float16)]
    return [(torch.float32, columns, 1), (torch.float16, 2 * columns, 2)]


def grid(kernel, programs):
    """Programs along each axis that the kernel asks for. Along another axis, all programs would do the same."""
    text = inspect.getsource(kernel.fn)
    return tuple(number if f"program_id({axis})" in text else 1 for axis, number in enumerate((programs, 2)))


def outputs(kernel, programs, rows, columns, dtype, row, column):
    generator = torch.Generator().manual_seed(rows * 100 + columns)
    size = 2 * rows * row + 2 * SLACK
    x = (torch.randn(size, generator=generator) * 8).to(dtype)
    y = torch.full((size,), -7).to(dtype)
    kernel[grid(kernel, programs)](x[SLACK:], y[SLACK:], rows, columns, row, column, BM=BM, BN=BN)
    return x, y


def differing(original, edited, layout, *names):
    """How often they differ."""
    one, other = load(original), load(edited)
    differ = 0
    for name in names:
        for rows, columns in sizes(layout):
            programs = rows // BM + (layout != "whole")  # the last one has rows outside of the tensor
            for dtype, row, column in forms(columns, layout):
                before = outputs(getattr(one, name), programs, rows, columns, dtype, row, column)
                after = outputs(getattr(other, name), programs, rows, columns, dtype, row, column)
                same = all(torch.equal(a.view(torch.int16), b.view(torch.int16)) for a, b in zip(before, after, strict=True))
                changed = int((before[1] != -7).sum())
                if not same or not changed:
                    differ += 1
                    print(f"{name} {rows}x{columns} {dtype} {row} {column}: {'same' if same else 'DIFFERENT'}, {changed} written")
        print(f"{name}: done")
    return differ


def leave_out_assertions():
    """Run the interpreter's module again without its assertions."""
    path = interpreter.__file__
    exec(compile(Path(path).read_text(), path, "exec", optimize=1), vars(interpreter))


def main(arguments):
    leave_out_assertions()
    differ = 0
    while arguments:
        end = arguments.index("--")
        differ += differing(*arguments[:end])
        arguments = arguments[end + 1 :]
    gc.freeze()  # or Python looks at all objects of PyTorch when it ends
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
