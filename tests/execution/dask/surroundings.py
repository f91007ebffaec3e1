"""Other surroundings for the processes of a cluster: less memory, a small disk.

All of them need root.
"""

from __future__ import annotations

import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

_MEMORY = Path("/sys/fs/cgroup/memory")

memory_groups = pytest.mark.skipif(
    not os.access(_MEMORY / "cgroup.procs", os.W_OK),
    reason="no cgroup (version 1) of memory can be made here: root can",
)
mounts = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None, reason="only root can mount a disk"
)


@contextmanager
def little_memory(size: int) -> Iterator[list[str]]:
    """A command prefix that limits the memory of a command and its children to ``size`` bytes.

    The system kills a process that exceeds the limit.
    """
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    (own,) = [line.split(":", 2)[2] for line in lines if line.split(":")[1] == "memory"]
    group = _MEMORY / own.lstrip("/") / f"compat-{uuid.uuid4().hex[:8]}"
    group.mkdir()
    try:
        (group / "memory.limit_in_bytes").write_text(str(size))
        yield ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', str(group)]
    finally:
        for _ in range(100):
            with suppress(OSError):  # while one of its processes still ends
                group.rmdir()
                break
            time.sleep(0.1)


def small_disk(folder: Path, size: str) -> list[str]:
    """A command prefix that runs a command with a disk of that size mounted at a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    return [
        "unshare",
        "-m",
        "sh",
        "-c",
        f'mount -t tmpfs -o size={size} tmpfs "$0" && exec "$@"',
        str(folder),
    ]
