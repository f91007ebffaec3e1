"""Executors: batches go there, attempts with the bytes of their artifacts come back, and nothing
else passes between.
"""

from __future__ import annotations

import multiprocessing
import pickle
import resource
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from compat.engine.run import RunContext, run
from compat.errors import ClusterError, CompatError, MachineError, UnknownAction
from compat.executors.executor import Batch, CellAttempts, LocalExecutor, OpenExecutor
from compat.model import BuiltEnv, Cell, Failure, Result
from compat.source.closure import read_source
from compat.store.store import Store
from compat.workers.attempt import KEEPING_IR, Compile, Limits, Mode
from compat.workers.spawn import WORKER
from tests.cells import KERNELS, cell
from tests.execution.test_readings import crashing

LIMITS = Limits(deadline=60, memory=4 << 30)
RELEASE = "triton-3.1.0"


def there(batch: bytes, worker: Path) -> bytes:
    """In the other process: compile a batch here, and send back what happened."""
    with LocalExecutor(worker=worker) as executor:
        return pickle.dumps(list(executor.submit(pickle.loads(batch))))


def there_with_few_files(batch: bytes, worker: Path) -> bytes:
    limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, most))
    try:
        return there(batch, worker)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, most))


class ElsewhereExecutor:
    """Batches go as bytes to another process, which knows nothing of this one.

    Attempts come back as bytes.
    """

    act = staticmethod(there)
    slots = None
    gpus = None

    def __init__(self, *, worker: Path, idle_timeout: float, stop: threading.Event) -> None:
        self._worker = worker
        self._processes = ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
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
        return run(
            cells,
            RunContext(
                envs={env.env.name: env}, store=store, limits=LIMITS, slots=2, executor=executor
            ),
        )


def comparable(result: Result, folder: Path) -> tuple[object, ...]:
    """What must be the same wherever a cell is compiled.

    Artifacts by what is in them, without the names of temporary files.
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
def test_ir_travels_both_ways(env: BuiltEnv, tmp_path: Path) -> None:
    """As a bisect needs it: what one attempt made is given to the next, elsewhere, by name and
    bytes.
    """
    executor = ElsewhereExecutor(worker=WORKER, idle_timeout=0, stop=threading.Event())
    try:
        one = cell(env, "faces", "looped")
        (cell_attempts,) = executor.submit(Batch([one], env, LIMITS, mode=KEEPING_IR))
        (evidence,) = cell_attempts.attempts
        name = evidence.kept["ttir"]
        assert cell_attempts.artifacts[name].startswith((b"#loc", b"module"))
        mode = Mode(
            actions=(Compile(ir=name, keep_ir=True),), given={name: cell_attempts.artifacts[name]}
        )
        (read,) = executor.submit(Batch([one], env, LIMITS, mode=mode))
        assert read.attempts[0].complete
        assert "ast" not in read.attempts[0].stages
    finally:
        executor.close()


@pytest.mark.wheels
def test_what_a_machine_refuses_elsewhere_ends_the_run(env: BuiltEnv, tmp_path: Path) -> None:
    with pytest.raises(MachineError, match=r"0 of 1 cells are finished") as caught:
        results([cell(env, "faces", "fine")], env, tmp_path, WithFewFiles)
    assert "Finished work is saved" in (caught.value.hint or "")


@pytest.mark.parametrize("kind", [CompatError, *CompatError.__subclasses__(), ClusterError])
def test_errors_of_use_travel_whole(kind: type[CompatError]) -> None:
    error = kind("something is wrong", where="here", hint="mend it")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.where, again.hint) == (
        kind,
        str(error),
        "here",
        "mend it",
    )
    assert str(again) == "here: something is wrong"


def test_an_action_that_no_worker_knows_is_told_as_such() -> None:
    error = pickle.loads(pickle.dumps(UnknownAction.of(["launch"], where="triton-3.1.0")))
    assert str(error) == "triton-3.1.0: this worker does not support: launch"
