"""One simplification at one place, as data, so that several can be made at once; and a candidate with some of them made."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from attrs import Factory, evolve, frozen

from compat.model import HINTS, TABLES, CompileSpec
from compat.model.signatures import parameter_of
from compat.reduce import module
from compat.reduce.candidate import Candidate
from compat.source.parsing import tree_of

Fact = tuple[str, str]
"""A table of the specialization (``options``) and a name in it."""


class _Drop:
    """Stands for a fact that is to go."""

    def __repr__(self) -> str:
        return "DROP"


DROP: Any = _Drop()
Nodes = Mapping[int, Sequence[ast.AST]]


@frozen(kw_only=True)
class Edit:
    """A simplification. Nodes go by their number in :func:`nodes_of` of the tree that it was made for."""

    what: str
    """Says what is done to what, in words that hold when something else of the module has changed."""
    nodes: Nodes = Factory(dict)
    """What stands in a node's place: nothing, one expression, or statements."""
    facts: Mapping[Fact, Any] = Factory(dict)
    """New values in the specialization; :data:`DROP` removes one."""
    function: str | None = None
    """The kernel's new name, where it changes."""


ReductionPass = Callable[[Candidate], Iterable[Edit]]
"""Proposes edits of a candidate."""


def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """All nodes, in an order that only the tree's shape decides. A node's place in it is its number."""
    return list(ast.walk(tree))


def numbers_of(tree: ast.AST) -> dict[int, int]:
    """``id`` of a node → its number."""
    return {id(node): number for number, node in enumerate(nodes_of(tree))}


def applied(candidate: Candidate, edits: Iterable[Edit]) -> Candidate | None:
    """``candidate`` with all these edits made and what they leave without purpose gone; ``None`` where that is no Python.

    Of two edits at one place the first counts, and an edit inside of what another replaces goes with it.
    """
    edits = list(edits)
    nodes: dict[int, Sequence[ast.AST]] = {}
    facts: dict[Fact, Any] = {}
    for edit in edits:
        nodes = {**edit.nodes, **nodes}
        facts = {**edit.facts, **facts}
    function = next((edit.function for edit in edits if edit.function), candidate.function)
    changed = _with_facts(candidate, facts)
    roots = (function, *changed.compile.functions)
    try:
        text = _text(candidate, nodes, roots) if nodes else candidate.text
    except (TypeError, ValueError, AttributeError, RecursionError):  # a tree that cannot be written, such as `x[]`
        return None
    if text is None or not module.is_whole(text):
        return None
    return evolve(changed, text=text, function=function)


def _text(candidate: Candidate, nodes: Nodes, functions: Sequence[str]) -> str | None:
    changed = _Replacing(tree_of(candidate.text), nodes).module()
    module.fit_decorators(module.prune(changed), candidate.language)
    changed = module.needed(changed, *functions)
    return module.written(changed) if set(functions) <= set(module.functions(changed)) else None


class _Replacing(ast.NodeTransformer):
    """Replaces some nodes of a tree, which is changed."""

    def __init__(self, tree: ast.Module, nodes: Nodes) -> None:
        self._tree = tree
        numbered = nodes_of(tree)
        self._by_id = {id(numbered[number]): new for number, new in nodes.items()}
        self._alive = numbered  # ids stay unique as long as the nodes are there

    def module(self) -> ast.Module:
        changed: ast.Module = self.visit(self._tree)
        return changed

    def visit(self, node: ast.AST) -> Any:
        new = self._by_id.get(id(node))
        if new is None:
            return self.generic_visit(node)
        copies = [copy.deepcopy(replacement) for replacement in new]
        if isinstance(node, ast.stmt):
            return copies
        return copies[0] if copies else None

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, ast.FunctionDef | ast.For | ast.While | ast.If | ast.With) and not node.body:
            node.body = [ast.Pass()]
        return node


def _with_facts(candidate: Candidate, facts: Mapping[Fact, Any]) -> Candidate:
    def table(name: str) -> dict[str, Any]:
        changed = dict(getattr(candidate.compile, name))
        for (where, key), value in facts.items():
            if where == name:
                changed[key] = value
        if name == "constexprs":  # with a tuple go the values of its elements
            dropped = {key for (where, key), value in facts.items() if where == "signature" and value is DROP}
            changed = {key: value for key, value in changed.items() if key == parameter_of(key) or parameter_of(key) not in dropped}
        return {key: value for key, value in changed.items() if value is not DROP}

    def hints(name: str) -> tuple[str, ...]:
        dropped = {key for (where, key), value in facts.items() if where in (name, "signature") and value is DROP}
        return tuple(hint for hint in candidate.compile.hints[name] if hint not in dropped and parameter_of(hint) not in dropped)

    changed: dict[str, Any] = {name: table(name) for name in TABLES}
    changed |= {name: hints(name) for name in HINTS}
    return evolve(candidate, compile=CompileSpec(**changed))


def statements_of(candidate: Candidate) -> Iterator[tuple[ast.FunctionDef, ast.stmt]]:
    """Every statement inside a function, with the function, outermost first."""
    for function in module.functions(candidate.tree).values():
        for node in ast.walk(function):
            if isinstance(node, ast.stmt) and node is not function:
                yield function, node
