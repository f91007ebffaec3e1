"""The record behind every report, and the facts that more than one view derives from it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from pathlib import Path, PurePath

from attrs import field, frozen

from compat import __version__, toolchains
from compat.api.histories import PackedNames
from compat.config.kernel_sources import library_of
from compat.history.account import class_of, spans
from compat.history.foresight import PACE
from compat.history.suspects import SlowSuspect, neighbours, slow_suspects
from compat.history.verdict import (
    NONE_KNOWN,
    Coordinate,
    Existing,
    Point,
    Points,
    Release,
    Verdict,
    coordinate_of,
    disagreements,
    release_of,
)
from compat.model import (
    SOURCE_STAGE,
    BuiltEnv,
    Cell,
    Env,
    Expectation,
    Failure,
    Result,
    Specialization,
    Status,
)
from compat.pairs.records import Pair
from compat.report.summary.compact import FailurePlace, natural, rectangles
from compat.source.closure import roots_of
from compat.text import group_by_key, join_words
from compat.toolchains import known_edits
from compat.toolchains.language import KnownEdit
from compat.tune.records import TunedRecord

_TOLD_APART = (Status.ENV_BROKEN, Status.SOURCE_BROKEN)
"""Statuses with sections of their own: they say nothing about the kernel."""
_KERNELS = 3
"""Kernels of an unimported source that are named."""


@frozen(kw_only=True, slots=False)
class DistinctFailure:
    """One defect: everything that failed with the same fingerprint."""

    id: str
    """A short name within one report: ``F1``, ``F2``, … in the order of the cells."""
    failure: Failure
    """The failure of the cell with the most facts about it."""
    example: Result
    """The result of that cell."""
    statuses: tuple[Status, ...]
    """The statuses of its cells."""
    results: tuple[Result, ...]
    where: tuple[FailurePlace, ...]

    @cached_property
    def to_fix(self) -> tuple[Result, ...]:
        """The cells whose failure class has a known edit, which may not apply or help."""
        return tuple(result for result in self.results if edits_for(result))


@frozen(kw_only=True)
class Surprise:
    """Unexpected cells with the same outcome."""

    got: str
    """Status, with the class if there is one: ``rejected (shape-mismatch)``."""
    declared: str
    failure: str | None
    """The id of the distinct failure."""
    where: FailurePlace
    results: tuple[Result, ...]
    reason: str
    """The reason that the declaration gives for the expected outcome."""


@frozen(kw_only=True)
class Division:
    """Envs with the same Triton that gave different answers, and the place of the results."""

    answers: tuple[tuple[str, str], ...]
    """Env name and its answer."""
    where: FailurePlace


@frozen(kw_only=True)
class BrokenEnv:
    """An env that nothing could be compiled in."""

    env: Env
    message: str
    """The message of the installer or the interpreter."""
    advice: str
    cells: int
    """Number of cells that could not be tried because of it."""


@frozen(kw_only=True)
class UnimportedSource:
    """A file that could not be imported, or has no such kernel, for one reason."""

    kernels: tuple[str, ...]
    """The kernels in the file that could not be loaded."""
    source: str
    """The name of the file, without folders."""
    failure: Failure
    """The failure of the first kernel."""
    releases: str
    """The releases on which the import failed, as runs."""
    cells: int
    """Number of cells that could not be tried because of it."""
    example: Result

    @property
    def failed_first(self) -> str:
        """The first statement that failed and was left out, which is often the cause; or empty."""
        stood_in = self.example.outcome.stood_in
        is_import = self.failure.stage == SOURCE_STAGE
        return next(iter(stood_in.skipped), "") if stood_in and is_import else ""

    @property
    def named_kernels(self) -> str:
        """The kernels in a few words."""
        return join_words(self.kernels, _KERNELS)


@frozen(kw_only=True)
class Report:
    """Everything that one run found.

    The properties are computed once, on first use. None depends on the order of ``results``.
    """

    results: tuple[Result, ...]
    """One result per cell."""
    verdicts: tuple[Verdict, ...]
    """One verdict per specialization and target."""
    envs: tuple[BuiltEnv, ...]
    """The environments that were tried."""
    command: str
    """The command line that made the report."""
    seconds: float
    """Wall time of the run, in seconds."""
    existing: Existing = NONE_KNOWN
    """Every existing release, tested or not."""
    api: PackedNames | None = None
    """The names that the toolchain has in these environments. ``None``: they were never read."""
    options: tuple[str, ...] = ()
    """Options that make a command in the same folder read the same files."""
    limits: tuple[str, ...] = ()
    """Options that give a command the same limits per cell."""
    pending: tuple[Cell, ...] = ()
    """Cells without a result, of a run that is in progress or was stopped."""
    root: str = ""
    """Absolute path of the project. Empty: paths of sources are relative to it."""
    version: str = __version__
    """Version of triton-compat that made the report."""
    sources: Mapping[str, str] = field(factory=dict)
    """Path from :meth:`source_of` → text of the source. Large sources are left out."""
    attachments: Mapping[str, str] = field(factory=dict)
    """Name → content of an artifact of a distinct failure (MLIR reproducer, IR). Text is compressed
    with gzip and encoded as base64.
    """
    helpers: Mapping[str, tuple[str, ...]] = field(factory=dict)
    """Source → other files it imports, as :meth:`source_of` names them. Only for sources with a
    failure in another file.
    """
    variants: Mapping[str, tuple[str, ...]] = field(factory=dict)
    """Kernel → its variants in the order of their declaration. Empty: the file does not say."""

    pairs: tuple[Pair, ...] = ()
    """Pairs of a PyTorch and a Triton release that were tried."""
    shards: tuple[str, ...] = ()
    """Shards that this report holds, such as ``3/8``. Empty: all cells."""
    tuned: tuple[TunedRecord, ...] = ()
    """The configs of kernels that `compat tune` compared on a GPU before."""
    earlier: int = 0
    """Number of cells taken from an earlier report, because nothing they depend on has changed."""

    @cached_property
    def ordered_results(self) -> tuple[Result, ...]:
        """The results by kernel, variant, case, target, release and env."""
        return tuple(in_order(self.results))

    @cached_property
    def releases(self) -> tuple[Release, ...]:
        """Every release that was or will be tried, oldest first, then the forks."""
        coming = (self._release_coming(cell.env) for cell in self.pending)
        by_label = {
            release.label: release
            for release in (*coming, *(release_of(result.built) for result in self.results))
        }
        return tuple(sorted(by_label.values(), key=lambda release: release.order))

    @cached_property
    def counts(self) -> Mapping[Status, int]:
        """Status → number of cells, in the order of :class:`~compat.model.Status`."""
        counter = Counter(result.outcome.status for result in self.results)
        return {status: counter[status] for status in Status if counter[status]}

    @cached_property
    def slow_suspects(self) -> tuple[SlowSuspect, ...]:
        """The cells that are likely slower than on the previous release, the slowest first."""
        if not any(PACE in (result.outcome.metrics or {}) for result in self.results):
            return ()
        return slow_suspects(neighbours(self.results))

    @cached_property
    def was_run(self) -> bool:
        """Whether any kernel was interpreted or launched."""
        return any(result.numbers.checks or result.latency for result in self.results)

    @property
    def failing_pairs(self) -> tuple[Pair, ...]:
        """Pairs that are not ``ok``. All of them are unexpected."""
        return tuple(pair for pair in self.pairs if not pair.ok)

    @cached_property
    def unexpected_results(self) -> tuple[Result, ...]:
        """Every cell whose outcome is not as declared, including broken envs and lost answers."""
        return tuple(result for result in self.ordered_results if not result.expected)

    @property
    def cached_count(self) -> int:
        """Number of cells read from the store."""
        return sum(result.cached for result in self.results)

    @cached_property
    def failures(self) -> tuple[DistinctFailure, ...]:
        """Each distinct defect once.

        :attr:`broken_envs` and :attr:`unimported_sources` have the failures that say nothing about
        a kernel.
        """
        groups: dict[str, list[Result]] = defaultdict(list)
        for result in self.ordered_results:
            if result.outcome.failure and result.outcome.status not in _TOLD_APART:
                groups[result.outcome.failure.fingerprint].append(result)
        return tuple(
            self._distinct(f"F{number}", group) for number, group in enumerate(groups.values(), 1)
        )

    @cached_property
    def failure_ids(self) -> Mapping[str, str]:
        """Fingerprint → id."""
        return {distinct.failure.fingerprint: distinct.id for distinct in self.failures}

    @property
    def edits_known(self) -> list[str]:
        """Ids of the failures whose class has a known edit. The edits were not compiled."""
        return [distinct.id for distinct in self.failures if distinct.to_fix]

    @cached_property
    def surprises(self) -> tuple[Surprise, ...]:
        """Unexpected cells, grouped by outcome.

        See :attr:`broken_envs` and :attr:`unimported_sources` for the rest.
        """
        groups: dict[tuple[str, ...], list[Result]] = defaultdict(list)
        for result in self.unexpected_results:
            if result.outcome.status not in _TOLD_APART:
                spec, failure = result.cell.spec, result.outcome.failure
                declared, got = expectation_words(result.expectation), came_out_as(result)
                groups[
                    spec.kernel, spec.variant, declared, got, failure.fingerprint if failure else ""
                ].append(result)
        return tuple(
            Surprise(
                got=got,
                declared=declared,
                failure=self.failure_ids.get(fingerprint),
                where=where,
                results=tuple(group),
                reason=next((r.expectation.reason for r in group if r.expectation), ""),
            )
            for (_, _, declared, got, fingerprint), group in groups.items()
            for where in self.where(group)
        )

    @cached_property
    def broken_envs(self) -> tuple[BrokenEnv, ...]:
        """Environments that could not be built, or cannot import their toolchain."""
        cells: dict[str, list[Result]] = defaultdict(list)
        for result in self.ordered_results:
            if result.outcome.status is Status.ENV_BROKEN:
                cells[result.cell.env.name].append(result)
        envs = {built.env.name: built for built in self.envs}
        names = sorted(
            {*cells, *(name for name, built in envs.items() if built.error)}, key=natural
        )
        return tuple(_broken_env(envs.get(name), cells[name]) for name in names)

    @cached_property
    def unimported_sources(self) -> tuple[UnimportedSource, ...]:
        """Kernel sources that could not be loaded, by reason."""
        groups: dict[tuple[str, str], list[Result]] = defaultdict(list)
        for result in self.ordered_results:
            if result.outcome.status is Status.SOURCE_BROKEN and result.outcome.failure:
                spec, failure = result.cell.spec, result.outcome.failure
                groups[spec.source, failure.fingerprint].append(result)
        return tuple(self._unimported_source(group) for group in groups.values())

    @cached_property
    def divisions(self) -> tuple[Division, ...]:
        """Releases whose environments gave different answers."""
        groups: dict[tuple[tuple[tuple[str, str], ...], str], list[Result]] = defaultdict(list)
        for noted in disagreements(self.ordered_results):
            results = (
                r
                for r in self.by_coordinate[noted.coordinate]
                if release_of(r.built).label == noted.release
            )
            groups[noted.answers, noted.release] += results
        return tuple(
            Division(answers=answers, where=where)
            for (answers, _), group in groups.items()
            for where in self.where(group)
        )

    @cached_property
    def by_coordinate(self) -> Mapping[Coordinate, tuple[Result, ...]]:
        """(Kernel, variant, case, target) → results, in order."""
        return group_by_key((_coordinate(result), result) for result in self.ordered_results)

    @cached_property
    def verdict_of(self) -> Mapping[Coordinate, Verdict]:
        """(Kernel, variant, case, target) → verdict. Empty while the run is in progress."""
        return {verdict.coordinate: verdict for verdict in self.verdicts}

    @property
    def points(self) -> Mapping[Coordinate, tuple[Point, ...]]:
        """(Kernel, variant, case, target) → its releases, oldest first, then forks."""
        return Points(self.by_coordinate)

    @cached_property
    def pending_places(self) -> frozenset[tuple[Coordinate, str]]:
        """(Kernel, variant, case, target) and release label of each cell without a result."""
        return frozenset(
            (coordinate_of(cell.spec, cell.target), self._release_coming(cell.env).label)
            for cell in self.pending
        )

    def _release_coming(self, env: Env) -> Release:
        """The release of an env that has pending cells: the installed one, if it is known."""
        return release_of(self._built.get(env.name, BuiltEnv(env=env)))

    @cached_property
    def _built(self) -> Mapping[str, BuiltEnv]:
        every = (*self.envs, *(result.built for result in self.results))
        return {built.env.name: built for built in every}

    @cached_property
    def extent(self) -> Mapping[tuple[str, str], tuple[tuple[str, ...], tuple[str, ...]]]:
        """(Kernel, variant) → its cases and targets, tried or planned."""
        axes: dict[tuple[str, str], tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
        for kernel, variant, case, target in (
            *self.by_coordinate,
            *(coordinate for coordinate, _ in self.pending_places),
        ):
            axes[kernel, variant][0].add(case)
            axes[kernel, variant][1].add(target)
        return {
            key: (tuple(sorted(cases, key=natural)), tuple(sorted(targets, key=natural)))
            for key, (cases, targets) in axes.items()
        }

    @property
    def toolchains(self) -> str:
        """Titles of the toolchains whose releases were tried."""
        return (
            " and ".join(dict.fromkeys(verdict.toolchain for verdict in self.verdicts))
            or toolchains.DEFAULT.title
        )

    @cached_property
    def line(self) -> tuple[str, ...]:
        """Every existing release of these toolchains, oldest first, without forks."""
        by_version = {
            release.version: release.label
            for release in self.releases
            if not release.fork and release.version
        }
        toolchain_names = {
            cell.env.toolchain
            for cell in (*self.pending, *(result.cell for result in self.results))
        }
        existing = (version for name in toolchain_names for version in self.existing.get(name, ()))
        labels = {**{version: str(version) for version in existing}, **by_version}
        return tuple(labels[version] for version in sorted(labels))

    @cached_property
    def specs(self) -> tuple[Specialization, ...]:
        """Every specialization that was tried, in order."""
        return tuple(dict.fromkeys(result.cell.spec for result in self.ordered_results))

    def source_of(self, spec: Specialization) -> str:
        """Return the path of a kernel's source.

        It is relative to the project, with slashes, if it lies inside, and otherwise absolute.
        """
        return path_in(self.root, spec.source)

    def spans(self, chosen: Collection[str]) -> str:
        """Return releases, by label, as runs of neighbours.

        A run never crosses a release that was not tried, and never contains a fork. The text says
        so if the runs cover all releases, or all that were tried.
        """
        forks = [
            release.label for release in self.releases if release.fork and release.label in chosen
        ]
        text = ", ".join(part for part in (spans(chosen, self.line), *forks) if part)
        if not len(chosen) == len(self.releases) > 1:
            return text
        existing = len(self.line) + len(forks)
        return f"{text} (all)" if existing == len(chosen) else f"{text} (all tested)"

    def where(self, results: Iterable[Result]) -> tuple[FailurePlace, ...]:
        """Return the variants, cases, targets and releases of ``results``, in compact form."""
        line = [release.label for release in self.releases]
        places: dict[tuple[str, str], dict[tuple[str, str], set[str]]] = defaultdict(
            lambda: defaultdict(set)
        )
        for result in results:
            kernel, variant, case, target = _coordinate(result)
            places[kernel, variant][case, target].add(release_of(result.built).label)
        return tuple(
            FailurePlace(
                kernel=kernel,
                variant=variant,
                cases=() if cases == self.extent[kernel, variant][0] else cases,
                targets=targets,
                releases=self.spans(releases),
            )
            for (kernel, variant), pairs in places.items()
            for releases in sorted(
                {frozenset(labels) for labels in pairs.values()},
                key=lambda some: sorted(map(line.index, some)),
            )
            for cases, targets in rectangles(
                pair for pair, labels in pairs.items() if labels == releases
            )
        )

    def _unimported_source(self, group: list[Result]) -> UnimportedSource:
        example = group[0]
        assert example.outcome.failure
        return UnimportedSource(
            kernels=tuple(dict.fromkeys(result.cell.spec.kernel for result in group)),
            source=PurePath(example.cell.spec.source).name or example.cell.spec.kernel,
            failure=example.outcome.failure,
            releases=self.spans({release_of(result.built).label for result in group}),
            cells=len(group),
            example=example,
        )

    def _distinct(self, name: str, group: list[Result]) -> DistinctFailure:
        example = max(group, key=_fact_count)
        assert example.outcome.failure
        return DistinctFailure(
            id=name,
            failure=example.outcome.failure,
            example=example,
            statuses=tuple(sorted({result.outcome.status for result in group})),
            results=tuple(group),
            where=self.where(group),
        )


def path_in(root: str, path: str) -> str:
    """A path from the folder ``root``, with slashes, if it lies in there.

    Otherwise it is the absolute path, or empty if there is no path.
    """
    file = PurePath(path)
    inside = root and file.is_relative_to(root)
    return (file.relative_to(root) if inside else file).as_posix() if path else ""


def place_of(result: Result) -> tuple[str, int] | None:
    """The file that a failure points at, without folders, and the line there."""
    failure = result.outcome.failure
    name, _, number = (failure.location or "").rpartition(":") if failure else ("", "", "")
    return (
        (name, int(number))
        if name and number.isascii() and number.isdigit() and len(number) < 10
        else None
    )


def expectation_words(expectation: Expectation | None) -> str:
    """The declared expectation in words, such as ``rejected (api-removed)``.

    It is ``ok, or rejected`` for a failure that need not happen.
    """
    if expectation is None:
        return "ok"
    kind = f" ({expectation.failure_class})" if expectation.failure_class else ""
    return f"{'' if expectation.strict else 'ok, or '}{expectation.status}{kind}"


def came_out_as(result: Result) -> str:
    """The outcome in the same words as :func:`expectation_words`.

    If a cell compiles and a check of its numbers failed, it is the status of that check.
    """
    outcome = result.outcome
    if (
        outcome.status is Status.OK
        and not outcome.failure
        and not outcome.flaky
        and (check := result.numbers.trouble)
    ):
        return f"{check.status} ({check.device or 'in the interpreter'})"
    text = f"{outcome.status} ({class_of(outcome)})" if outcome.failure else str(outcome.status)
    return f"{text}, flaky: {', '.join(outcome.attempts)}" if outcome.flaky else text


def _fact_count(result: Result) -> int:
    """The number of facts in a failure. The first result with the most facts is the example."""
    failure = result.outcome.failure
    assert failure
    place = (failure.pass_, failure.op, failure.location)
    return sum(map(bool, (*place, failure.reproducer, failure.excerpt)))


def _broken_env(built: BuiltEnv | None, cells: list[Result]) -> BrokenEnv:
    """The facts of a broken env, from its record and from its cells.

    There is a record or at least one cell.
    """
    failure = next((result.outcome.failure for result in cells if result.outcome.failure), None)
    record = built or cells[0].built
    return BrokenEnv(
        env=record.env,
        message=record.error or (failure.excerpt if failure else ""),
        advice=failure.advice if failure else "",
        cells=len(cells),
    )


# --- order of the cells ---------------------------------------------------------------------------


def _coordinate(result: Result) -> Coordinate:
    return coordinate_of(result.cell.spec, result.cell.target)


def in_order(results: Iterable[Result]) -> Iterator[Result]:
    """The results by kernel, variant, case, target, release and env.

    One row after the other is sorted, because the sort keys of all cells take much memory.
    """
    rows = group_by_key((_coordinate(result), result) for result in results)
    for _, alike in groupby(sorted(rows, key=row_key), key=row_key):
        yield from sorted(
            (result for coordinate in alike for result in rows[coordinate]), key=_key_in_row
        )


def row_key(coordinate: Coordinate) -> tuple[object, ...]:
    """The key that sorts the rows of a report."""
    return tuple(map(natural, coordinate))


def _key_in_row(result: Result) -> tuple[object, ...]:
    return release_of(result.built).order, natural(result.cell.env.name)


# --- shards ---------------------------------------------------------------------------------------


@frozen(kw_only=True)
class ShardShare:
    """The part of a matrix that one of several reports has."""

    shards: tuple[str, ...]
    """The shards, as in :attr:`compat.report.summary.record.Report.shards`."""
    envs: frozenset[str]
    """The names of its envs. Shards of other envs belong to another matrix.

    It is empty for a shard without cells.
    """


def shards_text(report: Report) -> str:
    """The part of all cells that a report is about, in words.

    It is empty unless the report is known to be only a part.
    """
    if not report.shards:
        return ""
    noun = "shard" if len(report.shards) == 1 else "shards"
    return f"{noun} {join_words(report.shards)} of the cells"


def shards_together(shares: Sequence[ShardShare]) -> tuple[str, ...]:
    """The shards that several reports have together.

    The result is empty if the reports have all M of M shards of each matrix.
    """
    apart = [share for share in shares if len(share.shards) == 1]
    remaining = {shard for share in shares if len(share.shards) > 1 for shard in share.shards}
    for of, envs in dict.fromkeys(
        (_shard_count(share), share.envs) for share in apart if share.envs
    ):
        numbers = {
            _shard_number(share)
            for share in apart
            if _shard_count(share) == of and share.envs in (envs, frozenset())
        }
        if len(numbers) < of:
            remaining |= {f"{number}/{of}" for number in numbers}
    if not any(share.envs for share in apart):
        counts = Counter(map(_shard_count, apart))
        remaining |= {
            share.shards[0] for share in apart if counts[_shard_count(share)] < _shard_count(share)
        }
    return tuple(sorted(remaining, key=natural))


def _shard_number(share: ShardShare) -> int:
    return int(share.shards[0].partition("/")[0])


def _shard_count(share: ShardShare) -> int:
    return int(share.shards[0].partition("/")[2])


def edits_for(result: Result) -> tuple[KnownEdit, ...]:
    """The edits that ``compat fix`` tries on a cell: the known edits for its failure.

    There are none if its source belongs to a library, or if the import of another file failed,
    because edits change only the kernel's own file.
    """
    spec, failure = result.cell.spec, result.outcome.failure
    source, edits = Path(spec.source), known_edits(failure, result.cell.env.toolchain)
    if not edits or failure is None or _is_elsewhere(failure, source):
        return ()
    roots = tuple(map(Path, spec.roots)) or roots_of(source)
    return () if spec.package or library_of(source, roots) else edits


def _is_elsewhere(failure: Failure, source: Path) -> bool:
    """Whether the import of another file than the kernel's own failed."""
    return failure.stage == SOURCE_STAGE and (failure.location or source.name).rpartition(":")[
        0
    ] not in ("", source.name)
