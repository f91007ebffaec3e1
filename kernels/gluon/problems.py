"""Problems for the kernels of Gluon in this folder: arguments, references in float64, what to time beside them.

What a kernel is not to read is NaN: the surroundings of its inputs. Needs PyTorch and the standard library alone.
"""

import torch

DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}
ROUNDED = {"fp16": 6e-4, "bf16": 5e-3, "fp32": 1e-6}
"""By element type: a little more than half a unit in the last place."""
ROOM = 64
"""Elements before and behind a tensor."""
OF_EQUAL_NUMBERS = 3e-4
"""The error of a row of equal numbers: what a quotient in fp32 loses of 1, times 1 / sqrt(EPS), times a weight of up to 4."""


def copy(parameters, dtype, seed, device, large):
    """Yield problems for the copies: every element is another number than its neighbours."""
    for n in (2**24,) if large else (1, parameters["BLOCK"], parameters["BLOCK"] + 1, 5 * parameters["BLOCK"] - 3):
        x = _framed((n,), DTYPES[dtype], device)
        x.copy_(torch.arange(n, device=device) % 2039 - 1019)  # whole numbers up to 2048 are exact in fp16
        yield {
            "name": f"{n} elements",
            "arguments": {"x_ptr": x, "y_ptr": _framed((n,), x.dtype, device), "n": n},
            "grid": (-(-n // parameters["BLOCK"]),),
            "outputs": {"y_ptr": {"reference": x.double()}},
            "baseline": (lambda x=x: x.clone()) if large else None,
        }


def layer_norm(parameters, dtype, seed, device, large):
    """Yield problems for layer norms: rows of ordinary numbers around 1, and one of equal numbers."""
    generator = torch.Generator(device=device).manual_seed(seed)
    block = parameters["BLOCK"]
    for rows, n in ((4096, block),) if large else ((3, block), (2, 1), (5, block - 7)):
        x, w, b = (_framed(shape, DTYPES[dtype], device) for shape in ((rows, n), (n,), (n,)))
        for tensor in (x, w, b):
            tensor.copy_(torch.randn(tensor.shape, generator=generator, device=device) + 1)
        x[1] = 1
        wide = x.double()
        centred = wide - wide.mean(-1, keepdim=True)
        reference = centred * torch.rsqrt(centred.square().mean(-1, keepdim=True) + EPS) * w.double() + b.double()
        output = {
            "reference": reference,
            "relative": ROUNDED[dtype],
            "tolerance": OF_EQUAL_NUMBERS,
            "reason": "y is rounded to its elements, and a row of equal numbers multiplies the last place of its mean by 316",
        }
        arguments = {"x_ptr": x, "w_ptr": w, "b_ptr": b, "y_ptr": _framed((rows, n), x.dtype, device), "n": n, "eps": EPS}
        yield {
            "name": f"{rows} rows of {n}",
            "arguments": arguments,
            "grid": (rows,),
            "outputs": {"y_ptr": output},
            "baseline": (lambda x=x, w=w, b=b: torch.nn.functional.layer_norm(x, w.shape, w, b, EPS)) if large else None,
        }


EPS = 1e-5


def gemm(parameters, dtype, seed, device, large):
    """Yield problems for C = A · B, of whole numbers that are small enough for every sum to be exact."""
    generator = torch.Generator(device=device).manual_seed(seed)
    blocks = parameters["BLOCK_M"], parameters["BLOCK_N"]
    for m, n, k in ((4096, 4096, 2048),) if large else ((64, 128, 64), (128, 256, 512), (80, 144, 80), (16, 16, 1040)):
        a, b = (_framed(shape, DTYPES[dtype], device) for shape in ((m, k), (k, n)))
        for tensor in (a, b):
            tensor.copy_(torch.randint(-1, 2, tensor.shape, generator=generator, device=device))
        yield {
            "name": f"{m} x {n} x {k}",
            "arguments": {"a_ptr": a, "b_ptr": b, "c_ptr": _framed((m, n), a.dtype, device), "m": m, "n": n, "k": k},
            "grid": tuple(-(-size // block) for size, block in zip((m, n), blocks, strict=True)),
            "outputs": {"c_ptr": {"reference": a.double() @ b.double()}},
            "baseline": (lambda a=a, b=b: a @ b) if large else None,
        }


def gemm_of_descriptors(parameters, dtype, seed, device, large):
    """Yield the same problems for descriptors, which the launcher makes of the tensors."""
    for problem in gemm(parameters, dtype, seed, device, large):
        given = problem["arguments"]
        tensors = {f"{name}_desc": given[f"{name}_ptr"] for name in ("a", "b", "c")}
        outputs = {"c_desc": problem["outputs"]["c_ptr"]}
        yield {**problem, "arguments": {**tensors, "k": given["k"]}, "outputs": outputs}


def _framed(shape, dtype, device):
    """A tensor of NaN with NaN around it."""
    size = torch.Size(shape).numel()
    storage = torch.full((size + 2 * ROOM,), float("nan"), dtype=dtype, device=device)
    return storage[ROOM : ROOM + size].view(shape)
