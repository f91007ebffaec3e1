"""The edit from block pointers to another form of access, for all functions of a kernel.

Functions that are called are edited before their callers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import libcst as cst
from attrs import Factory, define, frozen

from compat.toolchains.language import CannotEdit
from compat.toolchains.triton.edits.block_pointers.access import Access, AccessForm, Bindings
from compat.toolchains.triton.edits.block_pointers.flow import Definition, Flow
from compat.toolchains.triton.edits.block_pointers.normal_form import in_place_of, normal, rewritten
from compat.toolchains.triton.edits.block_pointers.pointer_passing import (
    WHOLE,
    Back,
    CommonArguments,
    PassedPart,
    PointerFlow,
    UnpackedParameter,
    arguments,
    is_number,
    part_name,
    replace_arguments,
    replace_parameters,
)
from compat.toolchains.triton.edits.code import Code, elements_of, names_in, walk
from compat.toolchains.triton.edits.program import FunctionPlace, KernelProgram

_HANDED = (
    "{names}: the parameters or the returned values change; edit calls in files that the kernel"
    " does not import in the same way"
)


@frozen
class EditedProgram:
    """Files without block pointers."""

    texts: Mapping[str, str]
    facts: Mapping[FunctionPlace, CommonArguments]
    """The facts about arguments of functions."""
    notes: tuple[str, ...]


def edit_program(
    program: KernelProgram, kind: type[AccessForm], facts: Mapping[FunctionPlace, CommonArguments]
) -> EditedProgram:
    """Return the files of a program without block pointers.

    The calls of a function show facts about its arguments. All functions are edited again with
    these facts, until there are no new ones. Raises CannotEdit if there are no block pointers, or
    if some cannot be replaced.
    """
    handing, before = PointerFlow.of(program), None
    while facts != before:
        before, edit = facts, _Edit(handing, kind, facts)
        texts = edit.texts()
        facts = learn_facts(edit.sites, program, facts)
    names = ", ".join(dict.fromkeys(place.function for place in handing.changed_functions))
    return EditedProgram(
        texts, facts, (*edit.notes, *([_HANDED.format(names=names)] if names else ()))
    )


@frozen(kw_only=True)
class Site:
    """A call that passes block pointers."""

    called: FunctionPlace
    texts: Mapping[PassedPart, str]
    """The arguments, as source text of the caller."""
    ones: frozenset[str]
    """Names in the caller that equal 1."""


def learn_facts(
    sites: Sequence[Site], program: KernelProgram, facts: Mapping[FunctionPlace, CommonArguments]
) -> dict[FunctionPlace, CommonArguments]:
    """Return the known facts and the facts that the calls show."""
    more = dict(facts)
    for called in dict.fromkeys(site.called for site in sites):
        calls = [site for site in sites if site.called == called]
        counts = Bindings(program.code_of(called), program.definition(called)).counts
        shared = [key for key in calls[0].texts if all(key in call.texts for call in calls)]
        shared = [(name, part) for name, part in shared if part != WHOLE or counts[name] == 1]
        before = facts.get(called, CommonArguments())
        texts = {
            key: text for key in shared if key[1] != WHOLE and (text := _text(key, calls, shared))
        }
        ones = {
            key for key in shared if all(call.texts[key] in {"1", *call.ones} for call in calls)
        }
        more[called] = CommonArguments(texts={**texts, **before.texts}, ones=before.ones | ones)
    return more


def _text(part: PassedPart, calls: Sequence[Site], shared: Iterable[PassedPart]) -> str:
    """Return the number that a part is in all calls, or a parameter with the same value.

    The parameter must get the part's value in every call. The result is empty if there is neither.
    """
    texts = {call.texts[part] for call in calls}
    if len(texts) == 1 and is_number(text := texts.pop()):
        return text
    others = sorted(key for key in shared if key[1] == WHOLE)
    return next(
        (
            other[0]
            for other in others
            if all(call.texts[other] == call.texts[part] for call in calls)
        ),
        "",
    )


@define
class EditedFunction:
    """A function before and after the edit."""

    original: cst.FunctionDef
    definition: cst.FunctionDef
    unpacked: Mapping[str, UnpackedParameter]
    """The parameters that were block pointers."""
    backs: Sequence[Back | None]
    """The parts of the returned block pointers, and ``None`` for other results.

    Empty if it returns no block pointer.
    """
    returns_one: bool
    """Whether it returned one value instead of a tuple."""


def _receive_results(
    function: cst.FunctionDef, called: Callable[[cst.CSTNode], EditedFunction | None], code: Code
) -> cst.FunctionDef:
    """Return the function with the results of calls unpacked, and rebuilt as block pointers.

    Raises CannotEdit if a result is used in an unknown form.
    """

    def statement(old: cst.SimpleStatementLine) -> list[cst.BaseStatement]:
        small = old.body[0] if len(old.body) == 1 else None
        calls = ((node, called(node)) for node in walk(old))
        call, edited = next(
            ((node, edited) for node, edited in calls if edited is not None and edited.backs),
            (None, None),
        )
        if edited is None:
            return [old]
        if not isinstance(small, cst.Assign) or small.value is not call or len(small.targets) > 1:
            raise CannotEdit("the result of a function is used in an unknown form")
        assert isinstance(call, cst.Call)
        target, after = _unpack_result(small.targets[0].target, call, edited, code)
        return [
            old.with_changes(body=[small.with_changes(targets=[cst.AssignTarget(target)])]),
            *after,
        ]

    return rewritten(function, statement)


def _unpack_result(
    target: cst.BaseExpression, call: cst.Call, called: EditedFunction, code: Code
) -> tuple[cst.BaseAssignTargetExpression, list[cst.BaseStatement]]:
    """Return the target of a call that returns parts, and the statements after the call.

    These statements make block pointers from the parts.
    """
    passed = {name: argument.value for name, argument in arguments(call, called.original)}
    elements = (target,) if called.returns_one else elements_of(target)
    if elements is None or len(elements) != len(called.backs):
        raise CannotEdit("the caller of a function does not unpack its result")
    values: list[cst.BaseExpression] = []
    after: list[cst.BaseStatement] = []
    for element, back in zip(elements, called.backs, strict=True):
        if back is None:
            values.append(element)
            continue
        if not isinstance(element, cst.Name):
            raise CannotEdit("a block pointer is stored outside a variable")
        names = {part: code.fresh(f"{element.value}_{part_name(part)}") for part in back.parts}
        values += map(cst.Name, names.values())
        after.append(back.put_together(element.value, names, passed, code))
    new = _one_or_tuple(values, alone=called.returns_one)
    assert isinstance(new, cst.BaseAssignTargetExpression)
    return new, after


def _one_or_tuple(values: Sequence[cst.BaseExpression], *, alone: bool) -> cst.BaseExpression:
    """Return the only value if ``alone``, or else the values as a tuple without parentheses."""
    return (
        values[0]
        if alone and len(values) == 1
        else cst.Tuple([cst.Element(value) for value in values], lpar=[], rpar=[])
    )


@define
class _Edit:
    """One edit of all functions, with the known facts about their arguments."""

    handing: PointerFlow
    kind: type[AccessForm]
    facts: Mapping[FunctionPlace, CommonArguments]
    sites: list[Site] = Factory(list)
    """The arguments of every call, collected during the edit."""
    notes: dict[str, None] = Factory(dict)
    functions: dict[FunctionPlace, EditedFunction] = Factory(dict)

    @property
    def program(self) -> KernelProgram:
        return self.handing.program

    def texts(self) -> dict[str, str]:
        for place in self.handing.bottom_up:
            reader = self.handing.reader(place)
            if reader.pointers or any(map(reader.computes, walk(self.program.definition(place)))):
                self.functions[place] = _FunctionEdit(self, place).edit_function()
        if not self.functions:
            raise CannotEdit("the kernel makes no block pointers")
        changed: dict[str, dict[str, cst.FunctionDef]] = {}
        for place, function in self.functions.items():
            changed.setdefault(place.file, {})[place.function] = function.definition
        codes = {place.file: self.program.code_of(place) for place in self.functions}
        return {file: code.with_functions(changed[file]) for file, code in codes.items()}


class _FunctionEdit(cst.CSTTransformer):
    """The edit of one function, in which each statement gets its new form.

    Raises CannotEdit if a part of the function has no new form.
    """

    def __init__(self, edit: _Edit, place: FunctionPlace) -> None:
        super().__init__()
        self.handing, self.functions, self.sites, self.place = (
            edit.handing,
            edit.functions,
            edit.sites,
            place,
        )
        self.original, self.pointers = edit.program.definition(place), edit.handing.functions[place]
        self.code = edit.program.code_of(place).within(self.original)
        facts = edit.facts.get(place, CommonArguments())
        self.unpacked = {
            name: UnpackedParameter.of(name, rank, edit.kind.passed_parts(rank), facts, self.code)
            for name, rank in self.pointers.parameters.items()
        }
        begun = {parameter.statement(self.code): parameter for parameter in self.unpacked.values()}
        reader = edit.handing.reader(place)
        reader.code, reader.hands = self.code, self._outgoing_pointers
        function = normal(_beginning(self.original, list(begun)), reader)
        function = _receive_results(function, self._edited_callee, self.code)
        reader.returns = lambda _: False
        self.flow = Flow(reader, function)
        calls = [use for use in self.flow.uses if isinstance(use, cst.Call)]
        self.accesses = {call: Access.of(call, self.flow.web_of(call), self.code) for call in calls}
        self.ones = frozenset(
            self.unpacked[name].texts[part] if name in self.unpacked else name
            for name, part in facts.ones
        )
        self.form = edit.kind(self.code, self.flow, list(self.accesses.values()), self.ones)
        edit.notes.update(dict.fromkeys(self.form.notes()))
        self.backs = self._backs(
            {
                self.flow.definitions.get(statement): parameter
                for statement, parameter in begun.items()
            }
        )
        self._comments: list[cst.EmptyLine] = []
        self._done: set[cst.CSTNode] = set()

    def edit_function(self) -> EditedFunction:
        """Return the function before and after the edit. Raises CannotEdit."""
        new = rewritten(self.flow.function, self._statement)
        if self._done != self.flow.uses.keys():
            raise CannotEdit("a block pointer is used in the condition of a statement")
        used = set(names_in(new.body))
        for parameter in self.unpacked.values():
            parameter.new = {part: name for part, name in parameter.new.items() if name in used}
        definition = new.with_changes(
            params=replace_parameters(new.params, self.unpacked, self.code)
        )
        return EditedFunction(
            self.original, definition, self.unpacked, self.backs, self.pointers.returns_one
        )

    # --- from function to function ---

    def _outgoing_pointers(self, node: cst.CSTNode) -> list[cst.BaseExpression]:
        """Return the block pointers that a call passes or a ``return`` returns."""
        if isinstance(node, cst.Return):
            return [
                value
                for value, rank in zip(_values(node), self.pointers.returned, strict=False)
                if rank
            ]
        called = self.handing.pointer_callee(self.place, node)
        if called is None or not isinstance(node, cst.Call):
            return []
        parameters = self.handing.functions[called].parameters
        definition = self.handing.program.definition(called)
        return [
            argument.value for name, argument in arguments(node, definition) if name in parameters
        ]

    def _edited_callee(self, node: cst.CSTNode) -> EditedFunction | None:
        """Return the edited function that a call calls, if any."""
        called = self.handing.pointer_callee(self.place, node)
        return self.functions.get(called) if called is not None else None

    def _backs(self, begun: Mapping[Definition | None, UnpackedParameter]) -> list[Back | None]:
        values = [
            _values(node) for node in walk(self.flow.function.body) if isinstance(node, cst.Return)
        ]
        backs: list[Back | None] = []
        for number, rank in enumerate(self.pointers.returned):
            names = [
                value[number]
                for value in values
                if rank and number < len(value) and isinstance(value[number], cst.Name)
            ]
            webs = [self.flow.web_of(name) for name in names]
            backs.append(Back.of(webs, self.form, begun) if webs else None)
        return backs

    def _arguments(self, call: cst.Call, edited: cst.Call) -> Sequence[cst.Arg]:
        """Return the arguments of a call, with the parts of block pointers in their place."""
        place, called = self.handing.pointer_callee(self.place, call), self._edited_callee(call)
        if place is None or called is None or not called.unpacked:
            return edited.args
        named = list(arguments(call, called.original))
        webs = {
            name: self.flow.web_of(argument.value)
            for name, argument in named
            if name in called.unpacked
        }
        if missing := [name for name in called.unpacked if name not in webs]:
            raise CannotEdit(f"a call of {place.function} does not give it {missing[0]}")
        parts = {name: self.form.handing(web) for name, web in webs.items()}
        texts = {
            (name, part): text for name, by_part in parts.items() for part, text in by_part.items()
        }
        others = {
            (name, WHOLE): self.form.text(argument.value)
            for name, argument in named
            if name not in webs and not argument.star
        }
        self.sites.append(Site(called=place, texts=texts | others, ones=self.ones))
        new = {
            name: {new: parts[name][part] for part, new in parameter.new.items()}
            for name, parameter in called.unpacked.items()
        }
        return replace_arguments(edited.args, [name for name, _ in named], new)

    # --- statement by statement ---

    def _statement(self, old: cst.SimpleStatementLine) -> list[cst.BaseStatement]:
        definition = self.flow.definitions.get(old)
        new = (
            self._with_uses(old)
            if definition is None
            else in_place_of(old, _parse_lines(self.form.defining(definition)))
        )
        # comments above a removed statement move above the next one
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
        before = [
            line
            for node in here
            if isinstance(node, cst.Call)
            for line in self.form.before(self.accesses[node])
        ]
        new = old.with_changes(leading_lines=[]).visit(self)
        self._done.update(here)
        assert isinstance(new, cst.SimpleStatementLine)
        return in_place_of(old, [*_parse_lines(dict.fromkeys(before)), new])

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        if original_node in self.accesses:
            return cst.parse_expression(
                self.form.accessing(self.accesses[original_node], updated_node)
            )
        return updated_node.with_changes(args=self._arguments(original_node, updated_node))

    def leave_Return(self, original_node: cst.Return, updated_node: cst.Return) -> cst.Return:
        if not any(self.backs):
            return updated_node
        values: list[cst.BaseExpression] = []
        for old, new, back in zip(
            _values(original_node), _values(updated_node), self.backs, strict=True
        ):
            texts = self.form.handing(self.flow.web_of(old)) if back else {}
            values += [cst.parse_expression(texts[part]) for part in back.parts] if back else [new]
        value = _one_or_tuple(values, alone=self.pointers.returns_one)
        return updated_node.with_changes(
            value=value, whitespace_after_return=cst.SimpleWhitespace(" ")
        )

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        if original_node not in self.flow.uses:
            return updated_node
        holder = self.form.element_holder(self.flow.web_of(original_node))
        return updated_node.with_changes(value=cst.parse_expression(holder))


def _values(statement: cst.Return) -> Sequence[cst.BaseExpression]:
    if statement.value is None:
        return ()
    elements = elements_of(statement.value)
    return elements if elements is not None else (statement.value,)


def _beginning(
    function: cst.FunctionDef, statements: Sequence[cst.BaseStatement]
) -> cst.FunctionDef:
    """Return the function with these statements after its docstring."""
    if not statements or not isinstance(function.body, cst.IndentedBlock):
        return function
    body = list(function.body.body)
    place = 1 if function.get_docstring(clean=False) is not None else 0
    return function.with_changes(
        body=function.body.with_changes(body=[*body[:place], *statements, *body[place:]])
    )


def _parse_lines(lines: Iterable[str]) -> list[cst.BaseStatement]:
    return [cst.parse_statement(line) for line in lines]
