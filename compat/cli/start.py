"""How the command begins and ends: signals, standard output, and that nothing is left behind.

A signal that raises an exception wherever the program happens to be can break off what tidies up, or be lost in a callback. So the
command runs in a thread of its own, and the main thread only waits: for its end, or for a signal. The first one asks it to end
(:mod:`compat.interruption`); a second one, or a while without an end, ends it at once. Until the command begins there is nothing to
tidy up, and a signal ends the process as it is.

The main thread waits at a pipe that Python's own handler in C writes to (:func:`signal.set_wakeup_fd`). The kernel may hand a
signal to any thread; a main thread that waits for a lock would hear of one that another thread got only when the command has ended.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from compat.cli import output
from compat.errors import CompatError, MachineError

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE = 8.0
"""Seconds that a command may take to end in order."""
_STACK = 64 << 20
"""Bytes of stack for the command, which reads deeply nested sources."""
_SHOW_CURSOR = "\x1b[?25h"


def start() -> NoReturn:
    """Run the command that the command line asks for, and end the process."""
    news = _News()
    command = _Command(news)
    sys.unraisablehook = _leave_without_thread
    news.begun = True
    command.start()
    _leave(_supervised(command, news))


class _News:
    """What the main thread waits for: signals, by number, and the command's end."""

    ENDED = 0

    def __init__(self) -> None:
        self.begun = False
        """Whether the command has something to tidy up."""
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for each in _SIGNALS:
            if signal.getsignal(each) is not signal.SIG_IGN:  # whoever had us ignore one, such as nohup, means it
                signal.signal(each, self._signalled)

    def _signalled(self, number: int, _: FrameType | None) -> None:
        if not self.begun:
            os._exit(128 + number)

    def end(self) -> None:
        """Tell that the command has ended."""
        os.write(self._write, bytes([self.ENDED]))

    def wait(self, seconds: float | None) -> list[int]:
        """What has come, in its order: numbers of signals, and :attr:`ENDED`. Nothing if nothing comes for so long."""
        readable, _, _ = select.select([self._read], [], [], seconds)
        came = os.read(self._read, 4096) if readable else b""
        return [number for number in came if number == self.ENDED or number in _SIGNALS]


class _Command(threading.Thread):
    """The command at work, and its exit code in the end."""

    def __init__(self, news: _News) -> None:
        super().__init__(name="command", daemon=True)
        self._news = news
        self.exit_code = 1

    def start(self) -> None:
        """Begin, with a stack of its own size."""
        usual = threading.stack_size(_STACK)
        super().start()
        threading.stack_size(usual)

    def run(self) -> None:
        try:
            output.prepare()
            _run()
        except SystemExit as end:
            self.exit_code = output.exit_code(end)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            self._news.end()


def _run() -> None:
    """Run the command, and end with SystemExit."""
    try:
        from compat.cli.commands import main
    except (ImportError, OSError, MemoryError) as error:
        from compat.cli.refusal import refusal

        refused = refusal(error)
        if refused is None:
            raise
        _write_error(refused)
        raise SystemExit(refused.exit_code) from error
    main(prog_name="compat")


def _supervised(command: _Command, news: _News) -> int:
    """The exit code of a command, once it has ended or been ended."""
    from compat.interruption import ask, asked

    first: int | None = None
    give_up: float | None = None
    while True:
        came = news.wait(None if give_up is None else max(0.0, give_up - time.monotonic()))
        if not came and give_up is not None and time.monotonic() >= give_up:
            if asked():
                _leave_at_once(128 + (first or signal.SIGINT))
            give_up = None  # it has noticed, and finishes something
        for number in came:
            if number == news.ENDED:
                return command.exit_code if first is None else 128 + first
            first = first or number
            if asked():
                _leave_at_once(128 + first)
            ask()
            give_up = time.monotonic() + _PATIENCE


def _leave_without_thread(unraisable: sys.UnraisableHookArgs) -> None:
    """End the process if a new thread ran out of memory before it began: whoever started it waits for its beginning for ever.

    CPython (3.11 to 3.13) reports such a thread only here. Other exceptions that nobody can catch are printed as always.
    """
    if not issubclass(unraisable.exc_type, MemoryError) or "in thread started by" not in (unraisable.err_msg or ""):
        sys.__unraisablehook__(unraisable)
        return
    try:
        from compat.cli.refusal import refusal

        refused = refusal(MemoryError())
        assert refused is not None
        _write_error(refused)
        _leave_at_once(refused.exit_code)
    finally:  # there may be too little memory for that as well
        os._exit(MachineError.exit_code)


def _write_error(error: CompatError) -> None:
    sys.stderr.write(f"error: {error}\n  hint: {error.hint}\n")


def _leave(code: int) -> NoReturn:
    """End the process after a command that has ended."""
    from compat.files import remove_claimed

    remove_claimed()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # the reader may have closed it
            stream.flush()
    os._exit(code)


def _leave_at_once(code: int) -> NoReturn:
    """End the process whatever the command does: first what it has started, then what it has made."""
    from compat.files import remove_claimed
    from compat.processes import procfs
    from compat.workers import pool

    staying = {each.pid for each in pool.resident_workers()}
    for _ in range(100):
        left = set(procfs.children(os.getpid())) - staying
        left = {pid for pid in left if procfs.state(pid) not in ("", "Z")}
        if not left:
            break
        for pid in left:
            procfs.end_family(pid)
        time.sleep(0.01)
    remove_claimed()
    with suppress(OSError, ValueError):
        if sys.stderr.isatty():
            sys.stderr.write(_SHOW_CURSOR)
        sys.stderr.flush()
    os._exit(code)
