"""``python -m tests.rooms coverage.json``: a table of what ``coverage json`` found, by the rooms of
the package.

It gates nothing: which lines no test goes through is a question to whoever reads it.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

_COLUMNS = ("num_statements", "missing_lines", "num_branches", "missing_branches")


def table(found: Mapping[str, Any]) -> Iterator[str]:
    """The lines of the table, rooms in the order of their names, and all of them together."""
    rooms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name, file in found["files"].items():
        rooms[room(name)].update({column: file["summary"][column] for column in _COLUMNS})
    width = max(map(len, [*rooms, "together"]))
    yield f"{'room':{width}}  lines  not run  branches  not taken  covered"
    for name, counts in [*sorted(rooms.items()), ("together", sum(rooms.values(), Counter[str]()))]:
        lines, no_lines, branches, no_branches = (counts[column] for column in _COLUMNS)
        share = _share(lines + branches, no_lines + no_branches)
        yield f"{name:{width}}  {lines:5}  {no_lines:7}  {branches:8}  {no_branches:9}  {share}"


def room(name: str) -> str:
    """The room that a file of the package is in: a folder of it, or a module."""
    parts = PurePath(name).parts
    inside = parts[parts.index("compat") + 1 :]
    return f"{inside[0]}/" if len(inside) > 1 else inside[0]


def _share(there: int, missed: int) -> str:
    return f"{100 * (there - missed) / there:6.1f}%" if there else "       "


if __name__ == "__main__":
    print("\n".join(table(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))))
