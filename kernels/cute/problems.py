"""Problems for the kernels of CuTe DSL in this folder: arguments, references in float64, what to time beside them.

One function per kernel, called as ``copy(parameters, dtype, seed, device, large)``. ``parameters`` are the constexprs of the case, and
the sizes that the kernel file names, ``sizes`` and ``large_sizes``: kernels of CuTe DSL are launched as they were launched where they
were compiled, for these sizes.

What a kernel is not to read is NaN: the surroundings of its inputs.

Needs PyTorch and the standard library alone.
"""

import torch

DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}
ROUNDED = {"fp16": 6e-4, "bf16": 5e-3, "fp32": 1e-6}
"""By element type: a little more than half a unit in the last place."""
ROOM = 64
"""Elements before and behind a tensor: 16 bytes, to which kernels assume tensors to be aligned, divide them."""
SMALLEST = 6e-8
"""Half of what the smallest numbers of fp16 are apart."""


def copy(parameters, dtype, seed, device, large):
    """Yield problems for the copy: every element is another number than its neighbours."""
    for sizes in _sizes(parameters, large):
        n = sizes["n"]
        src = _framed((n,), DTYPES[dtype], device)
        src.copy_(torch.arange(n, device=device) % 2039 - 1019)  # whole numbers up to 2048 are exact in fp16
        yield {
            "name": _name(sizes),
            "arguments": {"src": src, "dst": _framed((n,), src.dtype, device), "n": n},
            "outputs": {"dst": {"reference": src.double()}},
            "baseline": (lambda src=src: src.clone()) if large else None,
        }


def rms_norm(parameters, dtype, seed, device, large):
    """Yield problems for RMS norm: rows of ordinary numbers, one of zeros, and one of large numbers."""
    generator = torch.Generator(device=device).manual_seed(seed)
    for sizes in _sizes(parameters, large):
        (m, n), eps = (sizes["m"], sizes["n"]), sizes["eps"]
        x, w = (_normal(shape, DTYPES[dtype], generator, device) for shape in ((m, n), (n,)))
        if m > 2:
            x[1] = 0
            x[2] *= 1000
        wide = x.double()
        reference = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps) * w.double()
        output = {
            "reference": reference,
            "relative": ROUNDED[dtype],
            "tolerance": SMALLEST,
            "reason": "y is rounded to its elements",
        }
        yield {
            "name": _name(sizes),
            "arguments": {"x": x, "w": w, "y": _framed((m, n), x.dtype, device), "eps": eps},
            "outputs": {"y": output},
            "baseline": (lambda x=x, w=w, eps=eps: torch.nn.functional.rms_norm(x, w.shape, w, eps)) if large else None,
        }


def gemm(parameters, dtype, seed, device, large):
    """Yield problems for C = A · Bᵀ, of whole numbers that are small enough for every sum to be exact."""
    generator = torch.Generator(device=device).manual_seed(seed)
    for sizes in _sizes(parameters, large):
        m, n, k = sizes["m"], sizes["n"], sizes["k"]
        a, b = (_framed(shape, DTYPES[dtype], device) for shape in ((m, k), (n, k)))
        for tensor in (a, b):
            tensor.copy_(torch.randint(-1, 2, tensor.shape, generator=generator, device=device))
        yield {
            "name": _name(sizes),
            "arguments": {"a": a, "b": b, "c": _framed((m, n), a.dtype, device)},
            "outputs": {"c": {"reference": a.double() @ b.double().T}},
            "baseline": (lambda a=a, b=b: a @ b.T) if large else None,
        }


def _sizes(parameters, large):
    return parameters["large_sizes" if large else "sizes"]


def _name(sizes):
    return ", ".join("%s = %g" % item for item in sizes.items())


def _framed(shape, dtype, device):
    """A tensor of zeros in the midst of NaN."""
    count = torch.Size(shape).numel()
    storage = torch.full((count + 2 * ROOM,), float("nan"), dtype=dtype, device=device)
    return storage[ROOM : ROOM + count].view(shape).zero_()


def _normal(shape, dtype, generator, device):
    return _framed(shape, dtype, device).copy_(torch.randn(shape, generator=generator, device=device))
