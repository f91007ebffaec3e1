"""Sums of whole numbers."""

import torch


def both(parameters, dtype, seed, device, large):
    """Yield problems: the second tensor of the pair is the first times a factor, and more."""
    for sizes in parameters["large_sizes" if large else "sizes"]:
        n, factor = sizes["n"], sizes["factor"]
        left, more = (torch.arange(n, device=device, dtype=torch.float32) % k for k in (1000, 77))
        right = torch.empty_like(left)
        yield {
            "name": "n = %d" % n,
            "arguments": {"pair": (left, right), "right": right, "more": more, "factor": factor, "n": n},
            "outputs": {"right": {"reference": left.double() * factor + more.double()}},
        }
