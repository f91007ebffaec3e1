"""A worker that compiles nothing.

It follows the contract of ``compat/worker``, answers at once, and gives equal jobs equal answers.
Seven in eight kernels are built. The others are rejected, each of them on every release, for every
target and in every attempt.
"""

import json
import os
import signal
import socket
import sys
import zlib

CONTROL = socket.socket(fileno=int(sys.argv[2]))
STAGES = ("ttir", "ttgir", "llir", "ptx", "cubin")


def main():
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


def answer(job, events):
    def say(event, **facts):
        os.write(events, json.dumps(dict(facts, event=event, nonce=job["nonce"])).encode() + b"\n")

    say("start", output=0)
    noise = zlib.crc32(
        repr([job["function"], job["constexprs"], job["target"], job["options"]]).encode()
    )
    report = {"warnings": [], "output": 0, "imported": [job["source"]]}
    if job["function"].startswith("sum"):
        report.update(actions=[], metrics={}, stages={"source": 0.0001}, raised=[rejection(noise)])
        say("stage", stage="ast")
    else:
        report.update(actions=[compiled(noise)], metrics=metrics(noise), stages=seconds(noise))
    say("done", **report)


def rejection(noise):
    message = (
        "at %d:10:\n    total = tl.sum(block, %d)\n            ^\nincompatible dimensions at index"
        " 1: 128 and 64"
    )
    return {
        "type": "triton.compiler.errors.CompilationError",
        "message": message % (noise % 60, noise % 3),
        "traceback": "",
    }


def compiled(noise):
    artifacts = {
        stage: {"bytes": 20000 + noise % 997 + 1000 * n, "sha256": "%064x" % (noise + n)}
        for n, stage in enumerate(STAGES)
    }
    return {"do": "compile", "made": artifacts, "requires": []}


def metrics(noise):
    return {
        "artifacts": {
            stage: 20000 + noise % 997 + 1000 * number for number, stage in enumerate(STAGES)
        },
        "shared": 16384 << noise % 3,
        "num_warps": 4,
        "registers": 32 + noise % 200,
        "spill_store_bytes": 0,
        "spill_load_bytes": 0,
        "instructions": {
            "total": 1000 + noise % 5000,
            "mma": noise % 64,
            "loads": noise % 128,
            "stores": noise % 32,
        },
    }


def seconds(noise):
    names = ("source", "ast", *STAGES)
    return {
        name: 0.001 * (number + 1) + (noise >> 4 * number) % 64 / 1e5
        for number, name in enumerate(names)
    }


main()
