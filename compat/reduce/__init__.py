"""Reduce a failing kernel.

In: a kernel that fails. Out: the smallest kernel found that still fails the same way, and is still
fine where it is fine, in a file with a kernel file beside it. :func:`reduce` is all of it, from
what a user names; :class:`compat.reduce.reduction.Reduction` is one reduction under way, and what
came of it. Candidates are edits of the syntax tree and of the specialization; making them and
searching through them touches nothing. Whether one is still interesting is found out with real
compilers in :mod:`compat.reduce.interestingness`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from compat.reduce.candidate import Candidate
from compat.reduce.module import extracted
from compat.reduce.search import AcceptedStep, AreInteresting, shrink

if TYPE_CHECKING:
    from compat.reduce.reduction import reduce as reduce

__all__ = ["AcceptedStep", "AreInteresting", "Candidate", "extracted", "reduce", "shrink"]


def __getattr__(name: str) -> Any:
    if name == "reduce":  # needs all of the room, of which many need one module
        from compat.reduce.reduction import reduce

        return reduce
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
