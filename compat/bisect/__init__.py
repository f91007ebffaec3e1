"""Find the release in which a kernel broke, and the cause inside one failure.

In: kernels, and the definition of bad (:mod:`compat.bisect.criterion`), as a
:class:`compat.bisect.request.BisectRequest`. Out: a :class:`compat.bisect.bisecting.Bisection`, the
answers. :func:`bisect` is the whole search, and :func:`check` judges single cells in the same way:

- :mod:`compat.bisect.releases` finds the release in which a kernel changed.
  :mod:`compat.bisect.candidates` lists the releases to try, and :mod:`compat.engine.run` reads
  their known results without a compile.
- :mod:`compat.bisect.bisecting` searches inside a failure. :mod:`compat.bisect.part` finds the part
  of the toolchain, :mod:`compat.bisect.passes` the compiler pass, and :mod:`compat.bisect.settings`
  the constexpr, option or hint that the failure needs.
- :mod:`compat.bisect.judging` adds the numbers of launches, and the answers of the user's programs,
  to results.

These modules compile in given envs, and build no compiler. Pure modules make the decisions:
``search``, ``criterion``, ``perturbations``.

The two functions are imported on first use, because many commands need only one module of this
room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compat.bisect.bisecting import bisect as bisect
    from compat.bisect.judging import check as check


def __getattr__(name: str) -> object:
    if name == "bisect":
        from compat.bisect.bisecting import bisect

        return bisect
    if name == "check":
        from compat.bisect.judging import check

        return check
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
