"""A cell on its way through a worker: what it may use, how it is attempted, and how far it has come."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, field, frozen

from compat.model import Cell, Evidence


@frozen(kw_only=True)
class Limits:
    """What one cell may use."""

    deadline: float
    """Seconds."""
    memory: int
    """Bytes resident, over the compiling process and what it starts."""


@frozen(kw_only=True)
class Mode:
    """How cells are attempted, besides what they are. Only a plain attempt says what a user would see."""

    diagnose: bool = False
    """With the compiler's diagnostics on; for one cell in a process of its own."""
    variables: Mapping[str, str] = field(factory=dict)
    """Environment variables for the compiling process, such as ``TRITON_PTXAS_PATH``."""
    ir: str | None = None
    """Path of an IR file, its suffix the stage it comes from (``.ttir``), to compile in place of the function."""
    keep_ir: bool = False
    """Keep what each stage made, as far as the compile comes (``Evidence.kept``)."""
    keep_passes: bool = False
    """Keep the IR before every pass, as ``Evidence.kept["passes"]``; needs ``diagnose``."""


PLAIN = Mode()
DIAGNOSTIC = Mode(diagnose=True)


@define(kw_only=True)
class Flight:
    """A cell on its way through a child."""

    cell: Cell
    nonce: str
    started: float = 0.0
    stage: str = "import"
    entered: float = 0.0
    """Seconds from the start of the cell to that of ``stage``."""
    output: int = 0
    """Offset in the output file at which the cell's own output begins."""
    notes: list[str] = field(factory=list)

    def job(self, mode: Mode = PLAIN) -> dict[str, Any]:
        """The cell as the worker wants it."""
        spec, target = self.cell.spec, self.cell.target
        return {
            "nonce": self.nonce,
            "source": spec.source,
            "function": spec.function,
            "signature": dict(spec.signature),
            "constexprs": dict(spec.constexprs),
            "divisible_by_16": list(spec.divisible_by_16),
            "equal_to_1": list(spec.equal_to_1),
            "options": dict(spec.options),
            "target": {"backend": target.backend, "arch": target.arch, "warp_size": target.warp_size},
            "ir": mode.ir,
            "keep_ir": mode.keep_ir,
        }

    def unanswered(self, ending: Mapping[str, Any], notes: Sequence[str] = ()) -> Evidence:
        """The evidence of a cell whose child never answered, but ended thus."""
        return Evidence(
            answered=False,
            stage=self.stage,
            entered=self.entered,
            exit_code=ending.get("exit_code"),
            signal=ending.get("signal"),
            seconds=time.monotonic() - self.started if self.started else 0.0,
            protocol=(*self.notes, *notes),
        )
