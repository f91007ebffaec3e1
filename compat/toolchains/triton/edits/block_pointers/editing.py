"""From block pointers to another form of access: all functions of a kernel, those that are called before those that call them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import libcst as cst
from attrs import Factory, define, frozen

from compat.toolchains.language import CannotEdit
from compat.toolchains.triton.edits.block_pointers.access import Access, AccessForm, Bindings
from compat.toolchains.triton.edits.block_pointers.exchange import (
    WHOLE,
    Back,
    EditedFunction,
    Facts,
    Given,
    Site,
    UnpackedParameter,
    learned,
    one_or_tuple,
    received,
    replaced_arguments,
    replaced_parameters,
)
from compat.toolchains.triton.edits.block_pointers.flow import Definition, Flow
from compat.toolchains.triton.edits.block_pointers.handing import Handing, arguments
from compat.toolchains.triton.edits.block_pointers.normal import in_place_of, normal, rewritten
from compat.toolchains.triton.edits.code import elements_of, names_in, walk
from compat.toolchains.triton.edits.program import FunctionPlace, KernelProgram

_HANDED = (
    "{names}: other parameters, or other values that are returned; calls from files that the kernel does not import need the same"
)


@frozen
class EditedProgram:
    """Files without block pointers."""

    texts: Mapping[str, str]
    facts: Mapping[FunctionPlace, Facts]
    """What is known of what functions are given."""
    notes: tuple[str, ...]


def edited(program: KernelProgram, kind: type[AccessForm], facts: Mapping[FunctionPlace, Facts]) -> EditedProgram:
    """The files of a program without block pointers. Raises CannotEdit where there are none, or where some cannot be replaced.

    What the calls show of the functions that are called is used to edit these again, until nothing more is learned.
    """
    handing, before = Handing.of(program), None
    while facts != before:
        before, edit = facts, _Edit(handing, kind, facts)
        texts = edit.texts()
        facts = learned(edit.sites, program, facts)
    names = ", ".join(dict.fromkeys(place.function for place in handing.changed))
    return EditedProgram(texts, facts, (*edit.notes, *([_HANDED.format(names=names)] if names else ())))


@define
class _Edit:
    """One way to edit all functions, with what is known of what they are given."""

    handing: Handing
    kind: type[AccessForm]
    facts: Mapping[FunctionPlace, Facts]
    sites: list[Site] = Factory(list)
    """What every call hands over: filled while editing."""
    notes: dict[str, None] = Factory(dict)
    functions: dict[FunctionPlace, EditedFunction] = Factory(dict)

    @property
    def program(self) -> KernelProgram:
        return self.handing.program

    def texts(self) -> dict[str, str]:
        for place in self.handing.bottom_up:
            reader = self.handing.reader(place)
            if reader.pointers or any(map(reader.makes, walk(self.program.definition(place)))):
                self.functions[place] = _FunctionEdit(self, place).edited()
        if not self.functions:
            raise CannotEdit("the kernel makes no block pointers")
        changed: dict[str, dict[str, cst.FunctionDef]] = {}
        for place, function in self.functions.items():
            changed.setdefault(place.file, {})[place.function] = function.definition
        codes = {place.file: self.program.code_of(place) for place in self.functions}
        return {file: code.with_functions(changed[file]) for file, code in codes.items()}


class _FunctionEdit(cst.CSTTransformer):
    """The edit of one function, in which each statement gets its new form. Raises CannotEdit where not all of it has one."""

    def __init__(self, edit: _Edit, place: FunctionPlace) -> None:
        super().__init__()
        self.handing, self.functions, self.sites, self.place = edit.handing, edit.functions, edit.sites, place
        self.original, self.pointers = edit.program.definition(place), edit.handing.functions[place]
        self.code = edit.program.code_of(place).within(self.original)
        facts = edit.facts.get(place, Facts())
        self.unpacked = {
            name: UnpackedParameter.of(name, rank, edit.kind.handed(rank), facts, self.code)
            for name, rank in self.pointers.parameters.items()
        }
        begun = {parameter.statement(self.code): parameter for parameter in self.unpacked.values()}
        reader = edit.handing.reader(place)
        reader.code, reader.hands = self.code, self._handed
        function = normal(_beginning(self.original, list(begun)), reader)
        function = received(function, self._returning(function), self.code)
        reader.returns = lambda _: False
        self.flow = Flow(reader, function)
        calls = [use for use in self.flow.uses if isinstance(use, cst.Call)]
        self.accesses = {call: Access.of(call, self.flow.web_of(call), self.code) for call in calls}
        bindings = Bindings(self.code, function, self._names_of(facts.naturals))
        self.ones = self._names_of(facts.ones)
        self.form = edit.kind(self.code, self.flow, bindings, list(self.accesses.values()), self.ones)
        edit.notes.update(dict.fromkeys(self.form.notes()))
        self.backs = self._backs({self.flow.definitions.get(statement): parameter for statement, parameter in begun.items()})
        self._comments: list[cst.EmptyLine] = []
        self._done: set[cst.CSTNode] = set()

    def edited(self) -> EditedFunction:
        """The function after the edit."""
        new = rewritten(self.flow.function, self._statement)
        if self._done != self.flow.uses.keys():
            raise CannotEdit("a block pointer is used in the condition of a statement")
        used = set(names_in(new.body))
        for parameter in self.unpacked.values():
            parameter.new = {part: name for part, name in parameter.new.items() if name in used}
        definition = new.with_changes(params=replaced_parameters(new.params, self.unpacked, self.code))
        return EditedFunction(self.original, definition, self.unpacked, self.backs, self.pointers.returns_one)

    def _names_of(self, given: Iterable[Given]) -> frozenset[str]:
        """What stands in the function for what it is given."""
        return frozenset(self.unpacked[name].texts[part] if name in self.unpacked else name for name, part in given)

    # --- from function to function ---

    def _handed(self, node: cst.CSTNode) -> list[cst.BaseExpression]:
        """The block pointers that a call or a ``return`` hands over."""
        if isinstance(node, cst.Return):
            return [value for value, rank in zip(_values(node), self.pointers.returned, strict=False) if rank]
        called = self.handing.called(self.place, node)
        if called is None or not isinstance(node, cst.Call):
            return []
        parameters, definition = self.handing.functions[called].parameters, self.handing.program.definition(called)
        return [argument.value for name, argument in arguments(node, definition) if name in parameters]

    def _called(self, node: cst.CSTNode) -> EditedFunction | None:
        """The edited function that a call calls."""
        called = self.handing.called(self.place, node)
        return self.functions.get(called) if called is not None else None

    def _returning(self, function: cst.FunctionDef) -> dict[cst.CSTNode, EditedFunction]:
        """Calls that return block pointers."""
        called = {node: self._called(node) for node in walk(function.body)}
        return {node: one for node, one in called.items() if one is not None and one.backs}

    def _backs(self, begun: Mapping[Definition | None, UnpackedParameter]) -> list[Back | None]:
        values = [_values(node) for node in walk(self.flow.function.body) if isinstance(node, cst.Return)]
        backs: list[Back | None] = []
        for number, rank in enumerate(self.pointers.returned):
            names = [value[number] for value in values if rank and number < len(value) and isinstance(value[number], cst.Name)]
            webs = [self.flow.web_of(name) for name in names]
            backs.append(Back.of(webs, self.form, begun, alone=self.pointers.returns_one) if webs else None)
        return backs

    def _arguments(self, call: cst.Call, edited: cst.Call) -> Sequence[cst.Arg]:
        """The arguments of a call, with parts of the block pointers among them."""
        place, called = self.handing.called(self.place, call), self._called(call)
        if place is None or called is None or not called.unpacked:
            return edited.args
        named = list(arguments(call, called.original))
        webs = {name: self.flow.web_of(argument.value) for name, argument in named if name in called.unpacked}
        if missing := [name for name in called.unpacked if name not in webs]:
            raise CannotEdit(f"a call of {place.function} does not give it {missing[0]}")
        parts = {name: self.form.handing(web) for name, web in webs.items()}
        given = {(name, part): text for name, texts in parts.items() for part, text in texts.items()}
        naturals = frozenset((name, part) for name, part in given if self.form.is_natural(webs[name], part))
        others = {
            (name, WHOLE): self.form.text(argument.value) for name, argument in named if name not in webs and not argument.star
        }
        self.sites.append(Site(called=place, texts=given | others, naturals=naturals, ones=self.ones))
        new = {name: {new: parts[name][part] for part, new in parameter.new.items()} for name, parameter in called.unpacked.items()}
        return replaced_arguments(edited.args, [name for name, _ in named], new)

    # --- statement by statement ---

    def _statement(self, old: cst.SimpleStatementLine) -> list[cst.BaseStatement]:
        definition = self.flow.definitions.get(old)
        new = self._with_uses(old) if definition is None else in_place_of(old, _parsed(self.form.defining(definition)))
        # what stood above a statement that is gone stands above the next one
        if not new:
            self._comments += old.leading_lines
        elif self._comments:
            leading = [*self._comments, *getattr(new[0], "leading_lines", ())]
            new = [new[0].with_changes(leading_lines=leading), *new[1:]]
            self._comments = []
        return new

    def _with_uses(self, old: cst.SimpleStatementLine) -> list[cst.BaseStatement]:
        here = [node for node in walk(old) if node in self.flow.uses]
        if not here:
            return [old]
        before = [line for node in here if isinstance(node, cst.Call) for line in self.form.before(self.accesses[node])]
        new = old.with_changes(leading_lines=[]).visit(self)
        self._done.update(here)
        assert isinstance(new, cst.SimpleStatementLine)
        return in_place_of(old, [*_parsed(dict.fromkeys(before)), new])

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        if original_node in self.accesses:
            return cst.parse_expression(self.form.accessing(self.accesses[original_node], updated_node))
        return updated_node.with_changes(args=self._arguments(original_node, updated_node))

    def leave_Return(self, original_node: cst.Return, updated_node: cst.Return) -> cst.Return:
        if not any(self.backs):
            return updated_node
        values: list[cst.BaseExpression] = []
        for old, new, back in zip(_values(original_node), _values(updated_node), self.backs, strict=True):
            texts = self.form.handing(self.flow.web_of(old)) if back else {}
            values += [cst.parse_expression(texts[part]) for part in back.parts] if back else [new]
        value = one_or_tuple(values, alone=self.pointers.returns_one)
        return updated_node.with_changes(value=value, whitespace_after_return=cst.SimpleWhitespace(" "))

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        if original_node not in self.flow.uses:
            return updated_node
        holder = self.form.element_holder(self.flow.web_of(original_node))
        return updated_node.with_changes(value=cst.parse_expression(holder))


def _values(statement: cst.Return) -> Sequence[cst.BaseExpression]:
    if statement.value is None:
        return ()
    elements = elements_of(statement.value)
    return elements if elements is not None else (statement.value,)


def _beginning(function: cst.FunctionDef, statements: Sequence[cst.BaseStatement]) -> cst.FunctionDef:
    """The function with statements behind its docstring."""
    if not statements or not isinstance(function.body, cst.IndentedBlock):
        return function
    body = list(function.body.body)
    place = 1 if function.get_docstring(clean=False) is not None else 0
    return function.with_changes(body=function.body.with_changes(body=[*body[:place], *statements, *body[place:]]))


def _parsed(lines: Iterable[str]) -> list[cst.BaseStatement]:
    return [cst.parse_statement(line) for line in lines]
