"""A server for each env: one at a time, replaced if it has died, released if it is not needed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compat.model import BuiltEnv, Env
from compat.workers.pool import WorkerPool
from compat.workers.spawn import OwnWorker
from tests.waiting import SOON, wait_until

pytestmark = pytest.mark.wheels


@pytest.fixture
def workers() -> Iterator[WorkerPool]:
    with WorkerPool() as these:
        yield these


def test_one_server_serves_an_env_until_it_is_released(
    workers: WorkerPool, built: Callable[[str], BuiltEnv]
) -> None:
    old, new = built("triton-3.1.0"), built("triton-3.9.0")
    first, other = workers.of(old), workers.of(new)
    assert workers.of(old) is first
    assert (first.hello.version, other.hello.version) == ("3.1.0", "3.9.0")
    workers.release(old.env.name)
    assert not first.alive
    assert workers.of(old) is not first
    assert other.alive
    workers.close()
    assert not other.alive


def test_dead_server_is_replaced(workers: WorkerPool, built: Callable[[str], BuiltEnv]) -> None:
    env = built("triton-3.9.0")
    doomed = workers.of(env)
    os.kill(doomed.hello.pid, signal.SIGKILL)
    wait_until(lambda: not doomed.alive, SOON)
    replaced = workers.of(env)
    assert replaced.alive
    assert replaced.hello.pid != doomed.hello.pid


def test_server_that_never_got_ready_is_not_started_again(
    workers: WorkerPool, tmp_path: Path
) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho started >> {tmp_path}/starts\necho out of order\nexit 3\n")
    python.chmod(0o755)
    env = BuiltEnv(env=Env(name="broken"), python=str(python))
    server = workers.of(env)
    assert isinstance(server, OwnWorker)
    assert not server.hello.ready
    assert server.hello.output == "out of order\n"
    assert workers.of(env) is server
    assert (tmp_path / "starts").read_text() == "started\n"


@pytest.mark.parametrize("content", [None, b"\x7fELF", b"#!/no/such/program\n"])
def test_server_whose_interpreter_cannot_be_started_is_not_ready(
    workers: WorkerPool, tmp_path: Path, content: bytes | None
) -> None:
    python = tmp_path / "python"
    if content is not None:
        python.write_bytes(content)
        python.chmod(0o755)
    server = workers.of(BuiltEnv(env=Env(name="broken"), python=str(python)))
    assert not server.hello.ready
    assert server.hello.output.startswith(f"cannot start {python}: ")
