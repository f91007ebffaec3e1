"""The edit that makes a rejected kernel compile.

In: a selection, and the id of a cell that fails. Out: :class:`Fix`, the smallest known edit that
helps in all requested envs, or the one that helps in most of them, with the outcomes of the kernel
before and after it. The toolchain lists the known edits. Compiling finds out whether one helps. No
number that a kernel computes is checked.

- :mod:`compat.fix.searching`: the known edits for a failure, and the search for one that helps,
  given something that compiles
- :mod:`compat.fix.fixing`: all of it, from what a user names
- :mod:`compat.fix.changes`: a kernel's file as it can be edited and compiled, the changes of an
  edit, with diffs, and writing it

It is imported when it is asked for: reports only say where an edit is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compat.fix.fixing import EditTrial, Fix, fix, write_fix
    from compat.toolchains import known_edits

__all__ = ["EditTrial", "Fix", "fix", "known_edits", "write_fix"]


def __getattr__(name: str) -> Any:
    if name == "known_edits":
        from compat.toolchains import known_edits

        return known_edits
    if name in __all__:
        from compat.fix import fixing

        return getattr(fixing, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
