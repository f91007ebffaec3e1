"""The memory that a cell takes.

``python -m tests.large.growth FOLDER CELLS MORE`` prints how memory grows from CELLS cells to MORE
cells. It prints bytes per cell, by tracemalloc:

- held by the report of a run, with its selection
- at most during that run
- held by the report that is read from ``matrix.json``
- at most while it is read

Nothing is compiled: an executor answers in this process.
"""

from __future__ import annotations

import gc
import json
import sys
import threading
import tracemalloc
from collections.abc import Callable, Generator
from pathlib import Path

from attrs import evolve

from compat.executors.executor import Batch, CellAttempts
from compat.files import replace_file
from compat.matrix import run_matrix
from compat.model import CompletedAction, Evidence, RaisedException, StageOutput
from compat.report.document import matrix_json
from compat.report.folder import read_report
from tests.large import obtain, project

STAGES = ("ttir", "ttgir", "llir", "ptx", "cubin")
MESSAGE = (
    "at 4:10:\n    total = tl.sum(block, 1)\n            ^\nincompatible dimensions at index 1: 128"
    " and 64"
)


class AnsweringExecutor:
    """Answers at once, with another answer for every compiled cell."""

    slots = 1
    gpus = None

    def __init__(self, *, worker: Path, idle_timeout: float, stop: threading.Event) -> None:
        self._number = 0

    def submit(self, batch: Batch) -> Generator[CellAttempts]:
        for position, cell in enumerate(batch.cells):
            self._number += 1
            failing = cell.spec.function.startswith("sum")
            yield CellAttempts(
                position=position, attempts=(rejected(),) * 2 if failing else (built(self._number),)
            )

    def release(self, env: str) -> None:
        pass

    def close(self) -> None:
        pass


def rejected() -> Evidence:
    raised = (RaisedException(type="triton.compiler.errors.CompilationError", message=MESSAGE),)
    return Evidence(answered=True, stage="ast", raised=raised, seconds=0.01)


def built(number: int) -> Evidence:
    artifacts = {
        stage: StageOutput(size=20_000 + number, digest=f"{number:016x}") for stage in STAGES
    }
    metrics = {
        "artifacts": dict.fromkeys(STAGES, 20_000 + number),
        "shared": 16_384,
        "num_warps": 4,
        "registers": 32 + number % 200,
        "spill_store_bytes": 0,
        "spill_load_bytes": 0,
        "instructions": {
            "total": 1_000 + number,
            "mma": number % 64,
            "loads": number % 128,
            "stores": number % 32,
        },
    }
    stages = {
        stage: 0.001 * place + number / 1e6
        for place, stage in enumerate(("source", "ast", *STAGES), 1)
    }
    done = (CompletedAction(do="compile", outputs=artifacts),)
    return Evidence(
        answered=True,
        done=done,
        stage="cubin",
        metrics=metrics,
        stages=stages,
        seconds=0.01 + number / 1e6,
    )


def measured(action: Callable[[], object]) -> tuple[int, int]:
    """The bytes that the result of an action holds, and the bytes that the action took at most."""
    gc.collect()
    before, _ = tracemalloc.get_traced_memory()
    if tracemalloc.is_tracing():
        tracemalloc.reset_peak()
    value = action()
    gc.collect()
    current, peak = tracemalloc.get_traced_memory()
    del value
    return current - before, peak - before


def of_run(folder: Path, cells: int) -> object:
    """Run a project, write ``matrix.json``, and return what a command then has in memory."""
    selection = project(folder, cells)
    with selection.open_store() as store:
        context = evolve(selection.context(store), executor=AnsweringExecutor)
        report = run_matrix(selection, context, obtain)
    replace_file(folder / "matrix.json", matrix_json(report))
    return selection, selection.cells, report


def main() -> None:
    folder, *sizes = Path(sys.argv[1]), *map(int, sys.argv[2:])
    taken_by(folder / "first", sizes[0])  # loads what stays in memory
    # Python's table of interned strings would grow by a megabyte at some string of some size.
    interned = [sys.intern(f"string {number}") for number in range(100_000)]
    tracemalloc.start()
    (less, few), (more, many) = (taken_by(folder / str(size), size) for size in sizes)
    cell_bytes = {name: round((many[name] - few[name]) / (more - less)) for name in few}
    print(json.dumps(cell_bytes))
    del interned


def taken_by(folder: Path, size: int) -> tuple[int, dict[str, int]]:
    """The number of cells, and the bytes that each step held and took at most."""
    run, run_at_most = measured(lambda: of_run(folder, size))
    reading, reading_at_most = measured(lambda: read_report(str(folder / "matrix.json")))
    memory = {
        "run": run,
        "run at most": run_at_most,
        "reading": reading,
        "reading at most": reading_at_most,
    }
    return len(project(folder, size).cells), memory


if __name__ == "__main__":
    main()
