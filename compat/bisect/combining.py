"""Combine one half of the toolchain from each of two releases, to see which half causes a failure.

Each release compiles the IR that the other one made, and compiles with the other one's assembler.
The toolchain names the IR that crosses between releases
(:class:`compat.toolchains.base.CompilerParts`). The effect of a combination is the outcome of its
compile (:class:`CompileExperiment`), the metrics of its compile (:class:`MetricExperiment`), or the
result of its launch (:class:`LaunchExperiment`).
"""

from __future__ import annotations

import filecmp
from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from textwrap import shorten

from attrs import define, evolve, field, frozen

from compat import toolchains
from compat.bisect.answers import Effect
from compat.bisect.attempts import AssemblerProgram, Attempts, effect_on
from compat.bisect.criterion import Criterion, Exceeds, result_text
from compat.bisect.measures import measure
from compat.engine.run import RunContext, outcome_of
from compat.history.account import Judgement
from compat.launch.archive import object_of
from compat.launch.building import Launchable, launch_mode, launchable_of
from compat.launch.merging import with_launch_of, with_launched
from compat.model import SOURCE_STAGE, Cell, Evidence, Outcome, Result, Status
from compat.processes.supervisor import run
from compat.text import lazy_pattern, text_digest
from compat.toolchains.base import CompilerParts
from compat.workers.attempt import KEEPING_IR, LAUNCHABLE, Compile, Mode

_MESSAGE = 100
"""Characters of a compiler's message that a step quotes."""
_EFFECTS = {
    Judgement.BAD: Effect.SAME,
    Judgement.GOOD: Effect.OK,
    Judgement.UNKNOWN: Effect.UNKNOWN,
}
_JUDGED = {Effect.SAME: "bad", Effect.OK: "good", Effect.UNKNOWN: "no answer"}
_VERSION = lazy_pattern(r"V(\d+\.\d+\.\d+)")
_VERSION_DEADLINE = 20.0
_BUILT = Outcome(status=Status.OK, stage="")


class Side(StrEnum):
    """The side of the border between two halves that contains the failure."""

    BEFORE = "before"
    """In the IR: it fails in the other release too."""
    BEHIND = "behind"
    """In the stages after the IR: IR of the other release fails there too."""
    BOTH = "both"
    """Only with both bad halves together."""
    EITHER = "either"
    """Each bad half alone is sufficient."""
    UNKNOWN = "unknown"


@frozen(kw_only=True)
class Crossing:
    """The outcomes of combining the halves of two releases."""

    into_bad: Effect
    """IR of the good release, compiled by the bad one."""
    into_good: Effect
    """IR of the bad release, compiled by the good one."""
    control: Effect = Effect.SAME
    """The control: IR of the bad release, compiled from a file by the bad release.

    If it does not fail the same way, the experiment proves nothing.
    """

    @property
    def side(self) -> Side:
        """The half that is sufficient or necessary for the failure."""
        if self.control is not Effect.SAME:
            return Side.UNKNOWN
        match (self.into_bad, self.into_good):
            case (Effect.SAME, Effect.SAME):
                return Side.EITHER
            case (Effect.OK, Effect.OK):
                return Side.BOTH
            case (Effect.SAME, _) | (_, Effect.OK):
                return Side.BEHIND
            case (_, Effect.SAME) | (Effect.OK, _):
                return Side.BEFORE
        return Side.UNKNOWN


@define(kw_only=True, slots=False)
class Experiment(ABC):
    """A cell that is bad, perhaps one that is good, and combinations of their releases."""

    bad: Cell
    good: Cell | None = None
    context: RunContext
    """The context, with the envs of both cells."""
    attempts: Attempts
    parts: CompilerParts
    steps: list[str] = field(factory=list)
    """The combinations that were tried and their results, one sentence each."""
    _evidence: dict[str, Evidence] = field(factory=dict)
    """Env → the attempt at the cell in it."""

    def evidence_of(self, cell: Cell) -> Evidence:
        """The attempt at one of the two unchanged cells. It keeps the IR of all finished stages."""
        if cell.env.name not in self._evidence:
            self._evidence[cell.env.name] = self.attempts.make(cell, KEEPING_IR)
        return self._evidence[cell.env.name]

    @abstractmethod
    def compile_ir(self, stage: str, ir: str, maker: Cell, reader: Cell) -> Effect:
        """Compile the artifact ``ir`` of ``stage`` with the release of ``reader``.

        The release of ``maker`` made the artifact.
        """

    @abstractmethod
    def assemble(self, cell: Cell, program: AssemblerProgram) -> Effect:
        """Compile a cell with another assembler."""

    @cached_property
    def _names(self) -> dict[str, str]:
        names = [cell.env.name for cell in (self.good, self.bad) if cell is not None]
        releases = [self.context.envs[name].release for name in names]
        distinct = None not in releases and len(set(releases)) == len(names)
        return {
            name: str(release) if distinct else name
            for name, release in zip(names, releases, strict=True)
        }

    def name(self, cell: Cell) -> str:
        """The name of a cell's release in steps and sentences.

        It is the release's number, or the env's name if the numbers are unknown or equal.
        """
        return self._names[cell.env.name]

    @property
    def other(self) -> Cell:
        """The good cell. Combinations of releases always have one."""
        assert self.good is not None, "one release cannot be combined with itself"
        return self.good

    @cached_property
    def first_ir(self) -> str:
        """The first IR that these releases make of the kernel.

        It is the last IR of the passes if the front end makes that one directly, as Triton's front
        end does for Gluon kernels.
        """
        cells = (cell for cell in (self.good, self.bad) if cell is not None)
        stages = {stage for cell in cells for stage in self.evidence_of(cell).artifacts}
        first, last = self.parts.first_ir, self.parts.last_ir
        return last if last in stages and first not in stages else first

    def cross(self, stage: str) -> Crossing:
        """Compile the output of ``stage`` in each release with the other release.

        The bad release also compiles its own output, as a control.
        """
        into_bad = self._feed(stage, self.other, self.bad)
        into_good, control = Effect.UNKNOWN, Effect.SAME
        if stage in self.evidence_of(self.bad).artifacts:
            control = self._feed(stage, self.bad, self.bad)
            into_good = self._feed(stage, self.bad, self.other)
        return Crossing(into_bad=into_bad, into_good=into_good, control=control)

    def _feed(self, stage: str, maker: Cell, reader: Cell) -> Effect:
        ir = self.evidence_of(maker).artifacts.get(stage)
        if ir is None:
            self.steps.append(f"{self.name(maker)} produces no {stage.upper()} for it.")
            return Effect.UNKNOWN
        return self.compile_ir(stage, ir, maker, reader)

    def swap_assembler(self) -> Crossing | None:
        """Compile with each release and the other one's assembler; ``None`` if one has none."""
        assembler, cells = self.parts.assembler, (self.other, self.bad)
        good, bad = (assembler.of(self.context.envs[cell.env.name], cell.target) for cell in cells)
        names = [self.name(cell) for cell in cells]
        if good is None or bad is None:
            self.steps.append(
                f"{names[good is not None]} ships no {assembler.name}, so none could be swapped."
            )
            return None
        if good == bad or filecmp.cmp(good, bad, shallow=False):
            self.steps.append(
                f"{names[0]} and {names[1]} ship the same {assembler.name}, byte for byte."
            )
            # The assemblers are equal, so swapping them would change nothing.
            return Crossing(into_bad=Effect.OK, into_good=Effect.SAME)
        into_good = self.assemble(self.bad, AssemblerProgram(name=names[0], path=good))
        into_bad = self.assemble(self.other, AssemblerProgram(name=names[1], path=bad))
        return Crossing(into_bad=into_bad, into_good=into_good)


@define(kw_only=True, slots=False)
class CompiledExperiment(Experiment):
    """Combinations that are compiled, and not launched."""

    @abstractmethod
    def judge(self, title: str, cell: Cell, outcome: Outcome) -> Effect:
        """Note the outcome of a combination in the release of a cell, and return its effect."""

    def compile_ir(self, stage: str, ir: str, maker: Cell, reader: Cell) -> Effect:
        mode = Mode(actions=(Compile(ir=ir),), action_files={ir: self.attempts.data(ir)})
        title = f"{stage.upper()} made by {self.name(maker)}, compiled by {self.name(reader)}"
        return self.judge(title, reader, self.attempts.outcome(reader, mode))

    def exchange_assembler(self, cell: Cell, program: AssemblerProgram) -> tuple[Outcome, Effect]:
        """Compile a cell with another assembler in place of its own one."""
        assembler = self.parts.assembler
        variables = dict.fromkeys(assembler.variables, str(program.path))
        outcome = self.attempts.outcome(cell, Mode(variables=variables))
        title = f"{self.name(cell)} with the {assembler.name} of {program.name}"
        return outcome, self.judge(title, cell, outcome)

    def assemble_alone(self, cell: Cell, program: AssemblerProgram) -> Effect | None:
        """Run another assembler alone; ``None`` if the compile makes no input for it."""
        assembler = self.parts.assembler
        outcome = self.attempts.assembler_outcome(cell, assembler, program.path)
        source = f"The {assembler.input_stage.upper()} of {self.name(cell)}"
        title = f"{source}, assembled with the {assembler.name} of {program.name}"
        return None if outcome is None else self.judge(title, cell, outcome)


@define(kw_only=True, slots=False)
class CompileExperiment(CompiledExperiment):
    """Combinations that are compiled, and compared with the failure of the bad cell."""

    failing: Outcome

    def judge(self, title: str, cell: Cell, outcome: Outcome) -> Effect:
        self.steps.append(f"{title}: {self.describe(outcome)}.")
        return effect_on(self.failing, outcome)

    def assemble(self, cell: Cell, program: AssemblerProgram) -> Effect:
        """Compile a cell with another assembler.

        If the toolchain refuses that assembler, run the assembler alone.
        """
        outcome, effect = self.exchange_assembler(cell, program)
        # A predicted failure is about a finished compile.
        failed = outcome.failure if outcome.failure and not outcome.failure.prediction else None
        # Up to 3.2, Triton refuses an assembler that is newer than those it knows.
        if failed and failed.stage != self.parts.assembler.stage:
            return self.assemble_alone(cell, program) or effect
        return effect

    def describe(self, outcome: Outcome) -> str:
        """An outcome in the words of a step."""
        match effect_on(self.failing, outcome):
            case Effect.OK:
                return "ok"
            case Effect.SAME:
                return "fails the same way"
        failure = outcome.failure
        if failure is None:
            return f"no answer ({outcome.status})"
        unreadable = toolchains.known_class(failure).unreadable_ir
        if unreadable or (failure.stage == SOURCE_STAGE != self.failing.stage):
            return "that release cannot parse this IR"
        message = shorten(failure.excerpt, _MESSAGE, placeholder=" …")
        return (
            f"fails differently, in stage {failure.stage} ({failure.failure_class}: {message}),"
            " which proves nothing"
        )

    def front_ends_agree(self) -> bool | None:
        """Whether both front ends made the same IR, ignoring names; ``None`` if one made none."""
        first = [self._first_ir(cell) for cell in (self.other, self.bad)]
        if None in first:
            return None
        agree = first[0] == first[1]
        names = f"{self.name(self.other)} and of {self.name(self.bad)}"
        self.steps.append(
            f"Before the first pass, the IR of {names} is {'the same' if agree else 'different'},"
            " ignoring names."
        )
        return agree

    def _first_ir(self, cell: Cell) -> str | None:
        evidence = self.attempts.make(cell, Mode(diagnose=True, keep_printed=True))
        reader = toolchains.of(cell.env).reader
        pipeline = reader.read(self.attempts.kept_output(evidence)).pipeline
        return pipeline.states[0] if pipeline.steps else None

    @cached_property
    def same_low_ir(self) -> bool | None:
        """Whether the back end gets the same IR in both releases, ignoring names.

        It is ``None`` if one release makes none. The kept result of a stage has been through the
        back end's optimizer. If that result differs, both are compared again without the optimizer.
        """
        parts, cells = self.parts, (self.other, self.bad)
        names, title = [self.name(cell) for cell in cells], parts.low_ir_title
        optimized = [self.evidence_of(cell).artifacts.get(parts.low_ir) for cell in cells]
        if None not in optimized and self._low_ir(optimized[0]) == self._low_ir(optimized[1]):
            self.steps.append(
                f"The optimized {title} of {names[0]} and of {names[1]} is the same, ignoring"
                " names."
            )
            return True
        mode = evolve(KEEPING_IR, variables=parts.not_optimized)
        plain = [self.attempts.make(cell, mode).artifacts.get(parts.low_ir) for cell in cells]
        if None in plain:
            self.steps.append(
                f"{names[plain[0] is not None]} produces no {title} for it, so there is none to"
                " compare."
            )
            return None
        texts = [self._low_ir(name) for name in plain]
        subject = f"The {title} that {names[0]} and {names[1]} hand to {parts.backend}"
        if texts[0] == texts[1]:
            self.steps.append(f"{subject} is the same, ignoring names.")
            return True
        lines = next(
            (
                pair
                for pair in zip(*(text.splitlines() for text in texts), strict=False)
                if pair[0] != pair[1]
            ),
            (),
        )
        quoted = " against ".join(
            f"`{shorten(line, _MESSAGE, placeholder=' …')}`" for line in lines
        )
        self.steps.append(
            f"{subject} differs, ignoring names: {quoted}."
            if any(lines)
            else f"{subject} differs in length, ignoring names."
        )
        return False

    def _low_ir(self, name: str | None) -> str:
        return self.parts.canonical_low_ir(
            self.attempts.path(str(name)).read_text(encoding="utf-8", errors="replace")
        )


@define(kw_only=True, slots=False)
class MetricExperiment(CompiledExperiment):
    """Combinations that are compiled, and judged by their metrics."""

    criterion: Criterion
    waiting: Sequence[Launchable] = ()
    """Always empty: nothing has to be launched."""

    def __attrs_post_init__(self) -> None:
        cells = [cell for cell in (self.good, self.bad) if cell is not None]
        self.criterion = self.criterion.along(
            [[result] for result in self.attempts.results(*cells)]
        )

    def alone(self, cell: Cell) -> Effect:
        """The effect of an unchanged cell."""
        outcome = outcome_of(cell, [self.evidence_of(cell)])
        return self.judge(f"{self.name(cell)} alone", cell, outcome)

    def assemble(self, cell: Cell, program: AssemblerProgram) -> Effect:
        """Compile a cell with another assembler.

        If the toolchain's own assembler cannot be exchanged, run the other one alone.
        """
        assembler = self.parts.assembler
        if assembler.variables:
            return self.exchange_assembler(cell, program)[1]
        effect = self.assemble_alone(cell, program)
        if effect is None:
            self.steps.append(
                f"{self.name(cell)} produces no {assembler.input_stage.upper()} for it."
            )
        return effect or Effect.UNKNOWN

    def swap_assembler(self) -> Crossing | None:
        """Swap the assemblers, unless the binaries of both releases name the same version of it."""
        name = self.parts.assembler.name
        values = [self.evidence_of(cell).metrics.get(name) for cell in (self.other, self.bad)]
        if values[0] is None or values[0] != values[1]:
            return super().swap_assembler()
        names = f"{self.name(self.other)} and {self.name(self.bad)}"
        self.steps.append(f"{names} have the same {name}, {values[0]}, by what their binaries say.")
        return Crossing(into_bad=Effect.OK, into_good=Effect.SAME)

    def judge(self, title: str, cell: Cell, outcome: Outcome) -> Effect:
        result = Result(cell=self.bad, built=self.context.envs[cell.env.name], outcome=outcome)
        failure = outcome.failure
        if failure is not None and not failure.prediction:
            unread = toolchains.known_class(failure).unreadable_ir or failure.stage == SOURCE_STAGE
            text = shorten(failure.excerpt, _MESSAGE, placeholder=" …")
            self.steps.append(
                f"{title}: {'that release cannot parse this IR' if unread else f'fails, {text}'}."
            )
            return Effect.UNKNOWN
        question = self.criterion.question
        measurement = ""
        if (
            isinstance(question, Exceeds)
            and (value := measure(outcome, question.metric)) is not None
        ):
            measurement = f"{question.metric} is {value:g}, "
        effect = _EFFECTS[self.criterion(result)]
        self.steps.append(f"{title}: {measurement}{_JUDGED[effect]}.")
        return effect


@define(kw_only=True, slots=False)
class LaunchExperiment(Experiment):
    """Combinations that are built, and compared by the known results of launches.

    A binary that equals the binary of a release needs no launch.
    """

    criterion: Criterion
    waiting: list[Launchable] = field(factory=list)
    """The combinations without a launch."""
    _results: dict[str, Result] = field(factory=dict)
    """Binary → its known results."""

    def __attrs_post_init__(self) -> None:
        rows = [[self._plain_result(cell)] for cell in (self.good, self.bad) if cell is not None]
        self.criterion = self.criterion.along(rows)

    def alone(self, cell: Cell) -> Effect:
        """The effect of an unchanged cell. Its attempt keeps the IR for later combinations."""
        return self._effect("", cell, _keeping(cell, self.parts.first_ir, self.parts.last_ir))

    def compile_ir(self, stage: str, ir: str, maker: Cell, reader: Cell) -> Effect:
        mode = evolve(
            _keeping(reader),
            actions=(Compile(ir=ir, keep_ir=True),),
            action_files={ir: self.attempts.data(ir)},
        )
        return self._effect(
            f"the {stage.upper()} of {self.name(maker)}",
            reader,
            mode,
            like=self.evidence_of(reader),
        )

    def assemble(self, cell: Cell, program: AssemblerProgram) -> Effect:
        mode = _keeping(cell)
        variables = {
            **mode.variables,
            **dict.fromkeys(self.parts.assembler.variables, str(program.path)),
        }
        version = version_of(program.path)
        label = f"the {self.parts.assembler.name} of {program.name}"
        label += f" ({version})" if version and version not in program.name else ""
        return self._effect(label, cell, evolve(mode, variables=variables))

    def _effect(self, label: str, cell: Cell, mode: Mode, like: Evidence | None = None) -> Effect:
        """Build a combination, and return the effect of its launch, if that is known."""
        title = f"{self.name(cell)}{f' with {label}' if label else ''}"
        evidence = self.attempts.make(cell, mode)
        if not label:
            self._evidence[cell.env.name] = evidence
        built, artifact = self.context.envs[cell.env.name], self.context.store.artifact
        launchable = (
            launchable_of(cell, built, evidence, artifact, like=like)
            if evidence.has_binary
            else None
        )
        if not isinstance(launchable, Launchable):
            self.steps.append(
                f"{title}:"
                f" {'cannot be launched, ' + launchable.why if launchable else 'does not compile'}."
            )
            return Effect.UNKNOWN
        repeated = bool(label) and object_of(launchable) in self._results
        result = self._result(launchable, label)
        if result is None:
            new = (
                evolve(launchable, label=label, identity=_identity(launchable))
                if label
                else launchable
            )
            if new.identity not in {other.identity for other in self.waiting}:
                self.waiting.append(new)
            self.steps.append(f"{title}: not launched.")
            return Effect.UNKNOWN
        self.steps.append(
            f"{title}:"
            f" {result_text(result)}{', being the same binary as one above' if repeated else ''}."
        )
        return _EFFECTS[self.criterion(evolve(result, cell=self.bad))]

    def _result(self, launchable: Launchable, label: str) -> Result | None:
        """The result of a binary; ``None`` if it was not launched."""
        binary = object_of(launchable)
        if binary not in self._results:
            plain = self._plain_result(launchable.cell)
            result = (
                with_launch_of(plain, _identity(launchable), self.context.store) if label else plain
            )
            if result.numbers.gpu is None:
                return None
            self._results[binary] = result
        return self._results[binary]

    def _plain_result(self, cell: Cell) -> Result:
        """The result of an unchanged cell, with its known launches."""
        built = self.context.envs[cell.env.name]
        (result,) = with_launched(
            [Result(cell=cell, built=built, outcome=_BUILT)], self.context.store
        )
        return result


def _keeping(cell: Cell, *stages: str) -> Mode:
    """The mode of compiles that keep these stages and everything that a launch needs."""
    return evolve(launch_mode(cell), actions=(Compile(keep_ir=True),), stages=(LAUNCHABLE, *stages))


def _identity(launchable: Launchable) -> str:
    """The identity of a combination: a hash over the cell's identity and the binary."""
    return text_digest(f"{launchable.identity} {object_of(launchable)}")


def version_of(assembler: Path) -> str:
    """The version that an assembler prints; empty if it prints none."""
    try:
        match = _VERSION.search(
            run([str(assembler), "--version"], timeout=_VERSION_DEADLINE).output
        )
    except OSError:
        return ""
    return match[1] if match else ""
