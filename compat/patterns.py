"""Regular expressions that are compiled when they are first used: a command uses few of those in the modules that it imports."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, AnyStr, cast


class Lazy:
    """What behaves like a compiled pattern, by its methods and attributes. Functions of :mod:`re` do not take it for one."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._written = text, flags

    @cached_property
    def _compiled(self) -> re.Pattern[Any]:
        return re.compile(*self._written)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # what copies it asks before there is anything
            raise AttributeError(name)
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found

    def __repr__(self) -> str:
        return f"lazy_pattern({self._written[0]!r})"


def lazy_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """:func:`re.compile`, but later: what is wrong with ``text`` is raised when it is first used."""
    return cast("re.Pattern[AnyStr]", Lazy(text, flags))
