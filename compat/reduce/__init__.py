"""Reduce a failing kernel.

In: a kernel that fails. Out: the smallest kernel found that still fails the same way, and that is
still ok where the original is ok, in a file with a kernel file beside it. :func:`reduce` is the
whole feature, from the name of a kernel on. :class:`compat.reduce.reduction.Reduction` is one
reduction, with its result. Candidates are edits of the syntax tree and of the specialization. The
code that makes them and searches through them touches no file and no process.
:mod:`compat.reduce.interestingness` tests with real compilers whether a candidate is still
interesting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.reduce.candidate import Candidate
from compat.reduce.module import extract_functions
from compat.reduce.search import AreInteresting, shrink

if TYPE_CHECKING:
    from compat.reduce.reduction import reduce as reduce

__all__ = ["AreInteresting", "Candidate", "extract_functions", "reduce", "shrink"]


def __getattr__(name: str) -> object:
    if name == "reduce":  # imports the whole package, but many callers need only one module
        from compat.reduce.reduction import reduce

        return reduce
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
