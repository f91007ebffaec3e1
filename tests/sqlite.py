"""A database that a test looks into, or damages: ``with sqlite3.connect(…)`` commits, and does not
close.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def opened(path: Path, **how: Any) -> Iterator[sqlite3.Connection]:
    """A connection that is committed and closed in the end."""
    with closing(sqlite3.connect(path, **how)) as connection, connection:
        yield connection


def column(folder: Path, name: str = "cell") -> list[Any]:
    """What the rows of a store in a folder have in a column."""
    with opened(folder / "results.sqlite") as connection:
        return [value for (value,) in connection.execute(f"SELECT {name} FROM evidence")]


def recorded_connections(monkeypatch: pytest.MonkeyPatch) -> list[sqlite3.Connection]:
    """A list that every connection is put into that is made from now on."""
    connections: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def recorded(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connections.append(connect(*arguments, **options))
        return connections[-1]

    monkeypatch.setattr(sqlite3, "connect", recorded)
    return connections
