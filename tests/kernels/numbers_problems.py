"""Problems for the kernels of numbers.py."""

from pathlib import Path

import torch

TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def sums(parameters, dtype, seed, device, large):
    for name, n in (("one block", 16), ("one more", 17), ("several", 100)):
        x, y = numbers(n), numbers(n)
        yield problem(name, x, y, x + y, parameters, dtype)


def copies(parameters, dtype, seed, device, large):
    x = numbers(17)
    yield problem("one more", x, x, x, parameters, dtype)


def numbers(n):
    return torch.randint(-8, 9, (n,))


def problem(name, x, y, reference, parameters, dtype):
    """In the middle of a larger tensor, so that what is written beside it shows."""
    n, kind = len(x), TYPES[dtype]
    o = torch.empty(n + 32, dtype=kind)[16 : n + 16]
    return {
        "name": name,
        "arguments": {"x": x.to(kind), "y": y.to(kind), "o": o, "n": n},
        "grid": (-(-n // parameters["BLOCK"]),),
        "outputs": {"o": {"reference": reference.double()}},
    }


def raises(parameters, dtype, seed, device, large):
    yield from sums(parameters, dtype, seed, device, large)
    yield {"name": "never made", "arguments": parameters["nothing of that name"]}


def lacks_an_argument(parameters, dtype, seed, device, large):
    for problem in sums(parameters, dtype, seed, device, large):
        del problem["arguments"]["y"]
        yield problem


def one_run_in_two(parameters, dtype, seed, device, large):
    """The first run, the third, … are held to a wrong reference: a file beside this one is there, or is not.

    A listing finds the file, because a result is not kept if a file that its problem asked for appears.
    """
    mark = Path(__file__).with_name("ran")
    wrong = mark not in mark.parent.iterdir()
    mark.touch() if wrong else mark.unlink()
    x, y = numbers(16), numbers(16)
    yield problem("one block", x, y, x + y + wrong, parameters, dtype)
