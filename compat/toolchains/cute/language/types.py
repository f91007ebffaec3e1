"""Types as kernel files of CuTe DSL spell them, of arguments and of compile options."""

from __future__ import annotations

from compat.text import lazy_pattern
from compat.toolchains.base import ArgumentTypes, Option

ELEMENTS = {
    "Float16": "fp16",
    "BFloat16": "bf16",
    "Float32": "fp32",
    "TFloat32": "tf32",
    "Float64": "fp64",
    "Float8E4M3FN": "fp8e4m3fn",
    "Float8E5M2": "fp8e5m2",
    "Float8E8M0FNU": "fp8e8m0fnu",
    "Float6E2M3FN": "fp6e2m3fn",
    "Float6E3M2FN": "fp6e3m2fn",
    "Float4E2M1FN": "fp4e2m1fn",
    "Boolean": "bool",
    "Int4": "i4",
    **{f"Int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"Uint{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
}
"""What CuTe DSL calls a type → what kernel files do."""

_ELEMENT = f"(?:{'|'.join(ELEMENTS.values())})"
_SIZE = r"(?:[1-9]\d*|[A-Za-z_]\w*(?:%[1-9]\d*)?)"
_SIZES = rf"\[{_SIZE}(?:, ?{_SIZE})*\]"
_ALIGN = r"(?: align=[1-9]\d*)?"
_MADE = r"[A-Za-z_]\w*\(\)"

TYPES = ArgumentTypes(
    pattern=lazy_pattern(
        rf"{_ELEMENT}{_SIZES}(?::{_SIZES}| leading=\d)?{_ALIGN}|ptr<{_ELEMENT}>{_ALIGN}|{_ELEMENT}|stream|{_MADE}",
    ),
    known=("fp16[m, n]", "fp16[m, n]:[n, 1]", "fp16[m, k%8] align=16", "ptr<fp16>", "i32", "fp32", "stream"),
    examples='"fp16[m, 64]", "ptr<fp16>", "i32" or "stream"',
)

OPTIONS = {
    "opt-level": Option(kind=int, least=0),
    **{
        name: Option(kind=bool)
        for name in ("enable-assertions", "enable-device-assertions", "generate-line-info", "enable-tvm-ffi")
    },
    **{name: Option(kind=str) for name in ("ptxas-options", "link-libraries")},
}
"""What ``cute.compile`` takes in its options. Left out is what says where files are written, and for which target."""
