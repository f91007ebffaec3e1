"""A database that a test reads or damages.

``with sqlite3.connect(…)`` commits, but does not close.
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
    """A connection that commits and closes at the end."""
    with closing(sqlite3.connect(path, **how)) as connection, connection:
        yield connection


def column(folder: Path, name: str = "cell") -> list[Any]:
    """The values of a column in all rows of the store in a folder."""
    with opened(folder / "results.sqlite") as connection:
        return [value for (value,) in connection.execute(f"SELECT {name} FROM evidence")]


def recorded_connections(monkeypatch: pytest.MonkeyPatch) -> list[sqlite3.Connection]:
    """A list that collects every connection that is made from now on."""
    connections: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def recorded(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connections.append(connect(*arguments, **options))
        return connections[-1]

    monkeypatch.setattr(sqlite3, "connect", recorded)
    return connections
