"""The functions of a kernel in all their files, and the meaning of names in these files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

import libcst as cst
from attrs import Factory, define, frozen

from compat.source.imports import Import, imports_in
from compat.toolchains.language import FailingKernel
from compat.toolchains.triton.edits.code import Code, dotted_name, walk

_MODULE = ""
"""The name for a whole module in lookups of imported names."""


@frozen
class FunctionPlace:
    """The place of a function: its file, and its name in the file."""

    file: str
    function: str


@define(eq=False)
class KernelProgram:
    """The files of a kernel, and the kernel's function."""

    texts: Mapping[str, str]
    kernel: FunctionPlace
    roots: Sequence[str] = ("",)
    _codes: dict[str, Code | None] = Factory(dict)
    _known_links: dict[str, dict[str, list[tuple[str, str]]]] = Factory(dict)

    @classmethod
    def of(cls, faulty: FailingKernel) -> KernelProgram:
        """Return the program of a kernel that fails.

        Raises CannotEdit if its own file cannot be read.
        """
        texts = {**faulty.beside, faulty.file: faulty.text}
        file, function = faulty.kernel or (faulty.file, faulty.function)
        code = Code.of(texts[file], function)
        program = cls(texts, FunctionPlace(file, code.function), faulty.roots)
        program._codes[file] = code
        return program

    def code(self, file: str) -> Code | None:
        """Return the code of a file, parsed on first use, or ``None`` if it cannot be parsed."""
        if file not in self._codes:
            try:
                text = self.texts[file]
                self._codes[file] = Code(text, cst.parse_module(text), self.kernel.function)
            except (cst.ParserSyntaxError, RecursionError):
                self._codes[file] = None
        return self._codes[file]

    def code_of(self, place: FunctionPlace) -> Code:
        """Return the code of the file that contains a function."""
        code = self.code(place.file)
        assert code is not None, "a place is found by reading its file"
        return code

    def definition(self, place: FunctionPlace) -> cst.FunctionDef:
        """Return the definition of a function."""
        return self.code_of(place).definitions[place.function]

    def resolve_function(self, file: str, name: str) -> FunctionPlace | None:
        """Return the function that a dotted name means in a file.

        Returns ``None`` if these files do not define it.
        """
        return self._resolve_function(file, name, frozenset())

    def called_function(self, file: str, node: cst.CSTNode) -> FunctionPlace | None:
        """Return the function that a call calls, if these files define it."""
        return (
            self.resolve_function(file, dotted_name(node.func))
            if isinstance(node, cst.Call) and dotted_name(node.func)
            else None
        )

    def mentioned_functions(self, place: FunctionPlace) -> Iterator[FunctionPlace]:
        """Yield the functions that a function names."""
        for node in walk(self.definition(place).body):
            if (
                isinstance(node, cst.Name | cst.Attribute)
                and (target := self.resolve_function(place.file, dotted_name(node))) is not None
            ):
                yield target

    def reachable(self, *starts: FunctionPlace) -> tuple[FunctionPlace, ...]:
        """Return the functions and those that they use, directly or through others."""
        places: dict[FunctionPlace, None] = {}
        waiting = list(starts)
        while waiting:
            place = waiting.pop()
            if place not in places:
                places[place] = None
                waiting += self.mentioned_functions(place)
        return tuple(places)

    def naming(self, names: Collection[str]) -> Iterator[FunctionPlace]:
        """Yield all functions of the files that contain one of these names."""
        for file, text in self.texts.items():
            code = self.code(file) if any(name in text for name in names) else None
            yield from (
                FunctionPlace(file, function) for function in (code.definitions if code else ())
            )

    # --- imports ---

    def _resolve_function(
        self, file: str, name: str, seen: frozenset[tuple[str, str]]
    ) -> FunctionPlace | None:
        code = None if (file, name) in seen else self.code(file)
        if code is None:
            return None
        if name in code.definitions:
            return FunctionPlace(file, name)
        parts = name.split(".")
        for length in range(1, len(parts) + 1):
            first, rest = ".".join(parts[:length]), parts[length:]
            for source, member in self._links(file).get(first, ()):
                path = ".".join(filter(None, (member, *rest)))
                if (
                    path
                    and (target := self._resolve_function(source, path, seen | {(file, name)}))
                    is not None
                ):
                    return target
        return None

    def _links(self, file: str) -> dict[str, list[tuple[str, str]]]:
        """Return name in a file → the files of modules that it may come from, with its name there.

        If it is a module itself, that name is empty.
        """
        if file not in self._known_links:
            links = self._known_links[file] = {}
            for imported in imports_in(self.texts[file].encode()):
                for name, source, member in self._imported_members(file, imported):
                    links.setdefault(name, []).append((source, member))
        return self._known_links[file]

    def _imported_members(self, file: str, imported: Import) -> Iterator[tuple[str, str, str]]:
        path = "/".join(imported.parts)
        for start in self._starts(file, imported.level):
            if imported.names:
                for name, member in zip(imported.bound, imported.names, strict=True):
                    if module := self._module(_below(start, f"{path}/{member}".lstrip("/"))):
                        yield name, module, _MODULE
                    if module := self._module(_below(start, path) or start):
                        yield name, module, member
            elif module := self._module(_below(start, path)):
                yield (
                    imported.bound[0] if imported.bound else ".".join(imported.parts),
                    module,
                    _MODULE,
                )

    def _starts(self, file: str, level: int) -> Sequence[str]:
        """Return the folders that an import with ``level`` dots searches."""
        above = PurePosixPath(file).parents
        return [above[min(level, len(above)) - 1].as_posix()] if level else self.roots

    def _module(self, path: str) -> str | None:
        names = (f"{path}.py", f"{path}/__init__.py".lstrip("/"))
        return next((name for name in names if name in self.texts), None)


def _below(folder: str, path: str) -> str:
    return "/".join(filter(None, (folder.strip("."), path)))
