"""``compat hunt`` with real releases, from seeds to examples that other commands take."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from compat.cli.commands import main
from compat.model import BuiltEnv

pytestmark = pytest.mark.wheels

CRASHES = 52
"""The seed of a program that compares bfloat16, on which 3.1.0 fails an assertion."""


def run(*words: str, code: int = 0) -> Result:
    done = CliRunner().invoke(main, words)
    assert done.exit_code == code, done.output
    return done


@pytest.fixture
def project(
    tmp_path: Path, built: Callable[[str], BuiltEnv], monkeypatch: pytest.MonkeyPatch
) -> Path:
    built("triton-3.1.0")
    built("triton-3.9.0")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_hunt_finds_a_crash_and_writes_a_small_example(project: Path) -> None:
    words = ("hunt", "--programs", "2", "--seed", str(CRASHES), "--envs", "3.1.0,3.9.0")
    document = json.loads(run(*words, "--target", "sm_90", "--json", code=1).stdout)
    assert (document["programs"], document["invalid"]) == (2, [])
    (defect,) = document["defects"]
    assert (defect["oracle"], defect["envs"]) == ("crash", ["triton-3.1.0"])
    assert CRASHES in defect["seeds"]
    assert "llvm.fcmp" in defect["reason"]
    example = project / defect["example"]
    source = example.with_suffix(".py").read_text()
    assert len(source.splitlines()) < 15
    listed = run("matrix", str(example), "--envs", "3.1.0,3.9.0", "--target", "sm_90", code=1)
    assert defect["fingerprint"] in listed.output


def test_a_hunt_goes_on_after_the_last_seed(project: Path) -> None:
    words = ("hunt", "--programs", "1", "--envs", "3.9.0", "--target", "sm_90", "--json")
    first = json.loads(run(*words).stdout)["seeds"]
    second = json.loads(run(*words).stdout)["seeds"]
    assert (first, second) == ([0, 1], [1, 2])
    assert not list((project / ".compat/hunt/programs").iterdir())


def test_a_folder_for_a_gpu_host_has_what_compiles(project: Path) -> None:
    words = ("hunt", "--programs", "2", "--seed", "3", "--envs", "3.9.0", "--target", "sm_90")
    run(*words, "--build", "gpu")
    index: dict[str, Any] = json.loads((project / "gpu/index.json").read_text())
    assert [cell["cell"].split("/")[0] for cell in index["cells"]] == ["seed_3", "seed_4"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--only", "dots"), "there is no family of operations 'dots'"),
        (("--envs", "cute-4.8.1"), "compat hunt has no programs for CuTe DSL"),
    ],
)
def test_what_a_hunt_cannot_do_is_one_clear_error(
    project: Path, words: tuple[str, ...], told: str
) -> None:
    chosen = () if "--envs" in words else ("--envs", "3.9.0")
    done = CliRunner().invoke(main, ("hunt", "--programs", "1", "--no-build", *chosen, *words))
    assert done.exit_code == 3
    assert told in str(done.exception) + done.output


def test_without_numpy_it_says_what_to_install(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if "triton.programs." in name]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "numpy", None)
    done = CliRunner().invoke(main, ("hunt", "--programs", "1", "--envs", "3.9.0"))
    assert "compat hunt needs NumPy" in str(done.exception) + done.output
