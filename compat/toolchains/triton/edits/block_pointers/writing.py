"""From block pointers to another form of access: the steps that all forms share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import libcst as cst

from compat.toolchains.edits import CannotEdit
from compat.toolchains.triton.edits.block_pointers.access import Access
from compat.toolchains.triton.edits.block_pointers.components import Bindings
from compat.toolchains.triton.edits.block_pointers.normal import Reader, in_place_of, normal, pointers_of, rewritten
from compat.toolchains.triton.edits.block_pointers.webs import Definition, Flow, Web
from compat.toolchains.triton.edits.code import Code, walk


class Form(Protocol):
    """A form of access that takes the place of block pointers, in one function."""

    def defining(self, definition: Definition) -> Sequence[str]:
        """The statements in the place of a definition."""

    def before(self, access: Access) -> Sequence[str]:
        """The statements before the one with a load or store in it; the same for several loads in it count once."""

    def accessing(self, access: Access, call: cst.Call) -> str:
        """The expression in the place of a load or store; ``call`` is it with what stands inside of it edited."""

    def element_holder(self, web: Web) -> str:
        """An expression whose ``dtype`` is that of a pointer to an element."""


class MakeForm(Protocol):
    """Makes the form for a function, in which ``accesses`` are all the loads and stores. Raises CannotEdit where it cannot be."""

    def __call__(self, code: Code, flow: Flow, bindings: Bindings, accesses: Sequence[Access]) -> Form: ...


def edited(code: Code, make_form: MakeForm) -> str:
    """The module without block pointers. Raises CannotEdit where there are none, or where some cannot be replaced."""
    changed = {}
    for function in code.reachable:
        if pointers_of(code, function) or any(Reader(code).makes(node) for node in walk(function)):
            changed[function.name.value] = _edited(code, function, make_form)
    if not changed:
        raise CannotEdit("the kernel makes no block pointers")
    return code.with_functions(changed)


def _edited(code: Code, function: cst.FunctionDef, make_form: MakeForm) -> cst.FunctionDef:
    function = normal(code, function)
    flow = Flow(Reader(code, pointers_of(code, function)), function)
    accesses = {call: Access.of(call, flow.web_of(call), code) for call in flow.use_of}
    form = make_form(code, flow, Bindings.of(code, function), list(accesses.values()))
    rewriting = _Rewriting(flow, form, accesses)
    new = rewritten(function, rewriting.statement)
    if rewriting.done != {*accesses, *flow.asked}:
        raise CannotEdit("a block pointer is used in the condition of a statement")
    return new


class _Rewriting:
    def __init__(self, flow: Flow, form: Form, accesses: dict[cst.Call, Access]) -> None:
        self._flow, self._form, self._accesses = flow, form, accesses
        self._comments: list[cst.EmptyLine] = []
        self.done: set[cst.CSTNode] = set()

    def statement(self, old: cst.SimpleStatementLine) -> list[cst.BaseStatement]:
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
        here = [node for node in walk(old) if node in self._accesses or node in self._flow.asked]
        if not here:
            return [old]
        before = [line for node in here if node in self._accesses for line in self._form.before(self._accesses[node])]  # type: ignore[index]
        new = old.with_changes(leading_lines=[]).visit(_Accesses(self._flow, self._form, self._accesses))
        self.done.update(here)
        assert isinstance(new, cst.SimpleStatementLine)
        return in_place_of(old, [*_parsed(dict.fromkeys(before)), new])


class _Accesses(cst.CSTTransformer):
    def __init__(self, flow: Flow, form: Form, accesses: dict[cst.Call, Access]) -> None:
        super().__init__()
        self._flow, self._form, self._accesses = flow, form, accesses

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        access = self._accesses.get(original_node)
        return updated_node if access is None else cst.parse_expression(self._form.accessing(access, updated_node))

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        if original_node not in self._flow.asked:
            return updated_node
        holder = self._form.element_holder(self._flow.web_of(original_node))
        return updated_node.with_changes(value=cst.parse_expression(holder))


def _parsed(lines: Iterable[str]) -> list[cst.BaseStatement]:
    return [cst.parse_statement(line) for line in lines]
