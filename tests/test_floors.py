"""Imports go downward only, and the worker imports nothing of ours."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "compat"

FLOORS = {
    "cli": 6,
    **dict.fromkeys(("report", "repro"), 5),
    **dict.fromkeys(("run", "axes"), 4),
    **dict.fromkeys(("search", "reduce"), 3),
    **dict.fromkeys(("envs", "engine"), 2),
    **dict.fromkeys(("config", "source", "index", "evidence", "store"), 1),
    **dict.fromkeys(("model", "answers", "errors", "files", "__init__"), 0),
}
MAY_START_PROCESSES = {"envs", "engine"}
WORKER_READERS = {"evidence"}
"""Who may read what a worker left behind with the worker's own code."""


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "worker" not in path.relative_to(PACKAGE).parts)


def room(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide which floor they lead to"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def rooms_imported(path: Path) -> set[str]:
    return {name.split(".")[1] for name in imported(path) if name.startswith("compat.") and name.split(".")[1] != "__version__"}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down(path: Path) -> None:
    here = room(path)
    assert here in FLOORS, f"{here} has no floor yet: give it one, here and in docs/architecture.md"
    for other in rooms_imported(path) - {here}:
        if other == "worker":
            assert here in WORKER_READERS
        else:
            assert FLOORS[other] <= FLOORS[here], f"{here} (floor {FLOORS[here]}) imports {other} (floor {FLOORS[other]})"


def test_no_floor_is_made_up() -> None:
    rooms = {room(path) for path in modules()}
    assert set(FLOORS) == rooms


def test_floors_below_have_no_circles() -> None:
    graph = {here: set[str]() for here in FLOORS}
    for path in modules():
        graph[room(path)] |= rooms_imported(path) - {room(path), "worker"}
    done: list[str] = []
    while len(done) < len(graph):
        free = [here for here in graph if here not in done and graph[here] <= set(done)]
        assert free, f"a circle among {sorted(set(graph) - set(done))}"
        done += free


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_two_modules_start_processes(path: Path) -> None:
    starts = {"subprocess", "multiprocessing", "pty"} & set(imported(path))
    assert not starts or room(path) in MAY_START_PROCESSES


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_command_line_prints_or_exits(path: Path) -> None:
    called = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert room(path) == "cli" or not {"print", "exit", "quit"} & called
    assert room(path) == "cli" or "click" not in imported(path)


@pytest.mark.parametrize("path", sorted((PACKAGE / "worker").glob("*.py")), ids=lambda path: path.name)
def test_the_worker_needs_the_standard_library_and_a_toolchain(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(), feature_version=(3, 8))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        for name in names:
            assert name.split(".")[0] in sys.stdlib_module_names | {"triton"}, f"{path.name} imports {name}"
