"""Problems for the selection kernels: arguments, a float64 reference in plain PyTorch, a tolerance with its reason, a baseline to time.

One function per kernel, called as ``sel_dense(parameters, dtype, seed, device, large)``; ``parameters`` are the constexprs of the case,
and ``brief``, for variants that an interpreter is slow with: fewer shapes then. Small problems are about edges, large ones about time.

What a kernel is not to read is NaN: the surroundings of Q, K and V, and keys and values that no row selects.

Needs PyTorch and the standard library alone, of any version that a pair has.
"""

import torch
from problem_tensors import DTYPES, framed, generator_of, normal, output, plain

TOLERANCE = {
    "fp16": (4e-3, "fp16 of up to 4, where half a unit in the last place is 1e-3, and so are the weights of the second dot"),
    "bf16": (3e-2, "bf16 of up to 4, where half a unit in the last place is 8e-3, and so are the weights of the second dot"),
    "fp32": (2e-2, "dots in TF32, to whose 10 bits of mantissa operands are cut off"),
}
"""By element type, for normally distributed V."""
EXACT = (0.0, "sums of whole numbers")

CHUNK = 64
"""Rows of a reference that are computed at once: float64 takes four times the memory of fp16."""


# --- sel_dense ------------------------------------------------------------------------------------------------------------------


DENSE = {
    "one key": (1, 1, 1),
    "less than a block": (2, 5, 3),
    "one key and one head more than a block": (1, 17, 129),
    "no key": (2, 4, 0),
}
"""(N, H, L), with heads in blocks of 16 and keys in blocks of 128."""
DENSE_BRIEF = {"one key more than a block": (1, 3, 129), "no key": (2, 4, 0)}
DENSE_LARGE = {"512 rows, 64 heads, 2048 keys": (512, 64, 2048)}


def sel_dense(parameters, dtype, seed, device, large):
    """Yield problems for attention over keys that were gathered beforehand."""
    d, dv, brief = parameters["D"], parameters["DV"], parameters.get("brief", False)
    for name, (n, h, length) in (DENSE_LARGE if large else DENSE_BRIEF if brief else DENSE).items():
        generator, make = generator_of(seed, device), plain if large else framed
        q, k, v = (normal(shape, DTYPES[dtype], generator, make) for shape in ((n, h, d), (n, length, d), (n, length, dv)))
        yield _dense(name, q, k, v, TOLERANCE[dtype], timed=large)
    if not (large or brief):
        # A query of zeros: each output is the mean of 128 whole numbers, which fp16 and bf16 have exactly.
        q, k = framed((1, 2, d), DTYPES[dtype], device).zero_(), normal((1, 128, d), DTYPES[dtype], generator)
        v = framed((1, 128, dv), DTYPES[dtype], device)
        v.copy_(torch.randint(-1, 2, v.shape, generator=generator, device=device))
        yield _dense("equal scores", q, k, v, EXACT)


def _dense(name, q, k, v, tolerance, timed=False):
    (n, h, d), (_, length, dv) = q.shape, v.shape
    scale = 2.0 / d**0.5
    o = (plain if timed else framed)((n, h, dv), q.dtype, q.device)
    chunks = zip(*(x.split(CHUNK) for x in (q, k, v)))
    reference = torch.cat([_attend(*(x.double() for x in chunk), scale) for chunk in chunks])

    def baseline():
        return torch.nn.functional.scaled_dot_product_attention(q[:, None], k[:, None], v[:, None], scale=scale)

    return {
        "name": name,
        "arguments": {
            "Q_ptr": q,
            "K_ptr": k,
            "V_ptr": v,
            "O_ptr": o,
            "H": h,
            "L": length,
            "scale": scale,
            **_strides("stride_q", "NHd", q),
            **_strides("stride_k", "NLd", k),
            **_strides("stride_v", "NLd", v),
            **_strides("stride_o", "NHd", o),
        },
        "grid": lambda settings: (n, -(-h // settings["BLOCK_H"])),
        "outputs": {"O_ptr": output(reference, *tolerance)},
        "baseline": baseline if timed else None,
    }


# --- sel_varlen -----------------------------------------------------------------------------------------------------------------


LENGTHS = (0, 1, 70, 160, 33)
"""Sequences packed into K and V; the first one is empty."""
LONG = 10**6

VARLEN = {
    "single range": (3, [(4, [(0, 33)]), (2, [(7, 61)]), (1, [(0, 1)])]),
    "clamped to the sequence": (3, [(4, [(-9, 12)]), (3, [(150, LONG), (-LONG, 3)])]),
    "empty and reversed ranges": (5, [(3, [(5, 5), (40, 43)]), (3, [(9, 3)]), (2, [(70, 70), (80, 90)]), (0, [(0, 4)]), (2, [])]),
    "unaligned neighbours": (5, [(3, [(3, 131), (131, 157)])]),
    "overlapping ranges count twice": (2, [(3, [(10, 40), (30, 50)])]),
    "two blocks of heads": (20, [(4, [(0, 5), (16, 33)])]),
}
"""(H, rows), a row being (its sequence, its ranges), at most two of them: what even the case with the fewest ranges can hold."""
VARLEN_BRIEF = {
    "single range": (3, [(4, [(0, 9)]), (1, [(0, 1)])]),
    "clamped to the sequence": (3, [(4, [(-9, 5)]), (3, [(156, LONG), (-LONG, 3)])]),
    "empty and reversed ranges": (5, [(3, [(5, 5), (40, 43)]), (3, [(9, 3)]), (0, [(0, 4)]), (2, [])]),
    "overlapping ranges count twice": (2, [(3, [(10, 16), (13, 18)])]),
    "two blocks of heads": (17, [(4, [(0, 5)])]),
}
"""The same in fewer keys, for a variant that takes them one by one."""

VARLEN_MANY = {
    "sixteen ranges": (3, [(3, [(9 * j, 9 * j + j // 3) for j in range(16)])]),
    "more and fewer": (3, [(2, [(9 * j, 9 * j + 3) for j in range(7)]), (1, []), (4, [(0, 3), (5, 7), (8, 33)])]),
}
"""Further rows for the cases that hold more than two ranges."""
VARLEN_MANY_BRIEF = {"more and fewer": (3, [(2, [(9 * j, 9 * j + 1) for j in range(7)]), (1, []), (4, [(0, 3), (5, 7), (8, 13)])])}


def sel_varlen(parameters, dtype, seed, device, large):
    """Yield problems for attention over ranges of packed sequences."""
    if large:
        yield _varlen_large(parameters, dtype, seed, device)
        return
    few, many = (VARLEN_BRIEF, VARLEN_MANY_BRIEF) if parameters.get("brief", False) else (VARLEN, VARLEN_MANY)
    for name, (h, rows) in {**few, **(many if parameters["NUM_RANGES"] != 2 else {})}.items():
        yield _varlen(name, h, LENGTHS, rows, parameters, dtype, generator_of(seed, device))


def _varlen_large(parameters, dtype, seed, device):
    """One sequence of 8,192 keys; rows as their case is meant for: a sink and a window, selected blocks of 32, or as many as there are."""
    fixed, length = parameters["NUM_RANGES"], 8192
    generator = torch.Generator().manual_seed(seed)

    def starts(count, most):
        return torch.randint(0, length - most, (count,), generator=generator).tolist()

    if fixed == 2:
        name, h = "2048 rows with a sink of 128 and a window of 1024 keys, 32 heads", 32
        rows = [(0, [(0, 128), (first, first + 1024)]) for first in range(1024, 1024 + 3 * 2048, 3)]
    elif fixed:
        name, h = f"4096 rows with {fixed} ranges of 32 keys, 16 heads", 16
        rows = [(0, [(first, first + 32) for first in starts(fixed, 32)]) for _ in range(4096)]
    else:
        name, h = "4096 rows with 1 to 8 ranges of 32 to 256 keys, 16 heads", 16
        rows = [(0, [(a, a + 32 * (1 + a % 8)) for a in starts(1 + row % 8, 256)]) for row in range(4096)]
    return _varlen(name, h, (length,), rows, parameters, dtype, generator_of(seed, device), timed=True)


def _varlen(name, h, lengths, rows, parameters, dtype, generator, timed=False):
    d, dv, device, make = parameters["D"], parameters["DV"], generator.device, plain if timed else framed
    scale = 2.0 / d**0.5
    q = normal((len(rows), h, d), DTYPES[dtype], generator, make)
    k, v = (normal((sum(lengths), width), DTYPES[dtype], generator, make) for width in (d, dv))
    o = make((len(rows), h, dv), q.dtype, device)
    keys, listed = (x.to(device) for x in keys_of(lengths, rows))
    unused = torch.ones(len(k), dtype=torch.bool, device=device)
    unused[keys[listed]] = False
    k[unused], v[unused] = float("nan"), float("nan")
    chunks = zip(*(x.split(CHUNK) for x in (q, keys, listed)))
    reference = torch.cat([_attend_listed(q_, k, v, keys_, listed_, scale) for q_, keys_, listed_ in chunks])
    mask = None if bool(listed.all()) else listed[:, None, None, :]
    indices = _index_tensors(lengths, rows, parameters["NUM_RANGES"])

    def baseline():
        gathered = k[keys][:, None], v[keys][:, None]
        return torch.nn.functional.scaled_dot_product_attention(q[:, None], *gathered, attn_mask=mask, scale=scale)

    return {
        "name": name,
        "arguments": {
            "Q_ptr": q,
            "K_ptr": k,
            "V_ptr": v,
            "O_ptr": o,
            "H": h,
            "scale": scale,
            **{f"{index}_ptr": tensor.to(device) for index, tensor in indices.items()},
            **_strides("stride_q", "RHd", q),
            **_strides("stride_k", "Ld", k),
            **_strides("stride_v", "Ld", v),
            **_strides("stride_o", "RHd", o),
        },
        "grid": lambda settings: (len(rows), -(-h // settings["BLOCK_H"])),
        "outputs": {"O_ptr": output(reference, *TOLERANCE[dtype])},
        "baseline": baseline if timed else None,
    }


def keys_of(lengths, rows):
    """The packed keys that each row attends to, as often as they are listed, [R, most], and which of these places are used."""
    firsts = [sum(lengths[:sequence]) for sequence in range(len(lengths))]
    listed = [[(firsts[b] + max(0, start), firsts[b] + min(end, lengths[b])) for start, end in ranges] for b, ranges in rows]
    keys = [torch.cat([torch.arange(start, max(start, end)) for start, end in row] or [torch.arange(0)]) for row in listed]
    padded = torch.nn.utils.rnn.pad_sequence(keys, batch_first=True, padding_value=-1)
    return padded.clamp(min=0), padded >= 0


def _index_tensors(lengths, rows, fixed):
    """``cu_seqlens``, ``seq``, ``cu_ranges`` and ``ranges`` as the case wants them.

    A fixed number of ranges is padded with empty ones and comes without ``cu_ranges`` (garbage, which is not to be read).
    """
    dtype = torch.int32 if fixed else torch.int64
    lists = [row + [(4, 4)] * (fixed - len(row)) for _, row in rows]
    counts = [LONG] * len(rows) if fixed else [len(row) for row in lists]
    flat = [end for row in lists for pair in row for end in pair]
    cu_seqlens, cu_ranges = (torch.tensor([0, *sizes], dtype=dtype).cumsum(0, dtype=dtype) for sizes in (lengths, counts))
    sequences = torch.tensor([b for b, _ in rows], dtype=dtype)
    return {"cu_seqlens": cu_seqlens, "seq": sequences, "cu_ranges": cu_ranges, "ranges": torch.tensor(flat, dtype=dtype)}


# --- references -----------------------------------------------------------------------------------------------------------------


def _attend(q, k, v, scale):
    """softmax(scale · q kᵀ) v in float64, [C, H, D], [C, L, D], [C, L, DV] → [C, H, DV]; zero where L = 0."""
    return torch.softmax(scale * q @ k.transpose(1, 2), dim=-1) @ v


def _attend_listed(q, k, v, keys, listed, scale):
    """The same for rows that list their keys, [C, L]; zero for a row that lists none."""
    absent = ~listed[:, :, None]
    k, v = (x[keys].double().masked_fill(absent, 0.0) for x in (k, v))
    scores = (scale * q.double() @ k.transpose(1, 2)).masked_fill(absent.transpose(1, 2), float("-inf"))
    return torch.softmax(scores, dim=-1).nan_to_num(0.0) @ v


def _strides(prefix, axes, x):
    return {prefix + axis: stride for axis, stride in zip(axes, x.stride())}
