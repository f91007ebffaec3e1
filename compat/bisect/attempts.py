"""Single attempts that are not plain (other IR, other assembler, dumps on), in one server per env.

They say nothing about what a user would see, so they are not kept as results.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Self

from attrs import evolve

from compat.bisect.answers import Effect
from compat.bisect.assemblers import assemble
from compat.engine.run import RunContext, outcome_of, run
from compat.executors.executor import Batch
from compat.model import Cell, Evidence, Outcome, Result, Status
from compat.toolchains import Assembler
from compat.workers.attempt import KEEPING_IR, Mode
from compat.workers.evidence import printed_text


class Attempts:
    """Single attempts, in servers that are let go at the end of a search."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._executor = context.open_executor(stop=threading.Event())

    def results(self, *cells: Cell) -> tuple[Result, ...]:
        """The results of ordinary cells, read from the store or compiled, confirmed and kept."""
        return run(cells, evolve(self._context, stop=threading.Event()))  # a run that ended leaves its ``stop`` set

    def make(self, cell: Cell, mode: Mode) -> Evidence:
        """Attempt a cell once. The evidence of an env that is broken says so."""
        built = self._context.envs[cell.env.name]
        if built.error is not None or built.python is None:
            return Evidence(answered=False, toolchain_broken=True, stderr=built.error or "there is no interpreter")
        (answer,) = self._executor.submit(Batch.of([cell], built, self._context.limits, mode=mode))
        self._context.store.add(answer.artifacts)
        return answer.attempts[0]

    def outcome(self, cell: Cell, mode: Mode) -> Outcome:
        """What one such attempt means."""
        return outcome_of(cell, [self.make(cell, mode)])

    def assembled(self, cell: Cell, assembler: Assembler, program: Path) -> Outcome | None:
        """What it means how an assembler takes what it would be given of a cell; ``None`` where nothing of the kind is made."""
        source = self.make(cell, KEEPING_IR).kept.get(assembler.takes)
        if source is None:
            return None
        return outcome_of(cell, [assemble(assembler, program, self.path(source), self._context.limits.deadline)])

    def path(self, name: str) -> Path:
        """Where an artifact is that an attempt kept."""
        return self._context.store.artifacts / name

    def printed(self, evidence: Evidence) -> str:
        """All that an attempt printed; empty where it is gone."""
        return printed_text(evidence, self._context.store.artifact) or ""

    def text(self, name: str) -> str:
        """An artifact that an attempt kept, as text; empty where it is gone."""
        return self.data(name).decode(errors="replace")

    def data(self, name: str) -> bytes:
        """An artifact that an attempt kept; empty where it is gone."""
        return self._context.store.artifact(name) or b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.close()


def effect_on(failing: Outcome, changed: Outcome) -> Effect:
    """What a changed cell's outcome says about the failure; another failure is inconclusive."""
    if changed.flaky or not changed.status.is_answer or failing.failure is None:
        return Effect.UNKNOWN
    if changed.failure is None:
        return Effect.OK if changed.status is Status.OK else Effect.UNKNOWN
    same = changed.failure.fingerprint == failing.failure.fingerprint
    return Effect.SAME if same else Effect.UNKNOWN
