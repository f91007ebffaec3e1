"""What a kernel's modules asked while they were imported, such as for the release: a bundle has the answers, and asks no more."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from attrs import frozen

from compat.bundle.parsing import text_of, tree_of
from compat.bundle.scopes import bound_by

_ASKS = frozenset({"__version__", "hasattr", "find_spec", "Version", "parse_version", "version_info", "get_device_capability"})
_ASKS |= {"getattr", "get_device_properties", "get_current_target", "get_device_name", "environ", "getenv"}
_LONGEST = 80


@frozen(kw_only=True)
class Asked:
    """A question that was answered while a module was imported, and that a kernel depends on."""

    module: str
    line: int
    text: str
    """The line."""

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.text}"


def asked(module: str, path: Path, used: Collection[str]) -> tuple[Asked, ...]:
    """The questions of a module that what these global names of it mean depends on. None where the file cannot be read."""
    found = [(line, text) for line, text, names in _questions_in(path) if names & set(used)]
    return tuple(Asked(module=module, line=line, text=text) for line, text in sorted(found))


@lru_cache(maxsize=1024)
def _questions_in(path: Path) -> tuple[tuple[int, str, frozenset[str]], ...]:
    """The lines of a file that ask, with the names that depend on what they hear."""
    try:
        text = text_of(path)
        tree = tree_of(text, path.name)
    except (OSError, SyntaxError):
        return ()
    lines = text.split("\n")
    return tuple((node.lineno, _shown(lines[node.lineno - 1]), frozenset(names)) for node, names in _questions(tree))


def _shown(line: str) -> str:
    line = line.strip()
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _questions(tree: ast.Module) -> Iterator[tuple[ast.stmt, set[str]]]:
    """Statements of a module that ask, and the names that depend on what they hear."""
    asking: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
            continue
        names = set(bound_by(node))
        if _asks(node, asking):
            asking |= dict.fromkeys(names, node)
            yield node, names


def _asks(node: ast.stmt, asking: Mapping[str, ast.stmt]) -> bool:
    if isinstance(node, ast.Try):
        return any(_is_import_error(handler.type) for handler in node.handlers)
    question: ast.AST | None = node.test if isinstance(node, ast.If) else getattr(node, "value", None)
    if question is None:
        return False
    words = {word for each in ast.walk(question) for word in (getattr(each, "id", None), getattr(each, "attr", None)) if word}
    return bool(words & _ASKS) or bool(words & asking.keys())


def _is_import_error(kind: ast.expr | None) -> bool:
    names = {getattr(each, "id", "") for each in ast.walk(kind)} if kind is not None else set()
    return bool(names & {"ImportError", "ModuleNotFoundError", "AttributeError"})
