"""A kernel that queries the GPU gets the target of its compile, whatever was compiled before it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from compat.model import BuiltEnv
from tests.cells import cell
from tests.toolchains.compiling import compile_all, compile_each, failure_text

pytestmark = pytest.mark.wheels
HALVES = {"source": "*fp16", "result": "*fp16", "size": "i32"}


@pytest.mark.parametrize("release", ["3.5.1", "3.7.1", "3.9.0"])
def test_each_cell_of_a_process_gets_its_own_target(
    release: str, built: Callable[[str], BuiltEnv]
) -> None:
    env = built(f"triton-{release}")
    targets = ("sm_90", "gfx942", "sm_75", "sm_90")
    functions = {"for_hopper": "sm_90", "for_cdna3": "gfx942", "for_older": "sm_75"}
    cells = [cell(env, "told", function, target) for target in targets for function in functions]
    for target_cell, evidence in zip(cells, compile_all(env, cells), strict=True):
        expected = functions[target_cell.spec.function] == target_cell.target.name
        assert evidence.has_binary is expected, (target_cell.id, failure_text(evidence))


@pytest.mark.parametrize("release", ["3.4.0", "3.9.0"])
def test_atomics_on_descriptors_get_the_cells_own_target(
    release: str, built: Callable[[str], BuiltEnv]
) -> None:
    env = built(f"triton-{release}")
    cells = [
        cell(env, "told", "smallest", target, signature=HALVES, constexprs={"BLOCK": 64})
        for target in ("sm_80", "sm_90")
    ]
    older, newer = compile_all(env, cells)
    assert newer.has_binary, failure_text(newer)
    assert "16-bit float types require native tma support" in failure_text(older)


def test_one_time_warning_appears_in_every_cell(
    built: Callable[[str], BuiltEnv],
) -> None:
    env = built("triton-3.9.0")
    cells = [cell(env, "told", "joined", constexprs={"BLOCK": block}) for block in (64, 128)]
    warned = [
        [warning.message for warning in evidence.warnings] for evidence in compile_all(env, cells)
    ]
    assert "can_reorder=True) is deprecated" in str(warned[0])
    assert warned[0] == warned[1]


@pytest.mark.parametrize("release", ["3.0.0", "3.3.1", "3.9.0"])
def test_file_gets_the_target_of_its_cell_at_import(
    release: str, built: Callable[[str], BuiltEnv]
) -> None:
    """Values that a file computes at import hold for all cells of its process.

    So one process never compiles such a file for two targets.
    """
    env = built(f"triton-{release}")
    target_constexprs = {
        "sm_75": {"WANTED": "75", "LIMIT": 64},
        "sm_90": {"WANTED": "90", "LIMIT": 227},
    }
    if release == "3.9.0":
        target_constexprs["gfx942"] = {"WANTED": "gfx942", "LIMIT": 64}
    cells = [
        cell(env, "asks_at_import", "arch_is", name, constexprs=facts)
        for name, facts in target_constexprs.items()
    ]
    for target_cell, evidence in zip(cells, compile_each(env, cells), strict=True):
        assert evidence.has_binary, (target_cell.id, failure_text(evidence))
    assert all(evidence.has_binary for evidence in compile_all(env, cells))
