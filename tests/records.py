"""Made-up records for tests, in short form: envs, failures, outcomes and results.

:mod:`tests.cells` makes cells over real kernels, and :mod:`tests.report.factory` whole reports.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from attrs import evolve
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from compat.model import (
    BuiltEnv,
    Cell,
    CompileSpec,
    Env,
    Expectation,
    Failure,
    Outcome,
    Package,
    Result,
    Specialization,
    Status,
    Target,
    ToolchainWarning,
)

RELEASES = (
    "3.0.0",
    "3.1.0",
    "3.2.0",
    "3.3.0",
    "3.3.1",
    "3.4.0",
    "3.5.0",
    "3.5.1",
    "3.6.0",
    "3.7.0",
    "3.7.1",
    "3.8.0",
    "3.9.0",
)
TARGETS = (
    Target(name="sm_80", backend="cuda", arch=80, warp_size=32, shared_memory=166_912),
    Target(name="sm_90", backend="cuda", arch=90, warp_size=32, shared_memory=232_448),
    Target(name="sm_100", backend="cuda", arch=100, warp_size=32, shared_memory=232_448),
)

SHAPE = Failure(
    failure_class="shape-mismatch",
    stage="ttir",
    fingerprint="shape-mismatch:5f0c1a9e",
    excerpt=(
        "at 23:15:\n    k = tl.load(K_ptr + (l0 + offs_L) * stride_kL + (d0 + offs_D)[None, :] *"
        " stride_kd)\n               ^\nValueError('Cannot make_shape_compatible: incompatible"
        " dimensions at index 1: 128 and 64')"
    ),
    advice="Give the row term its own axis: (l0 + offs_L)[:, None] next to (d0 + offs_D)[None, :].",
    location="sel_dense.py:41",
)
ASSERT = Failure(
    failure_class="mlir-bitwidth-assert",
    stage="ttir",
    fingerprint="mlir-bitwidth-assert:91c24d07",
    excerpt=(
        "python3: Types.cpp:126: unsigned int mlir::Type::getIntOrFloatBitWidth() const: Assertion "
        '`isIntOrFloat() && "only integers and floats have a bitwidth"\' failed.'
    ),
    advice=(
        "Make the loop's bound a scalar: load it with a scalar pointer, or reduce the block with"
        " tl.max."
    ),
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
    excerpt=(
        "error: 'ttng.warp_group_dot' op | `expected` an accumulator\nRuntimeError:"
        " PassManager::run failed"
    ),
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
    status=Status.OK,
    stage="cubin",
    metrics={"shared": 65_536, "registers": 128},
    stages={"ttir": 0.01, "cubin": 0.3},
    seconds=0.4,
)
LOST = Outcome(status=Status.LOST, stage="ttir")
BROKEN = Outcome(status=Status.ENV_BROKEN, stage="source", failure=INSTALL)
DEPRECATED = evolve(
    OK,
    warnings=(
        ToolchainWarning(type="DeprecationWarning", message="block pointers will be removed"),
    ),
)


def bad(failure: Failure, status: Status = Status.REJECTED, *, flaky: bool = False) -> Outcome:
    attempts = (
        (f"{status} {failure.failure_class}", "ok")
        if flaky
        else (f"{status} {failure.failure_class}",) * 2
    )
    return Outcome(
        status=status,
        stage=failure.stage,
        failure=failure,
        attempts=attempts,
        flaky=flaky,
        seconds=0.2,
    )


def env(
    release: str,
    *,
    name: str = "",
    torch: str | None = None,
    distribution: str = "triton",
    error: str | None = None,
) -> BuiltEnv:
    """A built env; with ``error``, an env that could not be built."""
    version = Version(release)
    env_request = Env(
        name=name or f"triton-{release}",
        release=version,
        framework_release=Version(torch) if torch else None,
        distribution=distribution,
    )
    if error:
        return BuiltEnv(env=env_request, error=error)
    versions = {distribution: release, "numpy": "1.26.4", "setuptools": "80.9.0"} | (
        {"torch": torch} if torch else {}
    )
    packages = tuple(
        Package(name=n, version=v, digest=sha256(f"{n} {v}".encode()).hexdigest())
        for n, v in versions.items()
    )
    digest = sha256(repr(packages).encode()).hexdigest()
    return BuiltEnv(
        env=env_request,
        python="/env/bin/python",
        python_version="3.11.7",
        packages=packages,
        digest=digest,
    )


def declared(
    failure: Failure, status: Status = Status.REJECTED, releases: str = "", reason: str = ""
) -> Expectation:
    return Expectation(
        status=status,
        failure_class=failure.failure_class,
        releases=SpecifierSet(releases),
        reason=reason,
    )


def failure(
    failure_class: str, fingerprint: str = "", *, stage: str = "ttir", prediction: bool = False
) -> Failure:
    """A failure for tests that need only its class, and perhaps its fingerprint."""
    return Failure(
        failure_class=failure_class,
        stage=stage,
        fingerprint=fingerprint or f"{failure_class}:1",
        excerpt=f"{failure_class} it is",
        advice="Mend it.",
        prediction=prediction,
    )


def spec(variant: str = "block_ptr", case: str = "d64", **facts: Any) -> Specialization:
    """A specialization of a kernel that does not exist."""
    fields = {"kernel": "sel_dense", "source": "/kernels/k.py", "function": "k"} | facts
    return Specialization(
        variant=variant, case=case, compile=CompileSpec(signature={}, constexprs={}), **fields
    )


SPEC = spec()


def result(
    outcome: Outcome,
    built: BuiltEnv | str = "3.1.0",
    target: Target = TARGETS[1],
    spec: Specialization = SPEC,
    **facts: Any,
) -> Result:
    """A result with this outcome, for a cell in an env or in the env of a release."""
    built = env(built) if isinstance(built, str) else built
    return Result(
        cell=Cell(env=built.env, target=target, spec=spec), built=built, outcome=outcome, **facts
    )
