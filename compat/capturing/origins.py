"""The origin of a captured kernel: its library or project, and its modules' questions.

A question is a check that a module makes during its import, such as of the release. A kernel file
may refer to a kernel in its own source. Then every release imports the kernel again, and its
modules ask their questions again. A bundle has the answers, and asks nothing.
"""

from __future__ import annotations

import ast
import importlib.metadata
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from attrs import frozen
from packaging.utils import canonicalize_name

from compat.bundle.frozen import FrozenDefinition
from compat.envs.libraries import unpack_library
from compat.errors import EnvError
from compat.source.closure import roots_of
from compat.source.imports import file_of
from compat.source.parsing import defined_names, text_of, tree_of, uses
from compat.text import shorten

_INSTALLED = ("site-packages", "dist-packages")


@frozen(kw_only=True)
class LiveKernel:
    """The source of a kernel that a kernel file can refer to."""

    source: Path
    """The file: of the library as unpacked from the package index, or else of the program."""
    root: Path
    """The folder that its module is imported from."""
    module: str
    function: str
    package: str = ""
    """The library of the package index, with its version; empty for a file of the user's own."""


class NotLive(Exception):
    """A kernel file cannot refer to a kernel in its own source. The message says why."""


def live(function: FrozenDefinition, library: Callable[[str], Path] = unpack_library) -> LiveKernel:
    """The source of a kernel's function.

    ``library`` unpacks a requirement. Raises NotLive if a kernel file cannot refer to the source.
    """
    if function.module == "__main__" or function.module.endswith(".py"):  # the recorder's names
        raise NotLive(
            "it is part of the program itself, and importing it would run the program again"
        )
    if "<locals>" in function.qualname:
        raise NotLive("a function created it at run time")
    file = Path(os.path.realpath(function.file)) if function.file else None
    if file is None or not file.is_file():
        raise NotLive("its file is missing")
    is_decorated = function.kind == "class" or function.source.startswith("@")
    if not is_decorated:  # `kernel = triton.jit(function)`
        raise NotLive("a call makes it a kernel, perhaps under another name")
    root = _root(file, function.module)
    live_ = LiveKernel(source=file, root=root, module=function.module, function=function.qualname)
    return _of_library(live_, library) if root.name in _INSTALLED else live_


def _root(file: Path, module: str) -> Path:
    """The folder from which an import of the module finds this file. Raises NotLive."""
    parts = module.split(".")
    place = file.parent if file.name == "__init__.py" else file.with_suffix("")
    if list(place.parts[-len(parts) :]) != parts or (
        len(parts) == 1 and roots_of(file) != (place.parent,)
    ):
        raise NotLive(f"its file is not where its module {module} would be found")
    return place.parents[len(parts) - 1]


def _of_library(live_function: LiveKernel, library: Callable[[str], Path]) -> LiveKernel:
    """The source in the library from the package index. Raises NotLive if the file differs."""
    inside = live_function.source.relative_to(live_function.root)
    requirement = _distributions(live_function.root).get(inside.as_posix())
    if requirement is None:
        raise NotLive("no installed distribution lists its file")
    try:
        folder = library(requirement)
    except EnvError as error:
        raise NotLive(str(error)) from error
    source = folder / inside
    if not source.is_file() or source.read_bytes() != live_function.source.read_bytes():
        raise NotLive(f"its file differs from {requirement} on the package index")
    return LiveKernel(
        source=source,
        root=folder,
        module=live_function.module,
        function=live_function.function,
        package=requirement,
    )


@lru_cache(maxsize=16)
def _distributions(root: Path) -> dict[str, str]:
    """File below a folder → the distribution that installed it, with its version."""
    return {
        file: f"{canonicalize_name(name)}=={distribution.version}"
        for distribution in importlib.metadata.distributions(path=[str(root)])
        if (name := distribution.metadata["Name"])
        for file in _python_files(distribution)
    }


def _python_files(distribution: importlib.metadata.Distribution) -> Iterator[str]:
    yield from (file.as_posix() for file in distribution.files or () if file.suffix == ".py")


# --- questions ------------------------------------------------------------------------------------

_ASKS = frozenset(
    {
        "__version__",
        "hasattr",
        "find_spec",
        "Version",
        "parse_version",
        "version_info",
        "get_device_capability",
        "getattr",
        "get_device_properties",
        "get_current_target",
        "get_device_name",
        "environ",
        "getenv",
    }
)
_LONGEST = 80
_DEPTH = 4
"""The most modules through which a name is followed."""


@frozen(kw_only=True)
class ImportQuestion:
    """A question that was answered while a module was imported, and that a kernel depends on."""

    module: str
    line: int
    text: str
    """The text of the line."""

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.text}"

    def place(self) -> tuple[str, int]:
        """The key to sort questions by."""
        return self.module, self.line


def import_questions(module: str, path: Path, used: Collection[str]) -> tuple[ImportQuestion, ...]:
    """The questions that the meanings of a module's global names depend on.

    They include the questions of modules that it imports the names from. Files that cannot be read
    have none.
    """
    return tuple(
        sorted(
            {question for name in used for question in about(module, path, name)},
            key=ImportQuestion.place,
        )
    )


@lru_cache(maxsize=8192)
def about(module: str, path: Path, name: str, depth: int = 0) -> tuple[ImportQuestion, ...]:
    """The questions that the meaning of one name depends on."""
    questions = tuple(
        ImportQuestion(module=module, line=statement.line, text=statement.text)
        for statement in _statements_in(path)
        if name in statement.binds
        and (
            statement.asks
            or _depends(module, path, statement.condition_names - statement.binds, depth)
        )
    )
    source = _imports_in(path).get(name)
    if questions or source is None or depth >= _DEPTH:
        return questions
    there, name_there = source
    place = _file_of(_absolute(module, path, there), module, path)
    return about(_absolute(module, path, there), place, name_there, depth + 1) if place else ()


def _depends(module: str, path: Path, names: frozenset[str], depth: int) -> bool:
    """Whether one of these names depends on a question."""
    return depth < _DEPTH and any(about(module, path, word, depth + 1) for word in sorted(names))


def _absolute(module: str, path: Path, there: tuple[int, str]) -> str:
    """The absolute name of a module that is imported by a relative name."""
    level, name = there
    if not level:
        return name
    parts = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    return ".".join([*parts[: len(parts) - level + 1], *([name] if name else [])])


def _file_of(target_module: str, module: str, path: Path) -> Path | None:
    """The file of a module in the same tree as another module; ``None`` if it is not there."""
    depth = module.count(".") + (path.name == "__init__.py")
    if not target_module or depth >= len(path.parents):
        return None
    return file_of(path.parents[depth].joinpath(*target_module.split(".")))


@lru_cache(maxsize=1024)
def _imports_in(path: Path) -> Mapping[str, tuple[tuple[int, str], str]]:
    """Name → the module that a file imports it from, and its name there."""
    try:
        tree = tree_of(text_of(path), path.name)
    except (OSError, SyntaxError):
        return {}
    nodes = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {
        alias.asname or alias.name: ((node.level, node.module or ""), alias.name)
        for node in nodes
        for alias in node.names
    }


@frozen(kw_only=True)
class _Statement:
    """A statement of a module that may bind names and is neither a definition nor an import."""

    line: int
    text: str
    binds: frozenset[str]
    condition_names: frozenset[str]
    """The names in the condition or the value that decides the meaning."""
    asks: bool
    """Whether the statement itself asks a question."""


@lru_cache(maxsize=1024)
def _statements_in(path: Path) -> tuple[_Statement, ...]:
    try:
        text = text_of(path)
        tree = tree_of(text, path.name)
    except (OSError, SyntaxError):
        return ()
    return tuple(_statements(tree, text.split("\n")))


def _statements(tree: ast.Module, lines: Sequence[str]) -> Iterator[_Statement]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
            continue
        tokens = _tested_names(node)
        asks = bool(tokens & _ASKS) or (
            isinstance(node, ast.Try)
            and any(_is_import_error(handler.type) for handler in node.handlers)
        )
        text = shorten(lines[node.lineno - 1].strip(), _LONGEST)
        yield _Statement(
            line=node.lineno,
            text=text,
            binds=defined_names(node),
            condition_names=tokens,
            asks=asks,
        )


def _tested_names(node: ast.stmt) -> frozenset[str]:
    """The names and attributes in the test of an ``if``, or in an assigned value."""
    question: ast.AST | None = (
        node.test if isinstance(node, ast.If) else getattr(node, "value", None)
    )
    nodes = ast.walk(question) if question is not None else ()
    return frozenset(
        word
        for node_ in nodes
        for word in (getattr(node_, "id", None), getattr(node_, "attr", None))
        if word
    )


def _is_import_error(kind: ast.expr | None) -> bool:
    names = {getattr(node, "id", "") for node in ast.walk(kind)} if kind is not None else set()
    return bool(names & {"ImportError", "ModuleNotFoundError", "AttributeError"})


def names_used(
    kernel: Iterable[str], functions: Mapping[str, FrozenDefinition]
) -> dict[str, set[str]]:
    """Module → its global names that these functions use."""
    names: dict[str, set[str]] = {}
    for function_id in kernel:
        function = functions[function_id]
        if not function.error:
            # The decorators count, because a condition may choose the meanings of their names.
            node = tree_of(function.source).body[0]
            names.setdefault(function.module, set()).update(use.name for use in uses(node))
    return names
