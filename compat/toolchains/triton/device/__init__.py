"""The GPUs that Triton compiles for, and what takes their place: a GPU shown to programs, the interpreter, a false libcuda."""

from pathlib import Path

from compat.toolchains.base import Capturing, Device
from compat.toolchains.triton.device.interpreter import INTERPRETER
from compat.toolchains.triton.device.pairing import PAIRING
from compat.toolchains.triton.facts import GPUS, MODELS, TARGETS, USUAL, WITHOUT_LINES
from compat.toolchains.triton.inside import recorder
from compat.toolchains.triton.inside.recorder.originals import digest_of

CAPTURING = Capturing(
    start=Path(recorder.__file__).parent / "start",
    package=recorder.NAME,
    variable=recorder.VARIABLE,
    begin=recorder.begin,
    digest=digest_of,
    hidden=("torch",),
    usual="sm_90",
    cache="TRITON_CACHE_DIR",
    without_lines=WITHOUT_LINES,
)

DEVICE = Device(
    targets=TARGETS,
    gpus=GPUS,
    usual_targets=USUAL,
    models=MODELS,
    capturing=CAPTURING,
    interpreter=INTERPRETER,
    pairing=PAIRING,
)
