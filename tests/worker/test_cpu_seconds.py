"""The CPU seconds that a worker's child reports, and those that the driver reads about it."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
import time

from compat.processes import supervisor
from compat.worker.batch import cpu_seconds

COMPUTE = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True)\ninput()"


def test_all_threads_count_and_waiting_does_not() -> None:
    used: list[float] = []

    def compute() -> None:  # without Python's lock, so that both run at the same time
        hashlib.pbkdf2_hmac("sha256", b"a", b"b", 300_000)
        used.append(time.thread_time())

    before = cpu_seconds()
    threads = [threading.Thread(target=compute) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    time.sleep(1)
    assert sum(used) <= cpu_seconds() - before < sum(used) + 0.5


def test_child_process_counts_once_it_has_been_waited_for() -> None:
    before, of_family = cpu_seconds(), supervisor.cpu_seconds(os.getpid())
    with subprocess.Popen(
        [sys.executable, "-c", COMPUTE], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert cpu_seconds() - before < 0.5
        assert supervisor.cpu_seconds(os.getpid()) - of_family > 0.45, (
            "the system counts in hundredths"
        )
        process.communicate(b"\n")
    assert 0.5 <= cpu_seconds() - before < 2
    assert supervisor.cpu_seconds(os.getpid()) - of_family > 0.45
    assert supervisor.cpu_seconds(process.pid) == 0
