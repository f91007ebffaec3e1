"""Cells of the small kernels in ``tests/kernels``, in a short form for tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from attrs import fields

from compat.engine.run import RunContext
from compat.files import folder_digest
from compat.model import BuiltEnv, Cell, CompileSpec, Env, Specialization
from compat.source.closure import read_source
from compat.store.store import Store
from compat.workers import pool
from compat.workers.attempt import Limits
from compat.workers.client import WorkerClient
from compat.workers.spawn import WORKER
from tests.targets import TARGETS

KEPT = 300.0
"""Seconds that a worker waits for the next test that needs its env.

Importing a toolchain takes longer than most tests.
"""
KERNELS = Path(__file__).parent / "kernels"
POINTERS = {"source": "*fp32", "result": "*fp32", "size": "i32"}


def worker(built: BuiltEnv) -> WorkerClient:
    """A worker of an env. Other tests use it, too."""
    return pool.borrow(built, WORKER, folder_digest(WORKER), KEPT)


def context_of(store: Store, *envs: BuiltEnv, **more: Any) -> RunContext:
    """The context of runs in these envs, whose workers stay for other tests."""
    facts: dict[str, Any] = {
        "limits": Limits(deadline=60, memory=4 << 30),
        "idle_timeout": KEPT,
    }
    return RunContext(envs={env.env.name: env for env in envs}, store=store, **(facts | more))


def spec(file: str, function: str, **changes: Any) -> Specialization:
    """The specialization of a function in ``tests/kernels/<file>.py``.

    The function takes ``(source, result, size, BLOCK)``.
    """
    path = KERNELS / f"{file}.py"
    facts: dict[str, Any] = {
        "kernel": function,
        "variant": "as_written",
        "case": "only",
        "source": str(path),
        "function": function,
        "signature": POINTERS,
        "constexprs": {"BLOCK": 128},
        "divisible_by_16": ("source", "result"),
        "closure": _closure(path),
        "origin": "tests",
    }
    facts |= changes
    compiled = {
        name: facts.pop(name)
        for name in [field.name for field in fields(CompileSpec)]
        if name in facts
    }
    return Specialization(**facts, compile=CompileSpec(**compiled))


@cache
def _closure(path: Path) -> str:
    return read_source(path).closure


def cell(
    built: BuiltEnv | Env, file: str, function: str, target: str = "sm_90", **changes: Any
) -> Cell:
    """A cell with the specialization of such a function."""
    env = built.env if isinstance(built, BuiltEnv) else built
    return Cell(env=env, target=TARGETS[target], spec=spec(file, function, **changes))
