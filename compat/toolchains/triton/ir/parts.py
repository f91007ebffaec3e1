"""Triton's intermediate representations: which stages print them, the parts in which a break can be, what crosses between releases,
and its assembler.
"""

from __future__ import annotations

import re
from pathlib import Path

from packaging.version import InvalidVersion, Version

from compat.model import BuiltEnv, Done, Evidence, Raised, Target
from compat.text import lazy_pattern
from compat.toolchains.base import Assembler, CompilerParts, IntermediateForms, Wheels
from compat.toolchains.triton.ir.canonical import canonical_code, canonical_llvm
from compat.toolchains.triton.ir.dumps import one_pass

_TARGET = lazy_pattern(r"^\s*\.target\s+(\w+)", re.MULTILINE)
_BIN = "lib/python*/site-packages/triton/backends/nvidia/bin"
_FIRST_WITHOUT_SUFFIX = 13
"""The first CUDA whose wheel is called ``nvidia-cuda-nvcc``; before, it is ``nvidia-cuda-nvcc-cu12``."""


def ptxas_of(built: BuiltEnv, target: Target) -> Path | None:
    """The assembler that an env's Triton uses for a target: there are two, from 3.3 on in some releases."""
    if built.python is None or target.backend != "cuda":
        return None
    folder = next(Path(built.python).parent.parent.glob(_BIN), None)
    if folder is None:
        return None
    newer, older = folder / "ptxas-blackwell", folder / "ptxas"
    path = newer if newer.exists() and int(target.arch) >= _first_of_newer(built) else older
    return path if path.exists() else None


def _first_of_newer(built: BuiltEnv) -> int:
    """The first architecture that is assembled by ``ptxas-blackwell``: since 3.9 the name is a misnomer."""
    try:
        release = Version(built.release or "").release
    except InvalidVersion:
        return 100
    return 90 if release >= (3, 9) else 100


def _command(program: Path, source: Path, output: Path) -> list[str]:
    """Assemble a file of PTX for the target that it names."""
    target = _TARGET.search(source.read_text(encoding="utf-8", errors="replace"))
    return [str(program), "-v", f"--gpu-name={target[1] if target else 'sm_80'}", str(source), "-o", str(output)]


def _evidence(code: int, printed: str, made: bool) -> Evidence:
    """How an assembler ended, in the words in which releases tell it."""
    if code == 0 and made:
        return Evidence(answered=True, done=(Done(do="compile"),), stage="cubin")
    failed = f"`ptxas` failed with error code {code}\n" if code < 0 else ""
    raised = Raised(type="RuntimeError", message=f"{failed}`ptxas` stderr:\n{printed}")
    return Evidence(answered=True, stage="cubin", raised=(raised,))


PARTS = CompilerParts(
    passes="MLIR passes",
    backend="LLVM",
    linker="linker (ld.lld, of LLVM)",
    front_end=("ast",),
    first_ir="ttir",
    last_ir="ttgir",
    low_ir="llir",
    low_ir_title="LLVM IR",
    canonical_low_ir=canonical_llvm,
    canonical_code=canonical_code,
    backend_stages=("ptx", "amdgcn", "hsaco"),
    not_optimized={"DISABLE_LLVM_OPT": "1"},
    assembler=Assembler(
        name="ptxas",
        stage="cubin",
        takes="ptx",
        # All that releases read; 3.3 spells the second with a hyphen.
        variables=("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH", "TRITON_PTXAS-BLACKWELL_PATH"),
        of=ptxas_of,
        command=_command,
        evidence=_evidence,
        killed=lazy_pattern(
            r"`ptxas` failed with error code (?:-(?:[1239]|15|2[45])|129|13[01]|137|143|15[23])\b"
            r"|died with <Signals\.SIG(?:KILL|TERM|INT|HUP|QUIT|XCPU|XFSZ)"
        ),
        wheels=Wheels(
            title="CUDA",
            example="12.9, or /usr/local/cuda/bin/ptxas",
            distribution=lambda major: "nvidia-cuda-nvcc" if major >= _FIRST_WITHOUT_SUFFIX else f"nvidia-cuda-nvcc-cu{major}",
            inside="lib/python*/site-packages/nvidia/*/bin/ptxas",
        ),
    ),
)

IR = IntermediateForms(texts=("ttir", "ttgir", "llir", "ptx", "amdgcn"), parts=PARTS, cut_reproducer=one_pass)
