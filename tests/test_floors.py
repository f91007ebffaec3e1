"""Imports go downward only, the worker imports nothing of ours, and what ends, forks or prints
stands where it belongs.
"""

from __future__ import annotations

import ast
import re
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from click import Context

from compat.cli.commands import main

PACKAGE = Path(__file__).parent.parent / "compat"

FLOORS = {
    **dict.fromkeys(("cli", "pytest_plugin"), 7),
    **dict.fromkeys(("guard", "init", "matrix", "report", "repro", "workflows"), 6),
    **dict.fromkeys(
        ("api", "bisect", "capturing", "explain", "fix", "launch", "pairs", "reduce"), 5
    ),
    **dict.fromkeys(("engine", "executors", "nox", "project", "store", "workers"), 4),
    **dict.fromkeys(("config", "guess", "history"), 3),
    "toolchains": 2,
    **dict.fromkeys(("bundle", "diagnosis", "envs", "source"), 1),
    **dict.fromkeys(("archives", "errors", "files", "interruption", "model"), 0),
    **dict.fromkeys(("processes", "text"), 0),
    "__init__": 6,  # only what is imported when it is asked for: `compat.capture`
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
"""What they import besides the standard library; ``triton`` where nothing else is said."""
WORKER_READERS = {"executors", "store", "workers"}
"""Who may read what a worker left behind with the worker's own code."""
PLACES = {
    "os.fork": {"toolchains/pytorch/host/forked.py", "worker/server.py"},
    "os._exit": {
        *("cli/start.py", "toolchains/pytorch/host/forked.py"),
        *("worker/__main__.py", "worker/batch.py", "worker/server.py"),
    },
    **{
        name: set[str]()
        for name in ("os.forkpty", "os.system", "os.popen", "os.posix_spawn", "os.posix_spawnp")
    },
}
"""What starts or ends a process past everything that tidies up, and the modules that have reason
to.
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
    "api": {"comparing", "histories", "looking", "records", "sourcing"},
    "bisect": {"bisecting", "candidates", "criterion", "judging", "request"},
    "capturing": {"capturing", "checking", "kernels"},
    "envs": {"cache", "inventory", "provider", "record"},
    "explain": {"CellOverview", "Explanation", "explain"},
    "fix": {"fix", "write_fix"},
    "guard": {"Request", "check_guard", "guard_text", "make_guard", "read_guard", "checking"},
    "init": {"Initialized", "initialize"},
    "launch": {"archive", "building", "hosting", "merging", "sharing"},
    "matrix": {"MatrixInterrupted", "Written", "run_matrix", "update_reports"},
    "pairs": {"pairing", "records"},
    "reduce": {"candidate", "reduction"},
    "repro": {"records", "reproducing"},
    "workflows": {"System"},
}
"""What of a feature the command line may call: the feature itself, what it takes, and what it
returns.
"""
WORDS = {
    *("__version__", "cli", "errors", "files", "interruption", "text"),
    *("model", "project", "report"),
}
"""What else it may use: errors, records, text, reports, and which cells are meant."""
BEYOND = {
    "bisect.py": {"engine.run.Interrupted"},
    "check.py": {"history.account.Judgement"},
    "progress.py": {"workers.attempt.taking_longer_than"},
    "envs.py": {"workers.pool", "workers.pool.ResidentWorker"},
    "opening.py": {
        "config.matrix.MatrixConfig",
        "engine.run.RunContext",
        "executors.EXECUTORS",
        "executors.LOCAL",
        "store.store.Store",
    },
    "selecting.py": {"config.kernel_files.is_file", "config.toml.LONGEST", "engine.plan.Shard"},
    "start.py": {"processes.supervisor", "workers.pool"},
}
"""What single commands may use besides."""
STATEMENTS = 20
"""Statements that a function of the command line may have, without its imports."""
MODULE_STATEMENTS = 200
"""Statements that a module of it may have. Lines would depend on their width."""
DECIDES = (
    *(f"bisect/{name}.py" for name in ("search", "criterion", "perturbations", "answers")),
    *(
        f"reduce/{name}.py"
        for name in ("candidate", "expressions", "module", "search", "statements")
    ),
    *(f"api/{name}.py" for name in ("comparing", "histories", "needing", "records", "uses")),
    "fix/searching.py",
    "toolchains/language.py",
    "toolchains/triton/edits",
    "engine/plan.py",
    "history",
    "diagnosis",
)
"""What decides, and touches nothing."""


def modules() -> list[Path]:
    return sorted(
        path for path in PACKAGE.rglob("*.py") if not APART & set(path.relative_to(PACKAGE).parts)
    )


def foreign_modules() -> list[Path]:
    """Those that run inside a foreign env."""
    return sorted(
        path for path in PACKAGE.rglob("*.py") if APART & set(path.relative_to(PACKAGE).parts)
    )


def within(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def room(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


@cache
def imported(path: Path) -> tuple[str, ...]:
    return tuple(_imported(path))


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide which floor they lead to"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def rooms_imported(path: Path) -> set[str]:
    return {
        name.split(".")[1]
        for name in imported(path)
        if name.startswith("compat.") and name.split(".")[1] != "__version__"
    }


def test_imports_go_down() -> None:
    for path in modules():
        here = room(path)
        assert here in FLOORS, (
            f"{here} has no floor yet: give it one, here and in docs/architecture.md"
        )
        for other in rooms_imported(path) - {here}:
            if other == "worker":
                assert here in WORKER_READERS, within(path)
            else:
                assert FLOORS[other] <= FLOORS[here], (
                    f"{here} (floor {FLOORS[here]}) imports {other} (floor {FLOORS[other]})"
                )


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


def deciding() -> list[Path]:
    found = [PACKAGE / name for name in DECIDES]
    return sorted(
        path for each in found for path in (each.rglob("*.py") if each.is_dir() else [each])
    )


def test_what_decides_touches_nothing() -> None:
    for path in deciding():
        names = {name.removeprefix("compat.") for name in imported(path)}
        assert not {
            name for name in names for act in ACTS if name == act or name.startswith(f"{act}.")
        }, within(path)


def test_nothing_is_read_with_pickle() -> None:
    """What is unpickled can run code. Dask's messages are pickles, and Dask reads those."""
    for path in modules():
        assert not {"pickle", "shelve", "dill", "cloudpickle"} & set(imported(path)), within(path)


def test_one_room_starts_processes() -> None:
    for path in modules():
        for module, rooms in MAY_START_PROCESSES.items():
            assert module not in imported(path) or room(path) in rooms, within(path)


def test_only_the_local_executor_has_workers_attempt_cells() -> None:
    """All others go through the seam: what an executor somewhere else cannot do, no feature may
    need.
    """
    reach = {
        "compat.workers.watch",
        "compat.workers.pool.WorkerPool",
        "compat.workers.client.Child",
    }
    users = {str(path.relative_to(PACKAGE)) for path in modules() if reach & set(imported(path))}
    assert users == {"executors/executor.py", "workers/watch.py", "workers/evidence.py"}


@cache
def used(path: Path) -> set[str]:
    """The names that a module uses, dotted and as they are called where they come from, whatever it
    calls them itself.
    """
    tree = ast.parse(path.read_text())
    meant = dict[str, str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            meant |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom):
            meant |= {
                alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names
            }
    names = set(meant.values())
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name):
                names.add(meant.get(name, name))
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                names.add(f"{meant.get(name, name)}.{attribute}")
    return names


@cache
def raised(path: Path) -> set[str]:
    """The exceptions that a module raises, by the names it has for them."""
    found = set[str]()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Raise) and node.exc is not None:
            found.add(ast.unparse(node.exc.func if isinstance(node.exc, ast.Call) else node.exc))
    return found


def test_only_the_command_line_prints_or_exits() -> None:
    for path in sorted(PACKAGE.rglob("*.py")):
        if room(path) == "cli":
            continue
        names = used(path)
        # There it is nox that ends.
        assert room(path) == "nox" or not {"exit", "quit", "sys.exit"} & names, within(path)
        assert "SystemExit" not in raised(path), within(path)
        assert not {"print", "rich.print", "rich.get_console"} & names, within(path)
        assert not any(name == "click" or name.startswith("click.") for name in names), within(path)
        # The worker's output is a file of the driver's, which it flushes and hands to its children.
        assert room(path) == "worker" or not {"sys.stdout", "sys.__stdout__"} & names, within(path)


@pytest.mark.parametrize("name", PLACES)
def test_what_forks_or_leaves_at_once_stands_in_few_places(name: str) -> None:
    assert {
        str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if name in used(path)
    } == PLACES[name]


def test_the_worker_needs_the_standard_library_and_a_toolchain() -> None:
    for path in foreign_modules():
        allowed = BESIDES.get(
            path.parent.name,
            {"cutlass", "cuda"} if "cute" in path.relative_to(PACKAGE).parts else {"triton"},
        )
        for node in ast.walk(ast.parse(path.read_text(), feature_version=(3, 8))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            for name in names:
                assert name.split(".")[0] in sys.stdlib_module_names | allowed, (
                    f"{path.name} imports {name}"
                )


def test_only_one_module_parses_python() -> None:
    """It does so in one thread at a time, as Python 3.11 needs it.

    ``ast.literal_eval`` is given a tree, not a text.
    """
    for path in modules():
        parses = {
            node.attr
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "ast"
            and node.attr == "parse"
        }
        assert not parses, within(path)


# --- the command line -----------------------------------------------------------------------------


def commands() -> list[Path]:
    return sorted((PACKAGE / "cli").glob("*.py"))


def taken(path: Path) -> set[str]:
    """The names that a module imports from this package, dotted, without the package's own."""
    found = set[str]()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.removeprefix("compat.") for name in found if name.startswith("compat.")}


def test_the_command_line_calls_features_and_nothing_below_them() -> None:
    """A name that is allowed to one module and that it does not use any more has to go from the
    list, too.
    """
    for path in commands():
        besides = set[str]()
        for name in taken(path):
            first, _, rest = name.partition(".")
            if first in DOORS:
                assert not rest or rest.split(".")[0] in DOORS[first], (
                    f"{name} is inside of a feature"
                )
            elif first not in WORDS:
                besides.add(name)
        assert besides == BEYOND.get(path.name, set()), within(path)


def test_a_command_has_little_to_do() -> None:
    for path in commands():
        nodes = [*ast.walk(ast.parse(path.read_text()))]
        size = sum(isinstance(node, ast.stmt) for node in nodes)
        assert size <= MODULE_STATEMENTS, f"{within(path)} has {size} statements"
        for node in nodes:
            if isinstance(node, ast.FunctionDef):
                statements = (
                    sum(
                        isinstance(each, ast.stmt) and not isinstance(each, ast.ImportFrom)
                        for each in ast.walk(node)
                    )
                    - 1
                )
                assert statements <= STATEMENTS, (
                    f"{node.name} has {statements} statements: what it finds out belongs to a"
                    " feature"
                )


def test_features_know_no_terminal() -> None:
    for path in modules():
        if room(path) in ("cli", "nox"):  # there it is nox that talks
            continue
        names = used(path)
        assert path.name == "terminal.py" or not any(
            name == "rich" or name.startswith("rich.") for name in names
        ), within(path)
        assert not {"sys.argv", "sys.stderr", "input"} & names, within(path)


def rooms() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("__init__.py") if path.parent.parent == PACKAGE)


def test_a_room_says_what_comes_in_and_what_goes_out() -> None:
    for path in rooms():
        said = ast.get_docstring(ast.parse(path.read_text())) or ""
        assert path.parent.name == "worker" or ("In: " in said and "Out: " in said), within(path)


@pytest.mark.parametrize("name", ["matrix.py", "project.py", "explain.py", "init.py"])
def test_so_does_a_feature_that_is_one_module(name: str) -> None:
    said = ast.get_docstring(ast.parse((PACKAGE / name).read_text())) or ""
    assert "In: " in said
    assert "Out: " in said


# --- toolchains -----------------------------------------------------------------------------------

COMPILER_WORDS = re.compile(
    r"triton(?!-compat|_compat)|\btorch\b|mlir|llvm|\bcuda\b|ptxas|cubin|ttgir|\bsm_\d+"
)
MOST_COMPILER_WORDS = 39
"""How often such words stand in names and texts outside of the toolchains' own rooms.

Lower it when it falls.
"""


def compiler_words(path: Path) -> list[str]:
    """The words of one compiler in a module's names and strings.

    Docstrings and comments may speak of it.
    """
    with path.open("rb") as file:
        tokens = [
            token
            for token in tokenize.tokenize(file.readline)
            if token.type in (tokenize.NAME, tokenize.STRING)
        ]
    texts = (
        token.string.lower() for token in tokens if not token.string.startswith(('"""', "'''"))
    )
    return [word for text in texts for word in COMPILER_WORDS.findall(text)]


def test_a_compilers_words_stay_in_its_own_room() -> None:
    everything = sorted(PACKAGE.rglob("*.py"))
    outside = [
        path
        for path in everything
        if not (room(path) == "toolchains" and len(path.relative_to(PACKAGE).parts) > 2)
    ]
    counts = {within(path): len(words) for path in outside if (words := compiler_words(path))}
    assert sum(counts.values()) <= MOST_COMPILER_WORDS, sorted(
        counts.items(), key=lambda item: -item[1]
    )


# --- what the architecture says -------------------------------------------------------------------


def test_the_code_of_every_command_is_where_the_architecture_says() -> None:
    text = (PACKAGE.parent / "docs" / "architecture.md").read_text()
    rows = re.findall(
        r"^\| `(\w+)` \| (.+)$",
        text.partition("## Where a command's code is")[2].partition("\n## ")[0],
        re.MULTILINE,
    )
    assert [name for name, _ in rows] == main.list_commands(Context(main))
    paths = [path for _, said in rows for path in re.findall(r"`([\w/]+(?:/|\.py))`", said)]
    assert [path for path in paths if not (PACKAGE / path).exists()] == []
