"""CuTe DSL's intermediate representations: how dumps are read, and the parts of the compiler.

Tracing makes a module of the dialects ``cute`` and ``cute_nvgpu``. MLIR's passes lower it to the
dialects of LLVM and NVVM. libNVVM makes PTX of that, and ptxas the cubin. ptxas is inside the
library, so no other one can replace it. Other versions of ptxas take its PTX.
"""

from __future__ import annotations

import re
from pathlib import Path

from compat.diagnosis.pipeline import CompilerOutput, OutputReader
from compat.model import BuiltEnv, CompletedAction, Evidence, RaisedException, Target
from compat.text import lazy_pattern
from compat.toolchains.base import Assembler, CompilerParts, IntermediateForms
from compat.toolchains.mlir import dumps
from compat.toolchains.mlir.canonical import canonical, canonical_code
from compat.toolchains.nvidia import ptxas

_USED = lazy_pattern(r"Used (\d+) registers")
_FRAME = lazy_pattern(r"(\d+) bytes stack frame")


def read(text: str) -> CompilerOutput:
    """Parse the printed text of a compile with CuTe DSL."""
    return dumps.read(text, pass_key)


def pass_key(name: str) -> str:
    """Return the part of a pass's name that is the same in every release."""
    return re.sub(r"\W", "", name.lower()).removesuffix("pass")


READER = OutputReader(
    sources=(Path(__file__), *dumps.SOURCES),
    heading=dumps.HEADING_BEGINS,
    suffix="mlir",
    front_end=("trace",),
    read=read,
    operation=dumps.operation,
    pass_key=pass_key,
)


def _none(_built: BuiltEnv, _target: Target) -> Path | None:
    return None


def _evidence(code: int, printed: str, has_output: bool) -> Evidence:
    """Return how an assembler ended, with the registers and stack that it reports.

    If there are several kernels, each number is the maximum.
    """
    if code == 0 and has_output:
        resources = {"registers": _USED.findall(printed), "stack_bytes": _FRAME.findall(printed)}
        metrics = {name: max(map(int, numbers)) for name, numbers in resources.items() if numbers}
        return Evidence(
            answered=True, done=(CompletedAction(do="compile"),), stage="cubin", metrics=metrics
        )
    raised = RaisedException(
        type="RuntimeError", message=f"ptxas ended with {code}, error log: {printed}"
    )
    return Evidence(answered=True, stage="cubin", raised=(raised,))


PARTS = CompilerParts(
    passes="MLIR passes",
    backend="libNVVM",
    linker="linker",
    front_end=("trace",),
    first_ir="trace",
    last_ir="mlir",
    low_ir="mlir",
    low_ir_title="MLIR of the LLVM dialect",
    canonical_low_ir=canonical,
    canonical_code=canonical_code,
    backend_stages=("ptx",),
    not_optimized={},
    leaves_out="COMPAT_WITHOUT_PASS",
    assembler=Assembler(
        name="ptxas",
        stage="cubin",
        input_stage="ptx",
        variables=(),
        of=_none,
        command=ptxas.command,
        evidence=_evidence,
        kill_message=lazy_pattern(r"ptxas ended with -(?:[1239]|15|2[45]),"),
        wheels=ptxas.WHEELS,
    ),
)

IR = IntermediateForms(texts=("trace", "mlir", "ptx"), parts=PARTS)
