"""Capturing programs on a machine without a GPU, and launching kernels without CuTe DSL.

A GPU host repeats launches that were recorded during the compile. To record them, the adapter runs
the compiled ``@cute.jit`` function without a GPU, for every size that the problem names
(:mod:`compat.toolchains.cute.inside.adapter.recording`). This module treats all releases alike.
"""

from __future__ import annotations

from pathlib import Path

from compat.bundle.frozen import FrozenForm
from compat.model import CompileSpec
from compat.text import JsonObject, read_json
from compat.toolchains import pytorch
from compat.toolchains.base import CannotLaunch, Capturing, Device, Launching
from compat.toolchains.cute.facts import NAME, TARGETS
from compat.toolchains.cute.inside import recorder
from compat.toolchains.cute.inside.recorder.forms import CuteForms, element_source
from compat.toolchains.cute.inside.recorder.originals import digest_of
from compat.toolchains.inside import recorder as recorders
from compat.toolchains.pytorch.device.gpu import is_there


def facts(metadata: str, _text: str, _spec: CompileSpec) -> JsonObject:
    """Return ``launch`` of a cell from the adapter's record of its launches.

    Raises CannotLaunch.
    """
    try:
        record = read_json(metadata)
        if "why" in record:
            raise CannotLaunch(str(record["why"]))
        recorded = record["recorded"]
        launches = [launch for recording in recorded for launch in recording["launches"]]
        if not launches:
            raise CannotLaunch("the function launches no kernel")
        largest = max(launches, key=lambda launch: _threads(launch["block"]))
        return {
            "shared": max(launch["shared"] for launch in launches),
            "block": largest["block"],
            "multiples": {
                name: argument["align"]
                for recording in recorded
                for name, argument in recording["arguments"].items()
                if "align" in argument
            },
            "constants": {},
            "recorded": recorded,
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CannotLaunch("the adapter's record of its launches is invalid") from error


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
    packages=pytorch.HOST_PACKAGES,
)

CAPTURING = Capturing(
    start=Path(recorders.__file__).parent / "start",
    package=recorders.PACKAGE % NAME,
    variable=recorders.VARIABLE,
    begin=recorder.begin,
    digest=digest_of,
    hidden_packages=("torch",),
    usual=TARGETS.usual[0],
    has_device=is_there,
    frozen_form=FrozenForm(
        imports=("import cutlass", "import cutlass.cute as cute"),
        decorators={},
        dtype=element_source,
        kept_decorators=CuteForms.kept,
    ),
    caches=("CUTE_DSL_CACHE_DIR",),
)

DEVICE = Device(
    targets=TARGETS.targets,
    gpus=TARGETS.gpus,
    usual_targets=TARGETS.usual,
    models=TARGETS.models,
    capturing=CAPTURING,
)
