"""A large made-up report with everything that a matrix can contain.

The same number of cells always gives the same report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import crc32

from attrs import evolve
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from compat.history.verdict import verdicts
from compat.model import (
    BuiltEnv,
    Cell,
    CompileSpec,
    Expectation,
    Failure,
    Outcome,
    Result,
    Specialization,
    Status,
    Target,
    ToolchainWarning,
)
from compat.report.summary.record import Report
from tests.records import INSTALL, RELEASES, env
from tests.targets import TARGETS as KNOWN

SOURCE = Path(__file__).parents[2] / "kernels" / "sel_dense.py"
"""The source file that every kernel of the report names."""
ENVS = (
    *map(env, RELEASES),
    env("3.5.1", name="pt2.9", torch="2.9.1"),
    env("3.6.0+ours", name="ours"),
    env(
        "4.0.0",
        error=(
            "Resolving…\n× No solution found when resolving dependencies:\n╰─▶ no wheels for"
            " triton==4.0.0"
        ),
    ),
)
TARGETS = tuple(KNOWN[name] for name in ("sm_80", "sm_90", "sm_100", "gfx942", "gfx1100"))
FAMILIES = (
    "attention",
    "conv1d",
    "cross_entropy",
    "dropout",
    "layer_norm",
    "matmul",
    "moe",
    "rms_norm",
    "rope",
    "scan",
    "softmax",
)
VARIANTS = ("as_written", "block_ptr", "broadcast_2d", "descriptor", "loop_1d", "pointer_grid")
CASES = ("d64", "d128", "varlen")
STAGES = ("ttir", "ttgir", "llir", "ptx", "cubin")

Story = Callable[[int, int, Target], Outcome]
"""Number of the kernel, number of the release, target → outcome."""


def synthetic(cells: int, targets: Sequence[Target] = TARGETS) -> Report:
    """A report of this many cells, with as many kernels as they need."""
    results = tuple(islice(_results(targets), cells))
    existing = {"triton": tuple(map(Version, (*RELEASES, "4.0.0", "4.1.0")))}
    return Report(
        results=results,
        verdicts=verdicts(results, existing=existing),
        existing=existing,
        envs=ENVS,
        command="compat matrix --envs releases",
        seconds=cells / 20,
        root=str(SOURCE.parents[1]),
    )


def _results(targets: Sequence[Target]) -> Iterator[Result]:
    number = 0
    while True:
        spec, story = _spec(number), STORIES[_story(number)]
        for target in targets:
            for place, built in enumerate(ENVS):
                yield _result(spec, target, built, story(number, place, target))
        number += 1


def _spec(number: int) -> Specialization:
    """Each kernel has three variants, and each variant has two cases."""
    kernel, variant, case = number // 6, number % 6 // 2, number % 2
    family = FAMILIES[kernel % len(FAMILIES)]
    return Specialization(
        kernel=f"{family}_{kernel:03}",
        variant=VARIANTS[(kernel + variant) % len(VARIANTS)],
        case=CASES[(kernel + case) % len(CASES)],
        source=str(SOURCE),
        function=f"{family}_kernel",
        compile=CompileSpec(
            signature={"Q_ptr": "*fp16", "O_ptr": "*fp16", "n": "i32"},
            constexprs={"BLOCK": 64 << number % 3},
            divisible_by_16=("Q_ptr", "O_ptr"),
            options={"num_warps": 4 + 4 * (number % 2)},
        ),
        origin=f"kernels/{family}.toml",
        summary=f"the {family} kernel, number {kernel}",
        expectations=DECLARED.get(_story(number), ()),
    )


def _story(number: int) -> int:
    """The cases of a variant have the same story."""
    return number // 2 % len(STORIES)


def _result(spec: Specialization, target: Target, built: BuiltEnv, outcome: Outcome) -> Result:
    if built.error:
        outcome = Outcome(status=Status.ENV_BROKEN, stage="source", failure=INSTALL)
    release = Version(str(built.release))
    expectation = next(
        (
            e
            for e in spec.expectations
            if e.covers(release=release, target=target.name, case=spec.case)
        ),
        None,
    )
    cell = Cell(env=built.env, target=target, spec=spec)
    return Result(
        cell=cell, built=built, outcome=outcome, expectation=expectation, cached=spec.case == "d128"
    )


# --- outcomes -------------------------------------------------------------------------------------


def _ok(
    number: int, place: int, target: Target, *, registers: int = 96, spills: int = 0
) -> Outcome:
    """Compiled. Sizes and times drift from release to release, and no two are alike."""
    noise = crc32(f"{number} {place} {target.name}".encode())
    grown = 20_000 + 1_000 * (number % 17) + 150 * place + noise % 997
    metrics = {
        "artifacts": {stage: grown + 10_000 * step for step, stage in enumerate(STAGES)},
        "shared": 16_384 << number % 3,
        "num_warps": 4 + 4 * (number % 2),
        "registers": registers,
        "spill_store_bytes": spills,
        "spill_load_bytes": spills,
    }
    stages = {
        stage: 0.01 * (step + 1) + 0.001 * place + (noise >> 4 * step) % 64 / 1e4
        for step, stage in enumerate(STAGES)
    }
    return Outcome(
        status=Status.OK,
        stage="cubin",
        attempts=("ok",),
        metrics=metrics,
        stages=stages,
        seconds=round(sum(stages.values()), 4),
    )


def _failed(
    number: int, failure_class: str, status: Status = Status.REJECTED, **changes: Any
) -> Outcome:
    """Failed, with a fingerprint that four kernels share."""
    defect = number // (6 * 4)
    message = f"error: '{failure_class}' number {defect}"
    failure = Failure(
        failure_class=failure_class,
        stage="ttir",
        fingerprint=f"{failure_class}:{sha256(message.encode()).hexdigest()[:12]}",
        excerpt=(
            f"    k = tl.load(K_ptr + {defect} + (l0 + offs_L) * stride_kL)\n               "
            f" ^\n{message}"
        ),
        advice=(
            "Give every term of a two-dimensional index its axis, `[:, None]` for rows and `[None,"
            " :]` for columns."
        ),
        location=f"{SOURCE.name}:{330 + defect % 40}",
    )
    failure = evolve(failure, **changes)
    attempts = (f"{status} {failure_class}",) * 2
    return Outcome(
        status=status,
        stage=failure.stage,
        failure=failure,
        attempts=attempts,
        stages={"ast": 0.02},
        seconds=0.05,
    )


def _works(number: int, place: int, target: Target) -> Outcome:
    return _ok(number, place, target)


def _spills(number: int, place: int, target: Target) -> Outcome:
    """Works. From 3.8.0 on, it needs more registers than there are."""
    return (
        _ok(number, place, target, registers=255, spills=21_504)
        if place >= 11
        else _ok(number, place, target, registers=32)
    )


def _regressed(number: int, place: int, target: Target) -> Outcome:
    if place < 3 + number % 5:
        return _ok(number, place, target)
    return _failed(
        number,
        "pass-failure",
        Status.CRASHED,
        stage="ttgir",
        pass_="tritongpu-accelerate-matmul",
        op="tt.dot",
    )


def _fixed(number: int, place: int, target: Target) -> Outcome:
    return (
        _ok(number, place, target)
        if place > 4 + number % 5
        else _failed(number, "mlir-bitwidth-assert", Status.CRASHED)
    )


def _needs(number: int, place: int, target: Target) -> Outcome:
    return _ok(number, place, target) if place >= 5 else _failed(number, "api-missing", stage="ast")


def _removed(number: int, place: int, target: Target) -> Outcome:
    """Deprecated in 3.7 and 3.8, removed in 3.9."""
    if place == 12:
        return _failed(number, "api-removed", stage="ast")
    warnings = (
        (ToolchainWarning(type="DeprecationWarning", message="block pointers will be removed"),)
        if 9 <= place <= 11
        else ()
    )
    return evolve(_ok(number, place, target), warnings=warnings)


def _never(number: int, place: int, target: Target) -> Outcome:
    """Declared to be rejected; from 3.5.0 on it crashes."""
    return (
        _failed(number, "shape-mismatch")
        if place < 6
        else _failed(number, "internal-error", Status.CRASHED, stage="llir")
    )


def _flaky(number: int, place: int, target: Target) -> Outcome:
    if place != 7:
        return _ok(number, place, target)
    return evolve(
        _failed(number, "compiler-crash", Status.CRASHED),
        flaky=True,
        attempts=("crashed compiler-crash", "ok"),
    )


def _too_much_shared(number: int, place: int, target: Target) -> Outcome:
    """Compiles everywhere. On one target, no launch of it would succeed."""
    outcome = _ok(number, place, target)
    if target.name != "sm_80":
        return outcome
    return evolve(
        outcome, failure=_failed(number, "shared-memory", stage="cubin", prediction=True).failure
    )


def _troubled(number: int, place: int, target: Target) -> Outcome:
    """No answer, or an answer that comes too late."""
    if place == 2:
        return Outcome(status=Status.LOST, stage="llir")
    ends = {5: (Status.TIMED_OUT, "timeout"), 8: (Status.OUT_OF_MEMORY, "out-of-memory")}
    if place not in ends:
        return _ok(number, place, target)
    status, failure_class = ends[place]
    return evolve(_failed(number, failure_class, status, stage="llir"), seconds=120.0)


def _wrong(number: int, place: int, target: Target) -> Outcome:
    """Wrong numbers on the first releases, and no code for a target that they do not know."""
    if target.name == "sm_100" and place < 3:
        return _failed(number, "target-unknown", Status.UNSUPPORTED, stage="cubin")
    return (
        _failed(number, "unclassified", Status.WRONG, stage="check")
        if place < 2
        else _ok(number, place, target)
    )


def _unimportable(number: int, place: int, target: Target) -> Outcome:
    return (
        _failed(number, "source-import", Status.SOURCE_BROKEN, stage="source")
        if place < 4
        else _ok(number, place, target)
    )


STORIES: tuple[Story, ...] = (
    _works,
    _regressed,
    _works,
    _spills,
    _needs,
    _removed,
    _never,
    _works,
    _fixed,
    _flaky,
    _too_much_shared,
    _troubled,
    _wrong,
    _unimportable,
)

DECLARED = {
    STORIES.index(_needs): (
        Expectation(
            status=Status.REJECTED,
            failure_class="api-missing",
            releases=SpecifierSet("<3.4"),
            reason="Descriptors came with 3.4.",
        ),
    ),
    STORIES.index(_removed): (
        Expectation(
            status=Status.REJECTED,
            failure_class="api-removed",
            releases=SpecifierSet(">=3.9"),
            reason="Removed in 3.9.",
        ),
    ),
    STORIES.index(_never): (
        Expectation(
            status=Status.REJECTED,
            failure_class="shape-mismatch",
            reason="The row term of the load has no [:, None].",
        ),
    ),
}
"""Number of a story → the declarations of its kernels."""
