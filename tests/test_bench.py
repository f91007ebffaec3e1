"""Every measurement can be imported and started.

Measurements run seldom. An import here fails at once if something that a measurement uses has
another name. The type checker does not see all of these faults: for it, a package that imports its
parts on request has every name.
"""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

from bench.churn import rounds
from bench.foresight import Pair, are_right
from tests.together import for_each

BENCH = Path(__file__).parent.parent / "bench"
IN_ENVS = {"plain", "plain_cute", "small"}
"""The modules that only an env with a toolchain or PyTorch can import."""
NAMES = sorted(path.stem for path in BENCH.glob("*.py") if path.stem not in IN_ENVS)


@for_each("name", NAMES)
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
    assert [module_name for module_name in started if find_spec(module_name) is None] == []


def unknown(*values: str) -> Mapping[str, Any]:
    """A launch without a reference, and the values that it left in one tensor."""
    sample = {"name": "y", "type": "float16", "elements": 2}
    return {
        "status": "unsupported",
        "values": [{**sample, "sample": list(values), "written": "11"}],
    }


@for_each(
    ("old", "new", "is_right"),
    [
        ({"status": "ok"}, {"status": "ok"}, True),
        ({"status": "ok"}, unknown("1", "2"), False),
        (unknown("1", "2"), {"status": "ok"}, False),
        (unknown("1", "2"), unknown("1", "2.01"), True),
        (unknown("1", "nan"), unknown("1", "nan"), True),
        (unknown("1", "2"), unknown("1", "3"), False),
        ({"status": "unsupported", "values": []}, {"status": "unsupported", "values": []}, False),
    ],
)
def test_foresight_accepts_only_pairs_with_right_numbers(
    old: dict[str, Any], new: dict[str, Any], is_right: bool
) -> None:
    assert are_right(old, new) is is_right


@pytest.mark.parametrize(
    ("kernel", "half"),
    [
        ("layer_norm", "tuned"),
        ("gemm", "held"),
        ("fla.layer_norm", "libraries"),
        ("tutorials._attn_fwd", "libraries"),
    ],
)
def test_foresight_assigns_each_kernel_to_its_table(kernel: str, half: str) -> None:
    series = f"{kernel}/as_written/default/sm_90"
    assert Pair(series, ("3.8.0", "3.9.0"), 1.0, False, 1.0, None, 1.0).half == half


def test_churn_repeats_a_command_that_ends_without_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    until, outputs = time.monotonic() + 60.0, iter(["killed", '{"lost": 1}', '{"ok": 2}'])

    def run(*_: object, **__: object) -> SimpleNamespace:
        monkeypatch.setattr(time, "monotonic", lambda: until)
        return SimpleNamespace(stdout=next(outputs))

    monkeypatch.setattr(subprocess, "run", run)
    machines: Any = SimpleNamespace(address="nowhere")
    assert rounds(machines, tmp_path, until) == [[{"lost": 1}, {"ok": 2}]]
