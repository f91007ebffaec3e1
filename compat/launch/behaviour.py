"""How builds of one kernel behaved that were launched in turn and held to each other. Records."""

from __future__ import annotations

from attrs import frozen

COMPARED = "compared"
"""The status of an answer that says how each behaved."""


@frozen(kw_only=True)
class Behaviour:
    """How the kernel behaved as one release built it, over all problems."""

    good: bool
    """Whether the others are held to it."""
    launches: int
    differing: int
    """Those that gave other bits than the first of their problem."""
    finite: bool
    """Whether what it wrote are numbers."""
    wrote: bool
    """Whether it wrote anything into its outputs."""
    outside: str
    """Where it wrote what is not its own, in words."""
    reads_outside: bool = False
    """Whether what it computes depends on what lies around its inputs; known where it is good."""
    off: float
    """How far off the first good one it is at worst, by the largest number that comes out there; 0 within the tolerance."""


@frozen(kw_only=True)
class BuildComparison:
    """What came of launching several builds of one kernel."""

    status: str
    """:data:`COMPARED`, or why it was not: ``faulted``, ``launch_refused``, ``timed_out``, ``lost``."""
    reason: str = ""
    behaviours: tuple[Behaviour, ...] = ()
    """In the order in which they were asked for."""
