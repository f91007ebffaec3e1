"""The driver's ends of one forked child."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from compat.errors import MachineError
from compat.processes.output import read_ends
from compat.scratch import Folder
from compat.workers.attempt import Mode
from compat.workers.client import WorkerClient, WorkerGone
from compat.workers.places import NOWHERE_ELSE, Places


class Child:
    """The driver's ends of one forked child: its pipes, its output and its private directory."""

    def __init__(
        self, server: WorkerClient, jobs: Sequence[Mapping[str, Any]], *, mode: Mode, places: Places = NOWHERE_ELSE
    ) -> None:
        """Ask for it. Raises MachineError where the machine has no room for its files, or no more files may be open."""
        self._open: list[int] = []
        self._private = Folder("compat-batch-")
        self.directory = self._private.path
        request = {
            "directory": str(self.directory),
            "diagnose": mode.diagnose,
            "variables": dict(mode.variables),
            "hidden": list(mode.hidden),
            "places": list(places.pairs),
            "jobs": list(jobs),
        }
        try:
            self._give(mode.given)
            self._begin(server, json.dumps(request))
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise MachineError.of(error, where=str(self.directory.parent)) from error
            raise

    def _give(self, files: Mapping[str, bytes]) -> None:
        """Put the files that actions name where the worker looks for them."""
        for name, data in files.items():
            path = self.directory / "given" / Path(name).name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)

    def _begin(self, server: WorkerClient, request: str) -> None:
        jobs = self.directory / "jobs.json"
        jobs.write_text(request, encoding="utf-8")
        self.output = self._opened(os.open(self.directory / "output", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600))
        self.events, events = map(self._opened, os.pipe())
        self.exit, exit_pipe = map(self._opened, os.pipe())
        os.set_blocking(self.events, False)
        jobs_file = self._opened(os.open(jobs, os.O_RDONLY))
        with suppress(WorkerGone):  # closing our copies makes both pipes end at once, which says so
            server.fork(self.directory, jobs_file, events, self.output, exit_pipe)
        for fd in (jobs_file, events, exit_pipe):
            os.close(fd)
            self._open.remove(fd)

    def _opened(self, fd: int) -> int:
        self._open.append(fd)
        return fd

    def read_output(self, start: int, end: int | None, limit: int, heading: str = "") -> str:
        """What was printed between two offsets; of more than ``limit`` bytes the beginning and the end (:func:`read_ends`)."""
        return read_ends(self.output, start, end, limit, heading)

    def close(self) -> None:
        """Close the pipes and remove the directory. The child must have ended."""
        while self._open:
            os.close(self._open.pop())
        self._private.close()
