"""The feature behind ``compat fix``: from the name of a cell to an edit that helps."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path

from attrs import define, evolve, field, frozen
from packaging.version import Version

from compat import toolchains
from compat.config.selection import cell_pattern, several_match
from compat.engine import run
from compat.engine.run import RunContext, existing_releases, known_envs
from compat.errors import ConfigError, EnvError, SelectionError
from compat.executors.executor import Batch, Executor
from compat.files import TemporaryFolder
from compat.fix.changes import ChangedFile, SourceFile, changed_files, write_changes
from compat.fix.searching import EditedKernel, EditSearch, KernelModules
from compat.guess.guessing import load_sources
from compat.history.account import class_of, is_good
from compat.history.verdict import release_of
from compat.model import (
    BuiltEnv,
    Cell,
    CompileSpec,
    Env,
    Outcome,
    Result,
    Specialization,
    Status,
    Target,
)
from compat.project import Listener, Obtain, Selection
from compat.toolchains import known_edits

_MOST = 8
"""The most edits that are tried in all envs, after they compiled in the cell's env."""


@frozen(kw_only=True)
class EditTrial:
    """An edit that makes the kernel compile in the cell's environment, and its results in all."""

    candidate: EditedKernel
    results: tuple[Result, ...]
    """One result per environment."""

    @property
    def helps(self) -> tuple[Result, ...]:
        """Environments in which it compiles."""
        return tuple(result for result in self.results if is_good(result.outcome))

    @property
    def not_even_so(self) -> tuple[Result, ...]:
        """Environments in which it still fails."""
        return tuple(
            result for result in self.results if _tells(result) and not is_good(result.outcome)
        )

    @property
    def unknown(self) -> tuple[Result, ...]:
        """Environments without an answer: the env or the target cannot be used."""
        return tuple(result for result in self.results if not _tells(result))


@frozen(kw_only=True)
class Fix:
    """The result of a search for an edit."""

    cell: Cell
    """The failing cell."""
    source: SourceFile
    """The kernel's file."""
    before: tuple[Result, ...]
    """Results of the unchanged kernel in every environment."""
    best: EditTrial | None
    """The first edit that helps in all environments, or else in most of them.

    ``None``: no edit helps in the cell's own environment.
    """
    others: tuple[EditTrial, ...] = ()
    """Other edits that were tried in all environments."""
    refused: tuple[str, ...] = ()
    """Edits that were not made, with reasons."""
    compiled: int = 0
    """Number of edits that were compiled."""
    changes: tuple[ChangedFile, ...] = ()
    """The files that the edit changes."""
    existing: tuple[Version, ...] = ()
    """Existing releases of the toolchain, oldest first."""

    @property
    def failure(self) -> Result:
        """The result of the cell itself."""
        return next(result for result in self.before if result.cell.env == self.cell.env)

    @property
    def breaks(self) -> tuple[Result, ...]:
        """Environments in which the kernel compiles unchanged but not with the edit."""
        compiles = {result.cell.env for result in self.before if is_good(result.outcome)}
        return tuple(
            result
            for result in (self.best.not_even_so if self.best else ())
            if result.cell.env in compiles
        )

    @property
    def edit_names(self) -> tuple[str, ...]:
        """Names of the known edits of the failure's class."""
        return tuple(
            edit.name for edit in known_edits(self.failure.outcome.failure, self.cell.env.toolchain)
        )


def fix(
    selection: Selection,
    cell: str,
    context: RunContext,
    obtain: Obtain | None = None,
    listener: Listener | None = None,
) -> Fix:
    """Search for an edit that makes a failing cell compile.

    An edit changes the cell's function, functions that it uses, also in files that it imports, or
    constexprs of the kernel file. Known edits of the failure's class are tried, smallest first,
    each in all environments, until one compiles in all of them. Results of the kernel are not
    checked. :func:`compat.fix.write_fix` writes the edit.

    Args:
        selection: The project, and the environments besides the cell's own.
        cell: Id of a cell, or a glob that matches one cell. A release may stand for the env, a GPU
            for the target.
        context: How to compile; needs no environments.
        obtain: Called for environments, and may build them. ``None``: use those that exist.
        listener: Receives progress.

    Raises:
        SelectionError: ``cell`` does not match exactly one cell, the cell compiles, or its
            toolchain has no edits.
        EnvError: The cell's environment cannot be used.
        ConfigError: The source cannot be read.
    """
    chosen = _cell(selection, cell)
    if not (toolchain := toolchains.of(chosen.env)).language.edits:
        hint = "`compat explain` and `compat reduce` support them."
        raise SelectionError(
            f"triton-compat has no edits for kernels of {toolchain.title}", hint=hint
        )
    envs = _envs(selection, chosen, obtain or selection.read_envs)
    with TemporaryFolder("compat-fix-") as scratch:
        compiling = EditCompiler(
            spec=chosen.spec,
            source=SourceFile.read(Path(chosen.spec.source), tuple(map(Path, chosen.spec.roots))),
            target=chosen.target,
            context=context.with_envs(envs),
            folder=Path(scratch),
            listener=listener or Listener(),
        )
        before = compiling.original([env.env for env in envs])
        own = next(result for result in before if result.cell.env == chosen.env)
        if is_good(own.outcome):
            raise SelectionError(
                f"{chosen.id} compiles",
                hint="There is nothing to fix. `compat matrix` shows what fails.",
            )
        with compiling.listener.step("trying edits"):
            tested, search = compiling.search(chosen.env, [env.env for env in envs], own.outcome)
        if search and search.compiled and not tested:
            compiling.check_copies(chosen.env, own.outcome)
        if (best := best_of(tested)) and chosen.spec.guessed:
            alone = restrict_to_source(
                best.candidate, chosen.spec, compiling.source, compiling.folder
            )
            tested[tested.index(best)] = best = evolve(best, candidate=alone)
    return Fix(
        cell=chosen,
        source=compiling.source,
        before=before,
        best=best,
        others=tuple(result for result in tested if result is not best),
        refused=tuple(search.refused) if search else (),
        compiled=search.compiled if search else 0,
        changes=(
            changed_files(best.candidate, compiling.source, chosen.spec, selection.root)
            if best
            else ()
        ),
        existing=existing_releases(selection.config)[chosen.env.toolchain],
    )


def write_fix(fix: Fix) -> tuple[Path, ...]:
    """Write an edit into the files that it changes.

    Each file is replaced atomically and keeps its permissions. If one file has changed since the
    search, no file is written.

    Returns:
        The paths of the files.

    Raises:
        ConfigError: A file has changed, or the edit would change more than intended.
        StoreError: A file cannot be written.
    """
    return write_changes(fix.changes)


@define(kw_only=True)
class EditCompiler:
    """Compiles edited kernels. Each has a folder of its own."""

    spec: Specialization
    source: SourceFile
    target: Target
    context: RunContext
    folder: Path
    listener: Listener = field(factory=Listener)
    _count: int = 0

    @property
    def _unchanged(self) -> EditedKernel:
        return EditedKernel(text=self.source.text, compile=self.spec.compile)

    def original(self, envs: Sequence[Env]) -> tuple[Result, ...]:
        """Compile the unchanged kernel in these envs."""
        return self._run([Cell(env=env, target=self.target, spec=self.spec) for env in envs])

    def everywhere(self, candidate: EditedKernel, envs: Sequence[Env]) -> EditTrial:
        """Compile a candidate in these envs."""
        spec = self._write_candidate(candidate)
        return EditTrial(
            candidate=candidate,
            results=self._run([Cell(env=env, target=self.target, spec=spec) for env in envs]),
        )

    def search(
        self, env: Env, envs: Sequence[Env], outcome: Outcome | None = None
    ) -> tuple[list[EditTrial], EditSearch | None]:
        """Search for edits that help in ``env``, and try each of them in all ``envs``.

        The search ends with the first edit that helps in all. ``outcome`` is the kernel's outcome
        in ``env``; without it, the kernel is compiled there first. Returns the tried edits, and the
        search; no edits and ``None`` if the kernel does not fail in a reproducible way.
        """
        start = self._unchanged
        outcome = outcome or self._attempt_candidates([start], env)[0]
        if outcome.failure is None or outcome.flaky or not outcome.status.is_answer:
            return [], None
        search = EditSearch(
            function=self.spec.function,
            toolchain=toolchains.of(env),
            try_all=lambda some: self._attempt_candidates(some, env),
            files=KernelModules(
                name=self.source.name,
                beside={name: file.text for name, file in self.source.editable.items()},
                roots=self.source.inner_roots,
            ),
        )
        tested: list[EditTrial] = []
        for candidate in islice(search.run(start, outcome.failure), _MOST):
            tested.append(self.everywhere(candidate, envs))
            if not tested[-1].not_even_so:
                break
        return tested, search

    def check_copies(self, env: Env, outcome: Outcome) -> None:
        """Raise ConfigError if an unedited copy fails in another way than the kernel.

        In that case the search did not test the edits themselves.
        """
        (copied,) = self._attempt_candidates([self._unchanged], env)
        if class_of(copied) != class_of(outcome):
            why = (
                f"a copy in another folder fails in another way ({class_of(copied)}), so no edit"
                " can be tried"
            )
            hint = "It may need files beside it that it does not import by name."
            raise ConfigError(why, where=str(self.source.path), hint=hint)

    def _attempt_candidates(self, candidates: Sequence[EditedKernel], env: Env) -> list[Outcome]:
        """Return the outcomes of candidates in an env, from one attempt each.

        Before an edit is reported, it is compiled and confirmed like any cell.
        """
        cells = [
            Cell(env=env, target=self.target, spec=self._write_candidate(candidate))
            for candidate in candidates
        ]
        shares = [cells[slot :: self.context.slots] for slot in range(self.context.slots)]
        outcomes: dict[Cell, Outcome] = {}
        with (
            self.listener.compiling(len(cells)) as note,
            closing(self.context.open_executor()) as executor,
        ):
            for some in run.concurrently(
                lambda share: self._attempt(share, executor, note), shares, self.context.slots
            ):
                outcomes |= some
        return [outcomes[cell] for cell in cells]

    def _attempt(
        self, cells: Sequence[Cell], executor: Executor, note: Callable[[Result], None]
    ) -> dict[Cell, Outcome]:
        if not cells:
            return {}
        built, outcomes = self.context.envs[cells[0].env.name], dict[Cell, Outcome]()
        for answer in executor.submit(Batch(cells, built, self.context.limits, keep=False)):
            cell = cells[answer.position]
            outcomes[cell] = run.outcome_of(cell, answer.attempts)
            note(Result(cell=cell, built=built, outcome=outcomes[cell]))
        return outcomes

    def _run(self, cells: Sequence[Cell]) -> tuple[Result, ...]:
        with self.listener.compiling(len(cells)) as note:
            return run.run(cells, evolve(self.context, stop=threading.Event()), note)

    def _write_candidate(self, candidate: EditedKernel) -> Specialization:
        self._count += 1
        spec = evolve(self.spec, compile=candidate.compile)
        return self.source.specialize(
            spec, candidate.text, self.folder / str(self._count), candidate.beside
        )


def _tells(result: Result) -> bool:
    """Whether a result says something about the kernel."""
    return result.outcome.status.is_answer and result.outcome.status is not Status.UNSUPPORTED


def best_of(trials: Sequence[EditTrial]) -> EditTrial | None:
    """Return the first edit that helps in all envs, else the first that helps in most of them."""
    return max(trials, key=lambda trial: (not trial.not_even_so, len(trial.helps)), default=None)


# --- the cell and the envs ------------------------------------------------------------------------


def _cell(selection: Selection, name: str) -> Cell:
    """Return the only cell that a name matches, among the selected cells, or else among all cells.

    Raises SelectionError if none or several match.
    """
    everywhere = selection.with_patterns(envs=("*",), targets=selection.patterns.targets or ("*",))
    pattern = cell_pattern(name, everywhere.config, selection.patterns.kernel_files)
    everywhere = evolve(everywhere, envs=known_envs(everywhere.config)).and_envs(pattern.envs)
    cell, *others = pattern.choose(selection.cells, everywhere.cells)
    if others:
        raise several_match(pattern.text, (cell, *others))
    return cell


def _envs(selection: Selection, cell: Cell, obtain: Obtain) -> list[BuiltEnv]:
    """Return the cell's own env, and the selected envs of its toolchain, oldest release first.

    Raises EnvError if the cell's own env cannot be used.
    """
    meant = [env for env in selection.envs if env.toolchain == cell.spec.toolchain]
    env_by_name: Mapping[str, Env] = {env.name: env for env in (cell.env, *meant)}
    built = list(obtain(selection.config.path, tuple(env_by_name.values())))
    own = next(built for built in built if built.env == cell.env)
    if own.error is not None:
        raise EnvError(
            f"{cell.env.name} cannot be used: {own.error}",
            hint="See the other envs with `compat list envs`.",
        )
    # An env that cannot be used is reported as unknown.
    return sorted(built, key=lambda built: release_of(built).order)


def restrict_to_source(
    candidate: EditedKernel, spec: Specialization, source: SourceFile, folder: Path
) -> EditedKernel:
    """Return the candidate as an edit of the source alone, for a kernel with guessed arguments.

    The candidate gets a note if the edited source leads to other guesses. Copies are written into
    ``folder``. Raises ConfigError if the edit changes the arguments, which the source does not
    contain.
    """
    after = _guess(
        spec, source.specialize(spec, candidate.text, folder / "after", candidate.beside)
    )
    if after == candidate.compile:
        return evolve(candidate, constexprs={})
    path = spec.origin.partition("::")[0]
    if candidate.constexprs:
        assignments = ", ".join(f"{name} = {value}" for name, value in candidate.constexprs.items())
        hint = (
            f"`compat init {path}` writes them into a kernel file; run this command again with"
            " that."
        )
        raise ConfigError(
            f"the edit changes the arguments ({assignments}), which are guessed",
            where=spec.origin,
            hint=hint,
        )
    if after == _guess(spec, source.specialize(spec, source.text, folder / "before")):
        return candidate
    note = (
        f"the edited source leads to other guessed arguments; `compat init {path}` writes down the"
        " arguments of the present source"
    )
    return evolve(candidate, notes=(*candidate.notes, note))


def _guess(spec: Specialization, copy: Specialization) -> CompileSpec | None:
    """Return the guessed arguments of the kernel in a copy of its source.

    Returns ``None`` if the copy lacks the kernel, the variant or the case.
    """
    path = Path(copy.source)
    try:
        specs = load_sources([f"{path.name}::{spec.function}"], path.parent)
    except ConfigError:
        return None
    return next(
        (
            guess.compile
            for guess in specs
            if (guess.variant, guess.case) == (spec.variant, spec.case)
        ),
        None,
    )
