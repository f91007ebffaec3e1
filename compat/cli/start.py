"""How the command begins and ends: signals, standard output, and that nothing is left behind.

A signal that raises an exception wherever the program happens to be can break off what tidies up, or be lost in a callback. So the
command runs in a thread of its own, and the main thread only waits: for its end, or for a signal. The first one asks it to end
(:mod:`compat.interruption`); a second one, or a while without an end, ends it at once. Until the command begins there is nothing to
tidy up, and a signal ends the process as it is.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
import time
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from compat.cli import output

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE = 8.0
"""Seconds that a command may take to end in order."""
_STACK = 64 << 20
"""Bytes of stack for the command, which reads deeply nested sources."""
_SHOW_CURSOR = "\x1b[?25h"


def start() -> NoReturn:
    """Run the command that the command line asks for, and end the process."""
    signals: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    begun = threading.Event()

    def note(number: int, _: FrameType | None) -> None:
        if not begun.is_set():
            os._exit(128 + number)
        signals.put(number)

    for each in _SIGNALS:
        if signal.getsignal(each) is not signal.SIG_IGN:  # whoever had us ignore one, such as nohup, means it
            signal.signal(each, note)
    command = _Command(signals)
    begun.set()
    command.start()
    _leave(_supervised(command, signals))


class _Command(threading.Thread):
    """The command at work, and its exit code in the end."""

    def __init__(self, signals: queue.SimpleQueue[int | None]) -> None:
        super().__init__(name="command", daemon=True)
        self._signals = signals
        self.exit_code = 1

    def start(self) -> None:
        """Begin, with a stack of its own size."""
        usual = threading.stack_size(_STACK)
        super().start()
        threading.stack_size(usual)

    def run(self) -> None:
        try:
            output.prepare()
            from compat.cli.commands import main

            main(prog_name="compat")
        except SystemExit as end:
            self.exit_code = output.exit_code(end)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            self._signals.put(None)


def _supervised(command: _Command, signals: queue.SimpleQueue[int | None]) -> int:
    """The exit code of a command, once it has ended or been ended."""
    from compat import interruption

    first: int | None = None
    give_up: float | None = None
    while True:
        try:
            number = signals.get(timeout=None if give_up is None else max(0.0, give_up - time.monotonic()))
        except queue.Empty:
            if interruption.asked():
                _leave_at_once(128 + (first or signal.SIGINT))
            give_up = None  # it has noticed, and finishes something
            continue
        if number is None:
            return command.exit_code if first is None else 128 + first
        first = first or number
        if interruption.asked():
            _leave_at_once(128 + first)
        interruption.ask()
        give_up = time.monotonic() + _PATIENCE


def _leave(code: int) -> NoReturn:
    """End the process after a command that has ended."""
    from compat import scratch

    scratch.sweep()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # the reader may have closed it
            stream.flush()
    os._exit(code)


def _leave_at_once(code: int) -> NoReturn:
    """End the process whatever the command does: first what it has started, then what it has made."""
    from compat import scratch
    from compat.execution import procfs, resident

    staying = {each.pid for each in resident.kept()}
    for _ in range(100):
        left = set(procfs.children(os.getpid())) - staying
        left = {pid for pid in left if procfs.state(pid) not in ("", "Z")}
        if not left:
            break
        for pid in left:
            procfs.end_family(pid)
        time.sleep(0.01)
    scratch.sweep()
    with suppress(OSError, ValueError):
        if sys.stderr.isatty():
            sys.stderr.write(_SHOW_CURSOR)
        sys.stderr.flush()
    os._exit(code)
