"""The records that travel through the program, and the words for them.

Every record is frozen and keyword-only: made once at a border (a TOML file, a worker's answer, the result store) and handed
down unchanged from there::

    Env × Target × Specialization = Cell ─▶ Evidence, one per attempt ─▶ Outcome ─▶ Result

The account of results over the releases is in :mod:`compat.history`. Nothing here reads a file, starts a process or decides.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from attrs import Factory, field, frozen
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from compat import arguments, constexprs, signatures

SOURCE_STAGE = "import"
"""The stage in which the kernel's file is imported; what follows are the stages of its toolchain."""
DEFAULT_TOOLCHAIN = "triton"
"""The name of the default toolchain, which it is also published under."""
LATER_STAGES = ("interpret", "launch", "check")
"""Stages behind a compile, which need more than a compiler."""

HINTS = ("divisible_by_16", "equal_to_1", "pointer_range_32")
"""What a launch finds out about arguments, each the name of a field of :class:`CompileSpec`."""

TABLES = ("signature", "launch", "constexprs", "options")
"""The other fields of :class:`CompileSpec`, each a name → what is said of it."""


class Status(StrEnum):
    """What became of a cell."""

    OK = "ok"
    REJECTED = "rejected"
    """The compiler rejected it with a diagnostic."""
    CRASHED = "crashed"
    """The compiler crashed, or reported an internal error (an assertion, a failed verifier)."""
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    UNSUPPORTED = "unsupported"
    """This toolchain cannot build for this target, whatever the kernel."""
    WRONG = "wrong"
    """It built, and computed wrong numbers."""
    ENV_BROKEN = "env_broken"
    """The env could not be installed, or cannot import its toolchain."""
    SOURCE_BROKEN = "source_broken"
    """The kernel's file cannot be imported in this env, for a reason that is not the toolchain's: a package it needs is absent."""
    LOST = "lost"
    """No answer came. Never to be read as ``ok``."""

    @property
    def is_answer(self) -> bool:
        """Whether this says something about the kernel on this release (and not about what it was tried in)."""
        return self not in (Status.ENV_BROKEN, Status.SOURCE_BROKEN, Status.LOST)


# --- where a cell stands -----------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Env:
    """An isolated environment as asked for: a toolchain (a release, or a fork of it), perhaps its PyTorch pair, a Python."""

    name: str
    toolchain: str = DEFAULT_TOOLCHAIN
    """The name of its toolchain (see :mod:`compat.toolchains`)."""
    release: Version | None = None
    """The release asked for; ``None`` for a wheel whose version is known only once it is installed."""
    torch: Version | None = None
    distribution: str = DEFAULT_TOOLCHAIN
    """The name the toolchain is published under; forks use their own."""
    wheel: str | None = None
    """A path or URL of a wheel to install instead of a release."""
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
    def release(self) -> str | None:
        """The version of the toolchain in this env: as installed, or as asked for where nothing is installed."""
        return self.version_of(self.env.distribution) or (str(self.env.release) if self.env.release else None)

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
    failure_class: str | None = None
    """The failure class, where the declaration is that precise."""
    releases: SpecifierSet = Factory(SpecifierSet)
    targets: tuple[str, ...] = ("*",)
    cases: tuple[str, ...] = ("*",)
    reason: str = ""
    strict: bool = True
    """Whether a cell that is ok is unexpected, as an unexpected pass is in a test suite; if not, it may fail so and need not."""

    def covers(self, *, release: Version, target: str, case: str) -> bool:
        """Whether this declaration speaks about that cell."""
        return (
            self.releases.contains(release, prereleases=True)
            and any(fnmatchcase(target, glob) for glob in self.targets)
            and any(fnmatchcase(case, glob) for glob in self.cases)
        )


def _content(entries: Mapping[str, Any]) -> str:
    """What tables are compared and hashed by: compilers tell values apart that are equal in Python (``1``, ``1.0``, ``True``)."""
    return json.dumps(entries, sort_keys=True, default=repr)


@frozen(kw_only=True, cache_hash=True)
class CompileSpec:
    """All that a compile needs to know of a kernel's arguments, and how to compile it.

    Equal are those that mean the same: in which order arguments and options stand does not matter, and ``1`` is not ``True``.
    """

    signature: Mapping[str, signatures.ArgumentType] = field(factory=dict, eq=_content)
    """Run-time argument → type (``*fp16``, ``i32``, …, a tuple of such). Parameters that are constexprs are not in it."""
    launch: Mapping[str, Any] = field(factory=dict, eq=_content)
    """Run-time argument → what a launch passed, in the forms of :mod:`compat.arguments`, in the place of signature and hints: each
    release makes of it what its own launcher does."""
    constexprs: Mapping[str, Any] = field(factory=dict, eq=_content)
    """Parameter, or path of a tuple's element (``args[1]``), → value, in the forms of :mod:`compat.constexprs`."""
    divisible_by_16: tuple[str, ...] = field(default=(), eq=frozenset)
    """Run-time arguments, and elements by their paths, that are known to be multiples of 16: aligned pointers, sizes, strides."""
    equal_to_1: tuple[str, ...] = field(default=(), eq=frozenset)
    """Whole numbers that are known to be 1."""
    pointer_range_32: tuple[str, ...] = field(default=(), eq=frozenset)
    """Pointers to less than 2 GiB, which matters where a launcher looks at it (AMD, with buffer operations)."""
    options: Mapping[str, Any] = field(factory=dict, eq=_content)
    """Compile options: ``num_warps``, ``num_stages``, …"""

    @property
    def hints(self) -> dict[str, tuple[str, ...]]:
        """What a launch finds out of its arguments, by the names in ``HINTS``."""
        return {name: getattr(self, name) for name in HINTS}

    @property
    def ones(self) -> frozenset[str]:
        """The run-time arguments that are known to be 1."""
        passed = {name for name, value in self.launch.items() if type(value) is int and value == 1}
        return frozenset((*passed, *self.equal_to_1))

    @property
    def functions(self) -> tuple[str, ...]:
        """The jit functions that its values name, each once."""
        return constexprs.functions((*self.constexprs.values(), *arguments.constants(self.launch.values())))

    def document(self) -> dict[str, Any]:
        """As JSON, for workers and for keys. Arguments keep their order, which is the function's; that of options means nothing."""
        return {
            "signature": {name: signatures.plain(kind) for name, kind in self.signature.items()},
            "launch": dict(self.launch),
            "constexprs": dict(self.constexprs),
            **{name: list(given) for name, given in self.hints.items()},
            "options": dict(sorted(self.options.items())),
        }

    def of_parameters(self, names: Collection[str]) -> CompileSpec:
        """What is said of these parameters, with all options."""
        return CompileSpec(
            signature={name: kind for name, kind in self.signature.items() if name in names},
            launch={name: value for name, value in self.launch.items() if name in names},
            constexprs={path: value for path, value in self.constexprs.items() if signatures.parameter_of(path) in names},
            **{hint: tuple(path for path in given if signatures.parameter_of(path) in names) for hint, given in self.hints.items()},
            options=self.options,
        )


@frozen(kw_only=True, cache_hash=True)
class Specialization:
    """A kernel function with everything a compile needs to know of it."""

    kernel: str
    variant: str
    case: str
    toolchain: str = DEFAULT_TOOLCHAIN
    """The name of the toolchain that it is written for."""
    source: str
    """Absolute path of the Python file that holds the function."""
    function: str
    compile: CompileSpec = Factory(CompileSpec)
    assumed: tuple[str, ...] = ()
    """The hints that are defaults: what a launch usually finds out."""
    roots: tuple[str, ...] = ()
    """Absolute paths of the folders that its absolute imports are looked for in; where empty, the first above it that is no
    package."""
    closure: str = ""
    """SHA-256 over the source file and the files of its tree that it imports."""
    targets: tuple[str, ...] = ()
    """Globs over the names of the targets that it is meant for; empty for all."""
    origin: str = ""
    """The TOML file that declares it, as the user named it."""
    summary: str = ""
    expectations: tuple[Expectation, ...] = ()
    guessed: bool = False
    """Whether nobody has written down what it says of the arguments: it was guessed from the source."""

    def is_for(self, target: Target) -> bool:
        """Whether it is meant for a target."""
        return not self.targets or any(fnmatchcase(target.name, glob) for glob in self.targets)


@frozen(kw_only=True, cache_hash=True)
class Cell:
    """One coordinate, Env × Target × Specialization. Nothing else in the program may mean "one compile".

    A cell is known by itself, as a key of mappings too: cells may have the same :attr:`id` and other options.
    """

    env: Env
    target: Target
    spec: Specialization

    @property
    def id(self) -> str:
        """``kernel/variant/case/target/env``: what a reader calls it, and globs are matched against; it identifies nothing."""
        return f"{self.spec.kernel}/{self.spec.variant}/{self.spec.case}/{self.target.name}/{self.env.name}"


# --- what happened -----------------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Raised:
    """One exception of a chain, outermost first, as plain text."""

    type: str
    """Qualified name, for example ``triton.compiler.errors.CompilationError``."""
    message: str
    traceback: str = ""
    """The frames it was raised through, outermost first, as Python prints them; bounded, and without those of the worker."""
    errno: int | None = None
    """The number that the system gave, where it is an ``OSError``."""


@frozen(kw_only=True)
class Noticed:
    """One warning the toolchain gave, without repetitions."""

    type: str
    message: str


@frozen(kw_only=True)
class Diagnosis:
    """Where inside the compiler it went wrong, as it is read in the facts of an attempt."""

    pass_: str | None = None
    """The MLIR pass in flight, as ``mlir-opt`` names it, for example ``tritongpu-coalesce``."""
    op: str | None = None
    """The operation the diagnostic points at, for example ``tt.dot``."""
    location: str | None = None
    """``file.py:line`` in the kernel's source."""
    line: str | None = None
    """That line, as it is written there."""
    reproducer: str | None = None
    """Name of the kept MLIR reproducer (IR and pipeline), relative to the store's artifacts."""
    ir: str | None = None
    """Name of the kept IR dump from just before the failing pass, relative to the store's artifacts."""


@frozen(kw_only=True)
class Made:
    """What a stage made."""

    size: int
    """Bytes."""
    digest: str
    """The first 16 hexadecimal digits of its SHA-256, as names of kept artifacts begin."""


@frozen(kw_only=True)
class Done:
    """One action that was done to its end."""

    do: str
    """``compile`` so far: a non-empty binary came out."""
    made: Mapping[str, Made] = Factory(dict)
    """By stage."""
    requires: tuple[str, ...] = ()
    """Devices that it needed; none so far."""


@frozen(kw_only=True)
class StoodIn:
    """What took the place of packages that an env lacks while a kernel's file was imported there (see ``compat/standin``)."""

    packages: tuple[str, ...] = ()
    """Those that a stand-in was there for, with the version that it said it has: ``torch 2.9.1``."""
    answers: tuple[str, ...] = ()
    """What stand-ins said to the kernel's own modules, and where, that may have decided something there."""
    skipped: tuple[str, ...] = ()
    """Statements that failed and were left out. A kernel that needs what they make is ``source_broken``."""


@frozen(kw_only=True)
class Evidence:
    """Raw facts of one attempt at one cell. What they mean is for :mod:`compat.diagnosis.classify` to say."""

    answered: bool
    """A whole, well-formed answer to this very cell arrived. Without one nothing can be ``ok``."""
    asked: tuple[str, ...] = ("compile",)
    """The actions that were asked for."""
    done: tuple[Done, ...] = ()
    """Those that the answer said were done."""
    toolchain_broken: bool = False
    """The toolchain could not be imported: nothing is known of this cell."""
    alone: bool = False
    """The cell had a fresh process to itself and the compiler's diagnostics were on."""
    stage: str = "import"
    """The last stage entered."""
    entered: float = 0.0
    """Seconds from the start of the attempt to that of ``stage``."""
    target_known: bool | None = None
    """Whether an assembler of the toolchain knows the target; ``None`` if that was not checked."""
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
    printed: str = ""
    """What file descriptors 1 and 2 received of an attempt that failed, IR included; of much it is the artifact ``printed``."""
    in_flight: str | None = None
    """The line being lowered, ``path:number``, as the worker's beacon had it in the end."""
    in_passes: bool = False
    """Whether a pass manager ran then."""
    at: str | None = None
    """The line, ``path:number``, that an answer says it is about."""
    quoted: Mapping[str, str] = Factory(dict)
    """``path:number`` → that line as it was written then: the file may change."""
    seconds: float = 0.0
    """Wall time of the attempt."""
    stages: Mapping[str, float] = Factory(dict)
    """Seconds per finished stage, in order."""
    metrics: Mapping[str, Any] = Factory(dict)
    """Of a built cell: ``shared``, ``registers``, ``spills``, ``artifacts`` (bytes per stage), …"""
    warnings: tuple[Noticed, ...] = ()
    kept: Mapping[str, str] = Factory(dict)
    """``printed``, ``reproducer``, or a stage that was asked for → name of what was kept, relative to the store's artifacts."""
    imported: tuple[str, ...] = ()
    """Paths of the files that were imported for it, or read by these, and that no env's digest covers, the source among them."""
    witnesses: Mapping[str, str] = Factory(dict)
    """What it depends on beyond its key, files and folders by their paths, with digests (:mod:`compat.execution.witnesses`)."""
    stood_in: StoodIn | None = None
    """What took the place of packages that the env lacks; ``None`` where all was imported as it is."""
    protocol: tuple[str, ...] = ()
    """What was wrong with the worker's messages, if anything."""
    refused: str | None = None
    """What the machine refused, in the words of who asked for it, such as room on a disk: nothing is known of the cell then."""
    stderr: str = ""
    """What it printed without IR, bounded: read in ``printed`` (:mod:`compat.diagnosis.diagnose`), and never stored as evidence."""
    diagnosis: Diagnosis = Factory(Diagnosis)
    """Where it failed: read in all of the above, and never stored as evidence."""

    @property
    def complete(self) -> bool:
        """Whether an answer arrived, and says that every action that was asked for was done."""
        return self.answered and bool(self.asked) and {each.do for each in self.done}.issuperset(self.asked)

    @property
    def built(self) -> bool:
        """Whether an answer arrived, and says that a non-empty binary came out."""
        return self.answered and any(each.do == "compile" for each in self.done)


@frozen(kw_only=True)
class Failure:
    """Why a cell is not ``ok``."""

    failure_class: str
    """The class, one of :func:`compat.toolchains.failure_classes`. ``class`` in JSON."""
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
    """Two attempts under the same conditions ended differently."""
    attempts: tuple[str, ...] = ()
    """One ``status class`` per attempt, first to last."""
    warnings: tuple[Noticed, ...] = ()
    metrics: Mapping[str, Any] = Factory(dict)
    stages: Mapping[str, float] = Factory(dict)
    seconds: float = 0.0
    stood_in: StoodIn | None = None
    """What took the place of packages that the env lacks."""


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
        """Whether this is as expected.

        A toolchain that cannot build for a target says nothing about the kernel, so ``unsupported`` is never unexpected; a broken
        env, a lost answer and a flaky cell always are.
        """
        status, failure = self.outcome.status, self.outcome.failure
        if self.outcome.flaky or not status.is_answer:
            return False
        if self.expectation is None:
            return status is Status.UNSUPPORTED or (status is Status.OK and failure is None)
        if status is Status.UNSUPPORTED and self.expectation.status is not Status.UNSUPPORTED:
            return True
        if status is Status.OK and failure is None and not self.expectation.strict:
            return True
        kind = failure.failure_class if failure else None
        return status is self.expectation.status and self.expectation.failure_class in (None, kind)
