"""What Triton's names are called, and how it is found out which there are."""

from __future__ import annotations

from pathlib import Path

from compat.toolchains.base import Names

NAMES = Names(
    program=Path(__file__).parent / "names",
    short={"tl": "triton.language", "gl": "triton.experimental.gluon.language", "gluon": "triton.experimental.gluon"},
    packages={"triton": "triton", "tl": "triton.language"},
    makes_kernels=frozenset({"triton.jit", "triton.runtime.jit", "triton.runtime.jit.jit", "triton.experimental.gluon.jit"}),
)
