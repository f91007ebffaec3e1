"""The command line of the launcher, and the run of a folder's cells into a file of results."""

from __future__ import annotations

import argparse
import ctypes
import gc
import itertools
import json
import math
import os
import sys
import time
from importlib import import_module
from typing import TYPE_CHECKING, Callable, Dict, Iterator, List, Optional, Tuple

from . import results
from .comparing import serve
from .cuda import LIBRARY
from .prepared_problem import Numerics
from .session import SEED, LaunchOptions, LaunchSetup
from .watching import Mismatch, ProblemRun, Watch

if TYPE_CHECKING:
    from ...inside.foreign import Document, Value

_REPEATS, _DEADLINE = 30, 30.0


def main(folder: str, arguments: Optional[List[str]] = None) -> int:
    """Launch the cells of a folder, and return the exit code.

    The exit code is 0 if every cell has a result, 1 if one is lost, 2 if no launch is possible, and
    130 after Ctrl-C.
    """
    chosen = parse(arguments)
    out = chosen.out or os.path.join(folder, results.NAME)
    if chosen.compare:
        return _compare(folder, chosen)
    if chosen.problems:
        return _count(folder)
    try:
        index = _index(folder)
        done = results.finished_keys(out)
        cells = results.remaining(index["cells"], chosen.cells, done)
        count = len(index["cells"])
        finished = count - len(results.remaining(index["cells"], (), done))
        say("%s, %d already in %s" % (_cells(count), finished, out))
        if not cells:
            return 0
        _check_driver(chosen.library)  # importing PyTorch takes seconds
        numerics = _numerics(chosen.device)
    except (OSError, ValueError, ImportError) as error:
        say("error: %s" % error)
        return 2
    try:
        return _FolderRun(LaunchSetup(folder, chosen, numerics), index, cells, out).run()
    except Mismatch as error:
        say("error: %s" % error)
        return 2
    except KeyboardInterrupt:
        say("interrupted: the finished cells are in %s; run the same command to continue" % out)
        return 130


def parse(arguments: Optional[List[str]]) -> LaunchOptions:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        prog="launch.py",
        description=(
            "Launch every kernel of this folder on the GPU of this machine, compare its results and"
            " measure its time."
        ),
        epilog=(
            "A cell that is already in the file of results is not launched again. To import the"
            " file: compat matrix --launched FILE."
        ),
    )
    parser.add_argument(
        "--out",
        default=None,
        metavar="FILE",
        help="file of results, JSON lines (default: results.jsonl in the folder)",
    )
    parser.add_argument(
        "--cells",
        action="append",
        default=[],
        metavar="GLOB",
        help="only the cells that match: kernel/variant/case/target/env",
    )
    parser.add_argument(
        "--repeats",
        type=int,
        default=_REPEATS,
        metavar="N",
        help="launches of each problem (default: %d)" % _REPEATS,
    )
    parser.add_argument(
        "--deadline",
        type=float,
        default=_DEADLINE,
        metavar="SECONDS",
        help="seconds one cell may take (default: %g)" % _DEADLINE,
    )
    parser.add_argument("--no-latency", action="store_true", help="skip latency measurements")
    parser.add_argument(
        "--minutes",
        type=float,
        default=math.inf,
        metavar="N",
        help="minutes that launches may take (default: no limit)",
    )
    parser.add_argument(
        "--device",
        choices=("cuda", "cpu"),
        default="cuda",
        help="device of the tensors; cpu is for tests of this program",
    )
    parser.add_argument(
        "--library",
        default=LIBRARY,
        metavar="PATH",
        help="the driver's library (default: %s)" % LIBRARY,
    )
    parser.add_argument(
        "--compare",
        default=None,
        metavar="DIGEST",
        help="keep running, and compare the cells that standard input names",
    )
    parser.add_argument(
        "--problems",
        action="store_true",
        help="launch nothing, and print how many problems the functions yield, as JSON lines",
    )
    chosen = parser.parse_args(arguments, LaunchOptions())
    if chosen.repeats < 2 or not chosen.deadline > 0:
        parser.error("--repeats must be at least 2, and --deadline above 0")
    if not chosen.minutes > 0:
        parser.error("--minutes must be above 0")
    return chosen


def _compare(folder: str, chosen: LaunchOptions) -> int:
    """Keep running, answer questions about kernels on one problem, and return the exit code."""
    try:
        index = _index(folder)
        numerics = _numerics(chosen.device)
        return serve(LaunchSetup(folder, chosen, numerics), index["problems"][chosen.compare])
    except (OSError, ValueError, ImportError, KeyError) as error:
        say("error: %s" % error)
        return 2


def _count(folder: str) -> int:
    """Print how many problems the functions yield, and return the exit code."""
    try:
        index = _index(folder)
        numerics = _numerics("cpu")
    except (OSError, ValueError, ImportError) as error:
        say("error: %s" % error)
        return 2
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # text that problems print must not be among the answers
    for digest in _by_turns(index["cells"]):
        count = problem_counts(numerics, folder, index["problems"][digest])
        out.write(json.dumps(dict(count, problem=digest)) + "\n")
        out.flush()
    return 0


def problem_counts(numerics: Numerics, folder: str, problem: Document) -> Document:
    """Return the numbers of small and large problems that a problem of the index yields.

    No GPU is needed. Tensors are PyTorch's fake tensors, which have a shape and no memory, so that
    large sizes cost little. A function that reads the values of its tensors fails with them. Then
    small sizes are made on the CPU. A number is ``None`` if only a launch can count the problems.
    ``why`` has the reason.
    """
    problems = numerics.problems
    try:
        make = problems.load(os.path.join(folder, problem["source"]), problem["function"])
    except problems.ProblemError as error:
        return {"small": None, "large": None, "why": str(error)}

    def yield_problems(large: bool) -> Iterator[object]:
        numerics.torch.manual_seed(SEED)
        yield from make(dict(problem["parameters"]), problem["dtype"], SEED, "cpu", large)

    small, why = _number(_fake(yield_problems, False))
    if small is None:
        small, why = _number(lambda: yield_problems(False))
    large, more = _number(_fake(yield_problems, True))
    return {"small": small, "large": large, "why": why or more}


def _fake(
    yielded: Callable[[bool], Iterator[object]], large: bool
) -> Callable[[], Iterator[object]]:
    """Return a function that yields the problems with fake tensors.

    The mode of fake tensors is on while the problems are made.
    """

    def make() -> Iterator[object]:
        from torch._subclasses.fake_tensor import FakeTensorMode

        with FakeTensorMode(allow_non_fake_inputs=True):
            yield from yielded(large)

    return make


def _number(make: Callable[[], Iterator[object]]) -> Tuple[Optional[int], str]:
    """Return the number of problems and an empty text, or ``None`` and the exception."""
    try:
        return sum(1 for _ in make()), ""
    except (Exception, SystemExit) as error:
        return None, "%s: %s" % (type(error).__name__, str(error).split("\n")[0])


def _by_turns(cells: List[Document]) -> List[str]:
    """Return the problems of cells: the first of each kernel, then the second, and so on."""
    kernels: Dict[str, Dict[str, None]] = {}
    for cell in cells:
        kernels.setdefault(cell["series"].partition("/")[0], {})[cell["problem"]] = None
    turns = itertools.zip_longest(*kernels.values())
    return list(dict.fromkeys(digest for turn in turns for digest in turn if digest))


def say(text: str) -> None:
    """Print a line of progress or an error on standard error."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def _index(folder: str) -> Document:
    with open(os.path.join(folder, "index.json"), encoding="utf-8") as file:
        index: Document = json.load(file)
    if index.get("schema") != results.SCHEMA:
        raise ValueError(
            "index.json has schema %r, and this program reads %d"
            % (index.get("schema"), results.SCHEMA)
        )
    for number, cell in enumerate(index["cells"]):
        cell["number"] = number
    return index


def _numerics(device: str) -> Numerics:
    """Import PyTorch, once, before any child is forked, and without using a GPU.

    Raises ImportError.
    """
    began = time.monotonic()
    gc.disable()  # garbage collection takes a fifth of the time of the import
    try:
        import torch
    except ImportError as error:
        raise ImportError("%s has no PyTorch: %s" % (sys.executable, error)) from error
    outputs, problems = (
        import_module("compat_numerics.%s" % name) for name in ("outputs", "problems")
    )
    if device == "cuda" and torch.version.cuda is None:
        raise ImportError("PyTorch %s of %s has no CUDA" % (torch.__version__, sys.executable))
    gc.freeze()  # children share this memory as long as no process writes to it
    gc.enable()
    say("PyTorch %s (%.1f s)" % (torch.__version__, time.monotonic() - began))
    return Numerics(torch, problems, outputs)


def _check_driver(library: str) -> None:
    """Raise OSError if a child could not load the driver. Loading it does not use a GPU."""
    try:
        ctypes.CDLL(library)
    except OSError as error:
        raise OSError("this machine has no GPU driver: %s" % error) from error


def _plain(value: Value) -> object:
    """Return a value, or ``None`` for a number that JSON cannot represent."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


class _FolderRun:
    """The run of all chosen cells of a folder."""

    def __init__(
        self, setup: LaunchSetup, index: Document, cells: List[Document], out: str
    ) -> None:
        self._index, self._cells, self._out = index, cells, out
        self._watch = Watch(setup, self._accept)
        self._count = self._lost = 0
        self._began = time.monotonic()
        self._until = self._began + 60 * setup.options.minutes

    def run(self) -> int:
        """Launch group by group, and return the exit code. Write results after each group."""
        results.append(self._out, [])  # without a writable file, nothing is launched
        for problem, cells in self._groups():
            if self._is_too_late(len(cells)):
                remaining = len(self._cells) - self._count
                say("%s left: run the same command again to continue" % _cells(remaining))
                self._lost += remaining
                break
            group = ProblemRun(self._watch, problem, cells, self._share(len(cells)))
            group.run()
            lines = [self._line(cell, group) for cell in cells]
            results.append(self._out, lines)
            for line in lines:
                self._note(line)
        seconds = time.monotonic() - self._began
        say(
            "%s in %.0f s, %.0f per minute"
            % (_cells(self._count), seconds, 60 * self._count / max(seconds, 1e-9))
        )
        return 1 if self._lost else 0

    def _share(self, cells: int) -> float:
        """Return the time on the monotonic clock at which ``cells`` cells should be done."""
        now = time.monotonic()
        return now + (self._until - now) * cells / (len(self._cells) - self._count)

    def _is_too_late(self, cells: int) -> bool:
        """Whether ``cells`` cells would take longer than the remaining time at the pace so far."""
        now = time.monotonic()
        pace = (now - self._began) / self._count if self._count else 0.0
        return now + pace * cells > self._until

    def _groups(self) -> Iterator[Tuple[Dict[str, object], List[Dict[str, object]]]]:
        groups: Dict[str, List[Document]] = {}
        for cell in self._cells:
            groups.setdefault(cell["problem"], []).append(cell)
        for digest, cells in groups.items():
            yield self._index["problems"][digest], cells

    def _line(self, cell: Document, group: ProblemRun) -> Dict[str, object]:
        check = {
            name: _plain(value)
            for name, value in group.checks[cell["number"]].items()
            if name != "spoiled"
        }
        named = {name: cell[name] for name in ("cell", "identity", "object", "problem")}
        return dict(
            named,
            schema=results.SCHEMA,
            check=check,
            latency=group.latencies.get(cell["number"]),
            device=group.device,
        )

    def _note(self, line: Document) -> None:
        self._count += 1
        self._lost += line["check"]["status"] == "lost"
        latency = line["latency"]
        took = "  %.1f us" % latency["us"] if latency else ""
        ratio = " (%.2f of the baseline)" % latency["ratio"] if latency and latency["ratio"] else ""
        why = "  %s" % line["check"]["reason"] if line["check"]["reason"] else ""
        say(
            "[%d/%d] %s  %s%s%s%s"
            % (
                self._count,
                len(self._cells),
                line["cell"],
                line["check"]["status"],
                took,
                ratio,
                why,
            )
        )

    def _accept(self, device: Document) -> None:
        """Raise Mismatch if the kernels are for GPUs of another architecture."""
        target = self._index["target"]
        here = int(device["cc"].replace(".", ""))
        if here // 10 != int(target["arch"]) // 10 or here < int(target["arch"]):
            raise Mismatch(
                "the kernels are for %s, and %s has compute capability %s"
                % (target["name"], device["name"], device["cc"])
            )


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else "%d cells" % count
