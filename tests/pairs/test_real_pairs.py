"""Pairs of a real PyTorch.

With its own Triton, all programs launch their kernels. Triton 3.6.0 silently drops a user's kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from compat.model import BuiltEnv, Status
from compat.pairs.pairing import try_pairs
from compat.pairs.records import Grid
from compat.project import select_places

pytestmark = pytest.mark.wheels

PAIR = "triton-3.5.1-torch-2.9.1"


def test_a_later_triton_drops_user_kernels_and_pytorchs_own_does_not(
    built: Callable[[str], BuiltEnv],
) -> None:
    built(PAIR)
    selection = select_places(Path(__file__).parents[2] / "matrix.toml", envs=[PAIR])
    grid = try_pairs(selection, selection.read_envs, releases=["3.5.1", "3.6.0"], again=True)
    check_its_own(grid)
    check_the_later_one(grid)
    again = try_pairs(selection, selection.read_envs, releases=["3.5.1", "3.6.0"])
    assert all(pair.cached for pair in again.pairs)
    assert [pair.programs for pair in again.pairs] == [pair.programs for pair in grid.pairs]


def check_its_own(grid: Grid) -> None:
    pair = grid.at("2.9.1", "3.5.1")
    assert pair is not None
    assert pair.error is None
    assert [(program.name, program.message) for program in pair.failed_programs] == []
    launched = {program.name: program.launched for program in pair.programs}
    assert pair.own
    assert launched["user_kernel"] == ("compat_user_add",)
    assert launched["mm"][0].startswith("triton_tem_")
    assert len(launched["split_reduction"]) == 2


def check_the_later_one(grid: Grid) -> None:
    pair = grid.at("2.9.1", "3.6.0")
    assert pair is not None
    assert not pair.own
    classes = {
        program.name: (program.status, program.failure_class) for program in pair.failed_programs
    }
    assert classes == {
        "user_kernel": (Status.WRONG, "kernel-dropped"),
        "user_kernel_autotuned": (Status.WRONG, "kernel-dropped"),
        "triton_launcher": (Status.REJECTED, "metadata"),
    }
    dropped = next(program for program in pair.programs if program.name == "user_kernel")
    assert "specialize_impl" in dropped.message
