"""The compiler pass without which a metric is good: each pass is left out once.

A metric is read from the binary, and the IR of two releases has many differences. The IR does not
show which difference changes the metric. So one release compiles without one pass after the other.
Before that, a control runs all passes one by one. If the metric of the control is not bad, leaving
out a pass proves nothing. The full pipeline runs at the end of each compile, and may make up for a
missing pass. So a metric that stays bad does not clear any pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import evolve, frozen

from compat import toolchains
from compat.bisect.answers import PassAnswer
from compat.bisect.attempts import Attempts
from compat.bisect.criterion import Criterion, Exceeds
from compat.bisect.measures import measure
from compat.bisect.part import find_part
from compat.bisect.passes import TracedCompile, cut_diff, parts_of, save_ir, stage_of, trace_compile
from compat.diagnosis.pipeline import difference
from compat.engine.run import RunContext, concurrently
from compat.history.account import Judgement
from compat.model import Cell, Outcome, Result
from compat.text import join_words
from compat.workers.attempt import Compile, Mode

_TIMES = ("never", "once", "twice")


@frozen(kw_only=True)
class Omission:
    """A compile without one pass."""

    number: int
    """The position of the pass among those that can be run by themselves, from 1 on."""
    name: str
    """The name of the pass."""
    judgement: Judgement
    """Unknown if the compile fails without the pass."""
    value: float | None
    """The metric; ``None`` without a binary."""


@frozen(kw_only=True)
class Runs:
    """How often two releases run a pass."""

    name: str
    """The name of the pass."""
    bad: int
    good: int
    releases: tuple[str, str]
    """The bad one and the good one."""

    @property
    def differ(self) -> bool:
        """Whether one release runs it more often."""
        return self.bad != self.good

    @property
    def sentence(self) -> str:
        """The numbers in words."""
        if not self.differ:
            return f"Both releases run {self.name} {_times(self.bad)}."
        bad, good = self.releases
        return f"{bad} runs {self.name} {_times(self.bad)}, {good} {_times(self.good)}."


@frozen(kw_only=True)
class OmissionSearch:
    """A cell whose metric is bad, and the passes that are left out one by one."""

    bad: Cell
    good: Cell | None = None
    """The same kernel on a release where the metric is good, if the user names one."""
    context: RunContext
    """The context, with the envs of both cells."""
    criterion: Criterion
    """A criterion that asks for a metric of the binary."""
    on_step: Callable[[str], None] = lambda message: None
    """Receives the pass that is left out, perhaps from another thread."""

    def answer(self, folder: Path) -> PassAnswer:
        """The pass that the metric depends on.

        ``folder`` gets the IR before every pass of the control. Raises
        :class:`compat.errors.StoreError` if it cannot be saved.
        """
        name = self.bad.env.name
        with Attempts(self.context) as attempts:
            (plain,) = attempts.results(self.bad)
            judgement = self.criterion(plain)
            if judgement is Judgement.UNKNOWN:
                why = f"The metric {self._metric} of {name} is unknown ({plain.outcome.status})"
                return PassAnswer(sentence=f"{why}, so no pass was left out.")
            if judgement is Judgement.GOOD:
                why = f"{self._value_words(plain.outcome)} in {name}, which is good"
                return PassAnswer(sentence=f"{why}: there is nothing to find.")
            control = trace_compile(self.bad, attempts, name, self._mode(0))
            saved = save_ir(folder, {folder: control})
            if self._judge_outcome(control.outcome) is not Judgement.BAD:
                sentence = (
                    f"No pass can be named: {self._value_words(control.outcome)} in {name} if its"
                    f" passes run one by one, but {self._number(plain.outcome)} in its own compile."
                )
                return PassAnswer(sentence=sentence + self._part(), folder=saved)
            omissions = self._omit_each(control, attempts)
            runs = self._runs(control, attempts)
        causes = sorted(
            (omission for omission in omissions if omission.judgement is Judgement.GOOD),
            key=lambda omission: omission.name not in runs or not runs[omission.name].differ,
        )
        not_tried = _not_tried(omissions, control)
        if not causes:
            return PassAnswer(
                sentence=self._stays(omissions) + not_tried + self._part(), folder=saved
            )
        before = causes[0].number - 1
        sentences = [self._without(omission, len(omissions), plain.outcome) for omission in causes]
        names = dict.fromkeys(omission.name for omission in causes)
        sentences += [runs[name].sentence for name in names if name in runs]
        return PassAnswer(
            pass_=causes[0].name,
            stage=stage_of(control, before),
            sentence=" ".join(sentences) + not_tried,
            folder=saved,
            diff=_work_of(control, before),
        )

    def _omit_each(self, control: TracedCompile, attempts: Attempts) -> Sequence[Omission]:
        steps = control.pipeline.steps

        def omit(number: int) -> Omission:
            name = steps[number - 1].pass_
            self.on_step(f"without {name}, {number} of {len(steps)}")
            outcome = attempts.outcome(self.bad, self._mode(number))
            return Omission(
                number=number,
                name=name,
                judgement=self._judge_outcome(outcome),
                value=self._measure_outcome(outcome),
            )

        return concurrently(omit, range(1, len(steps) + 1), self.context.slots)

    def _mode(self, number: int) -> Mode:
        """The mode that leaves out pass ``number``; with 0 the control, which prints its IR."""
        mode = Mode(variables={parts_of(self.bad.env).leaves_out: str(number)})
        return mode if number else evolve(mode, actions=(Compile(keep_ir=True),), keep_printed=True)

    # --- the metric ---

    @property
    def _metric(self) -> str:
        assert isinstance(self.criterion.question, Exceeds), "only a metric is asked for"
        return self.criterion.question.metric

    def _measure_outcome(self, outcome: Outcome) -> float | None:
        return measure(outcome, self._metric)

    def _judge_outcome(self, outcome: Outcome) -> Judgement:
        built = self.context.envs[self.bad.env.name]
        return self.criterion(Result(cell=self.bad, built=built, outcome=outcome))

    def _number(self, outcome: Outcome) -> str:
        value = self._measure_outcome(outcome)
        return "unknown" if value is None else f"{value:g}"

    def _value_words(self, outcome: Outcome) -> str:
        return f"{self._metric} is {self._number(outcome)}"

    # --- sentences ---

    def _without(self, omission: Omission, count: int, plain: Outcome) -> str:
        """The effect of leaving out one pass, in words."""
        return (
            f"Without {omission.name}, pass {omission.number} of {count}, {self._metric} is"
            f" {omission.value:g} instead of {self._number(plain)}."
        )

    def _stays(self, omissions: Sequence[Omission]) -> str:
        still_bad = [omission for omission in omissions if omission.judgement is Judgement.BAD]
        values = sorted({omission.value for omission in still_bad if omission.value is not None})
        if not values:
            return "No pass can be named: nothing compiles without one."
        span = f"{values[0]:g}" if len(values) == 1 else f"{values[0]:g} to {values[-1]:g}"
        return (
            f"No pass is shown to be the cause: with any one of {len(still_bad)} passes left out,"
            f" {self._metric} is {span}."
        )

    def _runs(self, control: TracedCompile, attempts: Attempts) -> dict[str, Runs]:
        """Pass of the bad release → how often both releases run it; empty without a good cell."""
        if self.good is None or self.good.spec != self.bad.spec:
            return {}
        other = trace_compile(self.good, attempts, self.good.env.name, self._mode(0))
        if other.failed or not other.pipeline.steps:
            return {}
        return {
            step.pass_: Runs(
                name=step.pass_,
                bad=self._count(control, step.pass_),
                good=self._count(other, step.pass_),
                releases=(control.name, other.name),
            )
            for step in control.pipeline.steps
        }

    def _count(self, compiled: TracedCompile, name: str) -> int:
        key = toolchains.of(self.bad.env).reader.pass_key
        return sum(key(step.pass_) == key(name) for step in compiled.pipeline.steps)

    def _part(self) -> str:
        """A sentence about the part of the toolchain that the metric depends on."""
        if self.good is None or self.good.spec != self.bad.spec:
            return " --good RELEASE also compares parts with a release where it is good."
        part = find_part(self.bad, self.good, self.context, metric=self.criterion)
        return f" By parts of the two releases: {part.sentence[0].lower()}{part.sentence[1:]}"


def _work_of(control: TracedCompile, position: int) -> str:
    """The difference that the pass at a position makes, ignoring names."""
    states = control.pipeline.states
    if position + 1 >= len(states):
        return ""
    names = (f"before {control.pipeline.steps[position].pass_}", "after it")
    return cut_diff(difference(states[position], states[position + 1], names))


def _not_tried(omissions: Sequence[Omission], control: TracedCompile) -> str:
    """Sentences about the passes that the search could not test."""
    needed = [omission.name for omission in omissions if omission.judgement is Judgement.UNKNOWN]
    names = control.pipeline.left_out
    text = (
        "1 pass cannot be run by itself, and was not left out"
        if len(names) == 1
        else f"{len(names)} passes cannot be run by themselves, and were not left out"
    )
    sentences = [
        f" Without {join_words(dict.fromkeys(needed))} nothing compiles." if needed else "",
        f" {text}: {', '.join(names)}." if names else "",
    ]
    return "".join(sentences)


def _times(count: int) -> str:
    return _TIMES[count] if count < len(_TIMES) else f"{count} times"
