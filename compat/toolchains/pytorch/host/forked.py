"""A process that is forked to use the GPU, and exchanges JSON lines with the one that does not.

A kernel can hang, or end its process. Whoever forked it goes by what it hears, and how long it
takes.
"""

from __future__ import annotations

import json
import os
import select
import signal
import time
import traceback
from typing import Any, Callable, Dict, Iterator

Message = Dict[str, Any]

_PATIENCE = 50
"""Looks at a process that may be about to end by itself, before it is killed."""
_LOOK = 0.002
"""Seconds between two of them."""


class ProcessEnded(Exception):
    """The process has ended, and says nothing any more."""


class NoAnswer(Exception):
    """The process did not answer in time."""


class Channel:
    """The forked process's end."""

    def __init__(self, questions: int, answers: int) -> None:
        self._questions, self._answers = questions, answers

    def send(self, message: Message) -> None:
        """Write one line."""
        data = (json.dumps(message) + "\n").encode()
        while data:
            data = data[os.write(self._answers, data) :]

    def questions(self) -> Iterator[Message]:
        """What it is asked, until nobody asks any more."""
        with os.fdopen(self._questions, "r", encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)


class ForkedProcess:
    """The other end."""

    def __init__(self, work: Callable[[Channel], None]) -> None:
        """Fork a process that does ``work``, and ends."""
        down, up = os.pipe(), os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            code = 1
            try:
                os.close(down[1])
                os.close(up[0])
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
                work(Channel(down[0], up[1]))
                code = 0
            except BrokenPipeError:  # nobody listens any more
                pass
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(down[0])
        os.close(up[1])
        self._questions, self._answers = down[1], up[0]
        self._rest = b""

    def send(self, message: Message) -> None:
        """Ask it something. Raises ProcessEnded."""
        try:
            os.write(self._questions, (json.dumps(message) + "\n").encode())
        except BrokenPipeError as error:
            raise ProcessEnded from error

    def receive(self, seconds: float) -> Message:
        """What it says next, within so many seconds. Raises ProcessEnded and NoAnswer."""
        until = time.monotonic() + seconds
        while b"\n" not in self._rest:
            remaining = until - time.monotonic()
            if remaining <= 0 or not select.select([self._answers], [], [], remaining)[0]:
                raise NoAnswer
            data = os.read(self._answers, 1 << 16)
            if not data:
                raise ProcessEnded
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        message: Message = json.loads(line)
        return message

    def end(self) -> None:
        """Kill it if it is still there, and take its exit code."""
        os.close(self._questions)
        os.close(self._answers)
        for _ in range(_PATIENCE):
            if os.waitpid(self._pid, os.WNOHANG)[0]:
                return
            time.sleep(_LOOK)
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
