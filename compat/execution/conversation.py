"""A program that stays and answers: a line on its standard input, a line on its standard output, and so on."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Self

from compat import interruption
from compat.errors import MachineError, is_refusal
from compat.interruption import Stopped

_TICK = 0.05
_SHOWN = 8192


class ConversationEnded(Exception):
    """The program has ended, or does not answer. The message is the last line that it printed."""


class Conversation:
    """A program, in a process group of its own, from its start until it is closed."""

    def __init__(self, words: Sequence[str], stop: threading.Event | None = None) -> None:
        """Start it; ``stop`` ends whoever waits for an answer. Raises ConversationEnded where there is no such program."""
        self.stop = stop
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115 - closed with all else
        self._rest = b""
        try:
            self._process = subprocess.Popen(
                list(words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._printed, process_group=0
            )
        except OSError as error:
            self._printed.close()
            if is_refusal(error):
                raise MachineError.of(error) from error
            raise ConversationEnded(f"{words[0]}: {error.strerror}") from error

    def ask(self, line: str, seconds: float) -> str:
        """The answer to a line, within so many seconds. Raises ConversationEnded where there is none, and Stopped."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise ConversationEnded(self._last_words()) from error
        return self.hear(seconds)

    def hear(self, seconds: float) -> str:
        """The next line that it writes. Raises as asking does."""
        assert self._process.stdout is not None
        pipe, until = self._process.stdout.fileno(), time.monotonic() + seconds
        while b"\n" not in self._rest:
            interruption.check()
            if self.stop is not None and self.stop.is_set():
                raise Stopped
            if time.monotonic() > until:
                raise ConversationEnded(f"it did not answer within {seconds:g} s")
            if select.select([pipe], [], [], _TICK)[0]:
                data = os.read(pipe, 1 << 16)
                if not data:
                    raise ConversationEnded(self._last_words())
                self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode(errors="replace")

    def _last_words(self) -> str:
        self._printed.seek(max(0, self._printed.seek(0, os.SEEK_END) - _SHOWN))
        lines = self._printed.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it ended, and said nothing"

    def close(self) -> None:
        """End it, with all that it has started in its group."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        self._printed.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
