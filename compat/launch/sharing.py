"""Launching on the GPUs of other machines: what is built goes there in pieces, which come back one by one while others go on.

In: a selection, or a folder that was built, and an executor that has GPUs. Out: results, in the store or in a file as each piece is
done, and what could not be launched, with what is missing for it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self

from compat.engine.run import RunContext
from compat.errors import SelectionError
from compat.executors.executor import Executor, OpenExecutor
from compat.executors.gpus import Gpus, LaunchedPiece, LaunchKey, Load, NotLaunched, key_of
from compat.files import TemporaryFolder
from compat.launch.archive import read_folder, write_archive
from compat.launch.building import Built, build_cells, can_launch, identity_of, problem_digest
from compat.launch.merging import MergedResults, merge_lines
from compat.model import BuiltEnv, Cell, Status, Target
from compat.model.json_text import read_json
from compat.project import Listener, Obtain, Selection
from compat.store.store import Store
from compat.text import printable
from compat.workers.spawn import WORKER

_AT_ONCE = 128
"""Cells that are built before the first of them are launched."""
_MOST = 64
"""Pieces that are launched at the same time, or wait for a GPU."""
_TICK = 0.2
ELSEWHERE = "Start a worker on a machine that has one, and PyTorch; or launch on this machine's GPU with --executor local."

Line = Mapping[str, Any]
"""A line of results, which also says on which worker its GPU is."""


class Launches:
    """Launches under way; to be waited for, and closed."""

    def __init__(
        self, executor: Executor, keep: Callable[[Sequence[Line]], None], say: Callable[[str], None] = lambda words: None
    ) -> None:
        """``keep`` gets lines as they come, from one thread at a time; ``say`` hears what is not launched."""
        assert executor.gpus is not None
        self.gpus: Gpus = executor.gpus
        self.total = self.done = self.lost = 0
        """Cells."""
        self.unlaunched: dict[str, int] = {}
        """What is missing for cells that were to be launched, and for how many."""
        self._keep, self._say, self._executor = keep, say, executor
        self._stack, self._keeping = ExitStack(), threading.Lock()
        self._threads: ThreadPoolExecutor | None = None
        self._under_way: list[Future[None]] = []

    def add(self, loads: Sequence[Load]) -> None:
        """Launch these, too, as GPUs are free."""
        for load in loads:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(_MOST, "launching")
            self.total += len(load.cells)
            self._under_way.append(self._threads.submit(self._launch, load))

    def folder(self) -> Path:
        """A folder for what is launched, which stays until all of it is."""
        return self._stack.enter_context(TemporaryFolder("compat-launch-"))

    def wait(self, told: Callable[[str], None] = lambda words: None) -> None:
        """Until all of it is launched. Raises what launching has raised, and Stopped."""
        for future in self._under_way:
            while not future.done():
                told(f"{self.done:,} of {self.total:,} cells")
                wait([future], _TICK)
            future.result()
        self._under_way.clear()

    def check(self) -> None:
        """Raise SelectionError where something was not launched, since no machine has a GPU for it."""
        if self.unlaunched:
            message = "; ".join(f"{count:,} cells are not launched: {why}" for why, count in self.unlaunched.items())
            raise SelectionError(message, hint=ELSEWHERE)

    def _launch(self, load: Load) -> None:
        for outcome in self.gpus.launch(load):
            with self._keeping:
                if isinstance(outcome, LaunchedPiece):
                    self.done += len(outcome.lines)
                    self.lost += sum(_status(line) == "lost" for line in outcome.lines)
                    self._keep([_with_worker(line, outcome.worker) for line in outcome.lines])
                else:
                    self._not_launched(outcome)

    def _not_launched(self, told: NotLaunched) -> None:
        self.done += len(told.cells)
        if told.is_lost:
            self.lost += len(told.cells)
            for cell in told.cells:
                self._say(f"{cell['cell']} is lost: {told.why}")
            return
        if told.why not in self.unlaunched:
            self._say(f"{len(told.cells):,} cells are not launched, and more may follow: {told.why}")
        self.unlaunched[told.why] = self.unlaunched.get(told.why, 0) + len(told.cells)

    def close(self) -> None:
        """End what is under way."""
        self._executor.close()
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _with_worker(line: Line, worker: str) -> Line:
    device = line.get("device")
    return {**line, "device": {**device, "worker": worker}} if isinstance(device, dict) else line


def _status(line: Line) -> str:
    check = line.get("check")
    return str(check.get("status")) if isinstance(check, dict) else ""


# --- a selection ---------------------------------------------------------------------------------------------------------------


class MatrixLaunches(Launches):
    """Launches of a selection's cells, whose results go into the store."""

    def __init__(self, executor: Executor, store: Store, say: Callable[[str], None]) -> None:
        super().__init__(executor, self._stored, say)
        self._store = store
        self.merged: list[MergedResults] = []
        self.look_again: Callable[[], None] = lambda: None
        """Launches what no machine had a GPU for, if one has by now."""

    def wait(self, told: Callable[[str], None] = lambda words: None) -> None:
        """Until all of it is launched, also on GPUs that have come meanwhile. Raises what launching has raised, and Stopped."""
        super().wait(told)
        self.look_again()
        super().wait(told)

    def _stored(self, lines: Sequence[Line]) -> None:
        self.merged.append(merge_lines(map(json.dumps, lines), self._store, where="Dask worker"))

    def told(self) -> MergedResults:
        """What came of it so far."""
        kept, unreadable = (sum(getattr(part, name) for part in self.merged) for name in ("kept", "unreadable"))
        return MergedResults(kept=kept, lost=self.lost, unreadable=unreadable)


def begin(
    selection: Selection, context: RunContext, obtain: Obtain, listener: Listener, *, python: str | None = None
) -> MatrixLaunches | None:
    """Build what was chosen for the GPUs of an executor's machines, and have it launched there meanwhile and from then on.

    ``None`` where the executor knows no GPUs but those of this machine. ``python`` is an interpreter with PyTorch there. What is
    known of launches is not launched again, and nothing is connected where all is. For which targets there is no GPU is said at
    once, and :meth:`Launches.check` fails where that is all of them. Raises SelectionError where no chosen cell can be launched
    anywhere, and what :func:`compat.engine.run.run` does.
    """
    executor = context.open_executor(threading.Event())
    if executor.gpus is None:
        executor.close()
        return None
    launches = MatrixLaunches(executor, context.store, listener.say)
    beginning = _Beginning(launches, executor.gpus, selection, context, obtain, listener, python)
    try:
        beginning.begin()
    except BaseException:
        launches.close()
        raise
    return launches


class _Beginning:
    """What of a selection is to be launched."""

    def __init__(
        self,
        launches: MatrixLaunches,
        gpus: Gpus,
        selection: Selection,
        context: RunContext,
        obtain: Obtain,
        listener: Listener,
        python: str | None,
    ) -> None:
        self.launches, self.gpus, self.selection, self.context = launches, gpus, selection, context
        self.obtain, self.listener, self.python = obtain, listener, python
        self.missing: list[Cell] = []
        """The cells that no machine had a GPU for."""

    def begin(self) -> None:
        """Build it, and launch what is built; what no machine has a GPU for is tried again in the end."""
        cells = [cell for cell in self.selection.cells if cell.spec.problem is not None and can_launch(cell)]
        if not cells:
            hint = (
                "A kernel file says with [problem] what a kernel is launched on, for NVIDIA's GPUs; docs/problems.md has the form."
            )
            raise SelectionError("none of the chosen cells can be launched", hint=hint)
        there = {env.name: self.selection.look_at(env) for env in dict.fromkeys(cell.env for cell in cells)}
        self._add(self._unknown(cells, there))
        if self.missing:
            self.launches.look_again = lambda: self._add(self.missing)

    def _add(self, cells: Sequence[Cell]) -> None:
        """Build and launch those for whose target there is a GPU, and say of others what is missing."""
        missing = {target: self._lack(target) for target in dict.fromkeys(cell.target for cell in cells)}
        again, self.missing = self.missing, [cell for cell in cells if missing[cell.target] is not None]
        fitting = [cell for cell in cells if missing[cell.target] is None]
        # As on one machine it is no error where there is a GPU for one of several targets.
        self.launches.unlaunched = {} if fitting or self.launches.total else self._counted(missing)
        if not again:
            for why, count in self._counted(missing).items():
                self.listener.say(f"{count:,} cells are not launched: {why}")
        if fitting:
            self._build(fitting)

    def _counted(self, lacks: Mapping[Target, str | None]) -> dict[str, int]:
        counts: dict[str, int] = {}
        for cell in self.missing:
            why = lacks[cell.target]
            assert why is not None
            counts[why] = counts.get(why, 0) + 1
        return counts

    def _build(self, cells: Sequence[Cell]) -> None:
        envs = {env.env.name: env for env in self.obtain(self.selection.config.path, tuple({cell.env: None for cell in cells}))}
        cells = self._unknown(cells, envs)
        context = self.context.with_envs(tuple(envs.values()))
        with self.listener.compiling(len(cells)) as note:
            for portion in _portions(cells):
                self.launch(build_cells(portion, context, note, self._expect))

    def _unknown(self, cells: Sequence[Cell], envs: Mapping[str, BuiltEnv]) -> list[Cell]:
        """Those of which nothing is known of launches."""
        places = {cell: identity_of(cell, built) for cell in cells if (built := envs[cell.env.name]).error is None}
        launched = {(row.identity, row.problem) for row in self.context.store.launched(places.values())}
        return [cell for cell in cells if (places.get(cell, ""), _problem(cell)) not in launched]

    def _lack(self, target: Target) -> str | None:
        """What is missing for a target; ``None`` where some machine has a GPU for it."""
        assert isinstance(target.arch, int), "only what is for NVIDIA's GPUs can be launched"
        return self.gpus.lack(target.name, target.arch, self.python)

    def _expect(self, cells: Sequence[Cell]) -> None:
        self.listener.expecting(cells, self.context.expected_seconds(cells))

    def launch(self, built: Built) -> None:
        """Have it launched."""
        if not built.launchable:
            return
        place = self.launches.folder() / "built"
        write_archive(built, place)
        folder = read_folder(place)
        self.launches.add(folder.loads(folder.cells(), self.gpus.count(folder.arch), python=self.python))


def _problem(cell: Cell) -> str:
    assert cell.spec.problem is not None
    return problem_digest(cell.spec.problem)


def _portions(cells: Sequence[Cell]) -> Iterator[list[Cell]]:
    """Cells of one target that are built together: whole kernels on whole problems, since these are launched together."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.target.name, _problem(cell)), []).append(cell)
    portion: list[Cell] = []
    for group in groups.values():
        if portion and (len(portion) >= _AT_ONCE or portion[0].target != group[0].target):
            yield portion
            portion = []
        portion += group
    if portion:
        yield portion


# --- a folder that was built ---------------------------------------------------------------------------------------------------


def launch_folder(
    path: Path,
    where: OpenExecutor,
    out: Path,
    *,
    globs: Sequence[str] = (),
    options: Sequence[str] = (),
    python: str | None = None,
    say: Callable[[str], None] = lambda words: None,
) -> int | None:
    """Launch what is in a folder on the GPUs of an executor's machines, and say how many cells are lost.

    ``None`` where the executor knows no GPUs but those of this machine. Results are added to ``out`` as they come; what that file
    has is not launched again. Raises SelectionError where no machine can launch it, and what submitting a batch raises.
    """
    folder = read_folder(path)
    executor = where(worker=WORKER, idle_timeout=0.0, stop=threading.Event())
    if executor.gpus is None:
        executor.close()
        return None
    done = _known(out)
    cells = folder.cells(globs, done)
    say(f"{len(folder.index['cells']):,} cells, {len(done):,} of them are in {out} already")

    def keep(lines: Sequence[Line]) -> None:
        with out.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        for line in lines:
            say(_words(line))

    with Launches(executor, keep, say) as launches:
        if not cells:
            return 0
        gpus = launches.gpus
        if (lack := gpus.lack(folder.target, folder.arch, python)) is not None:
            raise SelectionError(f"nothing can be launched: {lack}", where=str(path), hint=ELSEWHERE)
        launches.add(folder.loads(cells, gpus.count(folder.arch), options=options, python=python))
        launches.wait()
        launches.check()
        return launches.lost


def _known(out: Path) -> frozenset[LaunchKey]:
    """What a file of results has, but for what is lost; a line that was cut short is ended."""
    if not out.exists():
        return frozenset()
    keys, text = set[LaunchKey](), out.read_text(encoding="utf-8", errors="replace")
    if text and not text.endswith("\n"):
        with out.open("a", encoding="utf-8") as file:
            file.write("\n")
    for line in text.splitlines():
        with suppress(ValueError, KeyError, TypeError):
            line_ = read_json(line)
            if line_["check"]["status"] != Status.LOST:
                keys.add(key_of(line_))
    return frozenset(keys)


def _words(line: Line) -> str:
    """A result in a line."""
    check, latency, device = (line.get(name) or {} for name in ("check", "latency", "device"))
    took = f"  {latency['us']:.1f} us" if latency.get("us") is not None else ""
    why = f"  {check['reason']}" if check.get("reason") else ""
    where = f"  ({device['name']} of {device['worker']})" if device.get("worker") else ""
    return printable(f"{line.get('cell')}  {check.get('status')}{took}{why}{where}")
