"""Watch a batch: turn a child's events, or its death, into one Evidence per cell.

A child compiles the cells of one source for one target in order (:func:`isolation`). So neither the
side effects of a source's import nor a requested target reach the cells of another source or
target. If the child dies, hangs or runs out of memory, its events show the cell and the stage in
flight, and a new child continues with the rest. The same happens if a child ends after a cell that
left modules behind, as a failed import does. The driver checks every message of a child. A line
that is no event, an answer to another cell, or a second answer is noted and never becomes a result.
A child that ends without an answer has given none.
"""

from __future__ import annotations

import logging
import os
import secrets
import select
import signal
import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path

from attrs import evolve

from compat import interruption, toolchains
from compat.diagnosis.pipeline import Keep
from compat.errors import MachineError, UnknownAction
from compat.files import folder_for_temporary
from compat.interruption import Stopped
from compat.model import Cell, Evidence
from compat.model.evidence import read_paths, read_raised, read_stages
from compat.processes import supervisor
from compat.text import JsonMapping, readable
from compat.worker import beacon
from compat.workers.attempt import (
    NOWHERE_ELSE,
    PLAIN,
    InFlightCell,
    Limits,
    Mode,
    Places,
    isolation,
    register_in_flight,
)
from compat.workers.client import (
    Child,
    Hello,
    Lines,
    WorkerClient,
    answer_of,
    ending_of,
    json_object,
    names,
    offset,
    pid_of,
)
from compat.workers.evidence import gather_evidence, lack_of_machine, refusal

_log = logging.getLogger(__name__)

_CHUNK = 1 << 16
_TICK = 0.1
_FIRST_LOOK = 0.25
"""Seconds before the driver first measures the memory of a cell. Most cells have finished by then,
so the measurement costs nothing.
"""
_LAST_WORDS = 0.2
"""Seconds between asking a hanging child for its stack and killing it."""
_SERVER_DEADLINE = 30.0
"""Seconds a server may take to fork a child."""
_REAP_DEADLINE = 10.0
"""Seconds that a server may take to report the end of a killed child, and to end the child's
processes.
"""
_CLOSE_DEADLINE = 5.0
"""The same deadline, once nothing waits for the cell's result any more."""
_PIPE = 1 << 20
"""The most bytes that a pipe holds, and so the most that is unread when a child has ended."""


def attempt(
    server: WorkerClient,
    cells: Sequence[Cell],
    limits: Limits,
    *,
    stop: threading.Event,
    mode: Mode = PLAIN,
    keep: Keep | None = None,
    places: Places = NOWHERE_ELSE,
) -> Generator[tuple[Cell, Evidence]]:
    """Attempt cells of one env in order and yield each one's evidence as it is known.

    If the server never became ready, this is the evidence of all cells. ``keep`` stores artifacts
    and returns their names; without it none are kept. ``places`` maps folders of this machine to
    their names on the requesting machine, which kept artifacts contain. Raises :class:`Stopped`
    once ``stop`` is set or the command must end. No process is left behind then, nor if the
    generator is closed early. Raises MachineError if the machine refuses a resource that a compile
    needs, such as room for files. A failure that may come from that is not evidence about a cell.
    """
    if not server.hello.ready:
        evidence = _startup_evidence(server.hello)
        if lack := lack_of_machine(evidence, Path(folder_for_temporary())):
            raise lack
        yield from ((cell, evidence) for cell in cells)
        return
    interruption.check()
    waiting = [InFlightCell(cell=cell, nonce=secrets.token_hex(8)) for cell in cells]
    while waiting:
        together = next(
            list(flights)
            for _, flights in groupby(waiting, key=lambda flight: isolation(flight.cell))
        )
        watch = _Watch(server, together, limits, stop, mode=mode, keep=keep, places=places)
        before = len(waiting)
        try:
            with register_in_flight(lambda watch=watch: watch.in_flight):  # type: ignore[misc]
                for flight, evidence in watch.run():
                    waiting.remove(flight)
                    yield flight.cell, evidence
        finally:
            watch.close()
        # The child ended before it began a cell. Do not retry forever.
        if len(waiting) == before:
            flight = waiting.pop(0)
            flight.notes.append("the child ended before it began this cell")
            yield flight.cell, flight.evidence(mode, answered=False, alone=False, **watch.ending)


def _startup_evidence(hello: Hello) -> Evidence:
    text = readable(hello.output)
    return Evidence(
        answered=False, toolchain_broken=True, raised=hello.raised, printed=text, stderr=text
    )


class _Watch:
    """One child from fork to end."""

    def __init__(
        self,
        server: WorkerClient,
        flights: Sequence[InFlightCell],
        limits: Limits,
        stop: threading.Event,
        *,
        mode: Mode,
        keep: Keep | None,
        places: Places,
    ) -> None:
        self.server = server
        self.limits, self.stop, self.mode, self.keep, self.places = limits, stop, mode, keep, places
        self.expected = list(flights)
        self.stages = toolchains.of(flights[0].cell.env).every_stage
        self.child = Child(
            server, [flight.job(mode) for flight in flights], mode=mode, places=places
        )
        self.pid: int | None = None
        self.ending: dict[str, object] = {}
        """How the child ended: an exit code or a signal; empty while it runs, or if its end is
        unknown.
        """
        self.in_flight: InFlightCell | None = None
        self.deadline_hit: float | None = None
        self.memory_hit: int | None = None
        self._quiet_since = self._requested_at = time.monotonic()
        self.imported: tuple[str, ...] = ()
        """The files that the child reported as imported."""
        self._killed: float | None = None
        self._measured_at = 0.0
        self._arriving = {self.child.events: Lines(), self.child.exit: Lines()}

    # --- the loop ---

    def run(self) -> Iterator[tuple[InFlightCell, Evidence]]:
        """Yield the evidence of each cell that this child began.

        The child has ended if its server says so, or if the server itself has ended. Other
        processes that hold a pipe open do not matter. Raises Stopped on request.
        """
        open_pipes = {self.child.events, self.child.exit}
        while not self.ending and self.child.exit in open_pipes:
            if self.stop.is_set():
                raise Stopped
            interruption.check()
            for fd in select.select(list(open_pipes), [], [], self._patience())[0]:
                lines = self._read_lines(fd)
                if lines is None:
                    open_pipes.discard(fd)
                for line in lines or ():
                    if fd == self.child.exit:
                        self._note_exit(line)
                    else:
                        yield from self._take(line)
            self._enforce()
            self._look_after_server()
        for line in self._last_lines():
            yield from self._take(line)
        if self.in_flight is not None:
            flight, self.in_flight = self.in_flight, None
            yield flight, self._cut_short(flight)

    def _last_lines(self) -> Iterator[bytes]:
        """Yield the unread lines that the child wrote before it ended."""
        for _ in range(0, _PIPE, _CHUNK):
            try:
                lines = self._read_lines(self.child.events)
            except BlockingIOError:
                return
            if lines is None:
                return
            yield from lines

    def _patience(self) -> float:
        if self.in_flight is None or self._killed is not None:
            return _TICK
        return max(0.0, min(_TICK, self.in_flight.remaining_seconds(self.limits)))

    def _read_lines(self, fd: int) -> list[bytes] | None:
        """Return the whole lines that arrived, or ``None`` at the end of the pipe."""
        data, arriving = os.read(fd, _CHUNK), self._arriving[fd]
        if not data:
            if arriving.unfinished:
                self._note("a message cut short")
            return None
        before = arriving.overlong
        lines = arriving.add(data)
        if arriving.overlong > before:
            self._note("a message without an end")
        return lines

    # --- messages of the child and the server ---

    def _note_exit(self, line: bytes) -> None:
        message = json_object(line)
        if "pid" in message:
            self.pid = pid_of(message)
            return
        self.ending = ending_of(message)
        self.pid = None
        if "refused" in message:
            raise self._unable(message["refused"])

    def _take(self, line: bytes) -> Iterator[tuple[InFlightCell, Evidence]]:
        self._quiet_since = time.monotonic()
        message = json_object(line)
        event, nonce = message.get("event"), message.get("nonce")
        next_nonce = self.expected[0].nonce if self.expected and self.in_flight is None else None
        is_next = next_nonce is not None and nonce == next_nonce
        if event == "start" and is_next:
            self._begin(self.expected.pop(0), message)
        elif event == "refused" and is_next:
            raise UnknownAction.of(
                names(message.get("cannot")), where=self.expected[0].cell.env.name
            )
        elif event == "unable" and is_next:
            raise self._unable(message["raised"])
        elif self.in_flight is None or nonce != self.in_flight.nonce:
            self._note(f"not an event of the cell in flight: {line[:200].decode(errors='replace')}")
        elif event == "stage" and message.get("stage") in self.stages:
            self.in_flight.enter(str(message["stage"]), read_stages(message).get("cpu"))
        elif event == "imported":
            self.imported = read_paths(message.get("files"))
        elif event == "done" and (evidence := self._answer(self.in_flight, message)) is not None:
            flight, self.in_flight = self.in_flight, None
            yield flight, evidence
        else:
            self._note(f"not understood: {line[:200].decode(errors='replace')}")

    def _unable(self, raised: object) -> MachineError:
        """Return an error that says why nothing can begin.

        It does not depend on the cells, because so far only the system itself was asked for
        anything.
        """
        chain = read_raised(raised)
        number, message = (chain[-1].errno or 0, chain[-1].message) if chain else (0, "")
        return MachineError.about(number, message, where=str(self.child.directory.parent))

    def _begin(self, flight: InFlightCell, message: JsonMapping) -> None:
        flight.started = time.monotonic()
        flight.output = offset(message.get("output")) or 0
        flight.target_known = (
            message["target_known"] if isinstance(message.get("target_known"), bool) else None
        )
        flight.starved_before = supervisor.starved_seconds(self.pid) if self.pid else 0.0
        self.in_flight = flight
        self._measured_at = 0.0

    def _note(self, note: str) -> None:
        flight = self.in_flight or (self.expected[0] if self.expected else None)
        if flight is not None and len(flight.notes) < 20:
            flight.notes.append(note)

    # --- limits ---

    def _enforce(self) -> None:
        now = time.monotonic()
        if self.pid is None or self.deadline_hit is not None or self.memory_hit is not None:
            return
        if self.in_flight is None:
            if now - self._quiet_since > self.limits.deadline:
                self._note("the child stopped answering between two cells")
                self._quiet_since = now
                self._kill()
            return
        age = now - self.in_flight.started
        limit = self.in_flight.limit(self.limits)
        if self.in_flight.remaining_seconds(self.limits) <= 0:
            starved = supervisor.starved_seconds(self.pid) - self.in_flight.starved_before
            self.in_flight.starved = max(0.0, min(starved, self.limits.most_starved * limit))
        if self.in_flight.remaining_seconds(self.limits) <= 0:
            self.deadline_hit = limit
            cpu = supervisor.cpu_seconds(self.pid)
            self._note_stage(self.in_flight, cpu)
            self.in_flight.stop(cpu)
            _log.info(
                "%s: over its deadline of %g s in stage %s; it waited %.1f s for a processor",
                self.in_flight.cell.id,
                self.deadline_hit,
                self.in_flight.stage,
                self.in_flight.starved,
            )
            self._ask_for_stack()
            self._kill()
        elif age > _FIRST_LOOK and now - self._measured_at > _TICK:
            self._measured_at = now
            resident = supervisor.resident_bytes(self.pid)
            if resident > self.limits.memory:
                self.memory_hit = resident
                _log.info(
                    "%s: over its memory limit, with %d MiB", self.in_flight.cell.id, resident >> 20
                )
                self._kill()

    def _ask_for_stack(self) -> None:
        """Send SIGUSR1, on which a hanging child prints its Python stack, even in the compiler."""
        assert self.pid is not None
        with suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, signal.SIGUSR1)
        time.sleep(_LAST_WORDS)

    def _kill(self) -> None:
        self._killed = self._killed or time.monotonic()
        for kill in (os.killpg, os.kill):  # it may have left its group
            if self.pid is not None:
                with suppress(ProcessLookupError, PermissionError):
                    kill(self.pid, signal.SIGKILL)

    def _look_after_server(self) -> None:
        """Kill a server that no longer forks or reaps, because a kernel file can stop it."""
        if self.ending:
            return
        late = self.pid is None and time.monotonic() - self._requested_at > _SERVER_DEADLINE
        if late or (self._killed is not None and time.monotonic() - self._killed > _REAP_DEADLINE):
            self._note("the worker stopped answering and was killed")
            _log.info("a worker stopped answering and is killed")
            self.server.kill()

    # --- evidence ---

    def _answer(self, flight: InFlightCell, message: Mapping[str, object]) -> Evidence | None:
        """Return the evidence in a ``done`` event, or ``None`` if the event is malformed."""
        answer = answer_of(message)
        if answer is None:
            return None
        facts, end = answer
        evidence = flight.evidence(self.mode, answered=True, **facts)
        return self._complete_evidence(evidence, flight, end)

    def _complete_evidence(
        self, evidence: Evidence, flight: InFlightCell, end: int | None
    ) -> Evidence:
        """Return the evidence with what the attempt left behind.

        If the machine refused something, the evidence becomes one without an answer. Raises
        MachineError if a resource is still short.
        """
        evidence = gather_evidence(
            evidence, self.child, flight, end, self.mode, keep=self.keep, places=self.places
        )
        if evidence.complete:
            return evidence
        if lack := lack_of_machine(evidence, self.child.directory):
            raise lack
        refused = refusal(evidence, self.child.directory)
        return evolve(evidence, answered=False, refused=refused) if refused else evidence

    def _note_stage(self, flight: InFlightCell, cpu: float) -> None:
        """Note the stage that the beacon shows if the child could not report it.

        This happens in a call that goes through several stages.
        """
        stage_start = beacon.unreported_stage(str(self.child.directory))
        if (
            stage_start is not None
            and stage_start[0] in self.stages
            and stage_start[0] != flight.stage
        ):
            flight.began(*stage_start, cpu)

    def _cut_short(self, flight: InFlightCell) -> Evidence:
        """The evidence of the cell that was in flight when the child ended."""
        if self.deadline_hit is None:
            self._note_stage(flight, 0.0)
        evidence = flight.evidence(
            self.mode,
            answered=False,
            **self.ending,
            deadline=self.deadline_hit,
            memory=self.memory_hit,
            imported=self.imported,
        )
        return self._complete_evidence(evidence, flight, None)

    def close(self) -> None:
        """End the child and everything that it started, and close its files."""
        self._wait_for_end(_CLOSE_DEADLINE)
        # The server is gone, or hangs, so only the driver can end processes that left the child.
        if not self.ending:
            self.server.kill()
            self._kill()
            supervisor.end_users(self.child.directory)
        self.child.close()

    def _wait_for_end(self, seconds: float) -> None:
        give_up = time.monotonic() + seconds
        while not self.ending and time.monotonic() < give_up:
            self._kill()
            if not select.select([self.child.exit], [], [], 0.05)[0]:
                continue
            lines = self._read_lines(self.child.exit)
            if lines is None:
                break
            for line in lines:
                with suppress(MachineError):
                    self._note_exit(line)
