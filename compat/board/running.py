"""Updates a board: compiles only new versions, releases and targets."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from attrs import evolve, frozen
from packaging.version import Version

from compat.board.capturing import VersionCapture, capture_version, captured_targets
from compat.board.data import BoardData, BoardIndex, CompiledVersion, join_reports
from compat.board.declaration import BoardDeclaration, BoardLibrary
from compat.config.selection import nothing_matches
from compat.config.toml import display_path
from compat.engine.run import RunContext
from compat.envs.libraries import newest_of_minors, released_versions
from compat.envs.provider import error_line
from compat.errors import ConfigError, EnvError, IndexUnavailable, SelectionError
from compat.matrix import run_matrix
from compat.model import Env, Result, Specialization, Status
from compat.project import Listener, Obtain, Selection, no_cells, select, select_places
from compat.report.summary.record import Report
from compat.source.closure import module_of
from compat.text import amount

_PAIRS = "pairs"
"""The group of the envs with PyTorch."""


@frozen(kw_only=True)
class NewCells:
    """The part of a library's version that is not compiled yet."""

    library: BoardLibrary
    version: str
    envs: tuple[Env, ...]
    targets: tuple[str, ...]
    capture: VersionCapture | None = None
    """The capture of the library's program, if the library has one."""
    only_captured: bool = False
    """Whether all envs and targets are compiled already.

    Then only kernels whose arguments the capture changes, and new kernels, are compiled.
    """

    @property
    def requirement(self) -> str:
        """The version as installers name it: ``liger-kernel==0.6.4``."""
        return f"{self.library.name}=={self.version}"


@frozen(kw_only=True)
class BoardUpdate:
    """The result of a run."""

    index: BoardIndex
    compiled: Mapping[str, int]
    """Requirement → the number of cells that the run compiled."""
    problems: Mapping[str, str]
    """Library or requirement → why it has no kernels, or no new versions."""


@frozen(kw_only=True)
class BoardRequest:
    """The libraries to update, and the matrix to update them with."""

    only: tuple[str, ...] = ()
    """The names of libraries. Empty: all."""
    matrix: Path | None = None
    """The ``matrix.toml`` that declares envs and targets. ``None``: that of the project."""
    command: str = "compat board run"
    """The command line that the reports name as their origin."""


def update_board(
    board: BoardDeclaration,
    request: BoardRequest,
    context: RunContext,
    obtain: Obtain,
    listener: Listener | None = None,
) -> BoardUpdate:
    """Compile all new cells, one version of a library after the other.

    Args:
        board: The libraries.
        request: What to update.
        context: How to compile. It needs no environments.
        obtain: Called to get environments; it may build them.
        listener: Receives progress.

    Raises:
        MatrixInterrupted: The run was stopped. Finished versions and cells are kept.
        SelectionError: There is no such library, env or target.
        CompatError: The errors of :func:`compat.matrix.run_matrix`.
    """
    return _BoardRun(board, request, context, obtain, listener or Listener()).run()


def board_places(
    board: BoardDeclaration,
    envs: Sequence[str],
    targets: Sequence[str] = (),
    matrix: Path | None = None,
) -> Selection:
    """Select the envs and targets that a board names.

    Raises:
        SelectionError: There is no such env or target.
    """
    try:
        return select_places(matrix, envs=envs, targets=targets)
    except SelectionError as error:
        if error.where:
            raise
        raise SelectionError(str(error), where=display_path(board.path), hint=error.hint) from error


class _BoardRun:
    """One run that updates a board."""

    def __init__(
        self,
        board: BoardDeclaration,
        request: BoardRequest,
        context: RunContext,
        obtain: Obtain,
        listener: Listener,
    ) -> None:
        self.board, self.request = board, request
        self.context, self.obtain, self.listener = context, obtain, listener
        self.data = BoardData(board.folder)

    def run(self) -> BoardUpdate:
        """Compile all new cells. Raises the errors of :func:`update_board`."""
        index, compiled = self.data.index(), dict[str, int]()
        new, problems = self.new_cells(index)
        for part in new:
            self.listener.say(f"{part.requirement}: {_extent(part)}")
            before = index.of(part.library.name, part.version)
            failure = self._capture(part, before)
            entry, cells = self._compile(part, index)
            if part.capture and not failure:
                entry = evolve(entry, captured=part.capture.origin)
            index = self.data.note(part.library.name, part.version, entry)
            compiled[part.requirement] = cells
            if problem := entry.problem or failure:
                problems[part.requirement] = problem
        return BoardUpdate(index=index, compiled=compiled, problems=problems)

    def new_cells(self, index: BoardIndex) -> tuple[tuple[NewCells, ...], dict[str, str]]:
        """The new cells, and library → the error for libraries whose versions cannot be listed.

        For such a library, the versions in the index count.

        Raises:
            SelectionError: There is no such library, env or target.
        """
        problems: dict[str, str] = {}
        new: list[NewCells] = []
        for library in _choose_libraries(self.board, self.request.only):
            places = self._places(library)
            try:
                versions = library.versions or newest_of_minors(
                    released_versions(library.name), library.newest
                )
            except (IndexUnavailable, EnvError) as error:
                problems[library.name] = str(error)
                versions = tuple(map(Version, index.libraries.get(library.name, ())))
            new += filter(None, (self._new(library, str(v), places, index) for v in versions))
        return tuple(new), problems

    def _new(
        self, library: BoardLibrary, version: str, places: Selection, index: BoardIndex
    ) -> NewCells | None:
        """The part of a version to capture or compile; ``None`` if there is none."""
        part = _missing(library, version, places, index)
        capture = self._capture_of(library, version, places)
        if capture is None:
            return part
        if part is None and capture.is_new(index.of(library.name, version)):
            part = _missing(library, version, places, BoardIndex())
            return part and evolve(part, capture=capture, only_captured=True)
        return part and evolve(part, capture=capture)

    def _capture_of(
        self, library: BoardLibrary, version: str, places: Selection
    ) -> VersionCapture | None:
        """The capture of a library's program; ``None`` if the library has no program."""
        if library.capture is None:
            return None
        env_words = (library.capture.env or _PAIRS,)
        envs = board_places(self.board, env_words, (), self.request.matrix).envs
        pair = max(envs, key=lambda env: (env.has_framework, env.release or Version("0")))
        return VersionCapture(
            board=self.board,
            library=library,
            version=version,
            program=library.capture,
            pair=pair,
            targets=captured_targets(pair, places.targets),
        )

    def _capture(self, part: NewCells, before: CompiledVersion) -> str:
        """Capture a version's kernels with the library's program, unless that was done before.

        Returns the reason for a failure, or an empty string. Raises the errors of
        :func:`compat.board.capturing.capture_version`.
        """
        if part.capture is None or not part.capture.is_new(before):
            return ""
        matrix = self._places(part.library).config.path
        try:
            (built,) = self.obtain(matrix, (part.capture.env,))
        except EnvError as error:
            return str(error)
        if built.error:
            return error_line(built.error)
        return capture_version(part.capture, built, self.listener)

    def _compile(self, part: NewCells, index: BoardIndex) -> tuple[CompiledVersion, int]:
        """Compile the new cells of a version, and write its report.

        Returns the version's entry in the index, and the number of compiled cells.
        """
        before = index.of(part.library.name, part.version)
        try:
            selection = self._selection(part)
        except (SelectionError, ConfigError) as error:
            if self.board.kernels_of(part.library, part.version):
                raise  # the kernel files are invalid; without any, the version has no kernels
            entry = evolve(before, problem=str(error), columns=_columns(before, part, ()))
            return entry, 0
        except EnvError as error:  # the next run tries to install it again
            return before if before.columns else evolve(before, problem=str(error)), 0
        return self._compile_kernels(part, selection, before)

    def _compile_kernels(
        self, part: NewCells, selection: Selection, before: CompiledVersion
    ) -> tuple[CompiledVersion, int]:
        """Compile changed kernels in all columns, and the others in the new columns."""
        stored_report, changed = None, frozenset[str]()
        if before.columns and not before.problem:
            stored_report = self.data.read(part.library.name, part.version)
            changed = _changed_kernels(stored_report.results, selection.specs)
        reports, columns = list[Report](), before.columns
        if not part.only_captured:
            specs = tuple(spec for spec in selection.specs if spec.id not in changed)
            targets = tuple(target for target in selection.targets if target.name in part.targets)
            reports += self._reports(evolve(selection, envs=part.envs, targets=targets), specs)
            columns = _columns(before, part, _without_answer(reports))
        if changed:
            self.listener.say(
                f"{part.requirement}: compiling {amount(len(changed), 'new or changed kernel')}"
                " for all releases and targets"
            )
            specs = tuple(spec for spec in selection.specs if spec.id in changed)
            reports += (again := self._reports(selection, specs))
            lost = _without_answer(again)
            columns = {env: names for env, names in columns.items() if env not in lost}
        if stored_report is None and not reports:
            raise no_cells(selection)
        compiled = {result.cell.id for report in reports for result in report.results}
        seconds = round(before.seconds + sum(report.seconds for report in reports), 1)
        if stored_report is not None:
            reports.insert(0, _besides(stored_report, compiled, selection.specs))
        self.data.write(part.library.name, part.version, join_reports(reports))
        entry = evolve(before, columns=columns, seconds=seconds, problem="")
        return entry, len(compiled)

    def _selection(self, part: NewCells) -> Selection:
        """Select all kernels of a version, with all envs and targets of its library.

        Raises the errors of :func:`compat.project.select`.
        """
        library, kernel_files = part.library, self.board.kernels_of(part.library, part.version)
        places = self._places(library)
        selection = select(
            self.request.matrix,
            envs=tuple(env.name for env in places.envs),
            targets=tuple(dict.fromkeys(target.name for target in places.targets)),
            kernel_files=tuple(map(os.path.relpath, kernel_files)),
            packages=(part.requirement,) if library.package else (),
            guess_others=library.package and bool(kernel_files),
        )
        if library.without:
            folder = selection.config.library(part.requirement)
            specs = _without_modules(library.without, selection.specs, folder)
            selection = evolve(selection, specs=specs)
        return selection

    def _reports(self, selection: Selection, specs: Sequence[Specialization]) -> tuple[Report, ...]:
        """Compile these kernels and return the report; no report if they have no cells."""
        selection = evolve(selection, specs=tuple(specs))
        if not selection.cells:
            return ()
        return (
            run_matrix(
                selection, self.context, self.obtain, self.listener, command=self.request.command
            ),
        )

    def _places(self, library: BoardLibrary) -> Selection:
        """The envs and targets of a library."""
        envs, targets = self.board.envs_of(library), self.board.targets_of(library)
        return board_places(self.board, envs, targets, self.request.matrix)


def _choose_libraries(board: BoardDeclaration, only: Sequence[str]) -> Iterator[BoardLibrary]:
    names = [library.name for library in board.libraries]
    for name in only:
        if name not in names:
            raise SelectionError(
                f"the board has no library {name!r}",
                where=str(board.path.name),
                hint=f"It has {', '.join(names)}.",
            )
    return (library for library in board.libraries if not only or library.name in only)


def _without_modules(
    patterns: Sequence[str], specs: Sequence[Specialization], folder: Path
) -> tuple[Specialization, ...]:
    """The kernels, without guessed kernels of modules that a pattern matches.

    ``folder`` holds the unpacked library. Raises SelectionError if a pattern matches no module, or
    if no kernel is left.
    """
    modules = {
        spec.source: module_of(Path(spec.source), [folder]) for spec in specs if spec.guessed
    }
    for pattern in patterns:
        if not fnmatch.filter(modules.values(), pattern):
            raise nothing_matches("module", pattern, modules.values())
    remaining = tuple(
        spec
        for spec in specs
        if not spec.guessed
        or not any(fnmatch.fnmatchcase(modules[spec.source], pattern) for pattern in patterns)
    )
    if not remaining:
        raise SelectionError("without these modules, the library has no kernel")
    return remaining


def _missing(
    library: BoardLibrary, version: str, places: Selection, index: BoardIndex
) -> NewCells | None:
    """The envs and targets of a version that the index does not have; ``None`` if it has all."""
    columns = index.of(library.name, version).columns
    # Targets of several toolchains may have the same name.
    target_names = tuple(dict.fromkeys(target.name for target in places.targets))
    missing = {
        env: tuple(target for target in target_names if target not in columns.get(env.name, ()))
        for env in places.envs
    }
    envs = tuple(env for env, targets in missing.items() if targets)
    if not envs:
        return None
    targets = {target for env in envs for target in missing[env]}
    return NewCells(
        library=library,
        version=version,
        envs=envs,
        targets=tuple(target for target in target_names if target in targets),
    )


def _extent(part: NewCells) -> str:
    return f"{amount(len(part.envs), 'env')}, {', '.join(part.targets)}"


def _columns(
    before: CompiledVersion, part: NewCells, lost: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """Env → its compiled targets, before and in this run. Envs in ``lost`` gain no targets."""
    columns = dict(before.columns)
    for env in part.envs:
        if env.name not in lost:
            columns[env.name] = tuple(dict.fromkeys((*columns.get(env.name, ()), *part.targets)))
    return columns


def _without_answer(reports: Iterable[Report]) -> set[str]:
    """The envs that are broken or lost an answer. The next run tries them again."""
    lost = (Status.LOST, Status.ENV_BROKEN)
    return {
        name
        for report in reports
        for name in (
            *(result.cell.env.name for result in report.results if result.outcome.status in lost),
            *(built.env.name for built in report.envs if built.error),
        )
    }


def _changed_kernels(before: Sequence[Result], now: Sequence[Specialization]) -> frozenset[str]:
    """The names of kernels with new arguments, or without a result for a target of ``before``."""
    compile_specs = {result.cell.spec.id: result.cell.spec.compile for result in before}
    compiled = {(result.cell.spec.id, result.cell.target) for result in before}
    targets = {result.cell.target for result in before}
    return frozenset(
        spec.id
        for spec in now
        if compile_specs.get(spec.id, spec.compile) != spec.compile
        or any(spec.is_for(target) and (spec.id, target) not in compiled for target in targets)
    )


def _besides(report: Report, compiled: set[str], specs: Sequence[Specialization]) -> Report:
    """A report without the cells that this run compiled, and without those that no longer exist."""
    now = {spec.id: spec for spec in specs}
    return evolve(
        report,
        results=tuple(
            evolve(result, cell=evolve(cell, spec=spec))
            for result in report.results
            if (cell := result.cell).id not in compiled
            and (spec := now.get(cell.spec.id)) is not None
            and spec.compile == cell.spec.compile
            and spec.is_for(cell.target)
        ),
    )
