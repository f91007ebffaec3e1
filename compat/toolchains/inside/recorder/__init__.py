"""Runs inside the user's process and writes down which kernels it launches, and how.

Here is what the recorders of all toolchains have in common; what one is like is in its own room, in
``inside/recorder/``. Standard library only, Python 3.8 to 3.14; imports nothing of ours. It gets
there by ``start/sitecustomize.py``, which Python runs before the program where that folder is in
``PYTHONPATH``, in child processes too.

**Settings** are JSON, in the environment variable ``COMPAT_CAPTURE``:

- ``toolchain``: the name of the one whose launches are recorded
- ``folder``: where records go, one file of JSON lines for each process, appended to line by line,
  so that what a process recorded is there whatever becomes of it
- ``target``: backend, arch, warp_size, shared_memory and, where it is assumed, gpu (a name) and
  multiprocessors
- ``fake``: whether there is no GPU here and the program is to believe in one
- ``with_values``: whether numbers that no compile depends on (floats) are kept as they were passed
- ``problems``: whether what launches were given is written down, so that they can be made again
- ``originals``: for which launches what the program itself would have compiled is compiled as it
  ends, to be compared with: ``nothing``, the first of each of its ``kernels``, or ``cases``, all

**Records** have what they are under ``r``:

- ``process``: a process has imported the toolchain: its release and where it is, and the Python
- ``framework``: it has imported PyTorch: the release
- ``defined``: a jit function was defined: module, name, line
- ``function``: a function that a launched kernel is or uses: source, and what the names in it mean
  (:mod:`.functions`)
- ``launch``: a launch of a new kind: function, arguments, constexprs, options, grid, place, what it
  was given
- ``count``: how often a kind of launch has been seen, at powers of two; whether an autotuner tried
  it or chose it
- ``failed``: the class of what a launch raised
- ``original``: a hash over the assembly code of a launch, and the architecture that it is for
- ``lacking``: a launch that cannot be written down, and why
- ``not_imported``: the toolchain is not there, or cannot be imported, and why
- ``comparing``: the program has ended, and so many launches are compiled as it would have compiled
  them
- ``end``: the process ended as Python does
"""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any

VARIABLE = "COMPAT_CAPTURE"
"""The environment variable that has the settings."""
PACKAGE = "_compat_toolchains.%s.inside.recorder"
"""The name of a toolchain's recorder in ``sys.modules`` if ``start/sitecustomize.py`` has loaded
it.
"""
_TOOLCHAINS = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))


def shared(name: str, *path: str) -> Any:
    """Return a module or package of the toolchains' room that other programs run, too.

    It is loaded once, under a name of its own.
    """
    if name not in sys.modules:
        where = os.path.join(_TOOLCHAINS, *path)
        file, inner = (
            (where, None)
            if where.endswith(".py")
            else (os.path.join(where, "__init__.py"), [where])
        )
        spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=inner)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]
