"""A database that a test looks into, or damages: ``with sqlite3.connect(…)`` commits, and does not close."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def opened(path: Path, **how: Any) -> Iterator[sqlite3.Connection]:
    """A connection that is committed and closed in the end."""
    with closing(sqlite3.connect(path, **how)) as connection, connection:
        yield connection
