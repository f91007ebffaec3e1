"""The toolchain Triton, and its forks.

``facts/`` contains its releases, targets and environment variables, ``language/`` the language of
kernels, ``device/`` the GPUs that they are compiled for and what replaces them, ``ir/`` the parts
of the compiler where it can break, ``failures/`` its failure classes, and ``edits/`` the edits that
fix kernels. ``inside/`` runs inside an env or a library.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from packaging.version import Version

from compat.toolchains.base import Toolchain
from compat.toolchains.programs import ProgramLanguage
from compat.toolchains.triton.device import DEVICE
from compat.toolchains.triton.device.launching import LAUNCHING
from compat.toolchains.triton.facts import RELEASES, VARIABLES, pytorch_of
from compat.toolchains.triton.failures import KNOWLEDGE
from compat.toolchains.triton.ir.dumps import IR
from compat.toolchains.triton.language import LANGUAGE


def _programs() -> ProgramLanguage[Any]:
    from compat.toolchains.triton.programs.language import PROGRAMS

    return PROGRAMS


TRITON = Toolchain(
    name="triton",
    title="Triton",
    distribution="triton",
    adapter=Path(__file__).parent / "inside" / "adapter",
    stages=("ast", "ttir", "glir", "ttgir", "llir", "ptx", "amdgcn", "cubin", "hsaco"),
    releases=RELEASES,
    framework_of=pytorch_of,
    oldest=Version("3.0.0"),
    repository="https://github.com/triton-lang/triton",
    commits_command=(
        "tritonparseoss",
        "bisect",
        "--triton-dir",
        "triton",
        "--test-script",
        "test.py",
    ),
    variables=VARIABLES,
    language=LANGUAGE,
    device=DEVICE,
    ir=IR,
    failures=KNOWLEDGE,
    launching=LAUNCHING,
    programs=_programs,
)
