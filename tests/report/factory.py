"""Records to report on, made as short as a test can say them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256

from attrs import evolve
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from compat.history.verdict import verdicts
from compat.model import (
    BuiltEnv,
    Cell,
    Check,
    CompileSpec,
    Env,
    Expectation,
    Failure,
    Latency,
    Noticed,
    Outcome,
    Package,
    Result,
    Specialization,
    Status,
    Target,
)
from compat.report.summary.record import Report

RELEASES = ("3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.3.1", "3.4.0", "3.5.0", "3.5.1", "3.6.0", "3.7.0", "3.7.1", "3.8.0", "3.9.0")
TARGETS = (
    Target(name="sm_80", backend="cuda", arch=80, warp_size=32, shared_memory=166_912),
    Target(name="sm_90", backend="cuda", arch=90, warp_size=32, shared_memory=232_448),
    Target(name="sm_100", backend="cuda", arch=100, warp_size=32, shared_memory=232_448),
)

SHAPE = Failure(
    failure_class="shape-mismatch",
    stage="ttir",
    fingerprint="shape-mismatch:5f0c1a9e",
    excerpt="at 23:15:\n    k = tl.load(K_ptr + (l0 + offs_L) * stride_kL + (d0 + offs_D)[None, :] * stride_kd)\n               ^\n"
    "ValueError('Cannot make_shape_compatible: incompatible dimensions at index 1: 128 and 64')",
    advice="Give the row term its own axis: (l0 + offs_L)[:, None] next to (d0 + offs_D)[None, :].",
    location="sel_dense.py:41",
)
ASSERT = Failure(
    failure_class="mlir-bitwidth-assert",
    stage="ttir",
    fingerprint="mlir-bitwidth-assert:91c24d07",
    excerpt="python3: Types.cpp:126: unsigned int mlir::Type::getIntOrFloatBitWidth() const: Assertion "
    '`isIntOrFloat() && "only integers and floats have a bitwidth"\' failed.',
    advice="Make the loop's bound a scalar: load it with a scalar pointer, or reduce the block with tl.max.",
    op="scf.for",
)
REMOVED = Failure(
    failure_class="api-removed",
    stage="ttir",
    fingerprint="api-removed:c01dbeef",
    excerpt="RuntimeError: Block pointers have been removed in favor of the tensor descriptor API",
    advice="Use tl.make_tensor_descriptor.",
)
MISSING = Failure(
    failure_class="api-missing",
    stage="ast",
    fingerprint="api-missing:77aa0142",
    excerpt="AttributeError: module 'triton.language' has no attribute 'make_tensor_descriptor'",
    advice="Tensor descriptors need Triton 3.4.0 or newer.",
)
PASS = Failure(
    failure_class="pass-failure",
    stage="ttgir",
    fingerprint="pass-failure:0e7b3c55",
    excerpt="error: 'ttng.warp_group_dot' op | `expected` an accumulator\nRuntimeError: PassManager::run failed",
    advice="Try num_warps=4, or break the chain of dots.",
    pass_="tritongpu-accelerate-matmul",
    op="tt.dot",
    location="sel_varlen.py:88",
    reproducer="9a/9af1.mlir",
)
SHARED = Failure(
    failure_class="shared-memory",
    stage="cubin",
    fingerprint="shared-memory:00c0ffee",
    excerpt="shared memory 196608 bytes, sm_80 has 166912",
    advice="Make the blocks smaller or num_stages lower.",
    prediction=True,
)
UNKNOWN_TARGET = Failure(
    failure_class="target-unknown",
    stage="cubin",
    fingerprint="target-unknown:1b1b1b1b",
    excerpt="ptxas fatal   : Value 'sm_100a' is not defined for option 'gpu-name'",
    advice="Use Triton 3.3.0 or newer for this target.",
)
INSTALL = Failure(
    failure_class="install",
    stage="source",
    fingerprint="install:deadbeef",
    excerpt="× No solution found when resolving dependencies",
    advice="Look at what the installer says; is there a wheel for this interpreter?",
)

OK = Outcome(
    status=Status.OK, stage="cubin", metrics={"shared": 65_536, "registers": 128}, stages={"ttir": 0.01, "cubin": 0.3}, seconds=0.4
)
LOST = Outcome(status=Status.LOST, stage="ttir")
BROKEN = Outcome(status=Status.ENV_BROKEN, stage="source", failure=INSTALL)
DEPRECATED = evolve(OK, warnings=(Noticed(type="DeprecationWarning", message="block pointers will be removed"),))

Fate = Callable[[str, Target], Outcome]
"""What becomes of a kernel on a release and a target."""


def bad(failure: Failure, status: Status = Status.REJECTED, *, flaky: bool = False) -> Outcome:
    attempts = (f"{status} {failure.failure_class}", "ok") if flaky else (f"{status} {failure.failure_class}",) * 2
    return Outcome(status=status, stage=failure.stage, failure=failure, attempts=attempts, flaky=flaky, seconds=0.2)


def env(
    release: str, *, name: str = "", torch: str | None = None, distribution: str = "triton", error: str | None = None
) -> BuiltEnv:
    """An env as built; with ``error``, as not built."""
    version = Version(release)
    asked = Env(
        name=name or f"triton-{release}",
        release=version,
        framework_release=Version(torch) if torch else None,
        distribution=distribution,
    )
    if error:
        return BuiltEnv(env=asked, error=error)
    versions = {distribution: release, "numpy": "1.26.4", "setuptools": "80.9.0"} | ({"torch": torch} if torch else {})
    packages = tuple(Package(name=n, version=v, digest=sha256(f"{n} {v}".encode()).hexdigest()) for n, v in versions.items())
    digest = sha256(repr(packages).encode()).hexdigest()
    return BuiltEnv(env=asked, python="/env/bin/python", python_version="3.11.7", packages=packages, digest=digest)


def declared(failure: Failure, status: Status = Status.REJECTED, releases: str = "", reason: str = "") -> Expectation:
    return Expectation(status=status, failure_class=failure.failure_class, releases=SpecifierSet(releases), reason=reason)


def tried(
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
                    compile=CompileSpec(signature={"Q_ptr": "*fp16"}, constexprs={"BLOCK": 64}, divisible_by_16=("Q_ptr",)),
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


def report(results: Sequence[Result], *, remembered: Sequence[Result] = (), existing: Sequence[str] = ()) -> Report:
    envs = {result.built.env.name: result.built for result in results}
    return Report(
        results=tuple(results),
        verdicts=verdicts(results, remembered=remembered, existing={"triton": tuple(map(Version, existing))}),
        existing={"triton": tuple(map(Version, existing))},
        envs=tuple(envs.values()),
        command="compat matrix --envs releases",
        seconds=41.23,
    )


def always(outcome: Outcome) -> Fate:
    return lambda release, target: outcome


def since(first: str, then: Outcome, before: Outcome) -> Fate:
    return lambda release, target: then if Version(release) >= Version(first) else before


def _declaration(expect: Iterable[Expectation], built: BuiltEnv, target: Target, case: str) -> Expectation | None:
    release = Version(str(built.release))
    return next((e for e in expect if e.covers(release=release, target=target.name, case=case)), None)


# --- whole reports -------------------------------------------------------------------------------------------------------


def expected_matrix(releases: Sequence[str] = RELEASES) -> Report:
    """Both kernels on every release, all as expected."""
    envs = [env(release) for release in releases]
    never = "The row term of the load has no [:, None]."
    crash = "The bound of the loop is a block of shape [1] that was loaded."
    results = [
        *tried(
            "sel_dense",
            "as_written",
            always(bad(SHAPE)),
            envs=envs,
            expect=[declared(SHAPE, reason=never)],
            summary="The first text.",
        ),
        *tried("sel_dense", "broadcast_2d", always(OK), envs=envs),
        *tried("sel_dense", "pointer_grid", always(OK), envs=envs),
        *tried("sel_dense", "loop_1d", always(OK), envs=envs),
        *tried(
            "sel_dense",
            "block_ptr",
            lambda release, target: bad(REMOVED) if release == "3.9.0" else DEPRECATED if release == "3.8.0" else OK,
            envs=envs,
            expect=[declared(REMOVED, releases=">=3.9", reason="Removed in favour of tensor descriptors.")],
        ),
        *tried(
            "sel_dense",
            "descriptor",
            since("3.4.0", OK, bad(MISSING)),
            envs=envs,
            expect=[declared(MISSING, releases="<3.4", reason="Descriptors came with 3.4.")],
        ),
        *tried(
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
        *tried(
            "sel_varlen",
            "as_written_mask_broadcast",
            always(OK),
            envs=envs,
            summary="Masks broadcast to k_ptrs.shape: the first fix attempt, blamed for the abort.",
            cases=("few", "many", "mixed"),
        ),
        *tried("sel_varlen", "broadcast_2d", always(OK), envs=envs, cases=("few", "many", "mixed")),
    ]
    return report(results)


def troubled_matrix() -> Report:
    """Everything that can go otherwise, in one report."""
    envs = [
        env("3.0.0", name="pt2.4", torch="2.4.1"),
        env("3.1.0"),
        env("3.1.0", name="pt2.5", torch="2.5.1"),
        env("3.2.0", error="Resolving…\n× No solution found when resolving dependencies:\n╰─▶ no wheels for triton==3.2.0"),
        env("3.3.0"),
        env("3.5.1"),
        env("3.1.0+ours", name="ours"),
    ]

    def divided(release: str, target: Target) -> Outcome:
        if target.name == "sm_100":
            return bad(UNKNOWN_TARGET, Status.UNSUPPORTED) if Version(release) < Version("3.3") else OK
        return bad(SHARED) if target.name == "sm_80" else bad(PASS) if release in ("3.3.0", "3.1.0+ours") else OK

    regressed = tried("sel_varlen", "loop_1d", since("3.3.0", bad(PASS, Status.CRASHED), OK), envs=envs, cases=("few", "many"))
    regressed = [evolve(r, outcome=bad(PASS)) if r.cell.env.name == "pt2.5" else r for r in regressed]
    results = [
        *tried(
            "sel_dense", "as_written", since("3.5.1", OK, bad(SHAPE)), envs=envs, expect=[declared(SHAPE, reason="It | was `so`.")]
        ),
        *tried("sel_dense", "broadcast_2d", divided, envs=envs, targets=TARGETS),
        *tried(
            "sel_dense", "pointer_grid", lambda r, _: bad(ASSERT, Status.CRASHED, flaky=True) if r == "3.3.0" else OK, envs=envs
        ),
        *tried("sel_dense", "loop_1d", lambda r, _: LOST if r == "3.5.1" else OK, envs=envs),
        *regressed,
    ]
    return report(results)


# --- numbers -----------------------------------------------------------------------------------------------------------------

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
    """A result with what a launch on a GPU came to: right, unless it is said what else, in so many microseconds."""
    told = check or evolve(RIGHT, launches=30, differing=0, device=GPU)
    latency = Latency(us=us, spread=0.5, baseline_us=80.0, ratio=us / 80.0, device=GPU) if us else None
    return evolve(result, numbers=evolve(result.numbers, gpu=told), latency=latency)


def interpreted(result: Result, check: Check = RIGHT) -> Result:
    """A result with what its kernel came to in the interpreter."""
    return evolve(result, numbers=evolve(result.numbers, interpreter=check))


def checked_matrix() -> list[Result]:
    """Two kernels of which one is unstable on an old release and the other one is slower in the middle."""
    envs = [env(release) for release in ("3.1.0", "3.2.0", "3.3.0", "3.4.0")]
    many = [
        launched(interpreted(each), 200.0, UNSTABLE if str(each.built.release) == "3.1.0" else None)
        for each in tried("sel_varlen", "block_ptr", always(OK), envs=envs, cases=["many"], targets=TARGETS[1:2])
    ]
    few = [
        launched(interpreted(each, UNABLE), 300.0 if str(each.built.release) == "3.3.0" else 156.4)
        for each in tried("sel_varlen", "loop_1d", always(OK), envs=envs, cases=["few", "many"], targets=TARGETS[1:2])
    ]
    return [*many, *few]
