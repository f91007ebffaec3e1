"""The best configs of ``compat tune`` in a guard, and what a library gets from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from compat.cli.commands import main
from compat.errors import StoreError
from compat.guard import Request, check_guard, guard_text, make_guard, read_configs, read_guard
from compat.guard.checking import guard_check_lines
from compat.report.views.tune import tune_document
from tests.records import TARGETS
from tests.report.factory import expected_matrix
from tests.tune.test_answers import INVERTED, measured

WARPS = {
    "sel_dense": {
        "loop_1d": {"d64": {"sm_90": {"3.0.0": {"num_warps": 1}, "3.2.0": {"num_warps": 2}}}}
    }
}
"""The best configs of :data:`INVERTED`, for another kernel."""


def tuned(folder: Path, **other: Any) -> Path:
    """Write the answers for INVERTED, as ``compat tune --json`` prints them, for sel_dense."""
    (answer,) = tune_document([INVERTED])["answers"]
    answer |= {"kernel": "sel_dense", "variant": "loop_1d", "workload": "d64", **other}
    path = folder / "tuned.json"
    path.write_text(json.dumps({"schema": 1, "answers": [answer]}))
    return path


def library(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "guard"}
    exec(compile(text, "guard.py", "exec"), names)
    return names


@pytest.fixture
def best(tmp_path: Path) -> Callable[..., dict[str, object] | None]:
    guard = make_guard(
        expected_matrix(), Request(kernels=("sel_dense",)), read_configs(tuned(tmp_path))
    )
    text = guard_text(guard)
    assert read_guard(text).configs == guard.configs == WARPS
    best_config: Callable[..., dict[str, object] | None] = library(text)["best_config"]
    return best_config


@pytest.mark.parametrize(
    ("release", "target", "warps"),
    [
        ("3.0.0", "sm_90", 1),
        ("3.1.0", (9, 0), 1),
        ("3.1.0", [9, 0], 1),
        ("3.2.0", "sm_90", 2),
        ("3.3.1", "sm_90", 2),
        ("4.0.0", "sm_90", 2),  # newer than every timed release
        ("2.1.0", "sm_90", 1),
        ("3.2.0+git1", "sm_90", 2),
        ("3.2.0", "sm_80", None),
        ("unknown", "sm_90", None),
    ],
)
def test_the_newest_timed_release_decides(
    best: Callable[..., dict[str, object] | None], release: str, target: object, warps: int | None
) -> None:
    expected = None if warps is None else {"num_warps": warps}
    assert best("sel_dense", "loop_1d", "d64", release, target) == expected


def test_change_of_a_returned_config_does_not_change_the_guard(
    best: Callable[..., dict[str, object] | None],
) -> None:
    config = best("sel_dense", "loop_1d", "d64", "3.0.0", "sm_90")
    assert config is not None
    config["num_warps"] = 32
    assert best("sel_dense", "loop_1d", "d64", "3.0.0", "sm_90") == {"num_warps": 1}


@pytest.mark.parametrize(
    "workload",
    [("other", "loop_1d", "d64"), ("sel_dense", "v", "d64"), ("sel_dense", "loop_1d", "x")],
)
def test_an_unknown_workload_is_an_error(
    best: Callable[..., object], workload: tuple[str, str, str]
) -> None:
    with pytest.raises(ValueError, match=f"this guard has no configs of {'/'.join(workload)}"):
        best(*workload, "3.0.0", "sm_90")


def test_guard_without_configs_raises_an_error() -> None:
    guard = make_guard(expected_matrix(), Request(kernels=("sel_dense",)))
    with pytest.raises(ValueError, match="this guard has no configs of sel_dense/loop_1d/d64"):
        library(guard_text(guard))["best_config"]("sel_dense", "loop_1d", "d64", "3.9.0", "sm_90")


def test_guard_has_configs_for_a_target_that_only_tuning_covers(tmp_path: Path) -> None:
    assert "sm_120" not in {target.name for target in TARGETS}
    guard = make_guard(
        expected_matrix(),
        Request(kernels=("sel_dense",)),
        read_configs(tuned(tmp_path, target="sm_120")),
    )
    best = library(guard_text(guard))["best_config"]
    assert best("sel_dense", "loop_1d", "d64", "3.9.0", "sm_120") == {"num_warps": 2}


def test_guard_has_only_configs_of_its_kernels_and_a_check_covers_them(tmp_path: Path) -> None:
    path = tuned(tmp_path)
    other = make_guard(expected_matrix(), Request(kernels=("sel_varlen",)), read_configs(path))
    assert other.configs == {}
    guard = make_guard(expected_matrix(), Request(kernels=("sel_dense",)), read_configs(path))
    assert check_guard(guard_text(guard), expected_matrix()).agrees
    assert "guard --kernel sel_dense --tuned TUNED.json --out FILE\n" in guard_text(guard)
    damaged = guard_text(guard).replace('"num_warps": 2', '"num_warps": 4')
    checked = check_guard(damaged, expected_matrix())
    assert not checked.intact
    *_, line = guard_check_lines(checked, "g.py", "")
    assert line == ("write it again: compat guard --kernel sel_dense --tuned TUNED.json --out g.py")


def test_guard_returns_measured_configs(tmp_path: Path) -> None:
    (answer,) = tune_document([measured("layer_norm/whole_row/n16384")])["answers"]
    path = tmp_path / "tuned.json"
    answer |= {"kernel": "sel_dense", "variant": "loop_1d", "workload": "n16384"}
    path.write_text(json.dumps({"schema": 1, "answers": [answer]}))
    guard = make_guard(expected_matrix(), Request(kernels=("sel_dense",)), read_configs(path))
    best = library(guard_text(guard))["best_config"]
    warps = [
        best("sel_dense", "loop_1d", "n16384", release, "sm_90")["num_warps"]
        for release in ("3.7.1", "3.8.0", "3.9.0")
    ]
    assert warps == [32, 4, 16]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("no JSON", "cannot be read"),
        ("{}", "schema"),
        ('{"schema": 2, "answers": []}', "schema: expected 1, found 2"),
        ('{"schema": 1, "answers": [{"kernel": 3}]}', "answers"),
    ],
)
def test_invalid_file_of_answers_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "tuned.json"
    path.write_text(text)
    with pytest.raises(StoreError, match=says) as raised:
        read_configs(path)
    assert raised.value.where == str(path)


def test_answer_with_a_missing_config_is_refused(tmp_path: Path) -> None:
    path = tuned(tmp_path, configs=[])
    with pytest.raises(StoreError, match="cannot be read"):
        read_configs(path)


def test_answers_of_two_gpus_that_differ_are_refused(tmp_path: Path) -> None:
    path = tuned(tmp_path)
    document = json.loads(path.read_text())
    (answer,) = document["answers"]
    path.write_text(json.dumps(document | {"answers": [answer, answer | {"device": "other"}]}))
    assert read_configs(path) == WARPS
    other = answer | {"device": "other", "configs": list(reversed(answer["configs"]))}
    path.write_text(json.dumps(document | {"answers": [answer, other]}))
    with pytest.raises(StoreError, match="GPUs differ over the best configs of sel_dense/loop_1d"):
        read_configs(path)


def test_tuned_and_check_options_cannot_be_combined(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        main, ["guard", "--check", str(tmp_path / "g.py"), "--tuned", str(tuned(tmp_path))]
    )
    assert done.exit_code == 2
    assert "--tuned cannot be combined with --check" in done.output
