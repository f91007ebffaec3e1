"""Run the selection kernels in Triton's interpreter and hold them to a plain PyTorch reference.

    python check.py KERNELS_DIR [KERNEL/VARIANT[/CASE] …]

To be run by the Python of an env that has Triton, PyTorch and numpy; it needs no GPU and nothing else. It prints one line of JSON
for each variant and case that the TOML files in KERNELS_DIR declare, or for those that are named:

    kernel, variant, case   which
    ok                      every shape was computed, and to within TOLERANCE
    max_abs_err             over all shapes tried; null if that is no finite number
    tried, worst            how many shapes, and the one with the largest error; after one that is wrong no other is tried
    error                   the exception that ended it, or null

Inputs are views into larger tensors full of NaN: whatever a kernel reads that is not its own shows in the output. So does what it
writes beside it, because the output starts out as such a view too, and its surroundings are looked at afterwards.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"  # read when a kernel is decorated

import torch

TOLERANCE = 4e-3
"""Outputs are fp16 of up to 4, where half a unit in the last place is 1e-3, and so are the weights of the second dot."""

NAN = float("nan")
MARGIN = 8  # fp16 elements around a view: 16 bytes, so that views stay as aligned as tensor descriptors ask for

Row = list[tuple[int, int]]
"""The ranges of one query row."""


# --- tensors --------------------------------------------------------------------------------------------------------------------


def framed(*shape: int) -> torch.Tensor:
    """An fp16 view full of NaN, in a frame of NaN that is MARGIN wide along the two innermost axes."""
    *outer, rows, columns = shape
    return torch.full((*outer, rows + 2 * MARGIN, columns + 2 * MARGIN), NAN, dtype=torch.float16)[
        ..., MARGIN : MARGIN + rows, MARGIN : MARGIN + columns
    ]


def normal(*shape: int) -> torch.Tensor:
    """A framed view of normally distributed numbers."""
    return framed(*shape).copy_(torch.randn(shape))


def frame_is_intact(view: torch.Tensor) -> bool:
    """Whether nothing but the view itself was written: as many numbers in its storage as in the view."""
    storage = torch.empty(0, dtype=view.dtype).set_(view.untyped_storage())  # type: ignore[no-untyped-call,unused-ignore]
    numbers = int((~storage.isnan()).sum())
    return numbers <= int(view.numel())


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float) -> torch.Tensor:
    """The reference: softmax(scale · q kᵀ) v for one row, [H, D], [L, D], [L, DV] → [H, DV] in fp32, zero where L = 0."""
    scores = scale * q.float() @ k.float().T
    return torch.softmax(scores, dim=1) @ v.float()


def error_of(got: torch.Tensor, wanted: torch.Tensor) -> float:
    """Largest absolute difference; infinite where a number is missing or something else was overwritten."""
    difference = (got.float() - wanted).abs()
    return float(difference.max()) if frame_is_intact(got) and bool(difference.isfinite().all()) else float("inf")


# --- sel_dense ------------------------------------------------------------------------------------------------------------------


DENSE_SHAPES = {
    "one key": (1, 1, 1),
    "less than a block": (2, 5, 3),
    "exactly one block": (1, 16, 128),
    "one key more than a block": (1, 3, 129),
    "one head more than a block": (1, 17, 70),
    "no key": (2, 4, 0),
}
"""(N, H, L), with heads in blocks of 16 and keys in blocks of 128."""


def check_sel_dense(function: Any, constexprs: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the error of every shape."""
    d, dv = constexprs["D"], constexprs["DV"]
    scale = 2.0 / d**0.5
    for name, (n, h, length) in DENSE_SHAPES.items():
        q, k, v, o = normal(n, h, d), normal(n, length, d), normal(n, length, dv), framed(n, h, dv)
        grid = (n, -(-h // constexprs["BLOCK_H"]))
        function[grid](q, k, v, o, h, length, scale, *q.stride(), *k.stride(), *v.stride(), *o.stride(), **constexprs)
        yield name, error_of(o, torch.stack([attend(q[i], k[i], v[i], scale) for i in range(n)]))


# --- sel_varlen -----------------------------------------------------------------------------------------------------------------


LENGTHS = [0, 1, 70, 160, 33]
"""Sequences packed into K and V; the first one is empty."""
LONG = 10**6

VARLEN_ROWS: dict[str, tuple[int, list[tuple[int, Row]]]] = {
    "single range": (3, [(4, [(0, 33)]), (2, [(7, 61)]), (1, [(0, 1)])]),
    "clamped to the sequence": (3, [(2, [(0, LONG)]), (4, [(-9, 12)]), (3, [(150, LONG), (-LONG, 3)])]),
    "empty and reversed ranges": (5, [(3, [(5, 5), (40, 43)]), (3, [(9, 3)]), (2, [(70, 70), (80, 90)]), (0, [(0, 4)]), (2, [])]),
    "unaligned neighbours": (5, [(3, [(3, 131), (131, 157)]), (2, [(1, 34), (35, 36)])]),
    "overlapping ranges count twice": (2, [(3, [(10, 50), (30, 70)])]),
    "two blocks of heads": (20, [(4, [(0, 5), (16, 33)])]),
    "ends inside the first block": (4, [(3, [(3, 9)])]),
}
"""(H, rows), a row being (its sequence, its ranges), at most two of them: what even the case with the fewest ranges can hold."""

MANY_ROWS: dict[str, tuple[int, list[tuple[int, Row]]]] = {
    "sixteen ranges": (3, [(3, [(9 * j, 9 * j + j // 2) for j in range(16)]), (2, [(0, 40)] + [(j, j + 1) for j in range(15)])]),
    "more and fewer": (
        3,
        [(2, [(9 * j, 9 * j + 4) for j in range(7)]), (3, [(110, 159)]), (1, []), (4, [(0, 3), (5, 7), (8, 33)])],
    ),
}
"""Further rows for the cases that hold more than two ranges."""


def keys_of(sequence: int, row: Row) -> list[int]:
    """The packed rows of K that a query row attends to, in order, as often as they are listed."""
    first, length = sum(LENGTHS[:sequence]), LENGTHS[sequence]
    return [first + j for start, end in row for j in range(max(0, start), min(end, length))]


def index_tensors(rows: list[tuple[int, Row]], constexprs: dict[str, Any]) -> list[torch.Tensor]:
    """``cu_seqlens``, ``seq``, ``cu_ranges`` and ``ranges`` as the case wants them.

    A fixed number of ranges is padded with empty ones and comes without ``cu_ranges`` (garbage, which is not to be read).
    """
    fixed = constexprs["NUM_RANGES"]
    dtype = torch.int32 if fixed else torch.int64
    lists = [row + [(4, 4)] * (fixed - len(row)) for _, row in rows]
    counts = [LONG] * len(rows) if fixed else [len(row) for row in lists]
    flat = [end for row in lists for pair in row for end in pair]
    cumulated = [torch.tensor([0, *sizes], dtype=dtype).cumsum(0, dtype=dtype) for sizes in (LENGTHS, counts)]
    return [cumulated[0], torch.tensor([b for b, _ in rows], dtype=dtype), cumulated[1], torch.tensor(flat, dtype=dtype)]


def check_sel_varlen(function: Any, constexprs: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the error of every list of rows; keys and values that none of its rows selects are NaN."""
    d, dv, fixed = constexprs["D"], constexprs["DV"], constexprs["NUM_RANGES"]
    scale = 2.0 / d**0.5
    for name, (h, rows) in (VARLEN_ROWS if fixed == 2 else VARLEN_ROWS | MANY_ROWS).items():
        q, k, v, o = normal(len(rows), h, d), framed(sum(LENGTHS), d), framed(sum(LENGTHS), dv), framed(len(rows), h, dv)
        keys = [keys_of(sequence, row) for sequence, row in rows]
        for j in {j for selected in keys for j in selected}:
            k[j], v[j] = torch.randn(d), torch.randn(dv)
        grid = (len(rows), -(-h // constexprs["BLOCK_H"]))
        indices = index_tensors(rows, constexprs)
        function[grid](q, k, v, o, *indices, h, scale, *q.stride(), *k.stride(), *v.stride(), *o.stride(), **constexprs)
        yield name, error_of(o, torch.stack([attend(q[r], k[selected], v[selected], scale) for r, selected in enumerate(keys)]))


CHECKS: dict[str, Callable[[Any, dict[str, Any]], Iterator[tuple[str, float]]]] = {
    "sel_dense": check_sel_dense,
    "sel_varlen": check_sel_varlen,
}


# --- variants -------------------------------------------------------------------------------------------------------------------


def functions_of(source: Path) -> Any:
    """The module of kernels at a path, imported."""
    spec = importlib.util.spec_from_file_location(source.stem, source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def variants_of(directory: Path, wanted: set[str]) -> Iterator[tuple[dict[str, str], Any, dict[str, Any]]]:
    """Yield (kernel, variant and case; function; constexprs) of all that are declared, or of those that are wanted."""
    for path in sorted(directory.glob("*.toml")):
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        module = functions_of(directory / document["source"])
        for variant in document["variant"]:
            for case in document["case"]:
                names = {"kernel": document["kernel"], "variant": variant["name"], "case": case["name"]}
                if not wanted or wanted & {"/".join([*names.values()][:2]), "/".join(names.values())}:
                    constexprs = document["constexprs"] | variant.get("constexprs", {}) | case.get("constexprs", {})
                    yield names, getattr(module, variant["function"]), constexprs


def checked(kernel: str, function: Any, constexprs: dict[str, Any]) -> dict[str, Any]:
    """The findings on one variant and case. An exception, whatever it is, is a finding."""
    torch.manual_seed(0)
    errors: dict[str, float] = {}
    error = None
    try:
        for name, found in CHECKS[kernel](function, constexprs):
            errors[name] = found
            if not found <= TOLERANCE:
                break
    except Exception as failure:
        error = f"{type(failure).__name__}: {failure}"
    worst = max(errors, key=errors.__getitem__, default=None)
    largest = errors[worst] if worst is not None else float("inf")
    return {
        "max_abs_err": largest if largest != float("inf") else None,
        "ok": error is None and largest <= TOLERANCE,
        "tried": len(errors),
        "worst": worst,
        "error": error,
    }


def main(directory: str, *wanted: str) -> None:
    """Print one line of JSON per variant and case."""
    for names, function, constexprs in variants_of(Path(directory), set(wanted)):
        print(json.dumps(names | checked(names["kernel"], function, constexprs)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
