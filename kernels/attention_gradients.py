"""Problems for the backward of attention: gradients are held to autograd of a float64 reference.

LSE and delta are the reference's, rounded to fp32, so that each kernel is judged alone. What is timed beside dQ, and beside dK and dV,
is the whole backward of SDPA, which makes all three.

Needs PyTorch and the standard library alone, of any version that a pair has.
"""

import torch
from attention_families import Rope, Standard, attend
from attention_problems import LARGE, LARGE_ODD, like
from problem_tensors import DTYPES, framed, generator_of, normal, output, plain

TOLERANCE = {"fp16": 1e-2, "bf16": 8e-2, "fp32": 3e-2}
"""Of dQ, dK and dV, by element type, besides RELATIVE of each: three to four times what the same roundings make in plain PyTorch."""
RELATIVE = {"fp16": 4e-3, "bf16": 3e-2, "fp32": 1e-2}


def attn_standard_dkdv(parameters, dtype, seed, device, large):
    """Yield problems for dK and dV of attention."""
    return _gradients(Standard, "BLOCK_N", ("dK_ptr", "dV_ptr"), parameters, dtype, seed, device, large)


def attn_standard_dq(parameters, dtype, seed, device, large):
    """Yield problems for dQ of attention."""
    return _gradients(Standard, "BLOCK_M", ("dQ_ptr",), parameters, dtype, seed, device, large)


def attn_rope_dkdv(parameters, dtype, seed, device, large):
    """Yield problems for dK and dV of attention with rotary positions."""
    return _gradients(Rope, "BLOCK_N", ("dK_ptr", "dV_ptr"), parameters, dtype, seed, device, large)


def attn_rope_dq(parameters, dtype, seed, device, large):
    """Yield problems for dQ of attention with rotary positions."""
    return _gradients(Rope, "BLOCK_M", ("dQ_ptr",), parameters, dtype, seed, device, large)


def attn_delta(parameters, dtype, seed, device, large):
    """Yield problems for the sums of O · dO, of whole numbers, so that they are exact."""
    d, block = parameters["D"], parameters["BLOCK_M"]
    for shape in _shapes(block, large):
        generator = generator_of(seed, device)
        o, do = (_made((*shape, d), dtype, generator, large) for _ in range(2))
        for x in (o, do):
            x.copy_(torch.randint(-4, 5, x.shape, generator=generator, device=device))
        delta = (o.double() * do.double()).sum(-1)
        arguments = {"O_ptr": o, "dO_ptr": do, "delta_ptr": plain(shape, torch.float32, o.device)}
        yield {
            "name": _name(shape),
            "arguments": {**arguments, **_sizes(o)},
            "grid": (-(-shape[-1] // block), shape[0] * shape[1]),
            "outputs": {"delta_ptr": output(delta, 0.0, "sums of whole numbers")},
            "baseline": _delta_of(o, do) if shape in LARGE else None,
        }


def _gradients(family, block, wanted, parameters, dtype, seed, device, large):
    """Yield problems for the gradients that are wanted; a program has the block of that name."""
    d, causal = parameters["D"], parameters["CAUSAL"]
    scale = 2.0 / d**0.5
    for shape in _shapes(parameters[block], large):
        generator = generator_of(seed, device)
        q, k, v, do = (_made((*shape, d), dtype, generator, large) for _ in range(4))
        this = family(shape[1], generator)
        lse, delta, gradients = _reference(this, q, k, v, do, scale, causal)
        outputs = {name: like(q) for name in wanted}
        arguments = {"Q_ptr": q, "K_ptr": k, "V_ptr": v, "dO_ptr": do, "LSE_ptr": lse, "delta_ptr": delta}
        yield {
            "name": _name(shape),
            "arguments": {**arguments, **outputs, **_sizes(q), "scale": scale, **this.arguments},
            "grid": (-(-shape[-1] // parameters[block]), shape[0] * shape[1]),
            "outputs": {
                name: output(gradients[name], TOLERANCE[dtype], "weights and dS are rounded before their dots", RELATIVE[dtype])
                for name in wanted
            },
            "baseline": _backward(this, q, k, v, do, scale, causal) if shape in LARGE else None,
        }


def _shapes(block, large):
    return [*LARGE, LARGE_ODD] if large else [(1, 1, 1), (1, 1, block + 1), (2, 2, 37)]


def _name(shape):
    return "{} x {} heads, {} keys".format(*shape)


def _made(shape, dtype, generator, large):
    return normal(shape, DTYPES[dtype], generator, plain if large else framed)


def _sizes(x):
    """The arguments that say how large x [Z, H, N, D] is and how it lies in memory."""
    return {"H": x.shape[1], "N": x.shape[2], "stride_z": x.stride(0), "stride_h": x.stride(1), "stride_n": x.stride(2)}


def _reference(family, q, k, v, do, scale, causal):
    """LSE and delta in fp32, and the gradients in float64 by the names of their pointers, head by head."""
    z, h, n, _ = q.shape
    lse, delta = (plain((z, h, n), torch.float32, q.device) for _ in range(2))
    names = ("dQ_ptr", "dK_ptr", "dV_ptr")
    gradients = {name: torch.empty(q.shape, dtype=torch.float64, device=q.device) for name in names}
    for i in range(z):
        for j in range(h):
            rows = [x[i, j].double().requires_grad_() for x in (q, k, v)]
            o, sums = attend(family, j, *rows, scale, causal)
            of_o = do[i, j].double()
            for name, gradient in zip(names, torch.autograd.grad((o * of_o).sum(), rows)):
                gradients[name][i, j] = gradient
            lse[i, j] = sums.detach()
            delta[i, j] = (o.detach() * of_o).sum(-1)
    return lse, delta, gradients


def _backward(family, q, k, v, do, scale, causal):
    """SDPA's backward, to be timed: its forward has been run."""
    q, k, v = (x.detach().requires_grad_() for x in (q, k, v))
    o = family.baseline(q, k, v, scale, causal)()

    def run():
        return torch.autograd.grad(o, (q, k, v), do, retain_graph=True)

    return run


def _delta_of(o, do):
    def run():
        return (o.float() * do.float()).sum(-1)

    return run
