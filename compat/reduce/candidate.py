"""A candidate of a reduction: a module's text, the facts of its kernel's compile, and its weight.

An :class:`Edit` is one simplification at one place. It is data, so that :func:`apply_edits` can
make several edits at once.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import cached_property

from attrs import Factory, define, evolve, frozen

from compat import toolchains
from compat.model import DEFAULT_TOOLCHAIN, HINTS, TABLES, CompileSpec, Specialization, arguments
from compat.model.cell import leaf_types, parameter_of
from compat.reduce import module
from compat.source.parsing import compiles, node_fields, tree_of, walk
from compat.text import JsonObject
from compat.toolchains.base import Simplification

_NODE = 16
_WEIGHT: tuple[tuple[type[ast.AST], int], ...] = (
    (ast.Pass, 1),
    (ast.stmt, 24),
    (ast.Name, 20),  # heavier than a number, because something has to define it
    (ast.expr, _NODE),
    (ast.keyword, _NODE),
    (ast.arg, _NODE),
)


@define(frozen=True, kw_only=True, slots=False, eq=False)
class Candidate:
    """A kernel and its specialization, as a value. Nothing of it is on disk."""

    text: str
    """A whole module."""
    function: str
    compile: CompileSpec = Factory(CompileSpec)
    toolchain: str = DEFAULT_TOOLCHAIN

    @classmethod
    def of(cls, spec: Specialization, text: str) -> Candidate:
        """The candidate to start from: ``spec``, with ``text`` as its source."""
        return cls(
            text=text, function=spec.function, compile=spec.compile, toolchain=spec.toolchain
        )

    def specialize(self, spec: Specialization, source: str) -> Specialization:
        """A copy of ``spec`` for this candidate, whose text is in the file ``source``."""
        return evolve(
            spec,
            source=source,
            roots=(),
            function=self.function,
            compile=self.compile,
            closure=self.key,
        )

    @cached_property
    def language(self) -> Simplification:
        """The facts for simplifying the language that the candidate is written in."""
        return toolchains.look_up(self.toolchain).language.simplification

    @cached_property
    def key(self) -> str:
        """Equal for equal candidates."""
        facts = [self.text, self.function, self.compile.document()]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed text. Callers must not change it."""
        return tree_of(self.text)

    @cached_property
    def statement_of(self) -> dict[ast.AST, ast.stmt]:
        """Return a node of the tree → the statement without a body that it is part of."""
        return {
            node: statement
            for statement in walk(self.tree)
            if isinstance(statement, ast.stmt) and not hasattr(statement, "body")
            for node in walk(statement)
        }

    @cached_property
    def functions(self) -> dict[str, ast.FunctionDef]:
        """The functions of the tree, by name; if the kernel is a class, its methods, too."""
        return module.functions(self.tree) | (
            module.methods(self.holder) if self.holder is not None else {}
        )

    @cached_property
    def holder(self) -> ast.ClassDef | None:
        """The class of the kernel; ``None`` if the kernel is a function."""
        return next(
            (
                statement
                for statement in self.tree.body
                if isinstance(statement, ast.ClassDef) and statement.name == self.function
            ),
            None,
        )

    @property
    def kernel(self) -> ast.FunctionDef:
        """The function of the kernel; for a class, its method ``__call__``."""
        return self.functions[self.function if self.holder is None else f"{self.function}.__call__"]

    @property
    def constructor(self) -> ast.FunctionDef | None:
        """The constructor of the kernel's class; ``None`` if there is none."""
        return None if self.holder is None else self.functions.get(f"{self.function}.__init__")

    @cached_property
    def weight(self) -> tuple[int, int]:
        """Return the weight of the code with the specialization, and then the number of letters.

        Every accepted candidate is lighter than the one before it, so a search ends.
        """
        facts = 8 * sum(map(len, self.compile.hints.values()))
        facts += sum(
            _NODE + self._of_type(kind) for kind in leaf_types(self.compile.signature).values()
        )
        facts += sum(
            _NODE + self._of_argument(leaf)
            for leaf in arguments.leaves(tuple(self.compile.launch.values()))
        )
        facts += sum(2 * _NODE + _of_value(value) for value in self.compile.constexprs.values())
        facts += sum(2 * _NODE + _of_value(value) for value in self.compile.options.values())
        return sum(map(_of_node, walk(self.tree))) + facts, len(self.text)

    def _of_argument(self, value: object) -> int:
        """Return the weight of an argument that a launch passes.

        A tensor weighs as much as its type, with a hint for each unusual fact. A number weighs by
        its value.
        """
        if arguments.is_tensor(value):
            dtype = arguments.dtype_of(value)
            return self._of_type(f"*{dtype}") + 8 * int(value != arguments.tensor(dtype))
        return 2 * _NODE if isinstance(value, str | dict) else _of_value(value)

    def _of_type(self, kind: str) -> int:
        if self.language.weight_of_type is not None:
            return self.language.weight_of_type(kind)
        element, plain = kind.removeprefix("*k").removeprefix("*"), self.language.argument_types
        return (plain.index(element) if element in plain else 2 * _NODE) + 4 * (
            kind.startswith("*") + kind.startswith("*k")
        )

    @property
    def lines(self) -> int:
        """Lines that are not empty."""
        return sum(bool(line.strip()) for line in self.text.splitlines())

    @cached_property
    def kernel_lines(self) -> int:
        """Lines of the kernel itself: its ``def`` line and its body."""
        return (self.kernel.end_lineno or self.kernel.lineno) - self.kernel.lineno + 1


def _of_node(node: ast.AST) -> int:
    if isinstance(node, ast.Constant):
        return _NODE + _of_value(node.value)
    if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Store):
        return 2 * _NODE * len(node.elts)  # `a, b = c, d` is no easier to read than two lines
    return next((weight for kind, weight in _WEIGHT if isinstance(node, kind)), 0)


def _of_value(value: object) -> int:
    """Return the weight of a value.

    A small number is lighter than a large one, and no number is heavier than a node. A fraction is
    heavier than a whole number.
    """
    if isinstance(value, bool) or value is None:
        return 1
    if isinstance(value, int):
        return min(abs(value).bit_length(), 14) + (value < 0)
    return 2 if value == 0.0 else 15


# --- edits ----------------------------------------------------------------------------------------


Fact = tuple[str, str]
"""A table of the specialization (``options``) and a name in it."""


DROP: object = object()
"""The value of a fact to remove."""
Nodes = Mapping[ast.AST, Sequence[ast.AST]]


@frozen(kw_only=True)
class Edit:
    """A simplification. Its nodes are those of the tree of the candidate that it was made for."""

    what: str
    """The edit and its place, in words that stay true if another part of the module changes."""
    nodes: Nodes = Factory(dict)
    """The replacement of a node: nothing, one expression, or statements."""
    facts: Mapping[Fact, object] = Factory(dict)
    """New values in the specialization; :data:`DROP` removes one."""
    function: str | None = None
    """The kernel's new name, if it changes."""


ReductionPass = Callable[[Candidate], Iterable[Edit]]
"""Proposes edits of a candidate."""


def apply_edits(candidate: Candidate, edits: Iterable[Edit]) -> Candidate | None:
    """Return ``candidate`` with all these edits made, without the statements that become unused.

    Returns ``None`` if the result is not valid Python. If two edits change one place, the first
    counts. An edit inside a node that another edit replaces has no effect.
    """
    edits = list(edits)
    nodes: dict[ast.AST, Sequence[ast.AST]] = {}
    facts: dict[Fact, object] = {}
    for edit in edits:
        nodes = {**edit.nodes, **nodes}
        facts = {**edit.facts, **facts}
    function = next((edit.function for edit in edits if edit.function), candidate.function)
    changed = _with_facts(candidate, facts)
    roots = (function, *changed.compile.functions)
    try:
        text = _text(candidate, nodes, roots) if nodes else candidate.text
    # The tree cannot be written, such as `x[]`.
    except (TypeError, ValueError, AttributeError, RecursionError):
        return None
    if text is None or not compiles(text):
        return None
    return evolve(changed, text=text, function=function)


def _text(candidate: Candidate, nodes: Nodes, functions: Sequence[str]) -> str | None:
    statements = candidate.statement_of
    same = frozenset(statements.values()).difference(map(statements.get, nodes))
    changed = _with_nodes(candidate.tree, nodes, same)[0]
    assert isinstance(changed, ast.Module)
    module.fit_decorators(module.prune(changed), candidate.language)
    changed = module.needed_part(changed, *functions)
    return module.module_text(changed) if module.defines(changed, functions) else None


def _with_nodes(node: ast.AST, changed: Nodes, same: Container[ast.AST] = ()) -> list[ast.AST]:
    """Return a copy of a tree in which some nodes are replaced. It shares the ``same`` nodes.

    The result is empty if the node itself is removed, and may be several statements.
    """
    if node in same:
        return [node]
    new = changed.get(node)
    if new is not None:
        copies = [ast.fix_missing_locations(_with_nodes(inner, {})[0]) for inner in new]
        return copies if isinstance(node, ast.stmt) else copies[:1]
    twin = type(node).__new__(type(node))  # its class may demand arguments
    twin.__dict__.update(node.__dict__)
    for name in node_fields(node._fields):
        value = getattr(node, name, None)
        if isinstance(value, list):
            items = [
                inner
                for item in value
                for inner in (
                    _with_nodes(item, changed, same) if isinstance(item, ast.AST) else [item]
                )
            ]
            setattr(twin, name, items)
        elif isinstance(value, ast.AST):
            copies = _with_nodes(value, changed, same)
            if copies:
                setattr(twin, name, copies[0])
            else:
                delattr(twin, name)
    if isinstance(twin, _BLOCKS) and not twin.body:
        twin.body = [ast.Pass()]
    return [twin]


_BLOCKS = (ast.FunctionDef, ast.For, ast.While, ast.If, ast.With)


def _with_facts(candidate: Candidate, facts: Mapping[Fact, object]) -> Candidate:
    def table(name: str) -> JsonObject:
        changed = dict(getattr(candidate.compile, name))
        for (where, key), value in facts.items():
            if where == name:
                changed[key] = value
        if name == "constexprs":  # the values of its elements are dropped with a tuple
            dropped = {
                key
                for (where, key), value in facts.items()
                if where == "signature" and value is DROP
            }
            changed = {
                key: value
                for key, value in changed.items()
                if key == parameter_of(key) or parameter_of(key) not in dropped
            }
        return {key: value for key, value in changed.items() if value is not DROP}

    def hints(name: str) -> tuple[str, ...]:
        dropped = {
            key
            for (where, key), value in facts.items()
            if where in (name, "signature") and value is DROP
        }
        return tuple(
            hint
            for hint in candidate.compile.hints[name]
            if hint not in dropped and parameter_of(hint) not in dropped
        )

    changed: JsonObject = {name: table(name) for name in TABLES}
    changed |= {name: hints(name) for name in HINTS}
    return evolve(candidate, compile=CompileSpec(**changed))
