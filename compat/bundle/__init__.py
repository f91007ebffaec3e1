"""Kernels as self-contained sources.

In: a kernel's Python file. Out: its syntax tree, the files beside it that it imports and a hash over them
(:mod:`compat.bundle.closure`), and one module that holds the kernel and nothing else (:mod:`compat.bundle.bundle`). Nothing is run.
"""
