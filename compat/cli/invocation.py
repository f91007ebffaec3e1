"""The command as it was called, the paths that it tells of, and how one ends that was interrupted."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from compat.text import printable

INTERRUPTED = 130
"""The exit code of a command that was interrupted."""


def command_line() -> str:
    """The command line, as a shell takes it."""
    return printable(shlex.join(["compat", *sys.argv[1:]]))


def deadline_words(seconds: float | None) -> tuple[str, ...]:
    """The option that has a cell take as long again; nothing where none was given."""
    return ("--deadline", f"{seconds:g}") if seconds else ()


def relative(path: Path) -> str:
    """A path as somebody in the current folder would write it, where it lies in that folder."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
