"""Since which release: every chosen kernel, on every candidate or on as few as tell, and what that comes to.

Kernels share envs and probes. A probe is an ordinary cell, kept like any other, so that repeating or widening a search costs
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from attrs import evolve, frozen

from compat.axes.candidates import Candidate
from compat.axes.history import Answer, Probe, ReleaseAnswer, Transition
from compat.model import BuiltEnv, Cell, Env, Result, Specialization, Target
from compat.run import Bench, concurrently, run
from compat.search.bisect import Bracket, History, Judgement, Shape, probe_all, search
from compat.search.judge import Judge

FEW = 16
"""So many candidates are all tried, unless a search is asked for: with warm workers that costs seconds and assumes nothing."""


_ANSWERS = {
    Shape.REGRESSED: Answer.REGRESSED,
    Shape.FIXED: Answer.FIXED,
    Shape.NEVER_GOOD: Answer.NEVER,
    Shape.ALWAYS_GOOD: Answer.ALWAYS,
    Shape.NON_MONOTONIC: Answer.NON_MONOTONIC,
    Shape.UNKNOWN: Answer.UNKNOWN,
}


@frozen(kw_only=True)
class Search:
    """How to search, the same for every kernel."""

    candidates: tuple[Candidate, ...]
    """The range to search, oldest first."""
    judge: Judge
    good: int | None = None
    """The position of an end that was given as good."""
    bad: int | None = None
    fixed: bool = False
    """Look for a fix and not for a regression."""
    every: bool = True
    """Try every candidate, which assumes nothing."""


Obtain = Callable[[Sequence[Env]], Sequence[BuiltEnv]]
"""Gives envs as they are on disk, having built what is missing."""


def find(
    kernels: Sequence[tuple[Specialization, Target]],
    asked: Search,
    bench: Bench,
    obtain: Obtain,
    on_result: Callable[[Result], None] = lambda _: None,
) -> tuple[ReleaseAnswer, ...]:
    """The answer for each of ``kernels``, in their order.

    ``bench`` needs no envs; those of the candidates that are tried are asked of ``obtain``, all missing ones at once. Raises
    :class:`compat.run.Interrupted`; what was probed is kept then.
    """
    tries = _Tries(asked.candidates, bench, obtain, on_result)
    if asked.every:
        tries.results(kernels, _ends_first(asked))
    return tuple(_answer(spec, target, asked, tries) for spec, target in kernels)


def in_range(candidates: Sequence[Candidate], good: int | None, bad: int | None, *, fixed: bool) -> range:
    """The positions to search: between two given ends, else from the given one to the side where the change must be.

    A regression lies after what is good and before what is bad; a fix the other way about.
    """
    if good is not None and bad is not None:
        return range(min(good, bad), max(good, bad) + 1)
    oldest, newest = (bad, good) if fixed else (good, bad)
    return range(oldest or 0, len(candidates) if newest is None else newest + 1)


class _Tries:
    """Results by position and kernel, compiled when first asked for."""

    def __init__(self, candidates: Sequence[Candidate], bench: Bench, obtain: Obtain, on_result: Callable[[Result], None]) -> None:
        self._candidates, self._bench, self._obtain, self._on_result = candidates, bench, obtain, on_result
        self._envs: dict[str, BuiltEnv] = {}
        self._results: dict[str, Result] = {}

    def results(self, kernels: Sequence[tuple[Specialization, Target]], positions: Sequence[int]) -> None:
        """Try all of ``kernels`` at ``positions``, in one run."""
        envs = [self._candidates[position].env for position in positions]
        missing = [env for env in envs if env.name not in self._envs]
        if missing:
            self._envs |= {built.env.name: built for built in self._obtain(missing)}
        cells = [Cell(env=env, target=target, spec=spec) for env in envs for spec, target in kernels]
        new = [cell for cell in cells if cell.id not in self._results]
        for result in run(new, evolve(self._bench, envs=self._envs), self._on_result):
            self._results[result.cell.id] = result

    @property
    def width(self) -> int:
        """How many positions are worth judging at once."""
        return self._bench.slots

    def of(self, spec: Specialization, target: Target, positions: Sequence[int]) -> dict[int, Result]:
        """The results of one kernel, by position."""
        self.results([(spec, target)], positions)
        cells = {p: Cell(env=self._candidates[p].env, target=target, spec=spec) for p in positions}
        return {position: self._results[cell.id] for position, cell in cells.items()}


def _ends_first(asked: Search) -> list[int]:
    """Every position, the ends before what lies between them."""
    last = len(asked.candidates) - 1
    given = [end for end in (asked.good, asked.bad) if end is not None]
    return list(dict.fromkeys([*given, 0, last, *range(last + 1)]))


def _answer(spec: Specialization, target: Target, asked: Search, tries: _Tries) -> ReleaseAnswer:
    judge = asked.judge
    seen: dict[int, Result] = {}
    if judge.needs_bad_end:
        end = asked.bad if asked.bad is not None else 0 if asked.fixed else len(asked.candidates) - 1
        judge = judge.about(tries.of(spec, target, [end])[end].outcome)

    def ask(positions: Sequence[int]) -> Mapping[int, Judgement]:
        found = tries.of(spec, target, positions)
        seen.update(found)
        return dict(zip(found, concurrently(judge, found.values(), tries.width), strict=True))  # a judge may be a program

    count = len(asked.candidates)
    if asked.every:
        history = probe_all(count, ask)
    else:
        history = search(count, ask, good=asked.good, bad=asked.bad, width=tries.width)
    probes = {
        position: Probe(release=asked.candidates[position].label, result=seen[position], judgement=judgement)
        for position, judgement in history.judged.items()
    }
    return _concluded(spec, target, evolve(asked, judge=judge), history, probes)


def _concluded(spec: Specialization, target: Target, asked: Search, history: History, probes: Mapping[int, Probe]) -> ReleaseAnswer:
    labels = tuple(candidate.label for candidate in asked.candidates)
    transitions = tuple(_transitions(probes, labels))
    flaky = any(probe.result.outcome.flaky for probe in probes.values())
    answer = _ANSWERS[history.shape]
    if flaky and (not history.brackets or any(_holds_flaky(bracket, probes) for bracket in history.brackets)):
        answer = Answer.FLAKY
    given = ((asked.good, Judgement.GOOD), (asked.bad, Judgement.BAD))
    return ReleaseAnswer(
        spec=spec,
        target=target,
        judge=asked.judge,
        answer=answer,
        searched=labels,
        probes=tuple(probes.values()),
        bracket=_bracket(transitions, fixed=asked.fixed) if answer is not Answer.FLAKY else None,
        transitions=transitions,
        assumed=tuple((labels[first], labels[last]) for first, last in history.assumed),
        otherwise=tuple(probes[at] for at, said in given if at is not None and at in probes and probes[at].judgement is not said),
    )


def _holds_flaky(bracket: Bracket, probes: Mapping[int, Probe]) -> bool:
    return any(at in probes and probes[at].result.outcome.flaky for at in bracket.untested)


def _bracket(transitions: Sequence[Transition], *, fixed: bool) -> Transition | None:
    """The newest change of the kind that is looked for, else the newest of the other kind."""
    crossing = [transition for transition in transitions if transition.crosses]
    return next(iter([t for t in crossing if t.is_fix is fixed][-1:] or crossing[-1:]), None)


def _transitions(probes: Mapping[int, Probe], labels: Sequence[str]) -> list[Transition]:
    known = [(position, probe) for position, probe in probes.items() if probe.judgement is not Judgement.UNKNOWN]
    return [
        Transition(before=before, after=after, untested=tuple(labels[one + 1 : other]))
        for (one, before), (other, after) in pairwise(known)
        if before.behaviour != after.behaviour
    ]
