"""Start the server: ``python -I path/to/worker FOLDER CONTROL_FD ADAPTER …``; see the contract.

This folder is loaded as a package under a private name, and removed from ``sys.path``. So imports
of the toolchain or of a kernel cannot find its modules, and its modules shadow no others.
"""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType


def load() -> ModuleType:
    """Import the worker package from this folder under a private name."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != here]
    package = sys.modules["_compat_worker"] = ModuleType("_compat_worker")
    package.__path__ = [here]
    return importlib.import_module("_compat_worker.server")


if __name__ == "__main__":
    code = load().main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    # A normal exit would destroy the toolchain object by object. The driver would wait for
    # that, and it could crash.
    os._exit(code)
