"""Kernels whose file starts processes that get out of reach, or meddles with those that watch it."""

import os
import signal
import sys
import time

import triton
import triton.language as tl


@triton.jit
def fine(source, result, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=at < size) + 1, mask=at < size)


def before(act):
    """The kernel, which does something when its source is about to be read, and is compiled then."""
    kernel = triton.jit(fine.fn)
    parse, acted = kernel.parse, []

    def parse_later():
        if not acted:
            acted.append(True)
            act()
        return parse()

    kernel.parse = parse_later
    return kernel


def _leave(act):
    """Have a process do something that has left its group and its parent, with every descriptor that was open."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            act()
            os._exit(0)
        os._exit(0)
    os.wait()


def _sleep():
    time.sleep(600)


def _hop():
    while True:
        if os.fork():
            os._exit(0)


def _go_on():
    """The copy goes on, as the process itself does."""
    os.fork()


def _daemonize():
    """The process ends, and its copy goes on in its place."""
    if os.fork():
        os._exit(0)
    os.setsid()


def _change_group():
    os.setpgid(0, os.getpgid(os.getppid()))
    time.sleep(600)


def _hang_with_runaways():
    for _ in range(3):
        _leave(_sleep)
    time.sleep(600)


def _abort_with_runaways():
    _leave(_sleep)
    os.abort()


def _stop_server():
    os.kill(os.getppid(), signal.SIGSTOP)
    time.sleep(600)


def _kill_server():
    _leave(_sleep)
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(600)


def _close_everything():
    _leave(_sleep)
    os.closerange(3, 256)
    time.sleep(600)


def _close_streams():
    sys.stdout.close()
    sys.stdout = sys.stderr = None


def _compute(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


computes = before(lambda: _compute(1))
spins = before(lambda: _compute(600))
closes_streams = before(_close_streams)
leaves_one = before(lambda: _leave(_sleep))
leaves_hopping = before(lambda: _leave(_hop))
forks = before(_go_on)
daemonizes = before(_daemonize)
changes_group = before(_change_group)
hangs_with_runaways = before(_hang_with_runaways)
aborts_with_runaways = before(_abort_with_runaways)
stops_server = before(_stop_server)
kills_server = before(_kill_server)
closes_everything = before(_close_everything)
