"""Small kernels, one mistake or one feature each, and what they are compiled with: what the failure
classes are measured on.

Every kernel of the files beside this one takes ``(source, result, size, BLOCK)``. :data:`SETTINGS`
says of some with what arguments besides the usual ones. ``python -m tests.diagnosis.corpus``
compiles them and tells what became of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from compat.model import Cell, CompileSpec, Env, Specialization, Target
from compat.source.closure import read_source
from tests.targets import TARGETS

HERE = Path(__file__).parent
PARAMETERS = ["source", "result", "size", "BLOCK"]
RELEASES = (
    "3.0.0",
    "3.1.0",
    "3.2.0",
    "3.3.0",
    "3.3.1",
    "3.4.0",
    "3.5.0",
    "3.5.1",
    "3.6.0",
    "3.7.0",
    "3.7.1",
    "3.8.0",
    "3.9.0",
)
MAIN = "sm_90"
"""The target that everything is compiled for."""
OTHERS = ("sm_75", "sm_80", "sm_100", "sm_120", "gfx90a", "gfx942", "gfx1100")
"""Targets for what depends on the target."""
DEPENDING = ("dots", "memory", "specialized")
"""Files whose kernels depend on it."""
GFX906 = Target(name="gfx906", backend="hip", arch="gfx906", warp_size=64, shared_memory=64 * 1024)
"""A target that is in no table, for which LLVM still has a name and Triton has none."""
DTYPES = ("fp16", "bf16", "fp64", "i1", "i8", "i16", "i64", "u8", "fp8e4nv", "fp8e5")


@frozen(kw_only=True)
class Setting:
    """What a kernel is compiled with."""

    name: str = "usual"
    pointers: str = "*fp32"
    block: Any = 128
    options: Mapping[str, Any] = {}
    result: str = "*fp32"
    size: str = "i32"
    targets: Sequence[str] = ()
    """Empty for those of the kernel's file."""


USUAL = Setting()


def _of_dtypes(*dtypes: str, block: int = 128, **options: Any) -> list[Setting]:
    return [
        Setting(name=dtype, pointers=f"*{dtype}", block=block, options=options) for dtype in dtypes
    ]


_SMALL = [evolve(USUAL, block=32)]
_DOTS = _of_dtypes(
    "fp16",
    "fp32",
    "bf16",
    "fp64",
    "i8",
    "i16",
    "i32",
    "u8",
    "fp8e4nv",
    "fp8e5",
    "fp8e4b15",
    "fp8e4b8",
    "fp8e5b16",
    block=32,
)
_EACH = _of_dtypes("fp32", *DTYPES)
_FLOATS = _of_dtypes("fp32", "fp16", "bf16", "fp64", "i32")
_CTAS = [Setting(name="two_ctas", options={"num_ctas": 2}, block=256), *_of_dtypes("fp32")]
_PIPELINES = [*_of_dtypes("fp16", "fp8e5", block=64), *_of_dtypes("bf16", block=128, num_warps=8)]
_CONSUMERS = {"num_consumer_groups": 2, "num_buffers_warp_spec": 3, "num_warps": 4}

SETTINGS: dict[str, Sequence[Setting]] = {
    "matrix_multiplication_sign": _SMALL,
    "dot": [
        *_DOTS,
        Setting(name="large", pointers="*fp16", block=256),
        Setting(name="wide", pointers="*fp16", block=64, options={"num_warps": 8}),
        Setting(name="ctas", pointers="*fp16", block=64, options={"num_ctas": 2}),
    ],
    "dot_in_a_loop": [
        *_of_dtypes("fp16", "fp32", "i8", "fp8e5", block=64),
        Setting(name="stages", pointers="*fp16", block=128, options={"num_stages": 7}),
        Setting(name="ctas", pointers="*fp16", block=128, options={"num_ctas": 2}),
        Setting(name="warps", pointers="*fp32", block=64, options={"num_warps": 8}),
        Setting(name="consumers", pointers="*fp16", block=128, options=_CONSUMERS),
        Setting(name="consumers_small", pointers="*fp16", block=64, options=_CONSUMERS),
    ],
    "pipelined_range": [USUAL, Setting(name="consumers", options=_CONSUMERS)],
    "dot_of_a_dot": [
        *_of_dtypes("fp16", "fp32", "bf16", "fp8e5", block=64),
        *_of_dtypes("fp16", block=64, num_warps=8)[:1],
    ],
    **dict.fromkeys(
        ("dot_transposed", "dot_with_half_result", "dot_with_int_result"),
        _of_dtypes("fp16", "i8", "fp8e4nv", block=32),
    ),
    **dict.fromkeys(
        ("dot_with_wrong_accumulator", "dot_with_accumulator_of_shape", "dot_of_ranks"),
        _of_dtypes("fp16", block=32),
    ),
    **dict.fromkeys(
        (
            "copies",
            "adds",
            "sums",
            "maximum_of_block",
            "exponential",
            "divides",
            "to_fp8e4nv",
            "to_fp8e5",
        ),
        _EACH,
    ),
    **dict.fromkeys(
        ("sigmoid", "clamps", "to_fp8e4b15", "to_bf16", "to_fp8e4b8", "to_fp8e5b16"), _FLOATS
    ),
    **dict.fromkeys(
        ("cumulates", "sorts", "gathers", "histogram", "splits"),
        _of_dtypes("fp32", "bf16", "i8", "i64", "fp8e5"),
    ),
    **dict.fromkeys(
        ("descriptors_into_a_dot", "two_dots", "persistent", "flattened", "gathers_in_a_pipeline"),
        _PIPELINES,
    ),
    "sums_specialized": _of_dtypes("fp16", "fp32", block=64),
    "transposes": _of_dtypes("fp16", "i8", "fp8e5", block=32),
    "scanned": _CTAS,
    "sorted_block": _CTAS,
    "reduced": _CTAS,
    **dict.fromkeys(
        ("atomic_adds", "atomic_max", "atomic_and", "atomic_xchg", "atomic_cas"),
        _of_dtypes("fp32", "fp16", "bf16", "fp64", "i8", "i16", "i32", "i64", "u8", "i1"),
    ),
    **dict.fromkeys(
        ("libdevice_tanh", "libdevice_pow", "libdevice_rsqrt", "cuda_libdevice"), _FLOATS
    ),
    **dict.fromkeys(
        (
            "libdevice_ffs",
            "libdevice_isnan",
            "libdevice_round",
            "libdevice_fast_exp",
            "libdevice_lgamma",
            "hip_libdevice",
        ),
        _of_dtypes("fp32", "fp64", "bf16"),
    ),
    "cuda_special": _of_dtypes("u8", "fp16", "fp8e4nv"),
    "descriptor_load": [USUAL, *_of_dtypes("fp16", "i1")],
    "descriptor_gather": _of_dtypes("fp32", "fp16"),
    "descriptor_atomic": _of_dtypes("fp32", "fp16", "i8"),
    "descriptor_in_a_loop": _of_dtypes("fp16", block=64),
    "descriptor_argument": [
        Setting(name="host", pointers="tensordesc<fp16[64, 64]>"),
        Setting(name="garbled", pointers="tensordesc<fp16>"),
    ],
    # Arguments and options that no kernel can make up for.
    "static_range": [
        USUAL,
        Setting(
            name="stages_one", options={"num_stages": 1}, targets=("gfx942", "gfx1100", "sm_90")
        ),
        Setting(name="stages_none", options={"num_stages": 0}, targets=("gfx942", "sm_90")),
        Setting(name="stages_negative", options={"num_stages": -1}),
        Setting(name="warps_three", options={"num_warps": 3}),
        Setting(name="warps_many", options={"num_warps": 128}),
        Setting(name="warps_none", options={"num_warps": 0}),
        Setting(name="warps_text", options={"num_warps": "four"}),
        Setting(name="ctas_three", options={"num_ctas": 3}),
        Setting(
            name="ctas_on_old",
            options={"num_ctas": 2},
            targets=("sm_80", "sm_75", "gfx942", "sm_90"),
        ),
        Setting(name="option_unknown", options={"num_wraps": 4}),
        Setting(name="maxnreg", options={"maxnreg": 64}),
        Setting(name="fp_fusion", options={"enable_fp_fusion": False}),
        Setting(name="waves", options={"waves_per_eu": 2}, targets=("gfx942", "sm_90")),
        Setting(
            name="matrix_instruction",
            options={"matrix_instr_nonkdim": 99},
            targets=("gfx942", "sm_90"),
        ),
        Setting(name="kpack", options={"kpack": 2}, targets=("gfx942", "gfx950")),
        Setting(name="cluster", options={"cluster_dims": (2, 1, 1)}),
        Setting(name="dot_precision", options={"default_dot_input_precision": "tf64"}),
        Setting(name="prefetch", options={"schedule_hint": "local-prefetch"}, targets=("gfx942",)),
        Setting(
            name="prefetch_global",
            options={"instruction_sched_variant": "local_prefetch"},
            targets=("gfx942", "gfx1100"),
        ),
        Setting(name="pointer_unknown", pointers="*fp128"),
        Setting(name="type_unknown", size="int"),
        Setting(name="type_empty", size=""),
        Setting(name="block_text", block="128"),
        Setting(name="block_none", block=None),
        Setting(name="old_gpu", targets=("gfx906",)),
    ],
    "copies": [
        *_EACH,
        Setting(name="block_odd", block=100),
        Setting(name="block_float", block=128.0),
        Setting(name="old_gpu", targets=("gfx906",)),
    ],
}


def targets() -> dict[str, Target]:
    """Name → target, of all that the corpus is compiled for."""
    return {**TARGETS, GFX906.name: GFX906}


@cache
def kernels() -> Mapping[str, tuple[str, ...]]:
    """File (without its suffix) → the kernels in it."""
    return {
        path.stem: tuple(_kernels(path))
        for path in sorted(HERE.glob("*.py"))
        if not path.stem.startswith("_")
    }


def _kernels(path: Path) -> Iterator[str]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if (
            isinstance(node, ast.FunctionDef)
            and [parameter.arg for parameter in node.args.args] == PARAMETERS
        ):
            yield node.name


@cache
def specializations() -> Sequence[tuple[Specialization, Sequence[str]]]:
    """Every kernel with every setting, and the targets that it is compiled for."""
    entries = []
    for file, names in kernels().items():
        for name in names:
            for setting in SETTINGS.get(name, (USUAL,)):
                usual = (MAIN, *OTHERS) if file in DEPENDING else (MAIN,)
                entries.append((specialization(file, name, setting), setting.targets or usual))
    return entries


def specialization(file: str, name: str, setting: Setting) -> Specialization:
    """A kernel of the corpus with one setting."""
    path = HERE / f"{file}.py"
    return Specialization(
        kernel=name,
        variant=file,
        case=setting.name,
        source=str(path),
        function=name,
        compile=CompileSpec(
            signature={"source": setting.pointers, "result": setting.result, "size": setting.size},
            constexprs={"BLOCK": {"none": True} if setting.block is None else setting.block},
            divisible_by_16=tuple(
                name for name in ("source", "result") if setting.pointers.startswith("*")
            ),
            options=setting.options,
        ),
        closure=_closure(path),
        origin="corpus",
    )


@cache
def _closure(path: Path) -> str:
    return read_source(path).closure


def cells(releases: Sequence[str] = RELEASES, only: Sequence[str] = ()) -> list[Cell]:
    """Every cell of the corpus on these releases; ``only`` names targets."""
    every = targets()
    return [
        Cell(env=Env(name=f"triton-{release}"), target=every[target], spec=spec)
        for release in releases
        for spec, spec_targets in specializations()
        for target in spec_targets
        if not only or target in only
    ]
