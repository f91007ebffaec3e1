"""Measurements are run seldom: each is imported here, so that it is seen at once when what it uses
is called otherwise.

The type checker does not see all of it: a package that imports its parts when they are asked for
has any name for it.
"""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

BENCH = Path(__file__).parent.parent / "bench"
IN_ENVS = {"plain", "plain_cute", "small"}
"""What only an env with a toolchain or PyTorch can import."""
NAMES = sorted(path.stem for path in BENCH.glob("*.py") if path.stem not in IN_ENVS)


@pytest.mark.parametrize("name", NAMES)
def test_a_measurement_can_be_started(name: str) -> None:
    module = import_module(f"bench.{name}")
    if isinstance(command := getattr(module, "main", None), click.Command):
        shown = CliRunner().invoke(command, ["--help"])
        assert shown.exit_code == 0, shown.output
    missing = [
        value
        for value in vars(module).values()
        if isinstance(value, Path) and value.suffix and not value.exists()
    ]
    assert missing == []
    started = re.findall(r'"-m",\s*"([\w.]+)"', (BENCH / f"{name}.py").read_text())
    assert [each for each in started if find_spec(each) is None] == []
