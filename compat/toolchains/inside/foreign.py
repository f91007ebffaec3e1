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
"""Objects of Python by name: arguments, constexprs, attributes of a module or a release."""
Value = Any
"""An object of a user's program, of any class."""
Function = Any
"""A kernel or a function around it: a Python function, or an object of a toolchain's decorators."""
Tensor = Any
"""A tensor of PyTorch, or its stand-in."""
