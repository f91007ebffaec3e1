"""The workflows of this repository and its action: what their commands do on a runner."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]


def load_workflow(name: str) -> Any:
    return YAML(typ="safe").load(ROOT / ".github" / "workflows" / name)


def test_nightly_tries_new_examples() -> None:
    """Hypothesis makes the same examples in each run if CI is set, unless the profile says no."""
    commands = str(load_workflow("nightly.yml")["jobs"]["examples"])
    [profile] = re.findall(r"--hypothesis-profile=(\w+)", commands)
    code = (
        "import tests.conftest, hypothesis;"
        f" print(hypothesis.settings.get_profile({profile!r}).derandomize)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "CI": "true"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"
