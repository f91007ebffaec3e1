"""``python -m tests.rooms coverage.json`` prints the result of ``coverage json`` as a table.

The table has a row for each room of the package. The command fails if a room is below its floor in
``pyproject.toml``.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

_ROOT = Path(__file__).parent.parent
_COLUMNS = ("num_statements", "missing_lines", "num_branches", "missing_branches")


def table(coverage: Mapping[str, Any]) -> Iterator[str]:
    """The lines of the table: the rooms in the order of their names, and then their total."""
    rooms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name, file in coverage["files"].items():
        rooms[room(name)].update({column: file["summary"][column] for column in _COLUMNS})
    width = max(map(len, [*rooms, "together"]))
    yield f"{'room':{width}}  lines  not run  branches  not taken  covered"
    for name, counts in [*sorted(rooms.items()), ("together", sum(rooms.values(), Counter[str]()))]:
        lines, no_lines, branches, no_branches = (counts[column] for column in _COLUMNS)
        share = _share(lines + branches, no_lines + no_branches)
        yield f"{name:{width}}  {lines:5}  {no_lines:7}  {branches:8}  {no_branches:9}  {share}"


def below(coverage: Mapping[str, Any], floors: Mapping[str, float]) -> Iterator[str]:
    """The rooms below their floor, the rooms without a floor, and the floors without a room."""
    shares = covered(coverage)
    for name in sorted(shares.keys() | floors.keys()):
        share, floor = shares.get(name), floors.get(name)
        if share is None or floor is None:
            yield f"{name}: {'no floor' if floor is None else 'no such room'} in pyproject.toml"
        elif share < floor:
            yield f"{name}: {share:.1f}% is less than its floor of {floor:g}%"


def covered(coverage: Mapping[str, Any]) -> dict[str, float]:
    """Room → the percentage of its lines and branches that tests run.

    Rooms without lines are left out.
    """
    there, missed = Counter[str](), Counter[str]()
    for name, file in coverage["files"].items():
        summary = file["summary"]
        there[room(name)] += summary["num_statements"] + summary["num_branches"]
        missed[room(name)] += summary["missing_lines"] + summary["missing_branches"]
    return {name: 100 * (there[name] - missed[name]) / there[name] for name in there if there[name]}


def room(name: str) -> str:
    """The room of a file of the package: a folder, or a module."""
    parts = PurePath(name).parts
    inside = parts[parts.index("compat") + 1 :]
    return f"{inside[0]}/" if len(inside) > 1 else inside[0]


def _share(there: int, missed: int) -> str:
    return f"{100 * (there - missed) / there:6.1f}%" if there else "       "


def main() -> None:
    """Print the table. Exits with the rooms that are below their floors."""
    coverage = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    floors = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    print("\n".join(table(coverage)))
    if problems := list(below(coverage, floors["tool"]["coverage-floors"])):
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
