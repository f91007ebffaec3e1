"""A whole fix, from what a user names: the feature that ``compat fix`` calls."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path

from attrs import define, evolve, field, frozen
from packaging.version import Version

from compat import toolchains
from compat.bisect.known import existing_releases, known_envs
from compat.config.cell_pattern import cell_pattern, several_match
from compat.errors import ConfigError, EnvError, SelectionError
from compat.execution import run
from compat.execution.executors.base import Batch, Executor
from compat.execution.run import RunContext
from compat.fix.changes import Changed, changed_files
from compat.fix.guessed import settled
from compat.fix.known import known_edits
from compat.fix.searching import Candidate, Files, Search
from compat.fix.source import SourceFile
from compat.history.verdict import class_of, is_good, release_of
from compat.model import BuiltEnv, Cell, Env, Outcome, Result, Specialization, Status, Target
from compat.project import Listener, Obtain, Selection, with_envs
from compat.scratch import Folder

_MOST = 8
"""Edits that compile in the cell's env and are tried in the others at most."""


@frozen(kw_only=True)
class Tried:
    """An edit that makes the kernel compile in the cell's env, and what became of it in all envs."""

    candidate: Candidate
    results: tuple[Result, ...]

    @property
    def helps(self) -> tuple[Result, ...]:
        """Where it compiles."""
        return tuple(each for each in self.results if is_good(each.outcome))

    @property
    def not_even_so(self) -> tuple[Result, ...]:
        """Where it does not."""
        return tuple(each for each in self.results if _tells(each) and not is_good(each.outcome))

    @property
    def unknown(self) -> tuple[Result, ...]:
        """Where nothing is known of it: the env or the target cannot be used."""
        return tuple(each for each in self.results if not _tells(each))


@frozen(kw_only=True)
class Fix:
    """What was found for a cell."""

    cell: Cell
    source: SourceFile
    before: tuple[Result, ...]
    """What became of the kernel as it is, in every env."""
    found: Tried | None
    """The first edit that helps everywhere, else the first that helps in most envs; ``None`` where none helps in the cell's."""
    others: tuple[Tried, ...] = ()
    """Other edits that were tried in all envs."""
    refused: tuple[str, ...] = ()
    """Edits that were not made, and why."""
    tried: int = 0
    """How many edits were compiled."""
    changes: tuple[Changed, ...] = ()
    """The files that the edit changes."""
    existing: tuple[Version, ...] = ()
    """The releases of the toolchain that are known to exist, compiled or not, oldest first."""

    @property
    def failure(self) -> Result:
        """The cell itself."""
        return next(each for each in self.before if each.cell.env == self.cell.env)

    @property
    def breaks(self) -> tuple[Result, ...]:
        """Where the kernel compiles as it is, and does not with the edit."""
        compiles = {each.cell.env for each in self.before if is_good(each.outcome)}
        return tuple(each for each in (self.found.not_even_so if self.found else ()) if each.cell.env in compiles)

    @property
    def known(self) -> tuple[str, ...]:
        """The names of the edits that are known for the failure's class."""
        return tuple(edit.name for edit in known_edits(self.failure.outcome.failure, self.cell.env.toolchain))


def fix(
    selection: Selection,
    cell: str,
    context: RunContext,
    obtain: Obtain | None = None,
    listener: Listener | None = None,
) -> Fix:
    """Search for an edit that makes a failing cell compile, in its own env and in those that the selection names.

    ``cell`` is an id, or a glob that matches one cell; a release may stand for the env, and a GPU for the target. Edits are of the
    function that the cell names and of functions of the same file that it uses, or of constexprs of its kernel file. The smallest
    edits known for the failure's class are tried first, each compiled for the cell's target in all envs, until one compiles in all
    of them. Numbers are not checked. Nothing is written: :func:`compat.fix.write_fix` does that.

    ``context`` needs no envs: they are asked of ``obtain``, which may build them; ``listener`` hears of what is compiled. Raises
    SelectionError where no one cell is meant or it compiles, EnvError where its env cannot be used, and ConfigError where its
    source cannot be read.
    """
    chosen = _cell(selection, cell)
    envs = _envs(selection, chosen, obtain or selection.read_envs)
    with Folder("compat-fix-") as scratch:
        compiling = Compiling(
            spec=chosen.spec,
            source=SourceFile.read(Path(chosen.spec.source), tuple(map(Path, chosen.spec.roots))),
            target=chosen.target,
            context=with_envs(context, envs),
            folder=Path(scratch),
            listener=listener or Listener(),
        )
        before = compiling.original([each.env for each in envs])
        own = next(each for each in before if each.cell.env == chosen.env)
        if is_good(own.outcome):
            raise SelectionError(f"{chosen.id} compiles", hint="There is nothing to fix. `compat matrix` shows what fails.")
        with compiling.listener.step("trying edits"):
            found, search = compiling.search(chosen.env, [each.env for each in envs], own.outcome)
        if search and search.tried and not found:
            compiling.check_copies(chosen.env, own.outcome)
        if (best := best_of(found)) and chosen.spec.guessed:
            alone = settled(best.candidate, chosen.spec, compiling.source, compiling.folder)
            found[found.index(best)] = best = evolve(best, candidate=alone)
    return Fix(
        cell=chosen,
        source=compiling.source,
        before=before,
        found=best,
        others=tuple(each for each in found if each is not best),
        refused=tuple(search.refused) if search else (),
        tried=search.tried if search else 0,
        changes=changed_files(best.candidate, compiling.source, chosen.spec, selection.root) if best else (),
        existing=existing_releases(selection.config)[chosen.env.toolchain],
    )


@define(kw_only=True)
class Compiling:
    """Compiles edited kernels, each in a folder of its own."""

    spec: Specialization
    source: SourceFile
    target: Target
    context: RunContext
    folder: Path
    listener: Listener = field(factory=Listener)
    _count: int = 0

    def original(self, envs: Sequence[Env]) -> tuple[Result, ...]:
        """The kernel as it is."""
        return self._run([Cell(env=env, target=self.target, spec=self.spec) for env in envs])

    def everywhere(self, candidate: Candidate, envs: Sequence[Env]) -> Tried:
        """A candidate in all envs."""
        spec = self._written(candidate)
        return Tried(candidate=candidate, results=self._run([Cell(env=env, target=self.target, spec=spec) for env in envs]))

    def search(self, env: Env, envs: Sequence[Env], outcome: Outcome | None = None) -> tuple[list[Tried], Search | None]:
        """Edits that help in an env, tried in all until one helps in all; ``outcome`` is what became of the kernel there."""
        start = Candidate(text=self.source.text, compile=self.spec.compile)
        outcome = outcome or self._attempted([start], env)[0]
        if outcome.failure is None or outcome.flaky or not outcome.status.is_answer:
            return [], None
        search = Search(
            function=self.spec.function,
            toolchain=toolchains.of(env),
            try_all=lambda some: self._attempted(some, env),
            files=Files(
                name=self.source.name,
                beside={name: each.text for name, each in self.source.editable.items()},
                roots=self.source.inner_roots,
            ),
        )
        found: list[Tried] = []
        for candidate in islice(search.run(start, outcome.failure), _MOST):
            found.append(self.everywhere(candidate, envs))
            if not found[-1].not_even_so:
                break
        return found, search

    def check_copies(self, env: Env, outcome: Outcome) -> None:
        """Raise ConfigError where a copy without any edit does not fail as the kernel does: then no edit was really tried."""
        (copied,) = self._attempted([Candidate(text=self.source.text, compile=self.spec.compile)], env)
        if class_of(copied) != class_of(outcome):
            why = f"a copy of it elsewhere fails in another way ({class_of(copied)}), so that no edit can be tried"
            hint = "It may need files beside it that it does not import by name."
            raise ConfigError(why, where=str(self.source.path), hint=hint)

    def _attempted(self, candidates: Sequence[Candidate], env: Env) -> list[Outcome]:
        """What becomes of candidates in an env, attempted once: what helps is compiled as any cell is, before it is shown."""
        cells = [Cell(env=env, target=self.target, spec=self._written(each)) for each in candidates]
        shares = [cells[slot :: self.context.slots] for slot in range(self.context.slots)]
        outcomes: dict[Cell, Outcome] = {}
        with self.listener.compiling(len(cells)) as note, closing(self.context.open_executor()) as executor:
            for some in run.concurrently(lambda share: self._attempt(share, executor, note), shares, self.context.slots):
                outcomes |= some
        return [outcomes[each] for each in cells]

    def _attempt(self, cells: Sequence[Cell], executor: Executor, note: Callable[[Result], None]) -> dict[Cell, Outcome]:
        if not cells:
            return {}
        built, found = self.context.envs[cells[0].env.name], dict[Cell, Outcome]()
        for each in executor.submit(Batch.of(cells, built, self.context.limits, keep=False)):
            cell = cells[each.position]
            found[cell] = run.outcome_of(cell, each.attempts)
            note(Result(cell=cell, built=built, outcome=found[cell]))
        return found

    def _run(self, cells: Sequence[Cell]) -> tuple[Result, ...]:
        with self.listener.compiling(len(cells)) as note:
            return run.run(cells, evolve(self.context, stop=threading.Event()), note)

    def _written(self, candidate: Candidate) -> Specialization:
        self._count += 1
        spec = evolve(self.spec, compile=candidate.compile)
        return self.source.specialize(spec, candidate.text, self.folder / str(self._count), candidate.beside)


def _tells(result: Result) -> bool:
    """Whether a result says something about the kernel."""
    return result.outcome.status.is_answer and result.outcome.status is not Status.UNSUPPORTED


def best_of(found: Sequence[Tried]) -> Tried | None:
    """The first that helps everywhere, else the first that helps in most envs."""
    return max(found, key=lambda each: (not each.not_even_so, len(each.helps)), default=None)


# --- which cell, and which envs ----------------------------------------------------------------------------------------------


def _cell(selection: Selection, name: str) -> Cell:
    """By its id; else the only one that is meant of what was chosen, or else of all there are."""
    everywhere = selection.with_patterns(envs=("*",), targets=selection.patterns.targets or ("*",))
    pattern = cell_pattern(name, everywhere.config, selection.patterns.kernel_files)
    everywhere = evolve(everywhere, envs=known_envs(everywhere.config)).and_envs(pattern.envs)
    cell, *others = pattern.choose(selection.cells, everywhere.cells)
    if others:
        raise several_match(pattern.text, (cell, *others))
    return cell


def _envs(selection: Selection, cell: Cell, obtain: Obtain) -> list[BuiltEnv]:
    """The cell's own env, and those that the selection names and the kernel is meant for; the oldest release first."""
    meant = [env for env in selection.envs if toolchains.go_together(env, cell.target, cell.spec)]
    wanted: Mapping[str, Env] = {env.name: env for env in (cell.env, *meant)}
    built = list(obtain(selection.config.path, tuple(wanted.values())))
    own = next(each for each in built if each.env == cell.env)
    if own.error is not None:
        raise EnvError(f"{cell.env.name} cannot be used: {own.error}", hint="`compat list envs` shows the others.")
    return sorted(built, key=lambda each: release_of(each).order)  # what cannot be used is told as unknown
