"""Which cells patterns select, and the settings with which they are compiled."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from compat.errors import ConfigError, SelectionError, StoreError
from compat.matrix import run_matrix
from compat.model import Status
from compat.processes.supervisor import AVAILABLE_CORES
from compat.project import KEEP_WORKERS, Patterns, Selection, no_cells, select
from compat.report.folder import write_reports
from tests.commands import invoked

MATRIX = """
schema = 1
kernels = ["one.toml"]
env = [{ triton = "3.1.0", groups = ["default"] }, { triton = "3.9.0" }]
defaults = { targets = ["sm_90"], deadline = 7, keep_workers = 11 }
"""
KERNEL = """
schema = 1
kernel = "NAME"
source = "k.py"
signature = { x = "*fp32" }
case = [{ name = "small" }, { name = "large" }]
variant = [{ name = "v", function = "k" }, { name = "w", function = "k" }]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "matrix.toml").write_text(MATRIX)
    for name in ("one", "two"):
        (tmp_path / f"{name}.toml").write_text(KERNEL.replace("NAME", name))
    (tmp_path / "k.py").write_text("def k(x): ...\n")
    monkeypatch.setenv("COMPAT_ENVS", str(tmp_path / "envs"))
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv(KEEP_WORKERS, raising=False)
    return tmp_path


def ids(selection: Selection) -> list[str]:
    return [cell.id for cell in selection.cells]


def test_a_selection_without_patterns_is_that_of_the_file(project: Path) -> None:
    chosen = select(project / "matrix.toml")
    assert ids(chosen) == [
        f"one/{variant}/{case}/sm_90/triton-3.1.0"
        for variant in "vw"
        for case in ("small", "large")
    ]
    assert (chosen.root, chosen.state) == (project, project / ".compat")
    assert len(chosen.kernels) == 4


def test_options_of_a_selection_are_printable(project: Path) -> None:
    file = project / os.fsdecode(b"caf\xe9.toml")
    (project / "one.toml").rename(file)
    chosen = select(project / "matrix.toml", kernel_files=[str(file)])
    assert chosen.options[-1] == f"{project}/caf\\udce9.toml"


def test_patterns_narrow_and_widen_a_selection(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    chosen = select(
        Path("matrix.toml"),
        envs=["*"],
        targets=["sm_8?"],
        kernel_files=["t*.toml"],
        variants=["w"],
        cases=["s*"],
    )
    assert {*ids(chosen)} == {
        f"two/w/small/{sm}/triton-{release}"
        for sm in ("sm_80", "sm_86", "sm_89")
        for release in ("3.1.0", "3.9.0")
    }
    assert chosen.patterns == Patterns(
        envs=("*",), targets=("sm_8?",), kernel_files=("t*.toml",), variants=("w",), cases=("s*",)
    )
    other = chosen.with_patterns(targets=[], cases=["large"])
    assert ids(other) == ["two/w/large/sm_90/triton-3.1.0", "two/w/large/sm_90/triton-3.9.0"]
    assert other.patterns.kernel_files == ("t*.toml",)


def test_a_kernel_without_a_default_target_is_compiled_for_its_own_targets(
    project: Path,
) -> None:
    text = KERNEL.replace("NAME", "one").replace(
        "schema = 1\n", 'schema = 1\ntargets = ["sm_10?"]\n'
    )
    (project / "one.toml").write_text(text)
    chosen = select(project / "matrix.toml", variants=["v"], cases=["small"])
    assert ids(chosen) == ["one/v/small/sm_100/triton-3.1.0"]
    assert not select(project / "matrix.toml", targets=["sm_80"]).cells
    (project / "two.toml").write_text(
        KERNEL.replace("NAME", "two").replace(
            "schema = 1\n", 'schema = 1\ntargets = ["sm_90", "sm_100"]\n'
        )
    )
    both = select(
        project / "matrix.toml",
        variants=["v"],
        cases=["small"],
        kernel_files=[str(project / "[ot]*.toml")],
    )
    assert ids(both) == ["one/v/small/sm_100/triton-3.1.0", "two/v/small/sm_90/triton-3.1.0"]


def test_a_toolchain_without_a_default_target_uses_its_usual_targets(
    project: Path,
) -> None:
    text = (
        KERNEL.replace("NAME", "one")
        .replace('"*fp32"', '"fp32[n]"')
        .replace("schema = 1\n", 'schema = 1\ntoolchain = "cute"\n')
    )
    (project / "one.toml").write_text(text)
    chosen = select(project / "matrix.toml", variants=["v"], cases=["small"], envs=["cute-4.8.1"])
    assert ids(chosen) == ["one/v/small/sm_90a/cute-4.8.1"]


def test_a_pattern_that_matches_nothing_is_an_error(project: Path) -> None:
    matrix = project / "matrix.toml"
    wrong: dict[str, Any] = {
        "envs": ["no"],
        "targets": ["no"],
        "kernels": ["two"],
        "variants": ["x"],
        "cases": ["x"],
    }
    for name, patterns in wrong.items():
        with pytest.raises(SelectionError, match="matches"):
            select(matrix, **{name: patterns})
    with pytest.raises(ConfigError, match="no kernel file matches"):
        select(matrix, kernel_files=["none.toml"])
    (project / "other.toml").write_text('kernels = ["none.toml"]\n')
    with pytest.raises(ConfigError, match=r"other\.toml: kernels\[0\]: no kernel file matches"):
        select(project / "other.toml")
    with pytest.raises(ConfigError, match="there is no such file"):
        select(project / "none.toml")


@pytest.mark.parametrize(
    ("kernel", "target", "message"),
    [
        (
            'targets = ["sm_80"]',
            "sm_90",
            "no chosen kernel is for a chosen target; the kernels are for sm_80",
        ),
        (
            'toolchain = "cute"',
            "sm_90a",
            "no chosen env or target is for the toolchain of a chosen kernel",
        ),
    ],
)
def test_error_about_no_cell_names_what_does_not_go_together(
    kernel: str, target: str, message: str, project: Path
) -> None:
    text = KERNEL.replace("NAME", "one").replace("schema = 1\n", f"schema = 1\n{kernel}\n")
    text = text.replace('"*fp32"', '"fp32[n]"') if "cute" in kernel else text
    (project / "one.toml").write_text(text)
    chosen = select(project / "matrix.toml", targets=[target])
    chosen = evolve(chosen, envs=tuple(env for env in chosen.envs if env.toolchain == "triton"))
    assert not chosen.cells
    assert message in str(no_cells(chosen))


def test_matrix_without_kernels_says_how_to_name_them(project: Path) -> None:
    (project / "matrix.toml").write_text(MATRIX.replace('kernels = ["one.toml"]', ""))
    with pytest.raises(ConfigError, match="there are no kernels to compile") as error:
        select(project / "matrix.toml")
    assert "compat init FILE.py" in str(error.value.hint)


def test_kernel_that_is_not_found_may_be_in_an_invalid_file(project: Path) -> None:
    (project / "two.toml").write_text("kernel = ")
    files = [str(project / name) for name in ("one.toml", "two.toml")]
    matrix = project / "matrix.toml"
    with pytest.raises(ConfigError, match=r"two\.toml"):
        select(matrix, kernels=["two"], kernel_files=files)
    assert select(matrix, kernels=["one"], kernel_files=files).problems
    with pytest.raises(ConfigError, match=r"two\.toml"):
        select(matrix, kernel_files=files[1:])


def test_a_kernel_whose_file_and_source_are_both_named_is_selected_once(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    (project / "k.py").write_text("import triton\n\n\n@triton.jit\ndef k(x):\n    pass\n")
    once = ids(select(kernel_files=["one.toml"]))
    assert len(once) == 4
    assert ids(select(kernel_files=["k.py"])) == once
    assert ids(select(kernel_files=["k.py", "one.toml"])) == once


def test_a_named_kernel_without_a_cell_is_known_and_printed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    text = KERNEL.replace("NAME", "two").replace(
        "schema = 1\n", 'schema = 1\ntargets = ["sm_80"]\n'
    )
    (project / "two.toml").write_text(text)
    options = ("--spec", "[ot]*.toml", "--kernel", "one,t*", "--target", "sm_90")
    shown = invoked("list", "cells", *options, "--shard", "2/2")
    assert shown.stderr == (
        "note: the chosen variants, cases, targets and envs leave no cell of t*\n"
    )
    chosen = partial(select, kernel_files=["[ot]*.toml"])
    assert chosen(kernels=["one,two"], targets=["sm_90"]).kernels_without_cells == ("two",)
    assert chosen(kernels=["one", "two"]).kernels_without_cells == ()
    assert chosen(kernels=["two"], targets=["sm_90"]).kernels_without_cells == ()
    assert chosen(targets=["sm_90"]).kernels_without_cells == ()


def test_a_context_has_the_settings_of_the_file_unless_overridden(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = select(project / "matrix.toml")
    with chosen.open_store() as store:
        usual = chosen.context(store)
        assert (usual.limits.deadline, usual.slots, usual.again, usual.idle_timeout) == (
            7.0,
            AVAILABLE_CORES,
            False,
            11.0,
        )
        context = chosen.context(store, deadline=2.5, jobs=3, again=True)
        assert (context.limits.deadline, context.slots, context.again) == (2.5, 3, True)
        monkeypatch.setenv("CI", "true")
        assert chosen.context(store).idle_timeout == 0.0, "nobody gives a second command there"
        for value, seconds in (("4.5", 4.5), ("-1", 0.0)):
            monkeypatch.setenv(KEEP_WORKERS, value)
            assert chosen.context(store).idle_timeout == seconds
        for value in ("soon", "nan", "inf"):
            monkeypatch.setenv(KEEP_WORKERS, value)
            with pytest.raises(SelectionError, match="is not a number"):
                chosen.context(store)


def test_the_report_of_a_missing_env_says_that_the_env_is_broken(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    chosen = select(project / "matrix.toml", variants=["v"], cases=["small"])
    with chosen.open_store() as store:
        report = run_matrix(chosen, chosen.context(store), command="a program")
    assert [result.outcome.status for result in report.results] == [Status.ENV_BROKEN]
    assert (report.command, len(report.unexpected_results), len(report.envs)) == ("a program", 1, 1)
    assert [path.name for path in write_reports(report, project / "out")] == [
        "index.html",
        "matrix.md",
        "matrix.json",
    ]
    with pytest.raises(StoreError, match="could not be written"):
        write_reports(report, project / "k.py")
    assert capfd.readouterr() == ("", "")


def test_with_envs_replaces_the_envs_of_a_context(project: Path) -> None:
    chosen = select(project / "matrix.toml", envs=["*"])
    one, other = chosen.read_envs(chosen.config.path, chosen.envs)
    with chosen.open_store() as store:
        context = chosen.context(store).with_envs([one]).with_envs([other])
    assert dict(context.envs) == {"triton-3.9.0": other}
