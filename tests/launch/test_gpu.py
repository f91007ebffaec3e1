"""On a GPU: the statuses of kernels that go wrong on purpose.

The installed releases compile the kernels. ``nox -s gpu`` runs these tests; without a GPU, its
driver and PyTorch they are skipped. For a GPU host on which no release can be installed, ``compat
build tests/launch/kernels/launching.toml --envs 3.0.0,3.3.1,3.6.0,3.9.0 --target TARGET --out
FOLDER`` compiles the kernels elsewhere, and ``$COMPAT_GPU_FOLDER`` names that folder on the host.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from compat.errors import SelectionError
from compat.executors import gpus
from compat.launch import archive, building, hosting
from compat.launch.hosting import Gpu
from compat.project import Listener, select
from tests.launch.archives import compared
from tests.launch.expecting import EXPECTED, KERNELS, statuses

pytestmark = [pytest.mark.wheels, pytest.mark.gpu]

RELEASES = ("3.0.0", "3.3.1", "3.6.0", "3.9.0")
BUILT_ELSEWHERE = "COMPAT_GPU_FOLDER"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the kernels."""
    folder = tmp_path_factory.mktemp("gpu")
    (folder / "matrix.toml").write_text(f'schema = 1\nkernels = ["{KERNELS}"]\n')
    return folder


@pytest.fixture(scope="module")
def gpu(home: Path) -> Gpu:
    try:
        return hosting.find_gpu(select(home / "matrix.toml", envs=RELEASES, targets=("*",)))
    except SelectionError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def folder(home: Path, gpu: Gpu) -> Path:
    """The folder with the kernels, built for this GPU."""
    if elsewhere := os.environ.get(BUILT_ELSEWHERE):
        return Path(shutil.copytree(elsewhere, home / "built"))
    chosen = select(home / "matrix.toml", envs=RELEASES, targets=(gpu.target.name,))
    with chosen.open_store() as store:
        built = building.build(chosen, chosen.context(store), chosen.build_envs, Listener())
    return archive.write_archive(built, home / "built").parent


@pytest.fixture(scope="module")
def launched(folder: Path, gpu: Gpu) -> dict[str, set[str]]:
    """Variant → its statuses over the releases."""
    hosting.launch(folder, gpu.python, ["--deadline", "5"])
    return statuses(folder / "results.jsonl")


@pytest.mark.parametrize("variant", sorted(EXPECTED))
def test_variant_has_an_expected_status(launched: dict[str, set[str]], variant: str) -> None:
    assert launched[variant] <= EXPECTED[variant]


def test_cells_with_results_are_not_launched_again(
    folder: Path, gpu: Gpu, launched: dict[str, set[str]]
) -> None:
    before = (folder / "results.jsonl").read_bytes()
    assert hosting.launch(folder, gpu.python, ["--deadline", "5"]).exit_code == 0
    assert (folder / "results.jsonl").read_bytes() == before


def test_builds_are_compared_with_a_correct_one(folder: Path, gpu: Gpu) -> None:
    """Each build is launched next to a correct one. A failed launch does not affect the others."""
    index = json.loads((folder / "index.json").read_text())
    of_newest: dict[str, dict[str, Any]] = {
        cell["cell"].split("/")[1]: cell for cell in index["cells"]
    }
    right = of_newest["right"]
    names = ("right", "wrong", "beside", "out_of_bounds", "hangs", "right")
    questions = [(right, of_newest[name]) for name in names]
    ready, *answers = compared(
        folder, gpu.python, [], *questions, problem=right["problem"], deadline=5
    )
    assert ready["status"] == "ready"
    assert [answer["status"] for answer in answers] == [
        *["compared"] * 3,
        "faulted",
        "timed_out",
        "compared",
    ]
    others = [answer["cells"][1] for answer in answers if answer["status"] == "compared"]
    assert [bool(other["off"]) for other in others] == [False, True, False, False]
    assert [bool(other["outside"]) for other in others] == [False, False, True, False]


def test_worker_of_a_cluster_reports_the_same_gpu(gpu: Gpu) -> None:
    host = gpus.find_host({gpus.PYTHON: gpu.python})
    assert (host.devices[0].arch, host.python) == (gpu.target.arch, gpu.python)
    assert len(host.devices[0].identity) == 32
