"""The kernel that a reduction starts from, its outcomes by release, and those that must stay."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from attrs import define, evolve, field, frozen
from packaging.version import Version

from compat import toolchains
from compat.bisect.criterion import Criterion, parse_criterion
from compat.bisect.measures import TakesLonger
from compat.bisect.timing import in_seconds, with_precise_seconds
from compat.config.matrix import MatrixConfig
from compat.config.selection import cell_pattern, several_match
from compat.engine.run import Interrupted, RunContext, existing_releases, run
from compat.errors import ConfigError, SelectionError
from compat.history.account import Judgement, spans
from compat.history.verdict import releases_of, runs_of
from compat.interruption import Budget
from compat.launch.hosting import Gpu
from compat.model import BuiltEnv, Cell, Env, Result, Specialization, Status, Target
from compat.project import Selection
from compat.reduce.candidate import Candidate
from compat.reduce.interestingness import (
    CandidateRequirement,
    requirement_of,
    requirement_to_be_ok,
    requirement_to_stay,
    same,
)
from compat.reduce.module import extract_functions
from compat.reduce.numbers import NumbersQuestion, releases_to_compare
from compat.text import amount, group_by_key
from compat.workers.attempt import Limits

_EXAMINING = 0.3
"""The part of a budget that may go into other releases before the search begins."""


@frozen(kw_only=True)
class ReductionSubject:
    """A kernel for a target, and the environments in which its outcome must stay."""

    spec: Specialization
    """The kernel, variant and case."""
    target: Target
    bad: tuple[Env, ...]
    """Environments where it must fail."""
    good: tuple[Env, ...]
    """Environments where it must stay ok."""
    rest: tuple[Env, ...] = ()
    """Environments of other releases."""
    existing: tuple[Version, ...] = ()
    """The existing releases of its toolchain, oldest first."""
    hold_rest: bool = True
    """Whether its outcome in ``rest`` must stay. False: differences are only reported."""

    def cells(self, envs: Sequence[Env], spec: Specialization | None = None) -> list[Cell]:
        """Return its cells in some environments, optionally of another specialization."""
        return [Cell(env=env, target=self.target, spec=spec or self.spec) for env in envs]

    def start(self) -> Candidate:
        """Return the kernel without comments, annotations and the rest of its file.

        Raises:
            ConfigError: The source cannot be parsed.
        """
        spec = self.spec
        try:
            alone = toolchains.bundle_of(spec)
            function = alone.spec.function
            # A launch treats an argument by its annotation.
            annotated = (function,) if spec.compile.launch else ()
            functions = spec.compile.functions
            text = extract_functions(
                alone.text, function, *functions, annotated=annotated, toolchain=spec.toolchain
            )
        except SyntaxError as error:
            raise ConfigError(
                f"the kernel cannot be parsed: {error.msg}", where=spec.source
            ) from error
        return Candidate.of(alone.spec, text)


@frozen(kw_only=True)
class BudgetedRuns:
    """Compiles of a subject's cells, as long as a budget lasts."""

    subject: ReductionSubject
    context: RunContext
    budget: Budget
    say: Callable[[str], None]
    """Receives messages of one line."""

    def run(
        self,
        cells: Sequence[Cell],
        limits: Limits | None = None,
        *,
        reserve: float = 0.0,
        on_result: Callable[[Result], None] = lambda _: None,
    ) -> list[Result]:
        """Compile cells as long as the budget lasts.

        Raises Interrupted when the budget ends, and at Ctrl-C.
        """
        with self.budget.stopping(reserve) as stop:
            return list(
                run(
                    cells,
                    evolve(self.context, limits=limits or self.context.limits, stop=stop),
                    on_result,
                )
            )

    @property
    def brief_limits(self) -> Limits:
        """Limits for the original, so that a hang does not take the whole budget."""
        limits = self.context.limits
        return (
            evolve(limits, deadline=min(limits.deadline, _EXAMINING * self.budget.seconds))
            if self.budget.bounded
            else limits
        )

    def original(self, envs: Sequence[Env]) -> list[Result]:
        """Return the results of the original in named envs.

        Raises SelectionError if the budget is too small for that.
        """
        limits = self.brief_limits
        try:
            results = self.run(self.subject.cells(envs), limits)
        except Interrupted as error:
            if self.budget.remaining_seconds:
                raise
            raise self.out_of_budget("tested") from error
        if limits.deadline < self.context.limits.deadline and any(
            result.outcome.status is Status.TIMED_OUT for result in results
        ):
            self.say(
                f"stopped the kernel after {limits.deadline:.0f} s, the limit of the budget, and"
                " counted it as a hang"
            )
        return results

    def original_elsewhere(self, results: Sequence[Result]) -> list[Result]:
        """Return ``results`` and the results of the original in other releases.

        Other releases are tested as long as the budget lasts.
        """
        results = list(results)
        if not self.subject.rest:
            return results
        self.say(f"testing the kernel in {amount(len(self.subject.rest), 'further env')}")
        reserve = self.budget.remaining_seconds * (1 - _EXAMINING) if self.budget.bounded else 0.0
        try:
            cells = self.subject.cells(self.subject.rest)
            self.run(cells, self.brief_limits, reserve=reserve, on_result=results.append)
        except Interrupted:
            if not self.budget.bounded or self.budget.remaining_seconds > reserve:
                raise  # it was Ctrl-C
            results = [result for result in results if result.outcome.status.is_answer]
        return results

    def out_of_budget(self, verb: str) -> SelectionError:
        """The error for a budget that ended before the search could begin."""
        where = f"--budget {self.budget.seconds:g}"
        return SelectionError(
            f"the time budget ended before the original kernel was {verb}", where=where
        )


@frozen(kw_only=True)
class OriginalKernel:
    """The results of the original kernel, and the goal of the reduction."""

    bad: tuple[Result, ...]
    """The results in the bad envs, the newest release first."""
    results: dict[str, Result]
    """Env → the result there, if the kernel was tested there."""
    goal: Goal
    question: NumbersQuestion | None = None
    """The question for launches, if the criterion is about numbers."""


def examine(runs: BudgetedRuns, criterion: Criterion, gpu: Gpu | None) -> OriginalKernel:
    """Test the kernel in the envs of the subject.

    ``gpu`` is where candidates are launched, for a criterion about numbers. Raises SelectionError
    if the kernel is not bad in an env that was named as bad, or not good in one that was named as
    good.
    """
    subject, limits = runs.subject, runs.context.limits
    if isinstance(criterion.question, TakesLonger):
        bad, criterion = _slow(runs, criterion.question)
    else:
        bad = runs.original(subject.bad)
    good = runs.original(subject.good)
    tested, question = bad, None
    if gpu is not None:
        question = _question(runs, bad, good, criterion, gpu)
        bad, good = list(question.compare.bad), list(question.compare.good)
        tested = bad
    elif len(bad) > 1:  # of several envs, only those count in which it fails
        bad = [
            result for result in bad if criterion.about(result.outcome)(result) is Judgement.BAD
        ] or bad
    rest = [result for result in tested if result not in bad] if subject.hold_rest else []
    if subject.hold_rest:
        rest = runs.original_elsewhere(rest)
    if question is not None:
        rest = [result for result in rest if result.cell.env.name not in question.envs]
        goal = Goal.of_launched(bad, good, rest, limits)
    else:
        goal = Goal.of(bad, good, rest, criterion, limits)
    results = {result.cell.env.name: result for result in (*bad, *good, *rest)}
    return OriginalKernel(
        bad=tuple(newest_first(bad)), results=results, goal=goal, question=question
    )


def _slow(runs: BudgetedRuns, question: TakesLonger) -> tuple[list[Result], Criterion]:
    """Return the results whose time must be preserved, and the criterion in seconds.

    Raises SelectionError.
    """
    context = evolve(runs.context, limits=runs.brief_limits)
    cell = runs.subject.cells(runs.subject.bad)[0]
    seconds_question = in_seconds(question, cell, context)
    return list(
        with_precise_seconds(runs.original([cell.env]), seconds_question, context, runs.say)
    ), Criterion(question=seconds_question)


def _question(
    runs: BudgetedRuns,
    bad: Sequence[Result],
    good: Sequence[Result],
    criterion: Criterion,
    gpu: Gpu,
) -> NumbersQuestion:
    """Return the question about launches, with the releases to compare."""
    rest = [] if good else runs.run(runs.subject.cells(runs.subject.rest), runs.brief_limits)
    context = evolve(runs.context, stop=threading.Event())
    return NumbersQuestion(
        releases_to_compare(bad, good, rest, criterion, context, gpu, on_launch=runs.say), gpu
    )


# --- outcomes to preserve -------------------------------------------------------------------------


@frozen(kw_only=True)
class ReleaseDifference:
    """A release in which a reduced kernel differs from the original."""

    before: Result
    after: Result

    @property
    def text(self) -> str:
        """The difference, in words: ``3.1.0: ok, the original rejected (api-missing)``."""
        return (
            f"{label(self.after.built)}: {_outcome_words(self.after)}, the original"
            f" {_outcome_words(self.before)}"
        )


def label(built: BuiltEnv) -> str:
    """The label of an env for readers: its release, or else its name."""
    return built.release or built.env.name


def _outcome_words(result: Result) -> str:
    outcome = result.outcome
    if outcome.flaky:
        return "flaky"
    return (
        f"{outcome.status} ({outcome.failure.failure_class})"
        if outcome.failure
        else str(outcome.status)
    )


def differences(before: Iterable[Result], after: Iterable[Result]) -> list[ReleaseDifference]:
    """Return where the outcomes of two kernels differ.

    Only envs count in which both were tried and both gave an answer.
    """
    reduced = {result.cell.env.name: result for result in after}
    pairs = ((one, reduced[one.cell.env.name]) for one in before if one.cell.env.name in reduced)
    answers = (
        (one, other)
        for one, other in pairs
        if one.outcome.status.is_answer and other.outcome.status.is_answer
    )
    return [
        ReleaseDifference(before=one, after=other)
        for one, other in answers
        if one.outcome.flaky or other.outcome.flaky or not same(one.outcome, other.outcome)
    ]


@define(kw_only=True)
class Goal:
    """The requirements of a reduction."""

    named_requirements: tuple[CandidateRequirement, ...]
    """The named requirements, the failure to preserve first; all are required."""
    others: list[CandidateRequirement]
    """The requirements that the outcomes on all other releases stay the same."""
    tested_envs: set[str] = field(factory=set)
    """Names of the envs that every candidate is tried in."""
    dropped_outcomes: list[tuple[BuiltEnv, str]] = field(factory=list)
    """The outcomes that the reduction does not preserve, each with the reason."""

    @classmethod
    def of(
        cls,
        bad: Sequence[Result],
        good: Sequence[Result],
        rest: Sequence[Result],
        criterion: Criterion,
        limits: Limits,
    ) -> Goal:
        """Return the goal of preserving these results.

        ``bad`` and ``good`` were named, and ``rest`` are results of other releases. Raises
        SelectionError if a result in ``bad`` is not bad, or one in ``good`` is not good.
        """
        named = [requirement_of(result, criterion, limits) for result in newest_first(bad)]
        named += [requirement_to_be_ok(result, limits) for result in good]
        others = {
            result.cell.env.name: requirement_to_stay(result, limits)
            for result in reversed(newest_first(rest))
        }
        built = {result.cell.env.name: result.built for result in rest}
        goal = cls(
            named_requirements=tuple(named),
            others=[requirement for requirement in others.values() if requirement],
        )
        goal.dropped_outcomes += [
            (built[name], "no answer there, or flaky")
            for name, requirement in others.items()
            if requirement is None
        ]
        first = named[:1] if bad else named
        goal.tested_envs = {
            requirement.env for requirement in (*first, *(goal.neighbours() if bad else ()))
        }
        return goal

    @classmethod
    def of_launched(
        cls, bad: Sequence[Result], good: Sequence[Result], rest: Sequence[Result], limits: Limits
    ) -> Goal:
        """Return the goal for comparing launches.

        The kernel must compile in ``bad`` and in ``good``.

        Raises what :meth:`of` raises.
        """
        ok = parse_criterion("ok")
        goal = cls.of((), (*newest_first(bad), *good), rest, ok, limits)
        return evolve(
            goal,
            named_requirements=tuple(
                evolve(requirement, launched=True) for requirement in goal.named_requirements
            ),
        )

    @property
    def requirements(self) -> tuple[CandidateRequirement, ...]:
        """All requirements, the failure to preserve first."""
        return (*self.named_requirements, *self.others)

    def neighbours(self) -> list[CandidateRequirement]:
        """Return the nearest good releases before and after the failure.

        Edits that lose a regression mostly fail there.
        """
        place = self.named_requirements[0].built.env.release
        placed = [
            (version, requirement)
            for requirement in self.requirements
            if requirement.judgement is Judgement.GOOD
            and (version := requirement.built.env.release) is not None
        ]
        if place is None:
            return [requirement for _, requirement in placed[:1]]
        before = max(
            (pair for pair in placed if pair[0] < place), key=lambda pair: pair[0], default=None
        )
        after = min(
            (pair for pair in placed if pair[0] > place), key=lambda pair: pair[0], default=None
        )
        return [pair[1] for pair in (before, after) if pair]

    def tiers(
        self, patience: float, full_deadline: float
    ) -> tuple[list[CandidateRequirement], list[CandidateRequirement]]:
        """Return the requirements for every candidate, and further ones before one is accepted.

        Deadlines are ``patience`` times as long, up to ``full_deadline``. Requirements that other
        releases hang are tested only at the end, because that takes longest.
        """
        waiting = [
            _patient(requirement, patience, full_deadline) for requirement in self.requirements
        ]
        first = [requirement for requirement in waiting if requirement.env in self.tested_envs]
        later = [
            requirement
            for requirement in waiting
            if requirement.env not in self.tested_envs and not requirement.hangs
        ]
        return first, later

    def may_wait_longer(self, patience: float, full_deadline: float) -> bool:
        """Whether the deadline for a required hang was shorter than ``full_deadline``."""
        return any(
            requirement.hangs and patience * requirement.limits.deadline < full_deadline
            for requirement in self.requirements
        )

    def drop(self, name: str, why: str) -> bool:
        """Stop preserving the outcome in an env. Returns false for a requirement that was named."""
        dropped = [requirement for requirement in self.others if requirement.env == name]
        self.others = [requirement for requirement in self.others if requirement not in dropped]
        self.dropped_outcomes += [(requirement.built, why) for requirement in dropped]
        return bool(dropped)

    def lines(self, existing: Iterable[Version]) -> list[str]:
        """The preserved outcomes, in words: releases with the same outcome are in one line.

        ``existing`` are the existing releases of the toolchain.
        """
        by_words = group_by_key(
            ((requirement.description, requirement.place), requirement.env)
            for requirement in self.requirements
        )
        releases = releases_of(requirement.built for requirement in self.requirements)
        existing = tuple(existing)
        return [
            f"{text} on {runs_of(names, releases, existing)}{place}"
            for (text, place), names in by_words.items()
        ]


def newest_first(results: Sequence[Result]) -> list[Result]:
    """Results by release, the newest first. Envs without a release come last."""
    return sorted(results, key=lambda result: result.cell.env.release or Version("0"), reverse=True)


def _patient(
    requirement: CandidateRequirement, patience: float, full_deadline: float
) -> CandidateRequirement:
    return evolve(
        requirement,
        limits=evolve(
            requirement.limits, deadline=min(full_deadline, patience * requirement.limits.deadline)
        ),
    )


# --- the kernel, and its envs ---------------------------------------------------------------------


def find_subject(
    selection: Selection, what: str, bad: Sequence[str], good: Sequence[str]
) -> ReductionSubject:
    """Return the one kernel that ``what`` names, with the envs in which its outcome must stay.

    Raises SelectionError if ``what`` names no kernel or several, or if no env of ``bad`` or
    ``good`` has its toolchain.
    """
    config = selection.config
    cells = (
        _of_file(Path(what), selection)
        if what.endswith((".py", ".toml"))
        else _of_pattern(what, selection)
    )
    cell, envs = cells[0], tuple(match.env for match in cells)

    def fitting_envs(texts: Sequence[str]) -> tuple[Env, ...]:
        envs_named = config.choose_envs(texts) if texts else ()
        fitting = tuple(env for env in envs_named if env.toolchain == cell.spec.toolchain)
        if envs_named and not fitting:
            toolchain_text = f"{cell.spec.toolchain}, which the kernel is for"
            raise SelectionError(
                f"{', '.join(texts)} does not match an env of {toolchain_text}",
                where="--bad and --good",
            )
        return fitting

    return ReductionSubject(
        spec=cell.spec,
        target=cell.target,
        bad=fitting_envs(bad) or envs,
        good=fitting_envs(good),
        existing=existing_releases(config)[cell.spec.toolchain],
    )


def _of_pattern(what: str, selection: Selection) -> Sequence[Cell]:
    """Return the cells of the one kernel that a pattern names.

    The cells are among the chosen ones, or else among all. They are in the chosen envs if the
    pattern names none.
    """
    patterns = selection.patterns
    pattern = cell_pattern(what, selection.config, patterns.kernel_files)
    everywhere = selection.with_patterns(
        envs=patterns.envs or ("*",), targets=patterns.targets or ("*",)
    ).and_envs(pattern.envs)
    cells = pattern.choose(selection.cells if pattern.leaves_open else (), everywhere.cells)
    _check_alone(pattern.text, cells)
    usual = tuple(cell for cell in cells if cell.env in selection.envs)
    return (usual or cells) if pattern.leaves_open else cells


def _of_file(path: Path, selection: Selection) -> Sequence[Cell]:
    """Return the cells that a kernel's own kernel file declares as failing.

    If it declares none, return the chosen cells.
    """
    patterns = selection.patterns
    chosen = selection.with_patterns(kernel_files=(str(path.with_suffix(".toml")),))
    everywhere = chosen.with_patterns(
        envs=patterns.envs or ("*",), targets=patterns.targets or ("*",)
    )
    declared = [
        cell
        for cell in everywhere.cells
        if cell.env.release and _is_declared(cell, cell.env.release)
    ]
    if not patterns.envs:
        # Prefer envs of the toolchain without PyTorch.
        declared = [cell for cell in declared if not cell.env.has_framework] or declared
    cells = declared or chosen.cells
    _check_alone(str(path), cells)
    return cells


def _check_alone(text: str, cells: Sequence[Cell]) -> None:
    """Raise SelectionError if cells are of several kernels or targets."""
    if len({(cell.spec.id, cell.target.name) for cell in cells}) > 1:
        raise several_match(text, cells, any_env=True)


def _is_declared(cell: Cell, release: Version) -> bool:
    return any(
        e.covers(release=release, target=cell.target.name, case=cell.spec.case)
        for e in cell.spec.expectations
    )


def other_releases(subject: ReductionSubject, selection: Selection) -> list[BuiltEnv]:
    """Return one existing env for each release that was not named.

    If a release has several, it is the one without PyTorch.
    """
    named = {env.release for env in (*subject.bad, *subject.good)}
    others: dict[Version, BuiltEnv] = {}
    for env in _of_toolchain(selection.config, subject):
        if env.release is not None and env.release not in (*named, *others):
            (built,) = selection.read_envs(selection.config.path, [env])
            if built.error is None:
                others[env.release] = built
    return [others[release] for release in sorted(others)]


def _of_toolchain(config: MatrixConfig, subject: ReductionSubject) -> list[Env]:
    """The envs in which the kernel can be tried, those without PyTorch first."""
    return sorted(
        (env for env in config.envs if env.toolchain == subject.spec.toolchain),
        key=lambda env: env.has_framework,
    )


def releases_without_env(subject: ReductionSubject, config: MatrixConfig) -> str:
    """The releases without a built env, as runs."""
    there = {env.release for env in (*subject.bad, *subject.good, *subject.rest)}
    missing = {env.release for env in _of_toolchain(config, subject)} - there
    line = sorted({*subject.existing, *(release for release in missing if release)})
    return spans({str(release) for release in missing}, [str(release) for release in line])
