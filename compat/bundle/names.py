"""What the global names of source files mean, followed through their imports."""

from __future__ import annotations

import ast
import builtins
import os
from pathlib import Path

from attrs import define, field, frozen

from compat.bundle.statements import File


@frozen(kw_only=True)
class Ours:
    """A definition in one of our files."""

    file: File
    name: str


@frozen(kw_only=True)
class Module:
    """One of our files itself, without its suffix, or a folder of them."""

    place: Path


@frozen(kw_only=True)
class Installed:
    """Something of an installed package, and the statement that imports it."""

    statement: str


Meaning = Ours | Module | Installed
_Seen = frozenset[tuple[Path, str]]


@define(kw_only=True)
class Names:
    """Finds out what the global names of files mean, across imports."""

    roots: tuple[Path, ...]
    """The folders from which absolute imports of files are resolved."""
    _files: dict[Path, File] = field(factory=dict)

    def file(self, path: Path) -> File:
        if path not in self._files:
            self._files[path] = File.read(path)
        return self._files[path]

    def meaning(self, file: File, name: str, seen: _Seen = frozenset()) -> Meaning | None:
        """What a global name of a file means; ``None`` for builtins and for what nothing defines."""
        if (file.path, name) in seen:
            return None
        seen |= {(file.path, name)}
        found = [each.node for each in file.binding(name)]
        if not found and file.around is not None:
            return self.meaning(file.around, name, seen)
        if not found:
            return self._starred(file, name, seen)
        last = found[-1]
        if isinstance(last, ast.Import):
            return self._module(last, name)
        if isinstance(last, ast.ImportFrom):
            return self._imported(file, last, name, seen)
        return Ours(file=file, name=name)

    def member(self, module: Module, name: str, seen: _Seen = frozenset()) -> Meaning | None:
        """What ``module.name`` is: something that the file defines or imports, else a file in the module's folder."""
        path = _file_of(module.place)
        if path is not None and (found := self.meaning(self.file(path), name, seen)) is not None:
            return found
        return Module(place=module.place / name) if _is_ours(module.place / name) else None

    def _module(self, node: ast.Import, name: str) -> Meaning:
        alias = next(each for each in node.names if (each.asname or each.name.partition(".")[0]) == name)
        root = self._root_of(alias.name.partition(".")[0])
        if root is None:
            return Installed(statement=ast.unparse(ast.Import(names=[alias])))
        return Module(place=root.joinpath(*(alias.name if alias.asname else name).split(".")))

    def _root_of(self, package: str) -> Path | None:
        """The root that a package or module of ours is in; ``None`` for one that is installed."""
        return next((root for root in self.roots if _is_ours(root / package)), None)

    def _imported(self, file: File, node: ast.ImportFrom, name: str, seen: _Seen) -> Meaning | None:
        alias = next(each for each in node.names if (each.asname or each.name) == name)
        place = self._place(file, node)
        if place is not None:
            return self.member(Module(place=place), alias.name, seen)
        return Installed(statement=ast.unparse(ast.ImportFrom(module=node.module, names=[alias], level=0)))

    def _starred(self, file: File, name: str, seen: _Seen) -> Meaning | None:
        for node in (each.node for each in file.statements):
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                place = self._place(file, node)
                if place is not None and (found := self.member(Module(place=place), name, seen)) is not None:
                    return found
                if place is None and not hasattr(builtins, name):
                    return Installed(statement=ast.unparse(node))
        return None

    def _place(self, file: File, node: ast.ImportFrom) -> Path | None:
        """Where among our files ``from … import`` looks; ``None`` where it means an installed package."""
        parts = node.module.split(".") if node.module else []
        start = file.path.parent if node.level else self._root_of(parts[0])
        for _ in range(node.level - 1):
            start = start.parent if start else None
        return start.joinpath(*parts) if start else None


def _file_of(place: Path) -> Path | None:
    files = (place / "__init__.py", place.with_name(f"{place.name}.py"))
    return next((file for file in files if os.path.isfile(file)), None)


def _is_ours(place: Path) -> bool:
    return _file_of(place) is not None or (os.path.isdir(place) and any(place.glob("*.py")))
