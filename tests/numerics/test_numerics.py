"""Comparison of outputs with references, and checks of problems, with the PyTorch of an env."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.model import BuiltEnv
from tests.forking import write_python

pytestmark = pytest.mark.wheels

NUMERICS = Path(__file__).parents[2] / "compat" / "toolchains" / "pytorch" / "numerics"
IN_PAIR = Path(__file__).with_name("in_pair.py")
PAIRS = ("triton-3.0.0-torch-2.4.1", "triton-3.5.1-torch-2.9.1")


@pytest.fixture(scope="module", params=PAIRS)
def answers(
    request: pytest.FixtureRequest,
    built: Callable[[str], BuiltEnv],
    tmp_path_factory: pytest.TempPathFactory,
) -> Any:
    """The check's answer for each problem, by name."""
    folder = tmp_path_factory.mktemp("problems")
    python = write_python(folder / "python", str(built(request.param).python), "torch")
    command = [python, str(IN_PAIR), str(NUMERICS), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_right_outputs_are_ok(answers: Any) -> None:
    assert answers["right"] == {
        "status": "ok",
        "max_abs": 0.0,
        "max_rel": 0.0,
        "where": "",
        "reason": "",
    }
    assert {
        name: answers[name]["status"]
        for name in ("near", "added", "started from", "started from the largest", "flags right")
    } == dict.fromkeys(
        ("near", "added", "started from", "started from the largest", "flags right"), "ok"
    )
    assert 1e-3 < answers["near"]["max_abs"] < 4e-3


def test_a_wrong_output_has_a_place_and_an_error(answers: Any) -> None:
    assert answers["far"]["status"] == "wrong"
    assert answers["far"]["where"] == "odd: O_ptr[1, 2, 3]"
    assert answers["far"]["max_abs"] == 0.5
    assert (
        answers["far"]["reason"]
        == "is 0.5, expected 0, off by 0.5 where 0.004 is allowed (fp16); 1 of 30 elements wrong"
    )
    assert answers["relatively near"]["status"] == "wrong", (
        "a tolerance that is relative to 0 is none"
    )


def test_filling_an_output_keeps_its_reference_and_its_initial_value(answers: Any) -> None:
    assert answers["output is its reference"] == "wrong"
    assert answers["output is its initial value"] == "ok"


def test_nan_equals_nothing(answers: Any) -> None:
    assert answers["nan"]["status"] == "wrong"
    assert answers["nan"]["reason"] == "is nan, expected 5; 1 of 30 elements wrong"
    assert answers["nan"]["max_abs"] is None


@pytest.mark.parametrize(
    "name", ["half", "not at all", "added to garbage", "one of two", "least", "flags half"]
)
def test_an_output_that_was_not_written_is_wrong(answers: Any, name: str) -> None:
    assert answers[name]["status"] == "wrong"
    assert answers[name]["reason"].startswith("was not written")


def test_a_write_outside_of_an_output_is_wrong(answers: Any) -> None:
    assert answers["beside"]["status"] == "wrong"
    assert answers["beside"]["where"] == "odd"
    assert (
        answers["beside"]["reason"]
        == "wrote outside of O_ptr: 1 of the elements around it changed, the first is 1 before its"
        " start"
    )


def test_every_type_can_be_an_output(answers: Any) -> None:
    kinds = [name.removesuffix(" right") for name in answers if name.startswith("torch.")]
    rights = {
        kind: answers[f"{kind} right"]["status"]
        for kind in kinds
        if kind.endswith(("8", "6", "4", "2"))
    }
    assert set(rights.values()) == {"ok"}
    assert {
        name: answer["status"]
        for name, answer in answers.items()
        if name.startswith("torch.") and name.endswith("half")
    } == {name: "wrong" for name in answers if name.startswith("torch.") and name.endswith("half")}


def test_changes_of_8_bits_are_sampled_without_a_reference(answers: Any) -> None:
    (change,) = answers["unknown"]["values"]
    assert (change["type"], change["sample"]) == ("float8_e5m2", ["1", "1"])


MALFORMED = {
    "no dictionary": "a problem must be a dictionary, not a list",
    "no name": "a problem needs a name",
    "misspelt": "problem 'odd': unknown argument",
    "grid": "problem 'odd': the grid must be one to three whole numbers above 0, not (1, 0)",
    "no outputs": (
        "problem 'odd': outputs must be a dictionary by parameter, with at least one entry"
    ),
    "baseline": "problem 'odd': the baseline must be a function, or None",
    "compared": (
        "problem 'odd': compared must be a dictionary by parameter, beside outputs that are None"
    ),
    "compared number": "problem 'odd', output n: no argument of that name is a tensor",
    "no tensor": "problem 'odd', output n: no argument of that name is a tensor",
    "shape": "problem 'odd', output O_ptr: its shape is (2,), and the reference's (3,)",
    "expanded": (
        "problem 'odd', output O_ptr: its elements share memory, so a launch cannot fill them"
    ),
    "complex": (
        "problem 'odd', output O_ptr: complex numbers are not compared; use torch.view_as_real of"
        " them"
    ),
    "not finite": (
        "problem 'odd', output O_ptr: the reference has NaN or inf, and only finite numbers are"
        " compared"
    ),
    "not finite in 8 bits": (
        "problem 'odd', output O_ptr: the reference has NaN or inf, and only finite numbers are"
        " compared"
    ),
    "no reason": "problem 'odd', output O_ptr: a tolerance needs its reason",
    "negative": (
        "problem 'odd', output O_ptr: tolerance must be a number that is not negative, not -1.0"
    ),
    "initial": (
        "problem 'odd', output O_ptr: its initial value must be a number, or a tensor of its shape"
    ),
    "descriptors": "problem 'odd': descriptors must be a dictionary by parameter",
    "described number": (
        "problem 'odd': descriptors: n must be an argument that is a tensor, with a dictionary"
    ),
    "described oddly": "problem 'odd': descriptors: O_ptr: unknown swizzle",
    "padded oddly": (
        "problem 'odd': descriptors: O_ptr has the padding 'one'; choose one of 'zero', 'nan'"
    ),
    "input in the storage": "problem 'odd': X lies in the storage of the output O_ptr",
    "outputs of two types": (
        "problem 'odd': the outputs A and B have different types, and share a storage"
    ),
    "twice": "two problems are called 'same'",
    "none": "the function yielded no problem",
    "raises": "a problem could not be made: ZeroDivisionError: division by zero",
    "raises at once": "the problems could not be made: KeyError: 'D'",
    "exits": "a problem could not be made: SystemExit: 3",
    "not importable": (
        "problems.py cannot be imported: ModuleNotFoundError: No module named"
        " 'nothing_of_that_name'"
    ),
    "no function": "problems.py has no function other",
}


def test_malformed_problems_are_refused_with_a_message(answers: Any) -> None:
    assert {name: answers[name] for name in MALFORMED} == MALFORMED
    assert answers["good"] is None
    assert answers["of 8 bits"] is None


def test_a_grid_may_be_a_function_of_the_settings(answers: Any) -> None:
    assert answers["a grid of numbers"] == [3, 2]
    assert answers["a grid of settings"] == [32]
    assert answers["a grid without a setting"] == (
        "problem 'odd': the grid failed: KeyError: 'BLOCK_M'"
    )
    assert answers["a grid of nothing"] == (
        "problem 'odd': the grid must be one to three whole numbers above 0, not (0, 1)"
    )
    assert answers["no grid"] == "problem 'odd' has no grid"


def test_problems_can_import_a_module_in_their_folder(answers: Any) -> None:
    assert answers["two"] == ["4 0", "4 1"]
