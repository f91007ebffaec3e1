"""The files that a kernel's source reads while it is imported, besides modules: what it is made of may stand in them."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any, Iterable, Iterator

_OF_THE_MACHINE = ("/proc/", "/sys/", "/dev/", "/etc/")


class Opened:
    """Notes paths in a process from when it is made, while it is told to."""

    def __init__(self, directory: str) -> None:
        """``directory`` is the process's own: what is read there was made by it."""
        env = {os.path.realpath(folder) for folder in (sys.prefix, sys.base_prefix, sys.exec_prefix)}
        self._others = (*_OF_THE_MACHINE, *(os.path.join(folder, "") for folder in [*env, os.path.realpath(directory)]))
        self._noting = False
        self._paths: dict[str, None] = {}
        sys.addaudithook(self._hear)

    def add(self, paths: Iterable[str]) -> None:
        """Note what was read before this process was forked."""
        self._paths.update(dict.fromkeys(paths))

    @contextlib.contextmanager
    def noting(self) -> Iterator[None]:
        """Note what is opened for reading meanwhile."""
        self._noting = True
        try:
            yield
        finally:
            self._noting = False

    def paths(self) -> list[str]:
        """The files that were read and are no part of the env nor of the machine; modules are among them."""
        return [path for path in self._paths if os.path.isfile(path) and not os.path.realpath(path).startswith(self._others)]

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._noting or event != "open":
            return
        path, _, flags = arguments
        if isinstance(path, (str, bytes, os.PathLike)) and flags & os.O_ACCMODE != os.O_WRONLY:
            self._paths[os.path.abspath(os.fsdecode(path))] = None
