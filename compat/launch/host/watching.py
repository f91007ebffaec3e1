"""The parent's side: fork a child for a problem, go by what it tells, end it where it hangs, and settle what went wrong.

What a child tells of a cell counts once its canary was well after it, or the context ended for a reason of the cell's own.
"""

from __future__ import annotations

import json
import os
import select
import signal
import time
import traceback
from typing import Any, Callable, Dict, List, Optional, Sequence

from .checking import failed
from .child import Child, Task
from .options import Options
from .prepared import Numerics

_PREPARING = 600.0
"""Seconds that inputs and references may take."""
_ROUND = 120.0
"""Seconds that timing all cells once may take."""
_TRIES = 2
"""Children that may end without having come to any cell, before the rest is given up."""

Cell = Dict[str, Any]


class Mismatch(Exception):
    """The folder is for another GPU than this machine's. The message says so."""


class Ended:
    """What is known when a child has ended."""

    def __init__(self) -> None:
        self.checks: Dict[int, Dict[str, Any]] = {}
        """Cell → its check, of those that count."""
        self.latencies: Dict[int, Dict[str, Any]] = {}
        self.suspect: Optional[int] = None
        """The cell that ended the child."""
        self.first: Dict[str, Any] = {}
        """What came of it then."""
        self.unable = ""
        """Why nothing of the problem can be run."""
        self.unwell = ""
        """How the canary failed."""
        self.finished = False
        self.device: Optional[Dict[str, Any]] = None


class Watch:
    """Runs tasks in children."""

    def __init__(self, folder: str, options: Options, numerics: Numerics, accept: Callable[[Dict[str, Any]], None]) -> None:
        """``accept`` hears of the device, and raises Mismatch."""
        self._folder, self._options, self._numerics, self._accept = folder, options, numerics, accept

    def run(self, task: Task) -> Ended:
        """Fork a child for a task, and go by what it tells until it has ended."""
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                os.close(ours)
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
                Child(self._folder, self._options, self._numerics, theirs).run(task)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(theirs)
        ended = Ended()
        try:
            _Following(ours, pid, self._options.deadline, ended, self._accept).follow()
        finally:
            os.close(ours)
            _end(pid)
        return ended


class _Following:
    """One child, followed to its end."""

    def __init__(self, pipe: int, pid: int, deadline: float, ended: Ended, accept: Callable[[Dict[str, Any]], None]) -> None:
        self._pipe, self._pid, self._deadline, self._ended, self._accept = pipe, pid, deadline, ended, accept
        self._held: Dict[int, Dict[str, Any]] = {}
        self._in_flight: Optional[int] = None
        self._began = time.monotonic()
        self._idle = _PREPARING
        """The limit where no cell is in flight."""
        self._rest = b""

    def follow(self) -> None:
        """Until the pipe ends, or the child has to be killed."""
        while True:
            limit = self._deadline if self._in_flight is not None else self._idle
            left = self._began + limit - time.monotonic()
            if left <= 0:
                self._over(limit)
                return
            if not select.select([self._pipe], [], [], min(left, 1.0))[0]:
                continue
            data = os.read(self._pipe, 1 << 16)
            if not data:
                self._gone()
                return
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                self._take(json.loads(line))

    def _take(self, said: Dict[str, Any]) -> None:
        event = said["event"]
        if event == "begin":
            if said["cell"] != self._in_flight:
                self._in_flight, self._began = said["cell"], time.monotonic()
        elif event == "checked":
            self._checked(said)
        elif event == "round":
            self._waits()
            self._idle = _ROUND
        elif event == "timed":
            self._ended.latencies[said["cell"]] = said["latency"]
        elif event == "canary":
            self._canary(said)
        elif event in ("ready", "device"):
            self._ended.device = said["device"]
            self._accept(said["device"])
            self._waits()
        elif event == "unable":
            self._ended.unable = said["why"]
        elif event == "stopped":
            self._stopped(said["why"])
        elif event == "end":
            self._ended.finished = True

    def _waits(self) -> None:
        """Nothing is in flight."""
        self._in_flight, self._began = None, time.monotonic()

    def _checked(self, said: Dict[str, Any]) -> None:
        self._in_flight = None
        self._began = time.monotonic()
        if said["fault"]:
            self._commit()
            self._suspect(said["cell"], said["check"])
        else:
            self._held[said["cell"]] = said["check"]

    def _canary(self, said: Dict[str, Any]) -> None:
        self._waits()
        if said["well"]:
            self._commit()
            return
        self._ended.unwell = said["why"]
        bad = [cell for cell, check in self._held.items() if check["status"] != "ok"]
        if bad:
            self._suspect(bad[-1], self._held[bad[-1]])

    def _stopped(self, why: str) -> None:
        """Timing ended early: by the cell in flight."""
        self._commit()
        if self._in_flight is not None:
            self._suspect(self._in_flight, failed("faulted", why, "while it was timed"))

    def _commit(self) -> None:
        self._ended.checks.update(self._held)
        self._held.clear()

    def _suspect(self, cell: int, check: Dict[str, Any]) -> None:
        self._ended.suspect, self._ended.first = cell, check
        self._ended.checks.pop(cell, None)
        self._held.pop(cell, None)

    def _over(self, limit: float) -> None:
        if self._in_flight is None:
            what = "inputs and references" if self._idle == _PREPARING else "timing all cells once"
            self._ended.unable = "%s took more than %g s" % (what, limit)
            return
        self._commit()
        self._suspect(self._in_flight, failed("timed_out", "it took more than %g s" % limit))

    def _gone(self) -> None:
        """The child has closed its pipe: it ended."""
        if self._ended.finished or self._in_flight is None:
            if not self._ended.unwell:
                self._commit()
            return
        self._commit()
        self._suspect(self._in_flight, failed("lost", "the process that launched it ended"))


def _end(pid: int) -> None:
    """Kill it if it is still there, and take its exit code."""
    for _ in range(50):  # it may be about to end by itself
        if os.waitpid(pid, os.WNOHANG)[0]:
            return
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


class Group:
    """The cells of one problem, on their way to results."""

    def __init__(self, watch: Watch, problem: Dict[str, Any], cells: Sequence[Cell]) -> None:
        self._watch, self._problem, self._cells = watch, problem, list(cells)
        self.checks: Dict[int, Dict[str, Any]] = {}
        self.latencies: Dict[int, Dict[str, Any]] = {}
        self.device: Optional[Dict[str, Any]] = None
        self._alone: List[int] = []
        self._first: Dict[int, Dict[str, Any]] = {}

    def run(self) -> None:
        """Check all cells, and time those that are right; then settle those that ended a child."""
        tries = 0
        while True:
            to_check = [cell for cell in self._cells if cell["number"] not in self.checks and cell["number"] not in self._alone]
            to_time = [cell for cell in self._cells if self._is_right(cell) and cell["number"] not in self.latencies]
            if not to_check and (not to_time or tries):
                break
            before = (len(self.checks), len(self._alone), len(self.latencies))
            ended = self._watch.run(Task(self._problem, to_check, to_time))
            self._note(ended)
            if ended.unable:
                self._give_up(to_check, ended.unable)
                break
            if ended.finished:
                break
            tries = 0 if (len(self.checks), len(self._alone), len(self.latencies)) != before else tries + 1
            if tries >= _TRIES:
                self._give_up(to_check, ended.unwell or "the process that launches ended before it came to it")
                break
        for number in self._alone:
            self._settle(next(cell for cell in self._cells if cell["number"] == number))

    def _is_right(self, cell: Cell) -> bool:
        check = self.checks.get(cell["number"])
        return check is not None and check["status"] == "ok"

    def _note(self, ended: Ended) -> None:
        self.checks.update(ended.checks)
        self.latencies.update(ended.latencies)
        self.device = ended.device or self.device
        if ended.suspect is not None:
            self.checks.pop(ended.suspect, None)
            self.latencies.pop(ended.suspect, None)
            self._alone.append(ended.suspect)
            self._first[ended.suspect] = ended.first

    def _give_up(self, cells: Sequence[Cell], why: str) -> None:
        for cell in cells:
            self.checks.setdefault(cell["number"], failed("lost", why))

    def _settle(self, cell: Cell) -> None:
        """Run a cell that ended a child again, in one of its own; what that says counts, if it says anything."""
        number, first = cell["number"], self._first[cell["number"]]
        ended = self._watch.run(Task(self._problem, [cell], []))
        self.device = ended.device or self.device
        second = ended.first if ended.suspect == number else ended.checks.get(number)
        if second is None:
            self.checks[number] = failed(
                "lost", ended.unable or ended.unwell or "the process that launches ended before it came to it"
            )
            return
        self.checks[number] = _together(first, second)
        if number in ended.latencies:
            self.latencies[number] = ended.latencies[number]


def _together(first: Dict[str, Any], second: Dict[str, Any]) -> Dict[str, Any]:
    """What two attempts mean, the second of which was alone."""
    if first["status"] == second["status"]:
        return second
    words = "%s%s" % (first["status"], " (%s)" % first["reason"] if first["reason"] else "")
    if second["status"] == "ok" and first["status"] in ("faulted", "timed_out"):
        return dict(second, status="unstable", reason="the first time, beside other kernels, it was %s; alone it is right" % words)
    return dict(second, reason="; ".join(filter(None, (second["reason"], "the first time it was %s" % words))))
