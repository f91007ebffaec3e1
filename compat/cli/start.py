"""Start and end of the command: signals, standard streams, cleanup.

An exception that a signal raises at an arbitrary line can interrupt cleanup, or be lost in a
callback. So the command runs in its own thread, and the main thread only waits for its end or for a
signal. The first signal asks the command to end (:mod:`compat.interruption`). A second signal, or
:data:`_PATIENCE` seconds without a reaction, ends it at once. Signals within :data:`_TOGETHER`
seconds count as one. Before the command begins there is nothing to clean up, so a signal ends the
process at once.

The main thread waits at a pipe that Python's own handler in C writes to
(:func:`signal.set_wakeup_fd`). The operating system may deliver a signal to any thread. If another
thread got it, a main thread that waits for a lock would not notice it before the command ends.
"""

from __future__ import annotations

import codecs
import gc
import io
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn, TextIO

from compat.errors import CompatError, MachineError, refusal

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE = 8.0
"""Seconds within which a command must react to the request to end."""
_TOGETHER = 0.3
"""Seconds after the first signal within which others are copies of it.

`timeout` sends its signal to its child and to the child's process group, and `uv run` passes on the
signals that it gets.
"""
_STACK = 64 << 20
"""Bytes of stack for the command, which reads deeply nested sources."""
_CALLS = 5000
"""The most nested calls of Python functions. A chain of ``elif`` nests a few for each condition."""
_ALLOCATED = 50_000
"""The number of new objects after which Python's garbage collector runs.

With Python's default of 700, the collector takes a fifth of the time of guessing the kernels of a
large library.
"""
_SHOW_CURSOR = b"\x1b[?25h"
_IN_ASCII = str.maketrans(
    {
        "–": "-", "—": "-", "−": "-", "…": "...", "→": "->", "←": "<-", "≥": ">=", "≤": "<=",
        "≠": "!=", "×": "x", "·": "-", "•": "*", "‘": "'", "’": "'", "“": '"', "”": '"', "✓": "v",
        "✗": "x", "µ": "u", "─": "-", "━": "-", "│": "|", "┃": "|",
    }
)  # fmt: skip
"""Typographic characters in our output, and their ASCII substitutes."""


def start() -> NoReturn:
    """Run the command of the command line, and end the process."""
    gc.set_threshold(_ALLOCATED, 20, 20)
    _open_closed_streams()
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
        sys.setrecursionlimit(_CALLS)
        usual = threading.stack_size(_STACK)
        super().start()
        threading.stack_size(usual)

    def run(self) -> None:
        try:
            _prepare_streams()
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

        main(prog_name="compat")
    except (ImportError, OSError, MemoryError) as error:
        refused = refusal(error)
        if refused is None:
            raise
        _write_error(refused)
        raise SystemExit(refused.exit_code) from error


def _supervise(command: _Command, news: _Events) -> int:
    """Wait for the end of a command, ask it to end at a signal, and return its exit code."""
    from compat.interruption import ask, is_requested

    first: tuple[int, float] | None = None  # the first signal, and when it came
    give_up: float | None = None
    while True:
        came = news.wait(None if give_up is None else max(0.0, give_up - time.monotonic()))
        if not came and give_up is not None and time.monotonic() >= give_up:
            if is_requested():
                _leave_at_once(128 + (first[0] if first else signal.SIGINT))
            give_up = None  # the command has reacted, and finishes something
        for number in came:
            if number == news.ENDED:
                return command.exit_code if first is None else 128 + first[0]
            if first is None:
                first = number, time.monotonic()
            elif time.monotonic() < first[1] + _TOGETHER:
                continue
            if is_requested():
                _leave_at_once(128 + first[0])
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

    terminal = 2
    with suppress(OSError):
        terminal = os.dup(2)
        # Other threads may print how their processes ended.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
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
    with suppress(OSError):
        if os.isatty(terminal):
            os.write(terminal, _SHOW_CURSOR)
    os._exit(code)


# --- standard output and error --------------------------------------------------------------------


def _open_closed_streams() -> None:
    """Open the null device as each standard stream that the parent process closed.

    Without that, the next file that this program opens would get the number of the stream.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8"))


def _prepare_streams() -> None:
    """Make standard output and standard error accept every text."""
    sys.stdout, sys.stderr = _prepare_stream(sys.stdout), _prepare_stream(sys.stderr)


def _prepare_stream(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    if codecs.lookup(stream.encoding).name == "ascii":
        # Named Latin-1, because click takes a stream named ASCII for misconfigured, and writes
        # UTF-8 past it.
        return _AsciiStream(
            stream.detach(), encoding="latin-1", line_buffering=stream.line_buffering
        )
    return _NamedStream(
        stream.detach(),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


class _NamedStream(io.TextIOWrapper):
    """A stream whose errors have its name, like those of a file."""

    def write(self, text: str) -> int:
        with self._name_errors():
            return super().write(text)

    def flush(self) -> None:
        with self._name_errors():
            super().flush()

    @contextmanager
    def _name_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            error.filename = self.name
            raise


class _AsciiStream(_NamedStream):
    """A stream that writes ASCII only."""

    def write(self, text: str) -> int:
        plain = text.translate(_IN_ASCII).encode("ascii", "backslashreplace").decode("ascii")
        super().write(plain)
        return len(text)


def _exit_code(end: SystemExit) -> int:
    """The exit code of a ``SystemExit``."""
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code
    print(end.code, file=sys.stderr)
    return 1
