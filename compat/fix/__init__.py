"""The edit that makes a rejected kernel compile.

In: a selection, and the id of a cell that fails. Out: :class:`Fix`, the smallest known edit that helps in all the envs that were
asked for, or the one that helps in most of them, with what became of the kernel before and after it. Which edits are known is said
by the toolchain; whether one helps is found out by compiling. No number that a kernel computes is checked.

- :mod:`compat.fix.source`: a kernel's file as it can be edited, compiled and written back
- :mod:`compat.fix.searching`: the search for edits, given something that compiles
- :mod:`compat.fix.fixing`: all of it, from what a user names
- :mod:`compat.fix.values`: values of a kernel file, where the edit is one of these
- :mod:`compat.fix.guessed`: edits of a kernel whose arguments are guessed
- :mod:`compat.fix.changes`: the files that an edit changes, with diffs
- :mod:`compat.fix.writing`: the edit in the user's file

It is imported when it is asked for: reports only say where an edit is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compat.fix.fixing import Fix, Tried, fix
    from compat.fix.known import known_edits
    from compat.fix.writing import write_fix

__all__ = ["Fix", "Tried", "fix", "known_edits", "write_fix"]


def __getattr__(name: str) -> Any:
    if name == "write_fix":
        from compat.fix.writing import write_fix

        return write_fix
    if name == "known_edits":
        from compat.fix.known import known_edits

        return known_edits
    if name in __all__:
        from compat.fix import fixing

        return getattr(fixing, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
