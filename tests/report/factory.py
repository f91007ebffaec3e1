"""Short ways to make results and reports for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from attrs import evolve
from packaging.version import Version

from compat.history.verdict import verdicts
from compat.model import (
    BuiltEnv,
    Cell,
    Check,
    CompileSpec,
    Expectation,
    Latency,
    Outcome,
    Result,
    Specialization,
    Status,
    Target,
)
from compat.report.summary.record import Report
from tests.records import (
    ASSERT,
    BROKEN,
    DEPRECATED,
    LOST,
    MISSING,
    OK,
    PASS,
    RELEASES,
    REMOVED,
    SHAPE,
    SHARED,
    TARGETS,
    UNKNOWN_TARGET,
    bad,
    declared,
    env,
)

Fate = Callable[[str, Target], Outcome]
"""Release and target → the outcome of a kernel there."""


def results_of(
    kernel: str,
    variant: str,
    fate: Fate,
    *,
    envs: Iterable[BuiltEnv],
    expect: Sequence[Expectation] = (),
    cases: Sequence[str] = ("d64",),
    targets: Sequence[Target] = TARGETS[:2],
    summary: str = "",
) -> list[Result]:
    """The results of one variant, on every case, target and env."""
    return [
        Result(
            cell=Cell(
                env=built.env,
                target=target,
                spec=Specialization(
                    kernel=kernel,
                    variant=variant,
                    case=case,
                    source=f"/kernels/{kernel}.py",
                    function=f"{kernel}_{variant}",
                    compile=CompileSpec(
                        signature={"Q_ptr": "*fp16"},
                        constexprs={"BLOCK": 64},
                        divisible_by_16=("Q_ptr",),
                    ),
                    summary=summary,
                    expectations=tuple(expect),
                ),
            ),
            built=built,
            outcome=BROKEN if built.error else fate(str(built.release), target),
            expectation=_declaration(expect, built, target, case),
            cached=variant == "loop_1d",
        )
        for case in cases
        for target in targets
        for built in envs
    ]


def report(
    results: Sequence[Result], *, remembered: Sequence[Result] = (), existing: Sequence[str] = ()
) -> Report:
    envs = {result.built.env.name: result.built for result in results}
    return Report(
        results=tuple(results),
        verdicts=verdicts(
            results, remembered=remembered, existing={"triton": tuple(map(Version, existing))}
        ),
        existing={"triton": tuple(map(Version, existing))},
        envs=tuple(envs.values()),
        command="compat matrix --envs releases",
        seconds=41.23,
    )


def always(outcome: Outcome) -> Fate:
    return lambda release, target: outcome


def since(first: str, then: Outcome, before: Outcome) -> Fate:
    return lambda release, target: then if Version(release) >= Version(first) else before


def _declaration(
    expect: Iterable[Expectation], built: BuiltEnv, target: Target, case: str
) -> Expectation | None:
    release = Version(str(built.release))
    return next(
        (e for e in expect if e.covers(release=release, target=target.name, case=case)), None
    )


# --- whole reports --------------------------------------------------------------------------------


def expected_matrix(releases: Sequence[str] = RELEASES) -> Report:
    """Both kernels on every release, all as expected."""
    envs = [env(release) for release in releases]
    never = "The row term of the load has no [:, None]."
    crash = "The bound of the loop is a block of shape [1] that was loaded."
    results = [
        *results_of(
            "sel_dense",
            "as_written",
            always(bad(SHAPE)),
            envs=envs,
            expect=[declared(SHAPE, reason=never)],
            summary="The first text.",
        ),
        *results_of("sel_dense", "broadcast_2d", always(OK), envs=envs),
        *results_of("sel_dense", "pointer_grid", always(OK), envs=envs),
        *results_of("sel_dense", "loop_1d", always(OK), envs=envs),
        *results_of(
            "sel_dense",
            "block_ptr",
            lambda release, target: (
                bad(REMOVED) if release == "3.9.0" else DEPRECATED if release == "3.8.0" else OK
            ),
            envs=envs,
            expect=[
                declared(
                    REMOVED, releases=">=3.9", reason="Removed in favour of tensor descriptors."
                )
            ],
        ),
        *results_of(
            "sel_dense",
            "descriptor",
            since("3.4.0", OK, bad(MISSING)),
            envs=envs,
            expect=[declared(MISSING, releases="<3.4", reason="Descriptors came with 3.4.")],
        ),
        *results_of(
            "sel_varlen",
            "as_written",
            since("3.3.0", bad(ASSERT), bad(ASSERT, Status.CRASHED)),
            envs=envs,
            expect=[
                declared(ASSERT, Status.CRASHED, "<3.3", reason=crash),
                declared(ASSERT, releases=">=3.3", reason=crash),
            ],
            cases=("few", "many", "mixed"),
        ),
        *results_of(
            "sel_varlen",
            "as_written_mask_broadcast",
            always(OK),
            envs=envs,
            summary="Masks broadcast to k_ptrs.shape: the first fix attempt, blamed for the abort.",
            cases=("few", "many", "mixed"),
        ),
        *results_of(
            "sel_varlen", "broadcast_2d", always(OK), envs=envs, cases=("few", "many", "mixed")
        ),
    ]
    return report(results)


def troubled_matrix() -> Report:
    """One report with everything that can be unexpected."""
    envs = [
        env("3.0.0", name="pt2.4", torch="2.4.1"),
        env("3.1.0"),
        env("3.1.0", name="pt2.5", torch="2.5.1"),
        env(
            "3.2.0",
            error=(
                "Resolving…\n× No solution found when resolving dependencies:\n╰─▶ no wheels for"
                " triton==3.2.0"
            ),
        ),
        env("3.3.0"),
        env("3.5.1"),
        env("3.1.0+ours", name="ours"),
    ]

    def divided(release: str, target: Target) -> Outcome:
        if target.name == "sm_100":
            return (
                bad(UNKNOWN_TARGET, Status.UNSUPPORTED) if Version(release) < Version("3.3") else OK
            )
        return (
            bad(SHARED)
            if target.name == "sm_80"
            else bad(PASS)
            if release in ("3.3.0", "3.1.0+ours")
            else OK
        )

    regressed = results_of(
        "sel_varlen",
        "loop_1d",
        since("3.3.0", bad(PASS, Status.CRASHED), OK),
        envs=envs,
        cases=("few", "many"),
    )
    regressed = [
        evolve(r, outcome=bad(PASS)) if r.cell.env.name == "pt2.5" else r for r in regressed
    ]
    results = [
        *results_of(
            "sel_dense",
            "as_written",
            since("3.5.1", OK, bad(SHAPE)),
            envs=envs,
            expect=[declared(SHAPE, reason="It | was `so`.")],
        ),
        *results_of("sel_dense", "broadcast_2d", divided, envs=envs, targets=TARGETS),
        *results_of(
            "sel_dense",
            "pointer_grid",
            lambda r, _: bad(ASSERT, Status.CRASHED, flaky=True) if r == "3.3.0" else OK,
            envs=envs,
        ),
        *results_of("sel_dense", "loop_1d", lambda r, _: LOST if r == "3.5.1" else OK, envs=envs),
        *regressed,
    ]
    return report(results)


def two_toolchains() -> Report:
    """A report of a kernel of CuTe DSL on its release 4.1.0, and one of Triton on 3.9.0."""
    built = env("4.1.0", name="cute-4.1.0", distribution="nvidia-cutlass-dsl")
    [other] = results_of("c", "v", always(OK), envs=[built], targets=TARGETS[:1])
    cell = evolve(
        other.cell,
        env=evolve(other.cell.env, toolchain="cute"),
        spec=evolve(other.cell.spec, toolchain="cute"),
        target=evolve(other.cell.target, toolchain="cute"),
    )
    other = evolve(other, cell=cell, built=evolve(built, env=cell.env))
    results = results_of("k", "v", always(OK), envs=[env("3.9.0")], targets=TARGETS[:1])
    return report([other, *results], existing=("3.8.0", "3.9.0"))


# --- numbers --------------------------------------------------------------------------------------

GPU = "NVIDIA H200"
RIGHT = Check(status=Status.OK, max_abs=0.001, max_rel=0.002, where="ragged: O_ptr[0, 3, 17]")
UNABLE = Check(status=Status.UNSUPPORTED, reason="it computes a dot of bf16 blocks wrong")
UNSTABLE = Check(
    status=Status.UNSTABLE,
    max_abs=1.5,
    max_rel=0.8,
    where="sixteen ranges: O_ptr[1, 0, 5]",
    reason="the first launch was right",
    launches=30,
    differing=7,
    device=GPU,
)


def launched(result: Result, us: float | None = 100.0, check: Check | None = None) -> Result:
    """A result with a launch on a GPU, which took ``us`` microseconds.

    The launch is right unless there is another ``check``.
    """
    gpu_check = check or evolve(RIGHT, launches=30, differing=0, device=GPU)
    latency = (
        Latency(us=us, spread=0.5, baseline_us=80.0, ratio=us / 80.0, device=GPU) if us else None
    )
    return evolve(result, numbers=evolve(result.numbers, gpu=gpu_check), latency=latency)


def interpreted(result: Result, check: Check = RIGHT) -> Result:
    """A result with the check of its kernel in the interpreter."""
    return evolve(result, numbers=evolve(result.numbers, interpreter=check))


SUSPICION = (
    "likely 1.5 times slower than on 3.8.0: 1 block per multiprocessor instead of 2, limited by"
    " shared memory"
)
"""Why a cell of :func:`suspected_matrix` is likely slower on 3.9.0."""


def suspected_matrix() -> list[Result]:
    """A kernel that compiles in two cases. One case is likely slower on the last release."""
    envs = [env(release) for release in ("3.1.0", "3.8.0", "3.9.0")]

    def paced(release: str, _: Target) -> Outcome:
        occupancy = {"blocks": 1 if release == "3.9.0" else 2, "limited_by": "shared memory"}
        pace = {"units": 10_000, "latency": 40_000, "loops": ""}
        return evolve(OK, metrics={"occupancy": occupancy, "pace": pace})

    return [
        *results_of("k", "v", always(OK), envs=envs, cases=["d32"], targets=TARGETS[:1]),
        *results_of("k", "v", paced, envs=envs, targets=TARGETS[:1]),
    ]


def checked_matrix() -> list[Result]:
    """Two variants of a kernel.

    One is unstable on an old release. The other one is slower on a release in the middle.
    """
    envs = [env(release) for release in ("3.1.0", "3.2.0", "3.3.0", "3.4.0")]
    many = [
        launched(
            interpreted(result), 200.0, UNSTABLE if str(result.built.release) == "3.1.0" else None
        )
        for result in results_of(
            "sel_varlen", "block_ptr", always(OK), envs=envs, cases=["many"], targets=TARGETS[1:2]
        )
    ]
    few = [
        launched(
            interpreted(result, UNABLE), 300.0 if str(result.built.release) == "3.3.0" else 156.4
        )
        for result in results_of(
            "sel_varlen",
            "loop_1d",
            always(OK),
            envs=envs,
            cases=["few", "many"],
            targets=TARGETS[1:2],
        )
    ]
    return [*many, *few]
