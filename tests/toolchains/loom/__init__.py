"""A toolchain that shares names with Triton: a target and two failure classes.

The target is ``sm_90``, and the failure classes are ``shape-mismatch`` and ``shared-memory``. All
else differs from Triton. The target has another backend, another architecture and 16 bytes of
shared memory. The loom compiles for its other target, ``loom_2``, only on request. It finds kernels
in sources, and has its own edit, API, recorder and launcher. It has no passes, parts, scripts or
guards.
"""

from __future__ import annotations

import re
from pathlib import Path

from attrs import evolve

from compat.bundle.frozen import FrozenForm
from compat.diagnosis import common
from compat.diagnosis.failure_class import Blame, FailureClass, Knowledge, Sign
from compat.diagnosis.symptoms import MessagePatterns
from compat.model import Status, Target
from compat.toolchains.base import (
    ApiNames,
    ArgumentTypes,
    Capturing,
    Device,
    GpuModel,
    Language,
    Launching,
    Toolchain,
)
from compat.toolchains.language import Guessing, KnownEdit
from tests.toolchains.loom import recorder

SHAPE_MISMATCH = FailureClass(
    name="shape-mismatch",
    title="Rows of different lengths",
    meaning="The rows of the pattern do not have the same number of words.",
    status=Status.REJECTED,
    advice="Weave rows of one length.",
    blame=Blame.COMPILER,
    signs=(
        Sign(
            error=r"^ShapeError$",
            message=r"^rows of (?P<least>\d+) and (?P<most>\d+) words",
            means="rows of {least} and {most}",
        ),
    ),
)
SM_90 = Target(
    name="sm_90", toolchain="loom", backend="loom", arch="h90", warp_size=1, shared_memory=16
)
LOOM_2 = evolve(SM_90, name="loom_2", arch="h100")

LOOM = Toolchain(
    name="loom",
    title="Loom",
    distribution="loom",
    adapter=Path(__file__).parent / "adapter",
    stages=("rows", "cloth"),
    language=Language(
        types=ArgumentTypes(pattern=re.compile("yarn"), known=("yarn",), examples='"yarn"'),
        api=ApiNames(
            program=Path(__file__).parent / "names",
            short={},
            packages={"loom": "loom"},
            makes_kernels=frozenset({"loom.pattern"}),
        ),
        guessing=Guessing(mark=b"loom", decorator="@loom.pattern()", where=f"{__name__}.guessing"),
        edits=(
            KnownEdit(
                name="rows filled up",
                function=f"{__name__}.edits:rows_filled_up",
                classes=("shape-mismatch",),
            ),
        ),
    ),
    device=Device(
        targets=(SM_90, LOOM_2),
        gpus={"h100": "sm_90"},
        usual_targets=("sm_90",),
        models={"sm_90": GpuModel(name="Jacquard", multiprocessors=1)},
        capturing=Capturing(
            start=Path(recorder.__file__).parent / "start",
            package=recorder.NAME,
            variable=recorder.VARIABLE,
            begin=recorder.begin,
            digest=recorder.digest_of,
            usual="sm_90",
            has_device=Path("/dev/loom").exists,
            frozen_form=FrozenForm(imports=("import loom",), decorators={"jit": "@loom.pattern"}),
        ),
    ),
    launching=Launching(
        backends=("loom",),
        binary="cloth",
        text="cloth",
        metadata="threads",
        facts=lambda threads, cloth, spec: {"threads": int(threads)},
        packages={"compat_launch": Path(__file__).parent / "launcher"},
        needs=None,
    ),
    failures=Knowledge(
        toolchain="loom",
        classes=(*common.EVERYWHERE, SHAPE_MISMATCH, common.UNCLASSIFIED),
        wording=MessagePatterns(package="loom"),
    ),
)
