"""A search for the release in which each kernel changed, on all candidates or on as few as needed.

Kernels share envs and probes. A probe is an ordinary cell and is kept like any other, so a repeated
or wider search does not compile it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from attrs import evolve, frozen
from packaging.version import Version

from compat.bisect.answers import ReleaseAnswer, ReleaseProbe, Transition
from compat.bisect.candidates import ReleaseCandidate
from compat.bisect.criterion import Criterion, RunsProgram
from compat.bisect.judging import with_numbers
from compat.bisect.search import probe_all, search
from compat.engine.run import Interrupted, OnPlan, RunContext, concurrently, run, stored_results
from compat.executors.executor import LocalExecutor
from compat.history.account import Account, Entry, Judgement, account
from compat.history.verdict import points_of
from compat.launch.hosting import Gpu
from compat.model import BuiltEnv, Cell, Env, Result, Specialization, Target
from compat.project import Listener

_ROUND = 4
"""Cells for each slot that are compiled before the next answer."""

Kernels = Sequence[tuple[Specialization, Target]]


@frozen(kw_only=True)
class ReleaseSearch:
    """The parameters of a search, the same for every kernel."""

    candidates: tuple[ReleaseCandidate, ...]
    """The range to search, oldest first."""
    criterion: Criterion
    good: int | None = None
    """The position of an end that was given as good."""
    bad: int | None = None
    fixed: bool = False
    """Look for a fix and not for a regression."""
    every: bool = True
    """Try every candidate, so that no result is assumed."""
    existing: tuple[Version, ...] = ()
    """Every existing release, candidate or not; only if the candidates are in the order of their
    versions.
    """
    gpu: Gpu | None = None
    """The GPU for missing launches, if the criterion needs launches."""

    @property
    def besides(self) -> tuple[Version, ...]:
        """Existing releases that are not candidates."""
        versions = {candidate.version for candidate in self.candidates}
        return tuple(version for version in self.existing if version not in versions)


Obtain = Callable[[Sequence[Env]], Sequence[BuiltEnv]]
"""Returns the envs on disk, after it has built the missing ones."""

Recall = Callable[[Kernels], Sequence[Result]]
"""Returns results of earlier runs for kernels in envs outside of this search; compiles nothing."""


def search_releases(
    kernels: Kernels,
    query: ReleaseSearch,
    context: RunContext,
    obtain: Obtain,
    *,
    listener: Listener | None = None,
    recall: Recall = lambda _: (),
    on_answer: Callable[[ReleaseAnswer], None] = lambda answer: None,
) -> tuple[ReleaseAnswer, ...]:
    """The answer for each of ``kernels``, in their order. One target is searched after the other.

    ``context`` needs no envs: ``obtain`` returns the envs of tried candidates, all missing ones in
    one call. ``listener`` receives the plan, the results and messages about launches, and
    ``on_answer`` each answer as soon as it is known. Raises
    :class:`compat.engine.run.Interrupted`; finished probes are kept.
    """
    listener = listener or Listener()
    total = len(kernels) * sum(len(candidate.envs) for candidate in query.candidates)
    answers: dict[tuple[Specialization, Target], ReleaseAnswer] = {}
    earlier: Sequence[Result] | None = None
    done: list[Cell] = []
    with listener.compiling(total) as note:

        def receive(result: Result) -> None:
            done.append(result.cell)
            note(result)

        tries = _LazyResults(query, context, obtain, listener, receive)
        try:
            for together in _rounds(_by_target(kernels), query, context, tries):
                if query.every:
                    tries.results(together, _ends_first(query))
                if earlier is None:
                    earlier = with_numbers(recall(kernels), query.criterion, context)
                for spec, target in together:
                    own = _of_kernel(query, spec, target, earlier)
                    answers[spec, target] = _answer(spec, target, query, tries, own)
                    on_answer(answers[spec, target])
        except Interrupted as error:
            raise Interrupted(len(done), total if query.every else error.total) from error
    return tuple(answers[kernel] for kernel in kernels)


def _by_target(kernels: Kernels) -> Kernels:
    """The kernels for the first target, then those for the next."""
    order = {
        target: place for place, target in enumerate(dict.fromkeys(target for _, target in kernels))
    }
    return sorted(kernels, key=lambda kernel: order[kernel[1]])


def _rounds(
    kernels: Kernels, query: ReleaseSearch, context: RunContext, tries: _LazyResults
) -> Iterator[Kernels]:
    """Split the kernels into one group per run. The first group has the kernels with known results.

    Small groups give early answers. There is one group of all kernels if a search does not try
    every candidate, if each run would start workers, or if launches are compared within a run.
    """
    stays = context.executor is LocalExecutor and context.idle_timeout > 0
    if not query.every or query.criterion.asks_launches or not stays:
        yield kernels
        return
    missing = tries.to_compile(kernels, _ends_first(query))
    if in_store := [kernel for kernel in kernels if not missing[kernel]]:
        yield in_store
    together: list[tuple[Specialization, Target]] = []
    for kernel in kernels:
        together += [kernel] if missing[kernel] else []
        if sum(missing[member] for member in together) >= _ROUND * context.slots:
            yield together
            together = []
    if together:
        yield together


class _LazyResults:
    """Results by position and kernel, compiled on first use."""

    def __init__(
        self,
        query: ReleaseSearch,
        context: RunContext,
        obtain: Obtain,
        listener: Listener,
        on_result: Callable[[Result], None],
    ) -> None:
        self._candidates, self._criterion, self._gpu = query.candidates, query.criterion, query.gpu
        self._context, self._obtain = context, obtain
        self._listener, self._on_result = listener, on_result
        self._on_plan: OnPlan | None = listener.expecting
        self._envs: dict[str, BuiltEnv] = {}
        self._results: dict[Cell, Result] = {}

    def to_compile(
        self, kernels: Kernels, positions: Sequence[int]
    ) -> Mapping[tuple[Specialization, Target], int]:
        """The number of cells of each kernel without a known result.

        These are all that will be compiled at ``positions``.
        """
        cells, context = self._cells(kernels, positions)
        stored = (
            set() if context.again else {result.cell for result in stored_results(cells, context)}
        )
        missing = [
            cell for cell in cells if cell not in stored and self._envs[cell.env.name].error is None
        ]
        self._listener.expecting(missing, context.forecast(missing))
        self._on_plan = None
        count = Counter((cell.spec, cell.target) for cell in missing)
        return {kernel: count[kernel] for kernel in kernels}

    def _cells(self, kernels: Kernels, positions: Sequence[int]) -> tuple[list[Cell], RunContext]:
        """The cells of ``kernels`` at ``positions``, and a context that has their envs."""
        envs = [env for position in positions for env in self._candidates[position].envs]
        missing = [env for env in envs if env.name not in self._envs]
        if missing:
            self._envs |= {built.env.name: built for built in self._obtain(missing)}
        cells = [
            Cell(env=env, target=target, spec=spec) for env in envs for spec, target in kernels
        ]
        return cells, evolve(self._context, envs=self._envs)

    def results(self, kernels: Kernels, positions: Sequence[int]) -> None:
        """Try all of ``kernels`` at ``positions``, in one run."""
        cells, context = self._cells(kernels, positions)
        new = [cell for cell in cells if cell not in self._results]
        results = run(new, context, self._on_result, self._on_plan)
        results = with_numbers(results, self._criterion, context, self._gpu, self._listener.say)
        self._results |= {result.cell: result for result in results}

    @property
    def width(self) -> int:
        """The number of positions that are worth judging at the same time."""
        return self._context.slots

    def of(
        self, spec: Specialization, target: Target, positions: Sequence[int]
    ) -> dict[int, tuple[Result, ...]]:
        """The results of one kernel, by position. The first result represents its release."""
        self.results([(spec, target)], positions)
        return {
            position: tuple(
                self._results[Cell(env=env, target=target, spec=spec)]
                for env in self._candidates[position].envs
            )
            for position in positions
        }


def _ends_first(query: ReleaseSearch) -> list[int]:
    """Every position, the ends before the positions between them."""
    last = len(query.candidates) - 1
    ends = [end for end in (query.good, query.bad) if end is not None]
    return list(dict.fromkeys([*ends, 0, last, *range(last + 1)]))


def _of_kernel(
    query: ReleaseSearch, spec: Specialization, target: Target, earlier: Sequence[Result]
) -> tuple[Result, ...]:
    """The results of earlier runs for one kernel, on releases that are known to exist."""
    return tuple(
        result
        for result in earlier
        if (result.cell.spec, result.cell.target) == (spec, target)
        and result.cell.env.release in query.existing
    )


def _between(query: ReleaseSearch, earlier: Sequence[Result]) -> tuple[Result, ...]:
    """The results of earlier runs between the ends of the search."""
    first, last = query.candidates[0].version, query.candidates[-1].version
    return tuple(
        result
        for result in earlier
        if (release := result.cell.env.release) is not None and first <= release <= last
    )


def _tested_releases(results: Sequence[Result]) -> frozenset[str]:
    """The releases that results have an answer for."""
    answers = (result for result in results if result.outcome.status.is_answer)
    return frozenset(str(result.cell.env.release) for result in answers)


def _answer(
    spec: Specialization,
    target: Target,
    query: ReleaseSearch,
    tries: _LazyResults,
    earlier: Sequence[Result],
) -> ReleaseAnswer:
    criterion = query.criterion
    probes: dict[int, ReleaseProbe] = {}
    if criterion.needs_bad_end:
        end = (
            query.bad if query.bad is not None else 0 if query.fixed else len(query.candidates) - 1
        )
        for result in tries.of(spec, target, [end])[end]:
            criterion = criterion.about(result.outcome)
    if criterion.needs_every:
        row = tries.of(spec, target, range(len(query.candidates)))
        criterion = criterion.along([*row.values()])

    def ask(positions: Sequence[int]) -> Mapping[int, Judgement]:
        results_at = tries.of(spec, target, positions)
        flat = [result for results in results_at.values() for result in results]
        # The criterion may ask a program, which takes time.
        judgements = concurrently(criterion, flat, tries.width)
        judgement_of = dict(zip((r.cell for r in flat), judgements, strict=True))
        for at, results in results_at.items():
            probes[at] = probe(
                query.candidates[at].label,
                [(result, judgement_of[result.cell]) for result in results],
            )
        return {at: probes[at].judgement for at in positions}

    count = len(query.candidates)
    if query.every:
        history = probe_all(count, ask)
    else:
        history = search(count, ask, good=query.good, bad=query.bad, width=tries.width)
    judged_probes = {position: probes[position] for position in history.judgements}
    labels = [candidate.label for candidate in query.candidates]
    between = _between(query, earlier)
    line = _line(evolve(query, criterion=criterion), judged_probes, between)
    history_account = account((entry for entry, _ in line), by_class=criterion.asks_ok)
    ends = ((query.good, Judgement.GOOD), (query.bad, Judgement.BAD))
    found_probes = tuple(item for _, item in line if item is not None)
    transitions = tuple(_transitions(found_probes, history_account.line))
    return ReleaseAnswer(
        spec=spec,
        target=target,
        criterion=criterion,
        account=history_account,
        searched=tuple(labels),
        probes=found_probes,
        bracket=_bracket(transitions, history_account, fixed=query.fixed),
        transitions=transitions,
        assumed=tuple((labels[first], labels[last]) for first, last in history.assumed_spans),
        elsewhere=_tested_releases(earlier) - _tested_releases(between),
        otherwise=tuple(
            judged_probes[at]
            for at, expected in ends
            if at is not None
            and at in judged_probes
            and judged_probes[at].judgement is not expected
        ),
    )


def probe(
    release: str, judged: Sequence[tuple[Result, Judgement]], *, remembered: bool = False
) -> ReleaseProbe:
    """The joint answer of the envs of one release; unknown if they do not agree.

    The first env with this answer represents the release.
    """
    answers = [
        (result, judgement) for result, judgement in judged if result.outcome.status.is_answer
    ] or list(judged)
    judgements = {judgement for _, judgement in answers if judgement is not Judgement.UNKNOWN}
    unsteady = any(result.outcome.flaky for result, _ in answers) or len(judgements) > 1
    judgement = judgements.pop() if len(judgements) == 1 and not unsteady else Judgement.UNKNOWN
    speaker = next((result for result, verdict in answers if verdict is judgement), answers[0][0])
    return ReleaseProbe(
        release=release,
        result=speaker,
        judgement=judgement,
        others=tuple(result for result, _ in judged if result is not speaker),
        unsteady=unsteady,
        remembered=remembered,
    )


def _line(
    query: ReleaseSearch, judged: Mapping[int, ReleaseProbe], earlier: Sequence[Result]
) -> list[tuple[Entry, ReleaseProbe | None]]:
    """Every known release, in order, with its entry and its probe."""
    remembered = (
        {}
        if isinstance(query.criterion.question, RunsProgram)
        else _earlier_probes(query.criterion, earlier)
    )
    line: list[tuple[Version, ReleaseProbe | None, str]] = []
    for position, candidate in enumerate(query.candidates):
        item = judged.get(position)
        if item is not None and not item.answered:
            item = remembered.get(candidate.version, item)
        line.append((candidate.version, item, candidate.label))
    for version in sorted(query.besides):
        at = next((place for place, (other, *_) in enumerate(line) if other > version), len(line))
        line.insert(at, (version, remembered.get(version), str(version)))
    return [(_entry(label, item), item) for _, item, label in line]


def _earlier_probes(criterion: Criterion, earlier: Sequence[Result]) -> dict[Version, ReleaseProbe]:
    return {
        point.release.version: probe(
            point.release.label,
            [(result, criterion(result)) for result in point.results],
            remembered=True,
        )
        for point in points_of(earlier)
        if point.release.version is not None
    }


def _entry(release: str, probe: ReleaseProbe | None) -> Entry:
    if probe is None:
        return Entry(release=release, tested=False)
    return Entry(
        release=release,
        judgement=probe.judgement,
        outcome=None if probe.judgement is Judgement.UNKNOWN else probe.result.outcome,
        unsteady=probe.unsteady,
        remembered=probe.remembered,
    )


def _bracket(
    transitions: Sequence[Transition], history: Account, *, fixed: bool
) -> Transition | None:
    """The change that the account reports.

    In a search for a fix, it is the newest one, if there is any.
    """
    fixes = [change for change in transitions if change.is_fix]
    if fixed and fixes:
        return fixes[-1]
    ends = (history.bracket.before, history.bracket.after) if history.bracket else None
    return next(
        (change for change in transitions if (change.before.release, change.after.release) == ends),
        None,
    )


def _transitions(probes: Sequence[ReleaseProbe], line: Sequence[str]) -> list[Transition]:
    judged = [item for item in probes if item.judgement is not Judgement.UNKNOWN]
    return [
        Transition(
            before=before,
            after=after,
            untested=tuple(line[line.index(before.release) + 1 : line.index(after.release)]),
        )
        for before, after in pairwise(judged)
        if before.behaviour != after.behaviour
    ]
