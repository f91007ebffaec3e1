"""The edit that makes a rejected kernel compile.

In: a selection, and the id of a cell that fails. Out: :class:`Fix`, the smallest known edit that
helps in all requested envs, or the one that helps in most of them, with the outcomes of the kernel
before and after it. The toolchain lists the known edits. A compile shows whether an edit helps. The
numbers that the kernel computes are not checked.

- :mod:`compat.fix.searching`: the search for an edit that helps, among the known edits for a
  failure. Its caller compiles the candidates.
- :mod:`compat.fix.fixing`: the feature behind ``compat fix``
- :mod:`compat.fix.changes`: a kernel's file that can be edited and compiled, and the changes of an
  edit, with diffs

The submodules are imported on first use, because reports only need to know whether an edit exists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compat.fix.fixing import EditTrial, Fix, fix, write_fix
    from compat.toolchains import known_edits

__all__ = ["EditTrial", "Fix", "fix", "known_edits", "write_fix"]


def __getattr__(name: str) -> object:
    if name == "known_edits":
        from compat.toolchains import known_edits

        return known_edits
    if name in __all__:
        from compat.fix import fixing

        return getattr(fixing, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
