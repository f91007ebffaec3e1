"""CuTe DSL, NVIDIA's Python DSL for CUTLASS, as a toolchain.

``facts/`` has its releases, targets and environment variables, and :mod:`.failures` its failure
classes. ``inside/`` has the code that runs inside an env. NVIDIA publishes the wheels under an End
User License Agreement. Users install them from the package index.
"""

from __future__ import annotations

from pathlib import Path

from packaging.version import Version

from compat.toolchains.base import Toolchain
from compat.toolchains.cute.device import DEVICE, LAUNCHING
from compat.toolchains.cute.facts import NAME, RELEASES, VARIABLES
from compat.toolchains.cute.failures import KNOWLEDGE
from compat.toolchains.cute.ir import IR
from compat.toolchains.cute.language import LANGUAGE

CUTE = Toolchain(
    name=NAME,
    title="CuTe DSL",
    distribution="nvidia-cutlass-dsl",
    adapter=Path(__file__).parent / "inside" / "adapter",
    stages=("trace", "mlir", "binary", "ptx", "cubin"),
    releases=RELEASES,
    oldest=Version("4.0.0"),
    only_named=True,
    variables=VARIABLES,
    language=LANGUAGE,
    device=DEVICE,
    ir=IR,
    failures=KNOWLEDGE,
    launching=LAUNCHING,
)
