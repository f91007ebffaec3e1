"""From cells to results: what is known is read, the rest is compiled, confirmed and kept.

The only module with concurrency. A batch is the unit of work handed to an executor; what was finished is in the store before the
next cell begins, so that a run that ends early, however, loses nothing.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TypeVar

from attrs import evolve, field, frozen
from packaging.version import Version

from compat.engine.flight import DIAGNOSTIC, Limits
from compat.engine.launch import WORKER
from compat.engine.supervise import Stopped, attempt
from compat.engine.workers import Workers
from compat.evidence import classify
from compat.model import BuiltEnv, Cell, Evidence, Expectation, Outcome, Result
from compat.search import plan
from compat.store import Store, cell_key, folder_digest

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")

_CONFIRM_GRACE = 1.5
"""Seconds a hanging cell's confirmation sits in the stage where it hung before, to see in which pass that is."""


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


class Interrupted(Exception):
    """The run was stopped; everything finished before is in the store."""

    def __init__(self, done: int, total: int) -> None:
        super().__init__(f"{done} of {total} cells are done")
        self.done, self.total = done, total


@frozen(kw_only=True)
class Bench:
    """All that a run needs besides its cells."""

    envs: Mapping[str, BuiltEnv]
    """By env name."""
    store: Store
    limits: Limits
    slots: int = field(factory=available_cores)
    """How many cells are compiled at the same time."""
    again: bool = False
    """Compile even what is known."""
    worker: Path = WORKER
    idle_timeout: float = 0.0
    """Seconds that servers wait for the next command when a run is done; with 0 they end."""
    stop: threading.Event = field(factory=threading.Event)
    """Set to end the run early."""


def run(cells: Sequence[Cell], bench: Bench, on_result: Callable[[Result], None] = lambda _: None) -> tuple[Result, ...]:
    """The result of every cell, in the order of ``cells``.

    ``on_result`` hears of each as it is known, perhaps from another thread. Raises :class:`Interrupted` when stopped early, and
    :class:`compat.errors.StoreError` when results cannot be kept.
    """
    results: dict[str, Result] = {}

    def finish(result: Result) -> None:
        results[result.cell.id] = result
        on_result(result)

    for result in _already_known(cells, bench):
        finish(result)
    unknown = [cell for cell in cells if cell.id not in results]
    _compile_all(plan.batches(unknown, bench.slots), bench, finish)
    if len(results) < len({cell.id for cell in cells}):
        raise Interrupted(len(results), len(cells))
    return tuple(results[cell.id] for cell in cells)


# --- what is known -----------------------------------------------------------------------------------------------------------


def _already_known(cells: Sequence[Cell], bench: Bench) -> Iterator[Result]:
    keys: dict[str, Cell] = {}
    for cell in cells:
        built = bench.envs[cell.env.name]
        if built.error is not None:
            yield _result(cell, built, classify.broken_env(built.error))
        elif not bench.again:
            keys[_key(cell, bench)] = cell
    known = bench.store.read(keys, deadline=bench.limits.deadline, memory=bench.limits.memory)
    for key, attempts in known.items():
        cell = keys[key]
        outcome = classify.classify(attempts, target=cell.target)
        yield evolve(_result(cell, bench.envs[cell.env.name], outcome), cached=True)


def _key(cell: Cell, bench: Bench) -> str:
    return cell_key(cell, bench.envs[cell.env.name], folder_digest(bench.worker))


def _result(cell: Cell, built: BuiltEnv, outcome: Outcome) -> Result:
    return Result(cell=cell, built=built, outcome=outcome, expectation=expectation_of(cell, built))


def expectation_of(cell: Cell, built: BuiltEnv) -> Expectation | None:
    """The first declared failure that covers a cell; ``None`` means that it is expected to be ok."""
    release = Version(built.triton) if built.triton else cell.env.triton
    if release is None:
        return None
    public = Version(release.public)  # a fork's local version (+git…, +fork1) behaves as the release it is made from
    covering = (e for e in cell.spec.expectations if e.covers(release=public, target=cell.target.name, case=cell.spec.case))
    return next(covering, None)


# --- what has to be compiled -------------------------------------------------------------------------------------------------


def _compile_all(batches: Sequence[Sequence[Cell]], bench: Bench, finish: Callable[[Result], None]) -> None:
    if not batches:
        return
    with _Servers(bench, batches) as servers, ThreadPoolExecutor(bench.slots, thread_name_prefix="slot") as executor:
        futures = [executor.submit(_compile_batch, batch, servers, bench, finish) for batch in batches]
        try:
            _wait(futures)
        except KeyboardInterrupt:
            bench.stop.set()  # what is finished is kept; the caller sees by the results that it is not all
        except BaseException:
            bench.stop.set()
            raise
        finally:
            executor.shutdown(wait=True, cancel_futures=True)


def _wait(futures: Iterable[Future[None]]) -> None:
    done, _ = wait(futures, return_when=FIRST_EXCEPTION)
    for future in done:
        future.result()


def concurrently(function: Callable[[_Item], _Answer], items: Iterable[_Item], slots: int) -> list[_Answer]:
    """What a function says of each item, in their order; of ``slots`` at the same time."""
    with ThreadPoolExecutor(slots, thread_name_prefix="slot") as executor:
        return list(executor.map(function, items))


def _compile_batch(batch: Sequence[Cell], servers: _Servers, bench: Bench, finish: Callable[[Result], None]) -> None:
    """Attempt a batch, confirm what did not come out, keep and tell."""
    env = bench.envs[batch[0].env.name]
    try:
        for cell, attempts in _attempt_batch(batch, servers, bench):
            outcome = classify.classify(attempts, target=cell.target)
            if outcome.status.is_answer:
                bench.store.write(_key(cell, bench), cell, attempts)
            finish(_result(cell, env, outcome))
    except Stopped:
        pass
    finally:
        servers.batch_done(env.env.name)


def _attempt_batch(batch: Sequence[Cell], servers: _Servers, bench: Bench) -> Iterator[tuple[Cell, tuple[Evidence, ...]]]:
    server = servers.of(bench.envs[batch[0].env.name])
    suspects: list[tuple[Cell, Evidence]] = []
    for cell, evidence in attempt(server, batch, bench.limits, stop=bench.stop, keep=bench.store.keep):
        if evidence.built or evidence.toolchain_broken:
            yield cell, (evidence,)
        else:
            suspects.append((cell, evidence))
    for cell, evidence in suspects:
        yield cell, _confirmed(cell, evidence, servers, bench)


def _confirmed(cell: Cell, first: Evidence, servers: _Servers, bench: Bench) -> tuple[Evidence, ...]:
    """The first attempt, one more alone with diagnostics on, and where the two disagree a third to settle it."""
    limits = bench.limits
    if first.deadline is not None:  # it hung once for all its time: now it is enough to see where
        limits = evolve(limits, deadline=min(limits.deadline, 2 * first.entered + _CONFIRM_GRACE))
    second = _alone(cell, limits, servers, bench)
    if classify.agree(first, second, target=cell.target):
        return first, second
    return first, second, _alone(cell, bench.limits, servers, bench)


def _alone(cell: Cell, limits: Limits, servers: _Servers, bench: Bench) -> Evidence:
    server = servers.of(bench.envs[cell.env.name])
    ((_, evidence),) = attempt(server, [cell], limits, stop=bench.stop, mode=DIAGNOSTIC, keep=bench.store.keep)
    return evidence


# --- servers -------------------------------------------------------------------------------------------------------------------


class _Servers(Workers):
    """Lets the server of an env go when the env's last batch is done."""

    def __init__(self, bench: Bench, batches: Iterable[Sequence[Cell]]) -> None:
        super().__init__(worker=bench.worker, idle_timeout=bench.idle_timeout)
        self._left = Counter(batch[0].env.name for batch in batches)
        self._counting = threading.Lock()

    def batch_done(self, name: str) -> None:
        """One batch less needs this env's server."""
        with self._counting:
            self._left[name] -= 1
            last = self._left[name] == 0
        if last:
            self.release(name)
