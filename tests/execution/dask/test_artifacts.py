"""Artifacts that stay on workers: what is fetched, what is said of those that are not to be had, and that reports are the same."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compat.diagnosis import diagnose, dumps
from compat.execution.executors.dask.fetching import Fetching
from compat.execution.merging import merge_store
from compat.execution.obtaining import obtain
from compat.execution.store import Store
from compat.explain import Explanation, explain
from compat.matrix import run_matrix
from compat.model import BuiltEnv
from compat.project import Selection, select
from compat.report.document import matrix_document
from tests import commands
from tests.execution.dask.clusters import ROOT, Machines
from tests.execution.dask.test_commands import WITHOUT_DASK
from tests.execution.dask.test_equal import without_times
from tests.execution.dask.test_faults import ENVS
from tests.execution.test_readings import better_reader
from tests.waiting import PATIENCE, wait_until

KERNELS = """
schema = 1
kernel = "faces"
source = "faces.py"
[signature]
source = "*fp16"
result = "*fp32"
size = "i32"
[constexprs]
M = 64
K = 64
N = 64
N2 = 16
[[case]]
name = "only"
[[variant]]
name = "dot"
function = "chained_dot"
"""
MATRIX = """
kernels = ["faces.toml"]
env = [{{ triton = "3.1.0", install = ["setuptools<81"] }}]
[defaults]
targets = ["sm_100"]
[executor]
address = "{address}"
artifacts = "1 KiB"
wait = 20
"""
CELL = "faces/dot/only/sm_100/triton-3.1.0"


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """Two machines: one that compiles, by an address of its own, and one that comes later."""
    with Machines(tmp_path_factory.mktemp("cluster")) as found:
        found.start_scheduler()
        found.start_worker("one", host="127.0.0.2", COMPAT_ENVS=ENVS)
        yield found


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, machines: Machines, built: Callable[[str], BuiltEnv]) -> Path:
    """A project with one kernel, which dies in a pass: 3.1 knows no sm_100, and says so by an assertion."""
    built("triton-3.1.0")
    folder = tmp_path_factory.mktemp("project")
    (folder / "matrix.toml").write_text(MATRIX.format(address=machines.address))
    (folder / "faces.toml").write_text(KERNELS)
    (folder / "faces.py").write_text((ROOT / "tests" / "kernels" / "faces.py").read_text())
    return folder


@pytest.fixture(scope="module")
def compiled(project: Path) -> Any:
    """The document of a run on the cluster."""
    selection = select(project / "matrix.toml")
    with selection.open_store() as store, selection.open_executor() as where:
        return document(selection, store, executor=where)


def document(selection: Selection, store: Store, **how: Any) -> Any:
    report = run_matrix(selection, selection.context(store, **how))
    return without_times(json.loads(json.dumps(matrix_document(report))))


def explained(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return commands.run("explain", CELL, *words, cwd=project, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=PATIENCE)


def kept(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "artifacts").iterdir()}


def left(machines: Machines) -> dict[str, Path]:
    """What the worker has, by the beginning of its hash, with which names of artifacts begin."""
    return {path.name[:16]: path for path in (machines.folder / "one" / "worker-artifacts").glob("*/*")}


@pytest.fixture
def store(project: Path, compiled: Any, tmp_path: Path) -> Path:
    """The project's store as the run has left it, as a project of its own beside it."""
    copy = tmp_path / "project"
    shutil.copytree(project, copy)
    for path in (copy / ".compat" / "artifacts").iterdir():
        path.unlink()
    return copy


@pytest.mark.wheels
def test_the_report_is_the_same_and_what_it_encloses_is_here(
    project: Path, compiled: Any, machines: Machines, tmp_path: Path
) -> None:
    with Store(tmp_path) as store:
        assert document(select(project / "matrix.toml"), store) == compiled
    here = kept(tmp_path)
    assert sorted(name.partition(".")[2] for name in here) == ["before.mlir", "mlir", "printed.xz"]
    assert {name: path.read_bytes() for name, path in left(machines).items()} == {name[:16]: data for name, data in here.items()}
    enclosed = {attachment["name"] for attachment in compiled["attachments"]}
    assert enclosed == {name for name in here if name.endswith("mlir")}
    assert kept(project / ".compat") == {name: here[name] for name in enclosed}, "what was printed is on the worker"


@pytest.mark.wheels
def test_explain_fetches_once(store: Path, machines: Machines) -> None:
    assert kept(store / ".compat") == {}
    told = explained(store)
    assert (told.returncode, told.stderr) == (0, "")
    found = kept(store / ".compat")
    assert {name[:16] for name in found} == left(machines).keys()
    for name in found:
        assert f": {store / '.compat' / 'artifacts' / name}\n" in told.stdout
    again = [sys.executable, "-c", WITHOUT_DASK, "explain", CELL, "--json"]
    known = subprocess.run(again, cwd=store, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert known.returncode == 0, known.stderr
    assert json.loads(known.stdout)["lacking"] == []


@pytest.mark.wheels
def test_local_fetches_nothing_and_says_where_it_is(store: Path) -> None:
    told = explained(store, "--executor", "local")
    assert told.returncode == 0
    assert told.stdout.count("left on 127.0.0.2, a worker's machine of tcp://127.0.0.1:") == 3
    assert told.stdout.count("nothing is fetched with --executor local") == 3
    assert kept(store / ".compat") == {}


@pytest.mark.wheels
def test_what_is_damaged_there_is_said_and_not_shown(store: Path, machines: Machines) -> None:
    """What else there is comes; and compiled again, there is all of it."""
    (name,) = (name for name in known_names(store) if name.endswith(".before.mlir"))
    there = left(machines)[name[:16]]
    data = there.read_bytes()
    there.write_bytes(data.replace(b"tt.dot", b"tt.dog"))
    told = explained(store)
    assert told.returncode == 8
    assert f"error: not fetched: {name} (" in told.stderr
    assert "127.0.0.2: its file there was damaged" in told.stderr
    assert "--again" in told.stderr
    assert "unsupported, as expected" in told.stdout, "all else is shown"
    assert sorted(kept(store / ".compat")) == sorted(set(known_names(store)) - {name})
    assert "127.0.0.2 no longer has it" in explained(store).stderr
    there.write_bytes(data)  # for other tests
    again = commands.run("matrix", "--again", cwd=store, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=PATIENCE)
    assert again.returncode == 0, again.stderr
    assert explained(store).returncode == 0
    assert sum(name.endswith(".before.mlir") for name in kept(store / ".compat")) == 1, "by the path of its kernel another"


def known_names(store: Path) -> list[str]:
    with Store(store / ".compat") as opened:
        return sorted({row[0] for row in opened._file._connection.execute("SELECT name FROM elsewhere")})


@pytest.mark.wheels
def test_a_better_reader_reads_what_was_fetched(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumps, "read", better_reader)
    monkeypatch.setattr(diagnose, "version", lambda: "better")
    selection = select(store / "matrix.toml")
    passes = []
    for executor in ("local", None):
        with selection.open_store(executor=executor) as opened:
            found = explain(selection, CELL, opened)
        assert isinstance(found, Explanation)
        assert found.result is not None
        assert found.result.outcome.failure is not None
        passes.append(found.result.outcome.failure.pass_)
    assert passes == ["tritongpu-accelerate-matmul", "INLINE"]


@pytest.mark.wheels
def test_stores_that_are_merged_know_where_it_is(store: Path, compiled: Any, tmp_path: Path) -> None:
    with Store(tmp_path / "together", fetch=Fetching()) as together:
        merged = merge_store(store / ".compat", together)
        assert (merged.new, merged.artifacts) == (1, 0)
        names = known_names(store)
        assert len(names) == 3
        assert obtain(together, names) == ()
        assert sorted(kept(tmp_path / "together")) == names


@pytest.mark.wheels
def test_a_worker_that_is_gone(store: Path, machines: Machines, tmp_path: Path) -> None:
    """Another of its machine gives what it has; where there is none, that is said, and a report warns. Ends the cluster."""
    folder = machines.folder / "one" / "worker-artifacts"
    machines.kill("one")
    machines.start_worker("beside", host="127.0.0.2", COMPAT_ENVS=ENVS, COMPAT_WORKER_ARTIFACTS=str(folder))
    wait_until(lambda: "Registered to" in (machines.folder / "beside.log").read_text())
    assert explained(store).returncode == 0
    machines.kill("beside")
    machines.start_worker("other", COMPAT_ENVS=ENVS)
    wait_until(lambda: "Registered to" in (machines.folder / "other.log").read_text())
    for name in kept(store / ".compat"):
        (store / ".compat" / "artifacts" / name).unlink()
    told = explained(store, "--json")
    assert told.returncode == 8
    assert told.stderr.count("no worker of 127.0.0.2 is there any more, and no other has it") == 1
    assert len(json.loads(told.stdout)["lacking"]) == 3
    machines.kill("scheduler")
    report = commands.run("matrix", cwd=store, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=PATIENCE)
    assert report.returncode == 0
    assert "warning: the report lacks " in report.stderr
    assert f"no Dask scheduler answers at {machines.address}" in report.stderr
