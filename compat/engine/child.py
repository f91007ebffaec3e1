"""The driver's ends of one forked child."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from compat.engine.server import Server


class Child:
    """The driver's ends of one forked child: its pipes, its output and its private directory."""

    def __init__(self, server: Server, jobs: Sequence[Mapping[str, Any]], *, diagnose: bool, variables: Mapping[str, str]) -> None:
        self._private = tempfile.TemporaryDirectory(prefix="compat-batch-", ignore_cleanup_errors=True)
        self.directory = Path(self._private.name)
        request = {"directory": str(self.directory), "diagnose": diagnose, "variables": dict(variables), "jobs": list(jobs)}
        (self.directory / "jobs.json").write_text(json.dumps(request), encoding="utf-8")
        self.output = os.open(self.directory / "output", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self.events, events = os.pipe()
        self.exit, exit_pipe = os.pipe()
        jobs_file = os.open(self.directory / "jobs.json", os.O_RDONLY)
        try:
            server.fork(self.directory, jobs_file, events, self.output, exit_pipe)
        except OSError:
            pass  # the server is gone; closing our copies makes both pipes end at once, which says so
        finally:
            for fd in (jobs_file, events, exit_pipe):
                os.close(fd)

    def read_output(self, start: int, end: int | None, limit: int) -> str:
        """What was printed between two offsets; of more than ``limit`` bytes the first quarter and the end."""
        size = (os.fstat(self.output).st_size if end is None else end) - start
        if size <= limit:
            return os.pread(self.output, max(size, 0), start).decode(errors="replace")
        head = os.pread(self.output, limit // 4, start)
        tail = os.pread(self.output, limit - len(head), start + size - limit + len(head))
        return f"{head.decode(errors='replace')}\n[… {size - limit} bytes left out …]\n{tail.decode(errors='replace')}"

    def close(self) -> None:
        """Close the pipes and remove the directory. The child must have ended."""
        for fd in (self.events, self.exit, self.output):
            os.close(fd)
        self._private.cleanup()
