"""The raw facts of one attempt at a cell (:class:`Evidence`), and their reader.

Compilers print hundreds of megabytes, exceptions quote whole programs, and a kernel file can make
the worker send anything. So each part has a maximum size. A longer part keeps its beginning and its
end, and a malformed part is left out. So the time of reading is bounded, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from attrs import Factory, evolve, field, frozen

from compat.model.fields import ABSENT
from compat.text import TEXT_LIMIT, JsonMapping, JsonObject, lazy_pattern, limit_length, readable

SOURCE_STAGE = "source"
"""The stage that imports the kernel's file. The stages of the toolchain follow it."""
LATER_STAGES = ("interpret", "launch", "check")
"""Stages after a compile, which need more than a compiler."""

LINKS = 32
"""Maximum number of exceptions in a chain."""
_NAME = 200
"""Maximum characters of the name of an exception, a stage or a metric."""
_WORDS = 2000
"""Maximum characters of a warning, and of a text about stand-ins."""
_FRAMES = 8 * 1024
"""Maximum characters of a traceback."""
_PATHS = 1000
"""Maximum number of imported files."""
_MANY = 100
"""Maximum number of warnings, stages, metrics and other entries of a list."""
_LARGEST = 1 << 63
_DIGEST = 16
_HEXADECIMAL = lazy_pattern(r"[0-9a-f]{64}")


@frozen(kw_only=True)
class RaisedException:
    """One exception of a chain, outermost first, as plain text."""

    type: str
    """Qualified name, for example ``triton.compiler.errors.CompilationError``."""
    message: str
    traceback: str = ""
    """The frames, outermost first, as Python prints them; bounded, and without those of the worker.
    """
    errno: int | None = None
    """The system's error number of an ``OSError``."""


@frozen(kw_only=True)
class ToolchainWarning:
    """One warning the toolchain gave, without repetitions."""

    type: str
    message: str


@frozen(kw_only=True)
class Diagnosis:
    """The place of a failure inside the compiler, derived from the facts of an attempt."""

    pass_: str | None = None
    """The MLIR pass that was running, with its name in ``mlir-opt``: ``tritongpu-coalesce``."""
    op: str | None = None
    """The operation that the diagnostic points at, for example ``tt.dot``."""
    location: str | None = None
    """``file.py:line`` in the kernel's source."""
    line: str | None = None
    """The text of that line."""
    reproducer: str | None = None
    """Name of the stored MLIR reproducer (IR and pipeline), relative to the store's artifacts."""
    ir: str | None = None
    """Name of the stored IR from just before the failing pass, relative to the store's artifacts.
    """


@frozen(kw_only=True)
class StageOutput:
    """The product of a stage."""

    AS_ARRAY: ClassVar = True
    size: int
    """Bytes."""
    digest: str
    """The first 16 hexadecimal digits of its SHA-256, which begin the names of stored artifacts."""


@frozen(kw_only=True)
class CompletedAction:
    """One completed action."""

    AS_ARRAY: ClassVar = True
    do: str
    """The action. So far this is ``compile``, which made a non-empty binary."""
    outputs: Mapping[str, StageOutput] = Factory(dict)
    """Stage → its product."""
    requires: tuple[str, ...] = ()
    """Devices that it needed; none so far."""


@frozen(kw_only=True)
class StandInPackages:
    """The stand-ins that replaced missing packages while a kernel was imported in an env.

    ``toolchains/pytorch/standin`` makes them.
    """

    packages: tuple[str, ...] = ()
    """The packages that stand-ins replaced, with the version that they reported: ``torch 2.9.1``.
    """
    answers: tuple[str, ...] = ()
    """The answers of stand-ins that may have changed a decision of the kernel's own modules, each
    with its place.
    """
    skipped: tuple[str, ...] = ()
    """Statements that failed and were left out. A kernel that needs their results is
    ``source_broken``.
    """


@frozen(kw_only=True)
class Evidence:
    """Raw facts of one attempt at one cell.

    :mod:`compat.diagnosis.classify` gives them a meaning.
    """

    answered: bool
    """A complete, well-formed answer for this cell arrived. Without one, no cell is ``ok``."""
    requested: tuple[str, ...] = ("compile",)
    """The requested actions."""
    done: tuple[CompletedAction, ...] = ()
    """The actions that the answer reports as done."""
    toolchain_broken: bool = False
    """The import of the toolchain failed, so the attempt says nothing about the cell."""
    alone: bool = False
    """The cell had a fresh process of its own, with the compiler's diagnostics on."""
    stage: str = SOURCE_STAGE
    """The last stage entered."""
    entered: float = 0.0
    """Seconds from the start of the attempt to the start of ``stage``."""
    target_known: bool | None = None
    """Whether an assembler of the toolchain knows the target; ``None`` if that was not checked."""
    exit_code: int | None = None
    """Exit code of the process if it ended during this cell."""
    signal: str | None = None
    """Name of the signal (``SIGABRT``) that ended the process during this cell."""
    deadline: float | None = None
    """Seconds after which the cell was stopped; ``None`` if it was not."""
    memory: int | None = None
    """Bytes resident when the cell was stopped for its memory; ``None`` if it was not."""
    raised: tuple[RaisedException, ...] = ()
    """The exception chain, outermost first."""
    printed: str = ""
    """The text of a failed attempt on file descriptors 1 and 2, IR included. A long text is stored
    as the artifact ``printed``.
    """
    in_flight: str | None = None
    """The line in progress at the end, ``path:number``, from the worker's beacon."""
    in_passes: bool = False
    """Whether a pass manager ran then."""
    at: str | None = None
    """The line, ``path:number``, that the answer refers to."""
    quoted: Mapping[str, str] = Factory(dict)
    """``path:number`` → the text of that line during the attempt, because the file may change."""
    source: str = ""
    """Path of the kernel's file, if the attempt failed before the import of that file ended."""
    optional: Mapping[str, str] = Factory(dict)
    """Name that an exception mentions → ``path:number: import …``, for names from imports whose
    ``ImportError`` is caught.
    """
    seconds: float = 0.0
    """Wall time of the attempt."""
    stages: Mapping[str, float] = Factory(dict)
    """CPU seconds of each finished stage, in order, and of the stage in which the attempt was
    stopped, including assemblers.
    """
    metrics: JsonMapping = Factory(dict)
    """Metrics of a built cell: ``shared``, ``registers``, ``spills``, ``artifacts`` (bytes per
    stage), …
    """
    warnings: tuple[ToolchainWarning, ...] = ()
    artifacts: Mapping[str, str] = Factory(dict)
    """``printed``, ``reproducer``, or a requested stage → name of the stored artifact, relative to
    the store's artifacts.
    """
    imported: tuple[str, ...] = ()
    """Paths of the files that the attempt imported and of the files that these read, including the
    source. Files that the digest of an env covers are left out.
    """
    witnesses: Mapping[str, str] = Factory(dict)
    """Dependencies beyond its key: files and folders by their paths, with digests
    (:mod:`compat.store.keys`).
    """
    closure: str = ""
    """The closure of the kernel, if the evidence is valid only while all of its files are the same;
    else empty.
    """
    stood_in: StandInPackages | None = None
    """The stand-ins for packages that the env lacks; ``None`` if the import needed none."""
    protocol: tuple[str, ...] = ()
    """The fault in the worker's messages, if any."""
    refused: str | None = None
    """The refusal of the machine, such as a full disk, as the caller reported it. It says nothing
    about the cell.
    """
    stderr: str = field(default="", metadata={ABSENT: True})
    """The printed text without IR, bounded. The driver reads it from ``printed``
    (:mod:`compat.diagnosis.pipeline`), and never stores it as evidence.
    """
    diagnosis: Diagnosis = field(factory=Diagnosis, metadata={ABSENT: True})
    """The place of the failure. The driver reads it from the fields above, and never stores it as
    evidence.
    """

    @property
    def complete(self) -> bool:
        """Whether an answer arrived that reports every requested action as done."""
        return (
            self.answered
            and bool(self.requested)
            and {action.do for action in self.done}.issuperset(self.requested)
        )

    @property
    def has_binary(self) -> bool:
        """Whether an answer arrived that reports a non-empty binary."""
        return self.answered and any(action.do == "compile" for action in self.done)


# --- reading --------------------------------------------------------------------------------------


def within_bounds(evidence: Evidence) -> Evidence:
    """Evidence with all parts within their maximum sizes; the same object if they already were."""
    read: JsonObject = {
        "raised": bounded_chain(evidence.raised),
        "imported": read_paths(list(evidence.imported)),
        "requested": evidence.requested[:_MANY],
        "done": evidence.done[:_MANY],
        "printed": limit_length(evidence.printed, TEXT_LIMIT),
        "stderr": readable(evidence.stderr),
        "warnings": tuple(_bounded_warning(warning) for warning in evidence.warnings[:_MANY]),
        "metrics": read_metrics(evidence.metrics),
        "stages": read_stages(evidence.stages),
    }
    changed = {name: value for name, value in read.items() if value != getattr(evidence, name)}
    return evolve(evidence, **changed) if changed else evidence


def bounded_chain(links: Sequence[RaisedException]) -> tuple[RaisedException, ...]:
    """At most :data:`LINKS` exceptions of a chain: the outermost and the innermost."""
    chain = links if len(links) <= LINKS else (*links[: LINKS // 2], *links[-LINKS // 2 :])
    return tuple(_link(link) for link in chain)


def _link(raised: RaisedException) -> RaisedException:
    return evolve(
        raised,
        type=raised.type[-_NAME:],
        message=readable(raised.message),
        traceback=readable(raised.traceback, _FRAMES),
    )


def read_metrics(data: object, *, tables: bool = True) -> dict[str, object]:
    """The metrics that are numbers, texts, truth values, ``None``, or ``tables`` of these."""
    return {
        name: read_metrics(value, tables=False) if isinstance(value, Mapping) else value
        for name, value in _items(data)
        if value is None
        or isinstance(value, str)
        or _is_number(value)
        or (tables and isinstance(value, Mapping))
    }


def read_stages(data: object) -> dict[str, float]:
    """Stage → seconds, if that is a number."""
    return {name: float(value) for name, value in _items(data) if _is_number(value)}


def read_done(data: object) -> tuple[CompletedAction, ...] | None:
    """The completed actions in an answer; ``None`` if they are malformed."""
    if not isinstance(data, list) or len(data) > _MANY:
        return None
    actions = [_read_action(entry) for entry in data]
    return None if None in actions else tuple(action for action in actions if action is not None)


def _read_action(data: object) -> CompletedAction | None:
    if (
        not isinstance(data, Mapping)
        or not isinstance(name := data.get("do"), str)
        or len(name) > _NAME
    ):
        return None
    requires = data.get("requires")
    devices = (
        tuple(
            requirement[:_NAME] for requirement in requires[:_MANY] if isinstance(requirement, str)
        )
        if isinstance(requires, list)
        else ()
    )
    artifacts = {
        stage: artifact
        for stage, facts in _items(data.get("made"))
        if (artifact := _stage_output(facts)) is not None
    }
    return CompletedAction(do=name, outputs=artifacts, requires=devices)


def _stage_output(data: object) -> StageOutput | None:
    size, digest = (
        (data.get("bytes"), data.get("sha256")) if isinstance(data, Mapping) else (None, None)
    )
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < _LARGEST:
        return None
    if not isinstance(digest, str) or not _HEXADECIMAL.fullmatch(digest):
        return None
    return StageOutput(size=size, digest=digest[:_DIGEST])


def read_warnings(data: object) -> tuple[ToolchainWarning, ...]:
    """The warnings in an answer; malformed ones are left out."""
    return tuple(
        _bounded_warning(ToolchainWarning(type=item["type"], message=item["message"]))
        for item in (data[:_MANY] if isinstance(data, list) else ())
        if isinstance(item, Mapping)
        and isinstance(item.get("type"), str)
        and isinstance(item.get("message"), str)
    )


def read_raised(data: object) -> tuple[RaisedException, ...]:
    """The chain of exceptions in an answer; malformed ones are left out."""
    links = [
        item
        for item in (data[: 10 * LINKS] if isinstance(data, list) else ())
        if isinstance(item, Mapping)
    ]
    return bounded_chain([raised for raised in map(_read_exception, links) if raised is not None])


def _read_exception(link: Mapping[object, object]) -> RaisedException | None:
    kind, message, frames, number = (
        link.get(key) for key in ("type", "message", "traceback", "errno")
    )
    if not isinstance(kind, str) or not isinstance(message, str):
        return None
    return RaisedException(
        type=kind,
        message=message,
        traceback=frames if isinstance(frames, str) else "",
        errno=number if isinstance(number, int) and abs(number) < _LARGEST else None,
    )


def read_paths(data: object) -> tuple[str, ...]:
    """The paths in an answer.

    If there are more than :data:`_PATHS`, an empty one at the end replaces the rest.
    """
    paths = [path for path in data if isinstance(path, str)] if isinstance(data, list) else []
    return tuple(paths) if len(paths) <= _PATHS else (*paths[:_PATHS], "")


def read_stood_in(data: object) -> StandInPackages | None:
    """The stand-ins in an answer; ``None`` if it has none."""
    if not isinstance(data, Mapping):
        return None
    entries = {name: data.get(name) for name in ("packages", "answers", "skipped")}
    return StandInPackages(
        **{
            name: tuple(
                limit_length(text, _WORDS) for text in texts[:_MANY] if isinstance(text, str)
            )
            for name, texts in entries.items()
            if isinstance(texts, list)
        }
    )


def _bounded_warning(warning: ToolchainWarning) -> ToolchainWarning:
    return ToolchainWarning(
        type=warning.type[-_NAME:], message=limit_length(warning.message, _WORDS)
    )


def _items(data: object) -> Iterable[tuple[str, Any]]:
    items = list(data.items())[:_MANY] if isinstance(data, Mapping) else []
    return ((name, value) for name, value in items if isinstance(name, str) and len(name) <= _NAME)


def _is_number(value: object) -> bool:
    """Whether a value is a finite number of limited size; a truth value is one."""
    if isinstance(value, int):
        return abs(value) < _LARGEST
    return isinstance(value, float) and math.isfinite(value)
