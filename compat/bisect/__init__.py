"""Find the release in which a kernel broke, and the cause inside one failure.

In: kernels, and what counts as bad (:mod:`compat.bisect.criterion`), as a
:class:`compat.bisect.request.BisectRequest`. Out: a :class:`compat.bisect.bisecting.Bisection`, the
answers. :func:`bisect` is all of it, and :func:`check` asks the same of single cells:

- :mod:`compat.bisect.releases`: since which release; :mod:`compat.bisect.candidates` says which
  releases there are to try, and :mod:`compat.engine.run` what is known of them without compiling
  anything
- :mod:`compat.bisect.bisecting`: where inside a failure, where :mod:`compat.bisect.part` finds the
  part of the toolchain, :mod:`compat.bisect.passes` the compiler pass,
  :mod:`compat.bisect.settings` the constexpr, option or hint that it needs
- :mod:`compat.bisect.judging`: what launches and programs of the user say of results

They compile with envs that they are given; no compiler is built. Decisions are made in pure
modules: ``search``, ``criterion``, ``perturbations``, ``hints``.

The two functions are imported when they are asked for: many commands need one module of this room,
and none of the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compat.bisect.bisecting import bisect as bisect
    from compat.bisect.judging import check as check


def __getattr__(name: str) -> Any:
    if name == "bisect":
        from compat.bisect.bisecting import bisect

        return bisect
    if name == "check":
        from compat.bisect.judging import check

        return check
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
