"""Problems for the attention kernels: arguments, a float64 reference in plain PyTorch, tolerances with their reasons, a baseline to time.

One function per kernel, called as ``attn_standard(parameters, dtype, seed, device, large)``; ``parameters`` are the constexprs of the
case. The families differ as their kernels do: in what becomes of Q and K, and in what is added to the scores.

Needs PyTorch and the standard library alone, of any version that a pair has.
"""

import torch
from problem_tensors import DTYPES, framed, generator_of, normal, output, plain

FORWARD_TOLERANCE = {
    "fp16": (4e-3, "fp16 of up to 4, where half a unit in the last place is 1e-3, and so are the weights of the second dot"),
    "bf16": (3e-2, "bf16 of up to 4, where half a unit in the last place is 8e-3, and so are the weights of the second dot"),
    "fp32": (2e-2, "dots in TF32, to whose 10 bits of mantissa operands are cut off"),
}
"""By element type, for normally distributed V."""

SUM_TOLERANCE = {
    "fp16": (
        1e-4,
        "products of fp16 are exact in fp32: what is left are fp32 sums of up to 128 products and approximate powers of 2",
    ),
    "bf16": (
        1e-4,
        "products of bf16 are exact in fp32: what is left are fp32 sums of up to 128 products and approximate powers of 2",
    ),
    "fp32": (3e-2, "dots in TF32, to whose 10 bits of mantissa operands are cut off, for scores of up to 10"),
}
"""Of LSE, where Q and K go into the dot as they are."""

LARGE = ((4, 16, 1024), (2, 16, 4096))
"""(Z, H, N) to be timed."""
LARGE_ODD = (2, 4, 1500)
"""(Z, H, N) that fill no block, too large for an interpreter; not timed."""


class Standard:
    """Nothing is done to Q, K and the scores."""

    rounds = False
    """Whether Q and K are rounded to their element type once more before the dot."""

    def __init__(self, parameters, heads, generator):
        self.arguments = {}

    def placed(self, x):
        """Q or K [N, D] as it goes into the scores, in float64."""
        return x

    def bias(self, head, queries, keys):
        """What is added to the scores, or None."""
        return None


def attn_standard(parameters, dtype, seed, device, large):
    """Yield problems for attention with positions added outside."""
    return _forward(Standard, parameters, dtype, seed, device, large)


def _forward(family, parameters, dtype, seed, device, large):
    """Yield the problems of a family's forward."""
    d, causal = parameters["D"], parameters["CAUSAL"]
    shapes = [*LARGE, LARGE_ODD] if large else [(1, 1, 1), (1, 1, parameters["BLOCK_M"] + 1), (2, 2, 37)]
    for z, h, n in shapes:
        if n > parameters.get("longest", n):
            continue
        generator = generator_of(seed, device)
        make = plain if large else framed
        q, k, v = (normal((z, h, n, d), DTYPES[dtype], generator, make) for _ in range(3))
        if n == 1:
            v.mul_(4).round_()
        name = f"{z} x {h} heads, {n} keys" if n > 1 else "one key"
        timed = (z, h, n) in LARGE
        yield _problem(name, family(parameters, h, generator), q, k, v, 2.0 / d**0.5, parameters, dtype, timed=timed, exact=n == 1)
    if large:
        return
    n = parameters["BLOCK_M"] + 1
    if not family.rounds:
        # Each score is 1,024 above the one before it, so that the last key that a query sees has all the weight.
        q, k, v = (framed((1, 1, n, d), DTYPES[dtype], device).zero_() for _ in range(3))
        q[..., 0] = 64
        k[..., 0] = 16 * torch.arange(n, device=device)
        v.copy_(torch.randint(-8, 9, v.shape, generator=generator_of(seed, device), device=device))
        this = family(parameters, 1, generator_of(seed, device))
        yield _problem("one key has all the weight", this, q, k, v, 1.0, parameters, dtype, exact=True)


def _problem(name, family, q, k, v, scale, parameters, dtype, timed=False, exact=False):
    """A problem of the forward; where it is ``exact`` every row of O is a row of V."""
    z, h, n, d = q.shape
    o, lse = _reference(family, q, k, v, scale, parameters["CAUSAL"])
    of_output = (0.0, "every row is a row of V, which has whole numbers") if exact else FORWARD_TOLERANCE[dtype]
    return {
        "name": name,
        "arguments": {
            "Q_ptr": q,
            "K_ptr": k,
            "V_ptr": v,
            "O_ptr": _like(q),
            "LSE_ptr": plain((z, h, n), torch.float32, q.device),
            "H": h,
            "N": n,
            "scale": scale,
            "stride_z": q.stride(0),
            "stride_h": q.stride(1),
            "stride_n": q.stride(2),
            **family.arguments,
        },
        "grid": (-(-n // parameters["BLOCK_M"]), z * h),
        "outputs": {"O_ptr": output(o, *of_output), "LSE_ptr": output(lse, *SUM_TOLERANCE[dtype], relative=1e-6)},
        "baseline": _sdpa(q, k, v, scale, parameters["CAUSAL"]) if timed else None,
    }


def _like(x):
    """A view of the shape and the strides of x, in a storage of its own."""
    make = plain if x.is_contiguous() else framed
    return make(x.shape, x.dtype, x.device)


def _reference(family, q, k, v, scale, causal):
    """O and LSE in float64, head by head, so that only one matrix of scores is there at a time."""
    z, h, n, d = q.shape
    o = torch.empty((z, h, n, d), dtype=torch.float64, device=q.device)
    lse = torch.empty((z, h, n), dtype=torch.float64, device=q.device)
    for i in range(z):
        for j in range(h):
            rows = (x[i, j].double() for x in (q, k, v))
            o[i, j], lse[i, j] = _attend(family, j, *rows, scale, causal)
    return o, lse


def _attend(family, head, q, k, v, scale, causal):
    """One head [N, D] in float64: its output, and the logarithm of its rows' sums."""
    scores = scale * family.placed(q) @ family.placed(k).T
    bias = family.bias(head, *scores.shape)
    if bias is not None:
        scores = scores + bias
    if causal:
        hidden = torch.ones(scores.shape, dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(hidden, float("-inf"))
    lse = torch.logsumexp(scores, dim=1)
    return torch.exp(scores - lse[:, None]) @ v, lse


def _sdpa(q, k, v, scale, causal):
    """What to time beside a kernel."""

    def run():
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)

    return run
