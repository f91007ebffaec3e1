"""A kernel that is slower on a newer release, predicted from compiles alone.

On an H100, ``d128`` took 1,176 µs on 3.2.0 and 1,393 µs on 3.3.0.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.model import BuiltEnv
from tests import commands

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "kernels"
CELL = "sel_dense/broadcast_2d/d128/sm_90/triton-3.3.0"
REASON = "24 instead of 32 ldmatrix in its loops, and 38 instead of 6 shared loads"


@pytest.mark.wheels
def test_matrix_diff_and_explain_report_a_slow_suspect(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    for release in ("3.2.0", "3.3.0"):
        built(f"triton-{release}")
    for path in (*KERNELS.glob("*.py"), KERNELS / "sel_dense.toml"):
        shutil.copy(path, tmp_path)
    (tmp_path / "matrix.toml").write_text('schema = 1\nkernels = ["sel_dense.toml"]\n')

    def compat_output(*arguments: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
        done = commands.run(*arguments, cwd=tmp_path, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return " ".join(done.stdout.split())

    chosen = ["--variant", "broadcast_2d", "--case", "d128", "--target", "sm_90"]
    for release in ("3.2.0", "3.3.0"):
        compat_output("matrix", "--envs", release, *chosen, "--output", release)
    both = compat_output("matrix", "--envs", "3.2.0,3.3.0", *chosen, "--output", "both")
    message = f"likely 1.4 times slower than on 3.2.0: {REASON}"
    assert f"{CELL}: {message}" in both
    assert both.count("times slower than on") == 1
    reports = [f"{release}/matrix.json" for release in ("3.2.0", "3.3.0")]
    compared = compat_output("diff", *reports, "--new-releases", "--fail-on", "broken,changed")
    assert "3.2.0 → 3.3.0: 1 kernel likely slower (slow-suspect), in 1 cell" in compared
    assert f"{CELL} {message}" in compared
    back = compat_output("diff", *reversed(reports), "--new-releases")
    assert "times slower" not in back
    assert f"slow-suspect: {message}" in compat_output("explain", CELL)
    older = CELL.replace("3.3.0", "3.2.0")
    assert json.loads(compat_output("explain", "--json", older))["slow_suspect"] is None
