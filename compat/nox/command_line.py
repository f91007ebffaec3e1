"""What nox was started with, as far as sessions depend on it before nox tells them.

Read from ``sys.argv``, by words: nox has no public way to ask before the sessions are defined. What is only needed while a session
runs is better asked of the session.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from compat.patterns import lazy_pattern

_ENV_SESSION = lazy_pattern(r"env\((?P<name>[^()\s]+)\)")


def words() -> list[str]:
    """The arguments of nox itself, and the sessions that ``$NOXSESSION`` names."""
    return [*_split()[0], *os.environ.get("NOXSESSION", "").split(",")]


def posargs() -> list[str]:
    """The arguments after ``--``."""
    return _split()[1]


def _split() -> tuple[list[str], list[str]]:
    arguments = sys.argv[1:]
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:at], arguments[at + 1 :]


def option(arguments: list[str], *names: str) -> Iterator[str]:
    """Every value that an option is given, as ``name value`` or ``name=value``."""
    for index, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name in names and equals:
            yield value
        elif argument in names and index + 1 < len(arguments):
            yield arguments[index + 1]


def is_asked_for(*sessions: str) -> bool:
    """Whether one of these sessions may be meant: its name is among the words."""
    return any(word.partition("=")[2] in sessions or word in sessions for word in words())


def named_envs() -> list[str]:
    """The envs whose sessions are named."""
    return [match["name"] for word in words() for match in _ENV_SESSION.finditer(word)]


def last(values: Iterator[str]) -> str | None:
    """The last of several values, which is the one that counts."""
    found = [*values]
    return found[-1] if found else None
