"""Triton, and its forks: all that the program knows of it.

``releases.toml`` has its releases, :mod:`.targets` the GPUs, :mod:`.variables` the environment variables, :mod:`.knowledge` and
:mod:`.classes` how it fails, :mod:`.parts` where a break can be, :mod:`.script_call` how a script calls it, :mod:`.edits` what
mends kernels; ``adapter/``, ``names/`` and ``inductor/`` run inside an env, ``in_library/`` inside of libraries.
"""

from __future__ import annotations

from pathlib import Path

from packaging.version import Version

from compat.toolchains.base import Guarding, Toolchain
from compat.toolchains.triton.capturing import CAPTURING
from compat.toolchains.triton.edits import EDITS
from compat.toolchains.triton.in_library import guard
from compat.toolchains.triton.interpreter import INTERPRETER
from compat.toolchains.triton.knowledge import KNOWLEDGE
from compat.toolchains.triton.launching import LAUNCHING
from compat.toolchains.triton.naming import NAMES
from compat.toolchains.triton.pairing import PAIRING
from compat.toolchains.triton.parts import PARTS
from compat.toolchains.triton.script_call import SCRIPT
from compat.toolchains.triton.targets import GPUS, TARGETS, USUAL
from compat.toolchains.triton.types import OPTIONS, TYPES
from compat.toolchains.triton.variables import VARIABLES

TRITON = Toolchain(
    name="triton",
    title="Triton",
    distribution="triton",
    adapter=Path(__file__).parent / "adapter",
    stages=("ast", "ttir", "ttgir", "llir", "ptx", "amdgcn", "cubin", "hsaco"),
    texts=("ttir", "ttgir", "llir", "ptx", "amdgcn"),
    releases=Path(__file__).parent / "releases.toml",
    oldest=Version("3.0.0"),
    repository="https://github.com/triton-lang/triton",
    commits_command=("tritonparseoss", "bisect", "--triton-dir", "triton", "--test-script", "test.py"),
    targets=TARGETS,
    gpus=GPUS,
    usual_targets=USUAL,
    types=TYPES,
    options=OPTIONS,
    knowledge=KNOWLEDGE,
    variables=VARIABLES,
    parts=PARTS,
    script=SCRIPT,
    capturing=CAPTURING,
    launching=LAUNCHING,
    guarding=Guarding(code=Path(guard.__file__), decide=guard.decide, policies=guard.POLICIES),
    interpreter=INTERPRETER,
    names=NAMES,
    pairing=PAIRING,
    edits=EDITS,
)
