"""Turn cells into results: read the stored ones, compile, confirm and store the others.

This is the only module with concurrency. A batch is the unit of work for an executor. Evidence of a
cell is in the store before the executor continues, so a run that ends early loses nothing.

Stored results are reported without compiling anything, and without a request to an index. A release
exists if ``matrix.toml`` declares an env of it or a stored answer of the package index lists a
wheel. An env exists if ``matrix.toml`` declares it or a command of the project has asked for it.
"""

from __future__ import annotations

import logging
import threading
import time
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Self, TypeVar

from attrs import evolve, field, frozen
from packaging.version import Version

from compat import interruption, toolchains
from compat.config.matrix import MatrixConfig
from compat.diagnosis import classify
from compat.engine import plan
from compat.engine.plan import BatchQueue
from compat.envs.cache import noted_envs
from compat.envs.listing import INDEX, index_urls, kept_files
from compat.envs.record import read_env, read_unchecked_env
from compat.errors import MachineError, SelectionError
from compat.executors.executor import Batch, Executor, LocalExecutor, OpenExecutor
from compat.files import folder_digest
from compat.interruption import Stopped
from compat.model import (
    BuiltEnv,
    Cell,
    Env,
    Evidence,
    Expectation,
    Outcome,
    Result,
    Specialization,
    Status,
    Target,
)
from compat.model.outcome import compact_record
from compat.processes.supervisor import AVAILABLE_CORES
from compat.source.closure import ClosureCheck
from compat.store.keys import CellKeys, is_about, witnesses_of
from compat.store.store import Store
from compat.text import group_by_key, lazy_pattern
from compat.toolchains.base import Toolchain
from compat.workers.attempt import PLAIN, Limits, Mode
from compat.workers.spawn import WORKER

_log = logging.getLogger(__name__)

_AT_ONCE = 500
"""Rows of the store that are in memory at the same time."""
_LOOK_EVERY = 0.1
"""Seconds between two checks of cells that other processes compile."""

_PLACE = lazy_pattern(r"([^/(]+):\d+\)$")
"""The file at the end of a stand-in's answer."""

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")


class Interrupted(Stopped):
    """The run was stopped; everything finished before is in the store."""

    def __init__(self, done: int, total: int) -> None:
        super().__init__(f"{done} of {total} cells are done")
        self.done, self.total = done, total


@frozen(kw_only=True)
class RunContext:
    """How to compile: environments, store, limits and executor."""

    envs: Mapping[str, BuiltEnv]
    """Env name → environment."""
    store: Store
    """The store of results."""
    limits: Limits
    """Limits of one cell."""
    slots: int = AVAILABLE_CORES
    """Number of cells that compile at the same time."""
    again: bool = False
    """Compile stored cells again."""
    worker: Path = WORKER
    """Folder of the worker's program."""
    idle_timeout: float = 0.0
    """Seconds that a worker waits for the next run before it ends. 0: it ends with the run."""
    stop: threading.Event = field(factory=threading.Event)
    """Set it to end the run early."""
    unchanged: ClosureCheck = field(factory=ClosureCheck)
    """Checks whether a kernel's file still has the content that its key covers."""
    executor: OpenExecutor = LocalExecutor
    """Where cells are compiled."""
    mode: Mode = PLAIN
    """How cells are attempted. Only the plain mode confirms failures by a second attempt."""

    def with_envs(self, envs: Iterable[BuiltEnv]) -> Self:
        """Return the context with these environments only."""
        return evolve(self, envs={built.env.name: built for built in envs})

    def stored(self, keys: Iterable[str]) -> dict[str, tuple[Evidence, ...]]:
        """Return the stored evidence under these keys that needs no other try with these limits."""
        return self.store.read(keys, deadline=self.limits.deadline, memory=self.limits.memory)

    def forecast(self, cells: Sequence[Cell]) -> plan.Forecast:
        """Return the expected time of cells, from the durations of earlier results."""
        earlier = self.store.seconds({cell.spec.kernel for cell in cells})
        return plan.forecast((cell.id for cell in cells), earlier, self.slots, len(cells))

    def open_executor(self, stop: threading.Event | None = None) -> Executor:
        """Open an executor, which the caller closes.

        It stops when ``stop`` is set; by default the run's.
        """
        return self.executor(
            worker=self.worker,
            idle_timeout=self.idle_timeout,
            stop=self.stop if stop is None else stop,
        )


OnPlan = Callable[[Sequence[Cell], plan.Forecast], None]
"""Receives the cells that will be compiled, and the time that they may take."""


def run(
    cells: Sequence[Cell],
    context: RunContext,
    on_result: Callable[[Result], None] = lambda _: None,
    on_plan: OnPlan | None = None,
) -> tuple[Result, ...]:
    """Compile cells that are not known yet, and return the result of every cell.

    Cells with equal keys are compiled once.

    Args:
        cells: The cells. This machine starts them in this order.
        context: How to compile.
        on_result: Called with each result, perhaps from another thread.
        on_plan: Called before the first cell starts.

    Returns:
        The results in the order of ``cells``.

    Raises:
        Interrupted: The run was stopped early. Finished cells are kept.
        StoreError: Results cannot be kept.
        MachineError: The machine lacks a resource, such as disk or memory.
        ValueError: The toolchain of a cell's environment is not its kernel's. This is a fault of
            the caller.
    """
    _refuse_mixed(cells)
    under_way = _RunningCells(cells, context, on_result)
    missing = under_way.find_missing()
    _log.info(
        "%d cells: %d in the store, %d to compile", len(cells), under_way.result_count, len(missing)
    )
    if on_plan is not None:
        planned = [cells[position] for position in missing]
        on_plan(planned, context.forecast(planned))
    try:
        under_way.compile_all(missing)
    except MachineError as error:
        raise error.after(under_way.result_count, len(cells)) from error
    return under_way.results()


class _RunningCells:
    """The cells of a run, and their results by position.

    Cells with equal keys share one outcome.
    """

    def __init__(
        self, cells: Sequence[Cell], context: RunContext, on_result: Callable[[Result], None]
    ) -> None:
        self._cells, self._context, self._on_result = cells, context, on_result
        self._keys = CellKeys(folder_digest(context.worker), context.mode)
        self._claims = context.store.claims
        self._results: list[Result | None] = [None] * len(cells)
        self._alike: dict[int, list[int]] = {}
        """The first position of a key → the other positions with that key."""

    @property
    def result_count(self) -> int:
        """Number of cells with a result."""
        return sum(result is not None for result in self._results)

    def results(self) -> tuple[Result, ...]:
        """Return all results in the order of the cells. Raises Interrupted if some are missing."""
        results = tuple(result for result in self._results if result is not None)
        if len(results) < len(self._cells):
            raise Interrupted(len(results), len(self._cells))
        return results

    # --- known outcomes ---

    def find_missing(self) -> Sequence[int]:
        """Save the known outcomes: of broken envs, and from the store.

        Returns the first position of each other key, in order.
        """
        missing: list[int] = []
        for env, positions in _by_content(self._cells, self._context):
            if env.error is not None:
                for position in positions:
                    self._note(position, classify.broken_env_outcome(env.error, env.env.toolchain))
                continue
            firsts: dict[str, int] = {}
            for position in positions:
                first = firsts.setdefault(self._keys.of(self._cells[position], env), position)
                if first != position:
                    self._alike.setdefault(first, []).append(position)
            if not self._context.again:
                for key, outcome in _already_known(
                    {key: self._cells[first] for key, first in firsts.items()}, self._context
                ):
                    self._finish(firsts.pop(key), outcome, cached=True)
            missing += firsts.values()
        return array("L", sorted(missing))

    def _finish(self, first: int, outcome: Outcome, *, cached: bool = False) -> None:
        """Save the outcome of a cell, and of all cells with an equal key.

        It is ``cached`` if another run has compiled it. May be called from several threads.
        """
        for position in (first, *self._alike.get(first, ())):
            self._note(position, outcome, cached=cached)

    def _note(self, position: int, outcome: Outcome, *, cached: bool = False) -> None:
        cell = self._cells[position]
        result = result_of(cell, self._context.envs[cell.env.name], outcome, cached=cached)
        self._results[position] = result
        self._on_result(result)

    # --- cells to compile ---

    def compile_all(self, missing: Sequence[int]) -> None:
        """Compile the cells at the positions ``missing``.

        Cells that other processes have claimed come last, after those processes have compiled them
        or ended.
        """
        waiting = self._keys_at(self._compile_free(missing) if missing else ())
        while waiting and not self._context.stop.is_set() and not interruption.is_requested():
            free = [
                position for position, key in waiting.items() if self._claims.holder(key) is None
            ]
            if free:
                claimed = self._compile_free(free)
                waiting = {
                    position: key
                    for position, key in waiting.items()
                    if position in claimed or position not in free
                }
            else:
                self._claims.name_holder(next(iter(waiting.values())))
                self._context.stop.wait(_LOOK_EVERY)

    def _keys_at(self, positions: Collection[int]) -> dict[int, str]:
        """Position → the key of the cell there."""
        cells, envs = self._cells, self._context.envs
        return {
            position: self._keys.of(cells[position], envs[cells[position].env.name])
            for position in sorted(positions)
        }

    def _compile_free(self, missing: Sequence[int]) -> Collection[int]:
        """Compile the cells at some positions, without those that other processes claim first.

        Returns the positions of the claimed cells.
        """
        context, claimed = self._context, set[int]()
        with (
            closing(context.open_executor()) as executor,
            slot_threads(executor, context) as threads,
        ):
            slots = executor.slots or context.slots
            batches = plan.batches(self._cells, missing, slots)
            queue = BatchQueue(batches, executor)

            # Each thread takes batches itself. A future per batch would take more memory than the
            # results.
            def compile_remaining() -> None:
                while not context.stop.is_set() and (batch := queue.take()) is not None:
                    claimed.update(self._compile_batch(batch, executor, queue))

            futures = [threads.submit(compile_remaining) for _ in range(min(len(missing), slots))]
            try:
                _wait(futures)
            except KeyboardInterrupt:
                # Finished results are in the store. The caller sees that others are missing.
                context.stop.set()
            except BaseException:
                context.stop.set()
                raise
            finally:
                threads.shutdown(wait=True, cancel_futures=True)
        return claimed

    def _compile_batch(
        self, positions: Sequence[int], executor: Executor, queue: BatchQueue
    ) -> Collection[int]:
        """Let the executor attempt and confirm a batch, and store and report its results.

        Returns the positions of cells that another process has claimed.
        """
        key_of = self._keys_at(positions)
        own = [
            position
            for position in positions
            if self._context.again or self._claims.take(key_of[position])
        ]
        try:
            if remaining := self._not_kept_meanwhile(own, key_of):
                self._compile_claimed(remaining, executor, key_of)
        except Stopped:
            pass
        finally:
            for position in own:
                self._claims.release(key_of[position])
            queue.finish_cells(self._cells[positions[0]].env.name, len(positions))
        return set(positions).difference(own)

    def _not_kept_meanwhile(
        self, positions: Sequence[int], key_of: Mapping[int, str]
    ) -> Sequence[int]:
        """Report cells that another process has compiled since the plan was made.

        Returns the positions of the others.
        """
        if self._context.again:
            return positions
        by_key = {key_of[position]: position for position in positions}
        for key, outcome in _already_known(
            {key: self._cells[position] for key, position in by_key.items()}, self._context
        ):
            self._finish(by_key.pop(key), outcome, cached=True)
        return list(by_key.values())

    def _compile_claimed(
        self, positions: Sequence[int], executor: Executor, key_of: Mapping[int, str]
    ) -> None:
        """Let the executor attempt and confirm claimed cells; store and report their results.

        The claim of a cell ends when its result is in the store.
        """
        context, began = self._context, time.time()
        batch = [self._cells[position] for position in positions]
        built, confirm = context.envs[batch[0].env.name], context.mode == PLAIN
        submitted = Batch(batch, built, context.limits, mode=context.mode, confirm=confirm)
        with closing(executor.submit(submitted)) as stream:
            for cell_attempts in stream:
                number, attempts = cell_attempts.position, cell_attempts.attempts
                cell, position = batch[number], positions[number]
                outcome = outcome_of(cell, attempts)
                _log.debug("%s: %s after %d attempts", cell.id, outcome.status, len(attempts))
                context.store.add(cell_attempts.artifacts)
                if (
                    stored_evidence := _to_be_kept(cell, outcome, attempts, context, began)
                ) is not None:
                    context.store.write(key_of[position], cell, stored_evidence)
                self._claims.release(key_of[position])
                self._finish(position, outcome)


def slot_threads(executor: Executor, context: RunContext) -> ThreadPoolExecutor:
    """Return a pool with one thread for each batch that is compiled at the same time."""
    return ThreadPoolExecutor(executor.slots or context.slots, thread_name_prefix="slot")


def _wait(futures: Iterable[Future[None]]) -> None:
    done, _ = wait(futures, return_when=FIRST_EXCEPTION)
    for future in done:
        future.result()


def concurrently(
    function: Callable[[_Item], _Answer], items: Iterable[_Item], slots: int
) -> list[_Answer]:
    """Return the results of a function for all items, in order. ``slots`` calls run at once."""
    with ThreadPoolExecutor(slots, thread_name_prefix="slot") as executor:
        return list(executor.map(function, items))


def _refuse_mixed(cells: Iterable[Cell]) -> None:
    """Raise ValueError if a cell's env has another toolchain than its kernel."""
    for cell in cells:
        if cell.env.toolchain != cell.spec.toolchain:
            raise ValueError(
                f"{cell.id}: the env is of {cell.env.toolchain}, the kernel is for"
                f" {cell.spec.toolchain}"
            )


# --- stored results -------------------------------------------------------------------------------


def stored_results(
    cells: Sequence[Cell], context: RunContext, *, imported: bool = True
) -> tuple[Result, ...]:
    """Return the results that the store has for some of ``cells``. Compiles nothing.

    Args:
        cells: The cells.
        context: How they would be compiled.
        imported: Leave out results that say that the kernel's file could not be imported.
    """
    keys = CellKeys(folder_digest(context.worker), context.mode)
    results: list[Result] = []
    for env, positions in _by_content(cells, context):
        if env.error is not None:
            continue
        of_env = [cells[position] for position in positions]
        keyed = group_by_key((keys.of(cell, env), cell) for cell in of_env)
        for key, outcome in _already_known(
            {key: alike[0] for key, alike in keyed.items()}, context, imported=imported
        ):
            results += [
                result_of(cell, context.envs[cell.env.name], outcome, cached=True)
                for cell in keyed[key]
            ]
    return tuple(results)


def _by_content(
    cells: Sequence[Cell], context: RunContext
) -> Iterator[tuple[BuiltEnv, Sequence[int]]]:
    """Yield envs with the positions of their cells. Envs with equal content count as one env.

    Cells of different content never have equal keys. So the caller can hold the keys of one env at
    a time. The keys of all cells take as much memory as the results.
    """
    positions: dict[tuple[str, str | None], array[int]] = {}
    for position, cell in enumerate(cells):
        env = context.envs[cell.env.name]
        positions.setdefault((env.digest, env.error), array("L")).append(position)
    for those in positions.values():
        yield context.envs[cells[those[0]].env.name], those


def _already_known(
    keyed: Mapping[str, Cell], context: RunContext, *, imported: bool = True
) -> Iterator[tuple[str, Outcome]]:
    """Yield the keys for which the store has an answer, with their outcomes.

    At most :data:`_AT_ONCE` of them are in memory at a time.
    """
    remaining = iter(keyed.items())
    while some := dict(islice(remaining, _AT_ONCE)):
        for key, attempts in context.stored(some).items():
            if not is_about(some[key], attempts):
                continue
            outcome = outcome_of(some[key], attempts)
            # Evidence without an answer only serves reports. Another attempt may succeed now,
            # because the missing package or module may exist.
            if outcome.status.is_answer or (
                outcome.status is Status.SOURCE_BROKEN and not imported
            ):
                yield key, outcome


def outcome_of(cell: Cell, attempts: Sequence[Evidence]) -> Outcome:
    """Return the outcome of a cell, from all attempts at it."""
    return compact_record(
        classify.classify(attempts, target=cell.target, knowledge=toolchains.of(cell.env).failures)
    )


def result_of(cell: Cell, built: BuiltEnv, outcome: Outcome, *, cached: bool = False) -> Result:
    """Return the result of a cell, with the declared failure that covers it."""
    return Result(
        cell=cell,
        built=built,
        outcome=outcome,
        expectation=expectation_of(cell, built),
        cached=cached,
    )


def expectation_of(cell: Cell, built: BuiltEnv) -> Expectation | None:
    """Return the first declared failure that covers a cell; ``None`` if ok is expected.

    It is also ``None`` if the release is unknown.
    """
    release = Version(built.release) if built.release else cell.env.release
    if release is None:
        return None
    # A fork (+git…, +fork1) is expected to behave like the release that it is made from.
    public = Version(release.public)
    covering = (
        e
        for e in cell.spec.expectations
        if e.covers(release=public, target=cell.target.name, case=cell.spec.case)
    )
    return next(covering, None)


# --- existing releases and envs -------------------------------------------------------------------


def existing_releases(config: MatrixConfig) -> Mapping[str, tuple[Version, ...]]:
    """Return toolchain → the final releases that are known to exist, oldest first.

    They are the releases that ``matrix.toml`` declares, and the releases in the index's last answer
    that are not withdrawn. Without an answer, the built-in releases replace the latter.
    """
    return {toolchain.name: _existing(config, toolchain) for toolchain in toolchains.every()}


def _existing(config: MatrixConfig, toolchain: Toolchain) -> tuple[Version, ...]:
    published = toolchain.distribution
    listed = kept_files(published, index_urls(), cache=config.base / INDEX).versions()
    envs = config.envs if listed else (*config.released, *config.envs)
    declared = {
        env.release
        for env in envs
        if env.toolchain == toolchain.name and toolchains.is_release(env) and env.release
    }
    versions = declared | {
        version for version in listed if toolchain.oldest is None or version >= toolchain.oldest
    }
    return tuple(
        sorted(
            version for version in versions if not version.is_prerelease and version.local is None
        )
    )


def known_envs(config: MatrixConfig) -> tuple[Env, ...]:
    """Return the envs of ``matrix.toml``, then other envs that commands of the project used."""
    envs = {env.name: env for env in config.envs}
    for name in noted_envs(config.base):
        try:
            envs.setdefault(name, config.env(name))
        except SelectionError:
            continue  # no longer declared: its release is unknown
    return tuple(envs.values())


def recall(
    kernels: Sequence[tuple[Specialization, Target]],
    context: RunContext,
    config: MatrixConfig,
    *,
    besides: Iterable[BuiltEnv],
) -> tuple[Result, ...]:
    """Return the stored results of ``kernels`` on releases that are not in ``besides``.

    The releases of envs in ``besides`` that cannot be used are included.
    """
    excluded = {
        (built.env.toolchain, built.env.release) for built in besides if built.error is None
    }
    names = {spec.toolchain for spec, _ in kernels}
    others = [
        env
        for env in known_envs(config)
        if env.toolchain in names
        and env.release is not None
        and (env.toolchain, env.release) not in excluded
    ]
    cache = config.env_cache()
    # Reading the store first saves a look at the files of envs without results.
    states = (read_unchecked_env(env, cache) for env in others)
    usable = [built for built in states if built.error is None]
    envs = [built for built in usable if not toolchains.is_fork(built.env, built.release)]
    cells = [
        cell
        for built in envs
        for spec, target in kernels
        for cell in toolchains.cells(built.env, spec, (target,))
    ]
    results = stored_results(cells, context.with_envs(envs))
    of_results = {result.cell.env.name for result in results}
    intact = {
        built.env
        for built in envs
        if built.env.name in of_results and read_env(built.env, cache) == built
    }
    return tuple(result for result in results if result.cell.env in intact)


# --- evidence for the store -----------------------------------------------------------------------


def _to_be_kept(
    cell: Cell, outcome: Outcome, attempts: Sequence[Evidence], context: RunContext, began: float
) -> Sequence[Evidence] | None:
    """Return the evidence to store under the cell's key, with the files that it also depends on.

    Returns ``None`` if the store must not keep it. It keeps evidence about the kernel, and evidence
    on why its file could not be imported. The kernel's files must match the key during the whole
    attempt.
    """
    if not outcome.status.is_answer and outcome.status is not Status.SOURCE_BROKEN:
        return None
    spec = cell.spec
    imported = [path for evidence in attempts for path in evidence.imported]
    beyond = context.unchanged.beyond(spec.source, spec.closure, imported, spec.roots)
    witnesses = witnesses_of(spec, beyond, began)
    if witnesses is None:
        return None
    partly = {path.name for path in context.unchanged.partly(spec.source, spec.closure, spec.roots)}
    closure = (
        spec.closure
        if partly and any(_names_lines(evidence, partly) for evidence in attempts)
        else ""
    )
    return (
        [evolve(evidence, witnesses=witnesses, closure=closure) for evidence in attempts]
        if witnesses or closure
        else attempts
    )


def _names_lines(evidence: Evidence, files: Collection[str]) -> bool:
    """Whether evidence may name lines of files with these names.

    They are lines of a failure, and lines that asked a stand-in.
    """
    stood_in = evidence.stood_in
    if not evidence.complete or (stood_in is not None and stood_in.skipped):
        return True
    places = [_PLACE.search(answer) for answer in (stood_in.answers if stood_in else ())]
    return any(place is None or place[1] in files for place in places)
