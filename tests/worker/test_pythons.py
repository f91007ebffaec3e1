"""The worker on the oldest and the newest Python that any release has wheels for here."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from compat.envs.interpreters import present
from compat.files import folder_digest
from compat.model import BuiltEnv, Cell, Env
from compat.workers import pool
from compat.workers.attempt import Limits
from compat.workers.spawn import WORKER, OwnWorker
from compat.workers.watch import attempt
from tests.cells import cell
from tests.standin.packages import spec, written
from tests.standin.test_values import LEAKS
from tests.targets import TARGETS

QUESTIONS = (
    *(
        "a default for what is absent",
        "a name that is tried",
        "whatever a package has",
        "a module that is looked for",
    ),
    *(
        "a set",
        "an instance",
        "a name",
        "nothing",
        "a global",
        "an attribute of a class that derives from it",
    ),
)
"""Uses that stand-ins recognize by what Python is doing. Each Python has its own names for that."""


@pytest.mark.wheels
@pytest.mark.parametrize(
    ("minor", "packages"), [((3, 8), ["triton==3.0.0", "setuptools"]), ((3, 13), ["triton==3.5.1"])]
)
def test_worker_serves_on_the_oldest_and_the_newest_python(
    minor: tuple[int, int], packages: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = present()
    if minor not in here:
        pytest.skip(f"no Python {minor} on this machine")
    uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    subprocess.run([uv, "venv", "-q", "--python", here[minor][0], tmp_path / "env"], check=True)
    python = str(tmp_path / "env" / "bin" / "python")
    subprocess.run([uv, "pip", "install", "-q", "--python", python, *packages], check=True)
    functions = ["fine", "block_typed_bound", "missing_name", "looped"]
    with OwnWorker(python) as server:
        assert server.hello.ready, server.hello
        cells = [cell(Env(name="some"), "faces", function) for function in functions]
        limits = Limits(deadline=60, memory=4 << 30)
        attempts = [
            evidence for _, evidence in attempt(server, cells, limits, stop=threading.Event())
        ]
        for leak in QUESTIONS:
            path = (
                written(tmp_path / leak.replace(" ", "_"), {"leaking.py": LEAKS[leak]})
                / "leaking.py"
            )
            leaking_cell = Cell(env=Env(name="some"), target=TARGETS["sm_90"], spec=spec(path))
            ((_, refused),) = attempt(server, [leaking_cell], limits, stop=threading.Event())
            assert "this env lacks" in refused.raised[0].message, (leak, refused)
    # A socket's path has to be short.
    with tempfile.TemporaryDirectory(prefix="rt-", dir="/tmp") as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        stays = BuiltEnv(env=Env(name="some"), python=python, digest="some")
        pids = []
        for _ in range(2):
            with pool.borrow(stays, WORKER, folder_digest(WORKER), 60) as server:
                pids.append(server.hello.pid)
        assert pids[0] == pids[1] > 0
        assert pool.stop_resident_workers().stopped == 1
    assert [evidence.has_binary for evidence in attempts] == [True, False, False, True]
    assert attempts[1].signal == "SIGABRT"
    assert attempts[2].raised
