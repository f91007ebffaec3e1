"""A server that keeps the worker's contract, or breaks it in the way that $BEHAVIOUR names."""

import json
import os
import signal
import socket
import sys
import time

BEHAVIOUR = os.environ["BEHAVIOUR"]
CONTROL = socket.socket(fileno=int(sys.argv[2]))


def main():
    if BEHAVIOUR == "server_exits":
        sys.exit(0)
    if BEHAVIOUR == "server_says_nothing_sensible":
        CONTROL.send(b"\xff\xfe[]")
        return
    if BEHAVIOUR == "server_breaks":
        CONTROL.send(
            json.dumps(
                {"event": "broken", "raised": [{"type": "ImportError", "message": "no"}]}
            ).encode()
        )
        return
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
            child(json.load(os.fdopen(jobs)), events)
            os._exit(0)
        for fd in fds[:3]:
            os.close(fd)
        os.write(exit_pipe, json.dumps({"pid": pid}).encode() + b"\n")
        if BEHAVIOUR == "server_dies":
            time.sleep(0.3)
            os.kill(pid, signal.SIGKILL)
            os._exit(1)
        _, status = os.waitpid(pid, 0)
        code = (
            {"signal": signal.Signals(status & 127).name}
            if status & 127
            else {"exit_code": status >> 8}
        )
        os.write(exit_pipe, json.dumps(code).encode() + b"\n")
        os.close(exit_pipe)


def child(batch, events):
    nonces = [job["nonce"] for job in batch["jobs"]]

    def raw(data):
        os.write(events, data)

    def say(event, nonce, **facts):
        raw(json.dumps(dict(facts, event=event, nonce=nonce)).encode() + b"\n")

    def done(nonce, built=True, **facts):
        answer = {
            "actions": [{"do": "compile", "made": {}, "requires": []}] if built else [],
            "stages": {},
            "metrics": {},
            "warnings": [],
            "output": 0,
        }
        if not built:
            answer["raised"] = [{"type": "ValueError", "message": "no"}]
        say("done", nonce, **dict(answer, **facts))

    for index, nonce in enumerate(nonces):
        if BEHAVIOUR not in ("no_start", "refuses"):
            say("start", nonce, output=0)
        if BEHAVIOUR == "well":
            done(nonce)
        elif BEHAVIOUR == "garbage":
            raw(
                b"ok\n[1, 2]\nnull\n\n{}\n"
                + json.dumps({"event": "done", "actions": [{"do": "compile"}]}).encode()
                + b"\n"
            )
        elif BEHAVIOUR == "silent_exit":
            os._exit(0)
        elif BEHAVIOUR == "no_start":
            done(nonce)
        elif BEHAVIOUR == "wrong_nonce":
            done("0" * 16)
        elif BEHAVIOUR == "half_a_line":
            raw(
                json.dumps(
                    {"event": "done", "actions": [{"do": "compile"}], "nonce": nonce}
                ).encode()
            )
            os._exit(0)
        elif BEHAVIOUR == "done_is_no_object":
            say("done", nonce, actions=[{"do": "compile"}])
        elif BEHAVIOUR == "actions_are_text":
            done(nonce, actions="compile")
        elif BEHAVIOUR == "actions_are_names":
            done(nonce, actions=["compile"])
        elif BEHAVIOUR == "built_as_of_old":
            done(nonce, actions=None, built=True)
        elif BEHAVIOUR == "does_nothing":
            done(nonce, actions=[])
        elif BEHAVIOUR == "does_something_else":
            done(nonce, actions=[{"do": "launch", "made": {}, "requires": ["cuda"]}])
        elif BEHAVIOUR == "does_half":
            done(nonce)
        elif BEHAVIOUR == "refuses":
            say("refused", nonce, cannot=["launch"])
        elif BEHAVIOUR == "binary":
            raw(bytes(range(256)) * 64 + b"\n")
        elif BEHAVIOUR == "never_ends":
            raw(b"x" * 1000)
            time.sleep(60)
        elif BEHAVIOUR == "answers_twice":
            done(nonce, built=index == 1)
            done(nonce, built=index == 0)
        elif BEHAVIOUR == "garbage_between":
            raw(b"\x00 not json \xff\n")
            say("stage", nonce, stage="no such stage")
            done(nonce, built=index == 1)
        elif BEHAVIOUR == "answers_for_the_next":
            done(nonces[-1], built=index == 0) if index == 0 else None
            done(nonce, built=index == 1)
        elif BEHAVIOUR == "fails_then_builds":
            done(nonce, built=False)
            done(nonce, built=True)
        elif BEHAVIOUR == "server_dies":
            time.sleep(60)


main()
