"""The parts of the files imported with a kernel that can affect the kernel.

The package of a kernel imports files that the kernel itself does not use. Importing one runs its
statements, but not the bodies of the functions that it only defines. A kernel does not depend on
such a body if

- no code that runs while any of the files is imported leads to its function: no statement, no
  decorator, no function that one of these leads to. Names are not resolved: everything with the
  same name counts, in any file;
- the function has no decorator that could inspect it, and its class has no base that could;
- every Python compiles the body if one does: otherwise the file could be imported in one env and
  not in another;
- no code that runs looks for functions, modules or files in a way that no name shows, such as
  ``globals()``.

If this cannot be decided, all of the files count. Pure.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from attrs import frozen

from compat.source.imports import MOST_FILES, imports_of, names_bound, used_files
from compat.source.parsing import compiles, dotted_name, tree_of

_INERT_TEXT = """
    triton.jit triton.autotune triton.heuristics
    staticmethod classmethod property functools.cache functools.lru_cache
    torch.no_grad torch.inference_mode object torch.autograd.Function torch.nn.Module
"""
_INERT = frozenset(_INERT_TEXT.split())
"""Decorators and bases that keep a function or class, and neither call it nor inspect its body."""
_INERT_NAMES = frozenset(name.rpartition(".")[2] for name in _INERT)
_INSTALLED = frozenset(name.partition(".")[0] for name in _INERT if "." in name)
"""The packages of these decorators and bases. No folder of the tree may have such a name."""
_FINDING_TEXT = """
    =globals =locals =vars =dir =eval =exec =compile =getattr =hasattr =setattr =delattr
    builtins __name__ __file__ __package__ __path__ __spec__ __loader__ __builtins__
    __import__ __all__ __dict__ __globals__ __code__ __closure__ __subclasses__ __getattribute__
    import_module reload exec_module spec_from_file_location module_from_spec files get_data pkgutil
    runpy modules meta_path path_hooks path_importer_cache settrace setprofile addaudithook gc
    _getframe currentframe stack getmembers getsource getsourcelines getsourcefile getfile linecache
    open open_code read_text read_bytes listdir scandir glob rglob iterdir walk
    subprocess system popen fork ctypes pickle marshal cpp_extension attach attrgetter
    methodcaller extract_stack tokenize script
"""
_FINDS_ANYTHING = frozenset(_FINDING_TEXT.split())
"""Names whose use can lead to functions, modules or sources that no name shows. ``=`` has the
meaning that it has in :class:`Outline`.
"""
_FINDS_MODULES = frozenset({"modules", "import_module", "__import__", "exec_module"})
"""The same for code that runs while a kernel is compiled."""


@frozen(kw_only=True)
class Body:
    """The body of a function that may be left out."""

    lines: tuple[int, int]
    """Indexes of its first line, and of the one after it."""
    names: frozenset[str]
    """The function and its classes; empty for code that runs only if the file is the program
    itself.
    """
    mentions: frozenset[str]


@frozen(kw_only=True, eq=False)
class Outline:
    """The code that importing a file runs, and the functions that it only defines."""

    mentions: frozenset[str]
    """Names and attributes that the running code uses. ``=name`` is there, too, if the code uses
    the value of ``name`` itself: not only its attributes, and not only as a called method.
    """
    aliases: tuple[tuple[str, str], ...]
    """Names, and the names that an import or an assignment makes equal to them."""
    bodies: tuple[Body, ...]

    @property
    def finds_modules(self) -> bool:
        """Return whether the file can reach modules that its imports do not show.

        Bodies of functions count, too.
        """
        return not all(
            map(
                _FINDS_MODULES.isdisjoint, (self.mentions, *(body.mentions for body in self.bodies))
            )
        )


def relevant_parts(
    path: Path, contents: Mapping[Path, bytes], names: Mapping[Path, str], roots: Sequence[Path]
) -> Mapping[Path, bytes]:
    """Return the parts of the files imported with a kernel of a file that can affect the kernel.

    Files that the kernel's file uses are whole. Other files have only the code that their import
    runs. ``names`` are the names of the files below their roots, such as ``pkg/ops/act.py``.
    """
    used = used_files(path, roots, contents.__getitem__)
    if used is None or used.issuperset(contents):
        return contents
    if not _INSTALLED.isdisjoint(name.split("/")[0] for name in names.values()):
        return contents
    modules = frozenset(
        part for name in names.values() for part in name.removesuffix(".py").split("/")
    )
    finders = _finders(modules)
    outlines: dict[Path, Outline] = {}
    for file in sorted(contents, key=used.__contains__, reverse=True):
        outlined = outline(contents[file])
        if outlined is None or not finders.isdisjoint(outlined.mentions):
            return contents  # the other files, which may be thousands, need no outline
        outlines[file] = outlined
    running = (
        None
        if any(outlines[file].finds_modules for file in used)
        else _running(frozenset(outlines.values()), modules)
    )
    if running is None:
        return contents
    bodies = {
        file: [body for body in outlines[file].bodies if body not in running]
        for file in contents
        if file not in used
    }
    return {file: _without(content, bodies.get(file, ())) for file, content in contents.items()}


def _without(content: bytes, bodies: Sequence[Body]) -> bytes:
    """A content without the lines of those bodies that every Python compiles if one does."""
    if not bodies:
        return content
    lines, portable = content.split(b"\n"), portable_bodies(content)
    for first, last in sorted({body.lines for body in bodies} & portable, reverse=True):
        del lines[first:last]
    return b"\n".join(lines)


def _finders(modules: Iterable[str]) -> frozenset[str]:
    """Return the mentions of code that may find functions that no name shows.

    Code that uses a module as a value can reach all of its functions.
    """
    return _FINDS_ANYTHING | {f"={name}" for name in modules}


@lru_cache(64)
def _running(outlines: frozenset[Outline], modules: frozenset[str]) -> frozenset[Body] | None:
    """Return the bodies that may run while files are imported.

    Returns ``None`` if any body may run, because something finds functions that no name shows.
    ``modules`` are the names of all modules and folders.
    """
    aliases, named = dict[str, list[str]](), dict[str, list[Body]]()
    for outlined in outlines:
        for name, other in outlined.aliases:
            aliases.setdefault(name, []).append(other)
            aliases.setdefault(f"={name}", []).append(f"={other}")
        for body in outlined.bodies:
            for name in body.names:
                named.setdefault(name, []).append(body)
    mentions, running = set[str](), set[Body]()
    waiting = [name for outlined in outlines for name in outlined.mentions]
    while waiting:
        name = waiting.pop()
        if name not in mentions:
            mentions.add(name)
            bodies = [body for body in named.get(name, ()) if body not in running]
            running.update(bodies)
            waiting += [
                *aliases.get(name, ()),
                *(mention for body in bodies for mention in body.mentions),
            ]
    return frozenset(running) if mentions.isdisjoint(_finders(modules)) else None


# --- one file -------------------------------------------------------------------------------------


@lru_cache(MOST_FILES)
def outline(content: bytes) -> Outline | None:
    """Return the outline of a file with this content.

    Returns ``None`` if it cannot be decided which code importing the file runs.
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        tree = tree_of(content)
        if (
            encoding not in ("utf-8", "utf-8-sig")
            or b"\f" in content
            or b"\r" in content.replace(b"\r\n", b"")
        ):
            return None  # Python may count other lines than this code
        reader = _ImportReader(tree, content.split(b"\n"))
        reader.visit_all(tree.body)
    except (SyntaxError, UnicodeError, RecursionError):
        return None
    return Outline(
        mentions=frozenset(reader.mentions),
        aliases=tuple(dict.fromkeys(reader.aliases)),
        bodies=tuple(reader.bodies),
    )


class _ImportReader(ast.NodeVisitor):
    """Visits the code that importing a file runs."""

    def __init__(self, tree: ast.Module, lines: list[bytes]) -> None:
        self.lines = lines
        self.mentions: set[str] = set()
        self.bodies: list[Body] = []
        self.owners: tuple[str, ...] | None = ()
        """The classes around the visited node; ``None`` if no body of a function may be left out.
        """
        bindings = [binding for imported in imports_of(tree) for binding in imported.bindings()]
        self.aliases = [(name, origin.rpartition(".")[2]) for name, origin in bindings]
        self.is_starred = ("*", "*") in self.aliases
        self.origins = dict.fromkeys(names_bound(tree), "")
        """Name → its import; empty if something else binds it, too."""
        for name, origin in bindings:
            self.origins[name] = origin if self.origins.get(name, origin) == origin else ""

    def visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def visit_within(self, owners: tuple[str, ...] | None, nodes: Iterable[ast.AST]) -> None:
        """Visit nodes that are inside of other classes (see :attr:`owners`)."""
        before, self.owners = self.owners, owners
        self.visit_all(nodes)
        self.owners = before

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.visit_all([*node.decorator_list, node.args, *([node.returns] if node.returns else [])])
        decorators = [
            decorator.func if isinstance(decorator, ast.Call) else decorator
            for decorator in node.decorator_list
        ]
        is_called = not self.owners and node.name.startswith("__")  # Python calls `__getattr__`
        if (
            self.owners is None
            or is_called
            or getattr(node, "type_params", None)
            or not all(map(self.is_inert, decorators))
        ):
            self.visit_within(None, node.body)
        else:
            self.leave_out(node, frozenset({node.name, *self.owners}))

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_within(None, ast.iter_child_nodes(node))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.visit_all([*node.decorator_list, *node.bases, *node.keywords])
        is_plain = not (node.decorator_list or node.keywords or getattr(node, "type_params", None))
        keeps = self.owners is not None and is_plain and all(map(self.is_inert, node.bases))
        self.visit_within((*(self.owners or ()), node.name) if keeps else None, node.body)

    def visit_If(self, node: ast.If) -> None:
        if self.owners is not None and ast.unparse(node.test) == "__name__ == '__main__'":
            self.leave_out(node, frozenset())
            self.visit_all(node.orelse)
        else:
            self.generic_visit(node)

    def leave_out(self, node: ast.FunctionDef | ast.If, names: frozenset[str]) -> None:
        """Record that a statement's body may be left out, if it stands on lines of its own."""
        first, last = _lines_of(node.body)
        if self.lines[first][: node.body[0].col_offset].strip() or first < node.lineno:
            self.visit_within(None, node.body)
            return
        outside, self.mentions = self.mentions, set()
        self.visit_within(None, node.body)
        self.bodies.append(
            Body(lines=(first, last), names=names, mentions=frozenset(self.mentions))
        )
        self.mentions = outside

    def is_inert(self, node: ast.expr) -> bool:
        root, dot, rest = dotted_name(node).partition(".")
        return not self.is_starred and self.origins.get(root, root) + dot + rest in _INERT

    def visit_Assign(self, node: ast.Assign) -> None:
        self.assignment(node, node.targets)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.annotation)
        self.assignment(node, [node.target])

    def assignment(self, node: ast.Assign | ast.AnnAssign, targets: Sequence[ast.expr]) -> None:
        """Read ``name = value``.

        A value that is only assigned is not used as long as nothing uses the name.
        """
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if self.owners is None or len(names) < len(targets) or node.value is None:
            self.generic_visit(node)
        else:
            self.aliases += [
                (name, other) for other in self.value_names(node.value) for name in names
            ]

    def value_names(self, value: ast.expr) -> Iterator[str]:
        """Yield the names that a value consists of, and record the other names that it uses."""
        if isinstance(value, ast.Name):
            yield value.id
        elif isinstance(value, ast.Attribute):
            self.mentions.add(value.attr)
            yield from self.value_names(value.value)
        elif isinstance(value, ast.Tuple | ast.List | ast.Dict):
            self.visit_all(key for key in getattr(value, "keys", ()) if key is not None)
            for element in value.values if isinstance(value, ast.Dict) else value.elts:
                yield from self.value_names(element)
        else:
            self.visit(value)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.mentions |= {node.id, f"={node.id}"}

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.mentions.add(f"={node.attr}")
        self.attribute(node)

    def attribute(self, node: ast.Attribute) -> None:
        """Record an attribute that is only called, or of which another attribute is read."""
        self.mentions.add(node.attr)
        if not isinstance(node.ctx, ast.Load) and node.attr in _INERT_NAMES:
            self.mentions.add("=setattr")
        if isinstance(node.value, ast.Name):
            self.mentions.add(node.value.id)
        elif isinstance(node.value, ast.Attribute):
            self.attribute(node.value)
        else:
            self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        arguments = [*node.args, *node.keywords]
        match node:
            case ast.Call(
                func=ast.Name(id="getattr" | "hasattr"), args=[_, ast.Constant(value=name), *_]
            ):
                self.mentions.add(str(name))
            case ast.Call(func=ast.Name() | ast.Attribute() as logger) if (
                dotted_name(logger).rpartition(".")[2] == "getLogger"
            ):
                arguments = [
                    argument for argument in arguments if dotted_name(argument) != "__name__"
                ]
                self.visit(logger)
            case ast.Call(func=ast.Attribute() as method):
                self.attribute(method)
            case _:
                self.visit(node.func)
        self.visit_all(arguments)


def _lines_of(body: Sequence[ast.stmt]) -> tuple[int, int]:
    """The indexes of the first line of a body, and of the one after it."""
    first = min(
        [
            body[0].lineno,
            *(decorator.lineno for decorator in getattr(body[0], "decorator_list", ())),
        ]
    )
    return first - 1, body[-1].end_lineno or 0


# --- bodies that every Python compiles ------------------------------------------------------------

_FORMS = (
    ast.FunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.arguments,
    ast.arg,
    ast.keyword,
    ast.Return,
    ast.Delete,
    ast.Assign,
    ast.AugAssign,
    ast.AnnAssign,
    ast.For,
    ast.While,
    ast.If,
    ast.With,
    ast.withitem,
    ast.Raise,
    ast.Try,
    ast.ExceptHandler,
    ast.Assert,
    ast.Import,
    ast.ImportFrom,
    ast.alias,
    ast.Global,
    ast.Expr,
    ast.Pass,
    ast.Break,
    ast.Continue,
    ast.BoolOp,
    ast.BinOp,
    ast.UnaryOp,
    ast.IfExp,
    ast.Dict,
    ast.Set,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.comprehension,
    ast.Yield,
    ast.YieldFrom,
    ast.Compare,
    ast.Call,
    ast.JoinedStr,
    ast.FormattedValue,
    ast.Constant,
    ast.Attribute,
    ast.Subscript,
    ast.Slice,
    ast.Starred,
    ast.Name,
    ast.List,
    ast.Tuple,
    ast.expr_context,
    ast.boolop,
    ast.operator,
    ast.unaryop,
    ast.cmpop,
)
"""The syntax of Python 3.8, without ``async``, ``nonlocal`` and ``:=``, whose rules have changed
since.
"""
_DEPTH = 40
"""Nodes that may be nested. The limit differs between versions of Python."""
_BRACKETS = 20
"""Brackets that may be nested, for the same reason."""


@lru_cache(MOST_FILES)
def portable_bodies(content: bytes) -> frozenset[tuple[int, int]]:
    """Return where the portable bodies of a file are.

    A body is portable if every Python from 3.8 on that compiles the rest of the file compiles it,
    too. Each place is the index of the first line and of the line after the last. The result is
    empty if this Python does not compile the file, or warns about it.
    """
    if not compiles(content, silently=True):
        return frozenset()
    lines = content.split(b"\n")
    owners = (
        node for node in ast.walk(tree_of(content)) if isinstance(node, ast.FunctionDef | ast.If)
    )
    return frozenset(_lines_of(owner.body) for owner in owners if _is_portable(owner, lines))


def _is_portable(owner: ast.FunctionDef | ast.If, lines: Sequence[bytes]) -> bool:
    first, last = _lines_of(owner.body)
    indentation = lines[owner.lineno - 1][: owner.col_offset]
    if any(line.strip() and not line.startswith(indentation) for line in lines[first:last]):
        return False  # a decorator may remove the indentation that all lines have in common
    text = b"\n".join(lines[first:last])
    return (
        _brackets(text) <= _BRACKETS
        and text.isascii()
        and all(_is_as_ever(statement, lines, 0) for statement in owner.body)
    )


def _brackets(text: bytes) -> int:
    """The depth to which brackets are nested. Those in strings count, too."""
    depth = most = 0
    for char in text:
        depth = depth + 1 if char in b"([{" else max(0, depth - 1) if char in b")]}" else depth
        most = max(most, depth)
    return most


def _is_as_ever(node: ast.AST, lines: Sequence[bytes], depth: int) -> bool:
    """Whether a node and all nodes in it have the form that they had in Python 3.8."""
    if depth > _DEPTH or not isinstance(node, _FORMS) or getattr(node, "type_params", None):
        return False
    children = [*ast.iter_child_nodes(node)]
    match node:
        case ast.FunctionDef(decorator_list=decorators) | ast.ClassDef(decorator_list=decorators):
            plain = all(
                isinstance(decorator, ast.Name | ast.Attribute | ast.Call)
                for decorator in decorators
            )
        case ast.With(items=[ast.withitem(context_expr=first), *_]):  # parentheses around all items
            plain = not lines[first.lineno - 1][: first.col_offset].rstrip().endswith(b"(")
        case ast.Try(finalbody=final):
            plain = not final
        case ast.JoinedStr():
            plain = _is_plain_format(node, lines)
        case ast.FormattedValue(value=value):  # its format is a part of the f-string
            plain, children = True, [value]
        case _:
            is_list = isinstance(node, ast.Call | ast.List | ast.Set | ast.Assign)
            plain = is_list or not any(isinstance(child, ast.Starred) for child in children)
    return plain and all(_is_as_ever(child, lines, depth + 1) for child in children)


def _is_plain_format(node: ast.JoinedStr, lines: Sequence[bytes]) -> bool:
    """Whether an f-string is one token on one line, without syntax of newer Pythons in it."""
    values = [value for value in node.values if isinstance(value, ast.FormattedValue)]
    formats = [
        value
        for formatted in values
        if isinstance(formatted.format_spec, ast.JoinedStr)
        for value in formatted.format_spec.values
    ]
    if node.lineno != node.end_lineno or not all(
        isinstance(value, ast.Constant) for value in formats
    ):
        return False
    text = lines[node.lineno - 1][node.col_offset : node.end_col_offset].lstrip(b"fFrR")
    quote = text[:3] if text[:3] in (b'"""', b"'''") else text[:1]
    inner = text[len(quote) : -len(quote)]
    return text.endswith(quote) and quote[:1] not in inner and not set(b"\\#") & set(inner)
