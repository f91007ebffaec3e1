"""A cell on its way through a worker: the mode of an attempt, its progress, and names of folders.

A batch of another machine is compiled in copies of the kernels' trees, and its env may lie in
another folder. Paths in evidence are still those of the requesting machine (:class:`Places`). The
paths that a compiler writes affect the size of its results, so the adapter gives it the requesting
machine's paths. In everything else, such as tracebacks and printed text, these paths are put in
after the attempt has ended.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

from attrs import define, evolve, field, frozen

from compat import toolchains
from compat.model import (
    SOURCE_STAGE,
    Cell,
    Evidence,
    Problem,
    RaisedException,
    Specialization,
    StandInPackages,
    Target,
    ToolchainWarning,
)
from compat.source.closure import module_of, roots_of
from compat.text import JsonMapping, JsonObject
from compat.toolchains.base import Toolchain


@frozen(kw_only=True)
class Limits:
    """Limits of one cell."""

    deadline: float
    """Seconds from the moment when the kernel's file has been imported."""
    memory: int
    """Bytes of resident memory of the compiling process and its children."""
    import_deadline: float = 120.0
    """Seconds for importing the kernel's file."""
    stage: str | None = None
    """A stage that has a limit of its own."""
    stage_deadline: float = 0.0
    """Seconds for ``stage``."""
    most_starved: float = 9.0
    """The most deadlines that a cell may wait for a processor, besides its own deadline.

    It is limited, because many processes of one cell wait for each other. 0: waits count.
    """


@frozen(kw_only=True)
class Compile:
    """The action of compiling a cell's function."""

    ir: str | None = None
    """The name of a given IR file to compile instead of the function.

    Its suffix is the stage that it comes from (``.ttir``).
    """
    keep_ir: bool = False
    """Keep the result of each stage, as far as the compile gets (``Evidence.kept``)."""

    do = "compile"

    def document(self) -> JsonObject:
        """Return the action in the worker's form."""
        return {"do": self.do, "ir": self.ir, "keep_ir": self.keep_ir}


@frozen(kw_only=True)
class Interpret:
    """The action that runs a cell's function on its problems in its toolchain's interpreter.

    A worker that is started for interpreting performs it.
    """

    seed: int = 0
    """The seed of the problems' random numbers."""

    do = "interpret"

    def document(self) -> JsonObject:
        """Return the action in the worker's form."""
        return {"do": self.do, "seed": self.seed}


@frozen(kw_only=True)
class Mode:
    """The conditions of an attempt that are not part of the cell.

    Only a plain attempt shows what a user would see.
    """

    actions: tuple[Compile | Interpret, ...] = (Compile(),)
    """The actions for each cell, in order, until one fails."""
    action_files: Mapping[str, bytes] = field(factory=dict)
    diagnose: bool = False
    """Whether the compiler's diagnostics are on, for one cell in a process of its own."""
    variables: Mapping[str, str] = field(factory=dict)
    """Environment variables for the compiling process, such as ``TRITON_PTXAS_PATH``."""
    hidden_packages: tuple[str, ...] = ()
    """Packages of the env that count as missing while a kernel's file is imported."""
    stages: tuple[str, ...] = ()
    """The stages whose results are kept if an action keeps them; empty for all.

    :data:`LAUNCHABLE` stands for one file with all that a launch needs.
    """
    timed: bool = False
    """Read the time of each pass in the printed text. It becomes the metric ``passes`` of a built
    cell.
    """
    keep_printed: bool = False
    """Whether to keep the printed text of successful compiles (``Evidence.kept["printed"]``), too.

    With ``diagnose``, it has the IR before every pass.
    """

    tells_problem: bool = False
    """Whether the worker gets a cell's problem; the arguments of a launch depend on its sizes."""

    @property
    def action_names(self) -> tuple[str, ...]:
        """The names of its actions."""
        return tuple(action.do for action in self.actions)

    def kept_stages(self, cell: Cell) -> tuple[str, ...]:
        """The stages whose results an attempt at a cell keeps.

        A plain compile of a cell with a problem keeps what a launch needs, so that one compile
        serves the matrix and the GPU host.
        """
        if any(isinstance(action, Compile) and action.keep_ir for action in self.actions):
            return self.stages or toolchains.of(cell.env).every_stage
        return (LAUNCHABLE,) if self == PLAIN and _is_for_launching(cell) else ()

    def documents(self, cell: Cell) -> list[JsonObject]:
        """Return the actions for a cell in the worker's form."""
        keeps = bool(self.kept_stages(cell))
        return [
            (evolve(action, keep_ir=keeps) if isinstance(action, Compile) else action).document()
            for action in self.actions
        ]

    @property
    def interprets(self) -> bool:
        """Whether the mode needs a worker that runs kernels instead of compiling them."""
        return Interpret.do in self.action_names


LAUNCHABLE = "launchable"
"""The name of the one file that a launch needs from a compile
(:meth:`compat.toolchains.base.Launching.pack`).
"""


def _is_for_launching(cell: Cell) -> bool:
    """Whether a plain compile of a cell has all that a launch of its problem needs."""
    launching = toolchains.of(cell.env).launching
    is_complete = launching is not None and not launching.tells_problem
    return is_complete and cell.spec.problem is not None and toolchains.can_launch(cell)


PLAIN = Mode()
DIAGNOSTIC = Mode(diagnose=True)
INTERPRETING = Mode(actions=(Interpret(),))
KEEPING_IR = Mode(actions=(Compile(keep_ir=True),))


def timing_mode(toolchain: Toolchain) -> Mode | None:
    """Return the mode in which compiles report how long their passes take.

    Returns ``None`` if the toolchain needs no such mode, or cannot report times.
    """
    variables = toolchain.variables.timing
    return Mode(variables=variables, timed=True) if variables else None


_OUTERMOST = 2
"""The number of names in the first package that is imported: ``fla.ops`` of ``fla.ops.gla.chunk``.

The packages around it have few kernels each.
"""


@frozen(kw_only=True)
class PreloadedPackage:
    """A package that a worker of its own imports once for one target."""

    root: str
    """The folder that contains it."""
    name: str
    roots: tuple[str, ...]
    target: Target
    facts: JsonMapping = field(eq=False)
    """The facts about the target for the worker."""
    outer: PreloadedPackage | None = None
    """The package around it, whose worker forks the worker of this package."""

    @classmethod
    def of(cls, cell: Cell, mode: Mode) -> PreloadedPackage | None:
        """Return the package that the module of a cell lies in.

        Returns ``None`` if the cell is not of a library, or is attempted under unusual conditions.
        """
        roots, module = _place(cell.spec)
        if not cell.spec.package or mode.variables or mode.hidden_packages or mode.interprets:
            return None
        names = module.split(".")[:-1]
        facts = toolchains.of(cell.env).facts(cell.target, cell.env.release)
        for root in roots:
            packages = [
                ".".join(names[:depth])
                for depth in range(1, len(names) + 1)
                if root.joinpath(*names[:depth], "__init__.py").is_file()
            ]
            first = sum(name.count(".") < _OUTERMOST for name in packages)
            innermost: PreloadedPackage | None = None
            for name in packages[max(0, first - 1) :]:
                innermost = cls(
                    root=str(root),
                    name=name,
                    roots=tuple(map(str, roots)),
                    target=cell.target,
                    facts=facts,
                    outer=innermost,
                )
            if innermost is not None:
                return innermost
        return None

    @property
    def with_outer(self) -> tuple[PreloadedPackage, ...]:
        """All packages that are imported for it, the outermost first."""
        return (*(self.outer.with_outer if self.outer else ()), self)

    def document(self) -> JsonObject:
        """Return the package in the worker's form."""
        return {
            "root": self.root,
            "name": self.name,
            "roots": list(self.roots),
            "target": dict(self.facts),
        }


def isolation(cell: Cell) -> tuple[object, ...]:
    """Return what cells must have in common to be compiled in one process.

    This is everything that is imported or called in the process before a compile. The store's keys
    rely on it, because a key contains nothing about cells that were compiled before its own.
    """
    spec = cell.spec
    factory = spec.function if "(" in spec.function else ""
    # The worker imports PyTorch before it imports the source.
    needs_torch = "torch_dtype" in str(spec.compile.constexprs)
    return (
        spec.source,
        spec.roots,
        cell.target,
        factory,
        needs_torch,
        spec.problem and spec.problem.source,
    )


def _place(spec: Specialization) -> tuple[tuple[Path, ...], str]:
    """The roots of a kernel's tree, and the name of its module."""
    source = Path(spec.source)
    roots = tuple(map(Path, spec.roots)) or roots_of(source)
    return roots, module_of(source, roots)


def _problem(problem: Problem) -> dict[str, object]:
    return {
        "source": problem.source,
        "function": problem.function,
        "dtype": problem.dtype,
        "parameters": dict(problem.parameters),
    }


@define(kw_only=True)
class InFlightCell:
    """A cell on its way through a child."""

    cell: Cell
    nonce: str
    started: float = 0.0
    stage: str = SOURCE_STAGE
    entered: float = 0.0
    """Seconds from the start of the cell to the start of ``stage``."""
    cpu: dict[str, float] = field(factory=dict)
    """Stage → the child's CPU seconds at the start of the stage, in order."""
    stages: Mapping[str, float] = field(factory=dict)
    """CPU seconds by stage of a stopped cell. The last stage is the one in progress."""
    imported: float = 0.0
    """Seconds from the start of the cell to the end of the stage ``source``; 0 before that."""
    starved_before: float = 0.0
    """Seconds that the child had waited for a processor before the cell."""
    starved: float = 0.0
    """Seconds of the cell that do not count, because the child waited for a processor."""
    output: int = 0
    """Offset in the output file at which the cell's own output begins."""
    target_known: bool | None = None
    """Whether the toolchain knows the target, if the worker asked."""
    notes: list[str] = field(factory=list)

    def enter(self, stage: str, cpu: float | None = None) -> None:
        """Note that a stage begins now. ``cpu`` is how many CPU seconds the child has used."""
        if cpu is not None:
            self.cpu.setdefault(stage, cpu)
        self.entered = time.monotonic() - self.started
        if self.stage == SOURCE_STAGE != stage:
            self.imported = self.entered
        self.stage = stage

    def began(self, stage: str, since: float, cpu: float) -> None:
        """Note that a stage began at the time ``since``, in seconds since the epoch.

        ``cpu`` is how many CPU seconds the child has used by now. The CPU seconds at the beginning
        of the stage are not known. They are divided between the stages in proportion to their time.
        """
        now, wall_time = time.monotonic() - self.started, time.time()
        entered = max(self.entered, now - (wall_time - since))
        last = next(reversed(self.cpu.values()), 0.0)
        share = (entered - self.entered) / (now - self.entered) if now > self.entered else 1.0
        self.cpu.setdefault(stage, last + share * max(0.0, cpu - last))
        self.entered, self.stage = entered, stage

    def stop(self, cpu: float) -> None:
        """Note that the cell is stopped now. ``cpu`` is how many CPU seconds the child has used."""
        spans = pairwise([*self.cpu.values(), cpu])
        self.stages = {
            stage: max(0.0, end - begin)
            for stage, (begin, end) in zip(self.cpu, spans, strict=True)
        }

    def limit(self, limits: Limits) -> float:
        """Return the deadline of the current stage, in seconds."""
        deadline = limits.import_deadline if self.stage == SOURCE_STAGE else limits.deadline
        if self.stage != limits.stage:
            return deadline
        return min(deadline, self.entered - self.imported + limits.stage_deadline)

    def remaining_seconds(self, limits: Limits) -> float:
        """Return the seconds until that deadline."""
        ends = self.started + self.imported + self.limit(limits) + self.starved
        return ends - time.monotonic()

    def job(self, mode: Mode = PLAIN) -> JsonObject:
        """Return the cell as a job in the worker's form."""
        spec = self.cell.spec
        roots, module = _place(spec)
        return {
            "nonce": self.nonce,
            "source": spec.source,
            "roots": list(map(str, roots)),
            "module": module,
            "function": spec.function,
            **spec.compile.document(),
            "target": toolchains.of(self.cell.env).facts(self.cell.target, self.cell.env.release),
            "problem": (
                _problem(spec.problem)
                if (mode.interprets or mode.tells_problem) and spec.problem
                else None
            ),
            "actions": mode.documents(self.cell),
        }

    def evidence(self, mode: Mode, **facts: Any) -> Evidence:
        """Return the evidence of the cell so far, with ``facts`` added."""
        defaults = {
            "requested": mode.action_names,
            "alone": mode.diagnose,
            "stage": self.stage,
            "entered": self.entered,
            "target_known": self.target_known,
            "seconds": time.monotonic() - self.started if self.started else 0.0,
            "stages": self.stages,
            "protocol": tuple(self.notes),
        }
        return Evidence(**{**defaults, **facts})


_Look = Callable[[], InFlightCell | None]

_LOCK = threading.Lock()
_WATCHED: dict[int, _Look] = {}


@contextmanager
def register_in_flight(in_flight: _Look) -> Iterator[None]:
    """While this is entered, ``in_flight`` returns the attempt that a child works on, if any.

    ``in_flight`` may be called from any thread.
    """
    with _LOCK:
        _WATCHED[id(in_flight)] = in_flight
    try:
        yield
    finally:
        with _LOCK:
            del _WATCHED[id(in_flight)]


def taking_longer_than(seconds: float) -> tuple[tuple[Cell, float], ...]:
    """Return the cells whose attempt has taken longer than ``seconds`` so far, with their seconds.

    The longest comes first.
    """
    with _LOCK:
        looks = tuple(_WATCHED.values())
    now = time.monotonic()
    flights = [flight for look in looks if (flight := look()) is not None]
    slow_cells = [
        (flight.cell, now - flight.started) for flight in flights if now - flight.started > seconds
    ]
    return tuple(sorted(slow_cells, key=lambda pair: -pair[1]))


# --- folders of another machine -------------------------------------------------------------------

_MORE = r"(?![\w.+@=~-])"
"""The characters that must not follow a folder's name, because they would make it another name."""


@define(kw_only=True, slots=False, frozen=True)
class Places:
    """Pairs of a folder on this machine and its name on the requesting machine."""

    pairs: tuple[tuple[str, str], ...] = field(default=())

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> Self:
        """Return the pairs whose names differ.

        Inner folders come before the folders that they lie in.
        """
        different = dict.fromkeys((here, there) for here, there in pairs if here != there)
        return cls(pairs=tuple(sorted(different, key=lambda pair: -len(pair[0]))))

    def translate(self, text: str) -> str:
        """Return a text with the requesting machine's paths."""
        if not self.pairs or not any(here in text for here, _ in self.pairs):
            return text
        return self._here.sub(lambda match: self._there[match[0]], text)

    def translate_data(self, data: bytes) -> bytes:
        """Return the content of a file with the requesting machine's paths.

        Content that is no text stays unchanged, because lengths matter there.
        """
        if not self.pairs or not any(os.fsencode(here) in data for here, _ in self.pairs):
            return data
        try:
            return self.translate(data.decode("utf-8")).encode("utf-8")
        except UnicodeDecodeError:
            return data

    def evidence(self, evidence: Evidence) -> Evidence:
        """Return evidence with the requesting machine's paths."""
        if not self.pairs:
            return evidence
        translate = self.translate
        stood_in = evidence.stood_in
        return evolve(
            evidence,
            raised=tuple(_translate_exception(link, self) for link in evidence.raised),
            printed=translate(evidence.printed),
            stderr=translate(evidence.stderr),
            in_flight=evidence.in_flight and translate(evidence.in_flight),
            at=evidence.at and translate(evidence.at),
            quoted={translate(place): line for place, line in evidence.quoted.items()},
            source=translate(evidence.source),
            optional={name: translate(place) for name, place in evidence.optional.items()},
            metrics=_plain(evidence.metrics, self),
            warnings=tuple(
                ToolchainWarning(type=warning.type, message=translate(warning.message))
                for warning in evidence.warnings
            ),
            imported=tuple(map(translate, evidence.imported)),
            stood_in=stood_in and _translate_stand_ins(stood_in, self),
            protocol=tuple(map(translate, evidence.protocol)),
            refused=evidence.refused and translate(evidence.refused),
        )

    @cached_property
    def _here(self) -> re.Pattern[str]:
        return re.compile(f"(?:{'|'.join(re.escape(here) for here, _ in self.pairs)}){_MORE}")

    @cached_property
    def _there(self) -> Mapping[str, str]:
        return dict(reversed(self.pairs))


NOWHERE_ELSE = Places()
"""The places of a request from this machine, which has no other names for folders."""


def _translate_exception(raised: RaisedException, places: Places) -> RaisedException:
    return evolve(
        raised,
        message=places.translate(raised.message),
        traceback=places.translate(raised.traceback),
    )


def _translate_stand_ins(stood_in: StandInPackages, places: Places) -> StandInPackages:
    return evolve(
        stood_in,
        answers=tuple(map(places.translate, stood_in.answers)),
        skipped=tuple(map(places.translate, stood_in.skipped)),
    )


def _plain(value: object, places: Places) -> Any:
    """Return a JSON value with the requesting machine's paths in its strings."""
    if isinstance(value, str):
        return places.translate(value)
    if isinstance(value, Mapping):
        return {name: _plain(element, places) for name, element in value.items()}
    return [_plain(element, places) for element in value] if isinstance(value, list) else value


def folders_of(python: str) -> tuple[str, str]:
    """Return the folder of an interpreter's virtual environment, and the folder of its base Python.

    A folder that is not known is empty.
    """
    folder = Path(python).parent.parent
    try:
        with (folder / "pyvenv.cfg").open(encoding="utf-8", errors="replace") as file:
            settings = dict(line.partition("=")[::2] for line in file)
    except OSError:
        return str(folder), ""
    home = next((value.strip() for name, value in settings.items() if name.strip() == "home"), "")
    return str(folder), str(Path(home).parent) if home else ""
