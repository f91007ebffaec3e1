"""A program that stays and answers: a line on its standard input, a line on its standard output, and so on."""

from __future__ import annotations

import math
import os
import select
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from tempfile import TemporaryFile
from typing import Self

from compat import interruption
from compat.interruption import Stopped
from compat.processes.output import read_end
from compat.processes.supervisor import PIPE, POLL, SHOWN, Process


class SessionEnded(Exception):
    """The program has ended, or does not answer. The message is the last line that it printed."""


class Session:
    """A program that is asked, from its start until it is closed."""

    def __init__(
        self,
        command: Sequence[str],
        stop: threading.Event | None = None,
        *,
        variables: Mapping[str, str] | None = None,
        pass_fds: Sequence[int] = (),
        patience: float = 0.0,
    ) -> None:
        """Start it, with variables besides one's own. ``stop`` ends whoever waits for an answer; ``patience`` is how many seconds
        it has to end by itself when it is closed.

        Raises SessionEnded where there is no such program, and MachineError where the machine refuses to start any.
        """
        self.stop, self._patience = stop, patience
        self._printed = TemporaryFile()  # noqa: SIM115 - closed with all else
        self._rest = b""
        env = {**os.environ, **(variables or {})}
        try:
            self._process = Process(command, stdin=PIPE, stdout=PIPE, stderr=self._printed, env=env, pass_fds=pass_fds)
        except BaseException as error:
            self._printed.close()
            if isinstance(error, OSError):
                raise SessionEnded(f"{command[0]}: {error.strerror}") from error
            raise

    def ask(self, line: str, seconds: float = math.inf) -> str:
        """The answer to a line, within so many seconds. Raises SessionEnded where there is none, and Stopped."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise self._ended() from error
        return self.read_line(seconds)

    def read_line(self, seconds: float) -> str:
        """The next line that it writes. Raises as asking does."""
        assert self._process.stdout is not None
        pipe, until = self._process.stdout.fileno(), time.monotonic() + seconds
        while b"\n" not in self._rest:
            interruption.check()
            if self.stop is not None and self.stop.is_set():
                raise Stopped
            if time.monotonic() > until:
                raise SessionEnded(f"it did not answer within {seconds:g} s")
            if select.select([pipe], [], [], POLL)[0]:
                data = os.read(pipe, 1 << 16)
                if not data:
                    raise self._ended()
                self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode(errors="replace")

    @property
    def printed(self) -> str:
        """The end of what it printed besides its answers."""
        return read_end(self._printed.fileno(), SHOWN)

    def _ended(self) -> SessionEnded:
        lines = self.printed.strip().splitlines()
        return SessionEnded(lines[-1] if lines else "it ended, and said nothing")

    def end(self) -> int:
        """End it, with all that it has started in its group; its exit code."""
        with suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        self._process.wait(self._patience)
        return self._process.end()

    def close(self) -> None:
        """End it, and let go of what it printed."""
        self.end()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._printed.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
