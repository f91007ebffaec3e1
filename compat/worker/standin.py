"""The room that imports kernels: a folder beside the worker's, which is loaded as a package under a name of its own."""

from __future__ import annotations

import importlib.util
import os
import sys
from types import ModuleType

from . import places

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "standin")
_NAME = "_compat_standin"


def load() -> ModuleType:
    """The package, loaded once in a server: its children start with it as it is then."""
    if _NAME not in sys.modules:
        places.hide(FOLDER)
        spec = importlib.util.spec_from_file_location(
            _NAME, os.path.join(FOLDER, "__init__.py"), submodule_search_locations=[FOLDER]
        )
        assert spec is not None
        assert spec.loader is not None
        package = importlib.util.module_from_spec(spec)
        sys.modules[_NAME] = package
        spec.loader.exec_module(package)
    return sys.modules[_NAME]
