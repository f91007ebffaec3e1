"""The import statements of sources, and the files of their tree that they lead to."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from attrs import evolve, frozen

from compat.source.parsing import captured_name, scope_statements, tree_of, walk

_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
_OptionalImports = tuple[tuple[str, ast.Import | ast.ImportFrom], ...]


@frozen(kw_only=True)
class Import:
    """One import statement: ``import a.b as c``, or ``from ..a.b import name as other``."""

    level: int
    """The number of leading dots; 0 for an absolute import."""
    parts: tuple[str, ...]
    """``a`` and ``b``."""
    names: tuple[str, ...] = ()
    """``name``; none where the modules themselves are imported."""
    bound: tuple[str, ...] = ()
    """The names that the import binds: ``other``; for a module ``c``, or none."""

    def bindings(self) -> Iterator[tuple[str, str]]:
        """Yield each name that the import binds, with the module or member that the name means.

        Examples: ``a`` and ``a``, ``c`` and ``a.b``, ``other`` and ``..a.b.name``.
        """
        module = "." * self.level + ".".join(self.parts)
        if self.names:
            before = f"{module}." if self.parts else module
            yield from (
                (bound, f"{before}{name}")
                for bound, name in zip(self.bound, self.names, strict=True)
            )
        else:
            yield (self.bound[0], module) if self.bound else (self.parts[0], self.parts[0])


MOST_FILES = 1 << 15
"""Files whose parsed content is in memory. The kernels of a package import the same files."""


@lru_cache(MOST_FILES)
def imports_in(content: bytes) -> tuple[Import, ...]:
    """Return the imports of a file with this content.

    A file that cannot be parsed has no imports, but it is still part of a closure.
    """
    try:
        return imports_of(tree_of(content))
    except SyntaxError:
        return ()


@lru_cache(MOST_FILES)
def _names_bound_in(content: bytes) -> frozenset[str]:
    """Return the names that statements other than imports bind in a file with this content."""
    try:
        return frozenset(names_bound(tree_of(content)))
    except SyntaxError:
        return frozenset()


@lru_cache(MOST_FILES)
def optional_imports(content: bytes) -> _OptionalImports:
    """Return each name that an optional import in a file binds, with the import.

    An import is optional if it is in a ``try`` with a handler that continues after ``ImportError``.
    Those inside of functions are left out, because they bind no name of the module. A file that
    cannot be parsed has none.
    """
    try:
        return tuple(_optional_imports(tree_of(content)))
    except SyntaxError:
        return ()


def names_bound(tree: ast.Module) -> Iterator[str]:
    """The names that statements other than imports bind, in any scope."""
    for node in walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif (name := captured_name(node)) is not None:
            yield name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            yield node.id


def imports_of(tree: ast.Module) -> tuple[Import, ...]:
    """The import statements of a source, those inside of functions too."""
    return tuple(
        imported
        for statement in scope_statements(tree.body, scopes=True)
        for imported in _imports_of(statement)
    )


def _imports_of(node: ast.AST) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(
                level=0,
                parts=tuple(alias.name.split(".")),
                bound=(alias.asname,) if alias.asname else (),
            )
    elif isinstance(node, ast.ImportFrom):
        parts = tuple(node.module.split(".")) if node.module else ()
        names, bound = zip(
            *((alias.name, alias.asname or alias.name) for alias in node.names), strict=True
        )
        yield Import(level=node.level, parts=parts, names=names, bound=bound)


def _optional_imports(tree: ast.Module) -> Iterator[tuple[str, ast.Import | ast.ImportFrom]]:
    for node in scope_statements(tree.body):
        if isinstance(node, ast.Try) and any(
            _goes_on_without(handler) for handler in node.handlers
        ):
            for inner in scope_statements(node.body):
                if isinstance(inner, ast.Import | ast.ImportFrom):
                    yield from (
                        (alias.asname or alias.name.partition(".")[0], inner)
                        for alias in inner.names
                    )


def _goes_on_without(handler: ast.ExceptHandler) -> bool:
    caught = (
        {getattr(node, "id", "") for node in ast.walk(handler.type)}
        if handler.type
        else _IMPORT_ERRORS
    )
    return bool(caught & _IMPORT_ERRORS) and not any(
        isinstance(statement, ast.Raise) for statement in handler.body
    )


def import_origins(statements: Iterable[ast.AST], packages: Mapping[str, str]) -> dict[str, str]:
    """Name that an import binds → the dotted name of the imported object.

    ``packages`` maps a name to the package that it means, whichever module it is imported from:
    libraries re-export packages to their own modules.
    """
    origins: dict[str, str] = {}
    for imported in (imported for statement in statements for imported in _imports_of(statement)):
        for name, origin in imported.bindings():
            origins[name] = (
                packages.get(origin.rpartition(".")[2], origin) if imported.names else origin
            )
    return origins


Find = Callable[[Path], Path | None]
"""Finds the file of a module, as :func:`file_of` does."""


def imported_files(
    imports: Iterable[Import], file: Path, roots: Sequence[Path], find: Find
) -> Iterator[Path]:
    """The files below the roots that imports of a file run, including those of parent packages."""
    for imported in imports:
        for start in _starts(imported, file, roots):
            yield from _modules(start, imported.parts, find)
            # `from package import module` names a file, `from module import function` does not.
            place = start.joinpath(*imported.parts)
            for name in imported.names:
                if (module := find(place / name)) is not None:
                    yield module


def packages_of(path: Path, roots: Sequence[Path]) -> Iterator[Path]:
    """The files of the packages that a file lies in: importing it runs them."""
    root = next((root for root in roots if path.is_relative_to(root)), path.parent)
    for folder in path.relative_to(root).parents:
        if folder != Path() and os.path.isfile(root / folder / "__init__.py"):
            yield root / folder / "__init__.py"


def _starts(imported: Import, file: Path, roots: Sequence[Path]) -> Sequence[Path]:
    """The folders in which an import looks for its first part."""
    if not imported.level:
        return roots
    start = file
    for _ in range(imported.level):
        start = start.parent
    return [start] if any(start.is_relative_to(root) for root in roots) else []


def _modules(start: Path, parts: Sequence[str], find: Find) -> Iterator[Path]:
    """Yield the existing files that ``import a.b.c`` may run: of ``a``, ``a.b`` and ``a.b.c``."""
    place = start
    for part in parts:
        place /= part
        if (file := find(place)) is not None:
            yield file


def file_of(place: Path) -> Path | None:
    """The file of a package or module, by its path without a suffix; ``None`` if there is none."""
    return next(
        (
            file
            for file in (place / "__init__.py", place.with_name(place.name + ".py"))
            if os.path.isfile(file)
        ),
        None,
    )


def module_file(name: str, folder: Path, roots: Iterable[Path]) -> Path | None:
    """Return the file of a module as an import in ``folder`` names it: ``a.b``, ``..a``.

    Returns ``None`` if there is none. ``roots`` are the folders where absolute imports start.
    """
    below = name.lstrip(".")
    level = len(name) - len(below)
    starts = (folder, *folder.parents)[level - 1 : level] if level else roots
    places = (start.joinpath(*filter(None, below.split("."))) for start in starts)
    return next((file for place in places if (file := file_of(place))), None)


# --- the files that a file uses -------------------------------------------------------------------


class _WholePackage(Exception):
    """An import that leads to a package as a whole, and so to all that it imports."""


def used_files(
    path: Path, roots: Sequence[Path], content_of: Callable[[Path], bytes]
) -> frozenset[Path] | None:
    """Return the files that a source takes names from, itself among them, transitively.

    Returns ``None`` if the source can reach any file that is imported. Packages that only contain
    the source, and packages that only re-export a name, are imported but not used.
    """
    users = _Users(roots, content_of)
    try:
        users.add(path)
        while users.waiting:
            file = users.waiting.pop()
            for imported in imports_in(content_of(file)):
                users.follow(imported, file)
    except _WholePackage:
        return None
    return frozenset(users.files)


class _Users:
    def __init__(self, roots: Sequence[Path], content_of: Callable[[Path], bytes]) -> None:
        self.roots, self.content_of = roots, content_of
        self.files: set[Path] = set()
        self.waiting: list[Path] = []
        self.seen: set[tuple[Path, Import]] = set()

    def add(self, file: Path) -> None:
        if file not in self.files:
            self.files.add(file)
            self.waiting.append(file)

    def follow(self, imported: Import, file: Path) -> None:
        """Add the files from which an import statement of a file takes names."""
        if (file, imported) in self.seen:
            return
        self.seen.add((file, imported))
        for start in _starts(imported, file, self.roots):
            if imported.names:
                for name in imported.names:
                    self.name(start.joinpath(*imported.parts), name)
            else:
                self.module(start, imported)

    def module(self, start: Path, imported: Import) -> None:
        """Follow an import of a module.

        ``import a.b.c`` binds the first module, and ``import a.b.c as d`` the last one.
        """
        place = start.joinpath(*(imported.parts if imported.bound else imported.parts[:1]))
        if os.path.isdir(place) and any(_modules(start, imported.parts, file_of)):
            raise _WholePackage
        if (file := file_of(place)) is not None:
            self.add(file)

    def name(self, place: Path, name: str) -> None:
        """Follow ``from place import name``.

        The name is a module, or something that the file at ``place`` defines or imports.
        """
        module, holder = file_of(place / name), file_of(place)
        if module is not None and module.parent == place / name:
            raise _WholePackage
        if module is not None:
            self.add(module)
        if holder is not None and holder.parent == place:
            self.through(holder, name, is_module=module is not None)
        elif holder is not None:
            self.add(holder)

    def through(self, package: Path, name: str, *, is_module: bool) -> None:
        """Follow a name that is imported from the ``__init__.py`` of a package."""
        if name == "*":
            raise _WholePackage
        content = self.content_of(package)
        imports, bound = imports_in(content), _names_bound_in(content)
        if name in bound:
            self.add(package)
        named = [
            (imported, at)
            for imported in imports
            for at, other in enumerate(imported.bound)
            if other == name
        ]
        starred = (
            [] if named else [star_import for star_import in imports if star_import.names == ("*",)]
        )
        if not (named or starred or is_module or name in bound):
            raise _WholePackage
        for imported, at in named:
            names = (imported.names[at],) if imported.names else ()
            self.follow(evolve(imported, names=names, bound=(name,)), package)
        for imported in starred:
            self.follow(imported, package)
