"""The axes inside a failure, with the command that a user runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from compat.cli.commands import main

ROOT = Path(__file__).parents[2]
DOTS = (
    "--spec",
    str(ROOT / "tests" / "kernels" / "failures.toml"),
    "--variant",
    "dot_into_dot",
    "--target",
    "sm_90",
)
FENCED = ("--spec", str(ROOT / "tests" / "bisect" / "kernels.toml"), "--target", "sm_90")
CASES = f"""
schema = 1
kernel = "failures"
source = "{ROOT}/tests/kernels/failures.py"
function = "copy"
[signature]
source = "*fp32"
result = "*fp32"
size = "i32"
[[case]]
name = "few"
constexprs = {{ BLOCK = 64 }}
[[case]]
name = "more"
constexprs = {{ BLOCK = 128 }}
"""
LOWERING = "convert-triton-gpu-to-llvm"

pytestmark = [pytest.mark.wheels, pytest.mark.usefixtures("shared_project")]


def bisect(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["bisect", *arguments])


def answer(*arguments: str) -> dict[str, Any]:
    """The only answer of the command, from its JSON."""
    done = bisect(*arguments, "--json")
    assert done.exit_code == 0, done.output
    (entry,) = json.loads(done.stdout)
    return dict(entry["answer"])


# --- part -----------------------------------------------------------------------------------------


def test_part_between_given_releases_is_shown_with_its_steps() -> None:
    done = bisect(*DOTS, "--axis", "part", "--good", "3.1", "--bad", "3.2")
    assert done.exit_code == 0, done.output
    first, *steps = done.stdout.splitlines()
    assert first.startswith(
        "failures/dot_into_dot/only/sm_90/triton-3.2.0: The break is in the MLIR passes"
    )
    assert "  TTIR made by 3.1.0, compiled by 3.2.0: fails the same way." in steps


def test_ptxas_of_named_cuda_releases_is_tried() -> None:
    part = answer(
        *FENCED,
        "--axis",
        "part",
        "--good",
        "3.4.0",
        "--bad",
        "3.3.0",
        "--ptxas",
        "12.9.86",
        "--ptxas",
        "12.4.131",
    )
    assert part["name"] == "ptxas"
    assert part["sentence"].endswith("With the ptxas of CUDA 12.9.86, 3.3.0 is ok.")
    assert part["steps"][-2] == "3.3.0 with the ptxas of CUDA 12.9.86: ok."
    assert part["steps"][-1] == "3.3.0 with the ptxas of CUDA 12.4.131: fails the same way."


def test_other_ptxas_is_tried_for_a_kernel_that_works_in_no_release() -> None:
    old = ("--axis", "part", "--releases", "~=3.2.0")
    part = answer(*FENCED, *old, "--ptxas", "12.4")
    assert (part["name"], part["sentence"]) == (
        "unknown",
        (
            "The failure is not in this ptxas alone, but in its input: the others that were tried"
            " reject it the same way."
        ),
    )
    part = answer(*FENCED, *old, "--ptxas", "13")
    assert part["name"] == "unknown"
    assert "got CUDA version: 13." in part["steps"][0], (
        "3.2 will not have an assembler that it has never heard of"
    )
    assert part["steps"][1].startswith("The PTX of 3.2.0, assembled with the ptxas of CUDA 13.")
    assert "requires PTX ISA .version 8.6 or later" in part["steps"][1]
    part = answer(*FENCED, "--axis", "part", "--releases", "~=3.3.0", "--ptxas", "12.9.86")
    assert (part["name"], part["sentence"]) == (
        "ptxas",
        "The failure is in ptxas: with that of CUDA 12.9.86, 3.3.0 is ok.",
    )


def test_no_other_ptxas_is_tried_for_a_failure_before_ptxas() -> None:
    part = answer(*DOTS, "--axis", "part", "--good", "3.1", "--bad", "3.2", "--ptxas", "12.4")
    assert (part["name"], part["steps"][1]) == (
        "MLIR passes",
        "No other ptxas was tried: it fails before the assembler runs.",
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--axis", "part", "--ptxas", "nowhere/ptxas"), "--ptxas: there is no file nowhere/ptxas"),
        (("--axis", "part", "--ptxas", __file__), f"--ptxas: {__file__} cannot be executed"),
        (
            ("--axis", "part", "--ptxas", "newest"),
            "--ptxas: 'newest' is neither a file nor a release of CUDA",
        ),
        (
            ("--axis", "part", "--ptxas", "12.99"),
            "--ptxas: there is no nvidia-cuda-nvcc-cu12 12.99",
        ),
        (("--ptxas", "12.9"), "--ptxas: only --axis part tries other assemblers"),
        (
            ("--axis", "part", "--releases", "~=3.2.0"),
            "no change between releases, so no part is to blame",
        ),
    ],
)
def test_request_that_cannot_be_tried_is_an_error(arguments: tuple[str, ...], says: str) -> None:
    done = bisect(*FENCED, *arguments)
    assert done.exit_code == 3
    assert f"{says}" in done.stderr


# --- pass -----------------------------------------------------------------------------------------


def test_the_pass_in_one_release() -> None:
    pass_answer = answer(*DOTS, "--axis", "pass", "--bad", "3.2")
    assert (pass_answer["pass"], pass_answer["stage"]) == (LOWERING, "llir")
    assert list(Path(pass_answer["folder"]).glob(f"*-{LOWERING}.mlir"))


@pytest.mark.parametrize(
    ("ends", "begins", "folders"),
    [
        ((), "triton-3.9.0 compiles it, so no pass fails.", set()),
        (
            ("--patches", "--good", "3.4.0", "--bad", "3.3.1"),
            f"Their IR is the same, ignoring names, up to {LOWERING}, which fails in triton-3.3.1"
            " alone.",
            {"good", "bad"},
        ),
    ],
)
def test_the_pass_between_two_releases_and_that_the_judge_has_no_part_in_it(
    ends: tuple[str, ...], begins: str, folders: set[str]
) -> None:
    pass_answer = answer(*DOTS, "--axis", "pass", "--judge", "registers>16", *ends)
    assert pass_answer["sentence"].startswith(begins)
    assert "The judge `registers>16` has no part in this answer: " in pass_answer["sentence"]
    saved = {path.name for path in Path(pass_answer["folder"] or "nowhere").glob("*")}
    assert saved >= folders


def test_the_pass_between_two_cases(tmp_path: Path) -> None:
    (tmp_path / "cases.toml").write_text(CASES)
    few = ("--spec", str(tmp_path / "cases.toml"), "--case", "few", "--target", "sm_90")
    done = bisect(*few, "--axis", "pass", "--against", "more")
    assert done.exit_code == 0, done.output
    assert "the difference comes from the front end" in done.stdout
    assert "  --- good (more)\n  +++ bad (few)\n" in done.stdout
    done = bisect(*few, "--axis", "pass", "--against", "d12")
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (3, "  hint: Available: few, more.")


# --- config ---------------------------------------------------------------------------------------


def test_config_axis_finds_nothing_if_the_kernel_works() -> None:
    done = bisect(*DOTS, "--axis", "config")
    assert (
        done.exit_code,
        "it works on this release, so there is nothing to find" in done.stdout,
    ) == (1, True)


@pytest.fixture(autouse=True, scope="module")
def _releases(built: Callable[[str], object]) -> None:
    """Build all envs at once, so that no test pays for an env that another test needs too."""
    for release in ("3.1.0", "3.2.0", "3.3.0", "3.3.1", "3.4.0", "3.9.0"):
        built(f"triton-{release}")
