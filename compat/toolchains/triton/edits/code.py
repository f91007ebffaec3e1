"""Kernels as concrete syntax trees, with the queries and changes that edits need.

Comments and layout are part of such a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache, cached_property
from pathlib import Path
from typing import TypeVar

import libcst as cst
from attrs import define, field
from libcst.metadata import MetadataWrapper, PositionProvider

from compat.bundle.factories import CannotBeFrozen, resolve_function
from compat.model import Failure
from compat.source.imports import imports_in
from compat.source.names import Names, ParsedFile
from compat.source.parsing import expression_of
from compat.toolchains.language import CannotEdit, line_of

LANGUAGE = "triton.language"
_N = TypeVar("_N", bound=cst.CSTNode)
_Result = TypeVar("_Result")


@define(eq=False, slots=False)
class Code:
    """A module, and the functions in it that a kernel consists of."""

    text: str
    module: cst.Module
    function: str
    inside: tuple[str, ...] = ()
    """The factories and classes around the kernel's function, outermost first."""
    scope: cst.FunctionDef | None = None
    """The function that new names are for; without one, they are for the whole module."""

    @classmethod
    def of(cls, text: str, function: str) -> Code:
        """Parse the module with this text.

        ``function`` is its kernel, as in a kernel file: ``kernel``, ``make(64)``. Raises CannotEdit
        if the text cannot be parsed, or has no such function.
        """
        try:
            code = cls(text, cst.parse_module(text), *place_of(text, function))
        except (cst.ParserSyntaxError, RecursionError) as error:
            raise CannotEdit("the source cannot be parsed") from error
        if code.function not in code.definitions:
            raise CannotEdit(f"the source does not define {function} at its top level")
        return code

    @cached_property
    def definitions(self) -> dict[str, cst.FunctionDef]:
        """Return the functions of the module, by name; the last one of a name counts, as in Python.

        Functions next to the kernel hide others of the same name. Raises CannotEdit if the place of
        the kernel is not in this text, or not unique.
        """
        definitions = {node.name.value: node for node in _functions(self.module.body)}
        body: Sequence[cst.CSTNode] = self.module.body
        for name in self.inside:
            holder = [
                node
                for node in body
                if isinstance(node, cst.FunctionDef | cst.ClassDef) and node.name.value == name
            ]
            if not holder:
                raise CannotEdit(f"{name} is in a file that cannot be edited")
            body = holder[-1].body.body
            inner = list(_functions(body))
            if sum(node.name.value == self.function for node in inner) > 1:
                raise CannotEdit(f"{name} defines several functions {self.function}")
            definitions |= {node.name.value: node for node in inner}
        return definitions

    @cached_property
    def reachable(self) -> tuple[cst.FunctionDef, ...]:
        """Return the kernel's function and the functions of the module that it uses.

        It may use them directly or through others.
        """
        functions: dict[str, cst.FunctionDef] = {}
        waiting = [self.function]
        while waiting:
            name = waiting.pop()
            if name in self.definitions and name not in functions:
                functions[name] = self.definitions[name]
                waiting += names_in(functions[name].body)
        return tuple(functions.values())

    @cached_property
    def names(self) -> set[str]:
        """Every name that ``scope``, or else the module, uses or binds, without attributes."""
        tree = self.scope or self.module
        unused = {id(node.attr) for node in walk(tree) if isinstance(node, cst.Attribute)}
        unused |= {
            id(node.name)
            for node in walk(tree)
            if isinstance(node, cst.ImportAlias) and node.asname
        }
        return {
            node.value
            for node in walk(tree)
            if isinstance(node, cst.Name) and id(node) not in unused
        }

    @cached_property
    def language(self) -> LanguageNames:
        """The module's names for Triton's language."""
        return LanguageNames.of(self.text)

    def code_for(self, node: cst.CSTNode) -> str:
        """Return the source text of a node."""
        return self.module.code_for_node(node)

    def within(self, function: cst.FunctionDef) -> Code:
        """Return the same code, with new names for a function."""
        return Code(self.text, self.module, self.function, self.inside, function)

    def with_functions(self, changed: dict[str, cst.FunctionDef]) -> str:
        """Return the text of the module with these functions in place of those of the same name."""
        replaced: dict[cst.CSTNode, cst.CSTNode] = {
            self.definitions[name]: node for name, node in changed.items()
        }
        if not all(any(node is old for node in self.module.body) for old in replaced):
            return self.replace_nodes(replaced)
        # This is ten times as fast as `replace_nodes`, which creates every node anew.
        body = [replaced.get(node, node) for node in self.module.body]
        return self.module.with_changes(body=body).code

    def replace_nodes(self, changed: Mapping[_N, cst.CSTNode]) -> str:
        """Return the text of the module with some nodes replaced.

        Nodes inside a replaced node are dropped with it.
        """
        new = self.module.visit(_ReplacerByIdentity(changed))
        assert isinstance(new, cst.Module)
        return new.code

    def collect(
        self, look: Callable[[cst.FunctionDef, cst.CSTNode], _Result | None]
    ) -> dict[cst.CSTNode, _Result]:
        """Return node of a reachable function → the result of ``look``, if it is not ``None``."""
        return {
            node: new
            for function in self.reachable
            for node in walk(function)
            if (new := look(function, node)) is not None
        }

    def fresh(self, name: str) -> str:
        """Return a name that is not used in the module or the function.

        It is the wanted name if possible.
        """
        while name in self.names:
            name += "_"
        self.names.add(name)
        return name


def place_of(text: str, function: str) -> tuple[str, tuple[str, ...]]:
    """Return the function that an expression reaches, and the factories and classes around it.

    They are in the text. Raises CannotEdit if the text does not show them.
    """
    if function.isidentifier():
        return function, ()
    try:
        kernel = resolve_function(
            Names(roots=()), ParsedFile.of(Path("kernel.py"), text), expression_of(function)
        )
    except (SyntaxError, KeyError, CannotBeFrozen) as error:
        why = error.args[0] if error.args else error
        raise CannotEdit(f"{function} cannot be found in the source: {why}") from error
    return kernel.name, kernel.file.inside


def _functions(body: Sequence[cst.CSTNode]) -> Iterator[cst.FunctionDef]:
    """Yield the function definitions among statements, including those in ``if`` and ``try``."""
    waiting: list[cst.CSTNode] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, cst.FunctionDef):
            yield node
        elif isinstance(
            node, cst.If | cst.Else | cst.Try | cst.IndentedBlock | cst.ExceptHandler | cst.Finally
        ):
            waiting += reversed(node.children)


@define
class LanguageNames:
    """A module's names for Triton's language: its aliases, and names that it imports."""

    modules: dict[str, str] = field(factory=dict)
    """Dotted name in the module → its full dotted name, such as ``tl`` → ``triton.language``."""
    members: dict[str, str] = field(factory=dict)
    """Name in the module → its full name, such as ``arange`` → ``triton.language.arange``."""

    @classmethod
    def of(cls, text: str) -> LanguageNames:
        """Return the names in the module with this text."""
        language = cls()
        for imported in imports_in(text.encode()):
            if not imported.level and imported.parts[0] == "triton":
                names = language.members if imported.names else language.modules
                names.update((name, origin) for name, origin in imported.bindings() if name != "*")
        return language

    def meaning(self, node: cst.BaseExpression) -> str | None:
        """Return the meaning of ``tl.math.exp``, such as ``triton.language.math.exp``.

        Returns ``None`` for names that are not Triton's.
        """
        name = dotted_name(node)
        first, _, rest = name.partition(".")
        meaning = self.members.get(first) or self.modules.get(first)
        return f"{meaning}.{rest}" if meaning and rest else meaning

    def member(self, node: cst.BaseExpression) -> str | None:
        """Return the meaning without ``triton.language.``, or ``None`` for names outside it."""
        meaning = self.meaning(node) or ""
        return meaning.removeprefix(f"{LANGUAGE}.") if meaning.startswith(f"{LANGUAGE}.") else None

    def called_name(self, node: cst.CSTNode) -> str | None:
        """Return the name in Triton's language that a call calls, such as ``arange``."""
        return self.member(node.func) if isinstance(node, cst.Call) else None

    @property
    def name(self) -> str:
        """The module's name for the language. Raises CannotEdit if it has none."""
        names = [
            name for name, what in {**self.members, **self.modules}.items() if what == LANGUAGE
        ]
        if not names and "triton" in self.modules.values():
            return LANGUAGE
        if not names:
            raise CannotEdit("the source does not import triton.language as a module")
        return names[0]


def dotted_name(node: cst.BaseExpression) -> str:
    """Return ``a.b.c`` as text, and an empty string for any other expression."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute) and (base := dotted_name(node.value)):
        return f"{base}.{node.attr.value}"
    return ""


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield a node and all nodes below it, from left to right, without layout."""
    waiting = [node]
    while waiting:
        here = waiting.pop()
        yield here
        waiting += reversed(_children(here))


def _children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """Return the same nodes as ``node.children``, ten times as fast.

    That property visits the node, and creates it anew.
    """
    children: list[cst.CSTNode] = []
    for name in _parts(type(node)):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            children.append(value)
        elif isinstance(value, list | tuple):
            children += [child for child in value if isinstance(child, cst.CSTNode)]
    return children


@cache
def _parts(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """Return the fields of a node class that are more than layout."""
    return tuple(field.name for field in fields(kind) if not field.name.startswith(_LAYOUT))


_LAYOUT = (
    "whitespace",
    "leading_lines",
    "lines_after",
    "trailing",
    "lpar",
    "rpar",
    "lbracket",
    "rbracket",
    "header",
    "footer",
    "comma",
)


def bound_targets(
    node: cst.CSTNode,
) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression | None]]:
    """Yield each target that a statement or ``:=`` binds, with its value, or ``None`` if unknown.

    ``a, b = c, d`` gives two pairs.
    """
    if isinstance(node, cst.Assign):
        for target in node.targets:
            targets, values = elements_of(target.target), elements_of(node.value)
            if targets is not None and values is not None and len(targets) == len(values):
                yield from zip(targets, values, strict=True)
            else:
                yield target.target, node.value
    elif isinstance(node, cst.AnnAssign | cst.NamedExpr):
        yield node.target, node.value
    elif isinstance(node, cst.AugAssign | cst.For):
        yield node.target, None


def names_in(node: cst.CSTNode) -> Iterator[str]:
    """Yield the names in a tree, including attributes and keywords."""
    return (name.value for name in walk(node) if isinstance(name, cst.Name))


class _ReplacerByIdentity(cst.CSTTransformer):
    """Replaces nodes by identity."""

    def __init__(self, changed: Mapping[_N, cst.CSTNode]) -> None:
        super().__init__()
        self._changed = {id(node): new for node, new in changed.items()}

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]
        return self._changed.get(id(original_node), updated_node)


def arguments_of(call: cst.Call, names: Sequence[str]) -> dict[str, cst.BaseExpression]:
    """Return the arguments of a call, for parameters of these names in this order.

    Raises CannotEdit for ``*`` and ``**``, and for other parameters.
    """
    arguments: dict[str, cst.BaseExpression] = {}
    for position, argument in enumerate(call.args):
        if argument.star:
            raise CannotEdit("a call passes arguments with * or **")
        name = (
            argument.keyword.value
            if argument.keyword
            else names[position]
            if position < len(names)
            else ""
        )
        if name not in names:
            raise CannotEdit(f"{name or 'another argument'} of this call is unknown")
        arguments[name] = argument.value
    return arguments


def elements_of(node: cst.BaseExpression) -> tuple[cst.BaseExpression, ...] | None:
    """Return the elements of a tuple or list that is written out, or ``None``."""
    if isinstance(node, cst.Tuple | cst.List) and all(
        isinstance(element, cst.Element) for element in node.elements
    ):
        return tuple(element.value for element in node.elements)
    return None


def literal(node: cst.BaseExpression) -> int | None:
    """Return the value of an integer that is written out, or ``None``."""
    if isinstance(node, cst.Integer):
        return int(node.value.replace("_", ""), 0)
    if (
        isinstance(node, cst.UnaryOperation)
        and isinstance(node.operator, cst.Minus)
        and isinstance(node.expression, cst.Integer)
    ):
        return -int(node.expression.value.replace("_", ""), 0)
    return None


ATOMS = cst.Name | cst.Attribute | cst.Call | cst.Subscript | cst.Integer | cst.Float


def parenthesize(text: str) -> str:
    """Return an expression in parentheses, unless it needs none before an attribute or operator."""
    node = cst.parse_expression(text)
    return text if node.lpar or isinstance(node, ATOMS) else f"({text})"


def statement_at(module: cst.Module, failure: Failure) -> cst.SimpleStatementLine | None:
    """Return the statement that a failure is about, if it is a statement without a body."""
    nodes = nodes_at(module, failure)
    return next((node for node in nodes if isinstance(node, cst.SimpleStatementLine)), None)


def nodes_at(module: cst.Module, failure: Failure) -> list[cst.CSTNode]:
    """Return the statements that contain the line of a failure, outermost first."""
    line = line_of(failure)
    if line is None:
        return []
    places = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    statements = [
        node
        for node in walk(module)
        if isinstance(node, cst.SimpleStatementLine | cst.BaseCompoundStatement)
    ]
    return [node for node in statements if places[node].start.line <= line <= places[node].end.line]
