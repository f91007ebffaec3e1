"""Commands take kernels that a launch describes like any other kernels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from compat.cli.commands import main
from compat.config.kernel_files import load_kernels

ROOT = Path(__file__).parents[2]
LAUNCHED = (
    "--spec",
    str(ROOT / "tests/kernels/launched.toml"),
    "--target",
    "sm_90",
)
STEPPED = "launched/stepped/one/sm_90/triton-3.4.0"

pytestmark = pytest.mark.usefixtures("shared_project")


def compat_output(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(main, list(arguments))
    assert done.exit_code == code, done.output
    return done.stdout


def listed(what: str) -> list[dict[str, Any]]:
    return list(json.loads(compat_output("list", what, *LAUNCHED, "--envs", "3.3.1", "--json")))


def test_cells_are_listed() -> None:
    assert [cell["case"] for cell in listed("cells")] == ["one", "three", "one"]
    assert {kernel["function"] for kernel in listed("kernels")} == {"strided", "stepped"}


@pytest.mark.wheels
def test_an_annotated_argument_of_1_is_not_specialized_from_3_4_on(tmp_path: Path) -> None:
    command = [
        "matrix",
        *LAUNCHED,
        "--variant",
        "strided",
        "--envs",
        "3.3.1,3.4.0",
        "--output",
        str(tmp_path),
        "--json",
    ]
    cells = json.loads(compat_output(*command))["cells"]
    sizes = {(cell["triton"], cell["case"]): cell["metrics"]["artifacts"]["ptx"] for cell in cells}
    assert sizes["3.3.1", "one"] < sizes["3.3.1", "three"]
    assert sizes["3.4.0", "one"] == sizes["3.4.0", "three"]


@pytest.mark.wheels
def test_bisect_and_explain_take_a_launched_kernel() -> None:
    (answer,) = json.loads(
        compat_output(
            "bisect",
            *LAUNCHED,
            "--variant",
            "stepped",
            "--releases",
            ">=3.3.1,<3.5",
            "--patches",
            "--json",
        )
    )
    assert answer["verdict"] == "regressed in 3.4.0"
    explained = compat_output("explain", STEPPED, *LAUNCHED)
    assert (
        "    launch: source=*fp16, result=*fp16, stride=1, unused=None\n    constexprs: none\n   "
        " options: num_warps=4\n" in explained
    )
    assert "divisible" not in explained
    config = compat_output(
        "bisect",
        *LAUNCHED,
        "--axis",
        "config",
        "--variant",
        "stepped",
        "--case",
        "one",
        "--envs",
        "3.4.0",
    )
    assert "No single change of a constexpr, an option or an argument makes it ok" in config


@pytest.mark.wheels
def test_reduce_keeps_the_arguments_of_the_launch_that_the_failure_needs(tmp_path: Path) -> None:
    """The reduced kernel keeps the annotation, which the failure needs.

    The test takes a few seconds, because it compiles the candidates.
    """
    matrix = tmp_path / "matrix.toml"
    # A reduction tries every release of the matrix.
    matrix.write_text('schema = 1\nenv = [{ triton = "3.3.1" }, { triton = "3.4.0" }]\n')
    places = ("--matrix", str(matrix), *LAUNCHED)
    compat_output("reduce", STEPPED, *places, "--only", "--output", str(tmp_path / "small.py"))
    (small,) = load_kernels([str(tmp_path / "small.toml")], tmp_path)
    assert small.compile.launch == {"stride": 1}
    assert "stride: int" in (tmp_path / "small.py").read_text()
