"""The recording that begins when a process imports Triton."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from ....inside.recorder.recording import Recording
from . import device, launches
from .forms import TritonForms
from .originals import Originals

if TYPE_CHECKING:
    from ....inside.foreign import Document


class TritonRecording(Recording):
    """A recording of what is launched with Triton."""

    package = "triton"

    def __init__(self, settings: Document) -> None:
        super().__init__(settings, TritonForms())
        self.originals = Originals(self.journal, settings["originals"])
        self.compile_directly: Callable[..., object] | None = None
        """The compiler for the program's own calls of ``triton.compile``, if it is not Triton's."""

    def begin_recording(self, module: ModuleType) -> None:
        """Record what Triton launches from now on."""
        self.originals.compile_with(module.compiler.compile)
        if self.settings["fake"]:
            device.install(self, module)
        launches.watch(self, module)

    def ending(self) -> None:
        """Compile the program's own launches, to compare their code with that of cells."""
        self.originals.compile()
