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
from compat.execution import gpu
from compat.execution.executors.dask.seats import Equipment
from compat.execution.executors.dask.there import Cancelled
from compat.execution.executors.gpus import Device
from compat.interruption import Stopped
from compat.scratch import Folder

_PROGRAM, _RESULTS = "launch.py", "results.jsonl"
_RESOURCE = "gpu"


@frozen(kw_only=True)
class Order:
    """What a worker is to launch."""

    archive: bytes
    """A folder with ``launch.py``, as a tar file."""
    device: Device
    python: str
    options: tuple[str, ...] = ()


@frozen(kw_only=True)
class Done:
    """What came of it."""

    exit_code: int | None = None
    """The launcher's; ``None`` where it has not ended by itself."""
    results: str = ""
    """The lines that it has written."""
    said: str = ""
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


def launch(order: Order) -> Done:
    """Launch it on its GPU, once nobody else of this machine does, until the task is cancelled."""
    worker = get_worker()
    stop = Cancelled(worker, str(worker.get_current_task()))
    secede()  # the thread is free for compiling: nobody waits for a GPU that does not need one
    try:
        with Folder("compat-launch-") as folder, gpu.alone_on(order.device, stop) as lock:
            return _launched(order, folder, stop, lock)
    except Stopped:
        return Done(stopped=True)
    except MachineError as error:
        return Done(refused=error)
    except OSError as error:
        return Done(refused=MachineError.of(error))


def _launched(order: Order, folder: Path, stop: threading.Event, lock: int) -> Done:
    with tarfile.open(fileobj=io.BytesIO(order.archive)) as archive:
        archive.extractall(folder, filter="data")
    results = folder / _RESULTS
    words = [order.python, str(folder / _PROGRAM), "--out", str(results), *order.options]
    variables = {} if order.device.visible is None else {"CUDA_VISIBLE_DEVICES": order.device.visible}
    ended = gpu.run_kept(words, {**variables, "TMPDIR": os.fspath(folder)}, stop, lock)
    lines = results.read_text(encoding="utf-8", errors="replace") if results.is_file() else ""
    return Done(exit_code=ended.exit_code, results=lines, said=ended.said)
