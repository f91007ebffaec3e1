"""Problems for the matrix multiplications of gemm.py.

The numbers are whole and small: all sums are exact in fp32, and the results are in fp16.
"""

import torch
from problem_tensors import DTYPES, framed, generator_of, output, plain

LARGE = (4096, 4096, 2048)
SMALL = ((1, 16, 16), (128, 128, 64), (130, 144, 80), (264, 144, 208))
"""M, N and K: less than a tile, one tile, a bit more than one, and several. Rows in a frame stay multiples of 16 elements."""


def gemm(parameters, dtype, seed, device, large):
    """Yield problems: A and B hold whole numbers from -2 to 2."""
    for m, n, k in [LARGE] if large else SMALL:
        generator, make = generator_of(seed, device), plain if large else framed
        a, b = (
            make((rows, k), DTYPES[dtype], device).copy_(
                torch.randint(-2, 3, (rows, k), generator=generator, device=device)
            )
            for rows in (m, n)
        )
        yield {
            "name": "{} x {} x {}".format(m, n, k),
            "arguments": {
                "A_ptr": a,
                "B_ptr": b,
                "C_ptr": make((m, n), DTYPES[dtype], device),
                "M": m,
                "N": n,
                "K": k,
                "stride_a": a.stride(0),
                "stride_b": b.stride(0),
                "stride_c": make((m, n), DTYPES[dtype], device).stride(0),
            },
            "grid": lambda settings, m=m, n=n: (-(-m // settings["BLOCK_M"]) * -(-n // settings["BLOCK_N"]),),
            "outputs": {"C_ptr": output(a.float() @ b.float().T, 0.0, "")},
            "baseline": (lambda a=a, b=b: a @ b.T) if large else None,
        }


def gemm_of_descriptors(parameters, dtype, seed, device, large):
    """Yield the same problems for a kernel that takes the tensors as descriptors."""
    for problem in gemm(parameters, dtype, seed, device, large):
        given = problem["arguments"]
        tensors = {"{}_desc".format(name): given["{}_ptr".format(name)] for name in "ABC"}
        yield {
            **problem,
            "arguments": {**tensors, "M": given["M"], "K": given["K"]},
            "outputs": {"C_desc": problem["outputs"]["C_ptr"]},
        }
