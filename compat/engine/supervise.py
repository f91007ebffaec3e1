"""Watch a batch: turn a child's events, or its death, into one Evidence per cell.

The child compiles the jobs in a row. If it dies, hangs or outgrows its memory, the cell and stage in flight are known from its
events; a new child goes on with the rest. Nothing a child says is believed beyond its form: a line that is no event, an answer to
another cell, a second answer are noted and never become a result, and a child that ends without an answer has given none.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from compat.engine import procfs
from compat.engine.child import Child
from compat.engine.flight import PLAIN, Flight, Limits, Mode
from compat.engine.server import Hello, Server
from compat.evidence import diagnose
from compat.model import STAGES, Cell, Diagnosis, Evidence, Noticed, Raised

STDERR_LIMIT = 64 * 1024
"""Bytes of a cell's output that are kept."""
DUMP_LIMIT = 256 * 1024 * 1024
"""Bytes of a diagnostics run's output that are searched for the failing pass."""
_LINE_LIMIT = 16 * 1024 * 1024
_TICK = 0.1
_FIRST_LOOK = 0.25
"""Seconds a cell may run before its memory is looked at; most have finished by then, so the looking costs nothing."""
_LAST_WORDS = 0.2
"""Seconds between asking a hanging child for its stack and killing it."""

Keep = Callable[[str, bytes], str]
"""Keeps an artifact, given a suffix and its bytes, and returns the name it can be found under."""


class Stopped(Exception):
    """The run was asked to stop while cells were in flight; they have no result."""


def attempt(
    server: Server,
    cells: Sequence[Cell],
    limits: Limits,
    *,
    stop: threading.Event,
    mode: Mode = PLAIN,
    keep: Keep | None = None,
) -> Iterator[tuple[Cell, Evidence]]:
    """Attempt cells of one env in order and yield each one's evidence as it is known.

    Where the server never became ready, that is the evidence of all of them. ``keep`` stores artifacts and returns their names;
    without it none are kept. Raises :class:`Stopped` once ``stop`` is set; no process is left behind then, nor when the iterator is
    closed early.
    """
    if not server.hello.ready:
        yield from ((cell, _broken(server.hello)) for cell in cells)
        return
    waiting = [Flight(cell=cell, nonce=secrets.token_hex(8)) for cell in cells]
    while waiting:
        watch = _Watch(server, waiting, limits, stop, mode=mode, keep=keep)
        before = len(waiting)
        try:
            for flight, evidence in watch.run():
                waiting.remove(flight)
                yield flight.cell, evidence
        finally:
            watch.close()
        if len(waiting) == before:  # a child that ended before it began anything: do not try for ever
            flight = waiting.pop(0)
            yield flight.cell, flight.unanswered(watch.ending, ("the child ended before it began this cell",))


def _broken(hello: Hello) -> Evidence:
    raised = tuple(Raised(type=str(link.get("type", "")), message=str(link.get("message", ""))) for link in hello.raised)
    return Evidence(answered=False, toolchain_broken=True, raised=raised, stderr=hello.words)


class _Watch:
    """One child from fork to end."""

    def __init__(
        self, server: Server, flights: Sequence[Flight], limits: Limits, stop: threading.Event, *, mode: Mode, keep: Keep | None
    ) -> None:
        self.limits, self.stop, self.mode, self.keep = limits, stop, mode, keep
        self.expected = list(flights)
        self.child = Child(server, [flight.job(mode) for flight in flights], diagnose=mode.diagnose, variables=mode.variables)
        self.pid: int | None = None
        self.ending: dict[str, Any] = {}
        """How the child ended: an exit code or a signal; empty while it runs, or when nobody can tell any more."""
        self.in_flight: Flight | None = None
        self.deadline_hit: float | None = None
        self.memory_hit: int | None = None
        self._quiet_since = time.monotonic()
        self._looked = 0.0
        self._buffers = {self.child.events: b"", self.child.exit: b""}

    # --- the loop ---

    def run(self) -> Iterator[tuple[Flight, Evidence]]:
        """Yield the evidence of each cell this child got to."""
        open_pipes = {self.child.events, self.child.exit}
        while open_pipes:
            if self.stop.is_set():
                raise Stopped
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
        if self.in_flight is not None:
            flight, self.in_flight = self.in_flight, None
            yield flight, self._cut_short(flight)

    def _patience(self) -> float:
        if self.in_flight is None:
            return _TICK
        left = self.in_flight.started + self.limits.deadline - time.monotonic()
        return max(0.0, min(_TICK, left))

    def _read_lines(self, fd: int) -> list[bytes] | None:
        """The whole lines that arrived, ``None`` at the end of the pipe."""
        data = os.read(fd, 1 << 16)
        *lines, rest = (self._buffers[fd] + data).split(b"\n")
        if len(rest) > _LINE_LIMIT:
            self._note("a message without an end")
            rest = b""
        self._buffers[fd] = rest
        if not data:
            if rest:
                self._note("a message cut short")
            return None
        return lines

    # --- what the child and the server say ---

    def _note_exit(self, line: bytes) -> None:
        message = _json_object(line)
        if "pid" in message:
            self.pid = int(message["pid"])
        else:
            self.ending = message
            self.pid = None

    def _take(self, line: bytes) -> Iterator[tuple[Flight, Evidence]]:
        self._quiet_since = time.monotonic()
        message = _json_object(line)
        event, nonce = message.get("event"), message.get("nonce")
        if event == "start" and self.in_flight is None and self.expected and nonce == self.expected[0].nonce:
            self._begin(self.expected.pop(0), message)
        elif self.in_flight is None or nonce != self.in_flight.nonce:
            self._note(f"not an event of the cell in flight: {line[:200].decode(errors='replace')}")
        elif event == "stage" and message.get("stage") in STAGES:
            self.in_flight.stage = str(message["stage"])
            self.in_flight.entered = time.monotonic() - self.in_flight.started
        elif event == "done" and (evidence := self._answer(self.in_flight, message)) is not None:
            flight, self.in_flight = self.in_flight, None
            yield flight, evidence
        else:
            self._note(f"not understood: {line[:200].decode(errors='replace')}")

    def _begin(self, flight: Flight, message: Mapping[str, Any]) -> None:
        flight.started = time.monotonic()
        flight.output = message["output"] if isinstance(message.get("output"), int) else 0
        self.in_flight = flight
        self._looked = 0.0

    def _note(self, words: str) -> None:
        flight = self.in_flight or (self.expected[0] if self.expected else None)
        if flight is not None and len(flight.notes) < 20:
            flight.notes.append(words)

    # --- limits ---

    def _enforce(self) -> None:
        now = time.monotonic()
        if self.pid is None or self.deadline_hit is not None or self.memory_hit is not None:
            return
        if self.in_flight is None:
            if now - self._quiet_since > self.limits.deadline:
                self._note("the child fell silent between two cells")
                self._quiet_since = now
                self._kill()
            return
        age = now - self.in_flight.started
        if age >= self.limits.deadline:
            self.deadline_hit = self.limits.deadline
            self._ask_for_stack()
            self._kill()
        elif age > _FIRST_LOOK and now - self._looked > _TICK:
            self._looked = now
            resident = procfs.resident_bytes(self.pid)
            if resident > self.limits.memory:
                self.memory_hit = resident
                self._kill()

    def _ask_for_stack(self) -> None:
        """A hanging child prints its Python stack on SIGUSR1, even from within the compiler."""
        assert self.pid is not None
        with suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, signal.SIGUSR1)
        time.sleep(_LAST_WORDS)

    def _kill(self) -> None:
        if self.pid is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    # --- evidence ---

    def _answer(self, flight: Flight, message: Mapping[str, Any]) -> Evidence | None:
        """The evidence in a ``done`` event, or ``None`` if it has not the form of one."""
        try:
            built = message["built"]
            if not isinstance(built, bool):
                return None
            end = int(message["output"])
            stderr, diagnosis, kept = self._output_of(flight, end, failed=not built)
            return Evidence(
                answered=True,
                built=built,
                alone=self.mode.diagnose,
                stage=flight.stage,
                entered=flight.entered,
                raised=tuple(Raised(type=str(link["type"]), message=str(link["message"])) for link in message.get("raised", ())),
                stderr=stderr,
                seconds=time.monotonic() - flight.started,
                stages={str(stage): float(seconds) for stage, seconds in message["stages"].items()},
                metrics=dict(message.get("metrics", {})),
                warnings=tuple(Noticed(type=str(w["type"]), message=str(w["message"])) for w in message["warnings"]),
                diagnosis=diagnosis,
                kept=kept,
                protocol=tuple(flight.notes),
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            return None

    def _cut_short(self, flight: Flight) -> Evidence:
        """The evidence of the cell that was in flight when the child ended."""
        stderr, diagnosis, kept = self._output_of(flight, None, failed=True)
        return Evidence(
            answered=False,
            alone=self.mode.diagnose,
            stage=flight.stage,
            entered=flight.entered,
            exit_code=self.ending.get("exit_code"),
            signal=self.ending.get("signal"),
            deadline=self.deadline_hit,
            memory=self.memory_hit,
            stderr=stderr,
            seconds=time.monotonic() - flight.started,
            diagnosis=diagnosis,
            kept=kept,
            protocol=tuple(flight.notes),
        )

    def _output_of(self, flight: Flight, end: int | None, *, failed: bool) -> tuple[str, Diagnosis, dict[str, str]]:
        """What the cell printed, without IR; what that tells of where it failed; and the artifacts that were asked for."""
        kept = self._kept(flight)
        if not failed and not self.mode.keep_passes:
            return "", Diagnosis(), kept
        text = self.child.read_output(flight.output, end, DUMP_LIMIT)
        if self.mode.keep_passes and self.keep:
            kept["passes"] = self.keep(".passes.mlir", text.encode())
        if not failed:
            return "", Diagnosis(), kept
        words, dump = diagnose.without_ir(text)
        keep = self.keep if self.mode.diagnose else None
        diagnosis = diagnose.diagnose(words, dump, self.child.directory, flight.stage, keep)
        return diagnose.bounded(words, STDERR_LIMIT), diagnosis, kept

    def _kept(self, flight: Flight) -> dict[str, str]:
        """Stage → name of what it made."""
        folder = self.child.directory / "kept" / flight.nonce
        if not (self.mode.keep_ir and self.keep and folder.is_dir()):
            return {}
        paths = {path.name: path for path in folder.iterdir()}
        return {stage: self.keep(f".{stage}", paths[stage].read_bytes()) for stage in STAGES if stage in paths}

    def close(self) -> None:
        """Make sure that the child is gone, whatever it was doing, and forget its files."""
        give_up = time.monotonic() + 5
        while not self.ending and time.monotonic() < give_up:
            self._kill()
            if not select.select([self.child.exit], [], [], 0.05)[0]:
                continue
            lines = self._read_lines(self.child.exit)
            if lines is None:
                break
            for line in lines:
                self._note_exit(line)
        self.child.close()


def _json_object(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}
