"""One ``matrix.toml`` with envs and kernels of two toolchains: each kernel is tried only in its own
toolchain.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from attrs import evolve

from compat import explain, toolchains
from compat import project as projects
from compat.bisect.candidates import CandidateQuery
from compat.bisect.request import BisectRequest, line_of
from compat.engine import run as engine
from compat.engine.run import RunContext, run
from compat.envs.listing import list_files
from compat.errors import SelectionError
from compat.model import BuiltEnv, Cell, CompletedAction, Env, Evidence
from compat.project import Selection
from compat.repro import reproducing
from compat.store.store import Store
from tests.toolchains.test_toy import (
    KERNEL,
    MATRIX,
    RELEASES,
    SOURCE,
    compat,
    project,
    registered,
    toy_toolchain,
)

__all__ = ["project", "registered", "toy_toolchain"]

TRITONS = (
    KERNEL.replace('"sums"', '"scale"', 1)
    .replace('toolchain = "toy"\n', "")
    .replace("kernel.py", "scale.py")
)
OTHERS = '{ triton = "3.1.0" }, { triton = "3.9.0", groups = ["releases"] }, { toy = "1.0"'


@pytest.fixture
def mixed(project: Path) -> Path:
    """The toy's project with envs of Triton and a kernel for Triton added."""
    text = MATRIX.replace('{ toy = "1.0"', OTHERS).replace(
        '["kernel.toml"]', '["kernel.toml", "scale.toml"]'
    )
    (project / "matrix.toml").write_text(text + '[defaults]\ntargets = ["toy_*", "sm_90"]\n')
    (project / "scale.toml").write_text(TRITONS)
    (project / "scale.py").write_text(SOURCE)
    return project


@pytest.fixture
def selection(mixed: Path, toy_toolchain: None) -> Selection:
    return projects.select(mixed / "matrix.toml", envs=["*"])


def only(selection: Selection, kernel: str) -> Selection:
    return selection.with_patterns(kernels=[kernel])


def test_commands_try_a_kernel_in_its_own_toolchain_only(mixed: Path, registered: Path) -> None:
    compat(mixed, registered, "matrix", "--kernel", "sums", code=1)
    cells = [
        cell["id"] for cell in json.loads((mixed / "reports" / "matrix.json").read_text())["cells"]
    ]
    assert len(cells) == 2 * len(RELEASES)
    assert all("/toy_t1/toy-" in cell for cell in cells)

    for candidates in (["--envs", "*"], [], ["--find-links", str(mixed.parent / "simple" / "toy")]):
        (answer,) = json.loads(
            compat(
                mixed,
                registered,
                "bisect",
                "--variant",
                "adding",
                "--kernel",
                "sums",
                "--json",
                *candidates,
            )
        )
        assert [probe["toy"] for probe in answer["probes"]] == list(RELEASES), candidates
        assert (answer["bracket"]["last_good"], answer["bracket"]["first_bad"]) == ("1.1", "1.2")

    explanation = compat(mixed, registered, "explain", "sums/adding/twice/toy_t1/toy-1.3")
    assert "removed in 1.2" in explanation

    output = compat(mixed, registered, "reduce", "sums/adding/twice/toy_t1/toy-1.3")
    assert "left out" not in output
    assert "3.9.0" not in (mixed / "reduced" / "sums-adding-twice.toml").read_text()
    output = compat(
        mixed,
        registered,
        "reduce",
        "sums/adding/twice/toy_t1/toy-1.3",
        "--good",
        "triton-3.9.0",
        code=3,
    )
    assert "triton-3.9.0 does not match an env of toy, which the kernel is for" in output


def test_bisect_refuses_kernels_and_envs_of_different_toolchains(
    mixed: Path, registered: Path
) -> None:
    output = compat(mixed, registered, "bisect", "--envs", "*", code=3)
    assert (
        "--kernel: the kernels are for several toolchains: sums for Toy, scale for Triton" in output
    )
    output = compat(mixed, registered, "bisect", "--kernel", "sums", "--envs", "triton-*", code=3)
    assert "--envs: none of these envs has Toy, which the kernels are for" in output


def test_selection_without_cells_is_an_error(mixed: Path, registered: Path) -> None:
    output = compat(mixed, registered, "bisect", "--kernel", "sums", "--target", "sm_90", code=3)
    assert (
        "--target: none of the chosen targets is one of Toy\n  hint: Its targets: toy_t1." in output
    )
    for command in (("matrix",), ("list", "cells")):
        output = compat(
            mixed, registered, *command, "--kernel", "sums", "--envs", "triton-*", code=3
        )
        assert (
            "no chosen env or target is for the toolchain of a chosen kernel\n"
            "  hint: The kernels are for Toy, with the targets toy_t1." in output
        )


def test_kernels_are_selected_with_targets_and_envs_of_their_toolchain(
    selection: Selection,
) -> None:
    assert {(spec.kernel, target.name) for spec, target in selection.kernels} == {
        ("sums", "toy_t1"),
        ("scale", "sm_90"),
    }
    assert {(cell.spec.kernel, cell.env.toolchain) for cell in selection.cells} == {
        ("sums", "toy"),
        ("scale", "triton"),
    }


def test_candidates_are_of_the_kernels_toolchain(
    selection: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", (selection.root.parent / "simple").as_uri())
    sums_selection = evolve(only(selection, "sums"), patterns=projects.Patterns())
    line = line_of(BisectRequest(selection=sums_selection, query=CandidateQuery(patches=True)))
    assert [candidate.env.name for candidate in line.candidates.chosen] == [
        f"toy-{release}" for release in RELEASES
    ]
    assert list_files("triton", ["file:///nowhere"], cache=selection.state).files == ()
    with pytest.raises(SelectionError, match="no release of triton is left"):
        line_of(
            BisectRequest(selection=evolve(only(selection, "scale"), patterns=projects.Patterns()))
        )


def asked_of_the_store(monkeypatch: pytest.MonkeyPatch) -> list[Cell]:
    """The cells that are looked up from now on. Every env counts as built."""
    lookups: list[Cell] = []

    def nothing_known(cells: Sequence[Cell], context: RunContext) -> tuple[()]:
        lookups.extend(cells)
        return ()

    monkeypatch.setattr(engine, "read_env", lambda env, _: BuiltEnv(env=env))
    monkeypatch.setattr(engine, "read_unchecked_env", lambda env, _: BuiltEnv(env=env))
    monkeypatch.setattr(engine, "stored_results", nothing_known)
    return lookups


def test_recalled_cells_are_of_the_kernels_toolchain(
    selection: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = asked_of_the_store(monkeypatch)
    with selection.open_store() as store:
        engine.recall(selection.kernels, selection.context(store), selection.config, besides=())
    assert {(cell.spec.kernel, cell.env.toolchain, cell.target.name) for cell in cells} == {
        ("sums", "toy", "toy_t1"),
        ("scale", "triton", "sm_90"),
    }


def test_releases_of_two_toolchains_may_have_the_same_number(
    selection: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = asked_of_the_store(monkeypatch)
    toy = next(env for env in selection.config.envs if env.name == "toy-1.0")
    besides = [BuiltEnv(env=evolve(toy, toolchain="triton", distribution="triton"))]
    with selection.open_store() as store:
        engine.recall(
            selection.kernels, selection.context(store), selection.config, besides=besides
        )
    assert "toy-1.0" in {cell.env.name for cell in cells}


def test_results_of_damaged_envs_are_not_recalled(
    selection: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_env(env: Env, _: object) -> BuiltEnv:
        return BuiltEnv(env=env, error="damaged" if env.name == "toy-1.0" else None)

    def every_result(cells: Sequence[Cell], _: RunContext) -> list[SimpleNamespace]:
        return [SimpleNamespace(cell=cell) for cell in cells]

    monkeypatch.setattr(engine, "read_env", read_env)
    monkeypatch.setattr(engine, "read_unchecked_env", lambda env, _: BuiltEnv(env=env))
    monkeypatch.setattr(engine, "stored_results", every_result)
    with selection.open_store() as store:
        results = engine.recall(
            selection.kernels, selection.context(store), selection.config, besides=()
        )
    names = {result.cell.env.name for result in results}
    assert "toy-1.1" in names
    assert "toy-1.0" not in names


def test_evidence_of_damaged_envs_is_not_explained(
    selection: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look_at(_: Selection, env: Env) -> BuiltEnv:
        return BuiltEnv(env=env, error="damaged" if env.name == "toy-1.0" else None)

    compiled = (Evidence(answered=True, done=(CompletedAction(do="compile"),)),)
    monkeypatch.setattr(Selection, "look_at", look_at)
    monkeypatch.setattr(explain, "read_unchecked_env", lambda env, _: BuiltEnv(env=env))
    monkeypatch.setattr(Store, "read", lambda _, keys, **limits: dict.fromkeys(keys, compiled))
    with selection.open_store() as store:
        attempts = explain.StoredCells(selection, store).attempts(selection.cells)
    names = {cell.env.name for cell in attempts}
    assert "toy-1.1" in names
    assert "toy-1.0" not in names


def test_table_of_an_issue_has_targets_of_one_toolchain(selection: Selection) -> None:
    for kernel, targets in (("sums", ["toy_t1"]), ("scale", ["sm_90"])):
        cell = next(cell for cell in selection.cells if cell.spec.kernel == kernel)
        assert [target.name for target in reproducing.repro_targets(selection, cell)] == targets


def test_run_refuses_a_cell_whose_env_has_another_toolchain(selection: Selection) -> None:
    toys = next(cell for cell in selection.cells if cell.env.toolchain == "toy")
    wrong = evolve(toys, env=Env(name="triton-3.9.0"))
    with selection.open_store() as store:
        context = evolve(
            selection.context(store),
            envs={"triton-3.9.0": BuiltEnv(env=wrong.env)},
            stop=threading.Event(),
        )
        with pytest.raises(
            ValueError, match=r"triton-3\.9\.0: the env is of triton, the kernel is for toy"
        ):
            run([wrong], context)


@pytest.mark.usefixtures("toy_toolchain")
def test_is_release_accepts_only_published_releases() -> None:
    releases = [Env(name="a", release=toolchains.DEFAULT.oldest), Env(name="b")]
    assert [toolchains.is_release(env) for env in releases] == [True, False]
    assert not toolchains.is_release(evolve(releases[0], distribution="triton-fork"))
    assert not toolchains.is_release(evolve(releases[0], toolchain="toy"))
    assert not toolchains.is_release(evolve(releases[0], wheel="/w/triton-3.0.0-py3-none-any.whl"))
