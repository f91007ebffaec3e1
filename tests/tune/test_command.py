"""``compat tune`` from a kernel file to its answer, with real compiles and the launcher.

A stand-in replaces the driver. Its kernel does what its machine code says.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from click.testing import CliRunner

from compat.capturing.capturing import capture_program
from compat.capturing.checking import CodeCheck, Options
from compat.cli.commands import main
from compat.errors import SelectionError
from compat.launch import hosting
from compat.model import BuiltEnv
from tests.commands import invoked
from tests.launch.archives import built_standin, launched

KERNELS = Path(__file__).parents[1] / "launch" / "kernels"
TUNE = """
[tune]
constexprs = { BLOCK = [64, 128] }
options = { num_warps = [2, 4] }

[options]
num_warps = 4
"""
SELECTED = ("--envs", "3.5.1,3.9.0", "--target", "sm_90")
ENVS = ("triton-3.5.1", "triton-3.9.0")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in KERNELS.glob("by_code*"):
        shutil.copy(path, tmp_path)
    problems = tmp_path / "by_code_problems.py"
    text = problems.read_text()
    assert '"grid": (size,),' in text
    problems.write_text(
        text.replace('"grid": (size,),', '"grid": lambda of: (size * of["BLOCK"] // of["BLOCK"],),')
    )
    kernel = tmp_path / "by_code.toml"
    kernel.write_text(kernel.read_text() + TUNE)
    (tmp_path / "matrix.toml").write_text('schema = 1\nkernels = ["by_code.toml"]\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def results(project: Path) -> list[dict[str, Any]]:
    """The results that the launcher wrote."""
    text = (project / "tuned/results.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.wheels
def test_tune_leads_from_a_kernel_file_to_an_answer(
    project: Path, built: Callable[[str], BuiltEnv], pair_python: str
) -> None:
    for name in ENVS:
        built(name)
    done = invoked("tune", *SELECTED, "--build", "tuned")
    assert done.stdout.startswith("8 cells for sm_90 in ")
    index = json.loads((project / "tuned/index.json").read_text())
    assert {cell["contest"] for cell in index["cells"]} == {"by_code/as_written/default"}
    assert len({cell["problem"] for cell in index["cells"]}) == 1
    settings = [cell["launch"]["settings"] for cell in index["cells"]]
    assert {(config["BLOCK"], config["num_warps"]) for config in settings} == {
        (64, 2), (64, 4), (128, 2), (128, 4)
    }  # fmt: skip

    assert "`compat tune` launches all configs" in bisected("best>1")["sentence"]
    assert invoked("tune", *SELECTED, code=SelectionError.exit_code).stderr.startswith(
        "error: no config was launched\n  hint: Write a folder with --build FOLDER"
    )

    ended = launched(project / "tuned", pair_python, built_standin(project), "--minutes", "5")
    assert ended.returncode == 0, ended.stderr
    lines = results(project)
    assert {line["check"]["status"] for line in lines} == {"ok"}
    assert max(line["latency"]["samples"] for line in lines) >= 3 + 5 + 25

    lost = [{**line, "check": {**line["check"], "status": "lost"}} for line in lines]
    (project / "lost.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lost))
    refused = invoked("tune", *SELECTED, "--launched", "lost.jsonl", code=SelectionError.exit_code)
    assert "launched 0 cells, 8 lost\nerror: no config was launched" in refused.stderr

    own = [line for line in lines if line["cell"].split("/")[2] == "default"]
    assert len(own) == 2
    (project / "own.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in own))
    invoked("matrix", *SELECTED, "--launched", "own.jsonl")
    report = json.loads((project / "reports/matrix.json").read_text())
    assert all(cell["latency"] for cell in report["cells"])
    assert "tuned" not in report, "one config is not compared with any"

    shown = invoked("tune", *SELECTED, "--launched", "tuned/results.jsonl", "--output", "tuned.md")
    assert "by_code/as_written/default/sm_90 on " in shown.stdout
    assert "| release | best µs | A |" in (project / "tuned.md").read_text()
    page = invoked("tune", *SELECTED, "--json", "--html", "tuned.html")
    (answer,) = json.loads(page.stdout)["answers"]
    assert (project / "tuned.html").read_text().startswith("<!DOCTYPE html>")
    assert [release["release"] for release in answer["releases"]] == ["3.5.1", "3.9.0"]
    by_case = {line["cell"].split("/")[2]: line for line in lines if "3.9.0" in line["cell"]}
    us_by_case = {case: line["latency"]["us"] for case, line in by_case.items()}
    best = answer["configs"][answer["releases"][1]["best"]]["case"]
    assert us_by_case[best] == min(us_by_case.values())  # several may be the fastest
    check_judges(answer)
    invoked("matrix", *SELECTED)
    report = json.loads((project / "reports/matrix.json").read_text())
    assert report["tuned"] == [answer]
    assert {cell["case"] for cell in report["cells"]} == {"default"}


def check_judges(answer: dict[str, Any]) -> None:
    """Check that bisections judge by the latencies of the same answer."""
    best = [
        next(t["us"] for t in release["timings"] if t and t["cost"] == 1.0)
        for release in answer["releases"]
    ]
    bisection = bisected(f"best>{1.1 * max(best)}")
    assert [probe["value"] for probe in bisection["probes"]] == best
    assert {probe["judgement"] for probe in bisection["probes"]} == {"good"}
    slow = bisected(f"best>{0.9 * min(best)}")
    assert {probe["judgement"] for probe in slow["probes"]} == {"bad"}

    config = answer["releases"][0]["best"]
    costs = [release["timings"][config]["cost"] for release in answer["releases"]]
    staying = bisected(f"staying>{max(costs) - 1e-6}")
    assert [probe["value"] for probe in staying["probes"]] == pytest.approx(costs)
    assert [probe["judgement"] for probe in staying["probes"]] == [
        "bad" if cost == max(costs) else "good" for cost in costs
    ]
    refused = invoked("bisect", *SELECTED, "--judge", "best>1", "--launch", code=3)
    assert "error" in refused.stderr


def bisected(judge: str) -> dict[str, Any]:
    done = CliRunner().invoke(main, ["bisect", *SELECTED, "--judge", judge, "--json"])
    assert done.exit_code in (0, 1), done.output
    (answer,) = json.loads(done.stdout)
    return dict(answer)


@pytest.mark.wheels
def test_grid_of_numbers_is_refused_for_a_config_with_other_blocks(
    project: Path, built: Callable[[str], BuiltEnv], pair_python: str
) -> None:
    built("triton-3.9.0")
    shutil.copy(KERNELS / "by_code_problems.py", project)
    invoked("tune", "--envs", "3.9.0", "--target", "sm_90", "--build", "tuned")
    ended = launched(project / "tuned", pair_python, built_standin(project))
    assert ended.returncode == 0, ended.stderr
    lines = results(project)
    checks = {line["cell"].split("/")[2]: line["check"] for line in lines}
    assert {case for case, check in checks.items() if check["status"] == "ok"} == {
        "default", "default_128_w2"
    }  # fmt: skip
    refused = checks["default_64_w2"]
    assert refused["status"] == "launch_refused"
    assert refused["reason"] == (
        "tuning changes BLOCK, so the grid of the problem must be a function of the constexprs"
    )


def test_kernels_without_configs_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in KERNELS.glob("by_code*"):
        shutil.copy(path, tmp_path)
    (tmp_path / "matrix.toml").write_text('schema = 1\nkernels = ["by_code.toml"]\n')
    monkeypatch.chdir(tmp_path)
    done = invoked("tune", *SELECTED, "--build", "tuned", code=SelectionError.exit_code)
    assert "none of the chosen kernels has several configs" in done.stderr
    assert "[tune] with options = { num_warps = [4, 8] }" in done.stderr
    kernel = tmp_path / "by_code.toml"
    without = re.sub(r"\[problem\].*?\n\n", "", kernel.read_text(), flags=re.DOTALL)
    kernel.write_text(f"{without}[tune]\noptions = {{ num_warps = [4, 8] }}\n")
    done = invoked("tune", *SELECTED, "--build", "tuned", code=SelectionError.exit_code)
    assert "none of the chosen kernels has a problem" in done.stderr


@pytest.mark.wheels
def test_a_predicted_failure_is_not_launched(
    project: Path, built: Callable[[str], BuiltEnv]
) -> None:
    built("triton-3.9.0")
    kernel = project / "by_code.toml"
    kernel.write_text(kernel.read_text().replace("num_warps = [2, 4]", "num_warps = [4, 64]"))
    invoked("tune", "--envs", "3.9.0", "--target", "sm_90", "--build", "tuned")
    index = json.loads((project / "tuned/index.json").read_text())
    assert len(index["cells"]) == 2
    assert len(index["left_out"]) == 2
    assert all(cell["why"].startswith("predicted: ") for cell in index["left_out"])


def test_a_gpu_is_needed_to_launch(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if Path("/dev/nvidia0").exists():
        pytest.skip("there is a GPU")
    monkeypatch.setattr(hosting, "find_python", lambda _: "python3")
    done = invoked("tune", *SELECTED, "--launch", code=SelectionError.exit_code)
    assert "there is no usable GPU on this machine" in done.stderr
    assert "--build of `compat tune`" in done.stderr


def test_kernels_with_recorded_launches_are_not_tuned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    text = Path("kernels/cute/rms_norm.toml").read_text()
    assert "[tune]" not in text
    for path in Path("kernels/cute").glob("*.py"):
        shutil.copy(path, tmp_path)
    (tmp_path / "rms_norm.toml").write_text(f"{text}\n[tune]\noptions = {{ opt_level = [2, 3] }}\n")
    monkeypatch.chdir(tmp_path)
    arguments = ("rms_norm.toml", "--envs", "cute-4.8.1", "--target", "sm_90a", "--build", "tuned")
    done = invoked("tune", *arguments, code=SelectionError.exit_code)
    assert "error: `compat tune` does not tune kernels of CuTe DSL" in done.stderr
    assert "Write each config as a case of the kernel file" in done.stderr


PROGRAM = """
import torch, triton, triton.language as tl

CONFIGS = [
    triton.Config({"BLOCK": block}, num_warps=warps) for block in (64, 128) for warps in (2, 4)
]

@triton.autotune(configs=CONFIGS, key=["n"])
@triton.jit
def twice(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)

x = torch.randn(1000, device="cuda")
twice[lambda given: (triton.cdiv(1000, given["BLOCK"]),)](x, torch.empty_like(x), 1000)
"""
PROBLEM = """
import torch

def doubled(parameters, dtype, seed, device, large):
    x = torch.randn(1000, device=device)
    yield {
        "name": "1000",
        "arguments": {"x_ptr": x, "o_ptr": torch.empty_like(x), "n": 1000},
        "grid": lambda of: (-(-1000 // of["BLOCK"]),),
        "outputs": {"o_ptr": {"reference": x * 2}},
    }
"""


@pytest.mark.wheels
def test_the_configs_of_a_captured_autotuner_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: Callable[[str], BuiltEnv]
) -> None:
    built("triton-3.9.0")
    pair = built("triton-3.5.1-torch-2.9.1")
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "doubled.py").write_text(PROBLEM)
    monkeypatch.chdir(tmp_path)
    options = Options(output=Path("captured"), problems=True, check=CodeCheck.NOTHING, fake=True)
    capture_program(("program.py",), options, python=pair.python)
    kernel = Path("captured/twice.toml")
    assert "[tune]\nconstexprs = {BLOCK = []}" in kernel.read_text()
    arguments = (str(kernel), "--envs", "3.9.0", "--target", "sm_90", "--build", "tuned")
    done = invoked("tune", *arguments, code=SelectionError.exit_code)
    assert "error: the problem of twice is a recorded launch, without right results" in done.stderr

    capture_program(("program.py",), evolve(options, problems=False), python=pair.python)
    text = kernel.read_text().replace(
        "[tune]", '[problem]\nsource = "../doubled.py"\nfunction = "doubled"\n\n[tune]'
    )
    kernel.write_text(text)
    invoked("tune", *arguments)
    index = json.loads(Path("tuned/index.json").read_text())
    assert index["left_out"] == []
    assert len({cell["problem"] for cell in index["cells"]}) == 1
    (contest,) = {cell["contest"] for cell in index["cells"]}
    assert contest.startswith("twice/")
    settings = [cell["launch"]["settings"] for cell in index["cells"]]
    assert sorted((config["BLOCK"], config["num_warps"]) for config in settings) == [
        (64, 2), (64, 4), (128, 2), (128, 4)
    ]  # fmt: skip
