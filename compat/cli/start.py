"""Start and end of the command: signals, refusals of the machine, cleanup.

An exception that a signal raises at an arbitrary line can interrupt cleanup, or be lost in a
callback. So the command runs in its own thread, and the main thread only waits for its end or for a
signal. The first signal asks the command to end (:mod:`compat.interruption`). A second signal, or
:data:`_PATIENCE` seconds without a reaction, ends it at once. Before the command begins there is
nothing to clean up, so a signal ends the process at once.

The main thread waits at a pipe that Python's own handler in C writes to
(:func:`signal.set_wakeup_fd`). The operating system may deliver a signal to any thread. If another
thread got it, a main thread that waits for a lock would not notice it before the command ends.
"""

from __future__ import annotations

import errno
import gc
import os
import select
import signal
import sys
import threading
import time
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from compat.cli.streams import open_closed_streams, output_refusal, prepare_streams
from compat.errors import CompatError, MachineError, is_refusal

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE = 8.0
"""Seconds within which a command must react to the request to end."""
_STACK = 64 << 20
"""Bytes of stack for the command, which reads deeply nested sources."""
_ALLOCATED = 50_000
"""The number of new objects after which Python's garbage collector runs.

With Python's default of 700, the collector takes a fifth of the time of guessing the kernels of a
large library.
"""
_SHOW_CURSOR = "\x1b[?25h"
_LOADING = (
    ("failed to map segment from shared object", errno.ENOMEM),
    ("cannot map zero-fill pages", errno.ENOMEM),
    (os.strerror(errno.ENOMEM), errno.ENOMEM),
    (os.strerror(errno.ENFILE), errno.ENFILE),
    (os.strerror(errno.EMFILE), errno.EMFILE),
)
"""The dynamic loader's message for a lack of memory or files, and the ``errno`` of that error.

The loader itself does not report the ``errno``.
"""


def start() -> NoReturn:
    """Run the command of the command line, and end the process."""
    gc.set_threshold(_ALLOCATED, 20, 20)
    open_closed_streams()
    news = _Events()
    command = _Command(news)
    sys.unraisablehook = _leave_without_thread
    news.begun = True
    command.start()
    _leave(_supervise(command, news))


class _Events:
    """The events that the main thread waits for: signals, by number, and the command's end."""

    ENDED = 0

    def __init__(self) -> None:
        self.begun = False
        """Whether the command has something to clean up."""
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in _SIGNALS:
            # A parent such as nohup makes this process ignore a signal on purpose.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._handle_signal)

    def _handle_signal(self, number: int, _: FrameType | None) -> None:
        if not self.begun:
            os._exit(128 + number)

    def end(self) -> None:
        """Report that the command has ended."""
        os.write(self._write, bytes([self.ENDED]))

    def wait(self, seconds: float | None) -> list[int]:
        """Wait for events, and return them in order: numbers of signals, and :attr:`ENDED`.

        The list is empty if no event comes within ``seconds``. ``None``: wait without a limit.
        """
        readable, _, _ = select.select([self._read], [], [], seconds)
        came = os.read(self._read, 4096) if readable else b""
        return [number for number in came if number == self.ENDED or number in _SIGNALS]


class _Command(threading.Thread):
    """The thread that runs the command, and the command's exit code."""

    def __init__(self, news: _Events) -> None:
        super().__init__(name="command", daemon=True)
        self._news = news
        self.exit_code = 1

    def start(self) -> None:
        """Start the thread with a stack of :data:`_STACK` bytes."""
        usual = threading.stack_size(_STACK)
        super().start()
        threading.stack_size(usual)

    def run(self) -> None:
        try:
            prepare_streams()
            _run()
        except SystemExit as end:
            self.exit_code = _exit_code(end)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            self._news.end()


def _run() -> None:
    """Run the command, and end with SystemExit."""
    try:
        from compat.cli.commands import main
    except (ImportError, OSError, MemoryError) as error:
        refused = refusal(error)
        if refused is None:
            raise
        _write_error(refused)
        raise SystemExit(refused.exit_code) from error
    main(prog_name="compat")


def _supervise(command: _Command, news: _Events) -> int:
    """Wait for the end of a command, ask it to end at a signal, and return its exit code."""
    from compat.interruption import ask, is_requested

    first: int | None = None
    give_up: float | None = None
    while True:
        came = news.wait(None if give_up is None else max(0.0, give_up - time.monotonic()))
        if not came and give_up is not None and time.monotonic() >= give_up:
            if is_requested():
                _leave_at_once(128 + (first or signal.SIGINT))
            give_up = None  # the command has reacted, and finishes something
        for number in came:
            if number == news.ENDED:
                return command.exit_code if first is None else 128 + first
            first = first or number
            if is_requested():
                _leave_at_once(128 + first)
            ask()
            give_up = time.monotonic() + _PATIENCE


def _leave_without_thread(unraisable: sys.UnraisableHookArgs) -> None:
    """End the process if a new thread ran out of memory before it began.

    Otherwise the thread that started it waits for its start forever. CPython (3.11 to 3.13) reports
    such a thread only here. Other unraisable exceptions are printed as usual.
    """
    if not issubclass(unraisable.exc_type, MemoryError) or "in thread started by" not in (
        unraisable.err_msg or ""
    ):
        sys.__unraisablehook__(unraisable)
        return
    try:
        refused = refusal(MemoryError())
        assert refused is not None
        _write_error(refused)
        _leave_at_once(refused.exit_code)
    finally:  # there may be too little memory for that as well
        os._exit(MachineError.exit_code)


def _write_error(error: CompatError) -> None:
    sys.stderr.write(f"error: {error}\n  hint: {error.hint}\n")


def _leave(code: int) -> NoReturn:
    """End the process after the command has ended."""
    from compat.files import remove_claimed

    remove_claimed()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # the reader may have closed it
            stream.flush()
    os._exit(code)


def _leave_at_once(code: int) -> NoReturn:
    """End the process while the command may still run.

    First end its child processes, then remove the folders that it made.
    """
    from compat.files import remove_claimed
    from compat.processes import supervisor
    from compat.workers import pool

    staying = {worker.pid for worker in pool.resident_workers()}
    for _ in range(100):
        remaining = set(supervisor.children(os.getpid())) - staying
        remaining = {pid for pid in remaining if supervisor.state(pid) not in ("", "Z")}
        if not remaining:
            break
        for pid in remaining:
            supervisor.end_family(pid)
        time.sleep(0.01)
    remove_claimed()
    with suppress(OSError, ValueError):
        if sys.stderr.isatty():
            sys.stderr.write(_SHOW_CURSOR)
        sys.stderr.flush()
    os._exit(code)


def _exit_code(end: SystemExit) -> int:
    """The exit code of a ``SystemExit``."""
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code
    print(end.code, file=sys.stderr)
    return 1


# --- refusals of the machine ----------------------------------------------------------------------


def refusal(error: BaseException) -> MachineError | None:
    """The error for a refusal of the machine that an exception reports.

    It is ``None`` if the exception is about something else.
    """
    if isinstance(error, OSError):
        return (output_refusal(error) or MachineError.of(error)) if is_refusal(error) else None
    if isinstance(error, MemoryError):
        return MachineError.about(errno.ENOMEM, "for this program")
    if isinstance(error, ImportError):
        return _import_refusal(error)
    if "can't start new thread" not in str(error):
        return None
    return MachineError.about(errno.EAGAIN, str(error))


def _import_refusal(error: ImportError) -> MachineError | None:
    """Return the refusal that explains why a C extension could not be loaded.

    It is ``None`` if the machine did not refuse the import.
    """
    number = next((number for phrase, number in _LOADING if phrase in str(error)), None)
    return (
        None
        if number is None or _may_not_be_loaded(error)
        else MachineError.about(number, str(error))
    )


def _may_not_be_loaded(error: ImportError) -> bool:
    """Whether the file system of the module is mounted with ``noexec``.

    The loader reports that with the same message as a lack of memory.
    """
    try:
        return bool(error.path and os.statvfs(error.path).f_flag & os.ST_NOEXEC)
    except OSError:
        return False
