"""A reduction brings planted defects down to a stated size, and they stay the same defects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from compat.config.kernel_files import load_kernels
from compat.config.matrix import MatrixConfig
from compat.model import BuiltEnv, Cell
from compat.workers.attempt import Limits
from tests.cells import cell
from tests.reduce.real import LIMITS, Reduced, reduced
from tests.targets import TARGETS

Built = Callable[[str], BuiltEnv]


def check(reduction: Reduced, *, lines: int, size: int) -> None:
    before, after = reduction.before.outcome.failure, reduction.after.outcome.failure
    assert before is not None
    assert after is not None
    assert (after.fingerprint, after.pass_) == (before.fingerprint, before.pass_)
    assert not reduction.after.outcome.flaky
    assert reduction.last.kernel_lines <= lines
    assert len(reduction.last.text) <= size


@pytest.mark.wheels
def test_an_abort_in_the_front_end(built: Built, tmp_path: Path) -> None:
    env = built("triton-3.9.0")
    reduction = reduced(cell(env, "failures", "block_typed_bound"), env, tmp_path)
    check(reduction, lines=3, size=140)
    assert reduction.last.compile.signature == reduction.last.compile.constexprs == {}


@pytest.mark.wheels
def test_a_hang_with_a_scaled_deadline(built: Built, tmp_path: Path) -> None:
    env = built("triton-3.5.1")
    reduction = reduced(
        cell(env, "faces", "unrolled_for_ever"),
        env,
        tmp_path,
        Limits(deadline=0.6, memory=LIMITS.memory),
    )
    check(reduction, lines=3, size=140)


@pytest.mark.wheels
@pytest.mark.long
def test_the_historical_kernel(built: Built, config: MatrixConfig, tmp_path: Path) -> None:
    specs = load_kernels(config.kernels, config.base)
    (spec,) = (
        s for s in specs if (s.kernel, s.variant, s.case) == ("sel_varlen", "as_written", "few")
    )
    env = built("triton-3.0.0")
    reduction = reduced(Cell(env=env.env, target=TARGETS["sm_90"], spec=spec), env, tmp_path)
    check(reduction, lines=12, size=400)
    assert reduction.start.kernel_lines > 35
