"""The matrix: compile every chosen cell, report on all of them, and write the report's folder.

In: a :class:`compat.project.Selection`. Out: a :class:`~compat.report.summary.record.Report`, from
which all report formats are made; and :class:`WrittenReport`, its files. A run that tried only some
of the cells replaces these in the existing report, and keeps the others that are still valid.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from attrs import evolve, frozen

from compat import toolchains
from compat.api.histories import PackedNames
from compat.api.inspection import stored_names
from compat.diagnosis.classify import broken_env_outcome
from compat.diagnosis.numbers import with_agreement
from compat.engine import plan
from compat.engine.interpreting import interpret, interpretable, with_check, with_interpreted
from compat.engine.run import (
    Interrupted,
    RunContext,
    existing_releases,
    recall,
    result_of,
    run,
    stored_results,
)
from compat.errors import CompatError, EnvError, SelectionError, StoreError
from compat.files import alone_in
from compat.history.verdict import Existing, Verdict, verdicts
from compat.interruption import Stopped
from compat.launch.merging import with_launched
from compat.launch.sharing import Launches
from compat.model import BuiltEnv, Cell, Env, Result, Specialization, Status, Target
from compat.pairs.pairing import is_pair, pairs_of
from compat.pairs.records import Pair
from compat.project import Listener, Obtain, Patterns, Selection, no_cells
from compat.report.document import enclosing
from compat.report.folder import write_reports
from compat.report.loading import load_report
from compat.report.summary.record import Report, path_in, place_of
from compat.report.views.tune import record_of_answer
from compat.source.closure import helpers_of
from compat.tune.records import TunedRecord
from compat.tune.tuning import known_answers


class MatrixInterrupted(Interrupted):
    """The run was stopped early; :attr:`report` has the results so far."""

    def __init__(self, report: Report) -> None:
        super().__init__(len(report.results), len(report.results) + len(report.pending))
        self.report = report


def run_matrix(
    selection: Selection,
    context: RunContext,
    obtain: Obtain | None = None,
    listener: Listener | None = None,
    *,
    command: str = "compat matrix",
    launches: Launches | None = None,
) -> Report:
    """Compile every cell of a selection that is not known yet, and report on all releases.

    The newest release is compiled first. If environments are missing, its cells are compiled before
    the other environments are built. Verdicts also use results of earlier runs on other releases.

    Args:
        selection: The cells.
        context: How to compile; needs no environments.
        obtain: Called for environments, and may build them. ``None``: use those that exist; the
            report lists the others as broken.
        listener: Receives progress and each result.
        command: The command line that the report names as its origin.
        launches: Launches in progress on other machines. The function waits for them at the end.

    Raises:
        SelectionError: The selection has no cell.
        MatrixInterrupted: The run was stopped early. Finished cells are kept.
        StoreError: Results cannot be kept.
        MachineError: The machine lacks a resource, such as disk or memory. Finished cells are kept.
    """
    if not selection.shard and not selection.cells and not _pairs(selection, selection.envs):
        raise no_cells(selection)
    context = context.with_envs(())
    return _Run(
        selection, context, obtain or selection.read_envs, listener or Listener(), command, launches
    ).complete()


def _report_with(
    report: Report,
    more: Sequence[Result],
    pairs: tuple[Pair, ...],
    every: Selection,
    context: RunContext,
) -> Report:
    """Return the report of a run, extended with earlier results and with these pairs.

    ``more`` are the earlier results. ``every`` is a selection of all kernels of the results.
    """
    results = [*report.results, *more]
    selection = evolve(
        every,
        envs=tuple(dict.fromkeys(result.cell.env for result in results)),
        targets=tuple(dict.fromkeys(result.cell.target for result in results)),
        specs=tuple(dict.fromkeys(result.cell.spec for result in results)),
        all_shards=every.specs,
    )
    context = context.with_envs(result.built for result in results)
    run = _Run(selection, context, selection.read_envs, Listener(), report.command, None)
    run.cells, run.results, run.pairs = tuple(result.cell for result in results), results, pairs
    run.began, run.started = run.began - report.seconds, run.started - report.seconds
    return evolve(run.report(), earlier=len(more))


def _pairs(selection: Selection, envs: Iterable[Env]) -> tuple[Env, ...]:
    """The envs that the run tries as pairs."""
    shard = selection.shard
    return tuple(
        env
        for env in envs
        if selection.pairs and is_pair(env) and (shard is None or shard.has_pair(env))
    )


class _Run:
    """One run of the matrix: plan → provide envs → run → account → report.

    The caller has made the selection.
    """

    def __init__(
        self,
        selection: Selection,
        context: RunContext,
        obtain: Obtain,
        listener: Listener,
        command: str,
        launches: Launches | None,
    ) -> None:
        self.selection, self.context, self.obtain = selection, context, obtain
        self.listener, self.command, self.launches = listener, command, launches
        self.began, self.started = time.monotonic(), time.time()
        self.cells = plan.newest_first(selection.cells)
        self.results: list[Result] = []
        self.pairs: tuple[Pair, ...] = ()

    def complete(self) -> Report:
        """Run everything, and return the report. Raises MatrixInterrupted."""
        try:
            with self.listener.compiling(len(self.cells), self.cells) as note:
                self._compile_portions(note)
            if pairs := _pairs(self.selection, self.selection.envs):
                built = tuple(
                    self.context.envs[env.name] for env in pairs if env.name in self.context.envs
                )
                self.pairs = pairs_of(
                    built, self.selection, self.listener, again=self.context.again
                )
            if self.launches is not None:
                with self.listener.step("launching") as show_progress:
                    self.launches.wait(show_progress)
            return self.report()
        except Stopped as stopped:
            raise MatrixInterrupted(self.report()) from stopped

    def _compile_portions(self, note: Callable[[Result], None]) -> None:
        first, rest = self._plan()
        try:
            self._compile(first, first, note)
        except EnvError:
            if not rest:
                raise
            # Envs that cannot be built are not a reason to leave out the others.
            self._compile((*first, *rest), (*first, *rest), note)
        else:
            # The first envs are passed too, because an unbuilt env is not an error beside built
            # ones.
            self._compile(rest, (*first, *rest), note)

    def _compile(
        self, envs: Sequence[Env], all_envs: Sequence[Env], note: Callable[[Result], None]
    ) -> None:
        """Compile the cells of some envs.

        ``all_envs`` are the envs to provide, ``envs`` among them.
        """
        if envs:  # a shard may have nothing to try
            self._provide(all_envs)
            self._interpret(self._run([cell for cell in self.cells if cell.env in envs], note))

    def _plan(self) -> tuple[Sequence[Env], Sequence[Env]]:
        """The envs to compile in first, and the envs after them, in the order of their cells.

        If all envs are built, all of them come first. Otherwise the envs of the newest release come
        first, with the undeclared envs. So the program knows whether the releases of the undeclared
        envs exist before it compiles anything.
        """
        cells = (cell.env for cell in self.cells)
        order = tuple(dict.fromkeys((*cells, *self.selection.envs)))
        if not self.cells and not _pairs(self.selection, order):
            return (), ()  # a shard that has nothing to try
        declared_names = self.selection.config.declared_names
        newest = tuple(
            env
            for env in order
            if env.release == order[0].release or env.name not in declared_names
        )
        if len(newest) < len(order) and any(
            self.selection.look_at(env).error is not None for env in order
        ):
            return newest, tuple(env for env in order if env not in newest)
        return order, ()

    def _provide(self, envs: Sequence[Env]) -> None:
        """Add envs to the context, after missing ones were built if allowed. Raises EnvError."""
        provided = self.obtain(self.selection.config.path, envs)
        self.context = self.context.with_envs((*self.context.envs.values(), *provided))

    def _run(self, cells: Sequence[Cell], note: Callable[[Result], None]) -> Sequence[Result]:
        """Run some cells, and keep each result as it arrives. Raises Stopped."""

        def keep(result: Result) -> None:
            self.results.append(result)
            note(result)

        return run(cells, self.context, keep, self.listener.expecting)

    def _interpret(self, results: Sequence[Result]) -> None:
        """Add the interpreter's checks to the results of built cells that it can run."""
        built = [result.cell for result in results if result.outcome.status is Status.OK]
        if any(interpretable(cell, self.context.envs[cell.env.name]) for cell in built):
            with self.listener.step("checking numbers in the interpreter") as show:
                checks = interpret(
                    built, self.context, lambda done, total: show(f"{done:,} of {total:,} kernels")
                )
            self.results = [with_check(result, checks.get(result.cell)) for result in self.results]

    def report(self) -> Report:
        """Return the report on the results so far.

        Verdicts also use the results of earlier runs on other releases.
        """
        selection = self.selection
        order = plan.order_of(selection.envs, selection.all_targets, selection.specs)
        results = self._with_launches(sorted(self.results, key=lambda result: order(result.cell)))
        envs = tuple(
            self.context.envs[env.name] for env in selection.envs if env.name in self.context.envs
        )
        existing, accounts = self._account(results, envs)
        report = Report(
            results=results,
            verdicts=accounts,
            existing=existing,
            envs=envs,
            command=self.command,
            seconds=time.monotonic() - self.began,
            options=selection.options,
            limits=tuple(self._limits()),
            pending=_without(self.cells, results) if len(results) < len(self.cells) else (),
            root=str(selection.root.resolve()),
            variants=_kernel_variants(selection.all_shards or selection.specs),
            shards=(str(shard),) if (shard := selection.shard) and shard.of > 1 else (),
            api=self._names(envs, existing),
            helpers=_helpers(results, str(selection.root.resolve())),
            pairs=self.pairs,
            tuned=self._tuning_records(results),
        )
        return enclosing(report, self._source, self._artifact)

    def _account(
        self, results: Sequence[Result], envs: Sequence[BuiltEnv]
    ) -> tuple[Existing, tuple[Verdict, ...]]:
        """Return the releases that exist, and the verdicts of these results.

        The verdicts also use the results of earlier runs on other releases.
        """
        existing = existing_releases(self.selection.config)
        earlier = recall(self.selection.kernels, self.context, self.selection.config, besides=envs)
        return existing, verdicts(results, remembered=earlier, existing=existing)

    def _with_launches(self, results: Sequence[Result]) -> tuple[Result, ...]:
        """Add stored launches to results, and compare these launches with each other."""
        if not any(result.outcome.has_code for result in results):
            return tuple(results)
        return tuple(with_agreement(with_launched(results, self.context.store)))

    def _tuning_records(self, results: Sequence[Result]) -> tuple[TunedRecord, ...]:
        """The answers of `compat tune` for kernels that were launched."""
        if not any(result.numbers.gpu for result in results):
            return ()
        return tuple(map(record_of_answer, known_answers(results, self.context.store)))

    def _source(self, path: str) -> str | None:
        """The text of a kernel's source; ``None`` if it changed since the run began or is gone."""
        source = Path(path)
        try:
            return (
                source.read_text(encoding="utf-8")
                if source.stat().st_mtime <= self.started
                else None
            )
        except (OSError, ValueError):
            return None

    def _artifact(self, name: str) -> str | None:
        """The text of a stored artifact, without the paths of this machine."""
        # This imports all code that verifies scripts, and few failures have artifacts.
        from compat.repro.verify import without_places

        data = self.context.store.artifact(name)
        return without_places(data.decode(errors="replace")) if data is not None else None

    def _names(self, envs: Sequence[BuiltEnv], existing: Existing) -> PackedNames | None:
        """The API names of the envs' toolchain, if an earlier command stored them."""
        toolchain = envs[0].env.toolchain if envs else ""
        cache = self.selection.config.env_cache()
        return stored_names(envs, existing.get(toolchain, ()), cache)

    def _limits(self) -> Iterator[str]:
        """Yield the option for the run's time limit, if it differs from that of ``matrix.toml``."""
        if (deadline := self.context.limits.deadline) != self.selection.config.deadline:
            yield from ("--deadline", f"{deadline:g}")


def _without(cells: Iterable[Cell], results: Iterable[Result]) -> tuple[Cell, ...]:
    """The cells without a result."""
    done = {result.cell for result in results}
    return tuple(cell for cell in cells if cell not in done)


def _kernel_variants(specs: Sequence[Specialization]) -> dict[str, tuple[str, ...]]:
    """Kernel → its variants, in the order of the kernel files."""
    variants_by_kernel: dict[str, dict[str, None]] = defaultdict(dict)
    for spec in specs:
        variants_by_kernel[spec.kernel][spec.variant] = None
    return {kernel: tuple(variants) for kernel, variants in variants_by_kernel.items()}


def _helpers(results: Sequence[Result], root: str) -> dict[str, tuple[str, ...]]:
    """Map each source whose failure is in another file to the files that it imports."""
    places = ((result.cell.spec, place_of(result)) for result in results)
    elsewhere = {spec for spec, place in places if place and place[0] != Path(spec.source).name}
    return {
        path_in(root, spec.source): tuple(path_in(root, str(path)) for path in _helper_files(spec))
        for spec in elsewhere
    }


def _helper_files(spec: Specialization) -> tuple[Path, ...]:
    return helpers_of(Path(spec.source), [Path(root) for root in spec.roots])


# --- the folder that a run writes its report into -------------------------------------------------


_LONGEST_NAME = 100
"""Characters of the name of a folder for the report of some kernel files."""


@frozen(kw_only=True)
class WrittenReport:
    """The files of a report, and what happened to the earlier report."""

    report: Report
    """The content of the files. After a narrowed run it also has cells of the earlier report."""
    files: tuple[Path, ...]
    dropped: int = 0
    """Cells of the earlier report that the new one leaves out, because a dependency has changed or
    is missing.
    """
    replaced: str = ""
    """The command of the earlier report, if it was about other kernel files and is overwritten."""
    beside: Path | None = None
    """The folder of an earlier report about other kernel files, which stays. ``files`` are in a
    folder below it.
    """


def update_reports(
    report: Report, selection: Selection, context: RunContext, folder: Path | None = None
) -> WrittenReport:
    """Write the report of a run into a folder, by default into ``reports`` of the project.

    A run that tried only some of the cells keeps the other cells of the existing report that are
    still valid. It reads them from the store again, with keys over all that they depend on. An
    existing report about other kernel files stays, and the new report goes into a folder below it,
    unless ``folder`` is given. Raises StoreError if the folder cannot be written.
    """
    place = folder or selection.root / "reports"
    files = _kernel_files(selection)
    with _alone_in(place):
        before = _before(place, selection)
        if (
            before is None
            or _kernel_files(before) == files
            or _is_of_project(before, report, selection)
        ):
            return _update(before, report, selection, context, place)
        if folder is not None or not files:
            return WrittenReport(
                report=report, files=write_reports(report, place), replaced=before.command
            )
    name = re.sub(r"[^\w.+=]+", "-", "-".join(files)).strip("-.")[:_LONGEST_NAME]
    with _alone_in(place / name):
        before = _before(place / name, selection)
        return evolve(_update(before, report, selection, context, place / name), beside=place)


def _update(
    before: Report | None,
    new_report: Report,
    selection: Selection,
    context: RunContext,
    place: Path,
) -> WrittenReport:
    if before is None:
        return WrittenReport(report=new_report, files=write_reports(new_report, place))
    report, dropped = _with_cells_of(before, new_report, selection, context)
    return WrittenReport(report=report, files=write_reports(report, place), dropped=dropped)


def _before(folder: Path, selection: Selection) -> Report | None:
    """The existing report in a folder, if the run must not simply replace it.

    A shard replaces it, and so does a run of everything that ``matrix.toml`` declares.
    """
    patterns = selection.patterns
    if selection.shard or not any(
        (_is_narrowed(patterns), patterns.kernel_files, patterns.packages)
    ):
        return None
    try:
        with (folder / "matrix.json").open("rb") as file:
            report = load_report(file)
    except (OSError, StoreError):
        return None
    return (
        report
        if _is_narrowed(patterns) or _kernel_files(report) != _kernel_files(selection)
        else None
    )


def _is_narrowed(patterns: Patterns) -> bool:
    """Whether patterns choose only some of the cells of the kernel files and ``matrix.toml``."""
    return any(
        (patterns.envs, patterns.targets, patterns.kernels, patterns.variants, patterns.cases)
    )


def _kernel_files(chosen: Report | Selection) -> tuple[str, ...]:
    """The named kernel files and libraries; none if ``matrix.toml`` names them."""
    values = zip(chosen.options[::2], chosen.options[1::2], strict=False)
    return tuple(sorted(value for option, value in values if option != "--matrix"))


def _is_of_project(before: Report, report: Report, selection: Selection) -> bool:
    """Whether the earlier report is about the kernel files that ``matrix.toml`` names.

    These files must also have all kernels of the new report, because a run may name other files.
    """
    if _kernel_files(before):
        return False
    try:
        return set(report.specs) <= set(_every(selection, before).specs)
    except CompatError:
        return False


def _every(selection: Selection, before: Report) -> Selection:
    """All kernels of the files that an earlier report was made from.

    Raises ConfigError and SelectionError.
    """
    narrowing: dict[str, tuple[str, ...]] = {"kernels": (), "variants": (), "cases": ()}
    if not _kernel_files(before):
        narrowing |= {"kernel_files": (), "packages": ()}
    return selection.with_patterns(**narrowing)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Lock a folder, so that one run at a time reads its report and writes it again."""
    with ExitStack() as stack:
        with suppress(OSError):  # the code that writes there reports it
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(alone_in(folder))
        yield


def _with_cells_of(
    before: Report, report: Report, selection: Selection, context: RunContext
) -> tuple[Report, int]:
    """Add the valid cells of the earlier report to a run's report, and count the invalid ones.

    Cells of the run itself replace those of the earlier report.
    """
    new_ids = {result.cell.id for result in report.results}
    others = [result for result in before.results if result.cell.id not in new_ids]
    every = _every(selection, before)
    envs = {built.env.name: built for built in (*_envs_of(others, selection), *report.envs)}
    context = context.with_envs(tuple(envs.values()))
    specs = {(spec.kernel, spec.variant, spec.case): spec for spec in (*every.specs, *report.specs)}
    now = ((result, _cell_now(result.cell, envs, specs, every.config.targets)) for result in others)
    remaining = [(result, cell) for result, cell in now if cell is not None]
    broken = [
        cell
        for result, cell in remaining
        if result.outcome.status is Status.ENV_BROKEN and envs[cell.env.name].error
    ]
    there = [cell for _, cell in remaining if envs[cell.env.name].error is None]
    held = stored_results(there, evolve(context, again=False), imported=False)
    valid_results = [
        *with_interpreted(held, context.store),
        *(_broken_env_result(cell, envs[cell.env.name]) for cell in broken),
    ]
    return _report_with(
        report, valid_results, _pairs_that_hold(before, report, envs), every, context
    ), len(others) - len(valid_results)


def _cell_now(
    cell: Cell,
    envs: Mapping[str, BuiltEnv],
    specs: Mapping[tuple[str, str, str], Specialization],
    targets: Iterable[Target],
) -> Cell | None:
    """A cell of an earlier run as the project declares it now; ``None`` if it no longer does."""
    own = (cell.target.toolchain, cell.target.name)
    built = envs.get(cell.env.name)
    target = next((target for target in targets if (target.toolchain, target.name) == own), None)
    spec = specs.get((cell.spec.kernel, cell.spec.variant, cell.spec.case))
    if built is None or target is None or spec is None:
        return None
    return next(toolchains.cells(built.env, spec, (target,)), None)


def _broken_env_result(cell: Cell, built: BuiltEnv) -> Result:
    return result_of(cell, built, broken_env_outcome(built.error or "", built.env.toolchain))


def _envs_of(results: Iterable[Result], selection: Selection) -> Iterator[BuiltEnv]:
    """The current state of the envs of an earlier run's results.

    Envs that are no longer declared are left out.
    """
    for name in dict.fromkeys(result.cell.env.name for result in results):
        with suppress(SelectionError):
            yield selection.look_at(selection.config.env(name))


def _pairs_that_hold(
    before: Report, report: Report, envs: Mapping[str, BuiltEnv]
) -> tuple[Pair, ...]:
    """The pairs of a run, and those of the earlier report whose envs have not changed."""
    digests = (
        {built.env.name: built.digest for built in before.envs}
        if before.version == report.version
        else {}
    )
    new_pairs = {(pair.env, pair.release) for pair in report.pairs}
    earlier_pairs = (
        pair
        for pair in before.pairs
        if (pair.env, pair.release) not in new_pairs and pair.error is None and pair.env in envs
    )
    return (
        *report.pairs,
        *(
            evolve(pair, cached=True)
            for pair in earlier_pairs
            if envs[pair.env].digest == digests.get(pair.env)
        ),
    )
