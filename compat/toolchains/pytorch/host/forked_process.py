"""A forked process that uses the GPU, and exchanges JSON lines with its parent, which does not.

A kernel can hang, or end its process. The parent judges by the messages, and by the time that they
take.
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
"""The number of checks whether a process ends by itself, before it is killed."""
_LOOK = 0.002
"""Seconds between two of these checks."""


class ProcessEnded(Exception):
    """The process has ended, and sends no more messages."""


class NoAnswer(Exception):
    """The process did not answer in time."""


class Channel:
    """The child's side of the connection."""

    def __init__(self, questions: int, answers: int) -> None:
        self._questions, self._answers = questions, answers

    def send(self, message: Message) -> None:
        """Send a message, as one line."""
        data = (json.dumps(message) + "\n").encode()
        while data:
            data = data[os.write(self._answers, data) :]

    def questions(self) -> Iterator[Message]:
        """Yield the questions of the parent, until it closes the connection."""
        with os.fdopen(self._questions, "r", encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)


class ForkedProcess:
    """The forked process, and the parent's side of the connection."""

    def __init__(self, work: Callable[[Channel], None]) -> None:
        """Fork a process that runs ``work`` and ends."""
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
            except BrokenPipeError:  # the parent does not read any more
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
        """Send a question. Raises ProcessEnded."""
        try:
            os.write(self._questions, (json.dumps(message) + "\n").encode())
        except BrokenPipeError as error:
            raise ProcessEnded from error

    def receive(self, seconds: float) -> Message:
        """Return the next message. Raises ProcessEnded, and NoAnswer after ``seconds``."""
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
        """Wait for the process to end by itself, or else kill it. Take its exit code."""
        os.close(self._questions)
        os.close(self._answers)
        for _ in range(_PATIENCE):
            if os.waitpid(self._pid, os.WNOHANG)[0]:
                return
            time.sleep(_LOOK)
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
