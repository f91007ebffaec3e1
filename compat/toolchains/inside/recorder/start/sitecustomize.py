"""The start of recording in a program: Python runs it first if this folder is in ``PYTHONPATH``.

It begins recording, and then runs the user's own ``sitecustomize``.
"""

import importlib
import json
import os
import sys
import types

_VARIABLE = "COMPAT_CAPTURE"
_ROOM = "_compat_toolchains"
_HERE = os.path.dirname(os.path.abspath(__file__))


def _begin():
    settings = json.loads(os.environ[_VARIABLE])
    folder = os.path.abspath(os.path.join(_HERE, *[os.pardir] * 3))
    for name, path in (
        (_ROOM, folder),
        ("%s.%s" % (_ROOM, settings["toolchain"]), os.path.join(folder, settings["toolchain"])),
    ):
        # The package's own __init__ must not run in this process.
        module = sys.modules[name] = types.ModuleType(name)
        module.__path__ = [path]
    importlib.import_module("%s.%s.inside.recorder" % (_ROOM, settings["toolchain"])).begin(
        settings
    )


def _go_on():
    """Import the ``sitecustomize`` that Python would have found without this one."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _HERE]
    mine = sys.modules.pop("sitecustomize", None)
    importlib.invalidate_caches()
    try:
        importlib.import_module("sitecustomize")
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
        if mine is not None:
            sys.modules["sitecustomize"] = mine


if _VARIABLE in os.environ and sys.version_info >= (3, 8):
    _begin()
_go_on()
