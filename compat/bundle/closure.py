"""A kernel's Python source, read as text: what it defines and which files beside it it imports.

The driver never imports a kernel. What must be known of its source is known from the syntax tree.
"""

from __future__ import annotations

import ast
import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from attrs import define, field, frozen

from compat.bundle.parsing import tree_of


@frozen(kw_only=True)
class Parameters:
    """The parameters of a function."""

    names: tuple[str, ...]
    required: frozenset[str]
    """Those without a default."""


@frozen(kw_only=True)
class Source:
    """A source file with everything beside it that it draws in."""

    functions: dict[str, Parameters]
    closure: str
    """SHA-256 over the names and contents of the file and of what it imports from beside it, followed all the way."""


def read_source(path: Path) -> Source:
    """Parse a kernel's source. Raises OSError, or SyntaxError where that cannot be done."""
    tree = tree_of(path.read_bytes(), path.name)
    return Source(functions=_functions(tree), closure=_digest(path, closure_files(path, tree)))


@define
class Unchanged:
    """Whether sources still are what they were when their closures were read, and draw in nothing that is in no closure.

    Only then may a result be kept under a key that holds the closure. Files are read again only when their size or time differs.
    """

    _known: dict[tuple[str, str], dict[Path, tuple[int, int] | None]] = field(factory=dict)
    """Source and digest → every file of that closure as it was when it was found to have that digest."""

    def __call__(self, source: str, closure: str, imported: Iterable[str] = ()) -> bool:
        """Whether ``source`` has this closure now, and everything that was ``imported`` for it is part of it."""
        known = self._known.get((source, closure))
        if known is None or any(_stamp(path) != stamp for path, stamp in known.items()):
            known = self._known[source, closure] = _stamps(Path(source), closure)
        return bool(known) and all(Path(path) in known for path in imported)


def _stamps(path: Path, closure: str) -> dict[Path, tuple[int, int] | None]:
    """The files of a closure with their stamps; none where the source has another one by now, or cannot be read."""
    try:
        files = closure_files(path, tree_of(path.read_bytes()))
        stamps = {file: _stamp(file) for file in files}
        return stamps if _digest(path, files) == closure else {}
    except (OSError, SyntaxError):
        return {}


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def _functions(tree: ast.Module) -> dict[str, Parameters]:
    # Of all statements, because a definition may stand inside an `if` or `try`; of several, the last one counts.
    return {node.name: _parameters(node.args) for node in _statements(tree) if isinstance(node, ast.FunctionDef)}


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Every statement below a node, however deep; expressions, which are most of a tree, are not entered."""
    waiting = [node]
    while waiting:  # by hand: in a chain of `elif` each is a statement inside of the one before
        here = waiting.pop()
        if here is not node:
            yield here
        inside = [child for child in ast.iter_child_nodes(here) if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case)]
        waiting += reversed(inside)


def _parameters(arguments: ast.arguments) -> Parameters:
    positional = [*arguments.posonlyargs, *arguments.args]
    required = {arg.arg for arg in positional[: len(positional) - len(arguments.defaults)]}
    required |= {arg.arg for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is None}
    return Parameters(names=tuple(arg.arg for arg in (*positional, *arguments.kwonlyargs)), required=frozenset(required))


def _digest(path: Path, files: Iterable[Path]) -> str:
    folder = path.parent
    digest = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.relative_to(folder).as_posix()):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def closure_files(path: Path, tree: ast.Module) -> frozenset[Path]:
    """The file itself, whose tree is given, and the files beside it that it imports, transitively."""
    found = {path}
    waiting = list(_imported(tree, path, path.parent))
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.add(file)
        try:
            tree = tree_of(file.read_bytes(), file.name)
        except SyntaxError:
            continue  # Its bytes count; its imports do not, as long as it cannot be parsed.
        waiting += _imported(tree, file, path.parent)
    return frozenset(found)


def _imported(tree: ast.Module, file: Path, root: Path) -> Iterator[Path]:
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _modules(root, alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            start = file.parent if node.level else root
            for _ in range(node.level - 1):
                start = start.parent
            if not start.is_relative_to(root):
                continue
            parts = node.module.split(".") if node.module else []
            yield from _modules(start, parts)
            for alias in node.names:  # `from package import module` names a file, `from module import function` does not.
                yield from _modules(start, [*parts, alias.name])


def _modules(start: Path, parts: list[str]) -> Iterator[Path]:
    """The files that importing ``a.b.c`` runs, those of them that exist: ``a``'s, ``a.b``'s and ``a.b.c``'s."""
    for length in range(1, len(parts) + 1):
        place = start.joinpath(*parts[:length])
        for file in (place / "__init__.py", place.with_name(place.name + ".py")):
            if os.path.isfile(file):
                yield file
                break
