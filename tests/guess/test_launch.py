"""Guesses of one launch of each kernel.

A guess begins with sizes. Strides, hints and constexprs follow from them, as the wrapper of the
kernel passes them.
"""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.config.kernel_files import load_kernels
from compat.guess import guess_sources, kernel_file_text
from compat.model import BuiltEnv
from compat.toolchains.triton.language.guessing.evaluation import AssumedSize
from tests.cli.test_init import compat
from tests.together import for_each

HEAD = "import torch\nimport triton\nimport triton.language as tl\n"
GEMM = Path(__file__).parent / "gemm.py"


def text_of(tmp_path: Path, source: str) -> str:
    """The guessed kernel file of a source, after a check that it reads back."""
    path = tmp_path / "source.py"
    path.write_text(HEAD + source)
    (guess,) = guess_sources([path])
    text = kernel_file_text(guess.kernels, "source.py")
    (tmp_path / "source.toml").write_text(text)
    load_kernels(["source.toml"], tmp_path)
    return text


def tables(tmp_path: Path, source: str) -> dict[str, Any]:
    return tomllib.loads(text_of(tmp_path, source))


ROWS = """
@triton.jit
def rows(x_ptr, out_ptr, x_stride, out_stride, n_rows, n_cols, seed, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    at = tl.arange(0, BLOCK_M)[:, None]
    columns = tl.arange(0, BLOCK_N)[None, :]
    mask = (at < n_rows) & (columns < n_cols)
    x = tl.load(x_ptr + at * x_stride + columns, mask=mask).to(tl.float32)
    tl.store(out_ptr + at * out_stride + columns, x * tl.rand(seed, columns), mask=mask)
"""


def test_sizes_and_strides_that_follow_from_them_have_the_same_hints(tmp_path: Path) -> None:
    kernel_file = tables(tmp_path, ROWS)
    assert kernel_file["hints"] == {
        "divisible_by_16": ["x_ptr", "out_ptr", "x_stride", "out_stride", "n_rows", "n_cols"],
    }
    text = (tmp_path / "source.toml").read_text()
    assert 'n_cols = "i32"  # guessed: compared with whole numbers; taken as 1024\n' in text
    assert 'seed = "i32"  # guessed: a seed or an offset of random numbers\n' in text


def test_alternative_to_a_launched_pointer_has_its_type(tmp_path: Path) -> None:
    kernel_file = tables(
        tmp_path,
        """
@triton.jit
def kernel(q_ptr, k_ptr, n):
    pointer = tl.where(n > 4, q_ptr, k_ptr)
    tl.store(pointer, tl.load(pointer) * 2.0)

def run(k):
    q = torch.empty(64, dtype=torch.bfloat16)
    kernel[(1,)](q, k, 7)
""",
    )
    assert kernel_file["signature"] == {"q_ptr": "*bf16", "k_ptr": "*bf16", "n": "i32"}


def test_limits_of_a_dtype_are_those_of_pytorch(tmp_path: Path) -> None:
    kernel_file = tables(
        tmp_path,
        """
LIMITS = torch.finfo(torch.float8_e4m3fn)

@triton.jit
def kernel(x_ptr, LEAST: tl.constexpr, MOST: tl.constexpr, WHOLE: tl.constexpr, STEP: tl.constexpr):
    x = tl.load(x_ptr).to(tl.float32) * STEP
    tl.store(x_ptr, tl.clamp(x, LEAST, MOST) + WHOLE)

def run(x):
    kernel[(1,)](x, LIMITS.min, LIMITS.max, torch.iinfo(torch.int8).max, torch.finfo(x.dtype).eps)
""",
    )
    values = kernel_file["constexprs"]
    assert (values["LEAST"], values["MOST"], values["WHOLE"]) == (-448.0, 448.0, 127)
    text = (tmp_path / "source.toml").read_text()
    assert "MOST = 448.0  # guessed: as launched in line 13" in text
    # An unknown dtype has no known limits.
    assert "as launched" not in text.partition("STEP = ")[2].partition("\n")[0]


def test_a_dtype_has_the_width_as_which_the_bits_of_its_values_are_read(tmp_path: Path) -> None:
    kernel_file = tables(
        tmp_path,
        """
@triton.jit
def kernel(x_ptr, out_ptr, NARROW: tl.constexpr, HALF: tl.constexpr, FREE: tl.constexpr):
    x = tl.load(x_ptr).to(tl.float32)
    narrow = (x * 2).to(NARROW)
    tl.store(out_ptr, narrow.to(tl.uint8, bitcast=True))
    tl.store(out_ptr + 1, x.to(HALF).to(tl.int16, bitcast=True) + x.to(FREE))
""",
    )
    values = kernel_file["constexprs"]
    assert values == {
        "NARROW": {"dtype": "fp8e5"},
        "HALF": {"dtype": "fp16"},
        "FREE": {"dtype": "fp32"},
    }


def test_guess_follows_the_wrapper(tmp_path: Path) -> None:
    wrapper = """
def run(x, layout="rows"):
    BLOCK_M, BLOCK_N = 128, 32
    if layout == "rows":
        n_rows, n_cols = x.shape
        stride = x.stride(0)
    else:
        n_cols, n_rows = x.shape
        stride = x.stride(1)
    out = torch.empty_like(x)
    rows[(1,)](x, out, stride, out.stride(0), n_rows, n_cols, 7, BLOCK_M, BLOCK_N, num_warps=8 if n_cols > 512 else 4)
"""
    kernel_file = tables(tmp_path, ROWS + wrapper)
    assert kernel_file["constexprs"] == {"BLOCK_M": 128, "BLOCK_N": 32}
    assert (kernel_file["signature"]["x_ptr"], kernel_file["signature"]["out_ptr"]) == (
        "*fp16",
        "*fp16",
    )
    assert kernel_file["hints"]["divisible_by_16"] == [
        "x_ptr",
        "out_ptr",
        "x_stride",
        "out_stride",
        "n_rows",
        "n_cols",
    ]
    assert kernel_file["options"] == {"num_warps": 8}
    text = (tmp_path / "source.toml").read_text()
    assert 'out_ptr = "*fp16"  # guessed: as x_ptr, which has the same dtype\n' in text


@for_each(
    ("expression", "element"),
    [
        ("torch.empty_like(x)", "*fp16"),
        ("torch.zeros_like(x, dtype=torch.int8)", "*i8"),
        ("torch.empty(x.shape, dtype=x.dtype, device=x.device)", "*fp16"),
        ("torch.empty((n_rows, n_cols), device=x.device)", "*fp32"),
        ("x.new_empty(n_rows, n_cols)", "*fp16"),
        ("x.new_empty((n_rows, n_cols), dtype=torch.bfloat16)", "*bf16"),
        ("x.clone().view(-1, n_cols).to(torch.float64)", "*fp64"),
        ("x.contiguous().half()", "*fp16"),
    ],
)
def test_tensor_has_the_dtype_that_it_is_created_with(
    expression: str, element: str, tmp_path: Path
) -> None:
    wrapper = f"""
def run(x, b: int):
    n_rows, n_cols = x.shape
    out = {expression}
    rows[(1,)](x, out, x.stride(0), out.stride(0), n_rows, n_cols, b, 64, 64)
"""
    kernel_file = tables(tmp_path, ROWS + wrapper)
    assert kernel_file["signature"]["out_ptr"] == element
    assert "out_stride" in kernel_file["hints"]["divisible_by_16"]


def test_tensors_that_are_copied_to_each_other_are_fp32(tmp_path: Path) -> None:
    kernel_file = tables(
        tmp_path,
        """
@triton.jit
def swap(a, b, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(a + at)
    y = tl.load(b + at)
    tl.store(b + at, x)
    tl.store(a + at, y)

def run(x):
    swap[(1,)](x, torch.empty_like(x), N=64)
""",
    )
    assert kernel_file["signature"] == {"a": "*fp32", "b": "*fp32"}


ATTENTION = """
@triton.jit
def inner(Q, Out, stride_qz, stride_qh, stride_qn, stride_oz, stride_oh, stride_on, L, H: tl.constexpr, C: tl.constexpr,
          BLOCK: tl.constexpr):
    at = tl.program_id(1) * stride_qz + tl.program_id(2) % H * stride_qh
    rows = tl.arange(0, BLOCK)[:, None]
    q = tl.load(Q + at + rows * stride_qn + tl.arange(0, C)[None, :], mask=rows < L)
    tl.store(Out + at + rows * stride_on + tl.arange(0, C)[None, :] + stride_oz * stride_oh, q * C**-0.5, mask=rows < L)
"""


def test_row_stride_is_not_one_if_a_wrapper_does_not_pass_the_last_stride(
    tmp_path: Path,
) -> None:
    wrapper = """
def forward(q, o):
    b, h, n, c = q.shape
    inner[(1, b, h)](q, o, q.stride(0), q.stride(1), q.stride(2), o.stride(0), o.stride(1), o.stride(2), n, H=h, C=c, BLOCK=64)
"""
    kernel_file = tables(tmp_path, ATTENTION + wrapper)
    assert kernel_file["constexprs"] == {"H": 4, "C": 64, "BLOCK": 64}
    assert "equal_to_1" not in kernel_file["hints"]
    assert {"stride_qn", "stride_on", "L"} <= set(kernel_file["hints"]["divisible_by_16"])
    alone = tables(tmp_path, ATTENTION)
    assert alone["hints"]["equal_to_1"] == ["stride_qn", "stride_on"]


def test_comparison_of_a_derived_value_does_not_decide_a_stride(
    tmp_path: Path,
) -> None:
    kernel_file = tables(
        tmp_path,
        """
@triton.jit
def quant(X, Y, L, C: tl.constexpr, BLK: tl.constexpr):
    at = tl.arange(0, BLK)[:, None] * C + tl.arange(0, 128)[None, :]
    x = tl.load(X + at) * (C**-0.5 * 1.44)
    x = x / 127.0
    x += 0.5 * tl.where(x >= 0, 1, -1)
    tl.store(Y + at, x.to(tl.int8), mask=at < L)
""",
    )
    assert kernel_file["constexprs"] == {"C": 64, "BLK": 64}


def test_branch_of_a_wrapper_that_is_not_taken_does_not_decide_values(tmp_path: Path) -> None:
    wrapper = """
def run(x, out, transposed=False, sm_scale=None):
    n = x.shape[0]
    if sm_scale is None:
        sm_scale = 2
    if x.dim() == 7:
        raise ValueError("seven")
    if transposed:
        n = 5
        rows[(1,)](x, out, 3, 5, n, n, 0, 16, 16)
    else:
        for _ in range(2):
            rows[(1,)](x, out, x.stride(0), x.stride(1), n, n, sm_scale, 32, 32)
"""
    kernel_file = tables(tmp_path, ROWS + wrapper)
    assert kernel_file["constexprs"] == {"BLOCK_M": 32, "BLOCK_N": 32}
    assert kernel_file["hints"] == {
        "divisible_by_16": ["x_ptr", "out_ptr", "x_stride", "n_rows", "n_cols"],
        "equal_to_1": ["out_stride"],
    }


FILL = """
BLOCK = 2
NUM_WARPS = 2

@triton.jit
def fill(x, n, BLOCK: tl.constexpr = 64, FAST: tl.constexpr = True):
    tl.store(x + tl.arange(0, BLOCK), 1.0)
"""


@pytest.mark.parametrize(
    ("launch", "constexprs", "options"),
    [
        pytest.param(
            "def run(x, n):\n"
            "    if n:\n        fill[(1,)](x, n, 32, False, num_warps=8)\n"
            "    else:\n        fill[(1,)](x, 5, 16, False)\n",
            {"BLOCK": 16, "FAST": False},
            {},
            id="the launch with the most known values has its own options",
        ),
        pytest.param(
            "x = torch.zeros(1)\nBLOCK = 128\n"
            "fill[(1,)](x, 7, BLOCK, True, num_warps=1, num_ctas=2)\nBLOCK = 256\n",
            {"BLOCK": 128, "FAST": True},
            {"num_warps": 1, "num_ctas": 2},
            id="a launch outside of a function",
        ),
        pytest.param(
            "def run(x, BLOCK):\n    for NUM_WARPS in (1, 4):\n"
            "        fill[(1,)](x, 7, BLOCK, num_warps=NUM_WARPS)\n",
            {"BLOCK": 64, "FAST": True},
            {},
            id="a local name is not the global one",
        ),
        pytest.param(
            "def run(x):\n    args, meta = (x, x.numel(), 32), {'FAST': False, 'num_warps': 8}\n"
            "    fill[(1,)](*args, **meta)\n",
            {"BLOCK": 32, "FAST": False},
            {"num_warps": 8},
            id="arguments in a tuple and a dict",
        ),
        pytest.param(
            "def run(x):\n    fill.warmup(x, 7, BLOCK=32, num_stages=1, grid=(1,))\n",
            {"BLOCK": 32, "FAST": True},
            {"num_stages": 1},
            id="a warmup",
        ),
        pytest.param(
            "def run(x, c):\n    chosen = fill if c else other\n"
            "    chosen[(1,)](x, 7, 32, False, num_warps=8)\n",
            {"BLOCK": 32, "FAST": False},
            {"num_warps": 8},
            id="a local name for one of two kernels",
        ),
        pytest.param(
            "kernel = fill\ndef run(x):\n    launch = kernel[(1,)]\n    launch(x, 7, 32, False)\n",
            {"BLOCK": 32, "FAST": False},
            {},
            id="a local name for a kernel with its grid",
        ),
        pytest.param(
            "def run(x, c):\n    b = 512\n    while b > x.shape[0] // 32:\n        b //= 2\n"
            "    while b < 0:\n        b = 1\n    while c:\n        c = not c\n"
            "    fill[(1,)](x, 7, b, False)\n",
            {"BLOCK": 32, "FAST": False},
            {},
            id="a loop with a known end",
        ),
        pytest.param(
            "def run(x):\n"
            "    fill[(1,)](x, 7, 32, x.dtype == torch.float16 or x.dtype is torch.bfloat16)\n",
            {"BLOCK": 32, "FAST": True},
            {},
            id="an unknown dtype is perhaps that of a condition",
        ),
    ],
)
def test_values_and_options_are_those_of_one_launch(
    launch: str, constexprs: dict[str, int], options: dict[str, int], tmp_path: Path
) -> None:
    kernel_file = tables(tmp_path, FILL + launch)
    assert kernel_file["constexprs"] == constexprs
    assert kernel_file.get("options", {}) == options


@pytest.mark.parametrize(
    ("arguments", "guesses"),
    [("x, 1", set()), ("x, 1, block", {"BLOCK"}), ("x, 1, **kw", {"BLOCK", "FAST"})],
)
def test_default_that_a_launch_may_replace_is_a_guess(
    arguments: str, guesses: set[str], tmp_path: Path
) -> None:
    launch = f"def run(x, block, kw):\n    fill[(1,)]({arguments})\n"
    lines = text_of(tmp_path, FILL + launch).splitlines()
    marked = [line for line in lines if "guessed: its default, but a launch may pass" in line]
    assert {line.partition(" ")[0] for line in marked} == guesses


def test_unknown_option_of_a_launch_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "source.py"
    line = "in the launch (line 12) cannot be read; defaults are taken"
    for options, named in (
        ("num_warps=n", "num_warps: its value"),
        ("num_stages=n, num_warps=n", "num_warps and num_stages: their values"),
    ):
        path.write_text(f"{HEAD}{FILL}def run(x, n):\n    fill[(1,)](x, 7, {options})\n")
        (kernel,) = guess_sources([path])[0].kernels
        assert kernel.look_at == (f"{named} {line}",)


ASSERTED = """
class Rows:
    def forward(ctx, x, n):
        ctx.block, ctx.warps = 16, 8
        ctx.save_for_backward(x)

    def backward(ctx, x, y, n):
        {line}
        rows[(1,)](
            x, y, x.stride(0), y.stride(0), x.size(0), x.size(1), 0, 64, ctx.block, num_warps=ctx.warps
        )
"""


@pytest.mark.parametrize(
    ("line", "types"),
    [
        ("pass", ["*fp16", "*fp32"]),
        ("assert x.dtype == torch.bfloat16 and n, 'half'", ["*bf16", "*fp32"]),
        ("assert x.dtype in (torch.float32, torch.float64, torch.half)", ["*fp64", "*fp32"]),
        (
            "assert x.dtype == torch.float32 or x.dtype == torch.bfloat16 or x.dtype == torch.half",
            ["*bf16", "*fp32"],
        ),
        ("assert y.dtype == x.dtype or x.dtype == torch.bfloat16", ["*fp16", "*fp32"]),
        ("assert x.dtype == torch.bfloat16; x = prepared(x)", ["*bf16", "*fp32"]),
        ("assert y.dtype == x.dtype", ["*fp16", "*fp16"]),
        ("assert y.dtype in [x.dtype, torch.float]", ["*fp16", "*fp16"]),
        ("y = torch.zeros(n, n, dtype=torch.int64)", ["*fp16", "*i64"]),
        ("y = torch.empty_like(n, dtype=x.dtype)", ["*fp16", "*fp16"]),
        ("y = torch.empty_like(n)", ["*fp16", "*fp32"]),
    ],
)
def test_wrapper_decides_dtypes_and_forward_decides_what_it_keeps(
    line: str, types: list[str], tmp_path: Path
) -> None:
    kernel_file = tables(tmp_path, ROWS + ASSERTED.format(line=line))
    assert [*kernel_file["signature"].values()][:2] == types
    assert kernel_file["constexprs"] == {"BLOCK_M": 64, "BLOCK_N": 16}
    assert kernel_file["options"] == {"num_warps": 8}


def test_tensor_of_unknown_size_in_the_place_of_an_argument_keeps_the_assumed_axes(
    tmp_path: Path,
) -> None:
    wrapper = """
def run(x, y):
    _, width = y.shape
    y = torch.empty(sizes_of(x), dtype=torch.int64)
    rows[(1,)](x, y, 64, y.stride(0), 64, 64, 7, BLOCK_M=64, BLOCK_N=y.shape[1])
"""
    text = text_of(tmp_path, ROWS + wrapper)
    assert 'out_ptr = "*i64"' in text
    assert "BLOCK_N = 64  # guessed: the size of a tensor, as launched" in text


def test_number_of_elements_is_that_of_a_possible_tensor(tmp_path: Path) -> None:
    wrapper = """
def run(x):
    assert x.dim() == 6
    fill[(1,)](x, x.numel(), 64)
"""
    assert "taken as 1073741824" in text_of(tmp_path, FILL + wrapper)


def test_assertion_decides_the_number_of_axes(tmp_path: Path) -> None:
    wrapper = """
def run(x):
    assert x.dim() == 3
    rows[(1,)](x, x, x.stride(0), x.stride(1), x.size(0), x.size(1), 0, 64, 64)
"""
    assert "equal_to_1" not in tables(tmp_path, ROWS + wrapper)["hints"]
    without = tables(tmp_path, ROWS + wrapper.replace("assert x.dim() == 3", "pass"))
    assert without["hints"]["equal_to_1"] == ["out_stride"]


def test_sizes_are_found_among_other_values(tmp_path: Path) -> None:
    wrapper = """
def run(x, y):
    batch, heads, n_rows, dim, device = *x.shape, x.device
    _, kv_heads, _, _ = y.shape
    rows[(1,)](
        x, y, x.stride(2), y.stride(2), n_rows, dim, 0, BLOCK_M=heads // kv_heads, BLOCK_N=dim
    )
"""
    kernel_file = tables(tmp_path, ROWS + wrapper)
    assert kernel_file["constexprs"] == {"BLOCK_M": 16, "BLOCK_N": 64}
    text = (tmp_path / "source.toml").read_text()
    assert 'n_cols = "i32"  # guessed: compared with whole numbers; taken as 64\n' in text


@pytest.mark.parametrize("quotient", ["{} // {}", "triton.cdiv({}, {})"])
def test_quotient_of_sizes_is_assumed_apart_from_them(quotient: str, tmp_path: Path) -> None:
    """Of two sizes that are assumed one by one it would be 1 or 0, which is no side of a block."""
    wrapper = f"""
def run(x, y):
    group = {quotient.format("x.shape[1]", "y.shape[1]")}
    rows[(1,)](x, y, x.stride(2), y.stride(2), group, 64, 0, BLOCK_M=group, BLOCK_N=64)
"""
    kernel_file = tables(tmp_path, ROWS + wrapper)
    assert kernel_file["constexprs"] == {"BLOCK_M": 16, "BLOCK_N": 64}
    text = (tmp_path / "source.toml").read_text()
    assert "BLOCK_M = 16  # guessed: a quotient of two sizes, as launched in line" in text
    hinted = kernel_file["hints"]
    assert "n_rows" not in hinted["divisible_by_16"] + hinted.get("equal_to_1", [])


def test_difference_of_sizes_is_a_size(tmp_path: Path) -> None:
    """Of two sizes that are assumed one by one it would be 0, which is no side of a block."""
    wrapper = """
def run(x, y):
    head_dim, rope_dim = x.shape[1], y.shape[1]
    rest = head_dim - rope_dim
    rows[(1,)](x, y, x.stride(2), y.stride(2), 64, rest, 0, BLOCK_M=64, BLOCK_N=rest)
"""
    assert tables(tmp_path, ROWS + wrapper)["constexprs"] == {"BLOCK_M": 64, "BLOCK_N": 64}
    text = (tmp_path / "source.toml").read_text()
    assert "BLOCK_N = 64  # guessed: a difference of two sizes, as launched in line" in text
    size, smaller = AssumedSize.of("rows", 1024), AssumedSize.of("columns", 64)
    assert (size - smaller, smaller - size, size - 24) == (960, 64, 1000)


@pytest.mark.parametrize(
    "sizes",
    ["n_rows, n_cols = x.numel() // x.shape[-1], x.shape[-1]", "n_rows, n_cols = x.shape"],
)
def test_number_of_rows_of_a_tensor_is_a_multiple_of_16(sizes: str, tmp_path: Path) -> None:
    call = "rows[(1,)](x, y, n_cols, n_cols, n_rows, n_cols, 0, BLOCK_M=16, BLOCK_N=128)"
    kernel_file = tables(tmp_path, f"{ROWS}\ndef run(x, y):\n    {sizes}\n    {call}\n")
    assert "n_rows" in kernel_file["hints"]["divisible_by_16"]


def test_strides_of_a_view_with_an_unknown_size_are_multiples_of_16(tmp_path: Path) -> None:
    wrapper = """
def run(scores):
    *batch, n_rows, _ = scores.shape
    flat = scores.view(count(batch), n_rows, n_rows)
    assert flat.stride(2) == 1
    rows[(1,)](
        flat, flat, flat.stride(1), flat.stride(1), n_rows, n_rows, 0, BLOCK_M=16, BLOCK_N=128
    )
"""
    kernel_file = tables(tmp_path, ROWS + wrapper)
    assert {"x_stride", "out_stride"} <= set(kernel_file["hints"]["divisible_by_16"])


def test_sizes_are_smaller_where_blocks_are_as_long(tmp_path: Path) -> None:
    wrapper = """
def run(x):
    n_rows, n_cols = x.shape
    m, n = triton.next_power_of_2(n_rows), triton.next_power_of_2(n_cols)
    rows[(1,)](x, torch.empty_like(x), x.stride(0), x.stride(0), n_rows, n_cols, 0, BLOCK_M=m, BLOCK_N=n)
"""
    kernel_file = tables(tmp_path, ROWS + wrapper)
    assert kernel_file["constexprs"] == {"BLOCK_M": 64, "BLOCK_N": 64}
    assert (
        'n_cols = "i32"  # guessed: compared with whole numbers; taken as 64\n'
        in (tmp_path / "source.toml").read_text()
    )


def test_sizes_are_smaller_where_one_block_is_too_long(tmp_path: Path) -> None:
    """A block of a million elements compiles for minutes."""
    kernel_file = tables(
        tmp_path,
        """
@triton.jit
def copied(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)

def run(x, out):
    rows, columns = x.shape
    copied[(1,)](x, out, x.numel(), BLOCK=triton.next_power_of_2(x.numel()))
""",
    )
    assert kernel_file["constexprs"] == {"BLOCK": 4096}


def test_sizes_that_bound_an_unrolled_loop_are_small(tmp_path: Path) -> None:
    kernel_file = tables(
        tmp_path,
        """
@triton.jit
def total(x, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    sums = tl.load(x + at) * 0
    for row in tl.static_range(ROWS):
        sums += tl.load(x + row * n + at)
    tl.store(x + at, sums)

def run(x):
    m, n = x.shape
    total[(1,)](x, n, triton.next_power_of_2(m), triton.next_power_of_2(n))
""",
    )
    assert kernel_file["constexprs"] == {"ROWS": 64, "BLOCK": 64}


@for_each(
    "line",
    [
        "x = x[0]",
        "x, y = ctx.saved_tensors",
        "x = x.view(10 ** 10 ** 10)",
        "x = torch.empty(x)",
        "x = torch.empty_like(3)",
        "x = x.permute(5, 6)",
        "x = x.expand(3, -1).unknown().T",
        "x.stride(9)",
        "x.stride(1000000000)",
        "x = x.view(*sizes)",
        "del x",
    ],
)
def test_unsupported_line_of_a_wrapper_does_not_change_the_guess(line: str, tmp_path: Path) -> None:
    wrapper = f"""
def run(ctx, x, sizes):
    {line}
    rows[(1,)](x, x, x.stride(0), x.stride(0), x.shape[0], x.shape[1], 0, 64, 64)
"""
    kernel_file = tables(tmp_path, ROWS + wrapper)
    assert (kernel_file["signature"]["x_ptr"], kernel_file["constexprs"]) == (
        "*fp16",
        {"BLOCK_M": 64, "BLOCK_N": 64},
    )


def test_pipelined_kernel_also_gets_cases_with_odd_sizes(tmp_path: Path) -> None:
    (source,) = guess_sources([GEMM])
    (kernel,) = source.kernels
    assert kernel.cases == 4
    text = kernel_file_text([kernel], str(GEMM))
    kernel_file = tomllib.loads(text)
    assert [case["name"] for case in kernel_file["case"]] == [
        *("128x128x64_w8_s3", "64x64x64_w8_s12", "128x128x64_w8_s3_odd", "64x64x64_w8_s12_odd"),
    ]
    usual, odd = kernel_file["hints"], kernel_file["case"][3]["hints"]
    assert set(usual["divisible_by_16"]) - set(odd["divisible_by_16"]) == {
        "M",
        "N",
        "K",
        "stride_am",
        "stride_bk",
        "stride_cm",
    }
    assert usual["equal_to_1"] == odd["equal_to_1"] == ["stride_ak", "stride_bn", "stride_cn"]
    assert (
        "# guessed: sizes that are not multiples of 16; pipelining and shared memory depend on"
        " them\n" in text
    )
    assert kernel_file["case"][1]["constexprs"] == kernel_file["case"][3]["constexprs"]
    unspecialized = tmp_path / "gemm.py"
    names = [name for name in usual["divisible_by_16"] if not name.endswith("_ptr")]
    jit = f"@triton.jit(do_not_specialize={names})\n"
    unspecialized.write_text(GEMM.read_text().replace("@triton.jit\n", jit))
    ((kernel,),) = (source.kernels for source in guess_sources([unspecialized]))
    assert kernel.cases == 2  # no size changes the code


def test_cases_with_odd_sizes_stay_within_the_limit_of_cases(tmp_path: Path) -> None:
    text = GEMM.read_text()
    configs = text[text.index("    configs=[") : text.index("    key=")]
    many = (
        '    configs=[triton.Config({"BLOCK_M": 64, "BLOCK_N": n, "BLOCK_K": 32, "GROUP_M": 8}) for'
        " n in range(16, 816, 16)],\n"
    )
    (tmp_path / "many.py").write_text(text.replace(configs, many))
    (source,) = guess_sources([tmp_path / "many.py"])
    (kernel,) = source.kernels
    assert kernel.cases == 64
    assert kernel.look_at == ("only 14 of its 50 cases are tried with odd sizes, too",)


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["3.2.0", "3.9.0"])
def test_gemm_that_exceeds_shared_memory_is_rejected_with_a_note(
    release: str, tmp_path: Path, built: Callable[[str], BuiltEnv]
) -> None:
    built(f"triton-{release}")
    shutil.copy(GEMM, tmp_path)
    compat(tmp_path, "init", "gemm.py")
    stdout, _ = compat(
        tmp_path, "matrix", "--no-build", "--envs", release, "--target", "sm_80", "--case", "*_s12*"
    )
    usual, odd = json.loads((tmp_path / "reports" / "matrix.json").read_text())["cells"]
    assert (usual["case"], usual["status"], usual["failure"]["class"]) == (
        "64x64x64_w8_s12",
        "rejected",
        "shared-memory",
    )
    assert (odd["case"], odd["status"]) == ("64x64x64_w8_s12_odd", "ok")
    note = (
        "hints decide whether kernels compile: gemm/64x64x64_w8_s12 is rejected where"
        " 64x64x64_w8_s12_odd is ok"
    )
    assert note in " ".join(stdout.split())


STARRED = """
@triton.jit
def starred(x_ptr, out_ptr, n, stride_xb, stride_xc, stride_xd, stride_ob, stride_od, limit, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + stride_xb + stride_xc + at * stride_xd, mask=mask & (at < limit))
    tl.store(out_ptr + stride_ob + at * stride_od, x, mask=mask)

def run(x, out, n):
    {rank}
    starred[(1,)](x, out, n, *x.stride(), *out.stride(), {limit}, BLOCK=512)
"""


def test_starred_strides_count_if_their_number_fits_the_kernel(tmp_path: Path) -> None:
    known = STARRED.format(rank="a, b, c = x.shape; d, e = out.shape", limit="7")
    assert tables(tmp_path, known)["hints"]["equal_to_1"] == ["stride_xd", "stride_od"]
    text = (tmp_path / "source.toml").read_text()
    assert 'limit = "i32"  # guessed: compared with whole numbers; taken as 7\n' in text


@pytest.mark.parametrize("limit", ["7", "limit=7", "*limits"])
def test_starred_strides_of_a_tensor_with_unknown_axes_move_no_argument(
    tmp_path: Path, limit: str
) -> None:
    """Two axes are assumed, but the kernel takes the strides of three."""
    text = text_of(tmp_path, STARRED.format(rank="pass", limit=limit))
    kernel_file = tomllib.loads(text)
    assert kernel_file["hints"]["equal_to_1"] == ["stride_xd", "stride_od"]
    assert kernel_file["constexprs"] == {"BLOCK": 512}
    assert 'stride_xd = "i32"  # guessed: part of an address; taken as 1\n' in text


def test_element_type_of_a_tensor_is_not_taken_as_fp64(tmp_path: Path) -> None:
    source = STARRED.format(rank="", limit="7").replace(
        "def run(x, out, n):\n    \n",
        "def run(x, n):\n"
        "    if x.dtype == torch.float64:\n"
        "        dtype = torch.float64\n"
        "    else:\n"
        "        dtype = torch.float32\n"
        "    out = torch.empty(x.shape, dtype=dtype)\n",
    )
    assert tables(tmp_path, source)["signature"]["out_ptr"] == "*fp32"


def test_size_has_the_name_of_no_other_tensors_size(tmp_path: Path) -> None:
    """The rank of ``ids`` is assumed to be that of ``x``, and the name of a size to be another's."""
    source = """
@triton.jit
def gathered(x_ptr, ids_ptr, stride_x, stride_i, COUNT: tl.constexpr):
    at = tl.arange(0, COUNT)
    tl.store(x_ptr + stride_x + at, tl.load(ids_ptr + stride_i + at))

def run(x, ids):
    hidden = x.shape[1]
    gathered[(1,)](x, ids, x.stride(0), ids.stride(0), COUNT=ids.shape[1])
"""
    text = text_of(tmp_path, source)
    assert "# guessed: the size of a tensor, as launched in line 12\n" in text
    assert "hidden" not in text


@pytest.mark.parametrize(
    "launch",
    [
        "torch.library.wrap_triton(rows)[(1,)]",
        "capture_triton(rows)[(1,)]",
        "prepared(rows, True)[(1,)]",
        "prepared(alias)[(1,)]",
    ],
)
def test_kernel_that_a_function_wraps_is_launched(tmp_path: Path, launch: str) -> None:
    source = (
        f"{ROWS}\ndef run(x, out):\n    alias = rows\n"
        f"    {launch}(x, out, 7, 8, 9, 10, 11, BLOCK_M=2, BLOCK_N=4)\n"
    )
    assert tables(tmp_path, source)["constexprs"] == {"BLOCK_M": 2, "BLOCK_N": 4}


def test_name_of_a_wrapped_kernel_is_launched(tmp_path: Path) -> None:
    source = (
        f"{ROWS}\ndef run(x, out):\n    wrapped = torch.library.wrap_triton(rows)\n"
        "    ready = wrapped[(1,)]\n    ready(x, out, 7, 8, 9, 10, 11, BLOCK_M=2, BLOCK_N=4)\n"
    )
    assert tables(tmp_path, source)["constexprs"] == {"BLOCK_M": 2, "BLOCK_N": 4}


def test_number_of_the_caller_decides_what_a_wrapper_derives_from_it(tmp_path: Path) -> None:
    source = """
@triton.jit
def best(x_ptr, E: tl.constexpr, N_GROUP: tl.constexpr, BLOCK: tl.constexpr, EACH: tl.constexpr):
    x = tl.reshape(tl.load(x_ptr + tl.arange(0, BLOCK), mask=tl.arange(0, BLOCK) < E), (N_GROUP, EACH))
    tl.store(x_ptr + tl.arange(0, N_GROUP), tl.max(x, axis=1))

def run(x, n_group: int):
    _, e = x.shape
    best[(1,)](x, E=e, N_GROUP=n_group, BLOCK=1 << (e - 1).bit_length(), EACH=e // n_group)
"""
    values = tables(tmp_path, source)["constexprs"]
    assert values["BLOCK"] == values["N_GROUP"] * values["EACH"] > values["EACH"], values
    text = (tmp_path / "source.toml").read_text()
    assert "N_GROUP = 8  # guessed: a number that the caller passes, as launched in line" in text


def test_size_that_a_wrapper_asserts_is_no_guess(tmp_path: Path) -> None:
    wrapper = """
def run(x, y):
    assert x.shape[-1] == 48 and x.ndim == 2
    assert y.shape[0] == 12
    rows[(1,)](x, y, x.stride(0), y.stride(0), y.shape[0], x.shape[1], 7, BLOCK_M=16, BLOCK_N=64)
"""
    tables(tmp_path, ROWS + wrapper)
    text = (tmp_path / "source.toml").read_text()
    for name, size in (("x_stride", 48), ("n_rows", 12), ("n_cols", 48)):
        assert f"; taken as {size}\n" in text.partition(f"{name} = ")[2].partition("\n")[0] + "\n"


def test_sizes_that_one_line_names_have_their_own_names(tmp_path: Path) -> None:
    """Otherwise the axes of one tensor get the names of another tensor's."""
    wrapper = """
def run(x, y):
    batch, heads = y.shape[0], y.shape[1]
    width = x.shape[-1]
    rows[(1,)](x, y, heads, batch, x.shape[0], width, 7, BLOCK_M=16, BLOCK_N=width)
"""
    values = tables(tmp_path, ROWS + wrapper)["constexprs"]
    assert values == {"BLOCK_M": 16, "BLOCK_N": 64}
    text = (tmp_path / "source.toml").read_text()
    assert "taken as 4\n" in text.partition("x_stride = ")[2].partition("\n")[0] + "\n"


def test_launch_in_another_module_counts_if_no_launch_is_beside_the_kernel(tmp_path: Path) -> None:
    """A kernel of the same name in a third module has its own launches."""
    wrapper = "from {module} import fill as {name}\ndef run(x):\n    {name}[(1,)](x, 7, {block})\n"
    sources = {
        "more.py": wrapper.format(module="others", name="fill", block=16),
        "ops.py": wrapper.format(module="kernels", name="filling", block=32),
        "kernels.py": FILL,
        "others.py": f"{FILL}def run(x):\n    fill[(1,)](x, 7, 256)\n",
    }
    for name, text in sources.items():
        (tmp_path / name).write_text(HEAD + text)
    paths = [tmp_path / name for name in sources]
    for chosen, others in ((paths, ()), (paths[2:], paths[:2])):
        first, second = guess_sources(chosen, others=others)
        texts = [kernel_file_text(one.kernels, one.path.name) for one in (first, second)]
        assert "BLOCK = 32  # guessed: as launched in line 6 of ops.py\n" in texts[0]
        assert "BLOCK = 256  # guessed: as launched in line 12\n" in texts[1]


def test_constants_of_other_modules_decide_what_a_wrapper_passes(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package/__init__.py").write_text("from .sizes import ROWS_ as N_ROWS, T\n")
    (tmp_path / "package/sizes.py").write_text(
        "HALF = 16\nROWS_ = HALF * 2\nfrom . import T\n"
        "def warps_of(n, is_new):\n    return 8 if is_new else n // HALF\n"
        "def is_hopper():\n    return ask_the_driver() >= 9\n"
    )
    wrapper = """
from package import N_ROWS, T
from package.sizes import is_hopper, warps_of
from missing import COLUMNS

def run(x):
    warps = warps_of(N_ROWS, is_hopper())
    rows[(1,)](x, x, 1, 1, T, 9, 7, BLOCK_M=N_ROWS, BLOCK_N=COLUMNS, num_warps=warps)
"""
    kernel_file = tables(tmp_path, ROWS + wrapper)
    assert kernel_file["constexprs"] == {"BLOCK_M": 32, "BLOCK_N": 64}
    assert kernel_file["options"] == {"num_warps": 2}


@pytest.mark.parametrize(
    ("condition", "types", "side"),
    [
        ("assert x.dtype == torch.bfloat16", ("*bf16", "*fp16"), 1024),
        ("assert x.dtype == y.dtype == out.dtype", ("*bf16", "*bf16"), 1024),
        ("assert out.dtype == x.dtype and x.dtype == y.dtype", ("*bf16", "*bf16"), 1024),
        ("if x.dtype != out.dtype: raise TypeError(x)", ("*bf16", "*fp16"), 1024),
        (
            "if not (x.dtype == out.dtype and n == 32) or y.dtype != x.dtype: raise TypeError(x)",
            ("*bf16", "*bf16"),
            32,
        ),
        ("assert n == 32", ("*fp16", "*fp16"), 32),
        ("if x.dtype == out.dtype: raise TypeError(x)", ("*fp16", "*fp16"), 1024),
        ("assert x.dtype == out.dtype or n == 32", ("*fp16", "*fp16"), 1024),
    ],
)
def test_condition_that_a_wrapper_demands_decides_what_it_passes(
    condition: str, types: tuple[str, str], side: int, tmp_path: Path
) -> None:
    kernel_file = tables(
        tmp_path,
        f"""
@triton.jit
def added(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + at).to(tl.float32), tl.load(y_ptr + at).to(tl.float32)
    tl.store(out_ptr + at, x + y)

def run(x, y):
    n = x.shape[0]
    out = torch.empty(n, dtype=torch.bfloat16)
    {condition}
    added[(1,)](x, y, out, BLOCK=n)
""",
    )
    given = kernel_file["signature"]
    assert (given["x_ptr"], given["y_ptr"]) == types
    assert given["out_ptr"] == "*bf16"
    assert kernel_file["constexprs"] == {"BLOCK": side}
