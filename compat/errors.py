"""Errors of use: what the tool could not act on.

A kernel that fails is data and travels in the records; an exception here means that the tool cannot do what it was asked. Each
class carries its own exit code and says what is wrong, where, and what to do next. Only the command line turns one into text and
an exit.
"""

from __future__ import annotations


class CompatError(Exception):
    """Base of all errors of use.

    ``where`` is a path a reader can go to (``matrix.toml: env[2].triton``), ``hint`` the next thing to do.
    """

    exit_code = 2

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.where = where
        self.hint = hint


class ConfigError(CompatError):
    """A TOML file says something that cannot be meant: an unknown key, a wrong type, an impossible version."""

    exit_code = 2


class SelectionError(CompatError):
    """A name or glob on the command line matches nothing."""

    exit_code = 3


class EnvError(CompatError):
    """No environment could be had at all (as opposed to one of several being broken, which is data)."""

    exit_code = 4


class StoreError(CompatError):
    """Results could not be read or written: a full disk, a foreign file, no permission."""

    exit_code = 5


class IndexUnavailable(CompatError):
    """The package index did not answer, or not with what was asked for."""

    exit_code = 6
