"""The types that a kernel file may give a run-time argument, as Triton spells them."""

from __future__ import annotations

from compat.patterns import lazy_pattern
from compat.toolchains.base import Types

DTYPES = (
    *("i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "fp16", "bf16", "fp32", "fp64"),
    *("fp8e4nv", "fp8e5", "fp8e4b8", "fp8e5b16", "fp8e4b15"),
)
"""Element types; a pointer is ``*`` followed by one of these, ``*k`` if it is const."""

_ANY = "|".join(DTYPES)

TYPES = Types(
    pattern=lazy_pattern(rf"(\*k?)?({_ANY})|tensordesc<({_ANY})\[\d+(, ?\d+)*\]>"),
    known=(*DTYPES, *(f"*{dtype}" for dtype in DTYPES)),
    examples='"*fp16" or "i32"',
    elements=DTYPES,
)
