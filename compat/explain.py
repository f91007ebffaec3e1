"""Collect everything that is known about one cell, without compiling anything.

In: a selection, and the id of a cell or a glob. Out: an :class:`Explanation`, which
:mod:`compat.report.views.explanation` shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from attrs import evolve, frozen

from compat import toolchains
from compat.config.selection import cell_pattern, several_match
from compat.diagnosis import classify
from compat.engine.interpreting import with_interpreted
from compat.engine.run import existing_releases, known_envs, outcome_of, result_of
from compat.envs.record import read_unchecked_env
from compat.files import folder_digest
from compat.history.growth import SLOW, SettingGrowth
from compat.history.sizes import differing, smaller, value_of
from compat.history.slowness import slowness
from compat.history.suspects import neighbours, slow_suspects
from compat.history.verdict import Verdict, release_of, verdicts
from compat.model import BuiltEnv, Cell, Env, Evidence, Outcome, Result, Status
from compat.project import Selection
from compat.store.keys import CellKeys, is_about
from compat.store.store import Store
from compat.workers.attempt import PLAIN, Mode, timing_mode
from compat.workers.evidence import PRINTED
from compat.workers.spawn import WORKER


@frozen(kw_only=True)
class Artifact:
    """A stored file of an attempt, such as an MLIR reproducer."""

    path: Path
    there: bool
    """Whether the file still exists with the same content. The user may delete it."""


@frozen(kw_only=True)
class Explanation:
    """Everything that is known about one cell."""

    cell: Cell
    built: BuiltEnv
    """Its environment."""
    attempts: tuple[Evidence, ...]
    """The evidence, first attempt to last. Empty: never compiled, or something it depends on has
    changed.
    """
    result: Result | None
    """The meaning of the evidence. ``None``: there is no evidence."""
    verdict: Verdict | None
    """The verdict on its specialization and target over all releases.

    ``None``: there are no results.
    """
    reproducer: Artifact | None = None
    """The MLIR reproducer of its failure."""
    ir: Artifact | None = None
    """The IR before the failing pass."""
    slowness: str | None = None
    """A sentence that says whether it is slow or stuck, and where the time goes. ``None``: it is
    neither.
    """
    slow_suspect: str | None = None
    """A sentence that says why its code is likely slower than on the previous release."""
    output: Artifact | None = None
    """The whole compressed output of the last attempt, IR included.

    ``None``: the evidence has all of it.
    """
    options: tuple[str, ...] = ()
    """Options with which another command finds the same cell: the project's files, and a deadline
    other than the default.
    """


@frozen(kw_only=True)
class CellOverview:
    """The outcomes of several cells that one glob matches."""

    pattern: str
    results: tuple[Result, ...]
    """The results of the cells that were run: the newest release first, and each release in the
    order of the cells.
    """
    matching: int
    """How many cells the glob matches."""


def explain(selection: Selection, cell: str, store: Store) -> Explanation | CellOverview:
    """Return everything that the store knows about a cell, or an overview of several cells.

    Args:
        selection: The project. If it names no envs (targets), all are searched.
        cell: Id of a cell, or a glob. A release may stand for the env, a GPU for the target.
        store: The results.

    Returns:
        The explanation of the only cell that matches or has a result; otherwise an overview.

    Raises:
        SelectionError: No cell matches, or several match and none has a result.
    """
    patterns = selection.patterns
    everywhere = selection.with_patterns(
        envs=patterns.envs or ("*",), targets=patterns.targets or ("*",)
    )
    if not patterns.envs:
        everywhere = evolve(everywhere, envs=known_envs(everywhere.config))
    pattern = cell_pattern(cell, everywhere.config, patterns.kernel_files)
    everywhere = everywhere.and_envs(pattern.envs)
    stored = StoredCells(everywhere, store)
    matching = pattern.choose(everywhere.cells)
    if len(matching) > 1:
        with_results = stored.attempts(matching)
        with_result = tuple(match for match in matching if match in with_results)
        if len(with_result) > 1:
            return CellOverview(
                pattern=pattern.text, results=stored.results(with_result), matching=len(matching)
            )
        matching = with_result or matching
    if len(matching) > 1:
        raise several_match(pattern.text, matching)
    chosen = matching[0]
    built = stored.env(chosen.env)
    attempts = stored.attempts([chosen]).get(chosen, ())
    plain = _result(chosen, built, attempts)
    (result,) = with_interpreted([plain], store) if plain else (None,)
    failure = result.outcome.failure if result else None
    reproducer, ir = (failure.reproducer, failure.ir) if failure else (None, None)
    all_printed = (attempt.artifacts.get(PRINTED) for attempt in reversed(attempts))
    printed = next(filter(None, all_printed), None)
    return Explanation(
        cell=chosen,
        built=built,
        attempts=attempts,
        result=result,
        verdict=stored.history(chosen),
        reproducer=artifact(reproducer, store) if reproducer else None,
        ir=artifact(ir, store) if ir else None,
        slowness=(
            slowness(chosen.spec, result.outcome, attempts, stored.growths(chosen, result.outcome))
            if result
            else None
        ),
        slow_suspect=stored.slow_suspect(chosen, result) if result else None,
        output=artifact(printed, store) if printed else None,
        options=(*selection.options, *_limits(selection, attempts)),
    )


def _limits(selection: Selection, attempts: Sequence[Evidence]) -> Iterator[str]:
    deadline = attempts[0].deadline if attempts else None
    if deadline is not None and deadline != selection.config.deadline:
        yield from ("--deadline", f"{deadline:g}")


def artifact(name: str, store: Store) -> Artifact:
    """Return the path of an artifact with that name, and whether its content is unchanged."""
    return Artifact(path=store.artifacts / name, there=store.artifact(name) is not None)


class StoredCells:
    """The stored evidence and results of cells, whatever the limits of their attempts were."""

    def __init__(self, selection: Selection, store: Store) -> None:
        self.config, self.store, self._selection = selection.config, store, selection
        self._envs: dict[str, BuiltEnv] = {}
        self._recorded: dict[str, BuiltEnv] = {}

    def env(self, env: Env) -> BuiltEnv:
        """Return an env as it is on disk. Each env is read once."""
        if env.name not in self._envs:
            self._envs[env.name] = self._selection.look_at(env)
        return self._envs[env.name]

    def attempts(
        self, cells: Iterable[Cell], mode: Mode = PLAIN
    ) -> dict[Cell, tuple[Evidence, ...]]:
        """Return cell → the stored evidence of its compiles in that mode, if it has any."""
        keys: dict[str, list[Cell]] = {}
        key = CellKeys(folder_digest(WORKER), mode)
        for cell in cells:
            if (built := self._recorded_env(cell.env)).error is None:
                keys.setdefault(key.of(cell, built), []).append(cell)
        read = self.store.read(keys, deadline=0, memory=0)
        return {
            cell: evidence
            for key, evidence in read.items()
            for cell in keys[key]
            if is_about(cell, evidence) and self.env(cell.env) == self._recorded_env(cell.env)
        }

    def _recorded_env(self, env: Env) -> BuiltEnv:
        """An env as its record describes it. Most envs have no results, so nobody checks them."""
        if env.name not in self._recorded:
            self._recorded[env.name] = read_unchecked_env(env, self.config.env_cache())
        return self._recorded[env.name]

    def results(self, cells: Sequence[Cell]) -> tuple[Result, ...]:
        """Return the stored results of these cells, the newest release first, forks last."""
        numbered = with_interpreted(self._results(cells), self.store)
        releases = sorted({release_of(result.built).order for result in numbered}, reverse=True)
        line = sorted(releases, key=lambda order: order[0])
        return tuple(
            sorted(numbered, key=lambda result: line.index(release_of(result.built).order))
        )

    def growths(self, cell: Cell, outcome: Outcome) -> tuple[SettingGrowth, ...]:
        """Return how the compile time of a cell grows with its constexprs.

        The times come from stored results of other cases, and of searches with smaller values.
        """
        if outcome.status is not Status.TIMED_OUT and (outcome.compile_seconds or 0.0) < SLOW:
            return ()
        others = [
            (name, value, evolve(cell, spec=spec)) for name, value, spec in smaller(cell.spec)
        ]
        for spec in self._selection.with_patterns(
            kernels=(cell.spec.kernel,), variants=(cell.spec.variant,), cases=()
        ).specs:
            name = differing(cell.spec, spec)
            numbers = [value_of(one, name) or 0 for one in (cell.spec, spec)] if name else []
            if name and min(numbers) > 0:  # flags and negative numbers are not sizes
                others.append((name, numbers[1], evolve(cell, spec=spec)))
        cells = [other for _, _, other in others]
        timing = timing_mode(toolchains.of(cell.env))
        attempts = self.attempts(cells) | (self.attempts(cells, timing) if timing else {})
        outcomes_by_name: dict[str, dict[int, Outcome]] = {name: {} for name, _, _ in others}
        for name, value, other in others:
            if other in attempts:
                outcomes_by_name[name][value] = outcome_of(other, attempts[other])
        return tuple(
            SettingGrowth.of(name, outcomes | {value_of(cell.spec, name) or 1: outcome})
            for name, outcomes in outcomes_by_name.items()
            if outcomes
        )

    def slow_suspect(self, cell: Cell, result: Result) -> str | None:
        """Return why its code is likely slower than on the newest older release that compiles it.

        Returns ``None`` if it is no slow-suspect.
        """
        others = [evolve(cell, env=env) for env in known_envs(self.config) if env != cell.env]
        suspects = slow_suspects(neighbours((*self._results(others), result)))
        return next((suspect.sentence for suspect in suspects if suspect.result is result), None)

    def history(self, cell: Cell) -> Verdict | None:
        """Return the verdict on the cell's specialization and target, from all releases' results.

        Returns ``None`` if there are no results.
        """
        envs = (env for env in known_envs(self.config) if env.toolchain == cell.spec.toolchain)
        cells = [evolve(cell, env=env) for env in envs]
        results = with_interpreted(self._results(cells), self.store)
        history = verdicts(results, existing=existing_releases(self.config))
        return history[0] if history else None

    def _results(self, cells: Sequence[Cell]) -> list[Result]:
        """The stored results of cells, in their order, without the interpreter's checks."""
        attempts = self.attempts(cells)
        return [
            result
            for cell in cells
            if cell in attempts and (result := _result(cell, self.env(cell.env), attempts[cell]))
        ]


def _result(cell: Cell, built: BuiltEnv, attempts: tuple[Evidence, ...]) -> Result | None:
    if built.error is not None:
        outcome = classify.broken_env_outcome(built.error, built.env.toolchain)
    elif attempts:
        outcome = outcome_of(cell, attempts)
    else:
        return None
    return result_of(cell, built, outcome, cached=True)
