"""Ask a program of the user's what it thinks of a result."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping

from compat.errors import SelectionError

_NOT_RUN = (126, 127)
"""How a shell says that there is no such command, or that it cannot be executed."""


def ask(command: str, document: str, variables: Mapping[str, str]) -> int:
    """The exit code of a shell command that is given a document on its standard input, and these variables besides its own.

    Negative where a signal ended it. What it prints is not shown. Raises SelectionError where there is no such command.
    """
    done = subprocess.run(
        ["sh", "-c", command], input=document, env={**os.environ, **variables}, capture_output=True, text=True, errors="replace"
    )
    if done.returncode in _NOT_RUN:
        raise SelectionError(f"the command cannot be run: {done.stderr.strip()}", where=f"--judge run={command}")
    return done.returncode
