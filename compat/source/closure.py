"""A kernel's Python source, read as text: its functions, and the files of its tree that it imports.

The driver never imports a kernel. It takes all facts about the source from the syntax tree. A tree
of files has one root or several: the folders in which Python looks for absolute imports. A library
that was unpacked from the package index is taken as a whole.
"""

from __future__ import annotations

import ast
import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path

from attrs import define, field, frozen

from compat.source.import_effects import relevant_parts
from compat.source.imports import (
    MOST_FILES,
    file_of,
    imported_files,
    imports_in,
    imports_of,
    packages_of,
)
from compat.source.parsing import (
    defaults_of,
    defined_names,
    expression_of,
    named_parameters,
    scope_statements,
    tree_of,
)


@frozen(kw_only=True)
class Parameters:
    """The parameters of a function."""

    names: tuple[str, ...]
    required: frozenset[str]
    """Those without a default."""
    constexprs: frozenset[str] = frozenset()
    """Those that are annotated as constexprs."""
    gathering: tuple[str, ...] = ()
    """Those that any number of arguments go to: ``*args`` and ``**options``."""


@frozen(kw_only=True)
class ParsedSource:
    """A source file, with a hash over the files of its tree that it imports."""

    tree: ast.Module
    functions: dict[str, Parameters]
    closure: str
    """SHA-256 over names and contents of the file and its imports from its tree, transitively.

    If some parts of these files cannot affect a kernel of the file, a second hash follows a colon.
    It is over the parts that can affect it (:mod:`compat.source.import_effects`).
    """


_RECENT_SOURCES = 16
"""Sources whose syntax trees are in memory."""
LIBRARY = "compat-library.json"
"""The file that marks a folder as an unpacked library, which never changes."""


def roots_of(path: Path) -> tuple[Path, ...]:
    """Return where absolute imports of a source file start.

    This is the first folder above it that is not a package. A folder without ``__init__.py`` that
    lies in a package is part of it, if the file's imports say so.
    """
    folder = _top(path.parent)
    above = next((outer for outer in folder.parents if _is_package(outer)), None)
    return ((_top(above) if above and _imports_from(path, folder, above) else folder),)


def _top(folder: Path) -> Path:
    """The folder itself if it is not a package, else the first one above it that is not."""
    while _is_package(folder) and folder.parent != folder:
        folder = folder.parent
    return folder


def _is_package(folder: Path) -> bool:
    return os.path.isfile(folder / "__init__.py")


def _imports_from(path: Path, folder: Path, package: Path) -> bool:
    """Whether a file below ``folder`` imports as a part of a package above this folder.

    It does if it imports the package by its name, or something beside or above the folder.
    """
    try:
        imports = imports_in(path.read_bytes())
    except OSError:
        return False
    place = path.relative_to(folder)
    name = package.relative_to(_top(package)).parts[0]
    return any(
        imported.parts[:1] == (name,) if not imported.level else imported.level >= len(place.parts)
        for imported in imports
    )


def module_of(path: Path, roots: Sequence[Path]) -> str:
    """Return the name by which Python imports a source file.

    The name starts below the first of the roots that the file lies in.
    """
    root = next((root for root in roots if path.is_relative_to(root)), path.parent)
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


@define
class SourceReader:
    """Reads sources, and each file that they import only once.

    It sees a file as the file was when the reader first needed it. A package may have thousands of
    files, and every module of it imports most of them.
    """

    _contents: dict[Path, tuple[Stamp | None, bytes]] = field(factory=dict)
    """File → its stamp before it was read, and its content."""
    _imported: dict[tuple[Path, tuple[Path, ...]], tuple[Path, ...]] = field(factory=dict)
    """A file and roots → the files below the roots that the file imports itself."""
    _modules: dict[Path, Path | None] = field(factory=dict)
    """The path of a module without a suffix → its file."""
    _recent: dict[tuple[Path, tuple[Path, ...]], ParsedSource] = field(factory=dict)
    """Paths and roots of the sources that were read last. A source may have many kernels."""

    def read(self, path: Path, roots: Sequence[Path] = ()) -> ParsedSource:
        """Parse a kernel's source in the tree with these roots.

        Without roots, the tree is the package that the source lies in. Raises OSError or
        SyntaxError if the source cannot be read or parsed.
        """
        key = path, tuple(roots) or roots_of(path)
        source = self._recent.pop(key, None) or self._parse(*key)
        self._recent[key] = source
        if len(self._recent) > _RECENT_SOURCES:
            del self._recent[next(iter(self._recent))]
        return source

    def _parse(self, path: Path, roots: tuple[Path, ...]) -> ParsedSource:
        tree = tree_of(self.content(path), path.name)
        files = () if all(map(_is_library, roots)) else self.files(path, tree, roots)
        closure, _ = self.digest(path, files, roots)
        return ParsedSource(tree=tree, functions=_functions(tree), closure=closure)

    def content(self, file: Path) -> bytes:
        """Return the content of a file. Raises OSError."""
        if file not in self._contents:
            self._contents[file] = stamp_of(file), file.read_bytes()
        return self._contents[file][1]

    def stamps(self, files: Iterable[Path]) -> Mapping[Path, Stamp | None]:
        """Return file → its stamp when the reader read it; of other files, their stamp now."""
        return {
            file: self._contents[file][0] if file in self._contents else stamp_of(file)
            for file in files
        }

    def files(self, path: Path, tree: ast.Module, roots: Sequence[Path] = ()) -> frozenset[Path]:
        """Return the file itself and the files below the roots that it imports, transitively.

        ``tree`` is the syntax tree of the file.
        """
        roots = tuple(roots) or roots_of(path)
        files = {
            path,
            *(file for root in roots if _is_library(root) for file in _python_files(root)),
        }
        waiting = [
            *packages_of(path, roots),
            *imported_files(imports_of(tree), path, roots, self._find),
        ]
        while waiting:
            file = waiting.pop()
            if file not in files:
                files.add(file)
                waiting += self._imported_by(file, roots)
        return frozenset(files)

    def _imported_by(self, file: Path, roots: tuple[Path, ...]) -> tuple[Path, ...]:
        imported = self._imported.get((file, roots))
        if imported is None:
            files = imported_files(imports_in(self.content(file)), file, roots, self._find)
            imported = self._imported[file, roots] = tuple(dict.fromkeys(files))
        return imported

    def _find(self, place: Path) -> Path | None:
        if place not in self._modules:
            self._modules[place] = file_of(place)
        return self._modules[place]

    def digest(
        self, path: Path, files: Iterable[Path], roots: tuple[Path, ...]
    ) -> tuple[str, frozenset[Path]]:
        """Return the closure over names and contents of files, and some of the files.

        The second value has the files with parts that cannot affect a kernel.
        """
        libraries = [root for root in roots if _is_library(root)]
        own = [file for file in files if not any(file.is_relative_to(root) for root in libraries)]
        contents = {file: self.content(file) for file in own}
        # Two modules that import each other have the same files, so the name is hashed, too.
        begun = hashlib.sha256(f"{_name(path, roots)}\0".encode())
        for root in libraries:
            begun.update(_library_digest(root))
        everything = _digest_of(begun, contents, roots)
        names = {file: _name(file, roots).rpartition("\0")[2] for file in contents}
        parts = contents if libraries else relevant_parts(path, contents, names, roots)
        partly = frozenset(file for file, content in contents.items() if parts[file] != content)
        return (f"{everything}:{_digest_of(begun, parts, roots)}" if partly else everything), partly


def read_source(path: Path, roots: Sequence[Path] = ()) -> ParsedSource:
    """Parse a kernel's source as it is now (:meth:`SourceReader.read`)."""
    return SourceReader().read(path, roots)


@define
class ClosureCheck:
    """A check whether sources are unchanged since their closures were read.

    It also finds imported files that are in no closure. A result may be stored under a key with the
    closure only if the source is unchanged. A file is read again only if its size or time differs.
    """

    _source_stamps: dict[tuple[str, str], _Stamps] = field(factory=dict)
    """Source and digest → the stamps of the files of the source's closure."""
    _reader: SourceReader = field(factory=SourceReader)
    """Has read the files of all sources in :attr:`_source_stamps`."""

    def beyond(
        self, source: str, closure: str, imported: Iterable[str] = (), roots: Sequence[str] = ()
    ) -> tuple[Path, ...] | None:
        """Return the files that were ``imported`` for ``source`` and are not part of its closure.

        Returns ``None`` if the source has another closure now.
        """
        stamps = self._stamps(source, closure, roots)
        return (
            tuple(dict.fromkeys(Path(path) for path in imported if Path(path) not in stamps.of))
            if stamps.is_same
            else None
        )

    def partly(self, source: str, closure: str, roots: Sequence[str] = ()) -> frozenset[Path]:
        """The files of a closure with parts that cannot affect a kernel."""
        stamps = self._stamps(source, closure, roots)
        return stamps.partly if stamps.is_same else frozenset()

    def _stamps(self, source: str, closure: str, roots: Sequence[str]) -> _Stamps:
        stamps = self._source_stamps.get((source, closure))
        if stamps is None or not stamps.hold():
            stamps = self._read(Path(source), closure, roots)
            if not stamps.hold():  # the reader has read a file that has changed since
                self._reader = SourceReader()
                stamps = self._read(Path(source), closure, roots)
            self._source_stamps[source, closure] = stamps
        return stamps

    def _read(self, path: Path, closure: str, declared_roots: Sequence[str]) -> _Stamps:
        roots, reader = tuple(map(Path, declared_roots)) or roots_of(path), self._reader
        try:
            files = reader.files(path, tree_of(reader.content(path)), roots)
            digest, partly = reader.digest(path, files, roots)
            stamps = reader.stamps(files)
        except (OSError, SyntaxError):
            return _Stamps()
        return _Stamps(of=stamps, partly=partly, is_same=digest == closure)


@frozen(kw_only=True)
class _Stamps:
    """The files of a closure, with their stamps."""

    of: Mapping[Path, Stamp | None] = field(factory=dict)
    """File → stamp. Empty if a file cannot be read."""
    partly: frozenset[Path] = frozenset()
    """The files with parts that cannot affect a kernel."""
    is_same: bool = False
    """Whether the source still has the closure."""

    def hold(self) -> bool:
        """Return whether the files are unchanged."""
        return all(stamp_of(path) == stamp for path, stamp in self.of.items())


Stamp = tuple[int, int, int]
"""The size and the times of a file. While they are unchanged, the file is not read again."""


def stamp_of(path: Path) -> Stamp | None:
    """The stamp of a file; ``None`` if the file cannot be accessed."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _functions(tree: ast.Module) -> dict[str, Parameters]:
    # All statements are searched, because a definition may be inside an `if` or `try`. Of several
    # definitions, the last one counts.
    return {
        node.name: parameters_of(node.args)
        for node in scope_statements(tree.body, scopes=True)
        if isinstance(node, ast.FunctionDef)
    }


def parameters_of(arguments: ast.arguments) -> Parameters:
    """The parameters that a function is defined with."""
    every = named_parameters(arguments)
    required = frozenset(arg.arg for arg in every).difference(defaults_of(arguments))
    constexprs = frozenset(
        arg.arg for arg in every if arg.annotation and _is_constexpr(arg.annotation)
    )
    gathering = tuple(arg.arg for arg in (arguments.vararg, arguments.kwarg) if arg)
    return Parameters(
        names=tuple(arg.arg for arg in every),
        required=required,
        constexprs=constexprs,
        gathering=gathering,
    )


def _is_constexpr(annotation: ast.expr) -> bool:
    """Whether an annotation is ``tl.constexpr``, also as a string."""
    annotated = (
        annotation.value if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
    )
    return isinstance(annotated, str) and annotated.rpartition(".")[2] == "constexpr"


def _digest_of(
    begun: hashlib._Hash, contents: Mapping[Path, bytes], roots: tuple[Path, ...]
) -> str:
    digest = begun.copy()
    for name, file in sorted((_name(file, roots), file) for file in contents):
        digest.update(f"{name}\0".encode())
        digest.update(_content_digest(contents[file]))
    return digest.hexdigest()


@lru_cache(MOST_FILES)
def _content_digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


@lru_cache(MOST_FILES)
def _name(file: Path, roots: tuple[Path, ...]) -> str:
    """The name of a file in a closure, which does not depend on the place of its tree."""
    places = ((number, root) for number, root in enumerate(roots) if file.is_relative_to(root))
    number, root = next(places, (len(roots), file.parent))
    name = file.relative_to(root).as_posix()
    return f"{number}\0{name}" if number else name


def closure_files(path: Path, tree: ast.Module, roots: Sequence[Path] = ()) -> frozenset[Path]:
    """Return the files of a source as they are now (:meth:`SourceReader.files`)."""
    return SourceReader().files(path, tree, roots)


def helpers_of(path: Path, roots: Sequence[Path] = ()) -> tuple[Path, ...]:
    """The files of its tree that a source imports, transitively; empty if it cannot be read."""
    try:
        return tuple(sorted(closure_files(path, tree_of(path.read_bytes()), roots) - {path}))
    except (OSError, SyntaxError):
        return ()


def _is_library(root: Path) -> bool:
    """Whether a folder is an unpacked library."""
    return os.path.isfile(root / LIBRARY)


@cache
def _python_files(library: Path) -> tuple[Path, ...]:
    """Return all Python files of an unpacked library.

    The library may import any of them in ways that its source does not show.
    """
    return tuple(file for file in sorted(library.rglob("*.py")) if file.is_file())


@cache
def _library_digest(root: Path) -> bytes:
    """Return a digest over all Python files of an unpacked library.

    It is cached, because a library never changes, and may have hundreds of kernels.
    """
    digest = hashlib.sha256()
    for file in _python_files(root):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(root).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.digest()


def library_files(roots: Iterable[Path]) -> frozenset[Path] | None:
    """Return the files of unpacked libraries, with the files that mark them as such.

    These files never change. Returns ``None`` if one of the roots is not an unpacked library.
    """
    roots = tuple(roots)
    if not roots or not all(map(_is_library, roots)):
        return None
    return frozenset(file for root in roots for file in (*_python_files(root), root / LIBRARY))


# --- how a kernel is reached from the names of its module: ``kernel``, ``Holder.kernel``,
# ``make(64)``, ``make().kernel``, ``make()[1]``


class NotReachable(ValueError):
    """An expression of another form, or one whose first name the module does not bind."""


def parameters_reached(source: ParsedSource, expression: str) -> Parameters | None:
    """Return the parameters of the function that an expression reaches.

    Returns ``None`` if only importing the module can tell. A call takes literals only. Raises
    NotReachable.
    """
    try:
        node = expression_of(expression)
    except SyntaxError as error:
        raise NotReachable(f"has no function {expression!r}") from error
    root = _root(node)
    if root is None:
        raise NotReachable(f"has no function {expression!r}")
    if isinstance(node, ast.Name) and root in source.functions:
        return source.functions[root]
    definition = next(
        (
            statement
            for statement in reversed(source.tree.body)
            if getattr(statement, "name", None) == root
        ),
        None,
    )
    if definition is None and not any(
        root in defined_names(statement) for statement in source.tree.body
    ):
        raise NotReachable(f"does not define a function {root!r}")
    name = ""
    if isinstance(definition, ast.ClassDef) and isinstance(node, ast.Attribute):
        name = node.attr  # a function in the class
    elif isinstance(definition, ast.FunctionDef) and isinstance(node, ast.Call):
        returned = (
            statement.value
            for statement in reversed(definition.body)
            if isinstance(statement, ast.Return)
        )
        # The function that the call returns.
        name = next((value.id for value in returned if isinstance(value, ast.Name)), "")
    body = getattr(definition, "body", []) if name else []
    functions = {
        function.name: function for function in body if isinstance(function, ast.FunctionDef)
    }
    return parameters_of(functions[name].args) if name in functions else None


def _root(node: ast.expr) -> str | None:
    """The name that an expression begins with."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=inner):
            return _root(inner)
        case ast.Call(func=inner, args=arguments, keywords=keywords):
            with suppress(ValueError):
                for argument in (*arguments, *(keyword.value for keyword in keywords)):
                    ast.literal_eval(argument)
                return _root(inner)
        case ast.Subscript(value=ast.Call() as inner, slice=ast.Constant(value=int())):
            return _root(inner)
    return None
