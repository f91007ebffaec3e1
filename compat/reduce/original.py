"""The kernel that a reduction starts from: how it fares in each release, and what of that is to stay."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from attrs import evolve, frozen

from compat import toolchains
from compat.bisect.criterion import Criterion
from compat.bisect.search import Judgement
from compat.bundle.bundle import bundle
from compat.engine.run import Interrupted, RunContext, run
from compat.errors import ConfigError, SelectionError
from compat.interruption import Budget
from compat.launch.hosting import Gpu
from compat.model import Cell, Env, Result, Specialization, Status, Target
from compat.reduce.candidate import Candidate
from compat.reduce.goal import Goal, newest_first
from compat.reduce.module import extracted
from compat.reduce.numbers import NumbersQuestion, releases_to_compare
from compat.workers.attempt import Limits

_EXAMINING = 0.3
"""The part of a budget that may go into other releases before the search begins."""


@frozen(kw_only=True)
class ReductionSubject:
    """A kernel for a target, and the envs in which it is to stay as it is."""

    spec: Specialization
    target: Target
    bad: tuple[Env, ...]
    good: tuple[Env, ...]
    rest: tuple[Env, ...] = ()
    """Those of other releases."""
    hold_rest: bool = True
    """Whether its outcome there must be preserved; else differences are only reported."""

    def cells(self, envs: Sequence[Env], spec: Specialization | None = None) -> list[Cell]:
        """Its cells in some envs, or those of another specialization in its place."""
        return [Cell(env=env, target=self.target, spec=spec or self.spec) for env in envs]

    def start(self) -> Candidate:
        """The kernel without comments, annotations, and the rest of its file. Raises ConfigError where it cannot be parsed."""
        spec = self.spec
        try:
            alone = bundle(spec, decorators=toolchains.named(spec.toolchain).language.decorators)
            function = alone.spec.function
            annotated = (function,) if spec.compile.launch else ()  # what a launch makes of an argument depends on its annotation
            functions = spec.compile.functions
            text = extracted(alone.text, function, *functions, annotated=annotated, toolchain=spec.toolchain)
        except SyntaxError as error:
            raise ConfigError(f"the kernel cannot be parsed: {error.msg}", where=spec.source) from error
        return Candidate.of(alone.spec, text)


@frozen(kw_only=True)
class BudgetedRuns:
    """Compiles of a subject's cells, for as long as a budget lasts."""

    subject: ReductionSubject
    context: RunContext
    budget: Budget
    say: Callable[[str], None]
    """Hears messages of one line."""

    def run(
        self,
        cells: Sequence[Cell],
        limits: Limits | None = None,
        *,
        reserve: float = 0.0,
        on_result: Callable[[Result], None] = lambda _: None,
    ) -> list[Result]:
        """Compile cells as long as the budget lasts. Raises Interrupted where it does not, and at Ctrl-C."""
        with self.budget.stopping(reserve) as stop:
            return list(run(cells, evolve(self.context, limits=limits or self.context.limits, stop=stop), on_result))

    @property
    def brief_limits(self) -> Limits:
        """Limits for the original: what hangs must not take all of a budget."""
        limits = self.context.limits
        return evolve(limits, deadline=min(limits.deadline, _EXAMINING * self.budget.seconds)) if self.budget.bounded else limits

    def original(self, envs: Sequence[Env]) -> list[Result]:
        """The outcome of the original in envs that were named. Raises SelectionError where the budget does not last for that."""
        limits = self.brief_limits
        try:
            results = self.run(self.subject.cells(envs), limits)
        except Interrupted as error:
            if self.budget.left:
                raise
            raise self.out_of_budget("tested") from error
        if limits.deadline < self.context.limits.deadline and any(result.outcome.status is Status.TIMED_OUT for result in results):
            self.say(f"stopped after {limits.deadline:.0f} s, all that the budget allows for it, and counted as a hang")
        return results

    def original_elsewhere(self, results: Sequence[Result]) -> list[Result]:
        """``results`` with the outcome of the original in other releases, as far as the budget lasts."""
        results = list(results)
        if not self.subject.rest:
            return results
        self.say(f"testing the kernel in {len(self.subject.rest)} more envs")
        reserve = self.budget.left * (1 - _EXAMINING) if self.budget.bounded else 0.0
        try:
            cells = self.subject.cells(self.subject.rest)
            self.run(cells, self.brief_limits, reserve=reserve, on_result=results.append)
        except Interrupted:
            if not self.budget.bounded or self.budget.left > reserve:
                raise  # it was Ctrl-C
            results = [result for result in results if result.outcome.status.is_answer]
        return results

    def out_of_budget(self, verb: str) -> SelectionError:
        """The error for a budget that ended before the search could begin."""
        where = f"--budget {self.budget.seconds:g}"
        return SelectionError(f"the time budget ended before the kernel itself was {verb}", where=where)


@frozen(kw_only=True)
class OriginalKernel:
    """How the kernel fares, and what of that is to stay."""

    bad: tuple[Result, ...]
    """Of the envs in which it is bad, the newest release first."""
    results: dict[str, Result]
    """Env → how it fares there, where that was tested."""
    goal: Goal
    question: NumbersQuestion | None = None
    """What launches are asked, for a criterion about numbers."""


def examine(runs: BudgetedRuns, criterion: Criterion, gpu: Gpu | None) -> OriginalKernel:
    """Test the kernel in the envs of the subject. ``gpu`` is where candidates are launched, for a criterion about numbers.

    Raises SelectionError where the kernel is not bad in one that was named as bad, or not good in one that was named as good.
    """
    subject, limits = runs.subject, runs.context.limits
    bad, good = runs.original(subject.bad), runs.original(subject.good)
    tested, question = bad, None
    if gpu is not None:
        question = _question(runs, bad, good, criterion, gpu)
        bad, good = list(question.compare.bad), list(question.compare.good)
        tested = bad
    elif len(bad) > 1:  # of envs that were not named one by one, those count in which it fails
        bad = [result for result in bad if criterion.about(result.outcome)(result) is Judgement.BAD] or bad
    rest = [result for result in tested if result not in bad] if subject.hold_rest else []
    if subject.hold_rest:
        rest = runs.original_elsewhere(rest)
    if question is not None:
        rest = [result for result in rest if result.cell.env.name not in question.envs]
        goal = Goal.of_launched(bad, good, rest, limits)
    else:
        goal = Goal.of(bad, good, rest, criterion, limits)
    results = {result.cell.env.name: result for result in (*bad, *good, *rest)}
    return OriginalKernel(bad=tuple(newest_first(bad)), results=results, goal=goal, question=question)


def _question(runs: BudgetedRuns, bad: Sequence[Result], good: Sequence[Result], criterion: Criterion, gpu: Gpu) -> NumbersQuestion:
    """What launches of the releases that are compared are asked."""
    rest = [] if good else runs.run(runs.subject.cells(runs.subject.rest), runs.brief_limits)
    context = evolve(runs.context, stop=threading.Event())
    return NumbersQuestion(releases_to_compare(bad, good, rest, criterion, context, gpu, runs.say), gpu)
