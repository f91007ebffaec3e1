"""Compile on a Dask cluster with random kills: ``python -m bench.churn --seconds 600``.

Now and then SIGKILL ends a worker's process, a whole worker machine, or the scheduler, and it comes
back on the same address. Meanwhile a driver compiles the same cells again and again, each round
into a new store. If a command ends early, or cells are lost, the next one continues with the same
store. At the end it prints how many cells were reported as lost, what was compiled though the store
had it (must be 0), and whether each round's matrix.json is the one of ``--executor local``, except
for times (must be).
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from compat import project
from compat.errors import CompatError
from compat.executors.dask.cluster import DaskSettings
from compat.executors.dask.executor import DaskExecutor
from compat.executors.dask.parcel import Parcel
from compat.executors.dask.session import DaskSession
from compat.executors.executor import LocalExecutor, OpenExecutor
from compat.matrix import run_matrix
from compat.model import Cell, Evidence
from compat.report.document import matrix_document
from compat.store.store import Store
from tests.execution.dask.clusters import ROOT, Machines
from tests.execution.dask.test_equal import without_times
from tests.execution.dask.test_faults import ENVS
from tests.sqlite import column

MATRIX = f"""
kernels = ["{ROOT}/kernels/sel_dense.toml"]
[defaults]
envs = ["3.1.0", "3.3.1", "3.6.0", "3.9.0"]
targets = ["sm_80", "sm_89", "sm_90", "gfx942", "gfx1100"]
[pairs]
run = false
"""
WAIT = 90.0
"""Seconds that a driver waits for a scheduler, and for workers."""


def drive(folder: Path, executor: OpenExecutor) -> dict[str, Any]:
    """Compile the cells that are missing from the store in ``folder``.

    Write ``matrix.json`` there, and return the counts.
    """
    written: Counter[str] = Counter()
    again: list[str] = []
    stored_ids: set[str] = set()
    plain_write, plain_ask = Store.write, DaskSession.ask

    def write(store: Store, key: str, cell: Cell, attempts: Sequence[Evidence]) -> None:
        plain_write(store, key, cell, attempts)
        written[key] += 1
        stored_ids.add(cell.id)

    def ask(session: DaskSession, function: Any, argument: Any, *rest: Any, **options: Any) -> Any:
        if isinstance(argument, Parcel):
            again.extend(cell.id for cell in argument.batch.cells if cell.id in stored_ids)
        return plain_ask(session, function, argument, *rest, **options)

    Store.write, DaskSession.ask = write, ask  # type: ignore[method-assign, assignment]
    selection = project.select(folder.parent / "matrix.toml")
    with Store(folder) as store:
        stored_ids |= set(column(folder))
        before = len(stored_ids)
        report = run_matrix(selection, selection.context(store, jobs=2, executor=executor))
        document = without_times(json.loads(json.dumps(matrix_document(report))))
    (folder / "matrix.json").write_text(json.dumps(document))
    statuses = Counter(cell["status"] for cell in document["cells"])
    return {
        "before": before,
        "written": len(written),
        "twice": sum(written.values()) - len(written),
        "again": again,
        **statuses,
    }


def inner(folder: Path, address: str) -> None:
    """Run one command of the driver in this process, and print its counts as the last line."""
    settings = DaskSettings(where="churn", address=address, wait=WAIT)
    with DaskSession(settings, lambda message: print(message, flush=True)) as session:
        try:
            summary = drive(folder, partial(DaskExecutor, session))
        except CompatError as error:
            summary = {"error": str(error), "exit": error.exit_code}
    print(json.dumps(summary), flush=True)


class Churn:
    """Kills processes of a cluster, and starts them again."""

    def __init__(self, machines: Machines, names: Sequence[str], chance: random.Random) -> None:
        self.machines, self.names, self.chance = machines, names, chance
        self.kills: Counter[str] = Counter()
        self.stop = threading.Event()

    def run(self, every: float, until: float) -> None:
        """Kill a process about every ``every`` seconds, until the monotonic time ``until``.

        Ended processes are restarted until :attr:`stop` is set.
        """
        while not self.stop.wait(self.chance.uniform(every / 2, every * 3 / 2)):
            if time.monotonic() > until:
                self.revive()
                continue
            what: Callable[[], None] = self.chance.choices(
                [self._process, self._machine, self._scheduler], [5, 3, 2]
            )[0]
            self.kills[what.__name__.strip("_")] += 1
            what()
            self.revive()

    def revive(self) -> None:
        """Restart the workers that have ended. Workers also end when their scheduler ends."""
        for name in self.names:
            if (
                name not in self.machines.processes
                or self.machines.processes[name].poll() is not None
            ):
                self.machines.start_worker(name, COMPAT_ENVS=ENVS)

    def _process(self) -> None:
        with suppress(ValueError, ProcessLookupError):  # no process at the moment
            self.machines.kill_worker_process(self.chance.choice(self.names))

    def _machine(self) -> None:
        name = self.chance.choice(self.names)
        if name in self.machines.processes:
            self.machines.kill(name)
        time.sleep(self.chance.uniform(0, 3))

    def _scheduler(self) -> None:
        self.machines.kill("scheduler")
        time.sleep(self.chance.uniform(0, 15))
        self.machines.start_scheduler()


def rounds(machines: Machines, folder: Path, until: float) -> list[list[dict[str, Any]]]:
    """Run rounds of driver commands until the monotonic time ``until``.

    Returns the counts of each command, for each round.
    """
    counts: list[list[dict[str, Any]]] = []
    while time.monotonic() < until:
        store = folder / f"round-{len(counts)}"
        counts.append([])
        while True:
            command = [sys.executable, "-m", "bench.churn", "--inner", str(store), machines.address]
            lines = subprocess.run(
                command, check=False, cwd=ROOT, stdout=subprocess.PIPE, text=True
            ).stdout.splitlines()
            with (folder / "said.txt").open("a") as log:
                log.write("\n".join([f"--- round {len(counts)}", *lines, ""]))
            with suppress(ValueError, IndexError):
                counts[-1].append(json.loads(lines[-1]))
                print(len(counts), lines[-1][:300], flush=True)
            if counts[-1] and "error" not in counts[-1][-1] and not counts[-1][-1].get("lost"):
                break
    return counts


def main(seconds: float, every: float, seed: int, folder: Path) -> None:
    """Run the benchmark, and print its results."""
    for old in folder.glob("round-*"):
        shutil.rmtree(old)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "matrix.toml").write_text(MATRIX)
    print("local", drive(folder / "local", LocalExecutor), flush=True)
    names = ("one", "two", "three")
    with Machines(folder) as machines:
        churn = Churn(machines, names, random.Random(seed))
        machines.start_scheduler()
        churn.revive()
        until = time.monotonic() + seconds
        killing = threading.Thread(target=churn.run, args=(every, until))
        killing.start()
        try:
            counts = rounds(machines, folder, until)
        finally:
            churn.stop.set()
            killing.join()
    here = (folder / "local" / "matrix.json").read_text()
    same = [
        (folder / f"round-{number}" / "matrix.json").read_text() == here
        for number in range(len(counts))
    ]
    commands = [command for round_counts in counts for command in round_counts]
    early = sum("error" in command for command in commands)
    print(
        f"kills: {dict(churn.kills)}; rounds: {len(counts)}; commands: {len(commands)}, of which"
        f" {early} ended early"
    )
    print(
        "cells told as lost, and compiled by a later command:"
        f" {sum(command.get('lost', 0) for command in commands)}"
    )
    print(
        "compiled though stored:"
        f" {sum(len(t.get('again', ())) + t.get('twice', 0) for t in commands)}; same matrix.json:"
        f" {same}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--every", type=float, default=10, help="seconds between two kills, about")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/compat-churn"))
    parser.add_argument("--inner", nargs=2)
    asked = parser.parse_args()
    if asked.inner:
        inner(Path(asked.inner[0]), asked.inner[1])
    else:
        main(asked.seconds, asked.every, asked.seed, asked.folder)
