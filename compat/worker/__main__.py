"""Start the server: ``python -I path/to/worker FOLDER CONTROL_FD ADAPTER …``; see the contract.

This folder is loaded as a package under a private name, and removed from ``sys.path``. So imports
of the toolchain or of a kernel cannot find its modules, and its modules shadow no others.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from types import ModuleType


def load() -> ModuleType:
    """Import the worker package from this folder under a private name."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != here]
    spec = importlib.util.spec_from_file_location(
        "_compat_worker", os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["_compat_worker"] = package
    spec.loader.exec_module(package)
    return importlib.import_module("_compat_worker.server")


if __name__ == "__main__":
    code = load().main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    # A normal exit would destroy the toolchain object by object. The driver would wait for
    # that, and it could crash.
    os._exit(code)
