"""What the attention families do to Q, K and the scores, in float64, as plain PyTorch; and what to time beside each.

A baseline does the same job: SDPA, after Q and K were rotated or added to (with tables that are there already), or with the bias as
a mask that is there already.
"""

import math

import torch
from problem_tensors import plain

THETA = 10000.0
"""Of rotary and absolute positions."""


class Standard:
    """Nothing is done to Q, K and the scores."""

    keeps_products = True
    """Whether the product of Q and K is that of the kernel's arguments as they are."""
    of_output = {"fp16": 4e-3, "bf16": 3e-2, "fp32": 2e-2}
    of_sums = {"fp16": 1e-4, "bf16": 1e-4, "fp32": 3e-2}
    """Tolerances of O and LSE, by element type."""

    def __init__(self, heads, generator):
        self.arguments = {}

    def tolerance(self, dtype):
        """Of O, and its reason."""
        return self.of_output[dtype], f"weights and outputs are rounded to {_bits(dtype)}"

    def tolerance_of_sums(self, dtype):
        """Of LSE, and its reason."""
        exact = self.keeps_products and dtype != "fp32"
        reason = f"products of {dtype} are exact in fp32, sums are not" if exact else f"Q and K are rounded to {_bits(dtype)}"
        return self.of_sums[dtype], reason

    def placed(self, x):
        """Q or K [..., N, D] as it goes into the scores."""
        return x

    def bias(self, head, n):
        """What is added to the scores [N, N] of a head, or None."""
        return None

    def baseline(self, q, k, v, scale, causal):
        """What to time beside a kernel."""

        def run():
            return sdpa(q, k, v, is_causal=causal, scale=scale)

        return run


class Rope(Standard):
    """Each pair of neighbouring features of Q and K is rotated by an angle that grows with the position."""

    keeps_products = False
    of_output = {"fp16": 8e-3, "bf16": 6e-2, "fp32": 2e-2}
    of_sums = {"fp16": 8e-3, "bf16": 6e-2, "fp32": 4e-2}

    def __init__(self, heads, generator):
        self.arguments = {"theta": THETA}

    def placed(self, x):
        return rotated(x, *sinusoids(x))

    def baseline(self, q, k, v, scale, causal):
        tables = [table.to(q.dtype) for table in sinusoids(q)]

        def run():
            return sdpa(rotated(q, *tables), rotated(k, *tables), v, is_causal=causal, scale=scale)

        return run


class Absolute(Rope):
    """Sines and cosines of the position are added to the features of Q and K."""

    of_output = {"fp16": 1.2e-2, "bf16": 1.2e-1, "fp32": 3e-2}
    of_sums = {"fp16": 1.5e-2, "bf16": 1.2e-1, "fp32": 6e-2}

    def placed(self, x):
        return x + interleaved(*sinusoids(x))

    def baseline(self, q, k, v, scale, causal):
        table = interleaved(*sinusoids(q)).to(q.dtype)

        def run():
            return sdpa(q + table, k + table, v, is_causal=causal, scale=scale)

        return run


class Exposb(Standard):
    """A bias that falls exponentially with the distance is added to the scores."""

    def __init__(self, heads, generator):
        height, decay = (plain((heads,), torch.float32, generator.device) for _ in range(2))
        height.copy_(torch.randn((heads,), generator=generator, device=generator.device))
        decay.copy_(2.0 ** -torch.arange(1, heads + 1, device=generator.device))
        self.arguments = {"height_ptr": height, "decay_ptr": decay}

    def bias(self, head, n):
        height, decay = (self.arguments[name][head].double() for name in ("height_ptr", "decay_ptr"))
        positions = torch.arange(n, dtype=torch.float64, device=height.device)
        return height * torch.exp(-decay * (positions[:, None] - positions[None, :]).abs())

    def baseline(self, q, k, v, scale, causal):
        _, heads, n, _ = q.shape
        mask = torch.stack([self.bias(head, n).to(q.dtype) for head in range(heads)])
        if causal:
            mask.masked_fill_(hidden(n, q.device), float("-inf"))

        def run():
            return sdpa(q, k, v, attn_mask=mask, scale=scale)

        return run


def attend(family, head, q, k, v, scale, causal):
    """One head [N, D] in float64: its output, and the logarithm of its rows' sums."""
    scores = scale * family.placed(q) @ family.placed(k).T
    bias = family.bias(head, len(scores))
    if bias is not None:
        scores = scores + bias
    if causal:
        scores = scores.masked_fill(hidden(len(scores), q.device), float("-inf"))
    lse = torch.logsumexp(scores, dim=1)
    return torch.exp(scores - lse[:, None]) @ v, lse


def hidden(n, device):
    """Where a key comes after a query, [N, N]."""
    return torch.ones((n, n), dtype=torch.bool, device=device).triu(1)


def sinusoids(x):
    """Sine and cosine of the angles of x [..., N, D], [N, D / 2] each, in float64."""
    n, d = x.shape[-2:]
    positions = torch.arange(n, dtype=torch.float64, device=x.device)
    pairs = torch.arange(d // 2, dtype=torch.float64, device=x.device)
    angles = positions[:, None] * torch.exp(-math.log(THETA) * 2 * pairs / d)[None, :]
    return angles.sin(), angles.cos()


def rotated(x, sine, cosine):
    """x [..., N, D] with each pair of neighbouring features rotated."""
    even, odd = x[..., 0::2], x[..., 1::2]
    return interleaved(even * cosine - odd * sine, even * sine + odd * cosine)


def interleaved(even, odd):
    """Features [..., N, D] from the even and the odd ones."""
    return torch.stack((even, odd), dim=-1).flatten(-2)


def sdpa(q, k, v, **options):
    """PyTorch's own attention."""
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, **options)


def _bits(dtype):
    return {"fp16": "fp16", "bf16": "bf16", "fp32": "TF32, whose mantissa has 10 bits"}[dtype]
