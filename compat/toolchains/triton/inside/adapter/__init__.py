"""Triton inside an env: everything about how its Python API differs between releases.

The worker loads this folder (see :mod:`compat.worker.adapter`). It needs the standard library and
Triton only, runs on Python 3.8 to 3.14, and imports none of the driver's code. It recognises each
form of the API by the names that exist, never by a version number, so that forks and nightlies work
by the same rules. :mod:`.api` imports, observes and compiles; :mod:`.call` describes a kernel's
arguments; :mod:`.driver` replaces the GPU's driver.
"""

from .api import Triton as Adapter

__all__ = ["Adapter"]
