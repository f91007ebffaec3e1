"""Problems for attention kernels of CuTe DSL in this folder: arguments, references in float64, what to time beside them.

``parameters`` are the constexprs of the case, of which ``d`` is the size of a head, and the sizes that the kernel file names, ``sizes``
and ``large_sizes``: ``z``, ``m``, ``n`` and ``scale``. Of each size there are ordinary numbers and, where ``n`` is a power of two, scores
that are all -32, so that each row is the mean of whole numbers and exact. A key beyond the end that is not masked would
have the score 0, and with it nearly all the weight.

What a kernel is not to read is NaN: the surroundings of its inputs.

Needs PyTorch and the standard library alone.
"""

import torch

DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16}
TOLERANCE = {
    "fp16": (4e-3, "O of up to 4, where half a unit in the last place is 1e-3, and weights that are rounded to fp16"),
    "bf16": (3e-2, "O of up to 4, where half a unit in the last place is 8e-3, and weights that are rounded to bf16"),
}
ROOM = 64
"""Elements before and behind a tensor: 128 bytes, so that it is aligned as the TMA wants."""
LOW = -32.0


def attention(parameters, dtype, seed, device, large):
    """Yield problems for O = softmax(scale · Q · Kᵀ) · V."""
    generator = torch.Generator(device=device).manual_seed(seed)
    for sizes in parameters["large_sizes" if large else "sizes"]:
        z, m, n, d, scale = sizes["z"], sizes["m"], sizes["n"], parameters["d"], sizes["scale"]
        q, k, v = (_framed((z, rows, d), DTYPES[dtype], device) for rows in (m, n, n))
        for tensor in (q, k, v):
            tensor.copy_(torch.randn(tensor.shape, generator=generator, device=device))
        name = "z = %d, m = %d, n = %d" % (z, m, n)
        tolerance, reason = TOLERANCE[dtype]
        yield _problem(name, q, k, v, scale, {"tolerance": tolerance, "reason": reason}, timed=large)
        if not large and n & (n - 1) == 0:
            q, k, v = (_framed((z, rows, d), DTYPES[dtype], device).zero_() for rows in (m, n, n))
            q[..., 0], k[..., 0] = 1, LOW / scale
            v.copy_(torch.randint(-1, 2, v.shape, generator=generator, device=device))
            yield _problem(name + ", equal scores", q, k, v, scale, {"tolerance": 0.0})


def _problem(name, q, k, v, scale, allowed, timed=False):
    o = _framed(q.shape, q.dtype, q.device)
    return {
        "name": name,
        "arguments": {"q": q, "k": k, "v": v, "o": o, "scale": scale},
        "outputs": {"o": {"reference": _reference(q, k, v, scale), **allowed}},
        "baseline": _baseline(q, k, v, scale) if timed else None,
    }


def _reference(q, k, v, scale):
    """O in float64, head by head, so that only one matrix of scores is there at a time."""
    heads = (tuple(x.double() for x in head) for head in zip(q, k, v))
    return torch.stack([torch.softmax(scale * q @ k.T, dim=-1) @ v for q, k, v in heads])


def _baseline(q, k, v, scale):
    return lambda: torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], scale=scale)[0]


def _framed(shape, dtype, device):
    """A tensor in the midst of NaN."""
    count = torch.Size(shape).numel()
    storage = torch.full((count + 2 * ROOM,), float("nan"), dtype=dtype, device=device)
    return storage[ROOM : ROOM + count].view(shape)
