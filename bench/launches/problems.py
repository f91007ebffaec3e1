"""Problems of kernels that ptxas 12.8 miscompiles: inputs are whole numbers, references exact."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import torch

SMALL, LARGE = (64, 96), (448, 576, 1024, 2000)
"""The lengths of the sequences in one batch."""


def gradients(
    parameters: dict[str, Any], dtype: str, seed: int, device: str, large: bool
) -> Iterator[dict[str, object]]:
    """The gradients of queries and keys, and of the decay before it is summed up.

    All decays are 1, so the products stay whole numbers.
    """
    heads, keys, values, rows = (parameters[name] for name in ("H", "K", "V", "BT"))
    generator = torch.Generator(device=device).manual_seed(seed)

    def whole(*shape: int, kind: torch.dtype = torch.float16) -> torch.Tensor:
        return torch.randint(-1, 2, shape, generator=generator, device=device).to(kind)

    def zeros(width: int, kind: torch.dtype) -> torch.Tensor:
        return torch.zeros(1, length, heads, width, dtype=kind, device=device)

    lengths = LARGE if large else SMALL
    ends = (0, *accumulate(lengths))
    length = ends[-1]
    chunks = [(n, at) for n, size in enumerate(lengths) for at in range(-(-size // rows))]
    q, k = (whole(1, length, heads, keys) for _ in range(2))
    v, do = (whole(1, length, heads, values) for _ in range(2))
    h, dh = (whole(len(chunks), heads, keys, values, kind=torch.float32) for _ in range(2))
    dq, dk = zeros(keys, torch.float64), zeros(keys, torch.float64)
    force = torch.zeros(1, length, heads, dtype=torch.float64, device=device)
    for number, (n, at) in enumerate(chunks):
        start = ends[n] + at * rows
        part = slice(start, min(start + rows, ends[n + 1]))
        for head in range(heads):
            query, key, value, gradient = (x[0, part, head].double() for x in (q, k, v, do))
            state, state_gradient = h[number, head].double(), dh[number, head].double()
            scores = torch.tril(gradient @ value.T)
            of_keys = value @ state_gradient.T
            last = (state * state_gradient).sum() + (of_keys * key).sum()
            dq[0, part, head] = gradient @ state.T + scores @ key
            dk[0, part, head] = of_keys + scores.T @ query
            force[0, part, head] = (dq[0, part, head] * query - dk[0, part, head] * key).sum(1)
            force[0, part.stop - 1, head] += last
    yield {
        "name": "large" if large else "small",
        "arguments": {
            "q": q,
            "k": k,
            "v": v,
            "g": torch.zeros(1, length, heads, device=device),
            "h": h,
            "do": do,
            "dh": dh,
            "dq": zeros(keys, torch.float16),
            "dk": zeros(keys, torch.float16),
            "dg_force": torch.empty(1, length, heads, device=device),
            "cu_seqlens": torch.tensor(ends, dtype=torch.int32, device=device),
            "chunk_indices": torch.tensor(chunks, dtype=torch.int32, device=device),
            "scale": 1.0,
            "T": length,
        },
        "grid": (keys // parameters["BK"], len(chunks), heads),
        "outputs": {
            "dq": {"reference": dq},
            "dk": {"reference": dk},
            "dg_force": {"reference": force, "initial": 0.0},
        },
    }


def product(
    parameters: dict[str, Any], dtype: str, seed: int, device: str, large: bool
) -> Iterator[dict[str, object]]:
    """The product of three matrices."""
    rows, inner, width = (parameters[name] for name in ("ROWS", "INNER", "WIDTH"))
    generator = torch.Generator(device=device).manual_seed(seed)
    q, k, v = (
        torch.randint(-2, 3, shape, generator=generator, device=device).to(torch.float16)
        for shape in ((rows, inner), (inner, rows), (rows, width))
    )
    yield {
        "name": "large" if large else "small",
        "arguments": {"q": q, "k": k, "v": v, "out": torch.empty(rows, width, device=device)},
        "grid": (1,),
        "outputs": {"out": {"reference": q.double() @ k.double() @ v.double()}},
    }
