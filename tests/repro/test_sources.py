"""Bundles copy kernels out of every kind of file that Python reads.

If a kernel cannot be copied, one error gives the reason.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from compat import toolchains
from compat.errors import ConfigError
from compat.source.closure import read_source
from tests.repro.bundling import spec_of
from tests.together import for_each

KERNEL = """import triton
import triton.language as tl

WIDTH = tl.constexpr(4)  # é


@triton.jit
def kernel(x, n):
    tl.store(x, helper(n) + WIDTH)


@triton.jit
def helper(n):
    return n + 1
"""


def source_text(path: Path, function: str = "kernel") -> str:
    return toolchains.bundle_of(spec_of(path, function)).text


@for_each(
    "source",
    [
        KERNEL.encode(),
        b"\xef\xbb\xbf" + KERNEL.encode(),
        KERNEL.replace("\n", "\r\n").encode(),
        KERNEL.replace("\n", "\r").encode(),
        b"# -*- coding: latin-1 -*-\n" + KERNEL.encode("latin-1"),
        KERNEL.replace("\n\n\n", "\n\x0c\n\x0c").encode(),
    ],
)
def test_a_kernel_is_bundled_from_any_file_that_python_reads(tmp_path: Path, source: bytes) -> None:
    path = tmp_path / "k.py"
    path.write_bytes(source)
    assert {"kernel", "helper"} <= set(read_source(path).functions)
    text = source_text(path)
    names = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert names == ["helper", "kernel"]
    assert "# é" in text
    assert "\r" not in text
    assert "\x0c" not in text


@for_each(
    "source",
    [
        KERNEL.encode() + b"\x00",
        b"# coding: nope\n" + KERNEL.encode(),
        b"# coding: utf-8\nX = '\xff'\n" + KERNEL.encode(),
        b"X = " + b"(" * 5000 + b")" * 5000,
        b"X = " + b"-" * 100_000 + b"1",
        b"def kernel(:\n",
    ],
)
def test_a_file_that_python_cannot_read_is_an_error(tmp_path: Path, source: bytes) -> None:
    path = tmp_path / "k.py"
    path.write_bytes(source)
    with pytest.raises(SyntaxError):
        read_source(path)
    with pytest.raises(ConfigError, match="cannot copy the kernel out of its file") as caught:
        source_text(path)
    assert str(path) in str(caught.value)


def test_a_long_chain_of_elif_is_read(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text(
        f"if a: pass\n{'elif a: pass' + chr(10)}" * 1
        + "elif a: pass\n" * 900
        + "else:\n    def kernel(x): pass\n"
    )
    assert "kernel" in read_source(path).functions


def test_an_expression_nested_too_deeply_is_a_config_error(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text(f"def kernel(x):\n    return {'+'.join(['x'] * 900)}\n")
    # The depth limit differs between versions of Python: some accept this expression.
    refusal = "nested too deeply"
    try:
        source_text(path)
    except ConfigError as error:
        refusal = str(error)
    assert "nested too deeply" in refusal
