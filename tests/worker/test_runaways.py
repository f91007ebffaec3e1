"""Processes that a kernel file starts end with its cell, however they hide, and do not block other
cells.
"""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compat.files import folder_digest
from compat.model import BuiltEnv, Evidence
from compat.workers import pool, watch
from compat.workers.attempt import Limits
from compat.workers.client import WorkerClient
from compat.workers.spawn import WORKER, OwnWorker
from compat.workers.watch import attempt
from tests.cells import cell

pytestmark = pytest.mark.wheels

LIMITS = Limits(deadline=2, memory=4 << 30)
_LONGEST = 12
"""Seconds that a hang takes at most, on a busy machine."""
PATIENT = Limits(deadline=60, memory=4 << 30)


@pytest.fixture(scope="module", autouse=True)
def mark() -> Iterator[str]:
    """A variable that every process of these tests inherits, whatever its parent is now."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("LOGNAME", f"compat-test-{os.getpid()}")  # one that is passed on
        yield os.environ["LOGNAME"]


@pytest.fixture(scope="module", params=["triton-3.0.0", "triton-3.9.0"])
def env(request: pytest.FixtureRequest, built: Callable[[str], BuiltEnv]) -> BuiltEnv:
    return built(request.param)


@pytest.fixture(scope="module")
def server(env: BuiltEnv, mark: str) -> Iterator[OwnWorker]:
    """A server that survives its cells."""
    assert env.python is not None
    with OwnWorker(env.python) as started:
        assert started.hello.ready, started.hello
        yield started


@pytest.fixture
def doomed_server(env: BuiltEnv) -> Iterator[OwnWorker]:
    """A server that a cell may end."""
    assert env.python is not None
    with OwnWorker(env.python) as started:
        assert started.hello.ready, started.hello
        yield started


@pytest.fixture(autouse=True)
def nothing_left(mark: str) -> Iterator[None]:
    """No process that a test started outlives the test."""
    before = {*with_mark(mark)}
    yield
    give_up = time.monotonic() + 10
    while (survivors := {*with_mark(mark)} - before) and time.monotonic() < give_up:
        time.sleep(0.02)  # a killed process stays until the system next runs it
    for pid in survivors:
        os.kill(pid, signal.SIGKILL)
    assert not survivors, "processes outlived their cells"


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A runtime folder of the test's own. Its path is short, because a socket's path must be."""
    with tempfile.TemporaryDirectory(prefix="rt-", dir="/tmp") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


def with_mark(mark: str) -> list[int]:
    pids = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if f"LOGNAME={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                    pids.append(int(entry.name))
            except OSError:
                continue
    return pids


def attempts(
    server: WorkerClient, env: BuiltEnv, functions: list[str], limits: Limits = LIMITS
) -> dict[str, Evidence]:
    cells = [cell(env, "runaways", function) for function in functions]
    pairs = [
        (done.spec.function, evidence)
        for done, evidence in attempt(server, cells, limits, stop=threading.Event())
    ]
    assert [function for function, _ in pairs] == functions
    return dict(pairs)


def others(server: OwnWorker) -> set[int]:
    """The processes of a server, without the server itself."""
    return {pid for pid in with_mark(os.environ["LOGNAME"]) if pid != server.hello.pid}


def is_assembler(pid: int) -> bool:
    """Whether a process is an assembler of the next cell, or has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().startswith("ptxas")
    except OSError:
        return True


@pytest.mark.parametrize("function", ["leaves_one", "leaves_hopping"])
def test_processes_that_a_cell_leaves_end_with_it(
    server: OwnWorker, env: BuiltEnv, function: str
) -> None:
    cells = [cell(env, "runaways", name) for name in (function, "fine", "fine")]
    started = time.monotonic()
    for number, (_, evidence) in enumerate(attempt(server, cells, PATIENT, stop=threading.Event())):
        assert evidence.has_binary, evidence
        if number == 0:  # the batch goes on: only its own process is left, and an assembler
            assert len([pid for pid in others(server) if not is_assembler(pid)]) <= 1
    assert time.monotonic() - started < 30
    assert others(server) == set()


@pytest.mark.parametrize("function", ["hangs_with_runaways", "closes_everything", "changes_group"])
def test_a_hang_with_runaways_ends_at_its_deadline(
    server: OwnWorker, env: BuiltEnv, function: str
) -> None:
    started = time.monotonic()
    by_function = attempts(server, env, [function, "fine"])
    assert time.monotonic() - started < _LONGEST
    assert (by_function[function].answered, by_function[function].deadline) == (
        False,
        LIMITS.deadline,
    )
    assert by_function["fine"].has_binary
    assert others(server) == set()


def test_abort_with_runaways_is_reported_at_once(server: OwnWorker, env: BuiltEnv) -> None:
    started = time.monotonic()
    by_function = attempts(server, env, ["aborts_with_runaways", "fine"], PATIENT)
    assert time.monotonic() - started < 20
    assert by_function["aborts_with_runaways"].signal == "SIGABRT"
    assert by_function["fine"].has_binary


def test_cell_that_forks_has_one_answer(server: OwnWorker, env: BuiltEnv) -> None:
    by_function = attempts(server, env, ["forks", "fine"], PATIENT)
    assert [(evidence.has_binary, evidence.protocol) for evidence in by_function.values()] == [
        (True, ()),
        (True, ()),
    ]


def test_cell_that_closes_the_streams_of_python_is_answered(
    server: OwnWorker, env: BuiltEnv
) -> None:
    by_function = attempts(server, env, ["closes_streams", "fine"])
    assert [evidence.has_binary for evidence in by_function.values()] == [True, True]


def test_cell_that_daemonizes_has_no_answer(server: OwnWorker, env: BuiltEnv) -> None:
    by_function = attempts(server, env, ["daemonizes", "fine"], PATIENT)
    assert (by_function["daemonizes"].answered, by_function["daemonizes"].exit_code) == (False, 0)
    assert by_function["fine"].has_binary


def test_suspended_server_does_not_block_the_driver(
    doomed_server: OwnWorker, env: BuiltEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_REAP_DEADLINE", 2.0)
    started = time.monotonic()
    by_function = attempts(doomed_server, env, ["stops_server"])
    assert time.monotonic() - started < _LONGEST
    assert not by_function["stops_server"].answered
    assert not doomed_server.alive


def test_server_survives_a_batch_longer_than_the_deadline_for_forking(
    server: OwnWorker, env: BuiltEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_SERVER_DEADLINE", 1.0)
    by_function = attempts(server, env, ["hangs_with_runaways", "fine"])
    assert (by_function["hangs_with_runaways"].protocol, by_function["fine"].has_binary) == (
        (),
        True,
    )
    assert server.alive


def test_killed_server_leaves_no_processes(doomed_server: OwnWorker, env: BuiltEnv) -> None:
    by_function = attempts(doomed_server, env, ["kills_server"])
    assert not by_function["kills_server"].answered


@pytest.mark.parametrize("env", ["triton-3.9.0"], indirect=True)
def test_resident_worker_keeps_its_drivers_apart(env: BuiltEnv, runtime: Path, mark: str) -> None:
    """The worker ends the leftovers of one driver's batch without touching the other driver's."""
    by_driver: dict[str, dict[str, Evidence]] = {}
    before = {*with_mark(mark)}

    def drive(name: str, functions: list[str], limits: Limits) -> None:
        with pool.borrow(env, WORKER, folder_digest(WORKER), 60) as borrowed:
            by_driver[name] = attempts(borrowed, env, functions, limits)

    with pool.borrow(env, WORKER, folder_digest(WORKER), 60) as first:
        quiet = threading.Thread(
            target=drive,
            args=("quiet", ["hangs_with_runaways"], Limits(deadline=4, memory=4 << 30)),
        )
        quiet.start()
        for _ in range(3):
            drive("loud", ["leaves_one", "aborts_with_runaways", "fine"], PATIENT)
            assert by_driver["loud"]["fine"].has_binary
        quiet.join()
        assert by_driver["quiet"]["hangs_with_runaways"].deadline == 4
        assert {*with_mark(mark)} - before == {first.hello.pid}
        os.kill(first.hello.pid, signal.SIGKILL)
        while first.alive:
            time.sleep(0.05)
