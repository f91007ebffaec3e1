"""A kernel that compiles slowly on real wheels, with the commands that a user runs.

The tests check that it is slow, in which pass, and with which setting its time grows.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from compat.cli.commands import main

KERNELS = Path(__file__).parents[1] / "kernels"
SPEC = str(KERNELS / "slow.toml")
ON = ("--target", "sm_90", "--envs")
CELL = "slow/as_written/n320/sm_90/triton-3.1.0"

pytestmark = pytest.mark.wheels


def run(*arguments: str) -> str:
    done = CliRunner().invoke(main, list(arguments))
    assert done.exit_code in (0, 1), done.output
    return done.stdout


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder."""
    monkeypatch.chdir(tmp_path)


def answer(*arguments: str) -> dict[str, Any]:
    (entry,) = json.loads(run("bisect", SPEC, *arguments, "--json"))
    return dict(entry["answer"])


@pytest.mark.usefixtures("project")
def test_a_kernel_that_timed_out_is_slow_and_not_stuck() -> None:
    stopped = ("--case", "n320", *ON, "3.1.0", "--deadline", "4")
    run("matrix", SPEC, *stopped)
    output = run("explain", CELL, SPEC)
    assert "    pass: tritongpu-coalesce\n" in output
    assert re.search(r"IR before the pass: .*\.before\.mlir\n", output)
    assert "    slow or stuck, not decided: it used CPU time, in stage ttgir: " in output
    assert (
        f"compat bisect --axis config --kernel slow --variant as_written --case n320 {' '.join(ON)}"
        " triton-3.1.0" in output
    )
    config_answer = answer(*stopped, "--axis", "config")
    says = (
        r"Slow, not stuck: coalesce, in stage ttgir, grows as N\^[23]\.\d \(.*\): .* at 40, .* at"
        r" 80.* at 320\.$"
    )
    assert re.match(says, config_answer["sentence"])
    assert re.search(
        r"    slow, not stuck: coalesce, in stage ttgir, grows as N\^[23]\.\d ",
        run("explain", CELL, SPEC),
    )


@pytest.mark.usefixtures("project")
def test_growth_forecasts_the_time_of_a_kernel_that_is_not_slow_yet() -> None:
    growth_answer = answer(
        "--case", "n64", *ON, "3.9.0", "--grow", "N=24,48,64,96,4096", "--deadline", "20"
    )
    says = re.search(
        r"Slow, not stuck: .*grows as N\^([23]\.\d) .*: ([\d.]+) s at 24, ([\d.]+) s at 48, .*"
        r" ([\d.]+) s at 96, about ([\d.]+) (min|h|days) \(.*\) at 4096\.$",
        growth_answer["sentence"],
    )
    assert says, growth_answer["sentence"]
    rate, at_24, at_48, at_96, forecast = map(float, says.groups()[:5])
    seconds = forecast * {"min": 60, "h": 3600, "days": 86400}[says[6]]
    # A base grows at most in proportion, and the first point that shows the growth contains it.
    base = max(at_24 * 96 / 24, at_48 * 96 / 48)
    # The rate is rounded to a tenth, and the forecast to two digits or to days.
    rounding = 1.25 if says[6] == "days" else 1.06
    assert (at_96 - base) * (4096 / 96) ** (rate - 0.05) < seconds * rounding
    assert seconds / rounding < at_96 * (4096 / 96) ** (rate + 0.05)
    (growth,) = growth_answer["settings"]
    assert [compiled["size"] for compiled in growth["compiles"]] == [24, 48, 64, 96]
    assert growth["parts"]["ttgir"]["law"] == "power"


@pytest.mark.usefixtures("project")
def test_judge_of_a_pass_works_if_releases_name_the_pass_differently() -> None:
    for limit, code in (("0.01", 1), ("20", 0)):
        judge = ("--judge", f"pass.tritongpu-coalesce.cpu>{limit}")
        done = CliRunner().invoke(
            main, ["check", SPEC, "--case", "n64", *ON, "3.1.0,3.9.0", *judge]
        )
        assert done.exit_code == code, done.output
