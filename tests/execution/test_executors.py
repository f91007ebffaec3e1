"""Executors receive batches, and return attempts with the bytes of their artifacts.

Nothing else passes between a run and its executor.
"""

from __future__ import annotations

import multiprocessing
import pickle
import resource
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing.context import BaseContext
from pathlib import Path

import pytest

from compat.engine.run import run
from compat.errors import ClusterError, CompatError, MachineError, UnknownAction
from compat.executors.executor import Batch, CellAttempts, LocalExecutor, OpenExecutor
from compat.model import BuiltEnv, Cell, Failure, Result
from compat.source.closure import read_source
from compat.store.store import Store
from compat.workers.attempt import KEEPING_IR, Compile, Limits, Mode
from compat.workers.spawn import WORKER
from tests.cells import KEPT, KERNELS, cell, context_of
from tests.execution.test_readings import crashing
from tests.together import for_each

LIMITS = Limits(deadline=60, memory=4 << 30)
RELEASE = "triton-3.1.0"


def there(batch: bytes, worker: Path) -> bytes:
    """Runs in the other process: compiles a batch, and returns its attempts."""
    with LocalExecutor(worker=worker, idle_timeout=KEPT) as executor:
        return pickle.dumps(list(executor.submit(pickle.loads(batch))))


def there_with_few_files(batch: bytes, worker: Path) -> bytes:
    limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, most))
    try:
        return there(batch, worker)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, most))


@cache
def _context() -> BaseContext:
    """Processes that are forked from one that has imported this module, and share no state."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


class ElsewhereExecutor:
    """Sends batches as bytes to another process, which shares no state with this one.

    The other process returns attempts as bytes.
    """

    act = staticmethod(there)
    slots = None
    gpus = None

    def __init__(self, *, worker: Path, idle_timeout: float, stop: threading.Event) -> None:
        self._worker = worker
        self._processes = ProcessPoolExecutor(2, mp_context=_context())
        self.released: list[str] = []

    def submit(self, batch: Batch) -> Generator[CellAttempts]:
        yield from pickle.loads(
            self._processes.submit(self.act, pickle.dumps(batch), self._worker).result()
        )

    def release(self, env: str) -> None:
        self.released.append(env)

    def close(self) -> None:
        self._processes.shutdown()


class WithFewFiles(ElsewhereExecutor):
    act = staticmethod(there_with_few_files)


@pytest.fixture
def env(built: Callable[[str], BuiltEnv]) -> BuiltEnv:
    return built(RELEASE)


def results(
    cells: list[Cell], env: BuiltEnv, folder: Path, executor: OpenExecutor
) -> tuple[Result, ...]:
    with Store(folder) as store:
        return run(cells, context_of(store, env, limits=LIMITS, slots=2, executor=executor))


def comparable(result: Result, folder: Path) -> tuple[object, ...]:
    """The facts of a result that must be the same with every executor.

    Artifacts are compared by their content, without the names of temporary files.
    """
    outcome, failure = result.outcome, result.outcome.failure
    names = (
        ("failure_class", "stage", "fingerprint", "excerpt", "pass_", "op", "location")
        if failure
        else ()
    )
    facts = [getattr(failure, name) for name in names]
    return (
        result.cell.id,
        outcome.status,
        outcome.attempts,
        outcome.flaky,
        outcome.metrics,
        facts,
        _kept(failure, folder),
    )


def _kept(failure: Failure | None, folder: Path) -> list[str]:
    names = [name for name in (failure.ir, failure.reproducer) if name] if failure else []
    return [(folder / "artifacts" / name).read_text().splitlines()[0] for name in names]


@pytest.mark.wheels
def test_another_executor_gives_the_same_results(env: BuiltEnv, tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text((KERNELS / "faces.py").read_text() + "\nraise RuntimeError\n")
    source = {"source": str(broken), "closure": read_source(broken).closure}
    cells = [
        cell(env, "faces", function)
        for function in ("fine", "block_typed_bound", "looped", "missing_name", "mismatched")
    ]
    cells += [
        cell(env, "faces", "fine", "sm_80"),
        crashing(env),
        cell(env, "hostile", "leaves_silently"),
    ]
    cells += [
        cell(env, "faces", function, case="broken", **source) for function in ("fine", "looped")
    ]
    here = results(cells, env, tmp_path / "here", LocalExecutor)
    elsewhere = results(cells, env, tmp_path / "elsewhere", ElsewhereExecutor)
    assert [comparable(result, tmp_path / "elsewhere") for result in elsewhere] == [
        comparable(result, tmp_path / "here") for result in here
    ]
    assert [str(result.outcome.status) for result in here] == [
        *(
            "ok",
            "crashed",
            "ok",
            "rejected",
            "rejected",
            "ok",
            "unsupported",
            "lost",
            "source_broken",
            "source_broken",
        )
    ]
    failure = here[6].outcome.failure
    assert failure is not None
    assert (failure.pass_, bool(failure.ir), bool(failure.reproducer)) == (
        "tritongpu-accelerate-matmul",
        True,
        True,
    )
    again = results(cells, env, tmp_path / "elsewhere", LocalExecutor)
    assert [result.cached for result in again] == [True] * 7 + [False] * 3, (
        "one store, whoever compiled"
    )


@pytest.mark.wheels
def test_executor_returns_ir_and_compiles_given_ir(env: BuiltEnv, tmp_path: Path) -> None:
    """A bisection gives the IR of one attempt to the next attempt elsewhere.

    It passes the IR by name and bytes.
    """
    executor = ElsewhereExecutor(worker=WORKER, idle_timeout=0, stop=threading.Event())
    try:
        one = cell(env, "faces", "looped")
        (cell_attempts,) = executor.submit(Batch([one], env, LIMITS, mode=KEEPING_IR))
        (evidence,) = cell_attempts.attempts
        name = evidence.artifacts["ttir"]
        assert cell_attempts.artifacts[name].startswith((b"#loc", b"module"))
        mode = Mode(
            actions=(Compile(ir=name, keep_ir=True),),
            action_files={name: cell_attempts.artifacts[name]},
        )
        (read,) = executor.submit(Batch([one], env, LIMITS, mode=mode))
        assert read.attempts[0].complete
        assert "ast" not in read.attempts[0].stages
    finally:
        executor.close()


@pytest.mark.wheels
def test_machine_error_of_another_process_ends_the_run(env: BuiltEnv, tmp_path: Path) -> None:
    with pytest.raises(MachineError, match=r"0 of 1 cells are finished") as caught:
        results([cell(env, "faces", "fine")], env, tmp_path, WithFewFiles)
    assert "Finished work is saved" in (caught.value.hint or "")


@for_each("kind", [CompatError, *CompatError.__subclasses__(), ClusterError])
def test_errors_keep_all_fields_when_pickled(kind: type[CompatError]) -> None:
    error = kind("something is wrong", where="here", hint="mend it")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.where, again.hint) == (
        kind,
        str(error),
        "here",
        "mend it",
    )
    assert str(again) == "here: something is wrong"


def test_unknown_action_keeps_its_message_when_pickled() -> None:
    error = pickle.loads(pickle.dumps(UnknownAction.of(["launch"], where="triton-3.1.0")))
    assert str(error) == "triton-3.1.0: this worker does not support: launch"
