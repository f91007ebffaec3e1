"""The meaning of a cell's evidence (:class:`Outcome`), and a cell with it (:class:`Result`).

:func:`cell_document` makes the data of a cell for ``matrix.json`` and for a user's judging program.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Annotated, Any, TypeVar

from attrs import Factory, evolve, field, frozen

from compat.model.cell import DEFAULT_FRAMEWORK, DEFAULT_TOOLCHAIN, BuiltEnv, Cell, Env
from compat.model.evidence import LATER_STAGES, SOURCE_STAGE, StandInPackages, ToolchainWarning
from compat.model.fields import ABSENT, DIGITS, KEY, Seconds, Text, rules
from compat.model.status import BAD_NUMBERS, NOT_RUN, Expectation, Latency, Numbers, Status
from compat.text import JsonMapping, JsonObject


@frozen(kw_only=True)
class Failure:
    """Why a cell is not ``ok``."""

    failure_class: Text = field(metadata={KEY: "class"})
    toolchain: str = field(default=DEFAULT_TOOLCHAIN, metadata={ABSENT: True})
    """Name of the toolchain that the class belongs to. Two toolchains may have classes of the same
    name.
    """
    fingerprint: Text
    """Equal for the same defect in any release, path, line, stage or pass, and different for
    different defects.
    """
    excerpt: str
    """The decisive lines of the message."""
    stage: str
    """The stage that failed."""
    pass_: str | None = field(default=None, metadata={KEY: "pass"})
    """The compiler pass that failed."""
    op: str | None = None
    """The operation that the message names."""
    location: str | None = None
    """The place in the source, as file and line."""
    reproducer: str | None = None
    """Name of the artifact with the MLIR reproducer."""
    ir: str | None = None
    """Name of the artifact with the IR before the pass."""
    advice: str
    """The next step for the author of the kernel."""
    prediction: bool = False
    """The cell compiled, but a launch would fail or compute wrong values."""


@frozen(kw_only=True, weakref_slot=False)
class Outcome:
    """The meaning of all evidence on one cell."""

    status: Status
    """How the cell ended."""
    stage: str
    """The last stage it reached."""
    failure: Failure | None = None
    """The failure. ``None``: it did not fail."""
    flaky: bool = False
    """Two attempts under the same conditions ended differently."""
    attempts: tuple[str, ...] = ()
    """``status class`` of each attempt, in order."""
    warnings: tuple[ToolchainWarning, ...] = ()
    """The compiler's warnings."""
    metrics: JsonMapping = Factory(dict)
    """Metric → value: registers, bytes of spills, shared memory, …"""
    stages: Mapping[str, float] = Factory(dict)
    """Stage → CPU seconds, in order."""
    seconds: float = 0.0
    """Wall time of the decisive attempt, in seconds. Other load on the machine increases it."""
    stood_in: StandInPackages | None = None
    """Stand-ins that replaced packages which the environment lacks."""

    @property
    def has_code(self) -> bool:
        """Whether the compiler made code for a launch, even if the launch is predicted to fail."""
        return self.status is Status.OK or (self.failure is not None and self.failure.prediction)

    @property
    def compile_seconds(self) -> float | None:
        """CPU seconds of compiling. ``None``: no stage of a compile is known.

        Importing the kernel's file does not count, because only the first cell of a batch imports
        it. The sum is over the rounded seconds of the stages, so that a loaded report gives the
        same number.
        """
        compiling = [
            round(seconds, DIGITS)
            for stage, seconds in self.stages.items()
            if stage not in (SOURCE_STAGE, *LATER_STAGES)
        ]
        return round(sum(compiling), DIGITS) if compiling else None


@frozen(kw_only=True, weakref_slot=False)
class Result:
    """A cell with its outcome and its declared expectation."""

    cell: Cell
    built: BuiltEnv
    """Its environment."""
    outcome: Outcome
    """The meaning of its evidence."""
    expectation: Expectation | None = None
    """The failure that the kernel file declares. ``None``: it declares none."""
    cached: bool = False
    """Whether it was read from the store."""
    numbers: Numbers = NOT_RUN
    """The checks of the computed values."""
    latency: Latency | None = None
    """Time of a launch. ``None``: not measured."""

    @property
    def expected(self) -> bool:
        """Whether outcome and computed values are as declared.

        ``unsupported`` says nothing about the kernel and is always expected. A broken env, a lost
        answer and a flaky cell never are.
        """
        return self._compiles_as_expected and self._computes_as_expected

    @property
    def _compiles_as_expected(self) -> bool:
        status, failure = self.outcome.status, self.outcome.failure
        if self.outcome.flaky or not status.is_answer:
            return False
        declared = self.expectation
        if declared is None or declared.status in BAD_NUMBERS:
            foretold = (
                declared is not None
                and status in BAD_NUMBERS
                and failure is not None
                and failure.prediction
            )
            return (
                status is Status.UNSUPPORTED
                or (status is Status.OK and failure is None)
                or foretold
            )
        if status is Status.UNSUPPORTED and declared.status is not Status.UNSUPPORTED:
            return True
        if status is Status.OK and failure is None and not declared.strict:
            return True
        kind = failure.failure_class if failure else None
        return status is declared.status and declared.failure_class in (None, kind)

    @property
    def _computes_as_expected(self) -> bool:
        """Whether no check shows an undeclared failure.

        Only a GPU can show that a declared failure is gone.
        """
        declared = (
            self.expectation.status
            if self.expectation and self.expectation.status in BAD_NUMBERS
            else None
        )
        for check in self.numbers.checks:
            if (
                check.status is Status.LAUNCH_REFUSED
                and self.outcome.failure is not None
                and self.outcome.failure.prediction
            ):
                continue  # the outcome predicts it, and the expectation may declare it
            if check.status is Status.LOST or (
                check.right is False and not _same_numbers(check.status, declared)
            ):
                return False
        gpu = self.numbers.gpu
        strict = declared is not None and self.expectation is not None and self.expectation.strict
        return not (strict and gpu is not None and gpu.right is True)


_BY_CHANCE = (Status.WRONG, Status.UNSTABLE)
"""Statuses that a race can turn into each other, so either one means both."""


def _same_numbers(status: Status, declared: Status | None) -> bool:
    return status is declared or (status in _BY_CHANCE and declared in _BY_CHANCE)


_T = TypeVar("_T")

_Shape = tuple[Any, ...]
"""The names of a mapping in order. A nested mapping has its name and its own shape."""

_SHAPES: dict[_Shape, _Shape] = {}


class Compact(Mapping[str, Any]):
    """An immutable mapping of JSON values that keeps them as bytes.

    Mappings with the same names share them. Each access decodes the values again. A mapping equals
    every mapping with the same content.
    """

    __slots__ = ("_shape", "_values")

    def __init__(self, content: Mapping[str, object]) -> None:
        """Keep a copy of ``content``. Raises ValueError if it is not JSON."""
        values: list[Any] = []
        shape = _flatten(content, values)
        self._shape = _SHAPES.setdefault(shape, shape)
        self._values = marshal.dumps(values)

    def _content(self) -> dict[str, object]:
        return _restore(self._shape, iter(marshal.loads(self._values)))  # noqa: S302 - of this process

    def __getitem__(self, name: str) -> object:
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
        """The items, as of a dictionary. All values are decoded together."""
        return self._content().items()

    def values(self) -> Any:
        """See :meth:`items`."""
        return self._content().values()

    def get(self, name: str, default: Any = None) -> Any:
        """See :meth:`items`."""
        return self._content().get(name, default)


def _flatten(content: Mapping[str, object], values: list[object]) -> _Shape:
    shape: list[object] = []
    for name, value in content.items():
        if isinstance(value, dict) and value:
            shape.append((name, _flatten(value, values)))
        else:
            shape.append(name)
            values.append(value)
    return tuple(shape)


def _restore(shape: _Shape, values: Iterator[object]) -> dict[str, object]:
    return {
        (part if type(part) is str else part[0]): (
            next(values) if type(part) is str else _restore(part[1], values)
        )
        for part in shape
    }


@cache
def _empty() -> Compact:
    """The mapping that all cells without facts share."""
    return Compact({})


def compact_record(record: _T) -> _T:
    """A copy of an outcome, or of a cell's record, that uses less memory."""
    facts: Any = record
    changes: JsonObject = {
        name: once(getattr(facts, name)) for name in ("attempts", "warnings", "stood_in")
    }
    changes |= {name: _compact(getattr(facts, name)) for name in ("metrics", "stages")}
    return evolve(facts, failure=_share_texts(facts.failure) if facts.failure else None, **changes)  # type: ignore[no-any-return]


@lru_cache(maxsize=4096)
def once(value: _T) -> _T:
    """The first object that equals ``value``, so that equal values share memory."""
    return value


def _compact(facts: Mapping[str, object]) -> Mapping[str, object]:
    return Compact(facts) if facts else _empty()


@lru_cache(maxsize=4096)
def _share_texts(failure: Failure) -> Failure:
    """A copy that shares its texts with failures that differ only in place or artifacts."""
    texts = ("failure_class", "stage", "fingerprint", "excerpt", "advice")
    return evolve(failure, **{name: once(getattr(failure, name)) for name in texts})


RELEASE = DEFAULT_TOOLCHAIN
"""The key of the installed release in the schema; in data it is the name of the cell's
toolchain.
"""
FRAMEWORK = DEFAULT_FRAMEWORK
"""The key of the framework's release in the schema; in data it is the name of the env's
framework.
"""
_LAUNCH_FACTS = ("launches", "differing", "device")
"""The facts that only a check on a GPU has."""


@frozen(kw_only=True)
class CellRecord:
    """A cell and its result, in their JSON form."""

    id: Text
    kernel: Text
    variant: Text
    case: Text
    guessed: bool
    target: Text
    env: Text
    release: str | None = field(default=None, metadata={KEY: RELEASE})
    framework_release: str | None = field(default=None, metadata={KEY: FRAMEWORK})
    status: Status
    expected: bool
    expectation: Expectation | None
    stage: str
    failure: Failure | None
    flaky: bool
    attempts: tuple[str, ...]
    warnings: tuple[ToolchainWarning, ...]
    metrics: Annotated[JsonMapping, rules(description="Open: the metrics depend on the toolchain.")]
    stages: Mapping[str, Seconds]
    compile_seconds: Seconds | None
    seconds: Seconds
    cached: bool
    stood_in: StandInPackages | None
    numbers: Numbers
    latency: Latency | None


LIMITED = (Status.TIMED_OUT, Status.OUT_OF_MEMORY)
"""The statuses of cells that hit a limit."""


def fate_of(outcome: Outcome | CellRecord) -> tuple[object, ...]:
    """The facts that must be equal in two runs of a cell.

    The way in which a limit was hit depends as much on the machine as on the kernel.
    """
    failure = None if outcome.status in LIMITED else outcome.failure
    return outcome.status, outcome.flaky, failure and (failure.failure_class, failure.fingerprint)


def cell_document(result: Result) -> JsonObject:
    """One cell and its result, as JSON values."""
    # The import of the codec takes longer than many commands run.
    from compat.model.codec import record_of, unstructure

    cell = result.cell
    facts = {"id": cell.id, "target": cell.target.name, "env": cell.env.name}
    record = record_of(CellRecord, result, result.outcome, result.built, cell.spec, **facts)
    document = with_names(unstructure(record), cell.env)
    if interpreter := document["numbers"]["interpreter"]:
        for name in _LAUNCH_FACTS:
            del interpreter[name]
    return document


def with_names(document: JsonObject, env: Env) -> JsonObject:
    """The document, with the releases under the names of the env's toolchain and framework.

    The document itself if it has these names already.
    """
    if (env.toolchain, env.framework) == (RELEASE, FRAMEWORK):
        return document
    names = {RELEASE: env.toolchain, FRAMEWORK: env.framework}
    return {names.get(key, key): item for key, item in document.items()}
