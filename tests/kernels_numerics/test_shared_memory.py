"""Declarations about shared memory hold where one release needs less of it than others."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from compat.cli.commands import main
from compat.model import BuiltEnv

KERNELS = Path(__file__).parents[2] / "kernels"


@pytest.mark.wheels
def test_heads_of_128_with_rope_fit_on_sm_89_in_3_4_0_and_not_in_3_3_1(
    built: Callable[[str], BuiltEnv], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    releases = ("3.3.1", "3.4.0")
    for release in releases:
        built(f"triton-{release}")
    shutil.copytree(KERNELS, tmp_path / "kernels")
    (tmp_path / "matrix.toml").write_text(
        'schema = 1\nkernels = ["kernels/attn_rope.toml"]\n[pairs]\nrun = false\n'
    )
    monkeypatch.chdir(tmp_path)
    arguments = ("--target", "sm_89", "--variant", "pointer_grid", "--case", "d128_causal")
    done = CliRunner().invoke(main, ["matrix", "--envs", ",".join(releases), *arguments])
    assert done.exit_code == 0, done.output
    cells = json.loads((tmp_path / "reports" / "matrix.json").read_text())["cells"]
    outcomes = [(cell["status"], (cell["failure"] or {}).get("class")) for cell in cells]
    assert outcomes == [("rejected", "shared-memory"), ("ok", None)]
