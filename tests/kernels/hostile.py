"""Kernels whose file, or whose compile, misbehaves on purpose."""

import json
import os
import sys
import time

import triton
import triton.language as tl


@triton.jit
def fine(source, result, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=at < size) + 1, mask=at < size)


class Lazily:
    """Runs a function when the worker takes the kernel out of its file."""

    def __init__(self, act):
        self.act = act

    @property
    def parse(self):
        return self.act()


def _leave_silently():
    os._exit(0)


def _leave_loudly():
    sys.exit(3)


def _hoard():
    hoard = []
    while True:
        hoard.append(bytearray(64 << 20))
        time.sleep(0.005)


def _hang():
    while True:
        time.sleep(1)


def _hang_with_child():
    import subprocess

    subprocess.run(["sleep", "600"])


def _forge():
    for fd in range(3, 64):
        try:
            os.write(
                fd, json.dumps({"event": "done", "actions": [{"do": "compile"}], "nonce": "0"}).encode() + b"\n\xff\xfe garbage\n"
            )
        except OSError:
            pass
    os._exit(0)


def _shout():
    print("x" * 300_000)
    print("the last words")
    raise ValueError("shouted")


leaves_silently = Lazily(_leave_silently)
leaves_loudly = Lazily(_leave_loudly)
hoards = Lazily(_hoard)
hangs = Lazily(_hang)
hangs_with_child = Lazily(_hang_with_child)
forges = Lazily(_forge)
shouts = Lazily(_shout)
