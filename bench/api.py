"""``python -m bench.api``: the cost of asking every release for its names, and of kept answers.

The first figure is of envs that were never asked: their answers are taken away before each round,
and the round puts them back.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

from compat.project import select_places

COMMAND = [sys.executable, "-m", "compat.cli", "api", "tl.dot", "-q"]


def main() -> None:
    """Print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    selection = select_places(envs=["releases"])
    cache = selection.config.env_cache()
    paths = [cache.folder_of(env).names for env in selection.envs]
    cold, warm = zip(*((_cold(paths), _run()) for _ in range(rounds)), strict=True)
    print(f"{len(paths)} releases, {os.cpu_count()} cores, median of {rounds}")
    for name, runs in (("never asked", cold), ("kept", warm)):
        seconds, cpu = (statistics.median(samples) for samples in zip(*runs, strict=True))
        print(f"{name:<12} {seconds:.2f} s, {cpu:.2f} s of CPU")


def _cold(paths: list[Path]) -> tuple[float, float]:
    for path in paths:
        path.unlink(missing_ok=True)
    return _run()


def _run() -> tuple[float, float]:
    """Seconds of wall time and of CPU time of the command, including its child processes."""
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(COMMAND, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (
        time.monotonic() - began,
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
    )


if __name__ == "__main__":
    main()
