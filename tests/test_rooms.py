"""The floors of coverage: a room below its floor is named, and each room has a floor."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from tests.rooms import below, covered, room

ROOT = Path(__file__).parent.parent


def file(lines: int, missing: int, branches: int = 0, not_taken: int = 0) -> dict[str, Any]:
    return {
        "summary": {
            "num_statements": lines,
            "missing_lines": missing,
            "num_branches": branches,
            "missing_branches": not_taken,
        }
    }


FOUND = {
    "files": {
        "compat/store/a.py": file(60, 10, 20, 10),
        "compat/store/b.py": file(20, 0),
        "compat/text.py": file(10, 1),
        "compat/empty/__init__.py": file(0, 0),
    }
}


def test_the_share_of_a_room_counts_lines_and_branches_of_all_its_files() -> None:
    assert covered(FOUND) == {"store/": 80.0, "text.py": 90.0}


def test_a_room_below_its_floor_and_one_without_a_floor_are_named() -> None:
    assert list(below(FOUND, {"store/": 80, "text.py": 90})) == []
    assert list(below(FOUND, {"store/": 80.1, "gone/": 1})) == [
        "gone/: no such room in pyproject.toml",
        "store/: 80.0% is less than its floor of 80.1%",
        "text.py: no floor in pyproject.toml",
    ]


def test_each_room_has_a_floor() -> None:
    floors = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "coverage-floors"
    ]
    files = ROOT.glob("compat/**/*.py")
    rooms = {room(str(path.relative_to(ROOT))) for path in files if path.stat().st_size}
    assert set(floors) == rooms
