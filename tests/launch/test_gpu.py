"""On a GPU: kernels that go wrong on purpose, compiled by the installed releases, launched, and
each called what it is.

``nox -s gpu`` runs these; without a GPU, its driver and PyTorch they are skipped. For a GPU host on
which no release can be installed, ``compat build tests/launch/kernels/launching.toml --envs
3.0.0,3.3.1,3.6.0,3.9.0 --target TARGET --out FOLDER`` compiles them elsewhere, and
``$COMPAT_GPU_FOLDER`` names that folder there.
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
    """What was built of them for this GPU."""
    if elsewhere := os.environ.get(BUILT_ELSEWHERE):
        return Path(shutil.copytree(elsewhere, home / "built"))
    chosen = select(home / "matrix.toml", envs=RELEASES, targets=(gpu.target.name,))
    with chosen.open_store() as store:
        built = building.build(chosen, chosen.context(store), chosen.build_envs, Listener())
    return archive.write_archive(built, home / "built").parent


@pytest.fixture(scope="module")
def launched(folder: Path, gpu: Gpu) -> dict[str, set[str]]:
    """Variant → what it came to, over the releases."""
    hosting.launch(folder, gpu.python, ["--deadline", "5"])
    return statuses(folder / "results.jsonl")


@pytest.mark.parametrize("variant", sorted(EXPECTED))
def test_each_is_called_what_it_is(launched: dict[str, set[str]], variant: str) -> None:
    assert launched[variant] <= EXPECTED[variant]


def test_what_was_launched_is_not_launched_again(
    folder: Path, gpu: Gpu, launched: dict[str, set[str]]
) -> None:
    before = (folder / "results.jsonl").read_bytes()
    assert hosting.launch(folder, gpu.python, ["--deadline", "5"]).exit_code == 0
    assert (folder / "results.jsonl").read_bytes() == before


def test_builds_are_held_to_each_other(folder: Path, gpu: Gpu) -> None:
    """Each beside one that is right; what ends a process harms no other."""
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


def test_a_worker_of_a_cluster_tells_of_the_same_gpu(gpu: Gpu) -> None:
    host = gpus.find_host({gpus.PYTHON: gpu.python})
    assert (host.devices[0].arch, host.python) == (gpu.target.arch, gpu.python)
    assert len(host.devices[0].identity) == 32
