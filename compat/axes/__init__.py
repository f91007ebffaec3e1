"""Searches inside one failure: in which part of the toolchain it is, in which pass, and what of the specialization it needs.

Each module has a ``find``. They compile with envs that are built; nothing is installed here, and no compiler is built.
"""
