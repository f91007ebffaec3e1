"""The modules on the way of a command: ``python -m tests.walk FILE ARGUMENT …`` runs ``compat``
with these arguments.

The file gets the modules, a path in ``compat/`` on each line, in the order in which a function of
each first ran. Functions that run while a module is imported do not count. Neither do functions
that a worker runs.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

PACKAGE = Path(__file__).parent.parent / "compat"


class Walk:
    """The modules with a function that this process has run."""

    def __init__(self) -> None:
        self.modules: dict[str, None] = {}
        self._process = os.getpid()
        self._paths: dict[str, str | None] = {}

    def note(self, frame: FrameType, event: str, _: Any) -> None:
        """The function that :func:`sys.setprofile` calls."""
        if event != "call" or frame.f_code.co_name.startswith("<"):
            return
        path = self._within(frame.f_code.co_filename)
        if path is not None and path not in self.modules and not _is_importing(frame):
            self.modules[path] = None

    def _within(self, name: str) -> str | None:
        if name not in self._paths:
            path = Path(name)
            is_ours = path.suffix == ".py" and path.is_relative_to(PACKAGE)
            self._paths[name] = str(path.relative_to(PACKAGE)) if is_ours else None
        return self._paths[name]

    def write(self, file: Path) -> None:
        """Write the modules to a file, unless this process is a fork."""
        if os.getpid() == self._process:
            file.write_text("\n".join(self.modules))


def _is_importing(frame: FrameType | None) -> bool:
    """Whether a function runs because some module is being imported."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def main(file: Path, arguments: list[str]) -> None:
    from compat.cli import start

    walk, leave = Walk(), os._exit

    def leave_after_writing(code: int) -> None:
        walk.write(file)
        leave(code)

    os._exit = leave_after_writing  # type: ignore[assignment]
    sys.argv = ["compat", *arguments]
    sys.setprofile(walk.note)
    threading.setprofile(walk.note)
    start.start()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
