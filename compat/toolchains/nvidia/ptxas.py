"""NVIDIA's assembler by itself: its command, and the wheels of its releases."""

from __future__ import annotations

import re
from pathlib import Path

from compat.text import lazy_pattern
from compat.toolchains.base import Wheels

_TARGET = lazy_pattern(r"^\s*\.target\s+(\w+)", re.MULTILINE)
_FIRST_WITHOUT_SUFFIX = 13
"""The first CUDA whose wheel is called ``nvidia-cuda-nvcc``; before, it is
``nvidia-cuda-nvcc-cu12``.
"""


def command(program: Path, source: Path, output: Path) -> list[str]:
    """Return the command that assembles a file of PTX for the target that it names."""
    target = _TARGET.search(source.read_text(encoding="utf-8", errors="replace"))
    name = target[1] if target else "sm_80"
    return [str(program), "-v", f"--gpu-name={name}", str(source), "-o", str(output)]


WHEELS = Wheels(
    title="CUDA",
    example="12.9, or /usr/local/cuda/bin/ptxas",
    distribution=lambda major: (
        "nvidia-cuda-nvcc" if major >= _FIRST_WITHOUT_SUFFIX else f"nvidia-cuda-nvcc-cu{major}"
    ),
    inside="lib/python*/site-packages/nvidia/*/bin/ptxas",
)
