"""The parent's side: fork a process for a problem, watch it, kill it if it hangs, repeat failures.

A process's answer about a cell counts if its canary succeeds afterwards, or if the cell itself
ended the context.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence

from .checking import CheckingProcess, Task, failed_check
from .forked_process import Channel, ForkedProcess, Message, NoAnswer, ProcessEnded
from .session import LaunchSetup

if TYPE_CHECKING:
    from ...inside.foreign import Document

_PREPARING = 600.0
"""Seconds that inputs and references may take."""
_ROUND = 120.0
"""Seconds that timing all cells once may take."""
_TRIES = 2
"""Processes that may end without reaching any cell before the launcher gives up."""

Cell = Dict[str, Any]


class Mismatch(Exception):
    """The folder is for another GPU than this machine's. The message says so."""


class ProcessReport:
    """The results of a forked process once it has ended."""

    def __init__(self) -> None:
        self.checks: Dict[int, Dict[str, object]] = {}
        """Cell → the check that counts."""
        self.latencies: Dict[int, Dict[str, object]] = {}
        self.suspect: Optional[int] = None
        """The cell that ended the process."""
        self.first: Dict[str, object] = {}
        """The result of the first attempt."""
        self.unable = ""
        """The reason why the problem cannot run at all."""
        self.unwell = ""
        """How the canary failed."""
        self.finished = False
        self.device: Optional[Dict[str, object]] = None

    @property
    def failure(self) -> str:
        """The reason why a cell has no result."""
        ended = "the process that launches kernels ended before it reached this cell"
        return self.unable or self.unwell or ended


class Watch:
    """Runs tasks in forked processes."""

    def __init__(self, setup: LaunchSetup, accept: Callable[[Dict[str, object]], None]) -> None:
        """``accept`` gets the facts about the device, and may raise Mismatch."""
        self._setup, self._accept = setup, accept

    def run(self, task: Task) -> ProcessReport:
        """Fork a process for a task, and return its results once it has ended."""

        def work(channel: Channel) -> None:
            CheckingProcess(self._setup, channel).run(task)

        process, report = ForkedProcess(work), ProcessReport()
        deadline = self._setup.options.deadline
        try:
            _FollowedProcess(process, deadline, report, self._accept).follow()
        finally:
            process.end()
        return report


class _FollowedProcess:
    """One process, followed to its end."""

    def __init__(
        self,
        process: ForkedProcess,
        deadline: float,
        report: ProcessReport,
        accept: Callable[[Dict[str, object]], None],
    ) -> None:
        self._process, self._deadline = process, deadline
        self._report, self._accept = report, accept
        self._held: Dict[int, Document] = {}
        self._in_flight: Optional[int] = None
        self._began = time.monotonic()
        self._idle = _PREPARING
        """The limit in seconds while no cell is in flight."""

    def follow(self) -> None:
        """Read the messages of the process until it ends or exceeds a limit."""
        while True:
            limit = self._deadline if self._in_flight is not None else self._idle
            try:
                message = self._process.receive(self._began + limit - time.monotonic())
            except NoAnswer:
                self._over(limit)
                return
            except ProcessEnded:
                self._note_end()
                return
            self._note(message)

    def _note(self, message: Message) -> None:  # noqa: C901 - one case for each event
        event = message["event"]
        if event == "begin":
            if message["cell"] != self._in_flight:
                self._in_flight, self._began = message["cell"], time.monotonic()
        elif event == "checked":
            self._note_check(message)
        elif event == "round":
            self._waits()
            self._idle = _ROUND
        elif event == "timed":
            self._report.latencies[message["cell"]] = message["latency"]
        elif event == "canary":
            self._canary(message)
        elif event in ("ready", "device"):
            self._report.device = message["device"]
            self._accept(message["device"])
            self._waits()
        elif event == "unable":
            self._report.unable = message["why"]
        elif event == "stopped":
            self._note_stop(message["why"])
        elif event == "end":
            self._report.finished = True

    def _waits(self) -> None:
        """Note that no cell is in flight."""
        self._in_flight, self._began = None, time.monotonic()

    def _note_check(self, message: Message) -> None:
        self._waits()
        if message["fault"]:
            self._commit()
            self._suspect(message["cell"], message["check"])
        else:
            self._held[message["cell"]] = message["check"]

    def _canary(self, message: Message) -> None:
        self._waits()
        if message["well"]:
            self._commit()
            return
        self._report.unwell = message["why"]
        bad = [cell for cell, check in self._held.items() if check["status"] != "ok"]
        if bad:
            self._suspect(bad[-1], self._held[bad[-1]])

    def _note_stop(self, why: str) -> None:
        """Note that the cell in flight, if there is one, ended the timing early."""
        self._commit()
        if self._in_flight is not None:
            self._suspect(self._in_flight, failed_check("faulted", why, "while it was timed"))

    def _commit(self) -> None:
        self._report.checks.update(self._held)
        self._held.clear()

    def _suspect(self, cell: int, check: Dict[str, object]) -> None:
        self._report.suspect, self._report.first = cell, check
        self._report.checks.pop(cell, None)
        self._held.pop(cell, None)

    def _over(self, limit: float) -> None:
        if self._in_flight is None:
            what = "inputs and references" if self._idle == _PREPARING else "timing all cells once"
            self._report.unable = "%s took more than %g s" % (what, limit)
            return
        self._commit()
        self._suspect(self._in_flight, failed_check("timed_out", "it took more than %g s" % limit))

    def _note_end(self) -> None:
        """Note that the process ended."""
        if self._report.finished or self._in_flight is None:
            if not self._report.unwell:
                self._commit()
            return
        self._commit()
        self._suspect(
            self._in_flight, failed_check("lost", "the process that launches kernels ended")
        )


class ProblemRun:
    """The run of one problem's cells, with their results so far."""

    def __init__(
        self,
        watch: Watch,
        problem: Dict[str, object],
        cells: Sequence[Cell],
        until: float = math.inf,
    ) -> None:
        self._watch, self._problem, self._cells = watch, problem, list(cells)
        self._until = until
        self.checks: Dict[int, Dict[str, object]] = {}
        self.latencies: Dict[int, Dict[str, object]] = {}
        self.device: Optional[Dict[str, object]] = None
        self._alone: List[int] = []
        self._first: Dict[int, Dict[str, object]] = {}

    def run(self) -> None:
        """Check all cells, and time the right ones.

        Then run each cell that ended a process again, alone.
        """
        tries = 0
        while True:
            to_check = [
                cell
                for cell in self._cells
                if cell["number"] not in self.checks and cell["number"] not in self._alone
            ]
            to_time = [
                cell
                for cell in self._cells
                if self._is_right(cell) and cell["number"] not in self.latencies
            ]
            if not to_check and (not to_time or tries):
                break
            before = (len(self.checks), len(self._alone), len(self.latencies))
            report = self._watch.run(Task(self._problem, to_check, to_time, self._until))
            self._note(report)
            if report.unable:
                self._give_up(to_check, report.failure)
                break
            if report.finished:
                break
            tries = (
                0
                if (len(self.checks), len(self._alone), len(self.latencies)) != before
                else tries + 1
            )
            if tries >= _TRIES:
                self._give_up(to_check, report.failure)
                break
        for number in self._alone:
            self._settle(next(cell for cell in self._cells if cell["number"] == number))

    def _is_right(self, cell: Cell) -> bool:
        check = self.checks.get(cell["number"])
        return check is not None and check["status"] == "ok"

    def _note(self, report: ProcessReport) -> None:
        self.checks.update(report.checks)
        self.latencies.update(report.latencies)
        self.device = report.device or self.device
        if report.suspect is not None:
            self.checks.pop(report.suspect, None)
            self.latencies.pop(report.suspect, None)
            self._alone.append(report.suspect)
            self._first[report.suspect] = report.first

    def _give_up(self, cells: Sequence[Cell], why: str) -> None:
        for cell in cells:
            self.checks.setdefault(cell["number"], failed_check("lost", why))

    def _settle(self, cell: Cell) -> None:
        """Run a cell that ended a process again, in a process of its own.

        The second answer counts, if there is one.
        """
        number, first = cell["number"], self._first[cell["number"]]
        report = self._watch.run(Task(self._problem, [cell], [], self._until))
        self.device = report.device or self.device
        second = report.first if report.suspect == number else report.checks.get(number)
        if second is None:
            self.checks[number] = failed_check("lost", report.failure)
            return
        self.checks[number] = verdict_of(first, second)
        if number in report.latencies:
            self.latencies[number] = report.latencies[number]


def verdict_of(first: Document, second: Document) -> Document:
    """Return the check that follows from two attempts. The second one ran alone."""
    if first["status"] == second["status"]:
        return second
    first_time = "%s%s" % (first["status"], " (%s)" % first["reason"] if first["reason"] else "")
    if second["status"] == "ok" and first["status"] in ("faulted", "timed_out"):
        return dict(
            second,
            status="unstable",
            reason="it was %s in the first run, after other kernels; alone it is right"
            % first_time,
        )
    return dict(
        second,
        reason="; ".join(
            filter(None, (second["reason"], "it was %s in the first run" % first_time))
        ),
    )
