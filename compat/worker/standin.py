"""The room that imports kernels (``compat/toolchains/pytorch``), which is loaded as a package under a name of its own."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from types import ModuleType

from . import places

ROOM = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "toolchains", "pytorch")
_NAME = "_compat_pytorch"


def load() -> ModuleType:
    """The package, loaded once in a server: its children start with it as it is then."""
    if _NAME not in sys.modules:
        places.hide(ROOM)
        spec = importlib.util.spec_from_file_location(_NAME, os.path.join(ROOM, "__init__.py"), submodule_search_locations=[ROOM])
        assert spec is not None
        assert spec.loader is not None
        package = importlib.util.module_from_spec(spec)
        sys.modules[_NAME] = package
        spec.loader.exec_module(package)
    return importlib.import_module(_NAME + ".standin")
