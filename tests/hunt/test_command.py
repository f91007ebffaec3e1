"""``compat hunt`` with real releases, from seeds to examples that other commands accept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from compat import interruption
from compat.config.matrix import MatrixConfig
from compat.hunt.hunting import HuntRun
from compat.model import BuiltEnv
from compat.project import read_matrix
from compat.toolchains.triton.programs.language import PROGRAMS
from tests.commands import invoked
from tests.launch.living import stand_in

pytestmark = pytest.mark.wheels

CRASHES = 52
"""The seed of a program that compares bfloat16, on which 3.1.0 fails an assertion."""


@pytest.fixture
def project(
    tmp_path: Path, built: Callable[[str], BuiltEnv], monkeypatch: pytest.MonkeyPatch
) -> Path:
    built("triton-3.1.0")
    built("triton-3.9.0")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_hunt_finds_a_crash_and_writes_a_small_example_and_a_verified_issue_text(
    project: Path,
) -> None:
    arguments = ("hunt", "--programs", "2", "--seed", str(CRASHES), "--envs", "3.1.0,3.9.0")
    document = json.loads(
        invoked(*arguments, "--target", "sm_90", "--repro", "--json", code=1).stdout
    )
    releases = [
        Version(release)
        for seed in (CRASHES, CRASHES + 1)
        for release in ("3.1.0", "3.9.0")
        if PROGRAMS.is_for(PROGRAMS.generate(seed, ()), Version(release))
    ]
    forms = 2 * len(releases)
    assert (document["programs"], document["cells"], document["invalid"]) == (2, forms, [])
    (defect,) = document["defects"]
    assert (defect["oracle"], defect["envs"]) == ("crash", ["triton-3.1.0"])
    assert CRASHES in defect["seeds"]
    assert "llvm.fcmp" in defect["reason"]
    example = project / defect["example"]
    source = example.with_suffix(".py").read_text()
    assert len(source.splitlines()) < 15
    listed = invoked("matrix", str(example), "--envs", "3.1.0,3.9.0", "--target", "sm_90", code=1)
    assert defect["fingerprint"] in listed.output

    script, issue, *_ = (project / path for path in defect["issue"])
    assert script.parent == example.parent
    assert "llvm.fcmp" in script.read_text()
    assert "ran this script in a fresh process with every release" in issue.read_text()
    assert defect["not_in"] == [None, "triton-3.9.0"]


def test_known_defect_alone_is_no_failure_and_has_no_example(project: Path) -> None:
    chosen = ("--programs", "1", "--seed", str(CRASHES), "--envs", "3.1.0,3.9.0")
    arguments = ("hunt", *chosen, "--target", "sm_90", "--shrink", "0", "--json", "--keep")
    (new,) = json.loads(invoked(*arguments, "new", code=1).stdout)["defects"]
    assert (new["known"], (project / new["example"]).exists()) == (None, True)
    entry = {"fingerprint": new["fingerprint"], "url": "https://example.org/issues/1"}
    lines = [f'{key} = "{value}"' for key, value in entry.items()]
    (project / "known.toml").write_text("\n".join(["[[defect]]", *lines]))
    (known_defect,) = json.loads(invoked(*arguments, "kept").stdout)["defects"]
    assert (known_defect["known"], known_defect["example"]) == (entry["url"], None)
    assert not (project / "kept").exists()
    (project / "none.toml").write_text("")
    (again,) = json.loads(invoked(*arguments, "again", "--known", "none.toml", code=1).stdout)[
        "defects"
    ]
    assert again["known"] is None


def test_next_hunt_continues_after_the_last_seed(project: Path) -> None:
    arguments = ("hunt", "--programs", "1", "--envs", "3.9.0", "--target", "sm_90", "--json")
    first = json.loads(invoked(*arguments).stdout)["seeds"]
    second = json.loads(invoked(*arguments).stdout)["seeds"]
    assert (first, second) == ([0, 1], [1, 2])


def test_hunt_without_envs_tries_the_newest_release(project: Path) -> None:
    arguments = ("hunt", "--programs", "1", "--target", "sm_90", "--json")
    assert json.loads(invoked(*arguments).stdout)["envs"] == ["triton-3.9.0"]


def test_folder_for_a_gpu_host_has_the_compiled_programs(project: Path) -> None:
    arguments = ("hunt", "--programs", "2", "--seed", "3", "--envs", "3.9.0", "--target", "sm_90")
    done = invoked(*arguments, "--build", "gpu", "--json")
    assert json.loads(done.stdout)["cells"] == 4
    assert "python gpu/launch.py" in done.stderr
    index: dict[str, Any] = json.loads((project / "gpu/index.json").read_text())
    names = [cell["cell"].split("/")[0] for cell in index["cells"]]
    own = [name for name in names if name in ("seed_3", "seed_4")]
    forms = {name.rpartition("_")[0] or name for name in names if name not in own}
    assert len(own) == 2
    assert len(names) == 4
    assert all(form.startswith(("seed_3", "seed_4")) for form in forms)


def test_hunt_against_a_wheel_reports_only_what_the_wheel_breaks(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wheel is the old release here: it fails where the newest one does not."""
    wheel = MatrixConfig.one_env(read_matrix(None), "triton-3.1.0")
    monkeypatch.setattr(MatrixConfig, "wheel_env", lambda _, path: wheel)
    arguments = ("hunt", "--programs", "1", "--seed", str(CRASHES), "--target", "sm_90", "--json")
    shrink = ("--shrink", "0", "--forms", "1")
    against = invoked(*arguments, "--envs", "3.9.0", "--against", "x.whl", *shrink, code=1).stdout
    assert [defect["envs"] for defect in json.loads(against)["defects"]] == [["triton-3.1.0"]]
    wheel = MatrixConfig.one_env(read_matrix(None), "triton-3.9.0")
    against = invoked(*arguments, "--envs", "3.1.0", "--against", "x.whl", *shrink).stdout
    assert json.loads(against)["defects"] == []


def test_interrupted_hunt_reports_its_defects(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(self: HuntRun, seed: int) -> None:
        note(self, seed)
        if seed >= CRASHES:
            interruption.ask()

    note = HuntRun._note
    monkeypatch.setattr(HuntRun, "_note", interrupt)
    arguments = ("hunt", "--programs", "50", "--seed", str(CRASHES), "--envs", "3.1.0,3.9.0")
    done = invoked(*arguments, "--target", "sm_90", "--json", code=130)
    document = json.loads(done.stdout)
    assert document["interrupted"]
    (defect,) = document["defects"]
    assert defect["oracle"] == "crash"
    assert (project / defect["example"]).exists()
    assert document["seeds"] == [CRASHES, CRASHES + 2]
    assert f"interrupted: the next hunt begins with seed {CRASHES + 2}" in done.stderr


def test_wheel_that_does_not_exist_is_an_error(project: Path) -> None:
    done = invoked("hunt", "--envs", "3.9.0", "--against", "gone.whl", code=2)
    assert "there is no such file" in done.output


def test_hunt_with_a_gpu_launches_what_compiles(
    project: Path, pair_python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stand-in for a GPU runs no generated kernel: it leaves zeros in every output."""
    stand_in(project, pair_python, monkeypatch, breaks="nothing", how="wrong")
    arguments = ("hunt", "--programs", "1", "--seed", "1", "--envs", "3.9.0", "--shrink", "60")
    done = invoked(*arguments, "--launch", "--json", code=1)
    (defect,) = json.loads(done.stdout)["defects"]
    assert (defect["oracle"], defect["targets"]) == ("numbers", ["sm_90"])
    example = (project / defect["example"]).with_suffix(".py").read_text()
    assert example.count("\n    ") <= 4  # what it stores, and where
    again = invoked(*arguments, "--launch", "--json", code=1)
    assert json.loads(again.stdout)["defects"] == [defect]
