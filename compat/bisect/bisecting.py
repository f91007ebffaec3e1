"""A whole bisect, from request to answers: the feature that ``compat bisect`` calls.

In: a :class:`compat.bisect.request.Request`. Out: a :class:`Bisection`, which :mod:`compat.report.bisect` shows.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from attrs import evolve, field, frozen
from packaging.version import Version

from compat import toolchains
from compat.bisect import assemblers, known, last_bisect, releases
from compat.bisect.answers import CellAnswer, ConfigAnswer, Ended, Part
from compat.bisect.inside import Subject, look_inside
from compat.bisect.part import find_part, parts_of
from compat.bisect.probes import ReleaseAnswer, told_alike
from compat.bisect.releases import Search
from compat.bisect.request import FEW, Axis, Line, Request, line_of
from compat.errors import SelectionError
from compat.execution import durations
from compat.execution.budget import Budget
from compat.execution.run import Interrupted, RunContext
from compat.history.account import Judgement, Word
from compat.model import BuiltEnv, Cell, Env, Result, Specialization
from compat.project import Listener, Obtain


@frozen(kw_only=True)
class Bisection:
    """What a bisect found."""

    axis: Axis
    releases: tuple[ReleaseAnswer, ...] = ()
    """Along releases: the answer for each kernel variant and case on each target, in their order."""
    cells: tuple[CellAnswer, ...] = ()
    """Along the other axes: the answer for each, in the same order."""
    left_out: Mapping[str, tuple[str, ...]] = field(factory=dict)
    """Why → releases that were no candidates."""
    notes: tuple[str, ...] = ()
    """What a reader should know of how the candidates were found."""
    seconds: float = 0.0
    """How long it took."""
    fixed: bool = False
    """A fix was looked for, not a regression."""

    @property
    def conclusive(self) -> bool:
        """Whether every question is answered: each history is conclusive, and each cell has an answer."""
        told = (answer.account.word is not Word.UNKNOWN and not answer.account.unsettled for answer in self.releases)
        return all(told) and all(answer.conclusive for answer in self.cells)


def bisect(request: Request, context: RunContext, obtain: Obtain | None = None, listener: Listener | None = None) -> Bisection:
    """Search along releases, or inside a failure, as ``request`` says.

    ``context`` needs no envs: those that are tried are asked of ``obtain``, which may build them; without it, those are used that
    are there. The bad endpoints of a search along releases are saved in the project, for :func:`compat.repro.repro`.
    ``listener`` hears of each probe of a search along releases, and of each search inside a failure.

    Raises SelectionError if the request is invalid, IndexUnavailable where candidates are asked of an index that does not
    answer, EnvError if an assembler cannot be installed, StoreError where results or IR cannot be kept, and
    :class:`compat.execution.run.Interrupted` when stopped early; what was probed is kept then.
    """
    began = time.monotonic()
    if request.assemblers and request.axis is not Axis.PART:
        raise SelectionError("only --axis part tries other assemblers", where="--ptxas")
    if request.budget is not None and request.axis is not Axis.CONFIG:
        raise SelectionError("only --axis config has a budget", where="--budget", hint="--search tries few releases.")
    if request.gpu is not None and not request.criterion.asks_launches:
        hint = "Those that do: wrong, unstable, and latency, such as 'latency>1.2*previous'."
        raise SelectionError(f"the judge `{request.criterion.text}` asks for no launches", where="--launch", hint=hint)
    bisecting = _Bisecting(request, line_of(request), context, obtain or request.selection.read_envs, listener or Listener())
    if request.axis is Axis.RELEASES:
        found = _with_parts(bisecting.along_releases(), request, context, bisecting.listener)
        last_bisect.note_bad_ends(found, request.selection)
        return bisecting.come_to(time.monotonic() - began, releases=found)
    cells = tuple(bisecting.inside())
    return bisecting.come_to(time.monotonic() - began, cells=cells)


class _Envs:
    """Envs of the candidates as they are asked for; remembers them."""

    def __init__(self, obtain: Obtain, line: Line) -> None:
        self._obtain = partial(obtain, line.candidates.matrix)
        self.built: dict[str, BuiltEnv] = {}

    def __call__(self, envs: Sequence[Env]) -> Sequence[BuiltEnv]:
        found = self._obtain(envs)
        self.built |= {built.env.name: built for built in found}
        return found


class _Bisecting:
    """One bisect under way."""

    def __init__(self, request: Request, line: Line, context: RunContext, obtain: Obtain, listener: Listener) -> None:
        self.request, self.line, self.context, self.listener = request, line, context, listener
        self.selection = request.selection
        self.envs = _Envs(obtain, line)
        state, root = self.selection.state, self.selection.root
        assembler = parts_of(line.candidates.chosen[0].env).assembler if request.assemblers else None
        self.assemblers = tuple(
            assemblers.find_assembler(each, assembler, state, root, obtain) for each in request.assemblers if assembler
        )

    def come_to(self, seconds: float, *, releases: tuple[ReleaseAnswer, ...] = (), cells: tuple[CellAnswer, ...] = ()) -> Bisection:
        """The record of what was found."""
        candidates = self.line.candidates
        return Bisection(
            axis=self.request.axis,
            releases=releases,
            cells=cells,
            left_out=candidates.left_out,
            notes=candidates.notes,
            seconds=seconds,
            fixed=self.line.fixed,
        )

    # --- along releases ---

    def along_releases(self) -> tuple[ReleaseAnswer, ...]:
        """The answer along releases for every kernel."""
        kernels, asked, listener = self.selection.kernels, self._search(), self.listener
        total = len(kernels) * sum(len(candidate.envs) for candidate in asked.candidates)
        done: list[str] = []
        tell = listener.found if self.request.axis is Axis.RELEASES else lambda answer: None
        with listener.compiling(total) as note:

            def count(result: Result) -> None:
                done.append(result.cell.id)
                note(result)

            try:
                return releases.search_releases(
                    kernels, asked, self.context, self.envs, count, self._recalled, self._expect, listener.say, tell
                )
            except Interrupted as error:
                raise Interrupted(len(done), total if asked.every else error.total) from error

    def _expect(self, cells: Sequence[Cell]) -> None:
        self.listener.expecting(cells, durations.about(cells, self.context.store, self.context.slots))

    def _search(self) -> Search:
        request, line, span = self.request, self.line, self.line.span
        chosen = line.candidates.chosen[span.start : span.stop]
        if request.criterion.needs_every and request.every is False:
            hint = "Leave out --search: what was launched and compiled before is not launched and compiled again."
            raise SelectionError(f"`{request.criterion.text}` compares releases with each other", where="--search", hint=hint)
        every = request.criterion.needs_every or (len(chosen) <= FEW if request.every is None else request.every)
        return Search(
            candidates=chosen,
            criterion=request.criterion,
            good=None if line.good is None else line.good - span.start,
            bad=None if line.bad is None else line.bad - span.start,
            fixed=line.fixed,
            every=every,
            existing=self._existing() if line.candidates.published else (),
            gpu=request.gpu,
        )

    def _existing(self) -> tuple[Version, ...]:
        """The releases that are known to exist of the toolchain that is bisected."""
        return known.existing_releases(self.selection.config)[self.line.candidates.chosen[0].env.toolchain]

    def _recalled(self, kernels: releases.Kernels) -> tuple[Result, ...]:
        """What earlier runs found of these kernels on releases that this search has no env for."""
        if not self.line.candidates.published:
            return ()
        return known.recall(kernels, self.context, self.selection.config, besides=self.envs.built.values())

    # --- inside a failure ---

    def inside(self) -> Iterator[CellAnswer]:
        """What a search along the axis finds of each kernel."""
        axis, every, budget = self.request.axis, len(self.selection.kernels), Budget(self.request.budget)
        for number, subject in enumerate(self.subjects(), 1):
            share = Budget(budget.left / (every - number + 1) if budget.bounded else None)
            with self.listener.step(f"the {axis} of {subject.cell.id}, {number} of {every}") as note:
                answer = look_inside(axis, evolve(subject, on_step=note, budget=share))
            self.listener.found(answer)
            if isinstance(answer.found, ConfigAnswer) and answer.found.ended is Ended.INTERRUPTED:
                raise Interrupted(answer.found.tried, answer.found.tried + answer.found.untried)
            yield answer

    def subjects(self) -> Iterator[Subject]:
        """Each kernel with the cells that a search inside its failure starts from."""
        if self.request.axis is Axis.PART and (self.line.good is None or self.line.bad is None):
            yield from map(self._changed, self.along_releases())
            return
        bad, good = self.line.newest_bad.env, self.line.good
        envs = [bad] if good is None else [bad, self.line.candidates.chosen[good].env]
        self.envs(envs)
        for spec, target in self.selection.kernels:
            compared = len(envs) > 1 or self.request.against
            other = Cell(env=envs[-1], target=target, spec=self._compared_with(spec)) if compared else None
            yield self._subject(Cell(env=bad, target=target, spec=spec), other, self.envs.built)

    def _changed(self, answer: ReleaseAnswer) -> Subject:
        """The two sides of a change, or the newest release where nothing changes."""
        change = answer.bracket
        probes = (change.before, change.after) if change else (answer.probes[-1],)
        bad, *rest = sorted(probes, key=lambda probe: probe.judgement is not Judgement.BAD)
        envs = {probe.result.cell.env.name: probe.result.built for probe in probes}
        return self._subject(bad.result.cell, rest[0].result.cell if rest else None, envs)

    def _subject(self, cell: Cell, other: Cell | None, envs: Mapping[str, BuiltEnv]) -> Subject:
        context = evolve(self.context, envs=envs)
        request, folder = self.request, self.selection.state
        return Subject(
            cell=cell,
            other=other,
            context=context,
            folder=folder,
            criterion=request.criterion,
            assemblers=self.assemblers,
            gpu=request.gpu,
        )

    def _compared_with(self, spec: Specialization) -> Specialization:
        """The case that a case is compared with: itself, in another release, unless one is named."""
        case = self.request.against
        if case is None:
            return spec
        every = self.selection.with_patterns(kernels=[spec.kernel], variants=[spec.variant], cases=[])
        for other in every.specs:
            if other.case == case:
                return other
        cases = ", ".join(dict.fromkeys(other.case for other in every.specs))
        raise SelectionError(f"{spec.kernel}/{spec.variant} has no case {case!r}", where="--against", hint=f"Available: {cases}.")


def _with_parts(
    answers: Sequence[ReleaseAnswer], request: Request, context: RunContext, listener: Listener
) -> tuple[ReleaseAnswer, ...]:
    """The answers with the part of the toolchain that changed, found for one of each group that says the same."""
    parts: dict[int, Part] = {}
    for group in told_alike(answers):
        change = group[0].bracket
        if change is None or request.criterion.asks_metric or request.criterion.asks_launches:
            continue
        good, bad = sorted((change.before, change.after), key=lambda probe: probe.judgement is Judgement.BAD)
        if toolchains.of(bad.result.cell.env).parts is None:
            continue
        if bad.result.outcome.failure is None:  # it compiles; the criterion is about something else
            continue
        envs = {end.result.cell.env.name: end.result.built for end in (good, bad)}
        with listener.step(f"the part of the change in {bad.result.cell.id}"):
            found = find_part(good.result.cell, bad.result.cell, evolve(context, envs=envs))
        parts |= {id(answer): found for answer in group}
    return tuple(evolve(answer, part=parts.get(id(answer))) for answer in answers)
