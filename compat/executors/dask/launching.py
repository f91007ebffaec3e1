"""What runs in a Dask worker where something is to be launched: what the machine has, and a launcher in a process of its own.

The worker itself never loads a GPU's driver, and imports no PyTorch.
"""

from __future__ import annotations

import asyncio
import io
import os
import tarfile
import threading
from pathlib import Path
from typing import Any

from attrs import frozen
from distributed import get_worker, secede

from compat.errors import MachineError
from compat.executors import local_gpus as gpu
from compat.executors.dask.placement import Equipment
from compat.executors.dask.remote import Cancelled
from compat.executors.gpus import GpuDevice
from compat.files import TemporaryFolder
from compat.interruption import Stopped

_PROGRAM, _RESULTS = "launch.py", "results.jsonl"
_RESOURCE = "gpu"


@frozen(kw_only=True)
class Order:
    """What a worker is to launch."""

    archive: bytes
    """A folder with ``launch.py``, as a tar file."""
    device: GpuDevice
    python: str
    options: tuple[str, ...] = ()


@frozen(kw_only=True)
class LaunchEnd:
    """What came of it."""

    exit_code: int | None = None
    """The launcher's; ``None`` where it has not ended by itself."""
    results: str = ""
    """The lines that it has written."""
    output: str = ""
    """The end of what it printed."""
    stopped: bool = False
    refused: MachineError | None = None
    """What this worker's machine refused."""


async def equipment(dask_worker: Any) -> Equipment:
    """What this worker can launch on. Asked in the worker's event loop, which goes on meanwhile."""
    machine = await asyncio.to_thread(gpu.look)
    declared = {name: count for name, count in dask_worker.state.total_resources.items() if name.lower() == _RESOURCE}
    devices, why = machine.devices, machine.why_none
    if declared and not any(declared.values()):
        devices, why = (), f"its resource {next(iter(declared))} is 0"
    return Equipment(devices=devices, why_none=why, python=machine.python, resource=next(iter(declared), None))


def launch(order: Order) -> LaunchEnd:
    """Launch it on its GPU, once nobody else of this machine does, until the task is cancelled."""
    worker = get_worker()
    stop = Cancelled(worker, str(worker.get_current_task()))
    secede()  # the thread is free for compiling: nobody waits for a GPU that does not need one
    try:
        with TemporaryFolder("compat-launch-") as folder, gpu.alone_on(order.device, stop) as lock:
            return _launched(order, folder, stop, lock)
    except Stopped:
        return LaunchEnd(stopped=True)
    except MachineError as error:
        return LaunchEnd(refused=error)
    except OSError as error:
        return LaunchEnd(refused=MachineError.of(error))


def _launched(order: Order, folder: Path, stop: threading.Event, lock: int) -> LaunchEnd:
    with tarfile.open(fileobj=io.BytesIO(order.archive)) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.4 and newer have one
        archive.extractall(folder)
    results = folder / _RESULTS
    command = [order.python, str(folder / _PROGRAM), "--out", str(results), *order.options]
    variables = {} if order.device.visible is None else {"CUDA_VISIBLE_DEVICES": order.device.visible}
    ended = gpu.run_kept(command, {**variables, "TMPDIR": os.fspath(folder)}, stop, lock)
    lines = results.read_text(encoding="utf-8", errors="replace") if results.is_file() else ""
    return LaunchEnd(exit_code=ended.exit_code, results=lines, output=ended.output)
