"""From block pointers to another form of access, statement by statement: what all forms share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import libcst as cst

from compat.toolchains.edits import CannotEdit
from compat.toolchains.triton.edits.block_pointers.access import Access
from compat.toolchains.triton.edits.block_pointers.components import Part
from compat.toolchains.triton.edits.block_pointers.normal import in_place_of, rewritten
from compat.toolchains.triton.edits.block_pointers.webs import Definition, Flow, Web
from compat.toolchains.triton.edits.code import dotted, parenthesized, walk


class AccessForm(Protocol):
    """A form of access that takes the place of block pointers, in one function."""

    def defining(self, definition: Definition) -> Sequence[str]:
        """The statements in the place of a definition."""

    def before(self, access: Access) -> Sequence[str]:
        """The statements before the one with a load or store in it; the same for several loads in it count once."""

    def accessing(self, access: Access, call: cst.Call) -> str:
        """The expression in the place of a load or store; ``call`` is it with what stands inside of it edited."""

    def element_holder(self, web: Web) -> str:
        """An expression whose ``dtype`` is that of a pointer to an element."""

    def handing(self, web: Web) -> Mapping[Part, str]:
        """Expressions for the parts of a block pointer that is handed to another function, or returned."""

    def is_natural(self, web: Web, part: Part) -> bool:
        """Whether a part is certainly no negative number."""


class Exchange(Protocol):
    """What is done with block pointers that are handed over, in one function."""

    def arguments(self, call: cst.Call, edited: cst.Call) -> Sequence[cst.Arg] | None:
        """The arguments of a call that hands block pointers over; ``None`` for others. ``edited`` is it with edited arguments."""

    def returned(self, statement: cst.Return, edited: cst.Return) -> cst.Return:
        """A ``return`` in the same way."""


class Rewriting:
    """A function in which each statement gets its new form."""

    def __init__(self, flow: Flow, form: AccessForm, accesses: dict[cst.Call, Access], exchange: Exchange) -> None:
        self._flow, self._form, self._accesses, self._exchange = flow, form, accesses, exchange
        self._comments: list[cst.EmptyLine] = []
        self._done: set[cst.CSTNode] = set()

    def of(self, function: cst.FunctionDef) -> cst.FunctionDef:
        """The function. Raises CannotEdit where not all of it has a new form."""
        new = rewritten(function, self._statement)
        if self._done != {*self._accesses, *self._flow.attributes, *self._flow.handed}:
            raise CannotEdit("a block pointer is used in the condition of a statement")
        return new

    def _statement(self, old: cst.SimpleStatementLine) -> list[cst.BaseStatement]:
        definition = self._flow.definition_at(old)
        if definition is not None:
            new = in_place_of(old, _parsed(self._form.defining(definition)))
        else:
            new = self._with_uses(old)
        return self._commented(old, new)

    def _commented(self, old: cst.SimpleStatementLine, new: list[cst.BaseStatement]) -> list[cst.BaseStatement]:
        """What stood above a statement that is gone stands above the next one."""
        if not new:
            self._comments += old.leading_lines
        elif self._comments:
            leading = [*self._comments, *getattr(new[0], "leading_lines", ())]
            new = [new[0].with_changes(leading_lines=leading), *new[1:]]
            self._comments = []
        return new

    def _with_uses(self, old: cst.SimpleStatementLine) -> list[cst.BaseStatement]:
        here = [node for node in walk(old) if node in self._accesses or node in self._flow.attributes or node in self._flow.handed]
        if not here:
            return [old]
        before = [line for node in here if node in self._accesses for line in self._form.before(self._accesses[node])]  # type: ignore[index]
        new = old.with_changes(leading_lines=[]).visit(_Uses(self._flow, self._form, self._accesses, self._exchange))
        self._done.update(here)
        assert isinstance(new, cst.SimpleStatementLine)
        return in_place_of(old, [*_parsed(dict.fromkeys(before)), new])


class _Uses(cst.CSTTransformer):
    def __init__(self, flow: Flow, form: AccessForm, accesses: dict[cst.Call, Access], exchange: Exchange) -> None:
        super().__init__()
        self._flow, self._form, self._accesses, self._exchange = flow, form, accesses, exchange

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        access = self._accesses.get(original_node)
        if access is not None:
            return cst.parse_expression(self._form.accessing(access, updated_node))
        arguments = self._exchange.arguments(original_node, updated_node)
        return updated_node if arguments is None else updated_node.with_changes(args=arguments)

    def leave_Return(self, original_node: cst.Return, updated_node: cst.Return) -> cst.Return:
        return self._exchange.returned(original_node, updated_node)

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        if original_node not in self._flow.attributes:
            return updated_node
        holder = self._form.element_holder(self._flow.web_of(original_node))
        return updated_node.with_changes(value=cst.parse_expression(holder))


def _parsed(lines: Iterable[str]) -> list[cst.BaseStatement]:
    return [cst.parse_statement(line) for line in lines]


def stored(call: cst.Call) -> cst.BaseExpression:
    """What a store stores."""
    named = [arg.value for arg in call.args if arg.keyword and arg.keyword.value == "value"]
    return named[0] if named else [arg.value for arg in call.args if not arg.keyword][1]


def axis_index(axis: int, rank: int) -> str:
    """``[:, None]`` for the first of two."""
    return "" if rank == 1 else f"[{', '.join(':' if position == axis else 'None' for position in range(rank))}]"


def addend(text: str) -> str:
    """An expression as the first term of a sum, or beside a comparison."""
    node = cst.parse_expression(text)
    plain = isinstance(node, cst.BinaryOperation) and isinstance(
        node.operator, cst.Add | cst.Subtract | cst.Multiply | cst.FloorDivide | cst.Modulo
    )
    return text if plain or dotted(node) or (isinstance(node, cst.UnaryOperation) and not node.lpar) else parenthesized(text)


def added(value: str, by: str) -> str:
    if not by or value == "0":
        return by or value
    return f"{value} + {by if isinstance(cst.parse_expression(by), cst.UnaryOperation) else parenthesized(by)}"


def assignment(name: str, value: str) -> str:
    """``name = value``, and ``name += …`` where that is what it comes to."""
    return f"{name} += {value.removeprefix(f'{name} + ')}" if value.startswith(f"{name} + ") else f"{name} = {value}"
