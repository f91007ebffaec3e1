"""A folder of wheels, bisected by the command in a checkout of its own: nox for real, wheels that weigh nothing, and no network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.env.conftest import Checkout, checkout, make_wheel

__all__ = ["checkout"]  # the fixture


def test_envs_of_wheels_are_built_through_nox_in_the_order_of_their_dates(checkout: Checkout, tmp_path: Path) -> None:
    house = tmp_path / "house"
    for day, version in enumerate(("3.6.0+gitfff2222", "3.6.0+gitaaa1111"), start=1):
        wheel = make_wheel(house, "triton", version)
        os.utime(wheel, (day * 86400, day * 86400))
    command = [sys.executable, "-m", "compat.cli", "bisect", "--find-links", str(house), "--target", "sm_90", "--json"]
    done = subprocess.run(
        command, cwd=checkout.root, env=checkout.environ(PYTHONPATH=str(checkout.root)), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1, done.stderr  # nothing can be told with these
    (answer,) = json.loads(done.stdout)
    assert answer["answer"] == "unknown"
    assert answer["searched"] == ["3.6.0+gitfff2222", "3.6.0+gitaaa1111"]
    assert {probe["class"] for probe in answer["probes"]} == {"import"}, "installed, and no compiler in it"
    assert done.stderr.count("building ") == 1
    assert not list(checkout.root.glob(".compat/envs/*.json")), "the project's own envs are left alone"
