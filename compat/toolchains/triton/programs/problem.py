"""The module of a program's problem: a formula for its inputs, and its right results.

The results are those of :mod:`.evaluator`, and the text of the module contains them. So a GPU host
needs only PyTorch.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping

from compat.toolchains.triton.programs.dtypes import DTYPES, Array
from compat.toolchains.triton.programs.program import BlockProgram

PROBLEM = "problem"
"""The name of the function in the module."""
_TEXT = '''"""The inputs of a generated kernel, and the numbers that it has to compute."""

import base64
import zlib

import torch

INPUTS = {inputs}
OUTPUTS = {outputs}
SCALARS = {scalars}
MARGIN = 64


def elements(size, low, high, step, seed, dtype, device):
    """Small numbers, the same ones each time."""
    mixed = (torch.arange(size, dtype=torch.int64) * 1103515245 + seed * 12345 + 67890) % 2147483648
    mixed = (mixed * 1103515245 + 12345) % 2147483648
    numbers = low + (mixed >> 16) % (high - low + 1)
    if getattr(torch, dtype).is_floating_point:
        numbers = numbers.double() * 2.0**step
    return numbers.to(getattr(torch, dtype)).to(device)


def reference(packed, dtype, device):
    """The right numbers, which the text has in full."""
    data = bytearray(zlib.decompress(base64.b85decode(packed)))
    is_float = getattr(torch, dtype).is_floating_point
    return torch.frombuffer(data, dtype=torch.float64 if is_float else torch.int64).to(device)


def problem(parameters, dtype, seed, device, large):
    """Yield the one problem."""
    if large:
        return
    arguments, outputs = dict(SCALARS), {{}}
    for name, facts in INPUTS.items():
        arguments[name] = elements(*facts, device)
    for name, (size, kind, packed) in OUTPUTS.items():
        storage = torch.zeros(size + 2 * MARGIN, dtype=getattr(torch, kind), device=device)
        arguments[name] = storage[MARGIN : MARGIN + size]
        outputs[name] = {{"reference": reference(packed, kind, device), "initial": 0}}
    yield {{"name": "only", "arguments": arguments, "grid": ({grid},), "outputs": outputs}}
'''


def problem_source(program: BlockProgram, results: Mapping[str, Array]) -> str:
    """The module of a program's problem, with the results that :func:`evaluate` computed."""
    inputs = {
        tensor.name: (
            tensor.size,
            tensor.low,
            tensor.high,
            tensor.step,
            tensor.seed,
            DTYPES[tensor.dtype].language,
        )
        for tensor in program.inputs
    }
    outputs = {
        output.name: (output.size, DTYPES[output.dtype].language, _pack_array(results[output.name]))
        for output in program.outputs
    }
    return _TEXT.format(
        inputs=_table(inputs),
        outputs=_table(outputs),
        scalars=_table(dict(program.scalars)),
        grid=program.grid,
    )


def _pack_array(array: Array) -> str:
    wide = "<f8" if array.dtype.kind == "f" else "<i8"
    return base64.b85encode(zlib.compress(array.astype(wide).tobytes(), 9)).decode()


def _table(entries: Mapping[str, object]) -> str:
    if not entries:
        return "{}"
    return "{\n" + "".join(f"    {name!r}: {value!r},\n" for name, value in entries.items()) + "}"
