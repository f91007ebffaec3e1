"""A project of any size, and a run of it with a worker that compiles nothing.

``python -m tests.large FOLDER CELLS`` runs ``compat matrix`` on it, from the cells to the files of
the report. It prints the time of each step, and the peak memory of this process. A second run in
the same folder finds all results in the store.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import ceil
from pathlib import Path

from compat.model import BuiltEnv, Env, Package
from compat.project import Selection, select

WORKER = Path(__file__).parent / "worker"
"""The folder of the worker's program, for ``RunContext.worker``."""
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
TARGETS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "gfx90a", "gfx942", "gfx1100")
OPERATIONS = ("softmax", "matmul", "sum", "norm", "rope", "scan", "attention", "dropout")
CASES = 5
"""The cases of a kernel, like the configs of an autotuner."""

_MATRIX = """schema = 1
kernels = ["kernels/*.toml"]

[defaults]
envs = [{envs}]
targets = [{targets}]
"""
_SOURCE = """import triton
import triton.language as tl


@triton.jit
def {name}(source, result, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=at < size) + {number}, mask=at < size)
"""
_KERNEL = """schema = 1
kernel = "{name}"
source = "{name}.py"

[signature]
source = "*fp32"
result = "*fp32"
size = "i32"

[constexprs]
BLOCK = 128
"""
_CASE = """
[[case]]
name = "block_{block}"
constexprs = {{ BLOCK = {block} }}
"""


def project(folder: Path, cells: int) -> Selection:
    """Write a project of at least this many cells, and select all of them.

    A project that is already there stays as it is.
    """
    matrix = folder / "matrix.toml"
    if not matrix.exists():
        (folder / "kernels").mkdir(parents=True)
        for number in range(ceil(cells / len(RELEASES) / len(TARGETS) / CASES)):
            _write_kernel(
                folder / "kernels", f"{OPERATIONS[number % len(OPERATIONS)]}_{number:03}", number
            )
        texts = {"envs": [f"triton-{release}" for release in RELEASES], "targets": TARGETS}
        matrix.write_text(
            _MATRIX.format(
                **{
                    name: ", ".join(f'"{entry}"' for entry in entries)
                    for name, entries in texts.items()
                }
            )
        )
    return select(matrix)


def _write_kernel(folder: Path, name: str, number: int) -> None:
    (folder / f"{name}.py").write_text(_SOURCE.format(name=name, number=number))
    cases = "".join(_CASE.format(block=64 << case) for case in range(CASES))
    (folder / f"{name}.toml").write_text(_KERNEL.format(name=name) + cases)


def obtain(_: Path, envs: Sequence[Env]) -> list[BuiltEnv]:
    """Envs for ``run_matrix`` that have nothing but this interpreter.

    The worker that compiles nothing needs only that.
    """
    return [_built(env) for env in envs]


def _built(env: Env) -> BuiltEnv:
    packages = (
        Package(name="triton", version=str(env.release), digest=f"of triton {env.release}"),
    )
    return BuiltEnv(
        env=env,
        python=sys.executable,
        python_version="3.11.7",
        packages=packages,
        digest=f"of {env.name}",
    )
