"""What importing a file does, read as text: which bodies of functions no kernel of another file can notice.

The package of a kernel imports files that the kernel itself does not use. Importing one runs its statements, but not the bodies of
the functions that it only defines. A body can be left out of what a kernel depends on where

- nothing that is run while any of the files is imported leads to its function: no statement, no decorator, no function that one of
  these leads to. Whatever is called so counts, in whichever file it is: names are not resolved;
- the function has no decorator that could look at it, and its class no base that could;
- every Python compiles it, if one does: else the file could be imported in one env and not in the other;
- nothing that is run looks for functions, modules or files in a way that no name shows, such as ``globals()``.
"""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from attrs import define, evolve, field, frozen

from compat.bundle.imports import imports_of
from compat.bundle.parsing import tree_of
from compat.bundle.portable import portable_bodies

_INERT_DECORATORS = frozenset(
    {
        *(f"triton.{name}" for name in ("jit", "autotune", "heuristics")),
        *("staticmethod", "classmethod", "property", "functools.cache", "functools.lru_cache"),
        *("torch.no_grad", "torch.inference_mode"),
    }
)
"""They keep the function that they are given, and neither call it nor look at its body."""
_INERT_BASES = frozenset({"object", "torch.autograd.Function", "torch.nn.Module"})
_INERT_NAMES = frozenset(each.rpartition(".")[2] for each in _INERT_DECORATORS | _INERT_BASES)
_INSTALLED = frozenset({"triton", "torch", "functools"})
"""The packages that these are of: no folder of the tree may be called so."""
_FINDS_ANYTHING = frozenset(
    {
        *("=globals", "=locals", "=vars", "=dir", "=eval", "=exec", "=compile", "=getattr", "=hasattr", "=setattr", "=delattr"),
        *(
            "builtins",
            "__name__",
            "__file__",
            "__package__",
            "__path__",
            "__spec__",
            "__loader__",
            "__builtins__",
            "__import__",
            "__all__",
        ),
        *("__dict__", "__globals__", "__code__", "__closure__", "__subclasses__", "__getattribute__"),
        *("import_module", "reload", "exec_module", "spec_from_file_location", "module_from_spec", "files", "get_data", "pkgutil"),
        *("runpy", "modules", "meta_path", "path_hooks", "path_importer_cache", "settrace", "setprofile", "addaudithook", "gc"),
        *(
            "_getframe",
            "currentframe",
            "stack",
            "getmembers",
            "getsource",
            "getsourcelines",
            "getsourcefile",
            "getfile",
            "linecache",
        ),
        *("open", "open_code", "read_text", "read_bytes", "listdir", "scandir", "glob", "rglob", "iterdir", "walk"),
        *("subprocess", "system", "popen", "fork", "ctypes", "pickle", "marshal", "cpp_extension", "attach", "attrgetter"),
        *("methodcaller", "extract_stack", "tokenize", "script"),
    }
)
"""Names whose use can lead to functions, modules or sources that no name shows; with ``=`` where they are no module's."""
_LEADS_OUT = frozenset({"modules", "import_module", "__import__", "exec_module"})
"""The same for what is run while a kernel is compiled."""
_Origin = tuple[str, tuple[str, ...]]
"""A name of a file, and the attributes that are taken of it."""


@frozen(kw_only=True)
class Body:
    """The body of a function that may be left out."""

    lines: tuple[int, int]
    """Indexes of its first line, and of the one after it."""
    name: str
    """Of the function; empty for what is only run where the file is the program itself."""
    owners: tuple[str, ...]
    """The classes that it is in."""
    mentions: frozenset[str]
    handed: frozenset[_Origin] = frozenset()
    """What gets the function, or its class, in its hands: decorators and bases."""


@frozen(kw_only=True, eq=False)
class Outline:
    """What importing a file runs, and what it only defines."""

    mentions: frozenset[str]
    """Names and attributes that are used by what runs: also as ``=name`` and ``.attribute`` where that is not for an attribute of
    theirs."""
    same: tuple[tuple[str, str], ...]
    """Names and what they are given without a question: by an import or an assignment."""
    bodies: tuple[Body, ...]

    @property
    def leads_out(self) -> bool:
        """Whether something of the file, bodies included, can lead to modules that its imports do not show."""
        return not all(_LEADS_OUT.isdisjoint(each) for each in (self.mentions, *(body.mentions for body in self.bodies)))


_known: dict[bytes, Outline | None] = {}
"""Hash of a content → its outline: the kernels of a package draw in the same files again and again."""
_runs: dict[frozenset[Outline], _Run] = {}
"""What is run while files of these outlines are imported together."""


def outline(content: bytes) -> Outline | None:
    """The outline of a file with this content; ``None`` where it cannot be told what importing it runs."""
    key = hashlib.sha256(content).digest()
    if key not in _known:
        _known[key] = _outline(content)
    return _known[key]


def without_unnoticed(contents: Mapping[Path, bytes], names: Mapping[Path, str]) -> Mapping[Path, bytes]:
    """Files that are imported together without the bodies that no kernel of another file can notice.

    ``names`` are those that the files have below their roots: ``pkg/ops/act.py``.
    """
    outlines = {path: outline(content) for path, content in contents.items()}
    known = frozenset(each for each in outlines.values() if each is not None)
    parts = [name.removesuffix(".py").split("/") for name in names.values()]
    if None in outlines.values() or _INSTALLED.intersection(part[0] for part in parts):
        return contents
    if known not in _runs:
        _runs[known] = _Run.of(known)
    run = _runs[known]
    if run.finds_anything({each for part in parts for each in part}):
        return contents
    return {path: _without(content, run.left_out(outlines[path])) for path, content in contents.items()}


def _without(content: bytes, bodies: Sequence[Body]) -> bytes:
    """A content without the lines of some bodies: of those that any Python compiles if one does."""
    if not bodies:
        return content
    lines, portable = content.split(b"\n"), portable_bodies(content)
    for first, last in sorted({body.lines for body in bodies} & portable, reverse=True):
        del lines[first:last]
    return b"\n".join(lines)


@define
class _Run:
    """What is run while files are imported."""

    outlines: frozenset[Outline]
    seen: set[str] = field(factory=set)
    """All that is mentioned."""
    bodies: set[int] = field(factory=set)
    """The identities of the bodies that may run."""

    @classmethod
    def of(cls, outlines: frozenset[Outline]) -> _Run:
        """Go from name to name."""
        run, leads, named = cls(outlines), dict[str, list[str]](), dict[str, list[Body]]()
        for each in outlines:
            for name, other in each.same:
                leads.setdefault(name, []).append(other)
                leads.setdefault("=" + name, []).append("=" + other)
                leads.setdefault("." + name, []).append("." + other)
            for body in each.bodies:
                for name in {body.name, *body.owners} - {""}:
                    named.setdefault(name, []).append(body)
        waiting = [name for each in outlines for name in each.mentions]
        while waiting:
            name = waiting.pop()
            if name not in run.seen:
                run.seen.add(name)
                waiting += leads.get(name, ())
                reached = [body for body in named.get(name, ()) if id(body) not in run.bodies]
                run.bodies.update(map(id, reached))
                waiting += (mention for body in reached for mention in body.mentions)
        return run

    def finds_anything(self, modules: set[str]) -> bool:
        """Whether what runs can lead to functions that no name shows; ``modules`` are the names of all modules and folders.

        Whoever has a module has all of its functions.
        """
        same = (each for outline in self.outlines for each in outline.same)
        return (
            not self.seen.isdisjoint(_FINDS_ANYTHING)
            or any("=" + name in self.seen and other.rpartition(".")[2] in modules for name, other in same)
            or any("." + name in self.seen for name in modules)
        )

    def left_out(self, outline: Outline | None) -> list[Body]:
        """The bodies of a file that do not run."""
        return [body for body in outline.bodies if id(body) not in self.bodies] if outline else []


# --- one file ----------------------------------------------------------------------------------------------------------------


def _outline(content: bytes) -> Outline | None:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        tree = tree_of(content)
    except (SyntaxError, UnicodeError):
        return None
    if encoding not in ("utf-8", "utf-8-sig") or b"\f" in content or b"\r" in content.replace(b"\r\n", b""):
        return None  # lines are not what they seem
    reader = _Reader(content.split(b"\n"))
    try:
        reader.read(tree.body, (), frozenset())
    except RecursionError:
        return None
    return reader.outline(tree)


class _Reader:
    """Goes through what importing a file runs."""

    def __init__(self, lines: list[bytes]) -> None:
        self.lines = lines
        self.run = _Mentions()
        self.bound: set[str] = set()
        """Names that the file gives a meaning otherwise than by an import, in whichever scope."""
        self.same: list[tuple[str, str]] = []
        self.bodies: list[Body] = []

    def outline(self, tree: ast.Module) -> Outline:
        """What was found of all statements: bodies that come into the hands of something unknown run."""
        imports = imports_of(tree)
        taken = [(bound, each) for each in imports for bound in each.bound or each.parts[:1]]
        bound = [each for each in imports if each.bound]
        self.same += [(each.parts[0], each.parts[0]) for each in imports if not each.bound]
        self.same += [pair for each in bound for pair in zip(each.bound, each.names or (".".join(each.parts),), strict=True)]
        origins: dict[str, str | None] = dict.fromkeys(self.bound | self.run.bound)
        for name, each in taken:
            parts = each.parts[:1] if not each.bound else each.parts
            number = each.bound.index(name) if each.names else 0
            origin = None if each.level else ".".join([*parts, *each.names[number : number + 1]])
            origins[name] = origin if origins.get(name, origin) == origin else None
        is_starred = any(each.names == ("*",) for each in imports)

        def is_inert(handed: _Origin) -> bool:
            name, attributes = handed
            origin = None if is_starred else origins.get(name, name)
            return origin is not None and ".".join([origin, *attributes]) in _INERT_BASES | _INERT_DECORATORS

        bodies = [body for body in self.bodies if all(map(is_inert, body.handed))]
        lost = [mention for body in self.bodies if body not in bodies for mention in body.mentions]
        return Outline(
            mentions=frozenset({*self.run.found, *lost}),
            same=tuple(dict.fromkeys(self.same)),
            bodies=tuple(evolve(body, handed=frozenset()) for body in bodies),
        )

    def read(self, statements: Iterable[ast.stmt], owners: tuple[str, ...], handed: frozenset[_Origin] | None) -> None:
        """Go through statements of a module or of a class; without ``handed`` no body in them is left out."""
        for node in statements:
            if isinstance(node, ast.FunctionDef):
                self.function(node, owners, handed)
            elif isinstance(node, ast.ClassDef):
                self.run.visit_all([*node.decorator_list, *node.bases, *node.keywords])
                self.bound.add(node.name)
                is_plain = not (node.decorator_list or node.keywords or getattr(node, "type_params", None))
                self.read(node.body, (*owners, node.name), _handed(handed, node.bases) if is_plain else None)
            elif isinstance(node, ast.If) and _is_of_program(node.test):
                self.leave_out(node, "", owners, frozenset())
                self.read(node.orelse, owners, handed)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                self.assignment(node)
            elif isinstance(node, ast.If | ast.For | ast.While | ast.With | ast.Try):
                self.block(node, owners, handed)
            elif not isinstance(node, ast.Import | ast.ImportFrom):
                self.run.visit(node)

    def block(self, node: ast.stmt, owners: tuple[str, ...], handed: frozenset[_Origin] | None) -> None:
        """A statement that has others in it."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ExceptHandler):
                self.bound |= {child.name} if child.name else set()
                self.run.visit_all([child.type] if child.type else [])
                self.read(child.body, owners, handed)
            elif isinstance(child, ast.stmt):
                self.read([child], owners, handed)
            else:
                self.run.visit(child)

    def function(self, node: ast.FunctionDef, owners: tuple[str, ...], handed: frozenset[_Origin] | None) -> None:
        self.bound.add(node.name)
        self.run.visit_all([*node.decorator_list, node.args, *([node.returns] if node.returns else [])])
        decorators = [each.func if isinstance(each, ast.Call) else each for each in node.decorator_list]
        runs = not owners and node.name.startswith("__")  # Python calls `__getattr__`
        if runs or getattr(node, "type_params", None) or not self.leave_out(node, node.name, owners, _handed(handed, decorators)):
            self.run.visit_all(node.body)

    def leave_out(
        self, node: ast.FunctionDef | ast.If, name: str, owners: tuple[str, ...], handed: frozenset[_Origin] | None
    ) -> bool:
        """Take the body of a statement for one that may be left out, if it can be."""
        body = node.body
        first = min([body[0].lineno, *(each.lineno for each in getattr(body[0], "decorator_list", ()))]) - 1
        stands_alone = not self.lines[first][: body[0].col_offset].strip() and first >= node.lineno
        if handed is None or (name and not stands_alone):
            return False
        inside = _Mentions()
        inside.visit_all(body)
        self.bound |= inside.bound
        if stands_alone:
            lines = first, body[-1].end_lineno or 0
            self.bodies.append(Body(lines=lines, name=name, owners=owners, mentions=frozenset(inside.found), handed=handed))
        return True

    def assignment(self, node: ast.Assign | ast.AnnAssign) -> None:
        """``name = value``: a value that is only taken is no use of it, as long as nobody uses the name."""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [each.id for each in targets if isinstance(each, ast.Name)]
        if len(names) < len(targets) or node.value is None:
            self.run.visit(node)
            return
        self.bound.update(names)
        self.run.visit_all([node.annotation] if isinstance(node, ast.AnnAssign) else [])
        self.same += [(name, taken) for taken in self.taken(node.value) for name in names]

    def taken(self, value: ast.expr) -> list[str]:
        """The names that a value is of; what it takes besides is mentioned."""
        if isinstance(value, ast.Name):
            return [value.id]
        if isinstance(value, ast.Attribute):
            self.run.found.add(value.attr)
            return self.taken(value.value)
        if isinstance(value, ast.Tuple | ast.List):
            return [name for each in value.elts for name in self.taken(each)]
        if isinstance(value, ast.Dict) and None not in value.keys:
            self.run.visit_all([key for key in value.keys if key is not None])
            return [name for each in value.values for name in self.taken(each)]
        self.run.visit(value)
        return []


def _handed(handed: frozenset[_Origin] | None, nodes: Sequence[ast.expr]) -> frozenset[_Origin] | None:
    """``handed``, and these expressions; ``None`` where one is no name with attributes."""
    found = [_origin(each) for each in nodes]
    return None if handed is None or None in found else handed.union(each for each in found if each is not None)


def _origin(node: ast.expr) -> _Origin | None:
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.insert(0, node.attr)
        node = node.value
    return (node.id, tuple(attributes)) if isinstance(node, ast.Name) else None


class _Mentions(ast.NodeVisitor):
    """The names and attributes that code uses, and the names that it binds."""

    def __init__(self) -> None:
        self.found: set[str] = set()
        self.bound: set[str] = set()

    def visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.found |= {node.id, "=" + node.id}
        else:
            self.bound.add(node.id)

    def visit_Constant(self, node: ast.Constant) -> None:
        pass

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.bound.add(node.name)
        self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.bound.add(node.name)
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.found.add("." + node.attr)
        self.attribute(node)

    def attribute(self, node: ast.Attribute) -> None:
        """One of which something else is taken, or that is called."""
        self.found.add(node.attr)
        if not isinstance(node.ctx, ast.Load) and node.attr in _INERT_NAMES:
            self.found.add("=setattr")
        if isinstance(node.value, ast.Name):
            self.found.add(node.value.id)
        elif isinstance(node.value, ast.Attribute):
            self.attribute(node.value)
        else:
            self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        constant = node.args[1] if len(node.args) > 1 else None
        if name in ("getattr", "hasattr") and isinstance(constant, ast.Constant):
            self.found.add(str(constant.value))
            self.visit_all([node.args[0], *node.args[2:], *node.keywords])
        elif name == "getLogger":
            self.visit_all([node.func, *(each for each in node.args if not _is_name(each, "__name__")), *node.keywords])
        elif isinstance(node.func, ast.Attribute):
            self.attribute(node.func)
            self.visit_all([*node.args, *node.keywords])
        else:
            self.generic_visit(node)


def _is_of_program(test: ast.expr) -> bool:
    """Whether it is ``__name__ == "__main__"``."""
    if not (isinstance(test, ast.Compare) and _is_name(test.left, "__name__") and isinstance(test.ops[0], ast.Eq)):
        return False
    return len(test.ops) == 1 and isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value == "__main__"


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
