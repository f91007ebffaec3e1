"""Commands with their own cluster."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import compat.project
from compat.errors import ConfigError
from compat.model import BuiltEnv
from compat.workers.spawn import WORKER
from tests.execution.dask.clusters import ROOT
from tests.waiting import PATIENCE, SOON, wait_until

MATRIX = f"""
kernels = ["{ROOT}/kernels/sel_dense.toml"]
[defaults]
envs = ["3.1.0"]
targets = ["sm_90"]
[pairs]
run = false
[executor]
class = "distributed.LocalCluster"
arguments = {{ n_workers = 1, threads_per_worker = 2, dashboard_address = "127.0.0.1:0" }}
"""
COPY = ("--spec", str(ROOT / "tests" / "kernels" / "failures.toml"), "--variant", "copy")
WITHOUT_DASK = """
import sys
from compat.cli.commands import main

for executor in ((), ("--executor", "dask://127.0.0.1:9"), ("--executor", "dask:local")):
    try:
        main([*sys.argv[1:], *executor])
    except SystemExit as end:
        assert not end.code, (executor, end.code)
assert not {"dask", "distributed"} & set(sys.modules)
"""


@pytest.fixture
def project(built: Callable[[str], BuiltEnv], tmp_path: Path) -> Path:
    built("triton-3.1.0")
    (tmp_path / "matrix.toml").write_text(MATRIX)
    return tmp_path


def command(project: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", "from compat.cli.start import start; start()", "matrix", *arguments],
        cwd=project,
        env={**os.environ, "TMPDIR": str(project), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def running_commands(project: Path) -> list[str]:
    """The command lines of processes that the command has started."""
    command_lines = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"\0TMPDIR={project}".encode() in b"\0" + (process / "environ").read_bytes():
                command_lines.append((process / "cmdline").read_text())
        except OSError:
            pass
    return command_lines


@pytest.mark.wheels
@pytest.mark.long
def test_executor_class_starts_a_cluster_and_stored_results_need_no_dask(project: Path) -> None:
    began = command(project, *COPY)
    _, err = began.communicate(timeout=PATIENCE)
    assert began.returncode == 0, err
    assert "Dask: 1 worker, 2 threads; dashboard http://" in err
    document = json.loads((project / "reports" / "matrix.json").read_text())
    assert {cell["status"] for cell in document["cells"]} == {"ok"}
    wait_until(lambda: not running_commands(project), SOON)
    completed = subprocess.run(
        [sys.executable, "-c", WITHOUT_DASK, "matrix", *COPY],
        check=False,
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert completed.returncode == 0, completed.stderr


@pytest.mark.wheels
def test_ctrl_c_leaves_no_process(project: Path) -> None:
    began = command(project, "--executor", "dask:local?workers=1")
    # A worker compiles something, or is about to.
    wait_until(lambda: any("compat/worker" in line for line in running_commands(project)))
    os.killpg(began.pid, signal.SIGINT)  # as a terminal does
    _, err = began.communicate(timeout=PATIENCE)
    assert began.returncode == 130, err
    assert "run the same command again to continue" in err
    assert "Traceback" not in err
    wait_until(lambda: not running_commands(project), SOON)
    time.sleep(0.2)
    assert [path.name for path in project.iterdir() if path.name.startswith("compat-")] == []


def test_missing_executor_class_is_an_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "matrix.toml").write_text(
        MATRIX.replace("distributed.LocalCluster", "nowhere_to_be.Found")
    )
    selection = compat.project.select(tmp_path / "matrix.toml")
    with selection.open_executor() as where, pytest.raises(ConfigError) as caught:
        _ = where(worker=WORKER, idle_timeout=0.0, stop=threading.Event()).slots
    assert "matrix.toml: executor.class: cannot import nowhere_to_be" in str(caught.value)
    assert caught.value.hint == "pip install nowhere-to-be"
