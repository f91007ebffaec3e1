"""One reduction: from the results that are to be kept to the file that keeps them.

In: a kernel that fails, the envs in which it is to stay as it is, and a criterion (:class:`Subject`). Out: a smaller kernel, looked
at closely, in a file with a kernel file beside it, and where it differs than the original.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from enum import StrEnum
from pathlib import Path

from attrs import evolve

from compat import interruption
from compat.bisect.criterion import Criterion
from compat.bisect.search import Judgement
from compat.errors import SelectionError
from compat.execution.budget import Budget
from compat.execution.flight import Limits
from compat.execution.run import Interrupted, RunContext, run
from compat.interruption import Stopped
from compat.launch.behaviour import Compared
from compat.launch.hosting import Gpu
from compat.model import Cell, Env, Problem, Result, Status
from compat.reduce import kernel_file
from compat.reduce.best import BestSoFar
from compat.reduce.candidate import Candidate
from compat.reduce.holding import Difference, Holding, differences, newest_first
from compat.reduce.interestingness import InterestingnessTest, Requirement, confirmed, expectations_of
from compat.reduce.numbers import NumbersQuestion, releases_to_compare
from compat.reduce.problem_file import write_problem
from compat.reduce.reproducers import write_reproducers
from compat.reduce.search import shrink
from compat.reduce.start import start_of
from compat.reduce.subject import Subject

_PATIENCE = 5.0
"""How many times longer candidates that are to hang are waited for, once one that seemed to hang turned out to end."""
_LOOKING = 0.3
"""The part of a budget that may go into looking at other releases before the search begins."""
_CONFIRMING = 0.35
"""The part of a budget that is kept for looking closely at what was found."""
_OVERHEAD, _LAUNCHING = 4.0, 30.0
"""Seconds that confirming one candidate takes besides its compiles: starting workers, stopping what hangs; launching it often."""


class Ended(StrEnum):
    """How a search ended."""

    DONE = "nothing more can be removed"
    BUDGET = "stopped at the end of the time budget"
    INTERRUPTED = "interrupted"


class Listener:
    """Is told the progress of a reduction. This one ignores it."""

    def say(self, words: str) -> None:
        """A message of one line."""

    def searching(self, start: Candidate) -> AbstractContextManager[Callable[[Candidate, int], None]]:
        """A search begins from ``start``: what to call with the best so far, and how many candidates were judged, until it ends."""
        return nullcontext(lambda best, tests: None)


class Reduction:
    """One reduction, from the results that are to be kept to the file that keeps them."""

    def __init__(
        self,
        subject: Subject,
        context: RunContext,
        criterion: Criterion,
        *,
        output: Path | None = None,
        budget: Budget,
        listener: Listener | None = None,
        gpu: Gpu | None = None,
    ) -> None:
        """Look at the kernel in the envs that were named; ``output`` is the ``.py`` file to write, else ``reduced/NAME.py``.

        ``gpu`` is where candidates are launched, for a criterion about numbers.

        Raises SelectionError where the kernel is not bad in one that was named as bad, or not good in one that was named as good.
        """
        self.subject, self.context, self.budget = subject, context, budget
        self._listener = listener or Listener()
        looked, good = self._look(subject.bad), self._look(subject.good)
        self.question: NumbersQuestion | None = None
        if gpu is not None:
            looked, good = self._compared(looked, good, criterion, gpu)
        bad = looked  # of envs that were not named one by one, those count in which it fails
        if len(looked) > 1 and self.question is None:
            bad = [each for each in looked if criterion.about(each.outcome)(each) is Judgement.BAD] or looked
        self.bad = newest_first(bad)
        self.rest = [each for each in looked if each not in bad] if subject.hold_rest else []
        """The outcome of the original in other releases, as far as that is known."""
        if subject.hold_rest:
            self._look_at_rest(subject.rest)
        self.holding: Holding
        if self.question is not None:
            self.rest = [each for each in self.rest if each.cell.env.name not in self.question.envs]
            self.holding = Holding.of_launched(bad, good, self.rest, context.limits)
        else:
            self.holding = Holding.of(bad, good, self.rest, criterion, context.limits)
        spec = subject.spec
        name = f"{spec.kernel}-{spec.variant}-{spec.case}" if spec.variant != kernel_file.VARIANT else f"{spec.kernel}-{spec.case}"
        self.path = (output or Path("reduced", f"{name}.py")).with_suffix(".py")
        self.best = BestSoFar(self.path, self._kernel_file)
        self.start = start_of(spec)
        self.history = [self.start]
        """Every candidate that was accepted."""
        self.results: list[Result] = []
        """Of the last one, looked at closely; empty where there was no time for that."""
        self.originals = {each.cell.env.name: each for each in (*bad, *good, *self.rest)}
        """Env → how the original fares there, where that was looked at."""
        self.differences: list[Difference] = []
        """Releases in which the last one differs from the original."""
        self.reproducers: tuple[Path, ...] = ()
        """MLIR's reproducers of the last one, cut down to the pass that fails, where one does."""
        self.tests, self.seconds, self.ended = 0, 0.0, Ended.DONE
        self._looked_at: dict[str, list[Result]] = {}
        """Candidate → its results when looked at closely."""
        self._newly_asked = False
        self._problem: Problem | None = None
        """What the kernel file says of launching, where candidates are launched."""
        self._behaved: dict[str, Compared] = {}
        """Candidate → how it behaved when it was launched more often."""

    @property
    def confirmed(self) -> bool:
        """Whether the last candidate was looked at closely, and held."""
        return bool(self.results)

    @property
    def not_compared(self) -> list[str]:
        """Envs of other releases of which it is not known whether it fares there as the original does."""
        known = {each.cell.env.name for each in self.results} & set(self.originals)
        return [env.name for env in self.subject.rest if env.name not in known]

    def run(self) -> None:
        """Search, confirm what was found, write it, and see where it differs than the original."""
        with closing(self.question) if self.question is not None else nullcontext():
            self._run_all()

    def _run_all(self) -> None:
        if self.question is not None and self.subject.spec.problem is not None:
            self._problem = write_problem(self.subject.spec.problem, self.path)
        for line in (*((self.question.compare.text,) if self.question else ()), *self.holding.lines()):
            self._listener.say(f"preserving: {line}")
        patience, began = 1.0, time.monotonic()
        while True:
            self._search_within(patience)
            self.seconds = time.monotonic() - began
            if self._confirm() or self.ended is not Ended.DONE:
                break
            if not self._newly_asked:
                if not self.holding.may_wait_longer(patience, self.context.limits.deadline):
                    break
                patience *= _PATIENCE
        self._compare()
        bad = {each.cell.env.name for each in self.bad}
        failing = [each for each in self.results if each.cell.env.name in bad]
        self.reproducers = write_reproducers(failing, self.context.store, self.path)

    # --- what is to stay ---

    def _compared(
        self, looked: list[Result], good: list[Result], criterion: Criterion, gpu: Gpu
    ) -> tuple[list[Result], list[Result]]:
        """Of a criterion about numbers: the results of the releases that are compared, bad and good."""
        rest = [] if good else self._run(self.subject.cells(self.subject.rest), self._briefly())
        context = evolve(self.context, stop=threading.Event())
        compare = releases_to_compare(looked, good, rest, criterion, context, gpu, self._listener.say)
        self.question = NumbersQuestion(compare, gpu)
        return list(compare.bad), list(compare.good)

    def _look(self, envs: Sequence[Env]) -> list[Result]:
        """The outcome of the original in envs that were named. Raises SelectionError where the budget does not last for that."""
        limits = self._briefly()
        try:
            results = self._run(self.subject.cells(envs), limits)
        except Interrupted as error:
            if self.budget.left:
                raise
            raise self._out_of_budget("tested") from error
        if limits.deadline < self.context.limits.deadline and any(each.outcome.status is Status.TIMED_OUT for each in results):
            self._listener.say(f"stopped after {limits.deadline:.0f} s, all that the budget allows for it, and counted as a hang")
        return results

    def _out_of_budget(self, verb: str) -> SelectionError:
        return SelectionError(
            f"the time budget ended before the kernel itself was {verb}", where=f"--budget {self.budget.seconds:g}"
        )

    def _look_at_rest(self, envs: Sequence[Env]) -> None:
        """The outcome of the original in other releases, as far as the budget lasts."""
        if not envs:
            return
        self._listener.say(f"testing the kernel in {len(envs)} more envs")
        kept = self.budget.left * (1 - _LOOKING) if self.budget.bounded else 0.0
        try:
            self._run(self.subject.cells(envs), self._briefly(), reserve=kept, on_result=self.rest.append)
        except Interrupted:
            if not self.budget.bounded or self.budget.left > kept:
                raise  # it was Ctrl-C
            self.rest = [each for each in self.rest if each.outcome.status.is_answer]

    def _briefly(self) -> Limits:
        """Limits for the original: what hangs must not take all of a budget."""
        limits = self.context.limits
        return evolve(limits, deadline=min(limits.deadline, _LOOKING * self.budget.seconds)) if self.budget.bounded else limits

    # --- searching ---

    def _search_within(self, patience: float) -> None:
        try:
            with self.budget.stopping(self._reserve()) as stop:
                self._search(patience, stop)
        except Stopped as error:
            if self.question is not None and not self.question.has_begun:
                if interruption.asked():
                    raise
                raise self._out_of_budget("launched") from error
            self.ended = Ended.INTERRUPTED if interruption.asked() else Ended.BUDGET
            interruption.take_back()  # the best so far is still looked at closely; who asks again ends that, too
        except KeyboardInterrupt:
            self.ended = Ended.INTERRUPTED

    def _search(self, patience: float, stop: threading.Event) -> None:
        """Add to ``history`` what is accepted; each is on disk before the next is looked for."""
        first, later = self.holding.tiers(patience, self.context.limits.deadline)
        interesting = self._test(first, later, stop)
        with interesting, self._listener.searching(self.history[-1]) as show:
            if len(self.history) == 1:
                self._check_start(interesting)
                interesting.begin(self.start)
            self.best.keep(self.history[-1])

            def are_interesting(candidates: Sequence[Candidate]) -> Sequence[bool]:
                answers = interesting(candidates)
                self.tests += len(candidates)
                show(self.history[-1], self.tests)
                return answers

            try:
                for step in shrink(self.history[-1], are_interesting, verify=interesting.verify):
                    self.history.append(step.candidate)
                    self.best.keep(step.candidate)
                    show(step.candidate, self.tests)
            finally:
                self.holding.asked |= {requirement.built.env.name for requirement in interesting.requirements}

    def _test(self, first: Sequence[Requirement], later: Sequence[Requirement], stop: threading.Event) -> InterestingnessTest:
        subject, slots = self.subject, self.context.slots
        return InterestingnessTest(
            subject.spec,
            subject.target,
            first,
            later=later,
            slots=slots,
            stop=stop,
            context=self.context,
            question=self.question,
        )

    def _check_start(self, interesting: InterestingnessTest) -> None:
        """Check the kernel alone in a module; a release that was not named and differs is no longer preserved."""
        while (refusing := interesting.refusing(self.start)) is not None:
            if not self.holding.let(
                refusing.built.env.name, "the kernel alone in a module, without comments, behaves differently there"
            ):
                raise SelectionError(
                    f"without comments and annotations, and alone in a module, the kernel is no longer {refusing.text}",
                    where=self.subject.spec.source,
                    hint="The failure depends on how the file is written; this command can remove nothing.",
                )
            interesting.requirements = [requirement for requirement in interesting.requirements if requirement is not refusing]

    # --- confirming ---

    @property
    def _rounds(self) -> int:
        """How many hangs have to be waited for one after the other to look closely at one candidate."""
        return math.ceil(sum(requirement.hangs for requirement in self.holding.requirements) / self.context.slots)

    @property
    def confirm_deadline(self) -> float:
        """Seconds that a compile may take when it is looked at closely: the whole deadline, or what a budget has for it."""
        whole = self.context.limits.deadline
        if not self.budget.bounded or not self._rounds:
            return whole
        return min(whole, max(1.0, (_CONFIRMING * self.budget.seconds - _OVERHEAD) / self._rounds - _OVERHEAD / 2))

    def _reserve(self) -> float:
        """Seconds of a budget that are kept for looking closely at one candidate."""
        if not self.budget.bounded:
            return 0.0
        close_look = self._rounds * (self.confirm_deadline + _OVERHEAD / 2)
        needed = _OVERHEAD + close_look + len(self.holding.requirements) / self.context.slots + _LAUNCHING * bool(self.question)
        return min(needed, _CONFIRMING * self.budget.seconds)

    def _confirm(self) -> bool:
        """Forget the last candidates as far as they do not hold when looked at closely; whether all did.

        Candidates for which there is no time are left unconfirmed.
        """
        before, self._newly_asked = len(self.history), False
        at = before - 1
        try:
            for position in confirmed(self.history, self._holds):
                at = position
            if self.history[at].key not in self._looked_at:
                self._holds(self.history[at])
        except Stopped:
            self.ended = Ended.INTERRUPTED if self.budget.left else Ended.BUDGET
        self.results = self._looked_at.get(self.history[at].key, [])
        del self.history[at + 1 :]
        self.best.finish(self.history[at])
        return at == before - 1

    def _holds(self, candidate: Candidate) -> bool:
        """Whether it is what is required also when looked at closely: alone, with diagnostics on, within the whole deadline.

        What it fails in is asked of every candidate from then on.
        """
        results = self._results_of(candidate)
        looked_at = zip(self.holding.requirements, results, strict=True)
        broken = [required for required, each in looked_at if not required.fulfilled_by(each.cell, each.outcome)]
        names = {requirement.built.env.name for requirement in broken} - self.holding.asked
        self._newly_asked |= bool(names)
        self.holding.asked |= names
        holds = not broken and (self.question is None or self._differs(self.question, candidate))
        self._looked_at[candidate.key] = results  # not before: its launches may have been stopped
        return holds

    def _differs(self, question: NumbersQuestion, candidate: Candidate) -> bool:
        """Whether its launches go on to differ in many more of them."""
        with self.budget.stopping() as stop, self._test(self.holding.named, (), stop) as test, question.closely():
            (differs,) = test([candidate])
            if differs and question.last is not None:
                self._behaved[candidate.key] = question.last
            return differs

    @property
    def behaved(self) -> Compared | None:
        """Of a reduction by numbers: how the last candidate behaved; ``None`` where there was no time to launch it more often."""
        return self._behaved.get(self.history[-1].key)

    def _results_of(self, candidate: Candidate) -> list[Result]:
        """The outcome of a candidate in the envs of the requirements, in their order."""
        return self._results_in([requirement.built.env for requirement in self.holding.requirements], candidate)

    def _results_in(self, envs: Sequence[Env], candidate: Candidate, reserve: float = 0.0) -> list[Result]:
        self.best.keep(candidate)
        spec = candidate.specialize(self.subject.spec, str(self.best.source.absolute()))
        limits = evolve(self.context.limits, deadline=self.confirm_deadline)
        return self._run(self.subject.cells(envs, spec), limits, reserve=reserve)

    def _run(
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

    # --- what comes of it ---

    def _compare(self) -> None:
        """Check where the result differs from the original, also in releases that were not held, within the budget."""
        held = {requirement.built.env.name for requirement in self.holding.requirements}
        others = [env for env in self.subject.rest if env.name not in held]
        try:
            if self.confirmed and self.ended is not Ended.INTERRUPTED and others:
                missing = [env for env in others if env.name not in self.originals]
                self.originals |= {each.cell.env.name: each for each in self._run(self.subject.cells(missing), self._briefly())}
                self.results = [*self.results, *self._results_in(others, self.history[-1])]
        except Interrupted:
            self.ended = Ended.INTERRUPTED if self.budget.left else self.ended
        self.differences = differences(self.originals.values(), self.results)
        self.best.finish(self.history[-1])

    def _kernel_file(self, candidate: Candidate, source: Path) -> str:
        held = [self.originals[requirement.built.env.name] for requirement in self.holding.requirements]
        kept = self.question.compare.text if self.question is not None else self.holding.named[0].text
        summary = f"Reduced from {self.subject.spec.kernel}/{self.subject.spec.variant}: {kept}"
        if self.differences:
            summary += f". It differs from the original in {'; '.join(each.text for each in self.differences)}"
        return kernel_file.kernel_file(
            candidate,
            kernel=self.path.stem,
            case=self.subject.spec.case,
            source=source,
            summary=summary,
            expectations=expectations_of(self.results or held),
            problem=self._problem,
        )
