"""Launch on the GPUs of other machines: send builds there in pieces, and receive their results.

In: a selection, or a folder that was built, and an executor that has GPUs. Out: results, in the
store or in a file as each piece is done. For a piece that cannot be launched, the executor gives
the reason.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing
from pathlib import Path

from attrs import evolve

from compat.engine.run import RunContext
from compat.errors import SelectionError
from compat.executors.executor import Executor, OpenExecutor
from compat.executors.gpus import Gpus, LaunchedPiece, Load, NotLaunched
from compat.files import TemporaryFolder
from compat.launch.archive import read_folder, write_archive
from compat.launch.building import (
    Built,
    build_cells,
    check_gpus,
    identity_of,
    is_for_gpus,
    problem_digest,
)
from compat.launch.merging import NOTHING, MergedResults, merge_lines
from compat.model import BuiltEnv, Cell, Target
from compat.project import Listener, Obtain, Selection
from compat.text import JsonMapping, amount, group_by_key, printable
from compat.toolchains.pytorch.host.results import NAME, append, finished_keys
from compat.workers.spawn import WORKER

_AT_ONCE = 128
"""The number of cells that are built before the first of them are launched."""
_MOST = 64
"""The maximum number of pieces that are launched at the same time, or wait for a GPU."""
_TICK = 0.2
ELSEWHERE = (
    "Start a worker on a machine with such a GPU and PyTorch, or launch on this machine's GPU with"
    " --executor local."
)

Line = JsonMapping
"""A line of results, with the worker that has the GPU."""


class Launches:
    """Launches in progress. The caller waits for them, and closes them."""

    def __init__(
        self,
        executor: Executor,
        keep: Callable[[Sequence[Line]], None],
        say: Callable[[str], None] = lambda message: None,
    ) -> None:
        """``keep`` receives lines of results as they arrive, from one thread at a time.

        ``say`` receives messages about pieces that are not launched.
        """
        assert executor.gpus is not None
        self.gpus: Gpus = executor.gpus
        self.total = self.done = self.lost = 0
        """Numbers of cells."""
        self.unlaunched: dict[str, int] = {}
        """Missing hardware → the number of cells that need it."""
        self._keep, self._say, self._executor = keep, say, executor
        self._stack, self._keeping = ExitStack(), threading.Lock()
        self._threads = ThreadPoolExecutor(_MOST, "launching")
        self._under_way: list[Future[None]] = []

    def add(self, loads: Sequence[Load]) -> None:
        """Launch further loads as GPUs become free."""
        for load in loads:
            self.total += len(load.cells)
            self._under_way.append(self._threads.submit(self._launch, load))

    def wait(self, on_progress: Callable[[str], None] = lambda text: None) -> None:
        """Wait until all loads are launched; ``on_progress`` receives the progress as text.

        Raises the errors of launching, and Stopped.
        """
        for future in self._under_way:
            while not future.done():
                on_progress(f"{self.done:,} of {self.total:,} cells")
                wait([future], _TICK)
            future.result()
        self._under_way.clear()

    def check(self) -> None:
        """Raise SelectionError if a piece was not launched because no machine has a GPU for it."""
        if self.unlaunched:
            message = "; ".join(
                f"{amount(count, 'cell')} not launched: {why}"
                for why, count in self.unlaunched.items()
            )
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

    def _not_launched(self, piece: NotLaunched) -> None:
        self.done += len(piece.cells)
        if piece.is_lost:
            self.lost += len(piece.cells)
            for cell in piece.cells:
                self._say(f"{cell['cell']} is lost: {piece.why}")
            return
        if piece.why not in self.unlaunched:
            self._say(
                f"{amount(len(piece.cells), 'cell')} not launched, and more may follow: {piece.why}"
            )
        self.unlaunched[piece.why] = self.unlaunched.get(piece.why, 0) + len(piece.cells)

    def close(self) -> None:
        """End all launches in progress."""
        self._executor.close()
        self._threads.shutdown(cancel_futures=True)
        self._stack.close()


def _with_worker(line: Line, worker: str) -> Line:
    device = line.get("device")
    return {**line, "device": {**device, "worker": worker}} if isinstance(device, dict) else line


def _status(line: Line) -> str:
    check = line.get("check")
    return str(check.get("status")) if isinstance(check, dict) else ""


# --- a selection ----------------------------------------------------------------------------------


class MatrixLaunches(Launches):
    """Launches of a selection's cells, whose results go into the store."""

    def __init__(
        self,
        executor: Executor,
        selection: Selection,
        context: RunContext,
        obtain: Obtain,
        listener: Listener,
        python: str | None = None,
    ) -> None:
        """``python`` is an interpreter with PyTorch on the executor's machines."""
        super().__init__(executor, self._merge, listener.say)
        self._selection, self._context, self._python = selection, context, python
        self._obtain, self._listener = obtain, listener
        self._merged = NOTHING
        self._missing: list[Cell] = []
        """The cells for whose target no machine has a GPU."""

    @property
    def merged_results(self) -> MergedResults:
        """The results so far."""
        return evolve(self._merged, lost=self.lost)

    def _merge(self, lines: Sequence[Line]) -> None:
        self._merged += merge_lines(lines, self._context.store, where="Dask worker")

    def begin(self) -> None:
        """Build the cells that have no stored launch, and launch them as they are built.

        Raises SelectionError if no cell can be launched.
        """
        cells = [
            cell
            for cell in self._selection.cells
            if cell.spec.problem is not None and is_for_gpus(cell)
        ]
        if not cells:
            hint = (
                "Add a [problem] with the inputs of a launch on NVIDIA's GPUs to the kernel file;"
                " docs/problems.md describes it."
            )
            raise SelectionError("none of the chosen cells can be launched", hint=hint)
        envs = {
            env.name: self._selection.look_at(env)
            for env in dict.fromkeys(cell.env for cell in cells)
        }
        self._add_cells(self._unknown(cells, envs))

    def wait(self, on_progress: Callable[[str], None] = lambda text: None) -> None:
        """Wait until all cells are launched, also on GPUs that were added meanwhile.

        Raises the errors of launching, and Stopped.
        """
        super().wait(on_progress)
        if self._missing:
            self._add_cells(self._missing)
            super().wait(on_progress)

    def _add_cells(self, cells: Sequence[Cell]) -> None:
        """Build and launch the cells for whose target there is a GPU.

        For other targets, report once what is missing.
        """
        lack_by_target = {
            target: self._lack(target) for target in dict.fromkeys(cell.target for cell in cells)
        }
        again, self._missing = (
            self._missing,
            [cell for cell in cells if lack_by_target[cell.target] is not None],
        )
        fitting = [cell for cell in cells if lack_by_target[cell.target] is None]
        cells_by_lack = Counter(
            lack for cell in self._missing if (lack := lack_by_target[cell.target]) is not None
        )
        # As on one machine, it is no error if only some of the targets have a GPU.
        self.unlaunched = {} if fitting or self.total else dict(cells_by_lack)
        if not again:
            for why, count in cells_by_lack.items():
                self._listener.say(f"{amount(count, 'cell')} not launched: {why}")
        if fitting:
            self._build(fitting)

    def _lack(self, target: Target) -> str | None:
        """The thing that is missing for a target; ``None`` if some machine has a GPU for it."""
        assert isinstance(target.arch, int), "only what is for NVIDIA's GPUs can be launched"
        return self.gpus.lack(target.name, target.arch, self._python)

    def _build(self, cells: Sequence[Cell]) -> None:
        obtained = self._obtain(
            self._selection.config.path, tuple({cell.env: None for cell in cells})
        )
        cells = self._unknown(cells, {env.env.name: env for env in obtained})
        context = self._context.with_envs(tuple(obtained))
        with self._listener.compiling(len(cells), cells) as note:
            for portion in _portions(cells):
                self._add_built(build_cells(portion, context, note, self._listener.expecting))

    def _unknown(self, cells: Sequence[Cell], envs: Mapping[str, BuiltEnv]) -> list[Cell]:
        """The cells without a stored launch."""
        identities = {
            cell: identity_of(cell, built)
            for cell in cells
            if (built := envs[cell.env.name]).error is None
        }
        launched = {
            (row.identity, row.problem)
            for row in self._context.store.launch_rows(identities.values())
        }
        return [
            cell for cell in cells if (identities.get(cell, ""), _problem(cell)) not in launched
        ]

    def _add_built(self, built: Built) -> None:
        if built.launchable:
            # The folder stays until the launches are closed.
            path = self._stack.enter_context(TemporaryFolder("compat-launch-")) / "built"
            write_archive(built, path)
            folder = read_folder(path)
            self.add(
                folder.loads(folder.cells(), self.gpus.count(folder.arch), python=self._python)
            )


def begin(
    selection: Selection,
    context: RunContext,
    obtain: Obtain,
    listener: Listener,
    *,
    python: str | None = None,
) -> MatrixLaunches | None:
    """Build chosen cells for the GPUs of an executor's machines, and start launching them there.

    Cells that were launched before are not launched again. Targets without a GPU are reported at
    once and tried again at the end.

    Args:
        selection: The cells.
        context: How to compile; needs no environments.
        obtain: Called for environments, and may build them.
        listener: Receives progress.
        python: An interpreter with PyTorch on those machines.

    Returns:
        The launches in progress. ``None``: the executor has no GPUs besides this machine's.
        :meth:`Launches.check` raises if no target has a GPU.

    Raises:
        SelectionError: No chosen cell can be launched.
        compat.engine.run.Interrupted: And the other errors of :func:`compat.engine.run.run`.
    """
    check_gpus(selection.cells)
    executor = context.open_executor(threading.Event())
    if executor.gpus is None:
        executor.close()
        return None
    launches = MatrixLaunches(executor, selection, context, obtain, listener, python)
    try:
        launches.begin()
    except BaseException:
        launches.close()
        raise
    return launches


def _problem(cell: Cell) -> str:
    assert cell.spec.problem is not None
    return problem_digest(cell.spec.problem)


def _portions(cells: Sequence[Cell]) -> Iterator[list[Cell]]:
    """Divide cells into portions of one target, which are built and launched together.

    A portion has all cells of each of its problems for this target.
    """
    groups = group_by_key(((cell.target.name, _problem(cell)), cell) for cell in cells)
    portion: list[Cell] = []
    for group in groups.values():
        if portion and (len(portion) >= _AT_ONCE or portion[0].target != group[0].target):
            yield portion
            portion = []
        portion += group
    if portion:
        yield portion


# --- a folder that was built ----------------------------------------------------------------------


def launch_folder(
    path: Path,
    where: OpenExecutor,
    out: Path | None = None,
    *,
    globs: Sequence[str] = (),
    options: Sequence[str] = (),
    python: str | None = None,
    say: Callable[[str], None] = lambda message: None,
) -> int | None:
    """Launch the cells of a folder on the GPUs of an executor's machines.

    Cells whose results the output file has are not launched again.

    Args:
        path: A folder that :func:`compat.launch.archive.write_archive` wrote.
        where: The executor.
        out: File that results are added to as they arrive. ``None``: the folder's own.
        globs: Globs over the names of cells. Empty: all.
        options: Further arguments for ``launch.py``.
        python: An interpreter with PyTorch on those machines.
        say: Called with messages.

    Returns:
        The number of cells without a result. ``None``: the executor has no GPUs besides this
        machine's.

    Raises:
        SelectionError: No machine can launch them.
        ClusterError: A batch cannot be submitted.
    """
    folder = read_folder(path)
    if folder.needs is None:
        raise SelectionError(
            "the kernels of this folder launch on this machine only",
            where=str(path),
            hint="Leave --executor out.",
        )
    executor = where(worker=WORKER, idle_timeout=0.0, stop=threading.Event())
    if executor.gpus is None:
        executor.close()
        return None
    out = out or path / NAME
    done = finished_keys(out)
    cells = folder.cells(globs, done)
    count = len(folder.index["cells"])
    finished = count - len(folder.cells(done_keys=done))
    say(f"{amount(count, 'cell')}, {finished:,} already in {out}")

    def keep(lines: Sequence[Line]) -> None:
        append(out, lines)
        for line in lines:
            say(_text_of(line))

    with closing(Launches(executor, keep, say)) as launches:
        if not cells:
            return 0
        gpus = launches.gpus
        if (lack := gpus.lack(folder.target, folder.arch, python)) is not None:
            raise SelectionError(
                f"cannot launch the kernels: {lack}", where=str(path), hint=ELSEWHERE
            )
        launches.add(folder.loads(cells, gpus.count(folder.arch), options=options, python=python))
        launches.wait()
        launches.check()
        return launches.lost


def _text_of(line: Line) -> str:
    """A result as one line of text."""
    check, latency, device = (line.get(name) or {} for name in ("check", "latency", "device"))
    took = f"  {latency['us']:.1f} us" if latency.get("us") is not None else ""
    why = f"  {check['reason']}" if check.get("reason") else ""
    where = f"  ({device['name']} of {device['worker']})" if device.get("worker") else ""
    return printable(f"{line.get('cell')}  {check.get('status')}{took}{why}{where}")
