"""Workers that stay for the next command. They are shared and never stale, and they always end."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import CliRunner

from compat.cli.commands import main
from compat.files import folder_digest
from compat.model import BuiltEnv, Evidence
from compat.processes import supervisor
from compat.workers import pool
from compat.workers.attempt import Limits
from compat.workers.client import WorkerClient
from compat.workers.spawn import WORKER, OwnWorker
from compat.workers.watch import attempt
from tests.cells import cell
from tests.waiting import SOON, wait_until

pytestmark = pytest.mark.wheels

LIMITS = Limits(deadline=60, memory=4 << 30)


@pytest.fixture
def env(built: Callable[[str], BuiltEnv]) -> BuiltEnv:
    return built("triton-3.9.0")


@pytest.fixture(params=["triton-3.0.0", "triton-3.9.0"])
def any_env(request: pytest.FixtureRequest, built: Callable[[str], BuiltEnv]) -> BuiltEnv:
    """An env of the oldest or the newest release."""
    return built(request.param)


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A runtime folder of the test's own, with a short path, because a socket's path must be short.

    No worker is left in it at the end.
    """
    folder = Path(tempfile.mkdtemp(prefix="rt-", dir="/tmp"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    yield folder
    for worker in pool.resident_workers():
        os.kill(worker.pid, signal.SIGKILL)
    shutil.rmtree(folder)


def borrow(env: BuiltEnv, idle_timeout: float = 60.0) -> WorkerClient:
    server = pool.borrow(env, WORKER, folder_digest(WORKER), idle_timeout)
    assert server.hello.ready, server.hello
    return server


def built_by(server: WorkerClient, env: BuiltEnv, function: str = "fine") -> Evidence:
    ((_, evidence),) = attempt(
        server, [cell(env, "faces", function)], LIMITS, stop=threading.Event()
    )
    return evidence


def is_there(pid: int) -> bool:
    """Whether a process runs. A process that waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_next_command_uses_the_worker_of_the_previous_one(any_env: BuiltEnv) -> None:
    env = any_env
    with borrow(env) as first:
        assert built_by(first, env).has_binary
    with borrow(env) as second:
        assert second.hello.pid == first.hello.pid
        assert built_by(second, env).has_binary
        assert built_by(second, env, "block_typed_bound").signal == "SIGABRT"
        assert built_by(second, env).has_binary
    (listed,) = pool.resident_workers()
    assert (listed.env, listed.version, listed.pid) == (env.env.name, env.release, first.hello.pid)
    assert 1 << 20 < listed.memory < 200 << 20
    assert listed.idle < 60


def test_two_commands_share_a_worker(env: BuiltEnv) -> None:
    with borrow(env) as one, borrow(env) as other:
        assert one.hello.pid == other.hello.pid
        attempts: list[Evidence] = []
        threads = [
            threading.Thread(target=lambda server=server: attempts.append(built_by(server, env)))
            for server in (one, other)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [evidence.has_binary for evidence in attempts] == [True, True]


def test_driver_that_disconnects_silently_does_not_harm_another(
    env: BuiltEnv, runtime: Path
) -> None:
    with borrow(env) as server:
        (path,) = runtime.glob("*/*/socket")
        for _ in range(3):
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as rude:
                rude.connect(str(path))
                assert select.select([rude], [], [], 5)[0], (
                    "it was greeted, and goes without having read that"
                )
        assert built_by(server, env).has_binary
        assert server.alive


def test_worker_ends_after_its_idle_timeout(env: BuiltEnv, runtime: Path) -> None:
    with borrow(env, idle_timeout=0.3) as server:
        time.sleep(0.6)  # a worker in use does not end, however long that takes
        assert built_by(server, env).has_binary
    wait_until(lambda: not is_there(server.hello.pid), SOON)
    assert list(runtime.glob("*/*")) == []
    assert pool.resident_workers() == []


def link(source: Path, place: Path, copied: Sequence[Path]) -> None:
    """Link everything in a folder, but copy some files."""
    place.mkdir()
    for entry in source.iterdir():
        if entry in copied:
            shutil.copy2(entry, place / entry.name)
        elif any(entry in path.parents for path in copied):
            link(entry, place / entry.name, copied)
        else:
            (place / entry.name).symlink_to(entry)


@pytest.mark.parametrize(
    ("any_env", "files"),
    [
        ("triton-3.0.0", ("compiler/compiler.py", "backends/nvidia/compiler.py")),
        ("triton-3.9.0", ("compiler/compiler.py", "backends/nvidia/compiler.py")),
        ("triton-3.0.0", ("_C/libtriton.*",)),
    ],
    indirect=["any_env"],
)
def test_edited_toolchain_gets_a_new_worker(
    any_env: BuiltEnv, tmp_path: Path, files: tuple[str, ...]
) -> None:
    """Some releases load their backends in a way that keeps them out of every list of modules."""
    assert any_env.python
    folder, own = Path(any_env.python).parent.parent, tmp_path / "env"
    (package,) = folder.glob("lib/python*/site-packages/triton")
    copied = [path for file in files for path in package.glob(file)]
    assert len(copied) == len(files)
    link(folder, own, copied)
    own_env = evolve(any_env, python=str(own / "bin" / Path(any_env.python).name))
    with borrow(own_env) as worker:
        pids = [worker.hello.pid]
    for path in copied:
        loaded = own / path.relative_to(folder)
        status = loaded.stat()
        os.utime(loaded, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
        with borrow(own_env) as worker:
            assert worker.hello.pid not in pids
            assert built_by(worker, own_env).has_binary
        pids.append(worker.hello.pid)
    wait_until(lambda: not any(map(is_there, pids[:-1])), SOON)
    assert [resident.pid for resident in pool.resident_workers()] == pids[-1:]


def test_other_variables_packages_or_limits_get_another_worker(
    env: BuiltEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    with borrow(env) as first:
        monkeypatch.setenv("PATH", f"/nowhere:{os.environ['PATH']}")
        with borrow(env) as second:
            assert second.hello.pid != first.hello.pid
        with borrow(evolve(env, digest="other packages")) as third:
            assert third.hello.pid not in (first.hello.pid, second.hello.pid)
        soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0 if soft else 1, hard))
        try:
            with borrow(env) as fourth:
                assert fourth.hello.pid not in (first.hello.pid, second.hello.pid, third.hello.pid)
        finally:
            resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


def test_killed_worker_is_replaced_and_its_files_are_removed(env: BuiltEnv, runtime: Path) -> None:
    with borrow(env) as first:
        os.kill(first.hello.pid, signal.SIGKILL)
        wait_until(lambda: not first.alive, SOON)
        assert not built_by(first, env).answered
    with borrow(env) as second:
        assert second.hello.pid != first.hello.pid
        assert built_by(second, env).has_binary
    assert len(list(runtime.glob("*/*"))) == 1


DRIVER = """
import sys
from pathlib import Path
import threading
from compat.config.matrix import load_matrix
from compat.workers import pool
from compat.workers.attempt import Limits
from compat.workers.spawn import WORKER
from compat.workers.watch import attempt
from compat.envs.record import read_env
from compat.files import folder_digest
from tests.cells import cell
config = load_matrix(Path("matrix.toml"))
env = read_env(config.env(sys.argv[1]), config.env_cache())
server = pool.borrow(env, WORKER, folder_digest(WORKER), 60)
print(server.hello.pid, flush=True)
cells, limits = [cell(env, "hostile", "hangs_with_child")], Limits(deadline=60, memory=4 << 30)
list(attempt(server, cells, limits, stop=threading.Event()))
"""


def children_of(pid: int) -> set[int]:
    return {int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}


def test_kill_9_of_a_driver_ends_only_its_own_cells(env: BuiltEnv, runtime: Path) -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", DRIVER, env.env.name]
    # A killed driver cannot remove its own files.
    environ = {**os.environ, "PYTHONPATH": str(root), "TMPDIR": str(runtime)}
    driver = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True, env=environ)
    assert driver.stdout is not None
    with driver.stdout:
        pid = int(driver.stdout.readline())
    wait_until(lambda: any(children_of(child) for child in children_of(pid)), SOON)
    (hanging,) = children_of(pid)
    (grandchild,) = children_of(hanging)
    with borrow(env) as other:
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        wait_until(lambda: not is_there(hanging) and not is_there(grandchild), SOON)
        wait_until(lambda: not list(runtime.glob("compat-batch-*")), SOON)
        assert other.hello.pid == pid
        assert built_by(other, env).has_binary


def test_worker_ends_with_its_last_driver_after_a_stop_request(
    env: BuiltEnv, runtime: Path
) -> None:
    with borrow(env) as server:
        done = CliRunner().invoke(main, ["workers", "--stop"])
        assert done.output == "stopped 1 worker\n"
        wait_until(lambda: list(runtime.glob("*/*")) == [], SOON)
        assert built_by(server, env).has_binary
        with borrow(env) as next_:
            assert next_.hello.pid != server.hello.pid
    wait_until(lambda: not is_there(server.hello.pid), SOON)


def test_suspended_worker_is_killed_on_a_stop_request(env: BuiltEnv, runtime: Path) -> None:
    with borrow(env) as server:
        pass
    os.kill(server.hello.pid, signal.SIGSTOP)
    started = time.monotonic()
    done = CliRunner().invoke(main, ["workers", "--stop"])
    assert time.monotonic() - started < 10
    assert done.output == "stopped 0 workers, and killed 1 worker that did not answer\n"
    wait_until(lambda: not is_there(server.hello.pid), SOON)
    assert list(runtime.glob("*/*")) == []


def test_suspended_worker_is_replaced(env: BuiltEnv, runtime: Path) -> None:
    with borrow(env) as first:
        pass
    os.kill(first.hello.pid, signal.SIGSTOP)
    wait_until(lambda: supervisor.state(first.hello.pid) == "T", SOON)
    for _ in range(20):  # more connections than can wait in the queue
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as waiting:
            waiting.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                waiting.connect(str(next(runtime.glob("*/*/socket"))))
    started = time.monotonic()
    with borrow(env) as second:
        assert time.monotonic() - started < 30
        assert second.hello.pid != first.hello.pid
        assert built_by(second, env).has_binary
    wait_until(lambda: not is_there(first.hello.pid), SOON)
    assert len(list(runtime.glob("*/*"))) == 1


def test_worker_whose_toolchain_cannot_be_imported_does_not_stay(
    tmp_path: Path, env: BuiltEnv, runtime: Path
) -> None:
    bare = tmp_path / "python"
    assert env.python
    bare.write_text(f'#!/bin/sh\nexec "{os.path.realpath(env.python)}" "$@"\n')
    bare.chmod(0o755)
    server = pool.borrow(evolve(env, python=str(bare)), WORKER, "digest", 60)
    assert not server.hello.ready
    assert [link.type for link in server.hello.raised] == ["ModuleNotFoundError"]
    assert list(runtime.glob("*/*")) == []


@pytest.mark.parametrize("obstacle", ["open to others", "a link", "too long", "no folder"])
def test_worker_without_a_safe_folder_ends_with_its_command(
    obstacle: str, built: Callable[[str], BuiltEnv], runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"triton-compat-{os.getuid()}"
    if obstacle == "open to others":
        (runtime / name).mkdir()
        (runtime / name).chmod(0o777)
    elif obstacle == "a link":
        (runtime / "elsewhere").mkdir(mode=0o700)
        (runtime / name).symlink_to(runtime / "elsewhere")
    elif obstacle == "too long":
        long = runtime / ("x" * 100)
        long.mkdir()
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(long))
    else:
        (runtime / name).write_text("")
    env = built("triton-3.9.0")
    with borrow(env) as server:
        assert isinstance(server, OwnWorker)
        assert built_by(server, env).has_binary
    assert not is_there(server.hello.pid)
    assert pool.resident_workers() == []


def test_workers_command_lists_resident_workers(built: Callable[[str], BuiltEnv]) -> None:
    assert CliRunner().invoke(main, ["workers"]).output == "no workers are running\n"
    with borrow(built("triton-3.9.0")) as server:
        pass
    heading, row = CliRunner().invoke(main, ["workers"]).output.splitlines()
    assert heading.split() == ["env", "toolchain", "pid", "memory", "idle"]
    assert row.split()[:4] == ["triton-3.9.0", "triton", "3.9.0", str(server.hello.pid)]
