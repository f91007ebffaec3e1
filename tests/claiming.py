"""Another process that has claimed keys (:mod:`compat.store.keys`)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
HOLDER = """
import sys, pathlib
from compat.store.keys import Claims
claims = Claims(pathlib.Path(sys.argv[1]), print)
print(*[claims.take(key) for key in sys.argv[2:]], flush=True)
for line in sys.stdin:
    claims.release(line.strip())
    print("released", flush=True)
"""


@contextmanager
def holder(folder: Path, *keys: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that has claimed keys, and releases those that it reads from its input."""
    command = [sys.executable, "-c", HOLDER, str(folder), *keys]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().split() == ["True"] * len(keys)
        try:
            yield process
        finally:
            process.kill()
