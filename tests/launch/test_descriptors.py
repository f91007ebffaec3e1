"""Tensor descriptors that the host makes, as real releases pass them to a kernel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from compat.launch import building
from compat.model import BuiltEnv
from compat.project import select

pytestmark = pytest.mark.wheels

OPTIONS = {"triton-3.4.0": [], "triton-3.9.0": ["padding", "round_f32_to_tf32"]}
SOURCE = """
import triton
import triton.language as tl


@triton.jit
def last_rows(x, o, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    offs = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(o + offs, x.load([ROWS, 0]))
"""
PROBLEMS = "def last_rows(parameters, dtype, seed, device, large):\n    yield {}\n"
KERNEL = """
schema = 1
kernel = "last_rows"
source = "described.py"
signature = { x = "tensordesc<bf16[16, 128]>", o = "*bf16" }
constexprs = { ROWS = 16, COLUMNS = 128 }
problem = { source = "problems.py", function = "last_rows" }
"""


@pytest.mark.parametrize("target", ["sm_90", "sm_80"])
def test_descriptor_parameters_follow_from_the_release_and_the_target(
    tmp_path: Path, built: Callable[[str], BuiltEnv], target: str
) -> None:
    """Up to sm_80 the kernel gets the tensor's address, sizes and strides, and no map."""
    (tmp_path / "described.py").write_text(SOURCE)
    (tmp_path / "problems.py").write_text(PROBLEMS)
    (tmp_path / "described.toml").write_text(KERNEL)
    (tmp_path / "matrix.toml").write_text('schema = 1\nkernels = ["described.toml"]\n')
    for env in OPTIONS:
        built(env)
    selection = select(tmp_path / "matrix.toml", envs=tuple(OPTIONS), targets=(target,))
    with selection.open_store() as store:
        bundle = building.build(selection, selection.context(store), selection.read_envs)
    assert bundle.omitted_cells == ()
    parts = [("shape", 0), ("shape", 1), ("stride", 0), ("stride", 1)]
    for cell in bundle.launchable:
        assert cell.problem.dtype == "bf16"
        options = OPTIONS[cell.cell.env.name]
        parameters = [
            parameter for parameter in cell.launch["parameters"] if parameter.get("name") == "x"
        ]
        shown = [
            (parameter["packing"], parameter.get("axis", parameter.get("option", 0)))
            for parameter in parameters
        ]
        if target == "sm_90":
            assert shown == [("tensor_map", 0), *parts]
            assert [parameter["size"] for parameter in parameters] == [128, 4, 4, 8, 8]
            assert parameters[0]["options"] == options
            assert parameters[0]["map"] == {
                "swizzle": 3,
                "element": 9,
                "element_bytes": 2,
                "block": [16, 64],  # a row of a swizzled block has at most 128 bytes
                "fp4_padded": False,
            }
        else:
            flags = [("option", option) for option in options]
            assert shown == [("address", 0), *parts, *flags, *parts]
            assert [parameter["size"] for parameter in parameters] == [
                *[8] * 5,
                *[1] * len(options),
                *[4, 4, 8, 8],
            ]
