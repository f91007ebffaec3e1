"""Two kernels with the same name and different facts keep their own results, on real wheels."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.version import Version

from compat.bisect.candidates import ReleaseCandidate
from compat.bisect.criterion import parse_criterion
from compat.bisect.releases import ReleaseSearch, search_releases
from compat.engine.run import RunContext
from compat.history.account import Word
from compat.model import BuiltEnv, Status
from compat.store.store import Store
from compat.workers.attempt import Limits
from tests import commands
from tests.cells import spec
from tests.targets import TARGETS
from tests.waiting import PATIENCE

pytestmark = pytest.mark.wheels

ROOT = Path(__file__).parents[2]
MATRIX = """
schema = 1
kernels = ["kernel.toml"]
env = [{ triton = "3.9.0", groups = ["releases"] }]
defaults = { envs = ["releases"], targets = ["sm_90"] }
"""
KERNEL = """
schema = 1
kernel = "copy"
source = "kernel.py"
signature = { source = "*fp32", result = "*fp32" }
constexprs = { BLOCK = 128 }
case = [{ name = "one" }, { name = "same" }, { name = "other", constexprs = { BLOCK = 64 } }]
variant = [{ name = "plain", function = "copy" }]
"""
SOURCE = """
import triton
import triton.language as tl


@triton.jit
def copy(source, result, BLOCK: tl.constexpr):
    tl.store(result + tl.arange(0, BLOCK), tl.load(source + tl.arange(0, BLOCK)))
"""


def test_search_over_two_kernels_of_one_name_keeps_their_results_apart(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    envs = [built(f"triton-{release}") for release in ("3.8.0", "3.9.0")]
    fits, odd = (spec("faces", "fine", constexprs={"BLOCK": block}) for block in (128, 100))
    assert (fits.kernel, fits.variant, fits.case) == (odd.kernel, odd.variant, odd.case)
    candidates = tuple(
        ReleaseCandidate(version=Version(str(built_env.release)), env=built_env.env)
        for built_env in envs
    )
    with Store(tmp_path) as store:
        context = RunContext(envs={}, store=store, limits=Limits(deadline=60, memory=8 << 30))
        good, bad = search_releases(
            [(fits, TARGETS["sm_90"]), (odd, TARGETS["sm_90"])],
            ReleaseSearch(candidates=candidates, criterion=parse_criterion("ok")),
            context,
            lambda missing: [built_env for built_env in envs if built_env.env in missing],
        )
    assert (good.account.word, bad.account.word) == (Word.WORKS, Word.NEVER)
    for answer, kernel, status in ((good, fits, Status.OK), (bad, odd, Status.REJECTED)):
        assert [probe.result.outcome.status for probe in answer.probes] == [status, status]
        assert all(probe.result.cell.spec == kernel for probe in answer.probes)


def test_two_cases_with_equal_facts_are_two_cells(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    built("triton-3.9.0")
    for name, text in {"matrix.toml": MATRIX, "kernel.toml": KERNEL, "kernel.py": SOURCE}.items():
        (tmp_path / name).write_text(text)

    def compat(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return commands.run(*arguments, cwd=tmp_path, env=environment, timeout=PATIENCE)

    ran = compat("matrix", "--no-build", "--case", "one", "--case", "same")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    several = compat("explain", "copy/plain/*/sm_90/triton-3.9.0")
    assert several.returncode == 0
    listed = several.stdout.splitlines()
    assert listed[0].startswith("2 of the 3 cells"), (
        "of three, two have a result: that of one row of the store"
    )
    assert listed[1:] == [f"  copy/plain/{case}/sm_90/triton-3.9.0: ok" for case in ("one", "same")]
    for case in ("one", "same"):
        explanation = json.loads(
            compat("explain", "--json", f"copy/plain/{case}/sm_90/triton-3.9.0").stdout
        )
        assert explanation["outcome"]["status"] == "ok"
