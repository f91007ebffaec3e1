"""How kernels of CuTe DSL are launched by a program that has no CuTe DSL: as they were launched where they were compiled.

The adapter runs the compiled ``@cute.jit`` function, which has no GPU there, and writes down its launches for every size that the
problem names (:mod:`compat.toolchains.cute.inside.adapter.recording`). No release is treated in another way here.
"""

from __future__ import annotations

from typing import Any

from compat.model import CompileSpec
from compat.text import read_json
from compat.toolchains import pytorch
from compat.toolchains.base import Launching, Unlaunchable


def facts(metadata: str, text: str, spec: CompileSpec) -> dict[str, Any]:
    """What a launch has to know, of what the adapter wrote down. Raises Unlaunchable."""
    try:
        told = read_json(metadata)
        if "why" in told:
            raise Unlaunchable(str(told["why"]))
        recorded = told["recorded"]
        launches = [launch for each in recorded for launch in each["launches"]]
        if not launches:
            raise Unlaunchable("the function launches no kernel")
        largest = max(launches, key=lambda launch: _threads(launch["block"]))
        return {
            "shared": max(launch["shared"] for launch in launches),
            "block": largest["block"],
            "multiples": {name: said["align"] for each in recorded for name, said in each["arguments"].items() if "align" in said},
            "constants": {},
            "recorded": recorded,
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Unlaunchable("what the adapter wrote down of its launches has another form") from error


def _threads(block: list[int]) -> int:
    x, y, z = block
    return x * y * z


LAUNCHING = Launching(
    backends=("cuda",),
    binary="cubin",
    text="trace",
    metadata="metadata",
    tells_problem=True,
    facts=facts,
    packages={"compat_launch": pytorch.FOLDER / "host", "compat_numerics": pytorch.FOLDER / "numerics"},
)
