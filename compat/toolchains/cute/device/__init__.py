"""What takes the place of a GPU for programs that use CuTe DSL, and how what they compile and launch is captured."""

from __future__ import annotations

from pathlib import Path

from compat.bundle.frozen import FrozenForm
from compat.toolchains.base import Capturing, Device
from compat.toolchains.cute.facts import GPUS, MODELS, NAME, TARGETS, USUAL
from compat.toolchains.cute.inside import recorder
from compat.toolchains.cute.inside.recorder.forms import CuteForms, element_source
from compat.toolchains.cute.inside.recorder.originals import digest_of
from compat.toolchains.inside import recorder as recorders
from compat.toolchains.pytorch.device.gpu import is_there

CAPTURING = Capturing(
    start=Path(recorders.__file__).parent / "start",
    package=recorders.PACKAGE % NAME,
    variable=recorders.VARIABLE,
    begin=recorder.begin,
    digest=digest_of,
    hidden=("torch",),
    usual=USUAL[0],
    has_device=is_there,
    written=FrozenForm(
        imports=("import cutlass", "import cutlass.cute as cute"), decorators={}, dtype=element_source, kept=CuteForms.kept
    ),
    cache="CUTE_DSL_CACHE_DIR",
)

DEVICE = Device(targets=TARGETS, gpus=GPUS, usual_targets=USUAL, models=MODELS, capturing=CAPTURING)
