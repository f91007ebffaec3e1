"""A kernel as one self-contained module: its function, what that uses, and nothing else.

The bundle follows names to their definitions, through the source file and the files beside it that
it imports. It copies definitions as they are written, comments included, and puts each before the
code that uses it. Nothing is imported: all facts come from the syntax trees. A kernel that a
factory makes or that a class holds becomes a top-level function (:mod:`compat.bundle.factories`).

The bundle leaves out decorators that tune or choose, which are all that the language does not name.
A specialization already says what they would find out. If such a decorator is what fails, the
caller asks for the kernel with all its decorators.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from attrs import define, evolve, field, frozen

from compat.bundle.factories import CannotBeFrozen, resolve_function
from compat.errors import ConfigError
from compat.model import Specialization
from compat.source.closure import read_source, roots_of
from compat.source.names import (
    Definition,
    Installed,
    ModulePlace,
    Names,
    OwnDefinition,
    ParsedFile,
    Statement,
    callable_name,
)
from compat.source.parsing import (
    NameUse,
    attributes_set,
    defined_names,
    evaluated_names,
    expression_of,
    tree_of,
    uses,
)
from compat.text import text_digest


@frozen(kw_only=True)
class ConstantForm:
    """The form of a constant that kernels may read as a global.

    It is for a language whose kernels may read no other global.
    """

    statement: str
    """The statement that it needs: ``import triton.language as tl``."""
    made_with: str
    """The function that makes such a constant from a value: ``tl.constexpr``."""


_OF_METHODS = frozenset({"property", "cached_property", "classmethod", "staticmethod", "setter"})
"""The usual decorators of methods."""


@frozen(kw_only=True)
class Bundle:
    """A kernel as a module of its own."""

    text: str
    """A Python module that imports nothing but installed packages."""
    decorated: bool = False
    """Whether the kernel has all its decorators."""
    spec: Specialization
    """The specialization of the kernel, with the function's name in the module.

    Its source is empty. :meth:`write` returns one with the source.
    """

    def write(self, path: Path) -> Specialization:
        """Write the module to ``path`` and return the specialization of the function in it.

        Raises OSError.
        """
        path.write_text(self.text, encoding="utf-8")
        return evolve(self.spec, source=str(path), roots=(), closure=read_source(path).closure)


def bundle(
    spec: Specialization,
    *,
    decorators: frozenset[str] | None = None,
    constant: ConstantForm | None = None,
    package: str | None = None,
    decorated: bool = False,
) -> Bundle:
    """Make the bundle of a specialization's kernel.

    ``decorators``, ``constant`` and ``package`` are fields of
    :class:`compat.toolchains.base.Language`.

    Args:
        spec: The specialization.
        decorators: The decorators that stay with the kernel. ``None``: all.
        constant: How to write a constant of a module. ``None``: as it is in the source.
        package: The package that kernels import. A kernel in a branch keeps the condition if the
            condition depends on this package. ``None``: it always keeps the condition.
        decorated: Keep the kernel as it is in its file, with everything that its decorators use.

    Raises:
        ConfigError: The source cannot be read, is nested too deeply, does not have the function,
            or does not determine what a factory makes.
    """
    path = Path(spec.source)
    roots = tuple(map(Path, spec.roots)) or roots_of(path)
    bundling = _Bundling(
        names=Names(roots=roots, decorators=decorators, package=package),
        constant=constant,
        decorated=decorated,
    )
    try:
        function = bundling.add_kernel(path, spec.function, spec.compile.functions)
    except (OSError, SyntaxError, KeyError, RecursionError, CannotBeFrozen) as error:
        raise ConfigError(
            f"cannot copy the kernel out of its file: {_reason(error)}", where=str(path)
        ) from error
    text = bundling.text()
    closure = text_digest(text)
    return Bundle(
        text=text,
        decorated=decorated,
        spec=evolve(spec, source="", roots=(), function=function, closure=closure),
    )


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(error.args[0]) if isinstance(error, KeyError | SyntaxError) else str(error)


@define(kw_only=True)
class _Bundling:
    """A bundle under construction."""

    _names: Names
    decorated: bool
    """Whether the kernel keeps the decorators that tune or choose."""
    constant: ConstantForm | None
    """The form of a global that a kernel may read, for releases that restrict globals; ``None`` if
    it may read every global.
    """
    _imports: dict[str, None] = field(factory=dict)
    _bound_by: dict[str, str] = field(factory=dict)
    """Import → the name that it binds in the bundle; imports of one package are one import."""
    _called: dict[tuple[Path, str], str] = field(factory=dict)
    """Definition → its name in the bundle: its own, unless that was taken."""
    _added: set[int] = field(factory=set)
    _adding: set[tuple[Path, str]] = field(factory=set)
    """Definitions whose statements are being added, in their order."""
    _pieces: list[tuple[str, bool]] = field(factory=list)
    """Pieces of source: the text, and whether it is a function or a class."""

    def add_kernel(self, path: Path, expression: str, functions: Iterable[str] = ()) -> str:
        """Add the last definition of the kernel, and leave out later assignments of its name.

        Such an assignment is ``kernel = autotune(…)(kernel)``. A kept decorator in it, as in
        ``kernel = jit(kernel)``, becomes one of the definition. ``functions`` are the functions of
        its file that the kernel takes as constexprs. They keep their names too. Returns the
        kernel's name. Raises CannotBeFrozen if that is not possible.
        """
        file = self._names.file(path)
        kernel = resolve_function(self._names, file, expression_of(expression))
        binding = kernel.file.binding(kernel.name)
        if kernel.file is not file and kernel.name in functions:
            raise CannotBeFrozen(
                f"the kernel and a function passed to it have the same name, {kernel.name}"
            )
        self._called |= {(path, name): name for name in functions} | {
            (kernel.file.path, kernel.name): kernel.name
        }
        for function in functions:
            self._add_definition(
                OwnDefinition(file=file, name=function), of_module=False, beside=frozenset()
            )
        self._added |= {id(statement) for statement in binding}
        self._add(
            [statement for statement in binding if not isinstance(statement.node, ast.Assign)][-1],
            again=True,
        )
        definition, _ = self._pieces.pop()
        for statement, decorator in _applied_decorators(kernel, binding):
            text = ast.unparse(decorator)
            if any([*self._follow(statement, use)] for use in uses(decorator)):
                raise CannotBeFrozen(f"`{text}` means something else in the file of {kernel.name}")
            definition = f"@{text}\n{definition}"
        self._pieces.append((definition, True))
        return kernel.name

    def text(self) -> str:
        """The text of the module."""
        future = sorted(line for line in self._imports if "__future__" in line)
        rest = sorted(
            (line for line in self._imports if "__future__" not in line),
            key=lambda line: (line[0] == "f", line),
        )
        text = "\n\n".join("\n".join(lines) for lines in (future, rest) if lines)
        before: bool | None = None
        for piece, definition in _in_order(self._pieces):
            text += ("\n\n" if before is None else "\n") if not (definition or before) else "\n\n\n"
            text, before = text + piece, definition
        return text.lstrip("\n") + "\n"

    def _add(self, statement: Statement, *, again: bool = False) -> None:
        """Add a statement after the definitions that it uses."""
        if id(statement) in self._added and not again:
            return
        self._added.add(id(statement))
        written = statement.with_decorators() if again and self.decorated else statement
        if again and statement.file.decorators is not None:
            written = written.without_methods(statement.file.decorators | _OF_METHODS)
        edits = [edit for use in uses(written.node) for edit in self._follow(written, use)]
        here = {
            name: self._called.get((statement.file.path, name), name) for name in statement.binds
        }
        self._imports |= dict.fromkeys(statement.file.futures())
        self._pieces.append((written.text(edits, here), isinstance(statement.node, Definition)))

    def _follow(self, statement: Statement, use: NameUse) -> Iterator[tuple[ast.expr, str]]:
        """Add the definition that a use leads to, and yield the use's new form if it changes."""
        meaning, depth = self._names.meaning(statement.file, use.name), 0
        while isinstance(meaning, ModulePlace) and depth < len(use.attributes):
            meaning = self._names.member(meaning, use.attributes[depth])
            depth += 1
        if isinstance(meaning, Installed):
            name = self._add_import(meaning.statement, beside=statement.identifiers)
            if name is not None and (depth or name != use.name):
                yield use.nodes[depth], name
        elif isinstance(meaning, OwnDefinition):
            renamed = depth > 0 or meaning.name != use.name
            beside = statement.identifiers if renamed else frozenset()
            if meaning.file.around is not None:
                beside = statement.identifiers - {use.name}
            name = self._add_definition(meaning, of_module=depth > 0, beside=beside)
            if depth or name != use.name:
                yield use.nodes[depth], name

    def _add_import(self, text: str, *, beside: frozenset[str]) -> str | None:
        """Add an import, and return the name that it binds in the bundle, ``None`` for a star.

        Files may import two things by one name. The second one gets another name, which is not in
        ``beside``.
        """
        node = tree_of(text).body[0]
        assert isinstance(node, ast.Import | ast.ImportFrom)
        [alias] = node.names
        if alias.name == "*":
            self._imports[text] = None
            return None
        of_package = isinstance(node, ast.Import) and alias.asname is None
        source_name = alias.asname or (alias.name.partition(".")[0] if of_package else alias.name)
        key = f"import {source_name}" if of_package else text
        if key not in self._bound_by:
            used_names = frozenset((*self._called.values(), *self._bound_by.values()))
            is_free = source_name not in used_names
            self._bound_by[key] = (
                source_name if is_free else _free_name(source_name, used_names | beside)
            )
        name = self._bound_by[key]
        if name != source_name:
            node.names = [ast.alias(source_name if of_package else alias.name, name)]
            self._imports[ast.unparse(node)] = None
        if name == source_name or text != key:
            self._imports[text] = None
        return name

    def _add_definition(
        self, meaning: OwnDefinition, *, of_module: bool, beside: frozenset[str]
    ) -> str:
        """Add a definition, unless the bundle has it, and return its name in the bundle.

        The name is not in ``beside``.
        """
        key = (meaning.file.path, meaning.name)
        is_added = key in self._called
        if not is_added:
            self._called[key] = _free_name(
                meaning.name,
                beside.union(
                    self._called.values(), self._bound_by.values(), _outside(meaning.file)
                ),
            )
        name = self._called[key]
        statements = meaning.file.binding(meaning.name)
        # An assignment of the name leads back here, and to the assignments after it.
        if key not in self._adding:
            self._adding.add(key)
            for statement in statements:
                self._add(statement)
            self._adding.discard(key)
        if self.constant and of_module and not is_added and _is_plain_constant(statements[-1].node):
            self._imports[self.constant.statement] = None
            self._pieces.append((f"{name} = {self.constant.made_with}({name})", False))
        if name in beside:
            alias = _free_name(name, beside.union(self._called.values(), self._bound_by.values()))
            self._pieces.append((f"{alias} = {name}", False))
            return alias
        return name


def _applied_decorators(
    kernel: OwnDefinition, binding: Iterable[Statement]
) -> Iterator[tuple[Statement, ast.expr]]:
    """Yield the kept decorators in assignments of a kernel's name, with the statements."""
    yield from kernel.applied
    for statement in binding:
        for node in ast.walk(statement.node) if isinstance(statement.node, ast.Assign) else ():
            match node:
                case ast.Call(func=decorator, args=[ast.Name(id=kernel.name)], keywords=[]):
                    if kernel.file.keeps(callable_name(decorator)):
                        yield statement, decorator


def _in_order(pieces: Sequence[tuple[str, bool]]) -> Iterator[tuple[str, bool]]:
    """Yield the pieces in their order, but each piece after those that it looks up when it runs.

    The body of a function looks names up later. If two classes use each other, the one that the
    other looks up in its definition comes first.
    """
    trees = [tree_of(piece) for piece, _ in pieces]
    binding: dict[str, int] = {}
    for number, tree in enumerate(trees):
        for node in tree.body:
            binding |= {name: number for name in defined_names(node) if name not in binding}
    waiting = dict(enumerate(trees))

    def due(number: int) -> Iterator[int]:
        tree = waiting.pop(number, None)
        if tree is not None:
            for name in dict.fromkeys(evaluated_names(tree)):
                if binding.get(name, number) > number:
                    yield from due(binding[name])
            yield number

    for number in range(len(pieces)):
        yield from (pieces[index] for index in due(number))


def _outside(file: ParsedFile) -> frozenset[str]:
    """Names that a definition from a function's scope may not have at the top level.

    It would hide a name that the module uses.
    """
    around = file.around
    return (
        frozenset()
        if around is None
        else frozenset(dir(builtins)).union(*(statement.binds for statement in around.statements))
    )


def _is_plain_constant(node: ast.stmt) -> bool:
    """Whether a statement gives a name a value that is not wrapped in a constexpr."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or (
        isinstance(node, ast.Assign) and attributes_set(node)
    ):
        return False
    return not (isinstance(node.value, ast.Call) and callable_name(node.value) == "constexpr")


def _free_name(name: str, used_names: frozenset[str]) -> str:
    candidates = (name, *(f"{name}_{number}" for number in range(2, 1000)))
    return next(candidate for candidate in candidates if candidate not in used_names)
