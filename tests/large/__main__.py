"""See :mod:`tests.large`."""

from __future__ import annotations

import resource
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import evolve

from compat.cli.progress import ProgressListener
from compat.files import replace_file
from compat.matrix import run_matrix
from compat.report.render import FORMATS
from compat.report.render.terminal import plain_text
from compat.report.views.matrix import matrix_blocks
from tests.large import WORKER, obtain, project


def main() -> None:
    """Run the project, and print what each step takes."""
    folder, cells = Path(sys.argv[1]), int(sys.argv[2])
    with _step("imports"):
        pass
    with _step("selection"):
        selection = project(folder, cells)
        chosen = selection.cells
    with selection.open_store() as store:
        context = evolve(selection.context(store), worker=WORKER, idle_timeout=0.0)
        with _step(f"run of {len(chosen):,} cells"):
            report = run_matrix(selection, context, obtain, ProgressListener())
    del chosen
    for written in (always for always in FORMATS if always.file):
        with _step(written.file):
            replace_file(folder / "reports" / written.file, written.render(report, ""))
            print(f"  {(folder / 'reports' / written.file).stat().st_size / 1e6:.1f} MB")
    with _step("terminal"):
        print(f"  {len(plain_text(matrix_blocks(report))):,} characters")


@contextmanager
def _step(name: str) -> Iterator[None]:
    began, used, most, done = time.monotonic(), time.process_time(), [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            most[0] = max(most[0], _resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        took = (
            f"{time.monotonic() - began:.1f} s, {time.process_time() - used:.1f} s of this process"
        )
        memory = (
            f"{max(most[0], _resident()):.0f} MB at most in it, {_resident():.0f} after it,"
            f" {peak:.0f} by now"
        )
        print(f"{name}: {took}; {memory}", flush=True)


def _resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


main()
