"""The recorder: runs inside the user's process, and writes down its kernel launches.

This package is the common part of the recorders of all toolchains. Each toolchain has its own part
in its folder ``inside/recorder/``. The code runs on Python 3.8 to 3.14. It needs only the standard
library, and imports no code of the driver. ``start/sitecustomize.py`` loads it. Python runs that
file before the program, also in child processes, if its folder is in ``PYTHONPATH``.

**Settings** are JSON, in the environment variable ``COMPAT_CAPTURE``:

- ``toolchain``: the name of the toolchain whose launches are recorded
- ``folder``: the folder of the records. Each process has a file of JSON lines there. It appends
  line by line, so that its records exist however it ends
- ``target``: backend, arch, warp_size, shared_memory and, if a GPU is assumed, gpu (its name) and
  multiprocessors
- ``fake``: whether this machine has no GPU, and the program gets a fake one
- ``with_values``: whether numbers that no compile depends on (floats) keep their passed values
- ``problems``: whether the arguments of launches are written down, to repeat the launches
- ``originals``: the launches for which the program's own code is compiled for comparison:
  ``nothing``, the first launch of each kernel (``kernels``), or all (``cases``)

**Records** have their kind under ``r``:

- ``process``: a process has imported the toolchain: its release and its folder, and the Python
- ``framework``: the process has imported PyTorch: its release
- ``defined``: a jit function was defined: module, name, line
- ``function``: a launched kernel or a function that it uses: source, and the meanings of the names
  in it (:mod:`.functions`)
- ``launch``: the first launch of a kind: function, arguments, constexprs, options, grid, place, and
  with ``problems`` the facts to repeat it
- ``count``: the number of launches of a kind so far, at powers of two; whether an autotuner tried
  it or chose it
- ``failed``: the class of the exception that a launch raised
- ``original``: a hash over the assembly code of a launch, and its architecture
- ``unrecorded``: a launch that cannot be written down, and why
- ``not_imported``: the toolchain is not installed, or cannot be imported, and why
- ``comparing``: the program has ended, and the recorder compiles code for comparison: the number of
  its launches
- ``end``: the process ended in Python's regular way
"""

from __future__ import annotations

VARIABLE = "COMPAT_CAPTURE"
"""The environment variable with the settings."""
PACKAGE = "_compat_toolchains.%s.inside.recorder"
"""The name of a toolchain's recorder in ``sys.modules`` if ``start/sitecustomize.py`` has loaded
it.
"""
