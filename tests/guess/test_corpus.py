"""Guesses about the kernels of five libraries, compared with what programs passed to them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from compat.envs.libraries import unpack_library
from tests.guess.corpus import NAMES, Launched, Quality

SOURCE = """
import triton
import triton.language as tl

@triton.jit
def copied(
    x_ptr, labels_ptr, out_ptr, n, stride_a, stride_b, scale, N: tl.constexpr, MODE: tl.constexpr
):
    at = tl.arange(0, N)
    row = tl.load(labels_ptr + at, mask=at < n)
    value = tl.load(x_ptr + row * stride_a + at * stride_b, mask=at < n) * 2.5 * scale
    if MODE == "sum":
        tl.store(out_ptr + at, value, mask=at < n)
"""
PASSED = {
    "x_ptr": ("*fp32 /16",),  # right, and so is its hint
    "labels_ptr": ("*i64 /16",),  # another width; its hint is right
    "out_ptr": ("*i32 /16", "none"),  # wrong: its hint is not judged
    "n": ("i32", "i32 =1"),  # right, with a hint that no launch has
    "stride_a": ("i32 /16",),
    "stride_b": ("i32 /16",),  # a hint that no launch has
    "scale": ("none",),  # always None: not judged
    "extra": ("fp32",),  # not guessed
    "N": ("constexpr 1024",),
    "MODE": ("constexpr 1",),  # wrong: a number
}


def test_guess_is_compared_with_everything_that_launches_passed(tmp_path: Path) -> None:
    (tmp_path / "copies.py").write_text(SOURCE)
    launched = Launched(
        requirement="copies==1.0",
        captured="here",
        kernels={"copies:copied": PASSED, "copies:gone": {"n": ("i32",)}},
    )
    quality = Quality.of(launched, tmp_path)
    judged = {
        f"{comparison.question} {comparison.parameter}": comparison.verdict
        for comparison in quality.comparisons
        if comparison.kernel == "copies:copied"
    }
    assert judged == {
        "types x_ptr": "right",
        "hints x_ptr": "right",
        "types labels_ptr": "compatible",
        "hints labels_ptr": "right",
        "types out_ptr": "wrong",
        "types n": "right",
        "hints n": "wrong",
        "types stride_a": "right",
        "hints stride_a": "right",
        "types stride_b": "right",
        "hints stride_b": "wrong",
        "types extra": "not guessed",
        "constexprs N": "right",
        "constexprs MODE": "wrong",
    }
    assert (
        quality.listed("not guessed")[-1]
        == "types not guessed: copies:gone n: nothing; launched i32"
    )
    assert next(quality.rows()) == ("types", "4", "1", "1", "2")


@pytest.mark.wheels
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.long if name == "fla-core" else ()) for name in NAMES],
)
def test_guesses_about_a_library_match_the_golden(
    name: str, golden: Callable[[str, str], None]
) -> None:
    """The golden files have the counts, and each parameter whose guess is wrong or missing."""
    launched = Launched.read(name)
    quality = Quality.of(launched, unpack_library(launched.requirement))
    golden(f"corpus-{name}.txt", quality.text())


def test_corpus_has_five_libraries_with_hundreds_of_kernels() -> None:
    """Each kernel has a record of what launches passed to it. No file has lost its kernels."""
    launched = [Launched.read(name) for name in NAMES]
    assert len(launched) == 5
    assert sum(len(library.kernels) for library in launched) > 350
    assert all(passed for library in launched for passed in library.kernels.values())
