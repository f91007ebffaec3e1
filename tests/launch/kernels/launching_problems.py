"""Problems of whole numbers, whose references are exact."""

import torch

SMALL = {"one number": 1, "one less than a block": 127, "one more than a block": 129}
LARGE = {"half a million numbers": 1 << 19}


def plus_one(parameters, dtype, seed, device, large):
    """The sum of each number and 1."""
    generator = torch.Generator().manual_seed(seed)
    for name, size in (LARGE if large else SMALL).items():
        source = torch.randint(0, 1000, (size,), generator=generator).to(torch.float32).to(device)
        yield {
            "name": name,
            "arguments": {"source": source, "result": framed(size, device), "size": size},
            "grid": (-(-size // parameters["BLOCK"]),),
            "outputs": {"result": {"reference": source.double() + 1}},
            "baseline": (lambda source=source: source + 1) if large else None,
        }


def tickets(parameters, dtype, seed, device, large):
    """The problems of plus_one, with a counter for the number of programs."""
    for problem in plus_one(parameters, dtype, seed, device, large):
        programs = problem["grid"][0]
        problem["arguments"]["counter"] = torch.zeros(1, dtype=torch.int32, device=device)
        reference = torch.tensor([programs], device=device)
        problem["outputs"]["counter"] = {"reference": reference, "initial": 0}
        yield problem


def product(parameters, dtype, seed, device, large):
    """The product of two matrices of small whole numbers."""
    m, n, k = parameters["M"], parameters["N"], parameters["BLOCK"] * (64 if large else 3)
    generator = torch.Generator().manual_seed(seed)
    a = torch.randint(-2, 3, (m, k), generator=generator).to(torch.float16).to(device)
    b = torch.randint(-2, 3, (k, n), generator=generator).to(torch.float16).to(device)
    yield {
        "name": "%d by %d by %d" % (m, n, k),
        "arguments": {"a_ptr": a, "b_ptr": b, "c_ptr": torch.empty(m, n, dtype=torch.float32, device=device), "K": k},
        "grid": (4,),
        "outputs": {"c_ptr": {"reference": a.double() @ b.double()}},
        "baseline": (lambda: a @ b) if large else None,
    }


def framed(size, device):
    """Numbers with others around them, which no kernel may use."""
    return torch.empty(size + 32, device=device)[16 : 16 + size]
