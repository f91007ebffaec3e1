"""The folder that goes to a GPU host, compiled by real wheels."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from compat.engine.run import run
from compat.errors import SelectionError
from compat.launch import archive, building
from compat.launch.building import Built, Launchable, _launchables
from compat.model import BuiltEnv
from compat.project import Selection, select
from tests.launch.expecting import EXPECTED, KERNELS

pytestmark = pytest.mark.wheels

RELEASES = ("triton-3.0.0", "triton-3.9.0")
BAD = """
schema = 1
source = "launching.py"
problem = { source = "launching_problems.py", function = "plus_one" }

[[kernel]]
name = "right"
signature = { source = "*fp32", result = "*fp32", size = "i32" }
constexprs = { BLOCK = 128 }

[[kernel]]
name = "nothing_of_that_name"
function = "right"
signature = { source = "*fp32", result = "*fp32", size = "*i32" }
constexprs = { BLOCK = 128 }
"""


def project(
    home: Path, *, targets: tuple[str, ...] = ("sm_90",), kernels: str = "launching.toml"
) -> Selection:
    """Select the kernels in ``kernels/``, after a copy to a folder of the test."""
    for path in KERNELS.parent.glob("launching*"):
        shutil.copy(path, home)
    (home / "matrix.toml").write_text(f'schema = 1\nkernels = ["{kernels}"]\n')
    return select(home / "matrix.toml", envs=RELEASES, targets=targets)


def build(selection: Selection) -> Built:
    with selection.open_store() as store:
        return building.build(selection, selection.context(store), selection.read_envs)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, built: Callable[[str], BuiltEnv]) -> Path:
    for env in RELEASES:
        built(env)
    return tmp_path_factory.mktemp("building")


@pytest.fixture(scope="module")
def bundle(home: Path) -> Built:
    return build(project(home))


@pytest.fixture(scope="module")
def folder(home: Path, bundle: Built) -> Path:
    return archive.write_archive(bundle, home / "carried", keep_text=True).parent


@pytest.fixture(scope="module")
def cells(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """(Kernel and variant, env) → the cell in the index."""
    index = json.loads((folder / "index.json").read_text())
    return {
        ("/".join(cell["cell"].split("/")[:2]), cell["cell"].split("/")[-1]): cell
        for cell in index["cells"]
    }


def test_folder_has_every_built_cell(
    cells: dict[tuple[str, str], dict[str, Any]], folder: Path
) -> None:
    """This includes cells whose launch is predicted to be refused."""
    assert set(cells) == {(variant, env) for variant in EXPECTED for env in RELEASES}
    assert {cell["object"] for cell in cells.values()} == {
        path.name for path in (folder / "objects").iterdir()
    }
    assert {path.name for path in (folder / "texts").iterdir()} == {
        path.name for path in (folder / "objects").iterdir()
    }


def test_parameters_are_the_run_time_arguments_and_scratch_memory(
    cells: dict[tuple[str, str], dict[str, Any]],
) -> None:
    def parameters(variant: str, env: str) -> list[str]:
        return [
            parameter.get("name") or parameter["scratch"]
            for parameter in cells[variant, env]["launch"]["parameters"]
        ]

    assert parameters("ticket/as_written", "triton-3.0.0") == [
        "source",
        "result",
        "counter",
        "size",
    ]
    assert parameters("ticket/as_written", "triton-3.9.0") == [
        "source",
        "result",
        "counter",
        "size",
        "global",
        "profile",
    ]
    for env in RELEASES:
        launch = cells["plus_one/right", env]["launch"]
        added = [(one["name"], one["packing"]) for one in launch["parameters"][3:6]]
        assert added == [("addend", "f32"), ("most", "f32"), ("block", "integer")]
        assert launch["defaults"] == {"addend": 1.0, "one": 1, "most": "inf", "block": 128}
        assert launch["constants"] == {"one": 1}
        assert launch["multiples"] == {"source": 16, "result": 16, "block": 16}


def test_clusters(cells: dict[tuple[str, str], dict[str, Any]]) -> None:
    for env in RELEASES:
        launch = cells["product/clustered", env]["launch"]
        assert (launch["num_ctas"], launch["cluster"], launch["grid_scale"]) == (
            2,
            [2, 1, 1],
            [2, 1, 1],
        )
        assert cells["product/plain", env]["launch"]["cluster"] is None


def test_folder_has_no_path_of_this_machine(folder: Path, home: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            assert str(home).encode() not in path.read_bytes(), path


def test_releases_are_in_order_and_share_problems(folder: Path) -> None:
    index = json.loads((folder / "index.json").read_text())
    assert [cell["cell"].split("/")[-1] for cell in index["cells"]] == list(RELEASES) * len(
        EXPECTED
    )
    assert {entry["function"] for entry in index["problems"].values()} == {
        "plus_one",
        "tickets",
        "product",
    }
    for problem in index["problems"].values():
        assert (folder / problem["source"]).is_file()


def test_second_build_is_equal_and_compiles_nothing(
    home: Path, bundle: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "compat.engine.run._RunningCells.compile_all",
        lambda _, missing: pytest.fail("compiled again") if missing else None,
    )
    again = build(project(home))
    assert again == bundle


def test_matrix_and_build_share_compiles(
    home: Path, bundle: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The home was built first.

    The matrix reuses these compiles, and a build reuses the matrix's compiles.
    """
    selection = project(home)
    with selection.open_store() as store:
        context = selection.context(store).with_envs(selection.read_envs(home, selection.envs))
        results = run(selection.cells, context)
        assert all(result.cached for result in results)
        monkeypatch.setattr("compat.launch.building.run", lambda *_: pytest.fail("compiled again"))
        launchable = _launchables(results, context)
        assert {item.cell for item in bundle.launchable} == {
            item.cell for item in launchable if isinstance(item, Launchable)
        }


def test_cell_that_was_compiled_without_its_problem_is_launchable(
    tmp_path: Path, built: Callable[[str], BuiltEnv]
) -> None:
    with_problem = BAD[: BAD.rindex("[[kernel]]")]
    without = with_problem.replace("problem = {", "# {")
    for text, is_cached in ((without, 0), (with_problem, 1)):
        (tmp_path / "one.toml").write_text(text)
        selection = project(tmp_path, kernels="one.toml")
        with selection.open_store() as store:
            context = selection.context(store)
            context = context.with_envs(selection.read_envs(tmp_path, selection.envs))
            results = run(selection.cells, context)
            assert [result.cached for result in results] == [bool(is_cached)] * len(RELEASES)
    assert len(build(selection).launchable) == len(RELEASES)


def test_packing_is_reproducible_and_leaves_out_results(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "results.jsonl").write_text("{}\n")
    first = archive.pack(folder).read_bytes()
    monkeypatch.chdir(folder)
    path = archive.pack(Path())
    assert path.read_bytes() == first
    with tarfile.open(path) as packed:
        names = set(packed.getnames())
    assert f"{folder.name}/launch.py" in names
    assert f"{folder.name}/results.jsonl" not in names


def test_results_stay_after_another_build_into_the_same_folder(folder: Path, bundle: Built) -> None:
    (folder / "results.jsonl").write_text("{}\n")
    archive.write_archive(evolve(bundle, launchable=bundle.launchable[:1]), folder)
    assert (folder / "results.jsonl").read_text() == "{}\n"
    assert len(list((folder / "objects").iterdir())) == 1


def test_folder_with_files_of_somebody_else_is_refused(tmp_path: Path, bundle: Built) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(SelectionError, match="the folder has files, and none is"):
        archive.write_archive(bundle, tmp_path)


def test_cells_that_do_not_compile_are_left_out_with_the_reason(
    tmp_path: Path, built: Callable[[str], BuiltEnv]
) -> None:
    (tmp_path / "bad.toml").write_text(BAD)
    bundle = build(project(tmp_path, kernels="bad.toml"))
    assert len(bundle.launchable) == len(bundle.omitted_cells) == 2
    assert all(omission.why.startswith("rejected (") for omission in bundle.omitted_cells)


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (("sm_80", "sm_90"), "expected one target"),
        (("gfx942",), "kernels for gfx942 cannot be launched"),
    ],
)
def test_build_needs_one_launchable_target(
    tmp_path: Path, targets: tuple[str, ...], message: str
) -> None:
    with pytest.raises(SelectionError, match=message):
        build(project(tmp_path, targets=targets))


def test_build_without_problems_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text(BAD.replace("problem = {", "# {"))
    with pytest.raises(SelectionError, match="none of the chosen kernels has a problem"):
        build(project(tmp_path, kernels="bad.toml"))
