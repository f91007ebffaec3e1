"""Problems for the layer norms of layer_norm.py: rows of ordinary numbers around 1, and one of equal numbers.

Needs PyTorch and the standard library alone, of any version that a pair has.
"""

import torch
from problem_tensors import DTYPES, framed, generator_of, normal, output, plain

EPS = 1e-5
ROUNDED = {"fp16": 6e-4, "bf16": 5e-3, "fp32": 1e-6}
"""By element type: a little more than half a unit in the last place."""
OF_EQUAL_NUMBERS = 3e-4
"""The error of a row of equal numbers: what a quotient in fp32 loses of 1, times 1 / sqrt(EPS), times a weight of up to 4."""
REASON = "y is rounded to its elements, and a row of equal numbers multiplies the last place of its mean by 316"
ROWS = 4096


def layer_norm(parameters, dtype, seed, device, large):
    """Yield problems: rows that fill a program's row, shorter ones, and one element."""
    columns = parameters["columns"]
    for rows, n in ((ROWS, columns),) if large else ((3, columns), (2, columns - 7), (2, 1)):
        generator, make = generator_of(seed, device), plain if large else framed
        x, w, b = (normal(shape, DTYPES[dtype], generator, make).add_(1) for shape in ((rows, n), (1, n), (1, n)))
        x[1] = 1
        y = make((rows, n), DTYPES[dtype], device)
        yield {
            "name": "{} rows of {}".format(rows, n),
            "arguments": {"x_ptr": x, "w_ptr": w, "b_ptr": b, "y_ptr": y, "n": n, "stride": x.stride(0), "eps": EPS},
            "grid": lambda settings, rows=rows: (rows,),
            "outputs": {"y_ptr": output(reference(x, w, b), OF_EQUAL_NUMBERS, REASON, relative=ROUNDED[dtype])},
            "baseline": baseline(x, w[0], b[0]) if large else None,
        }


def reference(x, w, b):
    """The result in float64."""
    wide = x.double()
    centred = wide - wide.mean(-1, keepdim=True)
    return centred * torch.rsqrt(centred.square().mean(-1, keepdim=True) + EPS) * w.double() + b.double()


def baseline(x, w, b):
    """PyTorch's own layer norm, as a function without parameters."""
    return lambda: torch.nn.functional.layer_norm(x, w.shape, w, b, EPS)
