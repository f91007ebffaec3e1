"""Launching on this machine: its requirements, and the messages where one of them is missing."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from compat.cli.commands import main
from compat.cli.launch import _words_for
from compat.errors import SelectionError
from compat.launch import hosting
from compat.launch.building import Built
from compat.launch.merging import NOTHING
from compat.model import BuiltEnv
from compat.project import select_places
from compat.store.store import Store
from compat.toolchains import DEFAULT
from tests.launch.archives import built_standin, cell, results, with_pytorch, write
from tests.launch.expecting import KERNELS
from tests.together import for_each

has_torch = importlib.util.find_spec("torch") is not None


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_folder_that_was_not_built_is_an_error(tmp_path: Path) -> None:
    done = run("launch", str(tmp_path), "--python", "python3")
    assert done.exit_code == SelectionError.exit_code
    assert "there is nothing to launch in this folder" in done.stderr


@pytest.mark.skipif(has_torch, reason="this interpreter has PyTorch")
def test_launch_without_pytorch_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("launch", str(write(tmp_path / "built", [cell("add")])))
    assert done.exit_code == SelectionError.exit_code
    assert "launching needs PyTorch" in done.stderr
    assert "with --python" in done.stderr


@pytest.mark.wheels
@pytest.mark.skipif(has_torch, reason="this interpreter has PyTorch")
def test_env_with_pytorch_is_found(pair_python: str) -> None:
    python = hosting.find_python(select_places(KERNELS.parents[3] / "matrix.toml"))
    assert any((Path(python).parent.parent / "lib").glob("python3*/site-packages/torch"))


@pytest.mark.wheels
def test_folder_is_launched_by_the_given_python(tmp_path: Path, pair_python: str) -> None:
    folder = write(tmp_path / "built", [cell("add")])
    options = ["--device", "cpu", "--library", str(built_standin(tmp_path)), "--no-latency"]
    ended = hosting.launch(folder, with_pytorch(tmp_path, pair_python), options)
    assert ended.exit_code == 0
    assert results(folder)["add"]["check"]["status"] == "ok"


@pytest.mark.wheels
def test_no_launchable_cell_is_no_error(tmp_path: Path, pair_python: str) -> None:
    target = next(target for target in DEFAULT.device.targets if target.name == "sm_90")
    gpu = hosting.Gpu(target=target, python=pair_python)
    built = Built(target=target, launchable=(), omitted_cells=())
    store = Store(tmp_path / "store")
    assert hosting.launch_and_keep(built, tmp_path / "launch", gpu, store) == NOTHING


@pytest.mark.wheels
def test_without_a_gpu_nothing_is_launched(
    tmp_path: Path,
    built: Callable[[str], BuiltEnv],
    pair_python: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a GPU, ``nox -s gpu`` tests more."""
    if Path("/dev/nvidia0").exists():
        pytest.skip("there is a GPU")
    built("triton-3.9.0")
    for path in KERNELS.parent.glob("launching*"):
        shutil.copy(path, tmp_path)
    (tmp_path / "matrix.toml").write_text('schema = 1\nkernels = ["launching.toml"]\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(hosting, "find_python", lambda _: pair_python)
    done = run("matrix", "--envs", "3.9.0", "--target", "sm_90", "--variant", "right", "--launch")
    assert done.exit_code == SelectionError.exit_code
    assert "there is no usable GPU on this machine" in done.stderr


@pytest.mark.wheels
def test_build_command_writes_and_packs_a_folder(
    tmp_path: Path,
    built: Callable[[str], BuiltEnv],
    pair_python: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    build_in(tmp_path, built, monkeypatch)
    monkeypatch.setattr(hosting, "find_python", lambda _: with_pytorch(tmp_path, pair_python))
    done = run(
        "build",
        "--envs",
        "3.9.0",
        "--target",
        "sm_90",
        "--variant",
        "right",
        "--out",
        "built",
        "--archive",
        "--keep-ptx",
    )
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith(
        "1 cell for sm_90 in 1 binary: python built/launch.py\npacked: built.tar.xz, "
    )
    assert len(list((tmp_path / "built" / "texts").iterdir())) == 1
    assert done.stdout.endswith("\nplus_one: 4 problems (3 small, 1 large)\n")


@pytest.mark.wheels
@pytest.mark.skipif(has_torch, reason="this interpreter has PyTorch")
def test_without_pytorch_problems_are_not_counted(
    tmp_path: Path, built: Callable[[str], BuiltEnv], monkeypatch: pytest.MonkeyPatch
) -> None:
    build_in(tmp_path, built, monkeypatch)
    monkeypatch.setattr("compat.executors.gpus.find_python", lambda _: None)
    done = run(
        "build", "--envs", "3.9.0", "--target", "sm_90", "--variant", "right", "--out", "built"
    )
    assert done.exit_code == 0, done.stderr
    assert done.stdout.endswith(
        "\nproblems: not counted, because no interpreter here has PyTorch\n"
    )


def build_in(home: Path, built: Callable[[str], BuiltEnv], monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a project with kernels to launch, and make it the working directory."""
    built("triton-3.9.0")
    for path in KERNELS.parent.glob("launching*"):
        shutil.copy(path, home)
    (home / "matrix.toml").write_text('schema = 1\nkernels = ["launching.toml"]\n')
    monkeypatch.chdir(home)


@for_each(
    ("numbers", "why", "expected"),
    [
        ([(2, 1)], "", "3 problems (2 small, 1 large)"),
        ([(0, 1)], "", "1 problem (0 small, 1 large)"),
        ([(2, 1), (4, 1)], "", "3 to 5 problems (2 to 4 small, 1 large)"),
        ([(0, 0)], "", "no problem, so every launch will be lost"),
        ([(1, None)], "looks", "1 small problem; large ones not counted (looks)"),
        ([(3, 1), (3, None)], "", "3 small problems; large ones not counted"),
        ([(None, None)], "KeyError: 'D'", "problems not counted (KeyError: 'D')"),
    ],
)
def test_yielded_problems_are_described_in_words(
    numbers: list[tuple[int | None, int | None]], why: str, expected: str
) -> None:
    yielded = hosting.YieldedProblems(kernel="kernel", numbers=tuple(numbers), why=why)
    assert _words_for(yielded) == expected


def test_problems_not_counted_in_time_are_described_in_words() -> None:
    some = hosting.YieldedProblems(kernel="kernel", numbers=((2, 1),), missing=3)
    expected = "3 problems (2 small, 1 large); 3 further cases not counted in time"
    assert _words_for(some) == expected
    none = hosting.YieldedProblems(kernel="kernel", numbers=(), missing=3)
    assert _words_for(none) == "problems not counted in time"
