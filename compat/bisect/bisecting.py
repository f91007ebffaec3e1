"""A whole bisect, from request to answers: the feature that ``compat bisect`` calls.

In: a :class:`compat.bisect.request.BisectRequest`. Out: a :class:`Bisection`, which
:mod:`compat.report.views.bisect` shows.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from attrs import evolve, field, frozen
from packaging.version import Version

from compat import toolchains
from compat.bisect import passes, releases, settings
from compat.bisect.answers import (
    CellAnswer,
    ConfigAnswer,
    GrowthAnswer,
    Part,
    PassAnswer,
    ReleaseAnswer,
    SearchEnd,
    group_alike,
)
from compat.bisect.attempts import AssemblerProgram, find_assembler
from compat.bisect.criterion import Criterion
from compat.bisect.growing import GrowthSearch
from compat.bisect.judging import check_launching
from compat.bisect.omissions import OmissionSearch
from compat.bisect.part import LaunchJudge, find_part, parts_of
from compat.bisect.releases import ReleaseSearch
from compat.bisect.request import (
    ASSEMBLER_OPTION,
    FEW,
    Axis,
    BisectRequest,
    GrowingSetting,
    Line,
    line_of,
)
from compat.engine.run import Interrupted, RunContext, existing_releases, recall, run
from compat.errors import SelectionError, StoreError
from compat.files import replace_file
from compat.history.account import Judgement, Word, is_good
from compat.history.sizes import sizes
from compat.interruption import Budget
from compat.launch.hosting import Gpu
from compat.model import BuiltEnv, Cell, Env, Result, Specialization, Status
from compat.model.codec import record_of, structure, unstructure
from compat.project import STATE, Listener, Obtain, Selection
from compat.text import JsonObject, read_json


@frozen(kw_only=True)
class Bisection:
    """The result of a bisection."""

    axis: Axis
    """The axis of the search."""
    releases: tuple[ReleaseAnswer, ...] = ()
    """Axis of releases: one answer per specialization and target, in their order."""
    cells: tuple[CellAnswer, ...] = ()
    """Other axes: one answer per cell, in their order."""
    left_out: Mapping[str, tuple[str, ...]] = field(factory=dict)
    """Reason → releases that were not candidates."""
    notes: tuple[str, ...] = ()
    """Facts about the choice of candidates that a reader should know."""
    seconds: float = 0.0
    """Wall time in seconds."""
    fixed: bool = False
    """Whether it searched for a fix instead of a regression."""

    @property
    def conclusive(self) -> bool:
        """Whether every question has an answer."""
        settled = (
            answer.account.word is not Word.UNKNOWN and not answer.account.unsettled
            for answer in self.releases
        )
        return all(settled) and all(answer.conclusive for answer in self.cells)


def bisect(
    request: BisectRequest,
    context: RunContext,
    obtain: Obtain | None = None,
    listener: Listener | None = None,
) -> Bisection:
    """Search along releases, or inside a failure.

    A search along releases saves its bad ends in the project for :func:`compat.repro.repro`.

    Args:
        request: What to search, and along which axis.
        context: How to compile; needs no environments.
        obtain: Called for the environments of candidates, and may build them. ``None``: use those
            that exist.
        listener: Receives each probe of a search along releases, and each search inside a failure.

    Raises:
        SelectionError: The request is invalid.
        IndexUnavailable: The package index does not answer a query for candidates.
        EnvError: An assembler cannot be installed.
        StoreError: Results or IR cannot be kept.
        compat.engine.run.Interrupted: The search was stopped early. Finished probes are kept.
    """
    began = time.monotonic()
    if request.assemblers and request.axis is not Axis.PART:
        raise SelectionError("only --axis part tries other assemblers", where=ASSEMBLER_OPTION)
    if request.budget is not None and request.axis is not Axis.CONFIG:
        raise SelectionError(
            "only --axis config has a budget", where="--budget", hint="--search tries few releases."
        )
    if request.grow and request.axis is not Axis.CONFIG:
        raise SelectionError("only --axis config measures growth", where="--grow")
    if request.gpu is not None:
        check_launching(request.criterion)
    bisecting = _Bisecting(
        request,
        line_of(request),
        context,
        obtain or request.selection.read_envs,
        listener or Listener(),
    )
    if request.axis is Axis.RELEASES:
        answers = _with_parts(bisecting.along_releases(), request, context, bisecting.listener)
        note_bad_ends(answers, request.selection)
        facts: JsonObject = {"releases": answers}
    else:
        facts = {"cells": tuple(bisecting.inside())}
    line, seconds = bisecting.line, time.monotonic() - began
    return record_of(Bisection, line, line.candidates, axis=request.axis, seconds=seconds, **facts)


class CandidateEnvs:
    """Obtains the envs of candidates on request, and remembers them."""

    def __init__(self, obtain: Obtain, line: Line) -> None:
        self._obtain = partial(obtain, line.candidates.matrix)
        self.built: dict[str, BuiltEnv] = {}

    def __call__(self, envs: Sequence[Env]) -> Sequence[BuiltEnv]:
        envs_there = self._obtain(envs)
        self.built |= {built.env.name: built for built in envs_there}
        return envs_there


class _Bisecting:
    """One running bisect."""

    def __init__(
        self,
        request: BisectRequest,
        line: Line,
        context: RunContext,
        obtain: Obtain,
        listener: Listener,
    ) -> None:
        self.request, self.line, self.context, self.listener = request, line, context, listener
        self.selection = request.selection
        self.envs = CandidateEnvs(obtain, line)
        state, root = self.selection.state, self.selection.root
        env = line.candidates.chosen[0].env
        self.assemblers = tuple(
            find_assembler(name, env.toolchain, parts_of(env).assembler, state, root, obtain)
            for name in request.assemblers
        )

    # --- along releases ---

    def along_releases(self) -> tuple[ReleaseAnswer, ...]:
        """The answer along releases for every kernel."""
        is_asked = self.request.axis is Axis.RELEASES
        return releases.search_releases(
            self.selection.kernels,
            self._search(),
            self.context,
            self.envs,
            listener=self.listener,
            recall=self._recall_results,
            on_answer=self.listener.receive_answer if is_asked else lambda answer: None,
        )

    def _search(self) -> ReleaseSearch:
        request, line, span = self.request, self.line, self.line.span
        chosen = line.candidates.chosen[span.start : span.stop]
        if request.criterion.needs_every and request.every is False:
            hint = (
                "Leave out --search: what was launched and compiled before is not launched and"
                " compiled again."
            )
            raise SelectionError(
                f"`{request.criterion.text}` compares releases with each other",
                where="--search",
                hint=hint,
            )
        every = request.criterion.needs_every or (
            len(chosen) <= FEW if request.every is None else request.every
        )
        return ReleaseSearch(
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
        """The known releases of the bisected toolchain."""
        return existing_releases(self.selection.config)[
            self.line.candidates.chosen[0].env.toolchain
        ]

    def _recall_results(self, kernels: releases.Kernels) -> tuple[Result, ...]:
        """The results of earlier runs of ``kernels``, on releases without an env in this search."""
        if not self.line.candidates.published:
            return ()
        return recall(
            kernels, self.context, self.selection.config, besides=self.envs.built.values()
        )

    # --- inside a failure ---

    def inside(self) -> Iterator[CellAnswer]:
        """The answer of a search along the axis, for each kernel."""
        axis, every = self.request.axis, len(self.selection.kernels)
        budget = Budget(self.request.budget)
        for number, search in enumerate(self.searches(), 1):
            share = Budget(
                budget.remaining_seconds / (every - number + 1) if budget.bounded else None
            )
            with self.listener.step(f"the {axis} of {search.cell.id}, {number} of {every}") as note:
                answer = evolve(search, on_step=note, budget=share).along(axis)
            self.listener.receive_answer(answer)
            match answer.answer:
                case ConfigAnswer(end=SearchEnd.INTERRUPTED, compiled=done, left_out=others):
                    raise Interrupted(done, done + others)
                case GrowthAnswer(end=SearchEnd.INTERRUPTED):
                    raise Interrupted(number, every)
            yield answer

    def searches(self) -> Iterator[CellSearch]:
        """A search for each kernel, with the cells that it starts from."""
        if self.request.axis is Axis.PART and (self.line.good is None or self.line.bad is None):
            yield from map(self._change_search, self.along_releases())
            return
        bad, good = self.line.newest_bad.env, self.line.good
        envs = [bad] if good is None else [bad, self.line.candidates.chosen[good].env]
        self.envs(envs)
        for spec, target in self.selection.kernels:
            compared = len(envs) > 1 or self.request.against
            other = (
                Cell(env=envs[-1], target=target, spec=self._compared_specialization(spec))
                if compared
                else None
            )
            yield self._cell_search(Cell(env=bad, target=target, spec=spec), other, self.envs.built)

    def _change_search(self, answer: ReleaseAnswer) -> CellSearch:
        """A search with the two sides of a change, or with the newest release without a change."""
        change = answer.bracket
        probes = (change.before, change.after) if change else (answer.probes[-1],)
        bad, *rest = sorted(probes, key=lambda probe: probe.judgement is not Judgement.BAD)
        envs = {probe.result.cell.env.name: probe.result.built for probe in probes}
        return self._cell_search(bad.result.cell, rest[0].result.cell if rest else None, envs)

    def _cell_search(
        self, cell: Cell, other: Cell | None, envs: Mapping[str, BuiltEnv]
    ) -> CellSearch:
        context = evolve(self.context, envs=envs)
        request, folder = self.request, self.selection.state
        return CellSearch(
            cell=cell,
            other=other,
            context=context,
            folder=folder,
            criterion=request.criterion,
            assemblers=self.assemblers,
            gpu=request.gpu,
            grow=request.grow,
        )

    def _compared_specialization(self, spec: Specialization) -> Specialization:
        """The specialization to compare with: that of the named case, else ``spec`` itself."""
        case = self.request.against
        if case is None:
            return spec
        every = self.selection.with_patterns(
            kernels=[spec.kernel], variants=[spec.variant], cases=[]
        )
        for other in every.specs:
            if other.case == case:
                return other
        cases = ", ".join(dict.fromkeys(other.case for other in every.specs))
        raise SelectionError(
            f"{spec.kernel}/{spec.variant} has no case {case!r}",
            where="--against",
            hint=f"Available: {cases}.",
        )


def _with_parts(
    answers: Sequence[ReleaseAnswer],
    request: BisectRequest,
    context: RunContext,
    listener: Listener,
) -> tuple[ReleaseAnswer, ...]:
    """Add the part of the toolchain that changed to the answers.

    The part is searched once for each group of alike answers.
    """
    parts: dict[int, Part] = {}
    for group in group_alike(answers):
        change = group[0].bracket
        if change is None or request.criterion.asks_metric or request.criterion.asks_launches:
            continue
        good, bad = sorted(
            (change.before, change.after), key=lambda probe: probe.judgement is Judgement.BAD
        )
        if toolchains.of(bad.result.cell.env).ir.parts is None:
            continue
        if bad.result.outcome.failure is None:  # it compiles; the criterion is about something else
            continue
        envs = {end.result.cell.env.name: end.result.built for end in (good, bad)}
        with listener.step(f"the part of the change in {bad.result.cell.id}"):
            part = find_part(bad.result.cell, good.result.cell, evolve(context, envs=envs))
        parts |= {id(answer): part for answer in group}
    return tuple(evolve(answer, part=parts.get(id(answer))) for answer in answers)


# --- inside the failure of one cell ---------------------------------------------------------------


@frozen(kw_only=True)
class CellSearch:
    """A search inside the failure of one cell, perhaps in comparison with another cell."""

    cell: Cell
    other: Cell | None
    context: RunContext
    """The context, with the envs of both cells."""
    folder: Path
    """The folder for IR."""
    criterion: Criterion
    """The definition of bad."""
    assemblers: tuple[AssemblerProgram, ...] = ()
    """Other assemblers to try in place of the toolchain's own one."""
    gpu: Gpu | None = None
    """The GPU that launches combinations of releases."""
    budget: Budget = field(factory=lambda: Budget(None))
    """The seconds that a search for settings may take."""
    grow: tuple[GrowingSetting, ...] = ()
    """The named settings over which compile time is measured; empty if none is named."""
    on_step: Callable[[str], None] = lambda message: None
    """Receives the progress of the search, perhaps from another thread."""

    def along(self, axis: Axis) -> CellAnswer:
        """The answer of a search along one of the axes inside a failure.

        Raises SelectionError if there is nothing to compare, StoreError if IR cannot be kept, and
        :class:`compat.engine.run.Interrupted` when stopped early. Along ``config``, an early stop
        after the outcome of the cell itself is known returns the answer so far.
        """
        searches = {Axis.PART: self._part, Axis.PASS: self._pass, Axis.CONFIG: self._config}
        return CellAnswer(cell=self.cell, answer=searches[axis]())

    def _folder(self, name: str) -> Path:
        return self.folder / name / self.cell.id.replace("/", "_")

    def _part(self) -> Part:
        judge = None
        if self.criterion.asks_launches:
            judge = LaunchJudge(
                criterion=self.criterion, folder=self._folder("combinations"), gpu=self.gpu
            )
        return find_part(
            self.cell,
            self.other,
            self.context,
            assemblers=self.assemblers,
            judge=judge,
            metric=self._metric,
            on_step=self.on_step,
        )

    @property
    def _metric(self) -> Criterion | None:
        """The criterion, if it asks for a metric of the binary."""
        judge = self.criterion
        return judge if judge.asks_metric and not judge.asks_seconds else None

    def _pass(self) -> PassAnswer | None:
        folder, metric = self._folder("passes"), self._metric
        if metric is not None and passes.parts_of(self.cell.env).leaves_out:
            return OmissionSearch(
                bad=self.cell,
                good=self.other,
                context=self.context,
                criterion=metric,
                on_step=self.on_step,
            ).answer(folder)
        if self.other is not None:
            answer = passes.compare(self.other, self.cell, self.context, folder)
            return evolve(answer, sentence=f"{answer.sentence}{self._unused_judge_sentence()}")
        result = self._unchanged()
        if not is_good(result.outcome):
            return passes.find_pass(self.cell, self.context, folder)
        if unasked := self._unused_judge_sentence():
            sentence = f"{self.cell.env.name} compiles it, so no pass fails.{unasked}"
            return PassAnswer(sentence=sentence)
        return None

    def _unchanged(self) -> Result:
        """The result of the cell itself."""
        self.on_step("compiling it unchanged")
        (result,) = run([self.cell], self.context)
        return result

    def _unused_judge_sentence(self) -> str:
        """A sentence about a judge that has no influence on the answer; empty without one."""
        judge = self.criterion
        if not (judge.asks_metric or judge.asks_launches):
            return ""
        return (
            f" The judge `{judge.text}` has no part in this answer: the axis names a pass that"
            " fails, or the first difference between the IR of two compiles."
        )

    def _config(self) -> ConfigAnswer | GrowthAnswer | None:
        """The needs of a failure, or the growth of a slow compile."""
        growth = record_of(GrowthSearch, self, settings=self.grow)
        if self.grow:
            return growth.answer()
        result = self._unchanged()
        is_slow = result.outcome.status is Status.TIMED_OUT or self.criterion.asks_seconds
        if is_slow and sizes(self.cell.spec):
            return evolve(growth, known_outcome=result.outcome).answer()
        return (
            None
            if is_good(result.outcome)
            else settings.find_needs(self.cell, self.context, self.on_step, self.budget)
        )


# --- the last bisect of a project -----------------------------------------------------------------

WORD = "last-bisect"
"""The name of the last bisect's bad ends for commands that take a cell."""

_FILE = "last-bisect.json"


@frozen(kw_only=True)
class BadEnds:
    """The bad ends of the last bisect."""

    cells: tuple[str, ...]
    """The ids of the cells."""
    kernel_files: tuple[str, ...]
    """Absolute paths of the cells' kernel files; empty if the kernel files are those of
    ``matrix.toml``.
    """


def note_bad_ends(answers: Sequence[ReleaseAnswer], selection: Selection) -> None:
    """Save the bad endpoint of every bracket in the project; none if the search found none.

    Raises StoreError.
    """
    ends = (
        probe
        for answer in answers
        if answer.bracket
        for probe in (answer.bracket.before, answer.bracket.after)
    )
    cells = [probe.result.cell.id for probe in ends if probe.judgement is Judgement.BAD]
    files = [str(Path(file).absolute()) for file in selection.patterns.kernel_files]
    noted = BadEnds(cells=tuple(cells), kernel_files=tuple(files))
    path = selection.state / _FILE
    with StoreError.for_os_errors("the bad ends cannot be saved", where=path):
        replace_file(path, json.dumps(unstructure(noted)))


def read_bad_ends(root: Path) -> BadEnds:
    """The bad endpoints that a bisect last saved in the project in ``root``.

    Raises SelectionError if there are none.
    """
    try:
        ends = structure(read_json((root / STATE / _FILE).read_bytes()), BadEnds)
        if "\0" in "".join((*ends.cells, *ends.kernel_files)):
            raise ValueError("a path or an id cannot contain NUL")
    except (OSError, ValueError):
        raise SelectionError(
            "no last bisect is recorded",
            where=WORD,
            hint="Run compat bisect first, or name a cell.",
        ) from None
    if not ends.cells:
        raise SelectionError(
            "the last bisect found no change, so there is no bad end",
            where=WORD,
            hint="Name a cell.",
        )
    return ends
