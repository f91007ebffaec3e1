"""A cluster gives the same outcomes as this machine, wherever its envs and source trees are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from compat import project
from compat.executors.dask.executor import DaskExecutor
from compat.executors.executor import LocalExecutor, OpenExecutor
from compat.matrix import run_matrix
from compat.model import BuiltEnv
from compat.project import Selection
from compat.report.document import matrix_document
from compat.store.store import Store
from tests.execution.dask.clusters import ROOT, Machines, session

TIMES = {"seconds", "stages", "cached", "compile_seconds"}
KERNELS = f"""
schema = 1
kernel = "kernels"
source = "{ROOT}/tests/kernels/failures.py"
[signature]
source = "*fp32"
result = "*fp32"
size = "i32"
[constexprs]
BLOCK = 128
[[case]]
name = "only"
[[variant]]
name = "mismatched"
function = "mismatched"
[[variant]]
name = "block_pointer"
function = "block_pointer"
[[variant]]
name = "descriptor"
function = "descriptor"
"""
"""The first variant fails in both releases, and each other one in one release."""
RELEASES = ("triton-3.1.0", "triton-3.9.0")


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    with Machines(tmp_path_factory.mktemp("cluster")) as cluster:
        cluster.start_scheduler()
        for name in ("one", "two"):
            envs = str(cluster.folder / "worker-envs")
            cluster.start_worker(name, nanny=False, COMPAT_WORKER_ENVS=envs)
        yield cluster


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_times(field) for name, field in value.items() if name not in TIMES}
    return [without_times(element) for element in value] if isinstance(value, list) else value


def document(selection: Selection, folder: Path, executor: OpenExecutor) -> Any:
    with Store(folder) as store:
        report = run_matrix(selection, selection.context(store, jobs=2, executor=executor))
        return without_times(json.loads(json.dumps(matrix_document(report))))


@pytest.mark.wheels
@pytest.mark.long
def test_report_of_a_cluster_equals_the_local_report(
    built: Callable[[str], BuiltEnv], machines: Machines, tmp_path: Path
) -> None:
    """The workers have their own envs.

    Compilers write the paths of source trees and envs into their output and their messages.
    """
    for release in RELEASES:
        built(release)
    (tmp_path / "kernels.toml").write_text(KERNELS)
    selection = project.select(
        ROOT / "matrix.toml",
        envs=RELEASES,
        targets=["sm_90"],
        kernel_files=[str(tmp_path / "kernels.toml")],
    )
    here = document(selection, tmp_path / "here", LocalExecutor)
    with session(machines) as where:
        there = document(selection, tmp_path / "there", partial(DaskExecutor, where))
    assert there == here
    assert [cell["status"] for cell in here["cells"]].count("ok") == 2
    assert {cell["status"] for cell in here["cells"]} == {"ok", "rejected"}
    assert list((machines.folder / "worker-envs").glob("triton-3.1.0-*/*/bin/python"))
    assert not list(machines.folder.glob("*/envs/*"))
