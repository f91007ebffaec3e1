"""Imports follow the rules of the floors, and only the right modules exit, fork or print."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from click import Context

from compat.cli.commands import main
from compat.source.parsing import walk
from tests import floors
from tests.floors import PACKAGE, commands, modules, room, within
from tests.together import for_each

PLACES = {
    "os.fork": {"toolchains/pytorch/host/forked_process.py", "worker/server.py"},
    "os._exit": {
        *("cli/start.py", "toolchains/pytorch/host/forked_process.py"),
        *("worker/__main__.py", "worker/batch.py", "worker/server.py"),
    },
    **{
        name: set[str]()
        for name in ("os.forkpty", "os.system", "os.popen", "os.posix_spawn", "os.posix_spawnp")
    },
}
"""Functions that start or end a process without any cleanup, and the modules that may use them."""
STATEMENTS = 20
"""The most statements of a function of the command line, without its imports."""
MODULE_STATEMENTS = 200
"""The most statements of a module of the command line. Lines would depend on their width."""


@for_each("rule", floors.RULES)
def test_imports_follow_the_rules(rule: Callable[[], Iterator[str]]) -> None:
    assert list(rule()) == []


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a module's syntax tree, except contexts."""
    return tuple(walk(floors.tree(path)))


@cache
def used(path: Path) -> set[str]:
    """The names that a module uses, dotted and as the module that they come from calls them.

    An alias counts as the name that it stands for.
    """
    meant = dict[str, str]()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            meant |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom):
            meant |= {
                alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names
            }
    names = set(meant.values())
    for node in nodes(path):
        match node:
            case ast.Name(id=name):
                names.add(meant.get(name, name))
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                names.add(f"{meant.get(name, name)}.{attribute}")
    return names


@cache
def raised(path: Path) -> set[str]:
    """The exceptions that a module raises, by the names that it uses for them."""
    exceptions = set[str]()
    for node in nodes(path):
        if isinstance(node, ast.Raise) and node.exc is not None:
            exceptions.add(
                ast.unparse(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)
            )
    return exceptions


def test_only_the_command_line_prints_or_exits() -> None:
    for path in sorted(PACKAGE.rglob("*.py")):
        if room(path) == "cli":
            continue
        names = used(path)
        # In that room, nox exits.
        assert room(path) == "nox" or not {"exit", "quit", "sys.exit"} & names, within(path)
        assert "SystemExit" not in raised(path), within(path)
        assert not {"print", "rich.print", "rich.get_console"} & names, within(path)
        assert not any(name == "click" or name.startswith("click.") for name in names), within(path)
        # The worker's output is a file of the driver. The worker flushes it, and passes it to its
        # children.
        assert room(path) == "worker" or not {"sys.stdout", "sys.__stdout__"} & names, within(path)


@for_each("name", PLACES)
def test_only_listed_modules_fork_or_exit_at_once(name: str) -> None:
    assert {
        str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if name in used(path)
    } == PLACES[name]


def test_no_module_imports_pickle() -> None:
    """Unpickling can run code. Dask's messages are pickles, and Dask itself reads them."""
    for path in modules():
        names = {name.partition(".")[0] for name in floors.imported(path)}
        assert not {"pickle", "shelve", "dill", "cloudpickle"} & names, within(path)


def test_only_one_module_parses_python() -> None:
    """That module parses in one thread at a time, as Python 3.11 requires.

    The modules pass a tree to ``ast.literal_eval``, not a text.
    """
    for path in modules():
        parses = {
            node.attr
            for node in nodes(path)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "ast"
            and node.attr == "parse"
        }
        assert not parses, within(path)


# --- the command line -----------------------------------------------------------------------------


def test_commands_and_their_functions_are_short() -> None:
    for path in commands():
        size = sum(isinstance(node, ast.stmt) for node in nodes(path))
        assert size <= MODULE_STATEMENTS, f"{within(path)} has {size} statements"
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef):
                statements = (
                    sum(
                        isinstance(child, ast.stmt) and not isinstance(child, ast.ImportFrom)
                        for child in ast.walk(node)
                    )
                    - 1
                )
                assert statements <= STATEMENTS, (
                    f"{node.name} has {statements} statements: what it finds out belongs to a"
                    " feature"
                )


def test_features_do_not_use_the_terminal() -> None:
    for path in modules():
        if room(path) in ("cli", "nox"):  # in that room, nox prints
            continue
        names = used(path)
        assert path.name == "terminal.py" or not any(
            name == "rich" or name.startswith("rich.") for name in names
        ), within(path)
        assert not {"sys.argv", "sys.stderr", "input"} & names, within(path)


def rooms() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("__init__.py") if path.parent.parent == PACKAGE)


def test_the_docstring_of_a_room_says_what_comes_in_and_goes_out() -> None:
    for path in rooms():
        docstring = ast.get_docstring(floors.tree(path)) or ""
        assert path.parent.name == "worker" or ("In: " in docstring and "Out: " in docstring), (
            within(path)
        )


@pytest.mark.parametrize("name", ["matrix.py", "project.py", "explain.py", "init.py"])
def test_the_docstring_of_a_feature_says_what_comes_in_and_goes_out(name: str) -> None:
    docstring = ast.get_docstring(floors.tree(PACKAGE / name)) or ""
    assert "In: " in docstring
    assert "Out: " in docstring


# --- toolchains -----------------------------------------------------------------------------------

COMPILER_WORDS = re.compile(
    r"triton(?!-compat|_compat)|\btorch\b|mlir|llvm|\bcuda\b|ptxas|cubin|ttgir|\bsm_\d+"
)
MOST_COMPILER_WORDS = 39
"""The most such words in names and texts outside of the toolchains' own rooms.

Lower it when the count falls.
"""


def compiler_words(path: Path) -> list[str]:
    """The words of one compiler in a module's names and strings.

    Docstrings and comments may contain them.
    """
    if not COMPILER_WORDS.search(path.read_text().lower()):
        return []
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


def test_words_of_a_compiler_outside_of_its_room_do_not_increase() -> None:
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
    paths = [path for _, places in rows for path in re.findall(r"`([\w/]+(?:/|\.py))`", places)]
    assert [path for path in paths if not (PACKAGE / path).exists()] == []
