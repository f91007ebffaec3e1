"""One reduction, as a command does it: from the results that are to be kept to the file that keeps them."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Self

import click
from attrs import evolve, frozen
from rich.console import Console

from compat.axes.best import BestSoFar
from compat.axes.reducing import Jury, Wish, confirmed, expectation_of, wish_for_ok, wish_to_keep
from compat.cli.selecting import Selection
from compat.engine.supervise import Stopped
from compat.errors import SelectionError
from compat.model import Cell, Env, Result, Specialization, Target
from compat.reduce import Candidate, extracted, kernel_file
from compat.reduce import reduce as reductions
from compat.run import Bench, Interrupted, run
from compat.search.bisect import Judgement
from compat.search.judge import Judge, parse_judge
from compat.source.bundle import bundle

_PLAIN_EVERY = 5.0
"""Seconds between two lines of progress where there is no terminal."""
_PATIENCE = 5.0
"""How many times longer candidates that are to hang are waited for, once one that seemed to hang turned out to end."""


class Ended(StrEnum):
    """How a search ended."""

    DONE = "nothing more can be taken away"
    BUDGET = "the budget is spent"
    INTERRUPTED = "interrupted"


@frozen(kw_only=True)
class Subject:
    """A kernel for a target, and the envs in which it is to stay as it is."""

    selection: Selection
    spec: Specialization
    target: Target
    bad: tuple[Env, ...]
    good: tuple[Env, ...]

    def cells(self, envs: Sequence[Env], spec: Specialization | None = None) -> list[Cell]:
        """Its cells in some envs, or those of another specialization in its place."""
        return [Cell(env=env, target=self.target, spec=spec or self.spec) for env in envs]


class Reduction:
    """One reduction, from the results that are to be kept to the file that keeps them."""

    def __init__(self, subject: Subject, bench: Bench, judge: Judge, output: Path | None) -> None:
        self.subject, self.bench = subject, bench
        bad = self._run(subject.cells(subject.bad))
        if len(bad) > 1:  # of envs that were not named one by one, those count in which it fails
            bad = [each for each in bad if judge.about(each.outcome)(each) is Judgement.BAD] or bad
        good = self._run(subject.cells(subject.good))
        self.bad = bad
        self.wishes = [
            *(wish_to_keep(result, judge, bench.limits) for result in bad),
            *(wish_for_ok(result, parse_judge("ok"), bench.limits) for result in good),
        ]
        spec = subject.spec
        name = f"{spec.kernel}-{spec.variant}-{spec.case}" if spec.variant != kernel_file.VARIANT else f"{spec.kernel}-{spec.case}"
        self.path = (output or Path("reduced", f"{name}.py")).with_suffix(".py")
        self.best = BestSoFar(self.path, self._kernel_file)
        self.start = Candidate.of(spec, extracted(bundle(spec).text, spec.function))
        self.history = [self.start]
        """Every candidate that was accepted."""
        self.results: list[Result] = []
        """Of the last one, in the order of the wishes."""
        self.tests, self.seconds, self.ended = 0, 0.0, Ended.DONE

    def run(self, budget: float | None) -> None:
        """Search within so many seconds, confirm what was found, and write it."""
        for wish in self.wishes:
            click.echo(f"to stay: {wish.text}", err=True)
        began = time.monotonic()
        for wishes in self._ever_more_patient():
            self._search_until(began + budget if budget else None, wishes)
            self.seconds = time.monotonic() - began
            if self._confirm() or self.ended is not Ended.DONE:
                break

    def _search_until(self, end: float | None, wishes: Sequence[Wish]) -> None:
        stop = threading.Event()
        timer = threading.Timer(max(0.0, end - time.monotonic()) if end else 0.0, stop.set)
        if end:
            timer.start()
        try:
            self._search(wishes, stop)
        except Stopped:
            self.ended = Ended.BUDGET
        except KeyboardInterrupt:
            self.ended = Ended.INTERRUPTED
        finally:
            timer.cancel()

    def _confirm(self) -> bool:
        """Forget the last candidates as far as they do not hold when looked at closely; whether all did."""
        before = len(self.history)
        try:
            at = confirmed(self.history, self._holds)
            self.best.finish(self.history[at])
            self.results = self._results_of(self.history[at])
        except Interrupted:
            self.ended = Ended.INTERRUPTED  # what the judge of the search has seen will do
            self.best.finish(self.history[-1])
            return True
        del self.history[at + 1 :]
        return len(self.history) == before

    def _search(self, wishes: Sequence[Wish], stop: threading.Event) -> None:
        """Add to ``history`` what is accepted; each is on disk before the next is looked for."""
        spec, history = self.subject.spec, self.history
        jury = Jury(spec, self.subject.target, wishes, slots=self.bench.slots, stop=stop, idle_timeout=self.bench.idle_timeout)
        with jury, Progress(history[-1]) as progress:
            if len(history) == 1 and not jury(history)[0]:
                raise SelectionError(
                    "without comments and annotations, and alone in a module, the kernel no longer fails in that way",
                    where=spec.source,
                    hint="What it fails by is in how the file is written; there is nothing this command could take away.",
                )
            self.best.keep(history[-1])

            def judge(candidates: Sequence[Candidate]) -> Sequence[bool]:
                answers = jury(candidates)
                self.tests += len(candidates)
                progress.show(self.history[-1], self.tests)
                return answers

            for step in reductions(history[-1], judge):
                history.append(step.candidate)
                self.best.keep(step.candidate)
                progress.show(step.candidate, self.tests)

    def _ever_more_patient(self) -> Iterator[list[Wish]]:
        """The wishes; and where a hang is to be kept, again with longer deadlines, up to the whole one."""
        wishes, whole = self.wishes, self.bench.limits.deadline
        yield wishes
        while any(wish.hangs and wish.limits.deadline < whole for wish in wishes):
            longer = [evolve(w.limits, deadline=min(whole, _PATIENCE * w.limits.deadline)) for w in wishes]
            wishes = [evolve(wish, limits=limits) for wish, limits in zip(wishes, longer, strict=True)]
            yield wishes

    def _holds(self, candidate: Candidate) -> bool:
        """Whether it is what is wished for also when looked at closely: alone, with diagnostics on, within the whole deadline."""
        self.best.keep(candidate)
        results = self._results_of(candidate)
        return all(wish.fulfilled_by(each.cell, each.outcome) for wish, each in zip(self.wishes, results, strict=True))

    def _results_of(self, candidate: Candidate) -> list[Result]:
        """What becomes of the candidate that is kept at the moment, in the order of the wishes."""
        spec = candidate.specialize(self.subject.spec, str(self.best.source.absolute()))
        return self._run(self.subject.cells([wish.built.env for wish in self.wishes], spec))

    def _run(self, cells: Sequence[Cell]) -> list[Result]:
        return list(run(cells, evolve(self.bench, stop=threading.Event())))  # a run that ended leaves its ``stop`` set

    def _kernel_file(self, candidate: Candidate, source: str) -> str:
        return kernel_file.kernel_file(
            candidate,
            kernel=self.path.stem,
            case=self.subject.spec.case,
            source=source,
            summary=f"Reduced from {self.subject.spec.kernel}/{self.subject.spec.variant}: {self.wishes[0].text}",
            expectations=[expectation_of(result) for result in self.bad if result.outcome.failure],
        )


class Progress:
    """A line that says how far a reduction is: live on a terminal, now and then elsewhere."""

    def __init__(self, start: Candidate) -> None:
        self._began = self._told = time.monotonic()
        console = Console(stderr=True)
        self._live = console.status(self._line(start, 0)) if console.is_terminal and sys.stderr.isatty() else None

    def show(self, best: Candidate, tests: int) -> None:
        """Tell of the best so far, and how many candidates were judged."""
        if self._live:
            self._live.update(self._line(best, tests))
        elif time.monotonic() - self._told > _PLAIN_EVERY:
            self._told = time.monotonic()
            click.echo(self._line(best, tests), err=True)

    def _line(self, best: Candidate, tests: int) -> str:
        elapsed = time.monotonic() - self._began
        return f"{len(best.text):,} bytes, {best.lines} lines, {tests:,} candidates, {elapsed:.0f} s"

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()
