"""Kernels as self-contained sources.

In: a kernel's Python file, or functions as they were in a running process. Out: one module that
holds the kernel, what it uses, and nothing else (:mod:`compat.bundle.bundle`). Nothing is run.
"""
