"""The functions that run on a Dask worker: they attempt batches, and launch binaries.

Local executors, which stay between batches, attempt the cells in envs and source trees of that
machine. A launcher is a separate process, so the Dask worker itself never loads a GPU driver and
never imports PyTorch.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

from attrs import define, evolve, field, frozen
from distributed import get_worker, secede

from compat import toolchains
from compat.archives import ArchiveLimits, BadArchive, read_tar, write_files
from compat.envs.worker_envs import NoRoom, PinnedEnv, WorkerEnvs, worker_envs
from compat.errors import EnvError, MachineError
from compat.executors import gpus
from compat.executors.dask.parcel import Parcel, ParcelResult, about
from compat.executors.executor import CellAttempts, LocalExecutor
from compat.executors.gpus import GpuDevice, GpuHost
from compat.files import TemporaryFolder
from compat.interruption import Stopped
from compat.model import BuiltEnv
from compat.workers.spawn import WORKER, variable_dependencies

_SERVERS = 4
"""The most envs whose servers stay while no batch needs them."""
_IDLE = 300.0
"""Seconds after which idle servers end."""
_ROOM = 60.0
"""Seconds to wait for disk space for an env, while others are in use."""
_TICK = 0.5
_MANY, _OLD = 1000, 2 * 60 * 60.0
"""With more trees than this number, a Dask worker removes trees older than this age in seconds."""
_TREES = "compat-trees"
_IN_PROGRESS = ("executing", "long-running")


def introduce(dask_worker: Any) -> dict[str, object]:
    """Return the facts about this Dask worker."""
    return {**about(), "name": str(dask_worker.name), "threads": dask_worker.state.nthreads}


def attempt(parcel: Parcel) -> ParcelResult:
    """Attempt the cells of a parcel on this Dask worker.

    Raises Stopped if the driver cancels the task, or Dask does so because the driver is gone.
    Raises UnknownAction.
    """
    worker = get_worker()
    stop = Cancelled(worker, str(worker.get_current_task()))
    attempts: list[CellAttempts] = []
    result = partial(ParcelResult, worker=worker.address)
    try:
        if not _state_of(worker).attempt(parcel, stop, attempts):
            return result(lacks_tree=True)
    except _UnavailableEnv as error:
        return result(unable=str(error))
    except MachineError as error:
        return result(attempts=tuple(attempts), refused=str(error))
    return result(attempts=tuple(attempts))


_STATES: dict[int, _WorkerState] = {}
_MAKING = threading.Lock()


def _state_of(worker: Any) -> _WorkerState:
    with _MAKING:
        return _STATES.setdefault(
            id(worker), _WorkerState(folder=Path(worker.local_directory).resolve() / _TREES)
        )


class Cancelled(threading.Event):
    """An event that is also set if the worker's task was cancelled."""

    def __init__(self, worker: Any, key: str) -> None:
        super().__init__()
        self._worker, self._key = worker, key

    def is_set(self) -> bool:
        state = self._worker.state.tasks.get(self._key)
        return super().is_set() or state is None or state.state not in _IN_PROGRESS


@define(eq=False)
class _EnvInUse:
    """An env for batches, and the executor whose servers run in it."""

    executor: LocalExecutor
    pinned_env: PinnedEnv | None
    built_env: BuiltEnv | None = None
    """The env on this machine; ``None`` until it is provided."""
    batches: int = 0
    """Number of batches that use it now."""
    since: float = 0.0
    """Time when the last batch ended, in seconds of the monotonic clock."""
    making: threading.Lock = field(factory=threading.Lock)


class _UnavailableEnv(Exception):
    """This Dask worker cannot attempt a parcel; the message says why."""


@define(kw_only=True)
class _WorkerState:
    """The state that a Dask worker keeps from one batch to the next."""

    folder: Path
    """The folder for source trees."""
    envs: dict[tuple[str, str], _EnvInUse] = field(factory=dict)
    """The env's digest and the folder of the worker's program → the env."""
    lock: threading.Lock = field(factory=threading.Lock)

    def attempt(self, parcel: Parcel, stop: threading.Event, attempts: list[CellAttempts]) -> bool:
        """Append the attempts at a parcel's cells to ``attempts``.

        Returns False if the source tree is missing here; then nothing was attempted. Raises
        _Unable, Stopped, UnknownAction, and MachineError.
        """
        _refuse_difference(parcel)
        try:
            tree = self.provide_tree(parcel)
        except OSError as error:
            raise MachineError.of(error, where=str(self.folder)) from error
        except BadArchive as error:
            raise _UnavailableEnv(f"the kernels' files did not arrive whole: {error}") from error
        if tree is None:
            return False
        while parcel.alone and any(use.batches for use in list(self.envs.values())):
            if stop.wait(_TICK) or stop.is_set():
                raise Stopped
        with self.using(parcel, stop) as use:
            assert use.built_env is not None
            with closing(
                use.executor.submit(parcel.unpack_batch(use.built_env, tree), stop)
            ) as stream:
                attempts += stream
        return True

    def provide_tree(self, parcel: Parcel) -> Path | None:
        """Return the folder of a parcel's source tree, written if it is missing.

        Returns ``None`` if it is missing and the parcel does not contain it. Raises OSError and
        BadArchive.
        """
        place = self.folder / parcel.tree.digest
        if not place.is_dir():
            if not parcel.tree.content:
                return None
            self.folder.mkdir(parents=True, exist_ok=True)
            self.clear()
            parcel.tree.write(place)
        os.utime(place)
        return place

    def clear(self) -> None:
        """Remove trees that no batch has used for hours, if there are many trees."""
        trees = list(self.folder.iterdir())
        if len(trees) > _MANY:
            before = time.time() - _OLD
            for tree in trees:
                if tree.stat().st_mtime < before:
                    shutil.rmtree(tree, ignore_errors=True)

    @contextmanager
    def using(self, parcel: Parcel, stop: threading.Event) -> Iterator[_EnvInUse]:
        """Yield the env of a parcel, whose servers stay meanwhile.

        Servers that were idle for long end afterwards. Raises _UnavailableEnv if the env cannot be
        provided, and Stopped if ``stop`` is set meanwhile.
        """
        program = Path(parcel.worker or WORKER)
        with self.lock:
            key = parcel.batch.built.digest, str(program)
            use = self.envs.setdefault(
                key, _EnvInUse(LocalExecutor(worker=program), parcel.pinned_env)
            )
            use.batches += 1
        try:
            with use.making:
                use.built_env = use.built_env or self.provide_env(parcel, stop)
            yield use
        finally:
            with self.lock:
                use.batches -= 1
                use.since = time.monotonic()
            self.tidy()
            timer = threading.Timer(_IDLE, self.tidy)
            timer.daemon = True
            timer.start()

    def provide_env(self, parcel: Parcel, stop: threading.Event) -> BuiltEnv:
        """Return the parcel's env on this machine, built if it is missing.

        Raises _UnavailableEnv and Stopped.
        """
        if parcel.pinned_env is None:
            return parcel.batch.built
        give_up = time.monotonic() + _ROOM
        while True:
            try:
                built = _envs().provide(parcel.pinned_env, stop=stop)
            except NoRoom as error:
                self.tidy(most=0)
                if time.monotonic() > give_up:
                    raise _UnavailableEnv(str(error)) from error
            except EnvError as error:
                raise _UnavailableEnv(str(error)) from error
            else:
                if built.error is not None:
                    raise _UnavailableEnv(built.error)
                return built
            if stop.wait(_TICK) or stop.is_set():
                raise Stopped

    def tidy(self, most: int = _SERVERS) -> None:
        """End the servers of envs that were idle for long, and of more than ``most`` idle envs."""
        with self.lock:
            idle = sorted((use.since, key) for key, use in self.envs.items() if use.batches == 0)
            before = time.monotonic() - _IDLE
            ended = [
                self.envs.pop(key)
                for number, (since, key) in enumerate(idle)
                if since <= before or number < len(idle) - most
            ]
        for use in ended:
            use.executor.close()
            if use.pinned_env is not None and use.built_env is not None:
                _envs().release(use.pinned_env)


@cache
def _envs() -> WorkerEnvs:
    """The envs of this machine. Raises EnvError."""
    return worker_envs()


def _refuse_difference(parcel: Parcel) -> None:
    """Raise _Unable if variables or programs that results depend on differ from the driver's."""
    toolchain = toolchains.of(parcel.batch.built.env)
    mine = variable_dependencies(toolchain, parcel.batch.cells[0].target.backend)
    if names := sorted(
        name for name in {*mine, *parcel.depends} if mine.get(name) != parcel.depends.get(name)
    ):
        raise _UnavailableEnv(
            f"{', '.join(names)}: different on the driver's machine, and results depend on it"
        )


# --- launches -------------------------------------------------------------------------------------

_PROGRAM, _RESULTS = "launch.py", "results.jsonl"
_RESOURCE = "gpu"
_LIMITS = ArchiveLimits(members=100_000, size=4 << 30)
"""The size limits of a launch order's archive."""


@frozen(kw_only=True)
class LaunchOrder:
    """A request to a Dask worker to launch binaries on one GPU."""

    archive: bytes
    """The folder to launch, with ``launch.py``, as a tar file."""
    device: GpuDevice
    python: str
    options: tuple[str, ...] = ()


@frozen(kw_only=True)
class LaunchEnd:
    """The result of a launch order."""

    exit_code: int | None = None
    """Exit code of the launcher; ``None`` if it did not end by itself."""
    results: str = ""
    """The lines that the launcher wrote into ``results.jsonl``."""
    output: str = ""
    """The end of the launcher's output."""
    refused: str | None = None
    """The refusal of this worker's machine; ``None`` without one."""


async def gpu_host(dask_worker: Any) -> GpuHost:
    """Return the GPUs that this Dask worker can launch on.

    It runs in the worker's event loop, and does not block it.
    """
    host = await asyncio.to_thread(gpus.find_host)
    declared = {
        name: count
        for name, count in dask_worker.state.total_resources.items()
        if name.lower() == _RESOURCE
    }
    if declared and not any(declared.values()):
        host = evolve(host, devices=(), why_none=f"its resource {next(iter(declared))} is 0")
    return evolve(host, resource=next(iter(declared), None))


def launch(order: LaunchOrder) -> LaunchEnd:
    """Run an order's launcher when no other process of this machine launches on its GPU.

    Raises Stopped if the task is cancelled.
    """
    worker = get_worker()
    stop = Cancelled(worker, str(worker.get_current_task()))
    secede()  # frees the thread for compiles, which then need not wait for a GPU
    try:
        with TemporaryFolder("compat-launch-") as folder, gpus.alone_on(order.device, stop) as lock:
            return _launch_archive(order, folder, stop, lock)
    except MachineError as error:
        return LaunchEnd(refused=str(error))
    except OSError as error:
        return LaunchEnd(refused=str(MachineError.of(error)))
    except BadArchive as error:
        return LaunchEnd(refused=f"the folder to launch did not arrive whole: {error}")


def _launch_archive(
    order: LaunchOrder, folder: Path, stop: threading.Event, lock: int
) -> LaunchEnd:
    write_files(read_tar(order.archive, _LIMITS), folder)
    results = folder / _RESULTS
    command = [order.python, str(folder / _PROGRAM), "--out", str(results), *order.options]
    variables = (
        {} if order.device.visible is None else {"CUDA_VISIBLE_DEVICES": order.device.visible}
    )
    ended = gpus.run_kept(command, {**variables, "TMPDIR": os.fspath(folder)}, stop, lock)
    lines = results.read_text(encoding="utf-8", errors="replace") if results.is_file() else ""
    return LaunchEnd(exit_code=ended.exit_code, results=lines, output=ended.output)
