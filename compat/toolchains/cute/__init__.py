"""CuTe DSL, NVIDIA's Python DSL for CUTLASS: all that the program knows of it.

``facts/`` has its releases, targets and environment variables, :mod:`.failures` how it fails; ``inside/`` runs inside an env. Its
wheels are NVIDIA's, under an End User License Agreement: whoever uses them installs them, from the package index.
"""

from __future__ import annotations

from pathlib import Path

from packaging.version import Version

from compat.text import lazy_pattern
from compat.toolchains.base import ArgumentTypes, Language, Simplification, Toolchain
from compat.toolchains.cute.device import DEVICE
from compat.toolchains.cute.facts import NAME, RELEASES, VARIABLES
from compat.toolchains.cute.failures import KNOWLEDGE

_ELEMENT = r"(?:bool|[iu](?:8|16|32|64)|fp16|bf16|fp32|tf32|fp64|fp8e4m3fn|fp8e5m2)"
_SIZE = r"(?:[1-9]\d*|[A-Za-z_]\w*(?:%[1-9]\d*)?)"
_SIZES = rf"\[{_SIZE}(?:, ?{_SIZE})*\]"
_ALIGN = r"(?: align=[1-9]\d*)?"

TYPES = ArgumentTypes(
    pattern=lazy_pattern(
        rf"{_ELEMENT}{_SIZES}(?::{_SIZES}| leading=\d)?{_ALIGN}|ptr<{_ELEMENT}>{_ALIGN}|{_ELEMENT}|stream",
    ),
    known=("fp16[m, n]", "fp16[m, n]:[n, 1]", "fp16[m, k%8] align=16", "ptr<fp16>", "i32", "fp32", "stream"),
    examples='"fp16[m, 64]", "ptr<fp16>", "i32" or "stream"',
)

LANGUAGE = Language(types=TYPES, decorators=frozenset({"jit", "kernel", "dataclass"}), simplification=Simplification())

CUTE = Toolchain(
    name=NAME,
    title="CuTe DSL",
    distribution="nvidia-cutlass-dsl",
    adapter=Path(__file__).parent / "inside" / "adapter",
    stages=("trace", "mlir", "ptx", "cubin"),
    releases=RELEASES,
    oldest=Version("4.0.0"),
    only_named=True,
    variables=VARIABLES,
    language=LANGUAGE,
    device=DEVICE,
    failures=KNOWLEDGE,
)
