"""Python runs this before a program, where this folder is in ``PYTHONPATH``: it begins recording, then runs the user's own."""

import importlib
import importlib.util
import json
import os
import sys

_NAME = "_compat_recorder"
_HERE = os.path.dirname(os.path.abspath(__file__))


def _begin():
    folder = os.path.dirname(_HERE)
    spec = importlib.util.spec_from_file_location(_NAME, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder])
    module = importlib.util.module_from_spec(spec)
    sys.modules[_NAME] = module
    spec.loader.exec_module(module)
    module.begin(json.loads(os.environ[module.VARIABLE]))


def _go_on():
    """Have Python find the ``sitecustomize`` that it would have found without this one."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _HERE]
    mine = sys.modules.pop("sitecustomize", None)
    importlib.invalidate_caches()
    try:
        importlib.import_module("sitecustomize")
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
        sys.modules["sitecustomize"] = mine


if "COMPAT_CAPTURE" in os.environ and sys.version_info >= (3, 8):
    _begin()
_go_on()
