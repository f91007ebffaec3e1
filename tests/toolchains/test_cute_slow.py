"""CuTe DSL: the slow pass of a compile, and how its time grows, on real wheels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from compat.cli.commands import main

CHAIN = str(Path(__file__).parents[2] / "kernels" / "cute" / "growth" / "gemm_chain.toml")
CASE = ("--case", "n32", "--target", "sm_100a", "--envs")

pytestmark = pytest.mark.wheels


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each test in an empty folder."""
    monkeypatch.chdir(tmp_path)


def test_canonicalize_grows_with_a_chain_of_products() -> None:
    grow = ("--grow", "CHAIN=16,32,64,4096", "--deadline", "20")
    done = CliRunner().invoke(main, ["bisect", CHAIN, *CASE, "cute-4.8.1", *grow, "--json"])
    assert done.exit_code == 0, done.output
    (answer,) = json.loads(done.stdout)
    pass_answer = answer["answer"]
    assert pass_answer["sentence"].startswith(
        "Slow, not stuck: canonicalize, in stage mlir, grows as CHAIN^"
    )
    assert "at 64, about " in pass_answer["sentence"]
    assert pass_answer["sentence"].endswith(" at 4096.")
    (growth,) = pass_answer["settings"]
    assert [compiled["size"] for compiled in growth["compiles"]] == [16, 32, 64]
    assert growth["parts"]["pass canonicalize"]["rate"] > growth["rate"]


def test_judge_compares_the_cpu_seconds_of_a_pass() -> None:
    for limit, code in (("0.001", 1), ("20", 0)):
        judge = ("--judge", f"pass.canonicalize.cpu>{limit}")
        done = CliRunner().invoke(main, ["check", CHAIN, *CASE, "cute-4.6.1", *judge])
        assert done.exit_code == code, done.output
