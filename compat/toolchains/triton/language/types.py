"""The types that a kernel file may give a run-time argument, as Triton spells them, and the types of compile options."""

from __future__ import annotations

from compat.patterns import lazy_pattern
from compat.toolchains.base import ArgumentTypes, Option

DTYPES = (
    *("i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "fp16", "bf16", "fp32", "fp64"),
    *("fp8e4nv", "fp8e5", "fp8e4b8", "fp8e5b16", "fp8e4b15"),
)
"""Element types; a pointer is ``*`` followed by one of these, ``*k`` if it is const."""

_ANY = "|".join(DTYPES)

TYPES = ArgumentTypes(
    pattern=lazy_pattern(rf"(\*k?)?({_ANY})|tensordesc<({_ANY})\[\d+(, ?\d+)*\]>"),
    known=(*DTYPES, *(f"*{dtype}" for dtype in DTYPES)),
    examples='"*fp16" or "i32"',
    elements=DTYPES,
)

_SWITCHES = (
    *("allow_flush_denorm", "allow_fp8e4b15", "allow_fp8e4nv", "clc", "debug", "enable_fp_fusion", "enable_reflect_ftz"),
    *("fpsan_homomorphic_casts", "launch_cooperative_grid", "launch_pdl", "sanitize_overflow", "sched4reg"),
)
_NUMBERS = (
    *("kpack", "matrix_instr_nonkdim", "num_buffers_warp_spec", "num_consumer_groups", "ptx_version", "reg_dec_producer"),
    *("reg_inc_consumer", "warp_size", "waves_per_eu"),
)
_TEXTS = (
    "default_dot_input_precision",
    "instruction_sched_variant",
    "instrumentation_mode",
    "ptx_options",
    "schedule_hint",
    "wgp_cu_mode",
)

OPTIONS = {
    "num_warps": Option(kind=int, least=1, power_of_two=True),
    "num_ctas": Option(kind=int, least=1, power_of_two=True),
    "num_stages": Option(kind=int, least=0),
    "maxnreg": Option(kind=int, least=1),
    "min_shared_mem": Option(kind=int, least=0),
    **{name: Option(kind=int, least=0) for name in _NUMBERS},
    **{name: Option(kind=bool) for name in _SWITCHES},
    **{name: Option(kind=str) for name in _TEXTS},
}
"""Options of the NVIDIA and AMD backends. Left out are those that no number, string or boolean can be, and those of two types."""
