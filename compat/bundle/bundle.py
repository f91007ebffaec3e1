"""A kernel as one self-contained module: its function, what that uses, and nothing else.

Definitions are followed from name to name, through the source file and the files beside it that it imports, and come out as they
were written, comments included, what is used before what uses it. Nothing is imported; all is known from the syntax trees.

Left behind are decorators that tune or choose (``@triton.autotune``, ``@triton.heuristics``): a specialization says already what
they would find out.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from attrs import define, evolve, field, frozen

from compat.bundle.closure import read_source, roots_of
from compat.bundle.parsing import text_of, tree_of
from compat.bundle.scopes import Use, bound_by, uses
from compat.errors import ConfigError
from compat.model import Specialization

_KEPT_DECORATORS = frozenset({"jit", "constexpr_function", "aggregate", "dataclass"})
_PRAGMA = re.compile(rb"(?<![ \t])[ \t]*+#[ \t]*+(?:fmt: ?\w+|noqa\b.*|type: ?ignore.*)$", re.MULTILINE)
_Import = ast.Import | ast.ImportFrom
_Definition = ast.FunctionDef | ast.ClassDef


@frozen(kw_only=True)
class Bundle:
    """A kernel as a module of its own."""

    text: str
    """A Python module that imports nothing but installed packages."""
    spec: Specialization
    """How it is compiled. Its source is empty until :meth:`write` says where it is."""

    def write(self, path: Path) -> Specialization:
        """Write the module to ``path`` and return the specialization of the function in it. Raises OSError."""
        path.write_text(self.text, encoding="utf-8")
        return evolve(self.spec, source=str(path), roots=(), closure=read_source(path).closure)


def bundle(spec: Specialization) -> Bundle:
    """The kernel of a specialization on its own.

    Raises ConfigError where its source cannot be read, is nested too deeply, or has no such function.
    """
    path = Path(spec.source)
    bundling = _Bundling(roots=tuple(map(Path, spec.roots)) or roots_of(path))
    try:
        bundling.add_kernel(path, spec.function, spec.compile.functions)
    except (OSError, SyntaxError, KeyError, RecursionError) as error:
        raise ConfigError(f"the kernel cannot be taken out of its file: {_reason(error)}", where=str(path)) from error
    text = bundling.text()
    return Bundle(text=text, spec=evolve(spec, source="", roots=(), closure=hashlib.sha256(text.encode()).hexdigest()))


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(error.args[0]) if isinstance(error, KeyError | SyntaxError) else str(error)


# --- files and the statements in them ----------------------------------------------------------------------------------------


@define(kw_only=True, eq=False)
class _File:
    """A source file, taken apart."""

    path: Path
    lines: list[bytes]
    """Bytes, since that is what the syntax tree counts its columns in."""
    statements: list[_Statement] = field(factory=list)

    @classmethod
    def read(cls, path: Path) -> _File:
        text = text_of(path)
        file = cls(path=path, lines=[f"{line}\n".encode() for line in text.split("\n")])
        file.statements += [_Statement.of(file, node) for node in tree_of(text, path.name).body]
        return file

    def binding(self, name: str) -> list[_Statement]:
        """The statements that give a name its meaning."""
        return [statement for statement in self.statements if name in statement.binds]

    def futures(self) -> Iterator[str]:
        """Its ``from __future__`` imports, which change what all the rest means."""
        for each in self.statements:
            if isinstance(each.node, ast.ImportFrom) and each.node.module == "__future__":
                yield ast.unparse(each.node)


@define(kw_only=True, eq=False)
class _Statement:
    """One top-level statement of a file."""

    file: _File
    node: ast.stmt
    binds: frozenset[str]
    uses: tuple[Use, ...]
    dropped: tuple[ast.expr, ...]
    """Decorators that are left behind."""

    @classmethod
    def of(cls, file: _File, node: ast.stmt) -> _Statement:
        dropped: tuple[ast.expr, ...] = ()
        if isinstance(node, _Definition):
            dropped = tuple(each for each in node.decorator_list if _called(each) not in _KEPT_DECORATORS)
            node.decorator_list = [each for each in node.decorator_list if each not in dropped]
        return cls(file=file, node=node, binds=bound_by(node), uses=tuple(uses(node)), dropped=dropped)

    @property
    def start(self) -> int:
        """Index of its first line, with decorators and the comment that stands right above."""
        first = min([self.node.lineno, *(each.lineno for each in (*self.dropped, *_decorators(self.node)))]) - 1
        while first and self.file.lines[first - 1].startswith(b"#") and not self.file.lines[first - 1].startswith(b"#!"):
            first -= 1
        return first

    def text(self, edits: Iterable[tuple[ast.expr, str]], renamed: dict[str, str]) -> str:
        """Its source, with expressions replaced and with what it defines renamed."""
        assert self.node.end_lineno is not None
        lines = dict(enumerate(self.file.lines[self.start : self.node.end_lineno], self.start))
        for node, new in sorted(edits, key=lambda edit: (edit[0].lineno, edit[0].col_offset), reverse=True):
            assert node.end_col_offset is not None, "a name and its attributes, which stand on one line"
            line = lines[node.lineno - 1]
            lines[node.lineno - 1] = line[: node.col_offset] + new.encode() + line[node.end_col_offset :]
        if isinstance(self.node, _Definition) and self.node.name in renamed:
            head = rf"^(def|class)(\s+){self.node.name}\b".encode()
            lines[self.node.lineno - 1] = re.sub(
                head, rb"\1\2" + renamed[self.node.name].encode(), lines[self.node.lineno - 1], count=1
            )
        for decorator in self.dropped:
            for number in range(decorator.lineno - 1, decorator.end_lineno or decorator.lineno):
                lines.pop(number, None)
        return _PRAGMA.sub(b"", b"".join(lines.values())).decode().rstrip()


def _called(decorator: ast.expr) -> str:
    """``jit`` of ``@triton.jit``, ``@jit`` and ``@triton.jit(noinline=True)``."""
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    return named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", "")


def _decorators(node: ast.stmt) -> list[ast.expr]:
    return node.decorator_list if isinstance(node, _Definition) else []


# --- what a name means -------------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class _Ours:
    """A definition in one of our files."""

    file: _File
    name: str


@frozen(kw_only=True)
class _Module:
    """One of our files itself, without its suffix, or a folder of them."""

    place: Path


@frozen(kw_only=True)
class _Installed:
    """Something of an installed package, and the statement that imports it."""

    statement: str


_Meaning = _Ours | _Module | _Installed
_Seen = frozenset[tuple[Path, str]]


@define(kw_only=True)
class _Names:
    """Finds out what the global names of files mean, across imports."""

    roots: tuple[Path, ...]
    """The folders from which absolute imports of files are resolved."""
    _files: dict[Path, _File] = field(factory=dict)

    def file(self, path: Path) -> _File:
        if path not in self._files:
            self._files[path] = _File.read(path)
        return self._files[path]

    def meaning(self, file: _File, name: str, seen: _Seen = frozenset()) -> _Meaning | None:
        """What a global name of a file means; ``None`` for builtins and for what nothing defines."""
        if (file.path, name) in seen:
            return None
        seen |= {(file.path, name)}
        found = [each.node for each in file.binding(name)]
        if not found:
            return self._starred(file, name, seen)
        last = found[-1]
        if isinstance(last, ast.Import):
            return self._module(last, name)
        if isinstance(last, ast.ImportFrom):
            return self._imported(file, last, name, seen)
        return _Ours(file=file, name=name)

    def member(self, module: _Module, name: str, seen: _Seen = frozenset()) -> _Meaning | None:
        """What ``module.name`` is: something that the file defines or imports, else a file in the module's folder."""
        path = _file_of(module.place)
        if path is not None and (found := self.meaning(self.file(path), name, seen)) is not None:
            return found
        return _Module(place=module.place / name) if _is_ours(module.place / name) else None

    def _module(self, node: ast.Import, name: str) -> _Meaning:
        alias = next(each for each in node.names if (each.asname or each.name.partition(".")[0]) == name)
        root = self._root_of(alias.name.partition(".")[0])
        if root is None:
            return _Installed(statement=ast.unparse(ast.Import(names=[alias])))
        return _Module(place=root.joinpath(*(alias.name if alias.asname else name).split(".")))

    def _root_of(self, package: str) -> Path | None:
        """The root that a package or module of ours is in; ``None`` for one that is installed."""
        return next((root for root in self.roots if _is_ours(root / package)), None)

    def _imported(self, file: _File, node: ast.ImportFrom, name: str, seen: _Seen) -> _Meaning | None:
        alias = next(each for each in node.names if (each.asname or each.name) == name)
        place = self._place(file, node)
        if place is not None:
            return self.member(_Module(place=place), alias.name, seen)
        return _Installed(statement=ast.unparse(ast.ImportFrom(module=node.module, names=[alias], level=0)))

    def _starred(self, file: _File, name: str, seen: _Seen) -> _Meaning | None:
        for node in (each.node for each in file.statements):
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                place = self._place(file, node)
                if place is not None and (found := self.member(_Module(place=place), name, seen)) is not None:
                    return found
                if place is None and not hasattr(builtins, name):
                    return _Installed(statement=ast.unparse(node))
        return None

    def _place(self, file: _File, node: ast.ImportFrom) -> Path | None:
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


# --- the bundle --------------------------------------------------------------------------------------------------------------


@define(kw_only=True)
class _Bundling:
    """What is in the bundle so far."""

    roots: tuple[Path, ...]
    _names: _Names = field(init=False)
    _imports: dict[str, None] = field(factory=dict)
    _called: dict[tuple[Path, str], str] = field(factory=dict)
    """Definition → its name in the bundle: its own, unless that was taken."""
    _added: set[int] = field(factory=set)
    _pieces: list[tuple[str, bool]] = field(factory=list)
    """Text, and whether it is a function or a class."""

    def __attrs_post_init__(self) -> None:
        self._names = _Names(roots=self.roots)

    def add_kernel(self, path: Path, name: str, given: Iterable[str] = ()) -> None:
        """Add the kernel as its last definition has it, whatever happens to the name later (``kernel = autotune(…)(kernel)``).

        ``given`` are functions of its file that it is given as constexprs; they keep their names too.
        """
        file = self._names.file(path)
        found = [each for each in file.binding(name) if not isinstance(each.node, ast.Assign | _Import)]
        if not found:
            raise KeyError(f"{path.name} defines no function {name}")
        self._called |= {(path, each): each for each in (name, *given)}
        for each in given:
            self._add_definition(_Ours(file=file, name=each), of_module=False, beside=frozenset())
        self._added |= {id(each) for each in file.binding(name)}
        self._add(found[-1], again=True)

    def text(self) -> str:
        """The module."""
        future = sorted(line for line in self._imports if "__future__" in line)
        rest = sorted((line for line in self._imports if "__future__" not in line), key=lambda line: (line[0] == "f", line))
        text = "\n\n".join("\n".join(lines) for lines in (future, rest) if lines)
        before: bool | None = None
        for piece, definition in self._pieces:
            text += ("\n\n" if before is None else "\n") if not (definition or before) else "\n\n\n"
            text, before = text + piece, definition
        return text.lstrip("\n") + "\n"

    def _add(self, statement: _Statement, *, again: bool = False) -> None:
        """Add a statement after all that it uses."""
        if id(statement) in self._added and not again:
            return
        self._added.add(id(statement))
        edits = [edit for use in statement.uses for edit in self._follow(statement, use)]
        here = {name: self._called.get((statement.file.path, name), name) for name in statement.binds}
        self._imports |= dict.fromkeys(statement.file.futures())
        self._pieces.append((statement.text(edits, here), isinstance(statement.node, _Definition)))

    def _follow(self, statement: _Statement, use: Use) -> Iterator[tuple[ast.expr, str]]:
        """Add what a use leads to; yield how it is to be written now, where that is not as it was."""
        meaning, depth = self._names.meaning(statement.file, use.name), 0
        while isinstance(meaning, _Module) and depth < len(use.attributes):
            meaning = self._names.member(meaning, use.attributes[depth])
            depth += 1
        if isinstance(meaning, _Installed):
            self._imports[meaning.statement] = None
        elif isinstance(meaning, _Ours):
            renamed = depth > 0 or meaning.name != use.name
            beside = _identifiers(statement.node) if renamed else frozenset()
            name = self._add_definition(meaning, of_module=depth > 0, beside=beside)
            if depth or name != use.name:
                yield use.nodes[depth], name

    def _add_definition(self, meaning: _Ours, *, of_module: bool, beside: frozenset[str]) -> str:
        """Add a definition, unless it is there, and return its name in the bundle, which is none of ``beside``."""
        key = (meaning.file.path, meaning.name)
        known = key in self._called
        if not known:
            self._called[key] = _free_name(meaning.name, beside.union(self._called.values()))
        name = self._called[key]
        statements = meaning.file.binding(meaning.name)
        for statement in statements:
            self._add(statement)
        if of_module and not known and _is_plain_constant(statements[-1].node):
            # A kernel may read any constant of a module, but a global of its own only if that is a constexpr.
            self._imports["import triton.language as tl"] = None
            self._pieces.append((f"{name} = tl.constexpr({name})", False))
        if name in beside:
            alias = _free_name(name, beside.union(self._called.values()))
            self._pieces.append((f"{alias} = {name}", False))
            return alias
        return name


def _is_plain_constant(node: ast.stmt) -> bool:
    """Whether a statement gives a name a value that is not wrapped in a constexpr."""
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return False
    return not (isinstance(node.value, ast.Call) and _called(node.value) == "constexpr")


def _identifiers(node: ast.AST) -> frozenset[str]:
    """Every name that stands anywhere in it."""
    found = (each for each in ast.walk(node) if isinstance(each, ast.Name | ast.arg))
    return frozenset(each.id if isinstance(each, ast.Name) else each.arg for each in found)


def _free_name(name: str, taken: frozenset[str]) -> str:
    candidates = (name, *(f"{name}_{number}" for number in range(2, 1000)))
    return next(candidate for candidate in candidates if candidate not in taken)
