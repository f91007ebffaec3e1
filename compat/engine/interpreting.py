"""Check the numbers of kernels by running their problems in the interpreters of envs.

An interpreter's result for a kernel is the same for all targets, and is computed once for an env.
It is evidence like that of a compile, and the store keeps it under a key of its own. If a kernel
computes wrong numbers, probes decide whether the interpreter is at fault
(:mod:`compat.diagnosis.numbers`). Probes are kernels, too, and the store keeps their results. If
the interpreter is not at fault, the kernel runs once more, alone. If the two runs disagree, it runs
a third time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path

from attrs import evolve, frozen

from compat import toolchains
from compat.diagnosis.numbers import (
    Interpreter,
    Probe,
    check_of,
    combine_checks,
    excuse_check,
    is_confirmed,
    is_mistake,
    suspects,
    without_reference,
)
from compat.engine.run import RunContext, slot_threads
from compat.executors.executor import Batch, Executor
from compat.files import folder_digest
from compat.model import BuiltEnv, Cell, Check, Evidence, Problem, Result, Specialization, Status
from compat.source.closure import read_source
from compat.store.keys import CellKeys, witnesses_of
from compat.store.store import Store
from compat.text import group_by_key
from compat.workers.attempt import INTERPRETING, Limits, isolation

_TOGETHER = 4
"""The most cells that one process runs. Most cells take longer than the start of a process, and
some take much longer than others.
"""

Progress = Callable[[int, int], None]
"""Called with the number of kernels that are done, and with the number of all."""
_Runs = tuple[Evidence, ...]
"""The first run of a kernel. If its check failed, the runs that confirm or contradict it follow."""


def interpretable(cell: Cell, built: BuiltEnv) -> bool:
    """Whether a cell has a problem, and its env has the packages to interpret it."""
    interpreter = toolchains.of(cell.env).device.interpreter
    return (
        cell.spec.problem is not None
        and interpreter is not None
        and built.error is None
        and all(built.version_of(package) is not None for package in interpreter.packages)
    )


def interpret(
    cells: Iterable[Cell], context: RunContext, progress: Progress = lambda done, total: None
) -> dict[Cell, Check]:
    """Return cell → the check by its interpreter, for the cells that can be interpreted.

    Stored results are read. The other cells run, and the store keeps their results. Raises Stopped
    when stopped early, and the errors of :func:`compat.engine.run.run`.
    """
    with closing(_Interpreting(context, progress)) as interpreting:
        return interpreting.checks(list(cells))


def with_interpreted(results: Sequence[Result], store: Store) -> tuple[Result, ...]:
    """Return the results with the interpreter's stored checks, for the cells that are ok.

    Checks count whatever their limits were. Nothing runs.
    """
    envs = {result.cell.env.name: result.built for result in results}
    context = RunContext(envs=envs, store=store, limits=Limits(deadline=0, memory=0))
    built = [result.cell for result in results if result.outcome.status is Status.OK]
    checks = _Interpreting(context, only_known=True).checks(built)
    return tuple(with_check(result, checks.get(result.cell)) for result in results)


def with_check(result: Result, check: Check | None) -> Result:
    """Return a result with an interpreter's check, or the same result if there is none."""
    return evolve(result, numbers=evolve(result.numbers, interpreter=check)) if check else result


@frozen(kw_only=True)
class _CellGroup:
    """Cells that an interpreter cannot distinguish, such as those of different targets."""

    key: str
    alike: tuple[Cell, ...]
    before: _Runs = ()
    """The earlier runs, if this run confirms them."""

    @property
    def cell(self) -> Cell:
        return self.alike[0]


class _Interpreting:
    """One run of cells and their probes in interpreters."""

    def __init__(
        self,
        context: RunContext,
        progress: Progress = lambda done, total: None,
        *,
        only_known: bool = False,
    ) -> None:
        self.context, self.progress, self.only_known = context, progress, only_known
        self.keys = CellKeys(folder_digest(context.worker), INTERPRETING)
        self.done = self.total = 0
        self.counting = threading.Lock()
        self._executor: Executor | None = None

    def executor(self) -> Executor:
        """The executor of all runs.

        The probes and the runs that confirm need the envs of the first runs, and PyTorch takes
        seconds to import.
        """
        if self._executor is None:
            self._executor = self.context.open_executor()
        return self._executor

    def close(self) -> None:
        """Close the executor, if a run has opened one."""
        if self._executor is not None:
            self._executor.close()

    def checks(self, cells: Sequence[Cell]) -> dict[Cell, Check]:
        """Return the checks of cells, judged with their probes.

        Failed checks are confirmed by further runs.
        """
        runs = self.evidence(
            [cell for cell in cells if interpretable(cell, self.context.envs[cell.env.name])]
        )
        checks = self.check_with_probes({cell: attempts[0] for cell, attempts in runs.items()})
        wrong = {cell: attempts for cell, attempts in runs.items() if is_confirmed(checks[cell])}
        for cell, attempts in self.confirm_failures(wrong).items():
            checks[cell] = combine_checks(
                checks[cell], [_check_of(cell, evidence) for evidence in attempts[1:]]
            )
        return checks

    def check_with_probes(self, evidence_by_cell: Mapping[Cell, Evidence]) -> dict[Cell, Check]:
        """Return the check of one run of each cell, judged with its probes."""
        checks = {cell: _check_of(cell, evidence) for cell, evidence in evidence_by_cell.items()}
        probes_by_cell = {
            cell: suspects(evidence_by_cell[cell], check, _interpreter(cell))
            for cell, check in checks.items()
        }
        probes = {
            (cell.env.name, probe.name): _cell_of(probe, cell)
            for cell, those in probes_by_cell.items()
            for probe in those
        }
        probe_runs = self.evidence(list(probes.values()))
        for cell, those in probes_by_cell.items():
            pairs = [(probe, probe_runs.get(probes[cell.env.name, probe.name])) for probe in those]
            probe_evidence = [
                (probe, attempts[0]) for probe, attempts in pairs if attempts is not None
            ]
            checks[cell] = excuse_check(
                evidence_by_cell[cell], checks[cell], probe_evidence, _interpreter(cell)
            )
        return checks

    def confirm_failures(self, wrong: Mapping[Cell, _Runs]) -> dict[Cell, _Runs]:
        """Return the runs of failed cells, with a second run, and a third if the two disagree."""
        runs = dict(wrong)
        for count in (1, 2):
            disagree = {
                cell
                for cell, attempts in runs.items()
                if len({_check_of(cell, evidence).status for evidence in attempts}) > 1
            }
            again = {
                cell: attempts
                for cell, attempts in runs.items()
                if len(attempts) == count and (count == 1 or cell in disagree)
            }
            missing = [
                _CellGroup(key=key, alike=tuple(alike), before=runs[alike[0]])
                for key, alike in self.cells_by_key(again).items()
            ]
            if missing and not self.only_known:
                self.total += len(missing)
                runs |= self.run([[request] for request in missing])
        return runs

    def cells_by_key(self, cells: Iterable[Cell]) -> dict[str, tuple[Cell, ...]]:
        """Return the key of an interpreter's result → its cells."""
        envs = self.context.envs
        return group_by_key((self.keys.of(cell, envs[cell.env.name]), cell) for cell in cells)

    def evidence(self, cells: Sequence[Cell]) -> dict[Cell, _Runs]:
        """Return the stored runs of cells, and new runs of the other cells."""
        keyed = self.cells_by_key(cells)
        again = self.context.again and not self.only_known
        stored_runs = {} if again else self.context.stored(keyed)
        if not self.only_known:  # a stored mistake in a problem only serves reports
            stored_runs = {
                key: attempts
                for key, attempts in stored_runs.items()
                if _tells(attempts[0], keyed[key][0])
            }
        runs: dict[Cell, _Runs] = {
            cell: tuple(attempts) for key, attempts in stored_runs.items() for cell in keyed[key]
        }
        missing = [
            _CellGroup(key=key, alike=tuple(alike))
            for key, alike in keyed.items()
            if key not in stored_runs
        ]
        if missing and not self.only_known:
            self.total += len(missing)
            runs |= self.run(_batches(missing))
        return runs

    def run(self, batches: Sequence[Sequence[_CellGroup]]) -> dict[Cell, _Runs]:
        """Run cells, ``context.slots`` batches at the same time, and return all runs of each.

        Raises Stopped when stopped early.
        """
        runs_by_cell: dict[Cell, _Runs] = {}
        executor = self.executor()
        with slot_threads(executor, self.context) as threads:
            futures = [threads.submit(self.run_together, batch, executor) for batch in batches]
            try:
                for future in futures:
                    for request, runs in future.result():
                        runs_by_cell |= dict.fromkeys(request.alike, runs)
            except BaseException:
                self.context.stop.set()
                threads.shutdown(wait=True, cancel_futures=True)
                raise
        return runs_by_cell

    def run_together(
        self, batch: Sequence[_CellGroup], executor: Executor
    ) -> list[tuple[_CellGroup, _Runs]]:
        """Run the cells of a batch that no other process has run meanwhile; store the results."""
        with self.context.store.claims.all_of(request.key for request in batch):
            if self.context.again or any(request.before for request in batch):
                return self.run_claimed(batch, executor)
            stored_runs = self.context.stored(request.key for request in batch)
            results = [
                (request, tuple(runs))
                for request in batch
                if (runs := stored_runs.get(request.key)) and _tells(runs[0], request.cell)
            ]
            for _ in results:
                self.count()
            remaining = [
                request
                for request in batch
                if request.key not in {stored.key for stored, _ in results}
            ]
            return [*results, *(self.run_claimed(remaining, executor) if remaining else ())]

    def run_claimed(
        self, batch: Sequence[_CellGroup], executor: Executor
    ) -> list[tuple[_CellGroup, _Runs]]:
        """Run the cells of a claimed batch, and store the result of each."""
        cells, began = [request.cell for request in batch], time.time()
        built = self.context.envs[cells[0].env.name]
        results: list[tuple[_CellGroup, _Runs]] = []
        with closing(
            executor.submit(Batch(cells, built, self.context.limits, mode=INTERPRETING, keep=False))
        ) as attempted:
            for cell_attempts in attempted:
                request, (evidence,) = batch[cell_attempts.position], cell_attempts.attempts
                self.keep(request, evidence, began)
                results.append((request, (*request.before, evidence)))
        return results

    def keep(self, request: _CellGroup, evidence: Evidence, began: float) -> None:
        """Store a cell's result if it is informative, and its files still match its key."""
        if _tells(evidence, request.cell) or is_mistake(evidence):
            stored_evidence = self.to_be_kept(request.cell, evidence, began)
            if stored_evidence is not None:
                self.context.store.write(
                    request.key, request.cell, [*request.before, stored_evidence]
                )
        self.count()

    def count(self) -> None:
        """Count one more finished kernel, and report the progress."""
        with self.counting:
            self.done += 1
            self.progress(self.done, self.total)

    def to_be_kept(self, cell: Cell, evidence: Evidence, began: float) -> Evidence | None:
        """Return the evidence with its witnesses: the files beyond its key that it depends on.

        Returns ``None`` if the source, the problem or such a file has changed meanwhile, or the
        list of imports is incomplete.
        """
        spec, problem = cell.spec, cell.spec.problem
        assert problem is not None
        unchanged = self.context.unchanged
        beyond = unchanged.beyond(spec.source, spec.closure, evidence.imported, spec.roots)
        if beyond is not None:
            beyond = unchanged.beyond(problem.source, problem.closure, map(str, beyond))
        witnesses = witnesses_of(spec, beyond, began)
        return None if witnesses is None else evolve(evidence, witnesses=witnesses)


def _batches(missing: Sequence[_CellGroup]) -> list[Sequence[_CellGroup]]:
    """Group cells into batches, each of one env and of cells that may share a process."""
    groups = group_by_key(
        ((request.cell.env.name, isolation(request.cell)), request) for request in missing
    )
    return [
        group[start : start + _TOGETHER]
        for group in groups.values()
        for start in range(0, len(group), _TOGETHER)
    ]


def _check_of(cell: Cell, evidence: Evidence) -> Check:
    check = check_of(evidence, _interpreter(cell))
    return (
        without_reference(check)
        if cell.spec.problem is not None and cell.spec.problem.is_recorded
        else check
    )


def _tells(evidence: Evidence, cell: Cell) -> bool:
    """Whether evidence says something about the kernel."""
    return check_of(evidence, _interpreter(cell)).status is not Status.LOST


def _interpreter(cell: Cell) -> Interpreter:
    interpreter = toolchains.of(cell.env).device.interpreter
    assert interpreter is not None
    return interpreter


def _cell_of(probe: Probe, suspect: Cell) -> Cell:
    """Return a probe as a cell in the env and for the target of the suspect cell."""
    return evolve(
        suspect, spec=spec_of(probe, _interpreter(suspect).probe_file, suspect.env.toolchain)
    )


@cache
def spec_of(probe: Probe, source: Path, toolchain: str) -> Specialization:
    """Return the specialization of a probe."""
    closure = read_source(source).closure
    return Specialization(
        kernel="probe",
        variant=probe.name,
        case="only",
        toolchain=toolchain,
        source=str(source),
        function=probe.name,
        closure=closure,
        problem=Problem(
            source=str(source), function=f"{probe.name}_problem", closure=closure, dtype="fp32"
        ),
    )
