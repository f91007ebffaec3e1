"""Problems for the attention kernels: arguments, a float64 reference in plain PyTorch, tolerances with their reasons, a baseline to time.

One function per kernel, called as ``attn_standard(parameters, dtype, seed, device, large)``; ``parameters`` are the constexprs of the
case, ``longest``, the most keys that a variant is to be given, and ``brief``, for variants that an interpreter is slow with. The
families differ as their kernels do: in what becomes of Q and K, and in what is added to the scores (``attention_families.py``).

Tolerances are three to four times the largest error that the same roundings make in plain PyTorch, of Q and K once more where they
are changed, of the weights, and of O, for V of up to 4 and scores of up to 10.

Needs PyTorch and the standard library alone, of any version that a pair has.
"""

import torch
from attention_families import Absolute, Exposb, Rope, Standard, attend
from problem_tensors import DTYPES, framed, generator_of, normal, output, plain

LARGE = ((4, 16, 1024), (2, 16, 4096))
"""(Z, H, N) to be timed."""
LARGE_ODD = (2, 4, 1500)
"""(Z, H, N) that fill no block, too large for an interpreter; not timed."""
ROUNDING = {"fp16": 2.0**-9, "bf16": 2.0**-6, "fp32": 2.0**-9}
"""What a row that has one weight may be off by, relative to it: the rounding of that weight for its dot (fp32: to TF32), four times."""
ONE_WEIGHT = "every row is a row of V; a fused multiply-add leaves the one weight near 1, and it is rounded for its dot"


def attn_standard(parameters, dtype, seed, device, large):
    """Yield problems for attention with positions added outside."""
    return _forward(Standard, parameters, dtype, seed, device, large)


def attn_host(parameters, dtype, seed, device, large):
    """Yield the problems of attn_standard, for a kernel that takes the tensors as descriptors."""
    for problem in attn_standard(parameters, dtype, seed, device, large):
        given, outputs = problem["arguments"], problem["outputs"]
        tensors = {"{}_desc".format(name): given["{}_ptr".format(name)] for name in "QKVO"}
        numbers = {name: given[name] for name in ("LSE_ptr", "H", "N", "scale")}
        yield {
            **problem,
            "arguments": {**tensors, **numbers},
            "outputs": {"O_desc": outputs["O_ptr"], "LSE_ptr": outputs["LSE_ptr"]},
        }


def attn_rope(parameters, dtype, seed, device, large):
    """Yield problems for attention with rotary positions."""
    return _forward(Rope, parameters, dtype, seed, device, large)


def attn_exposb(parameters, dtype, seed, device, large):
    """Yield problems for attention with an exponential bias for near keys."""
    return _forward(Exposb, parameters, dtype, seed, device, large)


def attn_absolute(parameters, dtype, seed, device, large):
    """Yield problems for attention with sinusoids added to Q and K."""
    return _forward(Absolute, parameters, dtype, seed, device, large)


def _forward(family, parameters, dtype, seed, device, large):
    """Yield the problems of a family's forward."""
    d, n, brief = parameters["D"], parameters["BLOCK_M"] + 1, parameters.get("brief", False)
    shapes = [*LARGE, LARGE_ODD] if large else [(1, 1, 1), (1, 1, n), (1, 2, 21) if brief else (2, 2, 37)]
    for shape in (shape for shape in shapes if shape[-1] <= parameters.get("longest", shape[-1])):
        generator = generator_of(seed, device)
        q, k, v = (normal((*shape, d), DTYPES[dtype], generator, plain if large else framed) for _ in range(3))
        one = shape[-1] == 1
        if one:
            v.mul_(4).round_()
        name = "one key" if one else "{} x {} heads, {} keys".format(*shape)
        this = family(shape[1], generator)
        yield _problem(name, this, q, k, v, 2.0 / d**0.5, parameters, dtype, timed=shape in LARGE, exact=one)
    if not large and family.keeps_products:
        yield _one_with_all_the_weight(family, 21 if brief else n, parameters, dtype, seed, device)


def _one_with_all_the_weight(family, n, parameters, dtype, seed, device):
    """Each score is 1,024 above the one before it, so that the last key that a query sees has all the weight: O is its row of V."""
    generator = generator_of(seed, device)
    q, k, v = (framed((1, 1, n, parameters["D"]), DTYPES[dtype], device).zero_() for _ in range(3))
    q[..., 0] = 64
    k[..., 0] = 16 * torch.arange(n, device=device)
    v.copy_(torch.randint(-8, 9, v.shape, generator=generator, device=device))
    return _problem("one key has all the weight", family(1, generator), q, k, v, 1.0, parameters, dtype, exact=True)


def _problem(name, family, q, k, v, scale, parameters, dtype, timed=False, exact=False):
    """A problem of the forward; where it is ``exact`` every row of O is a row of V."""
    (z, h, n, _), causal = q.shape, parameters["CAUSAL"]
    o, lse = _reference(family, q, k, v, scale, causal)
    of_output = output(o, 0.0, ONE_WEIGHT, ROUNDING[dtype]) if exact else output(o, *family.tolerance(dtype))
    return {
        "name": name,
        "arguments": {
            "Q_ptr": q,
            "K_ptr": k,
            "V_ptr": v,
            "O_ptr": like(q),
            "LSE_ptr": plain((z, h, n), torch.float32, q.device),
            "H": h,
            "N": n,
            "scale": scale,
            "stride_z": q.stride(0),
            "stride_h": q.stride(1),
            "stride_n": q.stride(2),
            **family.arguments,
        },
        "grid": lambda settings: (-(-n // settings["BLOCK_M"]), z * h),
        "outputs": {"O_ptr": of_output, "LSE_ptr": output(lse, *family.tolerance_of_sums(dtype), relative=1e-6)},
        "baseline": family.baseline(q, k, v, scale, causal) if timed else None,
    }


def like(x):
    """A view of the shape and the strides of x, in a storage of its own."""
    make = plain if x.is_contiguous() else framed
    return make(x.shape, x.dtype, x.device)


def _reference(family, q, k, v, scale, causal):
    """O and LSE in float64, head by head, so that only one matrix of scores is there at a time."""
    o = torch.empty(q.shape, dtype=torch.float64, device=q.device)
    lse = torch.empty(q.shape[:-1], dtype=torch.float64, device=q.device)
    for z in range(q.shape[0]):
        for h in range(q.shape[1]):
            rows = (x[z, h].double() for x in (q, k, v))
            o[z, h], lse[z, h] = attend(family, h, *rows, scale, causal)
    return o, lse
