"""Names for objects of Triton, whose classes differ by release; for type checkers only.

:mod:`compat.toolchains.inside.foreign` says why these have no types.
"""

from __future__ import annotations

from typing import Any

Source = Any
"""Triton's ``ASTSource`` or ``IRSource``: what a compile starts from."""
GpuTarget = Any
"""Triton's ``GPUTarget``; a tuple in early releases."""
CompiledKernel = Any
"""The result of ``triton.compile``."""
Autotuner = Any
"""A kernel with configurations to choose among."""
CodeGenerator = Any
"""Triton's front end during the compile of a function."""
