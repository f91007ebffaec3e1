"""Rules for which room may import which.

``nox -s lint`` checks the rules with ``python -m tests.floors``, and the tests check each rule by
itself.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "compat"

FLOORS = {
    **dict.fromkeys(("cli", "pytest_plugin"), 7),
    **dict.fromkeys(("board", "guard", "hunt", "init", "matrix", "new_releases"), 6),
    **dict.fromkeys(("report", "repro", "workflows"), 6),
    **dict.fromkeys(
        ("api", "bisect", "capturing", "explain", "fix", "launch", "pairs", "reduce", "tune"), 5
    ),
    **dict.fromkeys(("engine", "executors", "nox", "project", "store", "workers"), 4),
    **dict.fromkeys(("config", "guess", "history"), 3),
    "toolchains": 2,
    **dict.fromkeys(("bundle", "diagnosis", "envs", "source"), 1),
    **dict.fromkeys(("archives", "errors", "files", "interruption", "model"), 0),
    **dict.fromkeys(("processes", "text"), 0),
    "__init__": 6,  # imports only on first use: `compat.capture`
}
MAY_START_PROCESSES = {
    "subprocess": {"processes"},
    "multiprocessing": {"executors"},
    "pty": set[str](),
}
APART = {"worker", "pytorch", "inside"}
"""Folders whose code runs inside a foreign env, or in a library."""
_TORCH = frozenset({"torch"})
BESIDES = {
    **dict.fromkeys(("numerics", "host", "device"), _TORCH),
    **dict.fromkeys(("inductor", "probes"), _TORCH | {"triton"}),
}
"""What these folders may import besides the standard library; the default is ``triton``."""
WORKER_READERS = {"executors", "store", "workers"}
"""Rooms that may read what a worker left behind, with the worker's own code."""
ATTEMPTING = {
    "compat.workers.watch",
    "compat.workers.pool.WorkerPool",
    "compat.workers.client.Child",
}
MAY_ATTEMPT = {"executors/executor.py", "workers/watch.py", "workers/evidence.py"}
"""Modules that may use ``ATTEMPTING``, the code that has workers attempt cells.

All others use an executor: no feature may need what an executor somewhere else cannot do.
"""
ACTS = {
    "engine.run",
    "workers.spawn",
    "store.store",
    "workers.pool",
    "executors.executor.LocalExecutor",
    "workers.watch",
    "envs.building",
    "subprocess",
    "os",
    "files.TemporaryFolder",
}
DOORS = {
    "board": {"checking", "declaration", "gathering", "record", "running", "site", "view"},
    "api": {"comparing", "histories", "inspection", "records", "source_needs"},
    "bisect": {"answers", "bisecting", "candidates", "criterion", "judging", "request"},
    "capturing": {"capturing", "checking", "kernels"},
    "envs": {"cache", "inventory", "provider", "record"},
    "explain": {"CellOverview", "Explanation", "explain"},
    "fix": {"fix", "write_fix"},
    "guard": {
        *("Request", "check_guard", "guard_text", "make_guard", "read_configs", "read_guard"),
        "checking",
    },
    "hunt": {"defects", "examples", "hunting", "known_defects", "view"},
    "init": {"InitResult", "initialize"},
    "launch": {"archive", "building", "hosting", "merging", "sharing"},
    "matrix": {"MatrixInterrupted", "WrittenReport", "run_matrix", "update_reports"},
    "new_releases": {"add_releases", "new_releases"},
    "pairs": {"pairing", "records"},
    "reduce": {"candidate", "reduction"},
    "repro": {"records", "reproducing"},
    "tune": {"tuning"},
    "workflows": {"System"},
}
"""What the command line may use of each feature.

This is the feature itself, what it takes, and what it returns.
"""
WORDS = {
    *("__version__", "cli", "errors", "files", "interruption", "text"),
    *("model", "project", "report"),
}
"""What else the command line may use: errors, records, text, reports, and selections of cells."""
BEYOND = {
    "bisect.py": {"engine.run.Interrupted"},
    "check.py": {"history.account.Judgement"},
    "matrix.py": {"engine.run.RunContext"},
    "progress.py": {
        "engine.plan.Forecast",
        "engine.plan.RemainingWork",
        "workers.attempt.taking_longer_than",
    },
    "envs.py": {"workers.pool", "workers.pool.ResidentWorker"},
    "resources.py": {
        "config.matrix.MatrixConfig",
        "engine.run.RunContext",
        "executors.FORMS",
        "store.store.Store",
    },
    "selecting.py": {"config.kernel_files.is_file", "config.toml.LONGEST", "engine.plan.Shard"},
    "start.py": {"processes.supervisor", "workers.pool"},
}
"""What single commands may use in addition."""
DECIDES = (
    *(f"bisect/{name}.py" for name in ("search", "criterion", "perturbations", "answers")),
    *(
        f"reduce/{name}.py"
        for name in ("candidate", "expressions", "module", "search", "statements")
    ),
    *(f"api/{name}.py" for name in ("comparing", "histories", "needs", "records", "uses")),
    "fix/searching.py",
    "toolchains/language.py",
    "toolchains/triton/edits",
    "engine/plan.py",
    "history",
    "diagnosis",
)
"""Modules that only decide: they must not import anything of ``ACTS``."""


def modules() -> list[Path]:
    """The modules of the driver."""
    return [path for path in _everything() if not APART & set(path.relative_to(PACKAGE).parts)]


def foreign_modules() -> list[Path]:
    """The modules that run inside a foreign env."""
    return [path for path in _everything() if APART & set(path.relative_to(PACKAGE).parts)]


def deciding() -> list[Path]:
    """The modules of :data:`DECIDES`."""
    places = [PACKAGE / name for name in DECIDES]
    return sorted(
        path for place in places for path in (place.rglob("*.py") if place.is_dir() else [place])
    )


def commands() -> list[Path]:
    """The modules of the command line."""
    return sorted((PACKAGE / "cli").glob("*.py"))


def within(path: Path) -> str:
    """A module's place in the package."""
    return str(path.relative_to(PACKAGE))


def room(path: Path) -> str:
    """The room that a module belongs to, or is."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def imported(path: Path) -> tuple[str, ...]:
    """The modules that a module imports, and the names that it imports from them, dotted."""
    return tuple(_imported(path))


def rooms_imported(path: Path) -> set[str]:
    """The rooms that a module imports from."""
    return {
        name.split(".")[1]
        for name in imported(path)
        if name.startswith("compat.") and name.split(".")[1] != "__version__"
    }


def own_names(path: Path) -> set[str]:
    """The names that a module imports from this package, without the package's own name."""
    names = set[str]()
    for node in _imports(path):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        else:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.removeprefix("compat.") for name in names if name.startswith("compat.")}


def _imported(path: Path) -> Iterator[str]:
    for node in _imports(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def _everything() -> tuple[Path, ...]:
    return tuple(sorted(PACKAGE.rglob("*.py")))


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(path.read_text())


@cache
def _imports(path: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    return tuple(_imports_in(tree(path)))


def _imports_in(module: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    for node in statements_in(module):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node


def statements_in(module: ast.AST) -> Iterator[ast.AST]:
    """The statements of a tree. The search skips expressions, which are most of a tree."""
    waiting = [module]
    while waiting:
        node = waiting.pop()
        yield node
        for field in ("body", "handlers", "orelse", "finalbody", "cases"):
            waiting += getattr(node, field, ())


def upward() -> Iterator[str]:
    """Imports of a room on a higher floor."""
    for path in modules():
        here = room(path)
        for other in rooms_imported(path) - {here}:
            if other == "worker":
                if here not in WORKER_READERS:
                    yield f"{within(path)}: only {sorted(WORKER_READERS)} may read the worker"
            elif FLOORS[other] > FLOORS[here]:
                yield (
                    f"{within(path)}: {here} (floor {FLOORS[here]}) imports {other} (floor"
                    f" {FLOORS[other]})"
                )


def homeless() -> Iterator[str]:
    """Rooms without a floor, and floors without a room."""
    rooms = {room(path) for path in modules()}
    for name in sorted(rooms - set(FLOORS)):
        yield f"{name}: has no floor yet; give it one, here and in docs/architecture.md"
    for name in sorted(set(FLOORS) - rooms):
        yield f"{name}: has a floor, and is no room"


def relative() -> Iterator[str]:
    """Relative imports, which hide the floor that they lead to."""
    for path in modules():
        for node in _imports(path):
            if isinstance(node, ast.ImportFrom) and node.level:
                yield f"{within(path)}:{node.lineno}: a relative import hides its floor"


def circles() -> Iterator[str]:
    """Rooms of one floor that import each other."""
    graph = {here: set[str]() for here in FLOORS}
    for path in modules():
        graph[room(path)] |= rooms_imported(path) - {room(path), "worker"}
    done: set[str] = set()
    while free := [here for here in graph if here not in done and graph[here] <= done]:
        done.update(free)
    if circle := sorted(set(graph) - done):
        yield f"{', '.join(circle)}: import each other in a circle"


def acting() -> Iterator[str]:
    """Imports from ``ACTS`` by a module that only decides."""
    for path in deciding():
        for name in sorted({name.removeprefix("compat.") for name in imported(path)}):
            if any(name == act or name.startswith(f"{act}.") for act in ACTS):
                yield f"{within(path)}: decides, and imports {name}"


def starting() -> Iterator[str]:
    """Imports of Python modules that start processes, outside of the rooms that may use them."""
    for path in modules():
        for module, rooms in MAY_START_PROCESSES.items():
            if module in imported(path) and room(path) not in rooms:
                yield f"{within(path)}: imports {module}"


def attempting() -> Iterator[str]:
    """Imports of code that has a worker attempt cells, outside of the executors."""
    for path in modules():
        for name in sorted(ATTEMPTING & set(imported(path))):
            if within(path) not in MAY_ATTEMPT:
                yield f"{within(path)}: imports {name}; a feature asks an executor"


def foreign() -> Iterator[str]:
    """Imports by code inside environments besides the standard library and its toolchain."""
    for path in foreign_modules():
        allowed = BESIDES.get(
            path.parent.name,
            {"cutlass", "cuda"} if "cute" in path.relative_to(PACKAGE).parts else {"triton"},
        )
        for node in _imports_in(ast.parse(path.read_text(), feature_version=(3, 8))):
            match node:
                case ast.Import(names=aliases):
                    names = [alias.name for alias in aliases]
                case ast.ImportFrom(module=str(module), level=0):
                    names = [module]
                case _:
                    continue
            for name in names:
                if name.split(".", maxsplit=1)[0] not in sys.stdlib_module_names | allowed:
                    yield f"{within(path)}: imports {name}"


def below_features() -> Iterator[str]:
    """Imports by the command line besides features and ``WORDS``, and exceptions without a use."""
    for path in commands():
        besides = set[str]()
        for name in own_names(path):
            first, _, rest = name.partition(".")
            if first in DOORS:
                if rest and rest.split(".", maxsplit=1)[0] not in DOORS[first]:
                    yield f"{within(path)}: {name} is inside of a feature"
            elif first not in WORDS:
                besides.add(name)
        allowed = BEYOND.get(path.name, set())
        for name in sorted(besides - allowed):
            yield f"{within(path)}: imports {name}, which no feature is"
        for name in sorted(allowed - besides):
            yield f"{within(path)}: no longer imports {name}; take it out of BEYOND"


RULES = (
    homeless,
    upward,
    relative,
    circles,
    acting,
    starting,
    attempting,
    foreign,
    below_features,
)


def main() -> int:
    """Print each import that breaks a rule. Returns the exit code."""
    breaches = [breach for rule in RULES for breach in rule()]
    for breach in breaches:
        print(breach, file=sys.stderr)
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
