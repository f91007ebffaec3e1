"""The launcher that keeps running and compares builds of one kernel.

The tests use a stand-in for the driver, and PyTorch on the CPU.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.launch.archives import built_standin, cell, compared, standin_options, write

pytestmark = pytest.mark.wheels

ENTRIES = (
    *(
        "add",
        "wrong",
        "racy",
        "late",
        "beside",
        "wrong_beside",
        "reads_behind",
        "hides_behind",
        "spoils",
        "out_of_bounds",
    ),
    *("hangs", "dies", "no_such_entry"),
)
CELLS = {name: cell(name) for name in ENTRIES}


@pytest.fixture(scope="module")
def answers(
    tmp_path_factory: pytest.TempPathFactory, pair_python: str
) -> dict[str, dict[str, Any]]:
    """Launches each kernel next to a correct one, with one launcher.

    The last question is about the correct one again.
    """
    home = tmp_path_factory.mktemp("comparing")
    folder = write(home / "built", [CELLS["add"]])
    questions = [(CELLS["add"], candidate) for candidate in CELLS.values()]
    questions += [(CELLS["racy"], CELLS["add"]), (CELLS["reads_behind"], CELLS["add"])]
    questions += [(CELLS["hides_behind"], CELLS["add"]), (CELLS["add"], CELLS["add"])]
    ready, *answers = compared(
        folder, pair_python, standin_options(built_standin(home)), *questions
    )
    assert ready["status"] == "ready"
    assert ready["device"]["name"] == "stand-in"
    assert [answer["number"] for answer in answers] == list(range(len(questions)))
    return dict(
        zip(
            (*CELLS, "good racy", "good reads_behind", "good hides_behind", "after all"),
            answers,
            strict=True,
        )
    )


def other(answer: dict[str, Any]) -> dict[str, Any]:
    """The second of two cells that were both launched to the end."""
    assert answer["status"] == "compared"
    good, bad = answer["cells"]
    assert (good["differing"], good["finite"], good["outside"], good["off"]) == (0, True, "", 0)
    assert isinstance(bad, dict)
    return bad


@pytest.mark.parametrize("name", ["add", "after all"])
def test_equal_builds_do_not_differ(answers: dict[str, dict[str, Any]], name: str) -> None:
    assert other(answers[name]) == {
        "good": False,
        "launches": 120,
        "differing": 0,
        "finite": True,
        "wrote": True,
        "outside": "",
        "reads_outside": False,
        "off": 0,
    }


def test_wrong_numbers_are_measured_by_the_largest_difference(
    answers: dict[str, dict[str, Any]],
) -> None:
    """The kernel computes x - y instead of x + y, so it is off by 2 y."""
    bad = other(answers["wrong"])
    assert bad["differing"] == 0
    assert 0.5 < bad["off"] <= 2


def test_launches_that_differ_are_counted(answers: dict[str, dict[str, Any]]) -> None:
    assert other(answers["racy"])["differing"] == 40
    assert other(answers["late"])["differing"] > 0
    assert other(answers["late"])["off"] > 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("beside", "wrote outside of out"),
        ("wrong_beside", "wrote outside of out"),
        ("spoils", "it changed an input"),
    ],
)
def test_write_outside_of_an_output_is_detected(
    answers: dict[str, dict[str, Any]], name: str, message: str
) -> None:
    assert message in answers[name]["cells"][1]["outside"]


def test_value_that_is_read_behind_a_tensor_is_not_finite(
    answers: dict[str, dict[str, Any]],
) -> None:
    """It is the same in every launch, so it is not a race."""
    bad = answers["reads_behind"]["cells"][1]
    assert not bad["finite"]
    assert bad["differing"] == 0
    assert bad["off"] > 1e9
    good, _ = answers["good reads_behind"]["cells"]
    assert not good["finite"]
    assert good["launches"] == 1


def test_read_outside_of_a_tensor_is_detected_if_a_maximum_hides_it(
    answers: dict[str, dict[str, Any]],
) -> None:
    good, bad = answers["good hides_behind"]["cells"]
    assert (good["differing"], good["finite"], good["off"]) == (0, True, 0)
    assert good["reads_outside"]
    assert not bad["reads_outside"]
    assert not answers["add"]["cells"][0]["reads_outside"]


def test_unstable_good_cell_ends_the_comparison(answers: dict[str, dict[str, Any]]) -> None:
    good, _ = answers["good racy"]["cells"]
    assert good["differing"] == 1
    assert good["launches"] < 30


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("out_of_bounds", "faulted"),
        ("hangs", "timed_out"),
        ("dies", "lost"),
        ("no_such_entry", "launch_refused"),
    ],
)
def test_failed_launch_does_not_affect_later_comparisons(
    answers: dict[str, dict[str, Any]], name: str, status: str
) -> None:
    assert answers[name]["status"] == status
    assert answers["after all"]["status"] == "compared"
