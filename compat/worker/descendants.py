"""Find the processes that a kernel file or a compiler started, even hidden ones, and end them.

A signal to a process group does not reach a process that has left the group (``setsid``, a double
fork). If an ancestor of the process is a *subreaper*, the process becomes the subreaper's own child
when its parent ends, and so cannot escape. Both the child that compiles a batch and the server are
subreapers. Orphans among a child's descendants become children of that child while it lives, and of
the server afterwards.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from typing import Collection, List

_PR_SET_CHILD_SUBREAPER = 36
_PAUSE = 0.001


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> List[int]:
    """Return the processes whose parent is this one.

    They include processes that have ended and wait to be reaped.
    """
    pids: List[int] = []
    for task in os.listdir("/proc/self/task"):
        try:
            with open("/proc/self/task/%s/children" % task) as file:
                pids += map(int, file.read().split())
        except OSError:  # the thread is gone, or this kernel does not have that file
            continue
    return pids


def end_children(spared: Collection[int] = (), seconds: float = 5.0) -> bool:
    """Kill and reap every child except those spared, and then their orphans, until none is left.

    Returns whether none is left. Gives up after ``seconds``, because something may fork faster than
    it is killed.
    """
    give_up = time.monotonic() + seconds
    while not _childless():
        # The list may miss a process while another one ends, so it is read twice.
        remaining = {*children(), *children()}.difference(spared)
        if not remaining and spared:
            return True
        for pid in remaining:
            _end(pid)
        if time.monotonic() > give_up:
            return False
        time.sleep(_PAUSE)
    return True


def _childless() -> bool:
    """Whether this process has no child at all. A single system call gives a certain answer."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def _end(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, os.WNOHANG)
    except OSError:  # reaped already
        pass
