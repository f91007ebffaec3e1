"""The adapter of CuTe DSL, with all differences between the Python APIs of its releases.

The worker loads this folder inside an env (see :mod:`compat.worker.adapter`). The code runs on
Python 3.10 to 3.14. It needs only the standard library and CuTe DSL, and no code of the driver. It
tests for features, never for a version number. :mod:`.compiling` imports CuTe DSL, observes it and
compiles with it. :mod:`.arguments` makes the arguments of a kernel from the types in a kernel file.
:mod:`.built` reads the results of a compile.
"""

from .compiling import Cute as Adapter

__all__ = ["Adapter"]
