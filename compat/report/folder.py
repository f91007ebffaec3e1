"""Reports on disk: read from a file or as a git revision has it, and written into a folder, which may have one already.

In: the name of a ``matrix.json``, a path or ``REVISION:PATH``, or several. Out: the :class:`~compat.report.summary.record.Report`
that it was made from, or one of all. And in: the report of a run, and a folder. Out: the files in it, and what they have. A report
there is of the project: a run that tried only some of the cells exchanges these, and keeps the others that still hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import reduce
from operator import add
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

from attrs import evolve, frozen

from compat import toolchains
from compat.diagnosis.classify import broken_env
from compat.engine.interpreting import with_interpreted
from compat.engine.run import RunContext, expectation_of, known
from compat.errors import CompatError, SelectionError, StoreError
from compat.files import alone_in, replace_file
from compat.matrix import report_with
from compat.model import BuiltEnv, Cell, Result, Specialization, Status, Target
from compat.pairs.records import Pair
from compat.processes.supervisor import run
from compat.project import STATE, Patterns, Selection, read_matrix
from compat.report.document import within_bounds
from compat.report.loading import load_report, load_reports
from compat.report.render import FORMATS
from compat.report.summary.compact import counted, listed
from compat.report.summary.record import Report
from compat.store import merging
from compat.store.merging import Merged
from compat.store.store import Store

_HINT = "`compat matrix` writes reports/matrix.json; REVISION:PATH is a file as git has it."
_REVISION_HINT = (
    "REVISION:PATH is as `git show` takes it: `HEAD~1:reports/matrix.json`; a path that begins with ./ is from this folder."
)


def read_report(*names: str) -> Report:
    """The report that a file holds, or that several hold together. A name with a colon is a git revision and a path, where there
    is no such file.

    Raises StoreError where there is no such file, for what is no report that this version reads, and for reports that do not go
    together.
    """
    return load_reports(opened(names))


def opened(names: Iterable[str]) -> Iterator[tuple[str, BinaryIO]]:
    """Such files one after the other, each with its name; closed when the next is asked for. Raises StoreError."""
    for name in names:
        with _file(name) as file:
            yield name, file


def _file(name: str) -> BinaryIO:
    path = Path(name)
    revision, colon, _ = name.partition(":")
    if colon and revision and not path.exists():
        return open_revision(name)
    try:
        return path.open("rb")
    except (OSError, ValueError) as error:
        raise StoreError(f"cannot be read: {getattr(error, 'strerror', None) or error}", where=name, hint=_HINT) from error


def open_revision(name: str) -> BinaryIO:
    """A file that has the content of ``REVISION:PATH`` in the git repository of the current folder, as it was committed.

    Raises StoreError, with git's own words, where there is no such file, no repository, or no git.
    """
    if name.startswith("-"):
        raise StoreError("a revision does not begin with a hyphen", where=name, hint=_REVISION_HINT)
    with ExitStack() as stack:
        file = stack.enter_context(TemporaryFile())
        try:
            ended = run(["git", "cat-file", "blob", name], into=file)
        except FileNotFoundError as error:
            raise StoreError("git is not installed, and there is no file of this name", where=name, hint=_REVISION_HINT) from error
        if ended.exit_code:
            message = (ended.output.strip().splitlines() or ["it says nothing"])[0]
            raise StoreError(f"git has no such file: {message}", where=name, hint=_REVISION_HINT)
        file.seek(0)
        stack.pop_all()  # whoever asked for it closes it
        return file


# --- the folder that a run writes its report into ---------------------------------------------------------------------------------


_LONGEST_NAME = 100
"""Characters of the name of a folder for the report of some kernel files."""


@frozen(kw_only=True)
class Written:
    """The files of a report, and what became of the report that was there before."""

    report: Report
    """What the files have: of a narrowed run also cells that the report before had."""
    files: tuple[Path, ...]
    dropped: int = 0
    """Cells of the report before that are left out: what they depend on has changed, or is not here."""
    replaced: str = ""
    """The command of the report before, where that is of other kernel files and is gone."""
    beside: Path | None = None
    """The folder of the report before, where that is of other kernel files and is kept; ``files`` are in a folder below it."""


def update_reports(found: Report, selection: Selection, context: RunContext, folder: Path | None = None) -> Written:
    """Write the report of a run into a folder, ``reports`` of the project if none is named.

    A run that tried only some of the cells keeps the others that the report there has, as far as they still hold: they are read
    from the store again, by all that they depend on. A report of other kernel files is kept, and this one written into a folder
    below its own, unless the folder was named. Raises StoreError where the folder will not have them.
    """
    place = folder or selection.root / "reports"
    files = _kernel_files(selection)
    with _alone_in(place):
        before = _before(place, selection)
        if before is None or _kernel_files(before) == files or _is_of_project(before, found, selection):
            return _update(before, found, selection, context, place)
        if folder is not None or not files:
            return Written(report=found, files=write_reports(found, place), replaced=before.command)
    name = re.sub(r"[^\w.+=]+", "-", "-".join(files)).strip("-.")[:_LONGEST_NAME]
    with _alone_in(place / name):
        before = _before(place / name, selection)
        return evolve(_update(before, found, selection, context, place / name), beside=place)


def _update(before: Report | None, found: Report, selection: Selection, context: RunContext, place: Path) -> Written:
    if before is None:
        return Written(report=found, files=write_reports(found, place))
    report, dropped = _with_cells_of(before, found, selection, context)
    return Written(report=report, files=write_reports(report, place), dropped=dropped)


def _before(folder: Path, selection: Selection) -> Report | None:
    """The report in a folder, where that matters: not to a shard, nor to a run of all that ``matrix.toml`` says."""
    patterns = selection.patterns
    if selection.shard or not any((_is_narrowed(patterns), patterns.kernel_files, patterns.packages)):
        return None
    try:
        with (folder / "matrix.json").open("rb") as file:
            report = load_report(file)
    except (OSError, StoreError):
        return None
    return report if _is_narrowed(patterns) or _kernel_files(report) != _kernel_files(selection) else None


def _is_narrowed(patterns: Patterns) -> bool:
    """Whether only some of what the kernel files and ``matrix.toml`` say was chosen."""
    return any((patterns.envs, patterns.targets, patterns.kernels, patterns.variants, patterns.cases))


def _kernel_files(chosen: Report | Selection) -> tuple[str, ...]:
    """The kernel files and libraries that were named; none where ``matrix.toml`` names them."""
    values = zip(chosen.options[::2], chosen.options[1::2], strict=False)
    return tuple(sorted(value for option, value in values if option != "--matrix"))


def _is_of_project(before: Report, found: Report, selection: Selection) -> bool:
    """Whether a report is of the project's own kernel files, and all kernels of a run that named its files are among them."""
    if _kernel_files(before):
        return False
    try:
        return set(found.specs) <= set(_every(selection, before).specs)
    except CompatError:
        return False


def _every(selection: Selection, before: Report) -> Selection:
    """All kernels of the files that a report before was made from. Raises ConfigError and SelectionError."""
    narrowing: dict[str, tuple[str, ...]] = {"kernels": (), "variants": (), "cases": ()}
    if not _kernel_files(before):
        narrowing |= {"kernel_files": (), "packages": ()}
    return selection.with_patterns(**narrowing)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """One run at a time reads the report in a folder and writes it again."""
    with ExitStack() as stack:
        with suppress(OSError):  # who writes there is told
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(alone_in(folder))
        yield


def _with_cells_of(before: Report, found: Report, selection: Selection, context: RunContext) -> tuple[Report, int]:
    """The report of a run with the other cells of the one before that still hold, and how many of these do not."""
    tried = {result.cell.id for result in found.results}
    others = [result for result in before.results if result.cell.id not in tried]
    every = _every(selection, before)
    envs = {built.env.name: built for built in (*_envs_of(others, selection), *found.envs)}
    context = context.with_envs(tuple(envs.values()))
    specs = {(spec.kernel, spec.variant, spec.case): spec for spec in (*every.specs, *found.specs)}
    now = ((result, _cell_now(result.cell, envs, specs, every.config.targets)) for result in others)
    left = [(result, cell) for result, cell in now if cell is not None]
    broken = [cell for result, cell in left if result.outcome.status is Status.ENV_BROKEN and envs[cell.env.name].error]
    there = [cell for _, cell in left if envs[cell.env.name].error is None]
    held = known(there, evolve(context, again=False), imported=False)
    kept = [*with_interpreted(held, context.store), *(_broken(cell, envs[cell.env.name]) for cell in broken)]
    return report_with(found, kept, _pairs_that_hold(before, found, envs), every, context), len(others) - len(kept)


def _cell_now(
    cell: Cell,
    envs: Mapping[str, BuiltEnv],
    specs: Mapping[tuple[str, str, str], Specialization],
    targets: Iterable[Target],
) -> Cell | None:
    """A cell of an earlier run as the project has it now; ``None`` where it no longer has it."""
    own = (cell.target.toolchain, cell.target.name)
    built, target = envs.get(cell.env.name), next((target for target in targets if (target.toolchain, target.name) == own), None)
    spec = specs.get((cell.spec.kernel, cell.spec.variant, cell.spec.case))
    if built is None or target is None or spec is None:
        return None
    return next(toolchains.cells(built.env, spec, (target,)), None)


def _broken(cell: Cell, built: BuiltEnv) -> Result:
    return Result(
        cell=cell, built=built, outcome=broken_env(built.error or "", built.env.toolchain), expectation=expectation_of(cell, built)
    )


def _envs_of(results: Iterable[Result], selection: Selection) -> Iterator[BuiltEnv]:
    """The envs of results of an earlier run, as they are now; without those that are no longer declared."""
    for name in dict.fromkeys(result.cell.env.name for result in results):
        with suppress(SelectionError):
            yield selection.look_at(selection.config.env(name))


def _pairs_that_hold(before: Report, found: Report, envs: Mapping[str, BuiltEnv]) -> tuple[Pair, ...]:
    """The pairs of a run, and those of the report before whose envs are still the same."""
    digests = {built.env.name: built.digest for built in before.envs} if before.version == found.version else {}
    tried = {(pair.env, pair.release) for pair in found.pairs}
    kept = (pair for pair in before.pairs if (pair.env, pair.release) not in tried and pair.error is None and pair.env in envs)
    return (*found.pairs, *(evolve(pair, cached=True) for pair in kept if envs[pair.env].digest == digests.get(pair.env)))


def write_reports(report: Report, folder: Path) -> tuple[Path, ...]:
    """Write the report in every form, each file whole or not at all. Raises StoreError where the folder will not have them."""
    formats = [always for always in FORMATS if always.file]
    try:
        for written in formats:
            replace_file(folder / written.file, written.render(report, ""))
    except OSError as error:
        raise StoreError(
            f"the report could not be written: {error}",
            where=str(folder),
            hint="All results are kept: run the same command with another --output; nothing is compiled again.",
        ) from error
    return tuple(folder / written.file for written in formats)


_NAMED = 5
"""Cells that are named of those of which stores disagree."""


def are_stores(files: Sequence[Path]) -> bool:
    """Whether these are stores; else they are taken for reports. Raises SelectionError where some are and some are not."""
    stores = [file for file in files if merging.is_store(file)]
    if 0 < len(stores) < len(files):
        other = next(file for file in files if file not in stores)
        raise SelectionError(
            f"{stores[0]} is a store and {other} is none", hint="Join reports with reports, and stores with stores."
        )
    return bool(stores)


def merge_reports(files: Sequence[Path]) -> Report:
    """The report of one run of all that several have tried. A cell of which two do not say the same is flaky.

    Raises StoreError where a file is no report that this version reads, and where they do not go together.
    """
    return within_bounds(load_reports(opened(map(str, files)), overlapping=True))


def merge_stores(files: Sequence[Path], folder: Path | None = None) -> tuple[Path, Merged]:
    """Join stores to that of the project, or to the one in a folder, which may be none yet; where that is, and what came of it.

    Raises StoreError where one is no store of this version's, or cannot be read or written.
    """
    into = folder or read_matrix().base / STATE
    with Store(into) as store:
        return into, reduce(add, (merging.merge_store(file, store) for file in files))


def told_of(merged: Merged, files: int) -> list[str]:
    """What was joined, in words."""
    words = [f"{counted(merged.new, 'result')} of {counted(files, 'store')} new, {merged.known:,} known already"]
    words += [f"{counted(merged.unreadable, 'row')} cannot be read by this version"] if merged.unreadable else []
    words += [f"{counted(merged.artifacts, 'artifact')} missing beside them"] if merged.artifacts else []
    if found := merged.disagreeing:
        more = [f"{len(found) - _NAMED:,} more"] if len(found) > _NAMED else []
        words += [f"{counted(len(found), 'cell')} flaky, since they do not agree: {listed([*found[:_NAMED], *more])}"]
    return words
