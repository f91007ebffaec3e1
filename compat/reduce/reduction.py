"""A whole reduction, from a user's arguments to the file with the smaller kernel.

``compat reduce`` calls this feature.

In: a kernel that fails, and the outcomes that must stay
(:class:`compat.reduce.original.OriginalKernel`). Out: a smaller kernel, tested closely, in a file
with a kernel file beside it, and the releases in which it differs from the original.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import closing, nullcontext
from enum import StrEnum
from pathlib import Path

from attrs import define, evolve, field, frozen

from compat import interruption
from compat.bisect.criterion import Criterion, parse_criterion
from compat.bisect.timing import with_passes
from compat.engine.run import Interrupted, RunContext
from compat.errors import SelectionError
from compat.history.verdict import releases_of, runs_of
from compat.interruption import Budget, Stopped
from compat.launch import hosting
from compat.launch.hosting import BuildComparison, Gpu
from compat.model import Env, Problem, Result
from compat.project import Listener, Obtain, Selection
from compat.reduce.candidate import Candidate
from compat.reduce.interestingness import (
    CandidateRequirement,
    InterestingnessTest,
    confirmed_positions,
    expectations_of,
)
from compat.reduce.numbers import NumbersQuestion, refuse_latency
from compat.reduce.original import (
    BudgetedRuns,
    Goal,
    OriginalKernel,
    ReductionSubject,
    ReleaseDifference,
    differences,
    examine,
    find_subject,
    other_releases,
    releases_without_env,
)
from compat.reduce.output import VARIANT, BestSoFar, kernel_file, write_problem, write_reproducers
from compat.reduce.search import shrink
from compat.text import amount

_PATIENCE = 5.0
"""The factor by which the deadline of candidates that must hang grows.

It applies after a candidate that seemed to hang turned out to end.
"""
_CONFIRMING = 0.35
"""The part of a budget for the confirmation."""
_OVERHEAD, _LAUNCHING = 4.0, 30.0
"""Seconds that the confirmation of one candidate takes besides its compiles. The first number is
for starting workers and stopping hangs, the second for many launches.
"""


class ReductionEnd(StrEnum):
    """How a search ended."""

    DONE = "nothing more can be removed"
    BUDGET = "stopped at the end of the time budget"
    INTERRUPTED = "interrupted"


@frozen(kw_only=True)
class CloseTest:
    """The result of a close test of one candidate.

    The candidate is compiled alone, with diagnostics on, within the whole deadline.
    """

    results: list[Result]
    comparison: BuildComparison | None = None
    """The comparison of many launches, for a reduction by numbers."""


@define(kw_only=True, slots=False)
class Reduction:
    """One reduction: :meth:`run` searches and writes the file; the attributes have the result."""

    runs: BudgetedRuns
    """Compiles within the budget."""
    original: OriginalKernel
    """The kernel that is reduced."""
    start: Candidate
    """The first candidate."""
    path: Path
    """The ``.py`` file that is written."""
    listener: Listener
    """Receives progress."""
    history: list[Candidate] = field(init=False)
    """Every accepted candidate."""
    results: list[Result] = field(factory=list, init=False)
    """Results of a close test of the last candidate. Empty: no time was left."""
    differences: list[ReleaseDifference] = field(factory=list, init=False)
    """Releases where the last candidate differs from the original."""
    reproducers: tuple[Path, ...] = field(default=(), init=False)
    """The compiler's reproducers of the last candidate, cut to the failing pass."""
    tests: int = field(default=0, init=False)
    """Number of tested candidates."""
    seconds: float = field(default=0.0, init=False)
    """Wall time in seconds."""
    search_end: ReductionEnd = field(default=ReductionEnd.DONE, init=False)
    """Why the search ended."""
    _best: BestSoFar = field(init=False)
    _close_tests: dict[str, CloseTest] = field(factory=dict, init=False)
    """Candidate → its close test."""
    _problem: Problem | None = field(default=None, init=False)
    """The problem of the kernel file, if the search launches candidates."""

    def __attrs_post_init__(self) -> None:
        self.history = [self.start]
        self._best = BestSoFar(self.path, self._kernel_file)

    @property
    def subject(self) -> ReductionSubject:
        """The kernel, its target and the environments."""
        return self.runs.subject

    @property
    def budget(self) -> Budget:
        """The time limit."""
        return self.runs.budget

    @property
    def goal(self) -> Goal:
        """The requirements of the reduction."""
        return self.original.goal

    @property
    def question(self) -> NumbersQuestion | None:
        """The question about launches, for a criterion about numbers."""
        return self.original.question

    @property
    def confirmed(self) -> bool:
        """Whether a close test confirmed the last candidate."""
        return bool(self.results)

    @property
    def not_compared(self) -> list[str]:
        """Return envs of other releases where the candidate was not compared with the original."""
        compared = {result.cell.env.name for result in self.results} & set(self.original.results)
        return [env.name for env in self.subject.rest if env.name not in compared]

    def releases(self, envs: Iterable[str]) -> str:
        """Return the releases of some of its envs as runs, such as ``3.0.0–3.2.0``."""
        releases = releases_of(self.runs.context.envs.values())
        return runs_of({*envs}, releases, self.subject.existing)

    @property
    def behaviour(self) -> BuildComparison | None:
        """Return the behaviour of the last candidate, for a criterion about numbers.

        Returns ``None`` if it was not measured.
        """
        test = self._close_tests.get(self.history[-1].key)
        return test.comparison if test else None

    def run(self) -> None:
        """Search, confirm, write the file, and compare with the original."""
        with closing(self.question) if self.question is not None else nullcontext():
            if self.question is not None and self.subject.spec.problem is not None:
                self._problem = write_problem(self.subject.spec.problem, self.path)
            for line in (
                *((self.question.compare.text,) if self.question else ()),
                *self.goal.lines(self.subject.existing),
            ):
                self.listener.say(f"preserving: {line}")
            self._search_and_confirm()
            self._compare()
            bad = {result.cell.env.name for result in self.original.bad}
            failing = [result for result in self.results if result.cell.env.name in bad]
            self.reproducers = write_reproducers(failing, self.runs.context.store, self.path)

    def _search_and_confirm(self) -> None:
        """Search, and search again from the last confirmed candidate while that can help."""
        patience, began, deadline = 1.0, time.monotonic(), self.runs.context.limits.deadline
        while True:
            self._search_within(patience)
            self.seconds = time.monotonic() - began
            tested = len(self.goal.tested_envs)
            if self._confirm() or self.search_end is not ReductionEnd.DONE:
                return
            # Another search would ask the same of every candidate.
            if len(self.goal.tested_envs) == tested:
                if not self.goal.may_wait_longer(patience, deadline):
                    return
                patience *= _PATIENCE

    # --- searching ---

    def _search_within(self, patience: float) -> None:
        try:
            with self.budget.stopping(self._reserve()) as stop:
                self._search(patience, stop)
        except Stopped as error:
            if self.question is not None and not self.question.has_begun:
                if interruption.is_requested():
                    raise
                raise self.runs.out_of_budget("launched") from error
            self.search_end = (
                ReductionEnd.INTERRUPTED if interruption.is_requested() else ReductionEnd.BUDGET
            )
            # The best candidate is still tested closely. A second request to stop ends that, too.
            interruption.clear()
        except KeyboardInterrupt:
            self.search_end = ReductionEnd.INTERRUPTED

    def _search(self, patience: float, stop: threading.Event) -> None:
        """Add accepted candidates to ``history``. Each is on disk before the search continues."""
        first, later = self.goal.tiers(patience, self.runs.context.limits.deadline)
        interesting = self._test(first, later, stop)
        with interesting, self.listener.step("reducing") as note:

            def show(best: Candidate) -> None:
                tests = amount(self.tests, "candidate")
                note(f"{len(best.text):,} bytes, {best.lines} lines, {tests}")

            show(self.history[-1])
            if len(self.history) == 1:
                self._check_start(interesting)
                interesting.begin(self.start)
            self._best.keep(self.history[-1])

            def are_interesting(candidates: Sequence[Candidate]) -> Sequence[bool]:
                answers = interesting(candidates)
                self.tests += len(candidates)
                show(self.history[-1])
                return answers

            try:
                for candidate in shrink(
                    self.history[-1], are_interesting, verify=interesting.verify
                ):
                    self.history.append(candidate)
                    self._best.keep(candidate)
                    show(candidate)
            finally:
                self.goal.tested_envs |= {
                    requirement.env for requirement in interesting.requirements
                }

    def _test(
        self,
        first: Sequence[CandidateRequirement],
        later: Sequence[CandidateRequirement],
        stop: threading.Event,
    ) -> InterestingnessTest:
        subject, context = self.subject, self.runs.context
        return InterestingnessTest(
            subject.spec,
            subject.target,
            first,
            later=later,
            slots=context.slots,
            stop=stop,
            context=context,
            question=self.question,
        )

    def _check_start(self, interesting: InterestingnessTest) -> None:
        """Check the kernel alone in a module.

        A release that was not named is no longer preserved if the kernel behaves differently in it.
        """
        while (refusing := interesting.refusing(self.start)) is not None:
            why = "the kernel alone in a module, without comments, behaves differently there"
            if not self.goal.drop(refusing.env, why):
                raise SelectionError(
                    "without comments and annotations, and alone in a module, the kernel is no"
                    f" longer {refusing.text}",
                    where=self.subject.spec.source,
                    hint=(
                        "The failure depends on the layout of the file, so `compat reduce` cannot"
                        " remove anything."
                    ),
                )
            interesting.requirements = [
                requirement
                for requirement in interesting.requirements
                if requirement is not refusing
            ]

    # --- confirming ---

    @property
    def _rounds(self) -> int:
        """Return how many hangs a close test of one candidate waits for, one after another."""
        return math.ceil(
            sum(requirement.hangs for requirement in self.goal.requirements)
            / self.runs.context.slots
        )

    @property
    def confirm_deadline(self) -> float:
        """Seconds for one compile in a close test: the deadline, or the budget's share."""
        full = self.runs.context.limits.deadline
        if not self.budget.bounded or not self._rounds:
            return full
        return min(
            full,
            max(
                1.0, (_CONFIRMING * self.budget.seconds - _OVERHEAD) / self._rounds - _OVERHEAD / 2
            ),
        )

    def _reserve(self) -> float:
        """Seconds of a budget that are kept for the close test of one candidate."""
        if not self.budget.bounded:
            return 0.0
        compiles = self._rounds * (self.confirm_deadline + _OVERHEAD / 2)
        starts = len(self.goal.requirements) / self.runs.context.slots
        return min(
            _OVERHEAD + compiles + starts + _LAUNCHING * bool(self.question),
            _CONFIRMING * self.budget.seconds,
        )

    def _confirm(self) -> bool:
        """Drop the last candidates that do not hold in a close test, and return whether all hold.

        Candidates for which there is no time are left unconfirmed.
        """
        last = len(self.history) - 1
        at = last
        try:
            for position in confirmed_positions(self.history, self._holds):
                at = position
            if self.history[at].key not in self._close_tests:
                self._holds(self.history[at])
        except Stopped:
            self.search_end = (
                ReductionEnd.INTERRUPTED if self.budget.remaining_seconds else ReductionEnd.BUDGET
            )
        test = self._close_tests.get(self.history[at].key)
        self.results = test.results if test else []
        del self.history[at + 1 :]
        self._best.finish(self.history[at])
        return at == last

    def _holds(self, candidate: Candidate) -> bool:
        """Return whether a candidate fulfils all requirements in a close test.

        Requirements that it fails apply to every candidate from then on.
        """
        requirements = self.goal.requirements
        results = self._results_in(
            [requirement.built.env for requirement in requirements], candidate
        )
        pairs = zip(requirements, results, strict=True)
        broken = [
            required
            for required, result in pairs
            if not required.accepts_outcome(result.cell, result.outcome)
        ]
        self.goal.tested_envs |= {requirement.env for requirement in broken}
        compared = (
            self._compare_builds(self.question, candidate)
            if self.question is not None and not broken
            else None
        )
        # Record the test only now, because launches may be stopped.
        self._close_tests[candidate.key] = CloseTest(results=results, comparison=compared)
        return not broken and (self.question is None or compared is not None)

    def _compare_builds(
        self, question: NumbersQuestion, candidate: Candidate
    ) -> BuildComparison | None:
        """Return how a candidate behaves when it is launched many more times.

        Returns ``None`` if its launches no longer differ.
        """
        with (
            self.budget.stopping() as stop,
            self._test(self.goal.named_requirements, (), stop) as test,
            question.closely(),
        ):
            (differs,) = test([candidate])
            return question.last if differs else None

    def _results_in(self, envs: Sequence[Env], candidate: Candidate) -> list[Result]:
        self._best.keep(candidate)
        spec = candidate.specialize(self.subject.spec, str(self._best.source.absolute()))
        limits = evolve(self.runs.context.limits, deadline=self.confirm_deadline)
        results = self.runs.run(self.subject.cells(envs, spec), limits)
        if not self.goal.named_requirements[0].criterion.asks_passes:
            return results
        with self.budget.stopping() as stop:
            return list(with_passes(results, evolve(self.runs.context, limits=limits, stop=stop)))

    # --- comparing with the original ---

    def _compare(self) -> None:
        """Check where the result differs from the original, within the budget.

        Releases that were not preserved are checked, too.
        """
        originals = self.original.results
        held = {requirement.env for requirement in self.goal.requirements}
        others = [env for env in self.subject.rest if env.name not in held]
        try:
            if self.confirmed and self.search_end is not ReductionEnd.INTERRUPTED and others:
                missing = self.subject.cells([env for env in others if env.name not in originals])
                originals |= {
                    result.cell.env.name: result
                    for result in self.runs.run(missing, self.runs.brief_limits)
                }
                self.results = [*self.results, *self._results_in(others, self.history[-1])]
        except Interrupted:
            self.search_end = (
                ReductionEnd.INTERRUPTED if self.budget.remaining_seconds else self.search_end
            )
        self.differences = differences(originals.values(), self.results)
        self._best.finish(self.history[-1])

    def _kernel_file(self, candidate: Candidate, source: Path) -> str:
        spec, results = self.subject.spec, self.original.results
        preserved = (
            self.question.compare.text
            if self.question is not None
            else self.goal.named_requirements[0].text
        )
        summary = f"Reduced from {spec.kernel}/{spec.variant}: {preserved}"
        if self.differences:
            summary += (
                ". It differs from the original in"
                f" {'; '.join(difference.text for difference in self.differences)}"
            )
        return kernel_file(
            candidate,
            kernel=self.path.stem,
            case=spec.case,
            source=source,
            summary=summary,
            expectations=expectations_of(
                self.results or [results[req.env] for req in self.goal.requirements]
            ),
            problem=self._problem,
        )


def reduce(  # noqa: PLR0913 - the options of the command, by name
    selection: Selection,
    what: str,
    context: RunContext,
    obtain: Obtain | None = None,
    listener: Listener | None = None,
    *,
    bad: Sequence[str] = (),
    good: Sequence[str] = (),
    hold_rest: bool = True,
    criterion: Criterion | None = None,
    budget: float | None = None,
    output: Path | None = None,
    python: str | None = None,
) -> Reduction:
    """Make a kernel smaller while it still fails in the same way, and write the result.

    An interrupt ends the search early; the smallest kernel so far is written
    (:attr:`Reduction.search_end`).

    Args:
        selection: The project.
        what: Id of a cell, with or without the env; a glob; or the path of a Python file with a
            kernel file of the same name beside it.
        context: How to compile; needs no environments.
        obtain: Called for environments, and may build them.
        listener: Receives progress.
        bad: Where the failure must stay: envs, groups, globs or releases. Empty: where the cells
            are.
        good: Where the kernel must stay ok.
        hold_rest: Preserve the outcome on every other installed release, too.
        criterion: What must stay. ``None``: the failure. A criterion about numbers launches every
            candidate on the GPU of this machine.
        budget: Seconds for all of it. ``None``: no limit.
        output: The ``.py`` file to write. ``None``: ``reduced/NAME.py``.
        python: An interpreter with PyTorch, for launches.

    Raises:
        SelectionError: ``what`` does not name one kernel, or the kernel is not bad in ``bad``, or
            not good in ``good``.
        ConfigError: The kernel cannot be parsed.
        StoreError: The file cannot be written.
    """
    config, listener = selection.config, listener or Listener()
    subject = find_subject(selection, what, bad, good)
    envs = [*(obtain or selection.read_envs)(config.path, [*subject.bad, *subject.good])]
    others = other_releases(subject, selection)
    envs += others
    criterion_asked = criterion or parse_criterion("same-failure")
    refuse_latency(criterion_asked)
    # Measuring time takes long, so only the requested envs are measured.
    if criterion_asked.asks_seconds:
        others, hold_rest = [], False
    subject = evolve(subject, rest=tuple(built.env for built in others), hold_rest=hold_rest)
    if hold_rest and (missing := releases_without_env(subject, config)):
        listener.say(f"left out, not built: {missing}")
    gpu = _gpu(selection, python) if criterion_asked.asks_launches else None
    if budget is not None:  # deadlines are shares of the budget, which is wall-clock time
        context = evolve(context, limits=evolve(context.limits, most_starved=0.0))
    runs = BudgetedRuns(
        subject=subject, context=context.with_envs(envs), budget=Budget(budget), say=listener.say
    )
    original = examine(runs, criterion_asked, gpu)
    path = (output or default_path(subject)).with_suffix(".py")
    reduction = Reduction(
        runs=runs, original=original, start=subject.start(), path=path, listener=listener
    )
    reduction.run()
    return reduction


def _gpu(selection: Selection, python: str | None) -> Gpu:
    """Return the GPU of this machine, whichever targets are chosen.

    Raises SelectionError if there is no usable GPU.
    """
    return hosting.find_gpu(
        evolve(selection, targets=selection.config.choose_targets(("*",))), python
    )


def default_path(subject: ReductionSubject) -> Path:
    """The file to write if none is named: ``reduced/NAME.py``."""
    spec = subject.spec
    name = (
        f"{spec.kernel}-{spec.case}"
        if spec.variant == VARIANT
        else f"{spec.kernel}-{spec.variant}-{spec.case}"
    )
    return Path("reduced", f"{name}.py")
