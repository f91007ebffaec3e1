"""CuTe DSL's language: the types that a kernel file may give to arguments."""

from __future__ import annotations

from compat.text import lazy_pattern
from compat.toolchains.base import ArgumentTypes, Language, Simplification

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
