"""The options of the launcher."""

from __future__ import annotations

import argparse
from typing import List, Optional

from .cuda import LIBRARY

REPEATS = 30
DEADLINE = 30.0


class Options:
    """How cells are launched."""

    def __init__(
        self,
        device: str = "cuda",
        library: str = LIBRARY,
        repeats: int = REPEATS,
        deadline: float = DEADLINE,
        no_latency: bool = False,
    ) -> None:
        self.device, self.library = device, library
        self.repeats, self.deadline = repeats, deadline
        """Launches of each problem; seconds that one cell may take."""
        self.no_latency = no_latency


def parsed(arguments: Optional[List[str]], folder: str) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(
        prog="launch.py",
        description="Launch every kernel of this folder on the GPU of this machine, compare what it computes, and time it.",
        epilog="Cells that the file of results has already are not launched again. For a matrix: compat matrix --launched FILE.",
    )
    parser.add_argument(
        "--out", default=None, metavar="FILE", help="file of results, JSON lines (default: results.jsonl in the folder)"
    )
    parser.add_argument("--cells", action="append", default=[], metavar="GLOB", help="only these: kernel/variant/case/target/env")
    parser.add_argument(
        "--repeats", type=int, default=REPEATS, metavar="N", help="launches of each problem (default: %d)" % REPEATS
    )
    parser.add_argument(
        "--deadline", type=float, default=DEADLINE, metavar="SECONDS", help="seconds one cell may take (default: %g)" % DEADLINE
    )
    parser.add_argument("--no-latency", action="store_true", help="take no times")
    parser.add_argument(
        "--device", choices=("cuda", "cpu"), default="cuda", help="where tensors are; cpu is for tests of this program"
    )
    parser.add_argument("--library", default=LIBRARY, metavar="PATH", help="the driver's library (default: %s)" % LIBRARY)
    parser.add_argument("--compare", default=None, metavar="DIGEST", help="stay, and compare what is asked for on standard input")
    found = parser.parse_args(arguments)
    if found.repeats < 2 or not found.deadline > 0:
        parser.error("at least two repeats, and a deadline above 0, are needed")
    return found
