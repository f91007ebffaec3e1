"""A worker that compiles nothing and waits.

It follows the contract of ``compat/worker``, and a cell takes ``WAIT`` milliseconds. It runs one
batch at a time, because a Dask worker of one thread has one batch at a time.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from typing import Any

CONTROL = socket.socket(fileno=int(sys.argv[2]))


def main() -> None:
    """Report that the worker is ready, and fork a child for each batch."""
    CONTROL.send(json.dumps({"event": "ready", "version": "0", "threads": 1}).encode())
    while True:
        packet, fds, _, _ = socket.recv_fds(CONTROL, 4096, 4)
        if not packet:
            return
        jobs, events, _output, exit_pipe = fds
        pid = os.fork()
        if pid == 0:
            os.setpgid(0, 0)
            os.close(exit_pipe)
            for job in json.load(os.fdopen(jobs))["jobs"]:
                answer(job, events)
            os._exit(0)
        for fd in fds[:3]:
            os.close(fd)
        os.write(exit_pipe, json.dumps({"pid": pid}).encode() + b"\n")
        _, status = os.waitpid(pid, 0)
        code = (
            {"signal": signal.Signals(status & 127).name}
            if status & 127
            else {"exit_code": status >> 8}
        )
        os.write(exit_pipe, json.dumps(code).encode() + b"\n")
        os.close(exit_pipe)


def answer(job: dict[str, Any], events: int) -> None:
    """Wait as long as the cell takes, and report that it is built."""

    def say(event: str, **facts: Any) -> None:
        os.write(events, json.dumps(dict(facts, event=event, nonce=job["nonce"])).encode() + b"\n")

    say("start", output=0)
    seconds = job["constexprs"]["WAIT"] / 1000
    time.sleep(seconds)
    done = [{"do": "compile", "made": {"cubin": {"bytes": 1, "sha256": "0" * 64}}, "requires": []}]
    report = {
        "warnings": [],
        "output": 0,
        "imported": [job["source"]],
        "metrics": {},
        "stages": {"cubin": seconds},
    }
    say("done", actions=done, **report)


main()
