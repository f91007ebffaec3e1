"""CuTe DSL inside an env: all that is known of how its Python API differs between releases.

The worker loads this folder (see :mod:`compat.worker.adapter`): standard library and CuTe DSL only,
Python 3.10 to 3.14, nothing of ours. Each form is recognised by what is there, never by a version
number. :mod:`.compiling` imports, watches and compiles; :mod:`.arguments` makes what a kernel is
given of the types in a kernel file; :mod:`.built` reads what came out.
"""

from .compiling import Cute as Adapter

__all__ = ["Adapter"]
