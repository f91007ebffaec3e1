"""A kernel's Python source, read as text: what it defines, and which files of its tree it imports.

The driver never imports a kernel. What must be known of its source is known from the syntax tree. A tree has one root or several:
the folders that Python looks in for absolute imports. A library that was unpacked from the package index is taken as a whole.
"""

from __future__ import annotations

import ast
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from attrs import define, field, frozen

from compat.bundle.parsing import tree_of


@frozen(kw_only=True)
class Parameters:
    """The parameters of a function."""

    names: tuple[str, ...]
    required: frozenset[str]
    """Those without a default."""
    constexprs: frozenset[str] = frozenset()
    """Those that are annotated as such."""


@frozen(kw_only=True)
class Source:
    """A source file with everything of its tree that it draws in."""

    tree: ast.Module
    functions: dict[str, Parameters]
    closure: str
    """SHA-256 over the names and contents of the file and of what it imports from its tree, followed all the way."""


@frozen(kw_only=True)
class _Import:
    """One import statement: ``import a.b``, or ``from ..a.b import names``."""

    level: int
    """Dots before it; 0 where it is absolute."""
    parts: tuple[str, ...]
    """``a`` and ``b``."""
    names: tuple[str, ...] = ()


LIBRARY = "compat-library.json"
"""The file that marks a folder as a library which was unpacked there, and never changes."""


def roots_of(path: Path) -> tuple[Path, ...]:
    """Where absolute imports of a source file lead: the first folder above it that is no package."""
    folder = path.parent
    while os.path.isfile(folder / "__init__.py") and folder.parent != folder:
        folder = folder.parent
    return (folder,)


def module_of(path: Path, roots: Sequence[Path]) -> str:
    """The name by which Python imports a source file from the first of the roots that it lies in."""
    root = next((root for root in roots if path.is_relative_to(root)), path.parent)
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def read_source(path: Path, roots: Sequence[Path] = ()) -> Source:
    """Parse a kernel's source, of the tree with these roots; by default of the package that it lies in.

    Raises OSError, or SyntaxError where that cannot be done.
    """
    roots = tuple(roots) or roots_of(path)
    if all(os.path.isfile(root / LIBRARY) for root in roots):
        return _read_of_libraries(path, roots)
    tree = tree_of(path.read_bytes(), path.name)
    return Source(tree=tree, functions=_functions(tree), closure=_digest(path, closure_files(path, tree, roots), roots))


@cache
def _read_of_libraries(path: Path, roots: tuple[Path, ...]) -> Source:
    """The same of what never changes: a module may have many kernels."""
    tree = tree_of(path.read_bytes(), path.name)
    return Source(tree=tree, functions=_functions(tree), closure=_digest(path, (), roots))


@define
class Unchanged:
    """Whether sources still are what they were when their closures were read, and which files they draw in that are in no closure.

    Only then may a result be kept under a key that holds the closure. Files are read again only when their size or time differs.
    """

    _known: dict[tuple[str, str], dict[Path, tuple[int, int] | None]] = field(factory=dict)
    """Source and digest → every file of that closure as it was when it was found to have that digest."""

    def beyond(self, source: str, closure: str, imported: Iterable[str] = (), roots: Sequence[str] = ()) -> tuple[Path, ...] | None:
        """Of what was ``imported`` for ``source`` what is no part of its closure; ``None`` where it has another closure now."""
        known = self._known.get((source, closure))
        if known is None or any(_stamp(path) != stamp for path, stamp in known.items()):
            known = self._known[source, closure] = _stamps(Path(source), closure, [Path(root) for root in roots])
        if not known:
            return None
        return tuple(dict.fromkeys(Path(path) for path in imported if Path(path) not in known))


def _stamps(path: Path, closure: str, roots: Sequence[Path]) -> dict[Path, tuple[int, int] | None]:
    """The files of a closure with their stamps; none where the source has another one by now, or cannot be read."""
    roots = roots or roots_of(path)
    try:
        files = closure_files(path, tree_of(path.read_bytes()), roots)
        stamps = {file: _stamp(file) for file in files}
        return stamps if _digest(path, files, roots) == closure else {}
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
    return {node.name: parameters_of(node.args) for node in _statements(tree) if isinstance(node, ast.FunctionDef)}


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Every statement below a node, however deep; expressions, which are most of a tree, are not entered."""
    waiting = [node]
    while waiting:  # by hand: in a chain of `elif` each is a statement inside of the one before
        here = waiting.pop()
        if here is not node:
            yield here
        inside = [child for child in ast.iter_child_nodes(here) if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case)]
        waiting += reversed(inside)


def parameters_of(arguments: ast.arguments) -> Parameters:
    """The parameters that a function is defined with."""
    positional = [*arguments.posonlyargs, *arguments.args]
    required = {arg.arg for arg in positional[: len(positional) - len(arguments.defaults)]}
    required |= {arg.arg for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is None}
    every = (*positional, *arguments.kwonlyargs)
    constexprs = frozenset(arg.arg for arg in every if arg.annotation and _is_constexpr(arg.annotation))
    return Parameters(names=tuple(arg.arg for arg in every), required=frozenset(required), constexprs=constexprs)


def _is_constexpr(annotation: ast.expr) -> bool:
    """Whether an annotation is ``tl.constexpr``, also as a text."""
    said = annotation.value if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
    return isinstance(said, str) and said.rpartition(".")[2] == "constexpr"


def _digest(path: Path, files: Iterable[Path], roots: Sequence[Path]) -> str:
    digest = hashlib.sha256(f"{_name(path, roots)}\0".encode())  # two modules that import each other draw in the same files
    libraries = [root for root in roots if os.path.isfile(root / LIBRARY)]
    for root in libraries:
        digest.update(_library_digest(root))
    own = (file for file in files if not any(file.is_relative_to(root) for root in libraries))
    for name, file in sorted((_name(file, roots), file) for file in own):
        content = file.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _name(file: Path, roots: Sequence[Path]) -> str:
    """What a file is called in a closure, wherever its tree is."""
    found = ((number, root) for number, root in enumerate(roots) if file.is_relative_to(root))
    number, root = next(found, (len(roots), file.parent))
    name = file.relative_to(root).as_posix()
    return f"{number}\0{name}" if number else name


def closure_files(path: Path, tree: ast.Module, roots: Sequence[Path] = ()) -> frozenset[Path]:
    """The file itself, whose tree is given, and the files below the roots that it imports, transitively."""
    roots = roots or roots_of(path)
    found = {path, *(file for root in roots for file in _library(root))}
    waiting = [*_packages(path, roots), *_imported(_imports(tree), path, roots)]
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.add(file)
        waiting += _imported(_imports_in(file.read_bytes()), file, roots)
    return frozenset(found)


def helpers_of(path: Path, roots: Sequence[Path] = ()) -> tuple[Path, ...]:
    """The files of its tree that a source imports, transitively; none where it cannot be read."""
    try:
        return tuple(sorted(closure_files(path, tree_of(path.read_bytes()), roots) - {path}))
    except (OSError, SyntaxError):
        return ()


_known: dict[bytes, tuple[_Import, ...]] = {}
"""Hash of a content → what it imports: the kernels of a package draw in the same files again and again."""


def _imports_in(content: bytes) -> tuple[_Import, ...]:
    """What a file with this content imports; nothing as long as it cannot be parsed, though its bytes count."""
    key = hashlib.sha256(content).digest()
    if key not in _known:
        try:
            _known[key] = _imports(tree_of(content))
        except SyntaxError:
            _known[key] = ()
    return _known[key]


def _library(root: Path) -> tuple[Path, ...]:
    """All Python files of an unpacked library, which may import any of them in ways that its source does not show."""
    return _python_files(root) if os.path.isfile(root / LIBRARY) else ()


@cache
def _python_files(library: Path) -> tuple[Path, ...]:
    return tuple(file for file in sorted(library.rglob("*.py")) if file.is_file())


@cache
def _library_digest(root: Path) -> bytes:
    """Of all of them, read once: a library never changes, and its kernels may be hundreds."""
    digest = hashlib.sha256()
    for file in _library(root):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(root).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.digest()


def library_files(roots: Iterable[Path]) -> frozenset[Path] | None:
    """The files of unpacked libraries, with what marks them; ``None`` where one of the roots is none. They never change."""
    roots = tuple(roots)
    if not roots or not all(os.path.isfile(root / LIBRARY) for root in roots):
        return None
    return frozenset(file for root in roots for file in (*_python_files(root), root / LIBRARY))


def _packages(path: Path, roots: Sequence[Path]) -> Iterator[Path]:
    """The files of the packages that a file lies in: importing it runs them."""
    root = next((root for root in roots if path.is_relative_to(root)), path.parent)
    for folder in path.relative_to(root).parents:
        if folder != Path() and os.path.isfile(root / folder / "__init__.py"):
            yield root / folder / "__init__.py"


def _imports(tree: ast.Module) -> tuple[_Import, ...]:
    """The import statements of a source."""
    return tuple(found for node in _statements(tree) for found in _imports_of(node))


def _imports_of(node: ast.AST) -> Iterator[_Import]:
    if isinstance(node, ast.Import):
        yield from (_Import(level=0, parts=tuple(alias.name.split("."))) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        parts = tuple(node.module.split(".")) if node.module else ()
        yield _Import(level=node.level, parts=parts, names=tuple(alias.name for alias in node.names))


def _imported(imports: Iterable[_Import], file: Path, roots: Sequence[Path]) -> Iterator[Path]:
    for each in imports:
        starts = [file.parent] if each.level else list(roots)
        for _ in range(each.level - 1):
            starts = [start.parent for start in starts]
        if not any(start.is_relative_to(root) for start in starts for root in roots):
            continue
        yield from _modules(starts, each.parts)
        for name in each.names:  # `from package import module` names a file, `from module import function` does not.
            yield from _modules(starts, (*each.parts, name))


def _modules(starts: Sequence[Path], parts: Sequence[str]) -> Iterator[Path]:
    """The files that importing ``a.b.c`` may run, those of them that exist: ``a``'s, ``a.b``'s and ``a.b.c``'s, from each start."""
    for start in starts:
        yield from _modules_below(start, parts)


def _modules_below(start: Path, parts: Sequence[str]) -> Iterator[Path]:
    """The files that importing ``a.b.c`` runs, those of them that exist: ``a``'s, ``a.b``'s and ``a.b.c``'s."""
    for length in range(1, len(parts) + 1):
        place = start.joinpath(*parts[:length])
        for file in (place / "__init__.py", place.with_name(place.name + ".py")):
            if os.path.isfile(file):
                yield file
                break
