"""Names for objects without types that the code inside environments handles.

Only type checkers read this module: the code imports it under ``TYPE_CHECKING``, because an
environment does not have it. PyTorch and the compilers have other classes in each release, and the
code finds out which by asking for attributes. A protocol would claim more than is known.
"""

from __future__ import annotations

from typing import Any, Dict

Document = Dict[str, Any]
"""An object of JSON: a job, an answer, a record of the journal. The driver's records check it."""
Objects = Dict[str, Any]
"""Objects of Python by name: arguments, constexprs, what a module or a release has."""
Value = Any
"""An object of a user's program, of whatever class."""
Function = Any
"""A kernel or a function around it: a Python function, or what decorators of a toolchain made."""
Tensor = Any
"""A tensor of PyTorch, or what stands in for one."""
