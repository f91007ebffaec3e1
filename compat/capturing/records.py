"""Reads the records that the recorder wrote in every process of a program.

It counts lines that are not records, and does not use them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from attrs import define, field, fields, frozen

from compat.bundle.frozen import FrozenDefinition
from compat.model import DEFAULT_TOOLCHAIN
from compat.text import JsonMapping, amount, lazy_pattern, read_json

_COMPARING = lazy_pattern(rb'\{"r":"comparing","launches":(\d+)\}')


@frozen(kw_only=True)
class LaunchPlace:
    """The place of a launch in the user's code."""

    module: str
    function: str
    line: int

    def __str__(self) -> str:
        return f"{self.module}:{self.line} in {self.function}"


@frozen(kw_only=True)
class Original:
    """The result of the program's own compile of a launch."""

    stage: str | None
    digest: str | None
    """A hash over assembly code; ``None`` after a failed compile."""
    error: str | None
    """The class of the exception that it failed with."""
    arch: int | str | None = None
    """The architecture that the code is for."""


@define(kw_only=True)
class RecordedLaunch:
    """A kind of launch: all launches that are equal in what a compile can depend on."""

    function: str
    """The id of the kernel's function."""
    arguments: JsonMapping
    constexprs: JsonMapping
    options: JsonMapping
    signature: JsonMapping = field(factory=dict)
    """Run-time argument → type, of a kernel that a framework generated. Such a kernel has no
    ``arguments``.
    """
    hints: JsonMapping = field(factory=dict)
    """The hints of a generated kernel, by their names in :data:`compat.model.HINTS`."""
    graph: tuple[str, ...] = ()
    """The part of the graph that a generated kernel is for, in the framework's terms."""
    grid: tuple[int, ...] | None = None
    release: str | None = None
    """The release of the toolchain that it was launched with."""
    place: LaunchPlace | None = None
    inputs: JsonMapping | None = None
    """Its arguments, under ``recorded``; or the reason why it cannot be repeated, under ``why``.
    ``None`` if the capture does not record problems.
    """
    roles: set[str] = field(factory=set)
    """``candidate`` if an autotuner tried it, ``chosen`` if the autotuner chose it; an empty string
    without an autotuner.
    """
    tunes: set[str] = field(factory=set)
    """The constexprs that the autotuner changes."""
    launches: int = 1
    """The number of launches. Above a hundred or so, the records of a killed process have only the
    next lower power of two.
    """
    failed: str | None = None
    """The class of the exception that a launch ended with."""
    original: Original | None = None


@frozen(kw_only=True)
class NotCaptured:
    """A launched kernel that the recorder cannot write down, or that no kernel file describes."""

    module: str
    name: str
    why: str

    def __str__(self) -> str:
        return f"{self.module}:{self.name}: {self.why}"


@frozen(kw_only=True)
class ProgramPython:
    """A Python that kernels were launched in."""

    version: str
    executable: str
    prefix: str
    """The folder of its environment."""
    toolchain: str
    """The folder that the toolchain was imported from."""

    @property
    def has_its_own(self) -> bool:
        """Whether the toolchain is inside the environment of this Python."""
        return self.toolchain.startswith(self.prefix.rstrip("/") + "/")


@define(kw_only=True)
class ProgramRecords:
    """The records of all processes."""

    toolchain: str = DEFAULT_TOOLCHAIN
    """The name of the toolchain whose launches they are."""
    functions: dict[str, FrozenDefinition] = field(factory=dict)
    launches: dict[tuple[str, str], RecordedLaunch] = field(factory=dict)
    """Process and key → launch."""
    unrecorded: list[NotCaptured] = field(factory=list)
    defined: set[tuple[str, str]] = field(factory=set)
    """Module and name of every jit function in the program, except the toolchain's own."""
    interpreters: dict[str, ProgramPython] = field(factory=dict)
    """Release → the Python that first imported it."""
    framework_release: str | None = None
    """The release of the tensor library, if a process imported one."""
    not_imported: str | None = None
    """The reason why a process could not import the toolchain, such as ``is not there``."""
    pythons: int = 0
    """The number of processes that the recorder ran in."""
    releases: dict[str, str] = field(factory=dict)
    """Process → the release that it imported."""
    processes: int = 0
    """The number of processes that imported the toolchain."""
    ended: int = 0
    """The number of these processes in which Python exited normally."""
    unreadable: int = 0
    """The number of lines that are not records."""

    @property
    def release(self) -> str | None:
        """The release of the toolchain that was imported first."""
        return next(iter(self.interpreters), None)

    @property
    def arch(self) -> int | str | None:
        """The architecture that the program compiled for; ``None`` if it is not known."""
        archs = (
            launch.original.arch for launch in self.launches.values() if launch.original is not None
        )
        return next((arch for arch in archs if arch is not None), None)


def read_records(folder: Path, toolchain: str = DEFAULT_TOOLCHAIN) -> ProgramRecords:
    """Read all records of a recorder in a folder, in the order in which the processes started."""
    recorded = ProgramRecords(toolchain=toolchain)
    for path in sorted(folder.glob("*.jsonl")):
        recorded.pythons += 1
        _read(path.stem, path.read_bytes().split(b"\n"), recorded)
    return recorded


@frozen(kw_only=True)
class RecordingProgress:
    """The progress of a running program."""

    launches: int
    """The number of kinds of launches recorded so far."""
    compiled: int
    """The number of finished compiles at the end of the program."""
    to_compile: int
    """The number of compiles at the end of the program; 0 while it runs."""

    def __str__(self) -> str:
        if self.to_compile:
            return (
                f"compiling the program's own code for comparison: {self.compiled:,} of"
                f" {self.to_compile:,} launches"
            )
        return f"{amount(self.launches, 'different launch', 'different launches')} recorded"


def progress_in(folder: Path) -> RecordingProgress:
    """The progress of records that are still being written, without reading their content."""
    texts = [path.read_bytes() for path in folder.glob("*.jsonl")]
    return RecordingProgress(
        launches=sum(text.count(b'{"r":"launch"') for text in texts),
        compiled=sum(text.count(b'{"r":"original"') for text in texts),
        to_compile=sum(int(number) for text in texts for number in _COMPARING.findall(text)),
    )


def _read(process: str, lines: Iterable[bytes], recorded: ProgramRecords) -> None:
    imported = False
    for line in filter(None, lines):
        try:
            record = read_json(line)
            imported |= record["r"] == "process"
            if record["r"] == "end":
                recorded.ended += imported
            elif record["r"] in _READERS:
                _READERS[record["r"]](process, record, recorded)
        except (ValueError, KeyError, TypeError, AttributeError):
            recorded.unreadable += 1
    recorded.processes += imported


def _not_imported(_: str, record: Mapping[str, object], recorded: ProgramRecords) -> None:
    recorded.not_imported = str(record["why"])


def _process(process: str, record: JsonMapping, recorded: ProgramRecords) -> None:
    python = ProgramPython(
        version=record["python"],
        executable=record["executable"],
        prefix=record["prefix"],
        toolchain=record["toolchain"],
    )
    recorded.releases[process] = str(record["release"])
    recorded.interpreters.setdefault(recorded.releases[process], python)


def _framework(_: str, record: Mapping[str, object], recorded: ProgramRecords) -> None:
    recorded.framework_release = str(record["version"])


def _definition(_: str, record: JsonMapping, recorded: ProgramRecords) -> None:
    recorded.defined.add((record["module"], record["name"]))


def _function(_: str, record: JsonMapping, recorded: ProgramRecords) -> None:
    keys = [field.name for field in fields(FrozenDefinition)]
    recorded.functions[record["id"]] = FrozenDefinition(
        **{name: record[name] for name in keys if record.get(name) is not None}
    )


def _launch(process: str, record: JsonMapping, recorded: ProgramRecords) -> None:
    recorded.launches[process, record["key"]] = RecordedLaunch(
        function=record["function"],
        arguments=record["args"],
        constexprs=record["constexprs"],
        options=record["options"],
        signature=record.get("signature") or {},
        hints=record.get("hints") or {},
        graph=tuple(map(str, record.get("graph") or ())),
        release=recorded.releases.get(process),
        roles=_roles(record),
        tunes=_tunes(record),
        launches=int(record.get("launches", 1)),
    )
    _add_launch_facts(recorded.launches[process, record["key"]], record)


def _add_launch_facts(launch: RecordedLaunch, record: JsonMapping) -> None:
    """Add the grid, the place and the values that a record has for a launch."""
    if record.get("grid"):
        launch.grid = tuple(record["grid"])
    if record.get("place"):
        launch.place = LaunchPlace(**record["place"])
    launch.inputs = record.get("inputs", launch.inputs)


def _roles(record: JsonMapping) -> set[str]:
    return {record["tuned"]} if record.get("tuned") else {""}


def _tunes(record: JsonMapping) -> set[str]:
    return set(map(str, record.get("tunes") or ()))


def _count(process: str, record: JsonMapping, recorded: ProgramRecords) -> None:
    launch = recorded.launches[process, record["key"]]
    launch.launches = max(launch.launches, int(record["launches"]))
    launch.roles |= _roles(record)
    launch.tunes |= _tunes(record)
    _add_launch_facts(launch, record)


def _failure(process: str, record: JsonMapping, recorded: ProgramRecords) -> None:
    recorded.launches[process, record["key"]].failed = str(record["error"])


def _original(process: str, record: JsonMapping, recorded: ProgramRecords) -> None:
    facts = {field.name: record.get(field.name) for field in fields(Original)}
    original = Original(**facts)
    recorded.launches[process, record["key"]].original = original


def _add_unrecorded_launch(_: str, record: JsonMapping, recorded: ProgramRecords) -> None:
    recorded.unrecorded.append(
        NotCaptured(module=record.get("module") or "", name=record["name"], why=record["why"])
    )


_READERS: dict[str, Callable[[str, Mapping[str, object], ProgramRecords], None]] = {
    "not_imported": _not_imported,
    "process": _process,
    "framework": _framework,
    "defined": _definition,
    "function": _function,
    "launch": _launch,
    "count": _count,
    "failed": _failure,
    "original": _original,
    "unrecorded": _add_unrecorded_launch,
}
