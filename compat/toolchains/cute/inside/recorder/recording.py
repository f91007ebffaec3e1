"""The replacements that a recording makes when a process imports CuTe DSL."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from ....inside.recorder.recording import Recording
from . import device, launches, objects
from .forms import CuteForms
from .originals import ProgramCode

if TYPE_CHECKING:
    from ....inside.foreign import Document
    from ..foreign import MlirModule

_DISTRIBUTION = "nvidia-cutlass-dsl"


class CuteRecording(Recording):
    """A recording of compiles and launches with CuTe DSL."""

    package = "cutlass"

    def __init__(self, settings: Document) -> None:
        super().__init__(settings, CuteForms())
        self.originals = ProgramCode(self.journal, settings["originals"], settings["folder"])

    def start(self) -> None:
        """Begin, if possible before the import of CuTe DSL, which asks for the architecture."""
        if self.settings["fake"]:
            device.announce(self)
        objects.watch(self)
        super().start()

    def release_of(self, module: MlirModule) -> str:
        """Return the release of the installed distribution.

        Without a distribution, this is the version or the folder of the module.
        """
        try:
            return version(_DISTRIBUTION)
        except PackageNotFoundError:
            return str(getattr(module, "__version__", None) or os.path.dirname(module.__file__))

    def begin_recording(self, module: MlirModule) -> None:
        """Record compiles and launches with CuTe DSL from now on."""
        if self.settings["fake"]:
            device.install(self)
        launches.watch(self)
