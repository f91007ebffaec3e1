"""Triton inside an env: all that is known of how its Python API differs between releases.

The worker loads this folder (see :mod:`compat.worker.adapter`): standard library and Triton only,
Python 3.8 to 3.14, nothing of ours. Each form is recognised by what is there, never by a version
number, so that forks and nightlies work by the same rules. :mod:`.api` imports, observes and
compiles; :mod:`.call` describes a kernel's arguments; :mod:`.driver` answers for the GPU.
"""

from .api import Triton as Adapter

__all__ = ["Adapter"]
