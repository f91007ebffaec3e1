"""What is known of Triton's failures: its classes, how it words things, which program works in which stage."""

from __future__ import annotations

import re

from compat.diagnosis.dialects import Dialects
from compat.diagnosis.knowledge import Knowledge
from compat.diagnosis.symptoms import Wording
from compat.model import DEFAULT_TOOLCHAIN
from compat.text import lazy_pattern
from compat.toolchains.triton.failures import CLASSES

_FORGET = tuple(
    (lazy_pattern(pattern), replacement)
    for pattern, replacement in (
        (r"(?<![\w.-])([.-]*+)[\w.-]+\.(?:ttir|ttgir|ptx)(?::\d+)+", r"\1<path>"),
        (r"\btriton\.language\.float(?=\d)", "fp"),  # triton.language.float32 is fp32
        (r"\btriton\.language\.bfloat(?=\d)", "bf"),
        (r"\btriton\.language\.(?=u?int\d)", ""),
    )
)

_COMPLAINT = lazy_pattern(
    r"^ptxas[^\n]*?\b(?:error|fatal) *: *(?:\(C\d+\) *)?(?P<words>(?![^\n]*Ptx assembly aborted due to errors)[^\n]+)", re.MULTILINE
)

_DIALECTS = Dialects(
    renamed=(  # in 3.3; the operations in them were not
        (lazy_pattern(r"\btriton_nvidia_gpu\."), "ttng."),
        (lazy_pattern(r"\btriton_gpu\."), "ttg."),
        (lazy_pattern(r"!tt\.memdesc\b"), "!ttg.memdesc"),
    ),
    affixes=lazy_pattern(r"^(?:triton-?nvidia-?gpu|triton-?amd-?gpu|triton-?gpu|triton-?nvidia|triton|nvgpu)-?|-?(?:pass|nv)$"),
)

KNOWLEDGE = Knowledge(
    toolchain=DEFAULT_TOOLCHAIN,
    classes=CLASSES,
    wording=Wording(
        package="triton",
        machine=r"(?:runtime/(?:driver|build)|backends/\w+/driver)\.py$",
        wrappers=("CompilationError", "UnsupportedLanguageConstruct", "CompileTimeAssertionFailure"),
        assembler=_COMPLAINT,
        assembler_name="ptxas",
        forget=_FORGET,
        dialects=_DIALECTS,
    ),
    programs={
        "source": "the kernel's file",
        "ast": "the front end",
        "ttir": "MLIR",
        "ttgir": "MLIR",
        "llir": "MLIR",
        "ptx": "LLVM",
        "amdgcn": "LLVM",
        "cubin": "the assembler",
        "hsaco": "the linker",
    },
)
