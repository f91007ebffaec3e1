"""Kernels for runs on several machines: slow ones, and one that ends the Dask worker that it is attempted by."""

import os
import signal
import time

import triton
import triton.language as tl

time.sleep(float(os.environ.get("SLOWLY", "0.3")))


@triton.jit
def slow(source, result, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=at < size) + 1, mask=at < size)


class Killer:
    """Takes more memory than the machine has, as far as anybody can see: what asked for it is killed, and not this process."""

    @property
    def parse(self):
        with open(f"/proc/{os.getppid()}/stat") as file:  # the server's, whose parent is the Dask worker
            worker = int(file.read().rpartition(")")[2].split()[1])
        os.kill(worker, signal.SIGKILL)
        time.sleep(60)


killer = Killer()


@triton.jit
def hoards(source, result, size, BLOCK: tl.constexpr):
    enormous: tl.constexpr = 1 << (BLOCK << 29)  # a number of 8 GiB, for a BLOCK of 128
    tl.store(result, enormous > 0)
