"""The problem of a kernel for which the stand-in copies one input."""

import torch


def copied(parameters, dtype, seed, device, large):
    """The reference is the first input."""
    generator = torch.Generator().manual_seed(seed)
    size = 3000 if large else 37
    x, y = (torch.randint(1, 100, (size,), generator=generator).to(torch.float32).to(device) for _ in range(2))
    yield {
        "name": "%d numbers" % size,
        "arguments": {"x": x, "y": y, "out": torch.empty(size, device=device), "n": size},
        "grid": (size,),
        "outputs": {"out": {"reference": x.double()}},
        "baseline": (lambda: x.clone()) if large else None,
    }
