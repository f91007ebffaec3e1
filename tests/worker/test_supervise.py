"""A real worker with real wheels: the failure of one cell must not affect another cell."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from compat.interruption import Stopped
from compat.model import BuiltEnv, Cell, Evidence
from compat.workers.attempt import Limits
from compat.workers.client import WorkerClient
from compat.workers.spawn import OwnWorker
from compat.workers.watch import attempt
from tests.cells import cell, worker
from tests.waiting import PATIENCE, SOON, wait_until

pytestmark = pytest.mark.wheels

OLDEST, NEWEST = "triton-3.0.0", "triton-3.9.0"
LIMITS = Limits(deadline=30, memory=4 << 30)


@pytest.fixture(scope="module", params=[OLDEST, NEWEST])
def env(request: pytest.FixtureRequest, built: Callable[[str], BuiltEnv]) -> BuiltEnv:
    return built(request.param)


@pytest.fixture(scope="module")
def server(env: BuiltEnv) -> Iterator[OwnWorker]:
    assert env.python is not None
    with OwnWorker(env.python) as started:
        assert started.hello.ready, started.hello
        yield started


def attempts(
    server: WorkerClient, cells: list[Cell], limits: Limits = LIMITS
) -> dict[str, Evidence]:
    by_function = {}
    for done, evidence in attempt(server, cells, limits, stop=threading.Event()):
        assert done.spec.function not in by_function, "two answers for one cell"
        by_function[done.spec.function] = evidence
    assert list(by_function) == [cell.spec.function for cell in cells]
    return by_function


def descendants(ancestor: int) -> set[int]:
    """Every descendant of a process, at any distance."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                parents[int(entry.name)] = int(
                    (entry / "stat").read_text().rpartition(")")[2].split()[1]
                )
    below: set[int] = set()
    while more := {pid for pid, parent in parents.items() if parent in {ancestor, *below}} - below:
        below |= more
    return below


def nothing_is_left(server: OwnWorker) -> bool:
    """Whether the server has no descendants.

    The child of a batch would be one, and so would a process that a cell has started.
    """
    return not descendants(server.hello.pid)


def test_a_server_forks_from_one_thread(server: OwnWorker) -> None:
    # A fork copies only the thread that forks: with more, a child could hang for ever.
    assert server.hello.threads == 1
    assert server.hello.version.startswith(("3.0", "3.9"))


def test_a_built_cell_has_stages_and_metrics(server: OwnWorker, env: BuiltEnv) -> None:
    evidence = attempts(server, [cell(env, "faces", "fine")])["fine"]
    assert (evidence.answered, evidence.has_binary, evidence.stage) == (True, True, "cubin")
    assert list(evidence.stages) == ["source", "ast", "ttir", "ttgir", "llir", "ptx", "cubin"]
    assert all(seconds > 0 for seconds in evidence.stages.values())
    assert evidence.metrics["registers"] > 0
    assert evidence.metrics["spill_store_bytes"] == 0
    assert evidence.metrics["artifacts"]["cubin"] > 1000
    assert evidence.protocol == ()


def test_amd_targets_report_their_registers(built: Callable[[str], BuiltEnv]) -> None:
    env = built(NEWEST)
    with worker(env) as server:
        evidence = attempts(server, [cell(env, "faces", "fine", "gfx942")])["fine"]
    assert (evidence.has_binary, evidence.stage) == (True, "hsaco")
    assert evidence.metrics["registers"] > 0
    assert evidence.metrics["spilled_registers"] == 0


def test_abort_in_a_batch_fails_only_its_own_cell(server: OwnWorker, env: BuiltEnv) -> None:
    functions = ["fine", "block_typed_bound", "looped", "missing_name"]
    by_function = attempts(server, [cell(env, "faces", function) for function in functions])
    assert [by_function[function].has_binary for function in functions] == [
        True,
        False,
        True,
        False,
    ]
    aborted = by_function["block_typed_bound"]
    assert (aborted.answered, aborted.signal, aborted.stage) == (False, "SIGABRT", "ast")
    assert "only integers and floats have a bitwidth" in aborted.stderr
    assert (
        aborted.diagnosis.location == f"faces.py:{line_of('for start in range(0, bound, BLOCK)')}"
    )
    assert by_function["missing_name"].raised[-1].message.count("no_such_function") >= 1


def line_of(text: str) -> int:
    lines = (Path(__file__).parent.parent / "kernels" / "faces.py").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_hang_ends_at_its_deadline_and_leaves_no_processes(
    server: OwnWorker, env: BuiltEnv
) -> None:
    started = time.monotonic()
    by_function = attempts(
        server,
        [
            cell(env, "faces", "unrolled_for_ever"),
            cell(env, "hostile", "hangs_with_child"),
            cell(env, "faces", "fine"),
        ],
        Limits(deadline=1.5, memory=8 << 30),
    )
    elapsed = time.monotonic() - started
    for function in ("unrolled_for_ever", "hangs_with_child"):
        assert (by_function[function].answered, by_function[function].deadline) == (False, 1.5)
        # A busy machine is slow. Without a deadline, both run for ten minutes and longer.
        assert by_function[function].seconds < 30
    assert elapsed < 60
    assert "in visit" in by_function["unrolled_for_ever"].stderr  # the requested stack
    assert by_function["fine"].has_binary
    wait_until(lambda: nothing_is_left(server), SOON)


@pytest.mark.parametrize(
    ("function", "deadline", "most_starved", "ends"),
    [("computes", 2, 9, True), ("computes", 2, 0, False), ("spins", 1, 9, False)],
)
def test_waiting_for_a_processor_does_not_count_for_the_deadline(
    server: OwnWorker,
    env: BuiltEnv,
    function: str,
    deadline: float,
    most_starved: float,
    ends: bool,
) -> None:
    usable, pid = os.sched_getaffinity(0), server.hello.pid
    os.sched_setaffinity(pid, {min(usable)})
    spinning = f"import os; os.sched_setaffinity(0, {{{min(usable)}}}); os.write(1, b'.')"
    others = [
        subprocess.Popen(
            [sys.executable, "-c", f"{spinning}\nwhile True: pass"],
            stdout=subprocess.PIPE,
            start_new_session=True,  # Linux may divide a processor between sessions
        )
        for _ in range(2)
    ]
    for other in others:  # all of them spin when the cell begins
        assert other.stdout is not None
        assert other.stdout.read(1) == b"."
    try:
        limits = Limits(deadline=deadline, memory=4 << 30, most_starved=most_starved)
        evidence = attempts(server, [cell(env, "runaways", function)], limits)[function]
    finally:
        os.sched_setaffinity(pid, usable)
        for other in others:
            other.kill()
            other.communicate()
    if most_starved:
        assert evidence.seconds > deadline + 0.5, "the cell had the processor for itself"
    assert (evidence.has_binary, evidence.deadline) == (ends, None if ends else deadline)


def test_a_memory_hog_is_stopped(server: OwnWorker, env: BuiltEnv) -> None:
    by_function = attempts(
        server,
        [cell(env, "hostile", "hoards"), cell(env, "hostile", "fine")],
        Limits(deadline=60, memory=1 << 29),
    )
    evidence = by_function["hoards"]
    assert (evidence.answered, evidence.deadline) == (False, None)
    assert evidence.memory is not None
    assert 1 << 29 < evidence.memory < 4 << 30
    assert by_function["fine"].has_binary


def test_silent_exit_and_forged_lines_are_not_answers(server: OwnWorker, env: BuiltEnv) -> None:
    by_function = attempts(
        server,
        [cell(env, "hostile", f) for f in ("leaves_silently", "fine", "forges", "leaves_loudly")],
    )
    assert (by_function["leaves_silently"].answered, by_function["leaves_silently"].exit_code) == (
        False,
        0,
    )
    assert (by_function["forges"].answered, by_function["forges"].has_binary) == (False, False)
    assert by_function["forges"].protocol, "the forged lines were not noticed"
    assert by_function["fine"].has_binary
    assert [link.type for link in by_function["leaves_loudly"].raised] == ["SystemExit"]


def test_output_is_captured_per_cell_and_bounded(server: OwnWorker, env: BuiltEnv) -> None:
    by_function = attempts(
        server, [cell(env, "hostile", "shouts"), cell(env, "faces", "missing_name")]
    )
    assert len(by_function["shouts"].stderr) < 100_000
    assert "the last words" in by_function["shouts"].stderr
    assert "xxx" not in by_function["missing_name"].stderr


def test_stopping_kills_the_cell_in_flight(server: OwnWorker, env: BuiltEnv) -> None:
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    started = time.monotonic()
    with pytest.raises(Stopped):
        list(
            attempt(
                server,
                [cell(env, "hostile", "hangs_with_child")],
                Limits(deadline=PATIENCE, memory=LIMITS.memory),
                stop=stop,
            )
        )
    assert time.monotonic() - started < SOON
    wait_until(lambda: nothing_is_left(server), SOON)


def test_a_dead_server_gives_no_answers(env: BuiltEnv) -> None:
    assert env.python
    with OwnWorker(env.python) as doomed:
        for pid in descendants(os.getpid()):
            if env.python in Path(f"/proc/{pid}/cmdline").read_text().split("\0"):
                os.kill(pid, 9)
        doomed._process.wait(60)
        assert not doomed.alive
        by_function = attempts(doomed, [cell(env, "faces", "fine")])
    assert (by_function["fine"].answered, by_function["fine"].has_binary) == (False, False)


def test_failed_import_of_the_toolchain_is_reported(
    tmp_path: Path, built: Callable[[str], BuiltEnv]
) -> None:
    env = built(OLDEST)
    bare = tmp_path / "python"
    assert env.python
    # The interpreter without the env around it.
    bare.write_text(f'#!/bin/sh\nexec "{os.path.realpath(env.python)}" "$@"\n')
    bare.chmod(0o755)
    with OwnWorker(str(bare)) as server:
        assert not server.hello.ready
        assert [link.type for link in server.hello.raised] == ["ModuleNotFoundError"]
