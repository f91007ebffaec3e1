"""Single attempts that are not plain (other IR, other assembler, dumps on), in one server per env.

They say nothing about what a user would see, so they are not kept as results.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Self

from attrs import evolve

from compat.engine.assembling import assemble
from compat.engine.flight import Mode
from compat.engine.supervise import attempt
from compat.engine.workers import Workers
from compat.evidence import classify
from compat.model import Cell, Evidence, Outcome, Result, Status
from compat.run import Bench, run
from compat.search.knobs import Fate


class Attempts:
    """Single attempts, in servers that are let go at the end of a search."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._workers = Workers(worker=bench.worker, idle_timeout=bench.idle_timeout)

    def known(self, *cells: Cell) -> tuple[Result, ...]:
        """The results of ordinary cells, read from the store or compiled, confirmed and kept."""
        return run(cells, evolve(self._bench, stop=threading.Event()))  # a run that ended leaves its ``stop`` set

    def make(self, cell: Cell, mode: Mode) -> Evidence:
        """Attempt a cell once. The evidence of an env that is broken says so."""
        built = self._bench.envs[cell.env.name]
        if built.error is not None or built.python is None:
            return Evidence(answered=False, toolchain_broken=True, stderr=built.error or "there is no interpreter")
        server, bench = self._workers.of(built), self._bench
        ((_, evidence),) = attempt(server, [cell], bench.limits, stop=threading.Event(), mode=mode, keep=bench.store.keep)
        return evidence

    def outcome(self, cell: Cell, mode: Mode) -> Outcome:
        """What one such attempt means."""
        return classify.classify([self.make(cell, mode)], target=cell.target)

    def assembled(self, cell: Cell, ptxas: Path) -> Outcome | None:
        """What it means how an assembler takes the PTX that is made of a cell; ``None`` where none is made."""
        ptx = self.make(cell, Mode(keep_ir=True)).kept.get("ptx")
        if ptx is None:
            return None
        return classify.classify([assemble(ptxas, self.path(ptx), self._bench.limits.deadline)], target=cell.target)

    def path(self, name: str) -> Path:
        """Where an artifact is that an attempt kept."""
        return self._bench.store.artifacts / name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._workers.close()


def fate(failing: Outcome, changed: Outcome) -> Fate:
    """What a changed cell's outcome says about the failure: another failure is no way round it."""
    if changed.flaky or not changed.status.is_answer or failing.failure is None:
        return Fate.UNKNOWN
    if changed.failure is None:
        return Fate.OK if changed.status is Status.OK else Fate.UNKNOWN
    same = changed.failure.fingerprint == failing.failure.fingerprint
    return Fate.SAME if same else Fate.UNKNOWN
