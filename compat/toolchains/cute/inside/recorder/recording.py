"""What is put in place where a process imports CuTe DSL."""

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
    """A recording of what is compiled and launched with CuTe DSL."""

    package = "cutlass"

    def __init__(self, settings: Document) -> None:
        super().__init__(settings, CuteForms())
        self.originals = ProgramCode(self.journal, settings["originals"], settings["folder"])

    def start(self) -> None:
        """Begin, before it is imported where that can be: it asks for the architecture then."""
        if self.settings["fake"]:
            device.announce(self)
        objects.watch(self)
        super().start()

    def release_of(self, module: MlirModule) -> str:
        """That of the package that it is published as."""
        try:
            return version(_DISTRIBUTION)
        except PackageNotFoundError:
            return str(getattr(module, "__version__", None) or os.path.dirname(module.__file__))

    def imported(self, module: MlirModule) -> None:
        """Record what is compiled and launched with it."""
        if self.settings["fake"]:
            device.install(self)
        launches.watch(self)
