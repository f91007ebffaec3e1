"""What happened to a cell: the raw facts of each attempt (:class:`Evidence`), and what they mean together (:class:`Outcome`)."""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, ClassVar, TypeVar

from attrs import Factory, evolve, field, frozen

from compat.model.cell import DEFAULT_TOOLCHAIN, BuiltEnv, Cell
from compat.model.fields import ABSENT, KEY, Text, rounded
from compat.model.status import BAD_NUMBERS, NOT_RUN, Expectation, Latency, Numbers, Status

SOURCE_STAGE = "source"
"""The stage in which the kernel's file is imported; what follows are the stages of its toolchain."""
LATER_STAGES = ("interpret", "launch", "check")
"""Stages behind a compile, which need more than a compiler."""


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

    AS_ARRAY: ClassVar = True
    size: int
    """Bytes."""
    digest: str
    """The first 16 hexadecimal digits of its SHA-256, as names of kept artifacts begin."""


@frozen(kw_only=True)
class Done:
    """One action that was done to its end."""

    AS_ARRAY: ClassVar = True
    do: str
    """``compile`` so far: a non-empty binary came out."""
    made: Mapping[str, Made] = Factory(dict)
    """By stage."""
    requires: tuple[str, ...] = ()
    """Devices that it needed; none so far."""


@frozen(kw_only=True)
class StoodIn:
    """What took the place of packages that an env lacks while a kernel was imported there (``toolchains/pytorch/standin``)."""

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
    stage: str = SOURCE_STAGE
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
    source: str = ""
    """Path of the kernel's file, of an attempt that failed before that was imported to its end."""
    optional: Mapping[str, str] = Factory(dict)
    """Names that an exception mentions and an import binds whose ``ImportError`` is caught → ``path:number: import …``."""
    seconds: float = 0.0
    """Wall time of the attempt."""
    stages: Mapping[str, float] = Factory(dict)
    """CPU seconds per finished stage, in order, and of the one in which it was stopped; with those of assemblers."""
    metrics: Mapping[str, Any] = Factory(dict)
    """Of a built cell: ``shared``, ``registers``, ``spills``, ``artifacts`` (bytes per stage), …"""
    warnings: tuple[Noticed, ...] = ()
    kept: Mapping[str, str] = Factory(dict)
    """``printed``, ``reproducer``, or a stage that was asked for → name of what was kept, relative to the store's artifacts."""
    imported: tuple[str, ...] = ()
    """Paths of the files that were imported for it, or read by these, and that no env's digest covers, the source among them."""
    witnesses: Mapping[str, str] = Factory(dict)
    """What it depends on beyond its key, files and folders by their paths, with digests (:mod:`compat.store.keys`)."""
    closure: str = ""
    """That of the kernel, where the evidence is good only while all of its files are the same; else empty."""
    stood_in: StoodIn | None = None
    """What took the place of packages that the env lacks; ``None`` where all was imported as it is."""
    protocol: tuple[str, ...] = ()
    """What was wrong with the worker's messages, if anything."""
    refused: str | None = None
    """What the machine refused, in the words of who asked for it, such as room on a disk: nothing is known of the cell then."""
    stderr: str = field(default="", metadata={ABSENT: True})
    """What it printed without IR, bounded: read in ``printed`` (:mod:`compat.diagnosis.diagnose`), and never stored as evidence."""
    diagnosis: Diagnosis = field(factory=Diagnosis, metadata={ABSENT: True})
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

    failure_class: Text = field(metadata={KEY: "class"})
    """The name of the class, one of its toolchain's."""
    toolchain: str = field(default=DEFAULT_TOOLCHAIN, metadata={ABSENT: True})
    """The name of the toolchain that has this class; another toolchain may have another class of the same name."""
    fingerprint: Text
    """Equal for the same defect whatever the release, path, line, stage or pass; different for different ones."""
    excerpt: str
    """The few lines that say it."""
    stage: str
    pass_: str | None = field(default=None, metadata={KEY: "pass"})
    op: str | None = None
    location: str | None = None
    reproducer: str | None = None
    ir: str | None = None
    advice: str
    prediction: bool = False
    """True where nothing failed yet: it compiled, and a launch would fail, or compute wrong numbers."""


@frozen(kw_only=True, weakref_slot=False)
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
    """CPU seconds by stage, in order."""
    seconds: float = 0.0
    """Wall time of the attempt that counts, which other work of the machine makes longer."""
    stood_in: StoodIn | None = None
    """What took the place of packages that the env lacks."""

    @property
    def has_code(self) -> bool:
        """Whether the compiler made code that can be launched; it has of what is only predicted to be refused, too."""
        return self.status is Status.OK or (self.failure is not None and self.failure.prediction)

    @property
    def compile_seconds(self) -> float | None:
        """CPU seconds of compiling, as far as it came; ``None`` where no stage of a compile is known.

        Importing the kernel's file is no part of it: only the first cell of a batch does that. It is the sum of what is written of
        the stages, so that it is the same of a report that was read.
        """
        compiling = [rounded(seconds) for stage, seconds in self.stages.items() if stage not in (SOURCE_STAGE, *LATER_STAGES)]
        return rounded(sum(compiling)) if compiling else None


@frozen(kw_only=True, weakref_slot=False)
class Result:
    """A cell with its outcome, beside what was declared of it."""

    cell: Cell
    built: BuiltEnv
    outcome: Outcome
    expectation: Expectation | None = None
    cached: bool = False
    """Read from the store, not compiled in this run."""
    numbers: Numbers = NOT_RUN
    """Whether what it computes is right, as far as that was checked."""
    latency: Latency | None = None
    """How long a launch takes; ``None`` where that was not measured."""

    @property
    def expected(self) -> bool:
        """Whether this is as expected: that it compiles, or how it fails to, and what it computes.

        A toolchain that cannot build for a target says nothing about the kernel, so ``unsupported`` is never unexpected; a broken
        env, a lost answer and a flaky cell always are.
        """
        return self._compiles_as_expected and self._computes_as_expected

    @property
    def _compiles_as_expected(self) -> bool:
        status, failure = self.outcome.status, self.outcome.failure
        if self.outcome.flaky or not status.is_answer:
            return False
        declared = self.expectation
        if declared is None or declared.status in BAD_NUMBERS:
            foretold = declared is not None and status in BAD_NUMBERS and failure is not None and failure.prediction
            return status is Status.UNSUPPORTED or (status is Status.OK and failure is None) or foretold
        if status is Status.UNSUPPORTED and declared.status is not Status.UNSUPPORTED:
            return True
        if status is Status.OK and failure is None and not declared.strict:
            return True
        kind = failure.failure_class if failure else None
        return status is declared.status and declared.failure_class in (None, kind)

    @property
    def _computes_as_expected(self) -> bool:
        """Whether no check says what was not declared. Only a GPU can show that what was declared is no longer so."""
        declared = self.expectation.status if self.expectation and self.expectation.status in BAD_NUMBERS else None
        for check in self.numbers.checks:
            if check.status is Status.LAUNCH_REFUSED and self.outcome.failure is not None and self.outcome.failure.prediction:
                continue  # as it was predicted, and may have been declared
            if check.status is Status.LOST or (check.right is False and not _same_numbers(check.status, declared)):
                return False
        gpu = self.numbers.gpu
        strict = declared is not None and self.expectation is not None and self.expectation.strict
        return not (strict and gpu is not None and gpu.right is True)


_BY_CHANCE = (Status.WRONG, Status.UNSTABLE)
"""What a race comes to is a matter of chance: of these either stands for both."""


def _same_numbers(status: Status, declared: Status | None) -> bool:
    return status is declared or (status in _BY_CHANCE and declared in _BY_CHANCE)


_T = TypeVar("_T")

_Shape = tuple[Any, ...]
"""The names of a mapping in order; of what holds a mapping itself, the name and the shape of that."""

_SHAPES: dict[_Shape, _Shape] = {}


class Compact(Mapping[str, Any]):
    """A mapping that never changes, of JSON values: its names are kept once for all that have the same, its values as bytes.

    Each look at it makes its values anew. It equals every mapping with the same content.
    """

    __slots__ = ("_shape", "_values")

    def __init__(self, content: Mapping[str, Any]) -> None:
        """Keep a copy of ``content``. Raises ValueError for what is no JSON."""
        values: list[Any] = []
        shape = _flattened(content, values)
        self._shape = _SHAPES.setdefault(shape, shape)
        self._values = marshal.dumps(values)

    def _content(self) -> dict[str, Any]:
        return _restored(self._shape, iter(marshal.loads(self._values)))

    def __getitem__(self, name: str) -> Any:
        return self._content()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._content())

    def __len__(self) -> int:
        return len(self._shape)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Compact):
            return self._content() == other._content()
        return self._content() == other if isinstance(other, Mapping) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._content())

    def items(self) -> Any:
        """As of a dictionary, made once for all of them."""
        return self._content().items()

    def values(self) -> Any:
        """See :meth:`items`."""
        return self._content().values()

    def get(self, name: str, default: Any = None) -> Any:
        """See :meth:`items`."""
        return self._content().get(name, default)


def _flattened(content: Mapping[str, Any], values: list[Any]) -> _Shape:
    shape: list[Any] = []
    for name, value in content.items():
        if isinstance(value, dict) and value:
            shape.append((name, _flattened(value, values)))
        else:
            shape.append(name)
            values.append(value)
    return tuple(shape)


def _restored(shape: _Shape, values: Iterator[Any]) -> dict[str, Any]:
    return {
        (part if type(part) is str else part[0]): (next(values) if type(part) is str else _restored(part[1], values))
        for part in shape
    }


@cache
def _empty() -> Compact:
    """What all have that have no facts."""
    return Compact({})


def compacted(record: _T) -> _T:
    """The same outcome, or record of a cell, in few bytes."""
    facts: Any = record
    changes: dict[str, Any] = {name: once(getattr(facts, name)) for name in ("attempts", "warnings", "stood_in")}
    changes |= {name: _compact(getattr(facts, name)) for name in ("metrics", "stages")}
    return evolve(facts, failure=_shared(facts.failure) if facts.failure else None, **changes)  # type: ignore[no-any-return]


@lru_cache(maxsize=4096)
def once(value: _T) -> _T:
    """The first of all that are equal to it."""
    return value


def _compact(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    return Compact(facts) if facts else _empty()


@lru_cache(maxsize=4096)
def _shared(failure: Failure) -> Failure:
    """The same failure; those that differ in their place or their artifacts alone share their texts."""
    texts = ("failure_class", "stage", "fingerprint", "excerpt", "advice")
    return evolve(failure, **{name: once(getattr(failure, name)) for name in texts})
