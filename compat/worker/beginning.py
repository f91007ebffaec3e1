"""A package of which many kernels are compiled, imported once in a server of its own.

Each child then imports a module of it as any other does, and finds the package there: what importing the module would have imported
first. Only a package that is imported without an error serves, and that leaves one thread, and no module of a part that failed.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

from . import standin
from .opened import Opened

if TYPE_CHECKING:
    from .adapter import Adapter


def check_threads(what: str) -> None:
    """Raise RuntimeError where this process has several threads, which ``what`` has left."""
    if len(os.listdir("/proc/self/task")) > 1:
        raise RuntimeError("%s leaves threads, and a process that has some cannot be copied" % what)


class Beginning:
    """What importing the package read and warned of: each of its modules would have."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.warnings: list[warnings.WarningMessage] = []

    @classmethod
    def of(cls, package: dict[str, Any], toolchain: Adapter, folder: str) -> Beginning:
        """Import the package. Raises what importing raises, and RuntimeError where threads, or modules of what failed, are left."""
        sys.dont_write_bytecode = True
        found = cls()
        opened = Opened(folder)
        toolchain.set_target(package["target"])
        path = os.path.join(package["root"], *package["name"].split("."), "__init__.py")
        before = set(sys.modules)
        source = standin.load().ImportedSource(path, package["roots"], package["name"], package["target"], toolchain.name)
        with warnings.catch_warnings(record=True) as caught, opened.noting():
            warnings.simplefilter("always")
            source.begin()
        check_threads("importing it")
        if orphans := standin.load().orphans(before):
            raise RuntimeError("%s stayed, though its package could not be imported: it would be found there" % orphans[0])
        found.read, found.warnings = opened.paths(), list(caught)
        return found
