"""All that is known of one cell, without compiling anything.

In: a selection, and the id of a cell or a glob. Out: an :class:`Explanation`, which :mod:`compat.report.explanation` shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from attrs import evolve, frozen

from compat.bisect.known import existing_releases, known_envs
from compat.config.cell_pattern import cell_pattern, several_match
from compat.diagnosis import classify
from compat.execution.elsewhere import Lacking
from compat.execution.interpreting import with_interpreted
from compat.execution.obtaining import obtain
from compat.execution.printed import NAME as PRINTED
from compat.execution.run import expectation_of, outcome_of
from compat.execution.spawn import WORKER
from compat.execution.store import CellKeys, Store, is_about
from compat.files import folder_digest
from compat.history.verdict import Verdict, release_of, verdicts
from compat.model import BuiltEnv, Cell, Env, Evidence, Result
from compat.project import Selection


@frozen(kw_only=True)
class Artifact:
    """Something that an attempt left, such as an MLIR reproducer."""

    path: Path
    there: bool
    """Whether it still is what was kept: anybody may tidy up."""
    lacking: Lacking | None = None
    """Where it stayed, and why it could not be fetched from there."""


@frozen(kw_only=True)
class Explanation:
    """All that is known of one cell."""

    cell: Cell
    built: BuiltEnv
    attempts: tuple[Evidence, ...]
    """The evidence on it, first to last; empty where it was not compiled, or something that it depends on has changed since."""
    result: Result | None
    """What that evidence means; ``None`` where there is none."""
    verdict: Verdict | None
    """What the results on all releases together say of its kernel and target; ``None`` where there are none."""
    reproducer: Artifact | None = None
    """The MLIR reproducer of its failure."""
    ir: Artifact | None = None
    """The IR before the pass that it fails in."""
    printed: Artifact | None = None
    """All that its last attempt printed, IR included, compressed; ``None`` where that is not much, and all of it is evidence."""
    lacking: tuple[Lacking, ...] = ()
    """Artifacts of its attempts that stayed on workers and could not be fetched."""
    options: tuple[str, ...] = ()
    """What a command needs besides the cell to find the same again: the project's files, and a deadline that was not the usual."""


@frozen(kw_only=True)
class Tried:
    """What became of several cells that one glob matches."""

    pattern: str
    results: tuple[Result, ...]
    """Of those that were run, the newest release first, and of each release in the order of the cells."""
    matching: int
    """How many cells the glob matches."""


def explain(selection: Selection, cell: str, store: Store) -> Explanation | Tried:
    """What the store knows of a cell, or of several.

    ``cell`` is an id, or a glob; a release may stand for the env, and a GPU for the target. Of one cell, or where of several just
    one has a result, it is all that is known; of several what became of each. Where a selection names no envs or no targets, all
    are looked through. Raises SelectionError where no cell is meant, or several that have no result.
    """
    patterns = selection.patterns
    everywhere = selection.with_patterns(envs=patterns.envs or ("*",), targets=patterns.targets or ("*",))
    if not patterns.envs:
        everywhere = evolve(everywhere, envs=known_envs(everywhere.config))
    pattern = cell_pattern(cell, everywhere.config, patterns.kernel_files)
    everywhere = everywhere.and_envs(pattern.envs)
    known = _Known(everywhere, store)
    matching = pattern.choose(everywhere.cells)
    if len(matching) > 1:
        with_results = known.attempts(matching)
        tried = tuple(each for each in matching if each in with_results)
        if len(tried) > 1:
            return Tried(pattern=pattern.text, results=known.results(tried), matching=len(matching))
        matching = tried or matching
    if len(matching) > 1:
        raise several_match(pattern.text, matching)
    found = matching[0]
    built, lacking = known.env(found.env), known.obtained(found)
    attempts = known.attempts([found]).get(found, ())
    result = known.checked(_result(found, built, attempts))
    failure = result.outcome.failure if result else None
    printed = next((each.kept[PRINTED] for each in reversed(attempts) if PRINTED in each.kept), None)
    reproducer, ir = (failure.reproducer, failure.ir) if failure else (None, None)
    return Explanation(
        cell=found,
        built=built,
        attempts=attempts,
        result=result,
        verdict=known.history(found),
        reproducer=artifact(reproducer, store, lacking) if reproducer else None,
        ir=artifact(ir, store, lacking) if ir else None,
        printed=artifact(printed, store, lacking) if printed else None,
        lacking=lacking,
        options=(*selection.options, *_limits(selection, attempts)),
    )


def _limits(selection: Selection, attempts: Sequence[Evidence]) -> Iterator[str]:
    deadline = attempts[0].deadline if attempts else None
    if deadline is not None and deadline != selection.config.deadline:
        yield from ("--deadline", f"{deadline:g}")


def artifact(name: str, store: Store, lacking: Sequence[Lacking] = ()) -> Artifact:
    """Where an artifact of that name is, and whether it still is what was kept."""
    left = next((each for each in lacking if each.known.name == name), None)
    return Artifact(path=store.artifacts / name, there=store.artifact(name) is not None, lacking=left)


class _Known:
    """What the store knows of cells, whatever limits it was found under."""

    def __init__(self, selection: Selection, store: Store) -> None:
        self.config, self.store, self._selection = selection.config, store, selection
        self._envs: dict[str, BuiltEnv] = {}

    def env(self, env: Env) -> BuiltEnv:
        """An env as it is on disk, looked at once."""
        if env.name not in self._envs:
            self._envs[env.name] = self._selection.look_at(env)
        return self._envs[env.name]

    def attempts(self, cells: Iterable[Cell]) -> dict[Cell, tuple[Evidence, ...]]:
        """The evidence on each of the cells that have any."""
        keys: dict[str, list[Cell]] = {}
        key = CellKeys(folder_digest(WORKER))
        for cell in cells:
            if (built := self.env(cell.env)).error is None:
                keys.setdefault(key.of(cell, built), []).append(cell)
        read = self.store.read(keys, deadline=0, memory=0)
        return {cell: found for key, found in read.items() for cell in keys[key] if is_about(cell, found)}

    def obtained(self, cell: Cell) -> tuple[Lacking, ...]:
        """Fetch what stayed on workers of a cell's attempts; what is not to be had."""
        attempts = self.attempts([cell]).get(cell, ())
        read = (name for each in attempts for name in (each.diagnosis.reproducer, each.diagnosis.ir))
        return obtain(self.store, (*(name for each in attempts for name in each.kept.values()), *read))

    def results(self, cells: Sequence[Cell]) -> tuple[Result, ...]:
        """What became of these cells, the newest release first, forks last."""
        known = self.attempts(cells)
        each = [result for cell in cells if cell in known and (result := _result(cell, self.env(cell.env), known[cell]))]
        found = with_interpreted(each, self.store)
        releases = sorted({release_of(result.built).order for result in found}, reverse=True)
        line = sorted(releases, key=lambda order: order[0])
        return tuple(sorted(found, key=lambda result: line.index(release_of(result.built).order)))

    def checked(self, result: Result | None) -> Result | None:
        """A result with what is known of its numbers."""
        return next(iter(with_interpreted([result], self.store))) if result else None

    def history(self, cell: Cell) -> Verdict | None:
        """What the results on all releases together say of the cell's kernel and target; ``None`` where there are none."""
        envs = (env for env in known_envs(self.config) if env.toolchain == cell.spec.toolchain)
        found = self.attempts(evolve(cell, env=env) for env in envs)
        results = [result for each, attempts in found.items() if (result := _result(each, self.env(each.env), attempts))]
        return next(iter(verdicts(with_interpreted(results, self.store), existing=existing_releases(self.config))), None)


def _result(cell: Cell, built: BuiltEnv, attempts: tuple[Evidence, ...]) -> Result | None:
    if built.error is not None:
        outcome = classify.broken_env(built.error)
    elif attempts:
        outcome = outcome_of(cell, attempts)
    else:
        return None
    return Result(cell=cell, built=built, outcome=outcome, expectation=expectation_of(cell, built), cached=True)
