"""Halves from -100 to 100, which all floats of the chain hold exactly: only the last cast rounds."""

import torch

DTYPES = {
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "fp32": torch.float32,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "u8": torch.uint8,
    "u16": torch.int16,  # the results are small, and old releases of PyTorch have no uint16
}


def casts(parameters, dtype, seed, device, large):
    if large:
        return
    result = parameters["result"]
    halves = torch.arange(-200, 201, device=device).double() / 2
    if result.startswith("u"):
        halves = halves.abs()
    n = halves.numel()
    # The view lies inside of a larger tensor, so that a store beside it shows.
    storage = torch.zeros(n + 128, dtype=DTYPES[result], device=device)
    yield {
        "name": "halves",
        "arguments": {"x_ptr": halves.to(DTYPES[dtype]), "y_ptr": storage[64 : n + 64], "n": n},
        "grid": (-(-n // parameters["BLOCK"]),),
        "outputs": {
            "y_ptr": {"reference": halves if DTYPES[result].is_floating_point else halves.trunc()}
        },
    }
