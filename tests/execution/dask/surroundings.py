"""Other surroundings for the processes of a cluster: less memory, another network, a small disk.

All of them need root.
"""

from __future__ import annotations

import os
import shutil
import subprocess
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


class Network:
    """Two machines on one wire: this one, and one whose processes :attr:`within` starts."""

    def __init__(self) -> None:
        name = uuid.uuid4().hex[:6]
        number = int(name, 16)
        self._space, self._link = f"compat-{name}", f"compat-{name}"[:15]
        net = f"10.{64 + number % 64}.{number // 64 % 256}"
        self.here, self.there = f"{net}.1", f"{net}.2"
        self.within = ["ip", "netns", "exec", self._space]
        self._ip("netns", "add", self._space)
        self._ip(
            "link", "add", self._link, "type", "veth", "peer", "name", "eth0", "netns", self._space
        )
        self._ip("addr", "add", f"{self.here}/24", "dev", self._link)
        self._ip("-n", self._space, "addr", "add", f"{self.there}/24", "dev", "eth0")
        for link in ("lo", "eth0"):
            self._ip("-n", self._space, "link", "set", link, "up")
        self.join()

    def _ip(self, *arguments: str) -> None:
        subprocess.run(["ip", *arguments], check=True)

    def cut(self) -> None:
        """Drop all packets without notice to either side."""
        self._ip("link", "set", self._link, "down")

    def join(self) -> None:
        self._ip("link", "set", self._link, "up")

    def close(self) -> None:
        self._ip("link", "del", self._link)
        self._ip("netns", "del", self._space)


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
