"""The raw facts of one attempt at a cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from attrs import Factory, field, frozen

from compat.model.fields import ABSENT

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
