"""Run a program for as long as its client lives: ``python keeper.py``, in a process of its own.

The first line of standard input is the program's command line, as a JSON array. When standard input
ends, as it does with the client's process, the program is killed with all of its process group. Its
exit code goes to standard output, negative if a signal ended it. The module needs only the standard
library.
"""

import json
import os
import select
import signal
import subprocess
from contextlib import suppress

_TICK = 0.05


def keep(command: list[str]) -> None:
    """Run a command until it ends, or until standard input ends."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=2, process_group=0)
    try:
        while process.poll() is None:
            if select.select([0], [], [], _TICK)[0] and not os.read(0, 1):
                return
    finally:
        with suppress(OSError):  # the whole group has ended
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
    os.write(1, b"%d\n" % code)


def read_command() -> list[str]:
    """Read the program's command line from standard input."""
    line = b""
    while not line.endswith(b"\n"):
        line += os.read(0, 1) or b"\n"
    return [str(word) for word in json.loads(line)]


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the client handles Ctrl-C, and ends this process
    keep(read_command())
