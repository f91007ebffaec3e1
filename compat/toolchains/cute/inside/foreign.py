"""Names for objects of CuTe DSL and of its MLIR, which have no types; for type checkers only.

:mod:`compat.toolchains.inside.foreign` says why.
"""

from __future__ import annotations

from typing import Any

MlirModule = Any
"""A module of MLIR."""
Operation = Any
"""An operation of MLIR."""
Compiler = Any
"""CuTe DSL's ``Compiler``, which runs a pipeline on a module."""
PassManager = Any
"""The class of MLIR that parses and runs pipelines."""
Type = Any
"""A type as CuTe DSL has it: an element type, an annotation, or a form of a job's signature."""
