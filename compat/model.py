"""The records that travel through the program, and the words for them.

Every record is frozen and keyword-only: made once at a border (a TOML file, a worker's answer, the result store) and handed
down unchanged from there::

    Env × Target × Specialization = Cell ─▶ Evidence, one per attempt ─▶ Outcome ─▶ Result ─▶ Verdict

Nothing here reads a file, starts a process or decides anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from attrs import Factory, frozen
from packaging.specifiers import SpecifierSet
from packaging.version import Version

STAGES = ("import", "ast", "ttir", "ttgir", "llir", "ptx", "amdgcn", "cubin", "hsaco", "interpret", "launch", "check")
"""Triton's own names for the steps of a compile, in order; the last three need more than a compiler."""

DTYPES = ("i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "fp16", "bf16", "fp32", "fp64", "fp8e4nv", "fp8e5")
"""Element types a signature may name, as Triton spells them; a pointer is ``*`` followed by one of these."""


class Status(StrEnum):
    """What became of a cell."""

    OK = "ok"
    REJECTED = "rejected"
    """The compiler said no, with a diagnostic."""
    CRASHED = "crashed"
    """The compiler died, or reported an error of its own (an assertion, a failed verifier)."""
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    UNSUPPORTED = "unsupported"
    """This toolchain cannot build for this target, whatever the kernel."""
    WRONG = "wrong"
    """It built, and computed wrong numbers."""
    ENV_BROKEN = "env_broken"
    """The env could not be installed, or cannot import its toolchain."""
    LOST = "lost"
    """No answer came. Never to be read as ``ok``."""

    @property
    def is_answer(self) -> bool:
        """Whether this says something about the kernel on this release (and not about the bench it was tried on)."""
        return self not in (Status.ENV_BROKEN, Status.LOST)


# --- where a cell stands -----------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Env:
    """An isolated environment as asked for: a Triton (release or fork), perhaps its PyTorch pair, a Python."""

    name: str
    triton: Version | None = None
    """The release asked for; ``None`` for a wheel whose version is known only once it is installed."""
    torch: Version | None = None
    distribution: str = "triton"
    """The name the toolchain is published under; forks use their own."""
    wheel: str | None = None
    """A path or URL of a wheel to install in place of a release."""
    index: str | None = None
    """The URL of a package index to look in besides the default one."""
    python: SpecifierSet = Factory(SpecifierSet)
    install: tuple[str, ...] = ()
    """Further requirements, as pip reads them."""
    groups: tuple[str, ...] = ()


@frozen(kw_only=True)
class Package:
    """One distribution as installed. ``digest`` is the SHA-256 of its RECORD, which lists the hash of every file it has."""

    name: str
    version: str
    digest: str


@frozen(kw_only=True)
class BuiltEnv:
    """An env as found on disk: what resolved, or the installer's own words on why nothing did."""

    env: Env
    python: str | None = None
    """Path of the env's interpreter, ``None`` where there is none to run."""
    python_version: str | None = None
    packages: tuple[Package, ...] = ()
    error: str | None = None
    """Why the env cannot be used, in the words of whoever failed (installer, interpreter search); ``None`` when it can."""
    digest: str = ""
    """One hash over interpreter version and packages: equal digests mean the same toolchain."""

    def version_of(self, distribution: str) -> str | None:
        """The installed version of a distribution, or ``None`` where it is not installed."""
        return next((p.version for p in self.packages if p.name == distribution), None)

    @property
    def triton(self) -> str | None:
        """The version of Triton in this env: as installed, or as asked for where nothing is installed."""
        return self.version_of(self.env.distribution) or (str(self.env.triton) if self.env.triton else None)

    @property
    def torch(self) -> str | None:
        """The version of PyTorch in this env, as installed or else as asked for; ``None`` without a pair."""
        return self.version_of("torch") or (str(self.env.torch) if self.env.torch else None)


@frozen(kw_only=True)
class Target:
    """What code is generated for, without a GPU being there."""

    name: str
    backend: str
    """``cuda`` or ``hip``, as ``GPUTarget.backend``."""
    arch: int | str
    """Compute capability times ten (90 for ``sm_90``), or the gfx name."""
    warp_size: int
    shared_memory: int
    """Bytes of shared memory (LDS) one block may have at most on this architecture."""


@frozen(kw_only=True)
class Expectation:
    """A declared failure, as a test suite declares an xfail. Empty globs match everything."""

    status: Status
    kind: str | None = None
    """The failure class, where the declaration is that precise."""
    releases: SpecifierSet = Factory(SpecifierSet)
    targets: tuple[str, ...] = ("*",)
    cases: tuple[str, ...] = ("*",)
    reason: str = ""

    def covers(self, *, release: Version, target: str, case: str) -> bool:
        """Whether this declaration speaks about that cell."""
        return (
            self.releases.contains(release, prereleases=True)
            and any(fnmatchcase(target, glob) for glob in self.targets)
            and any(fnmatchcase(case, glob) for glob in self.cases)
        )


@frozen(kw_only=True)
class Specialization:
    """A kernel function with everything a compile needs to know of its arguments."""

    kernel: str
    variant: str
    case: str
    source: str
    """Absolute path of the Python file that holds the function."""
    function: str
    signature: Mapping[str, str]
    """Run-time argument → Triton type (``*fp16``, ``i32``, …). Constexprs are not in it."""
    constexprs: Mapping[str, Any]
    divisible_by_16: tuple[str, ...] = ()
    equal_to_1: tuple[str, ...] = ()
    options: Mapping[str, Any] = Factory(dict)
    """Compile options: ``num_warps``, ``num_stages``, …"""
    closure: str = ""
    """SHA-256 over the source file and the files beside it that it imports."""
    origin: str = ""
    """The TOML file that declares it, as the user named it."""
    summary: str = ""
    expectations: tuple[Expectation, ...] = ()


@frozen(kw_only=True)
class Cell:
    """One coordinate, Env × Target × Specialization. Nothing else in the program may mean "one compile"."""

    env: Env
    target: Target
    spec: Specialization

    @property
    def id(self) -> str:
        """``kernel/variant/case/target/env``: readable, stable, and what globs are matched against."""
        return f"{self.spec.kernel}/{self.spec.variant}/{self.spec.case}/{self.target.name}/{self.env.name}"


# --- what happened -----------------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Raised:
    """One exception of a chain, outermost first, as plain text."""

    type: str
    """Qualified name, for example ``triton.compiler.errors.CompilationError``."""
    message: str


@frozen(kw_only=True)
class Noticed:
    """One warning the toolchain gave, without repetitions."""

    type: str
    message: str


@frozen(kw_only=True)
class Diagnosis:
    """What a diagnostics run found out: where inside the compiler it went wrong."""

    pass_: str | None = None
    """The MLIR pass in flight, as ``mlir-opt`` names it, for example ``tritongpu-coalesce``."""
    op: str | None = None
    """The operation the diagnostic points at, for example ``tt.dot``."""
    location: str | None = None
    """``file.py:line`` in the kernel's source."""
    reproducer: str | None = None
    """Name of the kept MLIR reproducer (IR and pipeline), relative to the store's artifacts."""
    ir: str | None = None
    """Name of the kept IR dump from just before the failing pass, relative to the store's artifacts."""


@frozen(kw_only=True)
class Evidence:
    """Raw facts of one attempt at one cell. What they mean is for :mod:`compat.evidence.classify` to say."""

    answered: bool
    """A whole, well-formed answer to this very cell arrived. Without one nothing can be ``ok``."""
    built: bool = False
    """That answer said that a non-empty binary came out."""
    toolchain_broken: bool = False
    """The toolchain could not be imported: nothing is known of this cell."""
    alone: bool = False
    """The cell had a fresh process to itself and the compiler's diagnostics were on."""
    stage: str = "import"
    """The last stage entered."""
    entered: float = 0.0
    """Seconds from the start of the attempt to that of ``stage``."""
    exit_code: int | None = None
    """Exit code of the process if it ended with this cell in flight."""
    signal: str | None = None
    """Name of the signal (``SIGABRT``) that ended the process with this cell in flight."""
    deadline: float | None = None
    """Seconds after which the cell was stopped; ``None`` if it was not."""
    memory: int | None = None
    """Bytes resident when the cell was stopped for its memory; ``None`` if it was not."""
    raised: tuple[Raised, ...] = ()
    """The exception chain, outermost first."""
    stderr: str = ""
    """What file descriptors 1 and 2 received, bounded in the middle."""
    seconds: float = 0.0
    """Wall time of the attempt."""
    stages: Mapping[str, float] = Factory(dict)
    """Seconds per finished stage, in order."""
    metrics: Mapping[str, Any] = Factory(dict)
    """Of a built cell: ``shared``, ``registers``, ``spills``, ``artifacts`` (bytes per stage), …"""
    warnings: tuple[Noticed, ...] = ()
    diagnosis: Diagnosis = Factory(Diagnosis)
    kept: Mapping[str, str] = Factory(dict)
    """Artifacts that were asked for: stage, or ``passes``, → name, relative to the store's artifacts."""
    protocol: tuple[str, ...] = ()
    """What was wrong with the worker's messages, if anything."""


@frozen(kw_only=True)
class Failure:
    """Why a cell is not ``ok``."""

    kind: str
    """The class, one of :mod:`compat.evidence.taxonomy`'s. ``class`` in JSON."""
    stage: str
    fingerprint: str
    """Equal for the same defect whatever the release, path, line, stage or pass; different for different ones."""
    excerpt: str
    """The few lines that say it."""
    advice: str
    pass_: str | None = None
    op: str | None = None
    location: str | None = None
    reproducer: str | None = None
    ir: str | None = None
    prediction: bool = False
    """True where nothing failed yet: it compiled, and a launch would fail."""


@frozen(kw_only=True)
class Outcome:
    """What all the evidence on one cell means."""

    status: Status
    stage: str
    failure: Failure | None = None
    flaky: bool = False
    """Two attempts in the same circumstances ended differently."""
    attempts: tuple[str, ...] = ()
    """One ``status class`` per attempt, first to last."""
    warnings: tuple[Noticed, ...] = ()
    metrics: Mapping[str, Any] = Factory(dict)
    stages: Mapping[str, float] = Factory(dict)
    seconds: float = 0.0


@frozen(kw_only=True)
class Result:
    """A cell with its outcome, beside what was declared of it."""

    cell: Cell
    built: BuiltEnv
    outcome: Outcome
    expectation: Expectation | None = None
    cached: bool = False
    """Read from the store, not compiled in this run."""

    @property
    def expected(self) -> bool:
        """Whether this came out as declared.

        A toolchain that cannot build for a target says nothing about the kernel, so ``unsupported`` is never a surprise; a broken
        env and a lost answer always are; so is a flaky cell.
        """
        status, failure = self.outcome.status, self.outcome.failure
        if self.outcome.flaky or not status.is_answer:
            return False
        if self.expectation is None:
            return status is Status.UNSUPPORTED or (status is Status.OK and failure is None)
        if status is Status.UNSUPPORTED and self.expectation.status is not Status.UNSUPPORTED:
            return True
        kind = failure.kind if failure else None
        return status is self.expectation.status and self.expectation.kind in (None, kind)


# --- what it comes to --------------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Interval:
    """Neighbouring releases, ends included, that behave the same."""

    first: str
    last: str
    status: Status
    kind: str | None = None
    fingerprint: str | None = None


@frozen(kw_only=True)
class Change:
    """A failure that became another failure."""

    release: str
    before: str
    after: str
    """Failure classes; when both are the same class, the fingerprints differ."""


class Word(StrEnum):
    """The verdicts there are."""

    WORKS = "works"
    REGRESSED = "regressed in"
    FIXED = "fixed in"
    NEVER = "never worked"
    NEEDS = "needs ≥"
    REMOVED = "removed in"
    NON_MONOTONIC = "non-monotonic"
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"


@frozen(kw_only=True)
class Verdict:
    """One line over all releases for a (kernel, variant, case, target)."""

    kernel: str
    variant: str
    case: str
    target: str
    word: Word
    release: str | None = None
    """The release that the word speaks of, for example the first bad one of ``regressed in``."""
    intervals: tuple[Interval, ...] = ()
    changes: tuple[Change, ...] = ()
    untested: tuple[str, ...] = ()
    """Releases of which nothing is known (env broken, answer lost)."""
    flaky: tuple[str, ...] = ()
    deprecated: tuple[str, ...] = ()
    """Releases that built it with a deprecation warning."""

    @property
    def phrase(self) -> str:
        """The verdict in words: ``regressed in 3.9.0``, ``never worked``."""
        return f"{self.word} {self.release}" if self.release else str(self.word)
