"""The command as it was called, and how one ends that was interrupted."""

from __future__ import annotations

import shlex
import sys

INTERRUPTED = 130
"""The exit code of a command that was interrupted."""


def command_line() -> str:
    """The command line, as a shell takes it."""
    return shlex.join(["compat", *sys.argv[1:]])
