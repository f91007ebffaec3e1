"""Single attempts at cells, as short as a test can say them."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from compat.bundle.bundle import bundle
from compat.model import BuiltEnv, Cell, Evidence, Specialization
from compat.repro.script import Script
from compat.store.store import Store
from compat.toolchains import DEFAULT
from compat.toolchains.triton.language.script import SCRIPT, Form
from compat.workers.attempt import KEEPING_IR, Limits
from compat.workers.spawn import OwnWorker
from compat.workers.watch import attempt
from tests.cells import worker
from tests.targets import TARGETS

LIMITS = Limits(deadline=120, memory=4 << 30)


def compile_all(
    env: BuiltEnv, cells: Sequence[Cell], *, variables: Mapping[str, str] | None = None
) -> list[Evidence]:
    """Attempt cells of one env in one batch: in one process, one after the other."""
    assert env.python
    with OwnWorker(env.python, variables=variables) if variables else worker(env) as server:
        return [evidence for _, evidence in attempt(server, cells, LIMITS, stop=threading.Event())]


def compile_each(env: BuiltEnv, cells: Sequence[Cell]) -> list[Evidence]:
    """Attempt cells of one env, each in a batch of its own."""
    with worker(env) as server:
        return [
            evidence
            for cell in cells
            for _, evidence in attempt(server, [cell], LIMITS, stop=threading.Event())
        ]


def ir_of(env: BuiltEnv, cell: Cell, folder: Path, stage: str = "ttir") -> str:
    """What a stage makes of a cell, as text."""
    with worker(env) as server, Store(folder) as store:
        ((_, evidence),) = attempt(
            server, [cell], LIMITS, stop=threading.Event(), mode=KEEPING_IR, keep=store.keep
        )
        assert stage in evidence.kept, evidence
        return (store.artifacts / evidence.kept[stage]).read_text()


def said(evidence: Evidence) -> str:
    """All that an attempt says about a failure."""
    return "\n".join(
        [*(f"{raised.type}: {raised.message}" for raised in evidence.raised), evidence.stderr]
    )


def script(
    spec: Specialization, target: str, form: Form, *, prediction: str = "", expected: str = "x"
) -> str:
    """A repro script of a kernel, whatever it is to show."""
    return Script(
        name="s",
        bundle=bundle(spec),
        target=TARGETS[target],
        release="3.9.0",
        form=form,
        toolchain=DEFAULT,
        calls=SCRIPT,
        requires_python=">=3.9",
        dependencies=(),
        headline="It fails.",
        words="",
        expected=expected,
        prediction=prediction,
    ).source()
