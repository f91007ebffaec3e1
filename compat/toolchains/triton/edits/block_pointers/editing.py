"""From block pointers to another form of access: all functions of a kernel, those that are called before those that call them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import libcst as cst
from attrs import Factory, define, frozen

from compat.toolchains.language import CannotEdit
from compat.toolchains.triton.edits.block_pointers.access import Access, AccessForm
from compat.toolchains.triton.edits.block_pointers.components import Bindings, Part
from compat.toolchains.triton.edits.block_pointers.exchange import (
    Back,
    PartFacts,
    Site,
    UnpackedParameter,
    learned,
    received,
    replaced_arguments,
    replaced_parameters,
)
from compat.toolchains.triton.edits.block_pointers.handing import Handing, arguments
from compat.toolchains.triton.edits.block_pointers.normal import Reader, in_place_of, normal, rewritten
from compat.toolchains.triton.edits.block_pointers.webs import Flow
from compat.toolchains.triton.edits.code import Code, elements_of, names_in, walk
from compat.toolchains.triton.edits.program import FunctionPlace, KernelProgram

_HANDED = (
    "{names}: other parameters, or other values that are returned; calls from files that the kernel does not import need the same"
)
_ROUNDS = 8
"""How often what is known of handed parts is used to learn more of them."""


@frozen(kw_only=True)
class AccessKind:
    """A form of access, for all functions."""

    make: Callable[[Code, Flow, Bindings, Sequence[Access], frozenset[str]], AccessForm]
    handed: Callable[[int], Sequence[Part]]
    """The parts that are handed to another function, for a number of dimensions."""


@frozen
class Edited:
    """Files without block pointers."""

    texts: Mapping[str, str]
    facts: PartFacts
    """What is known of the parts that are handed over."""
    notes: tuple[str, ...]


def edited(program: KernelProgram, kind: AccessKind, facts: PartFacts) -> Edited:
    """The files of a program without block pointers. Raises CannotEdit where there are none, or where some cannot be replaced."""
    handing = Handing.of(program)
    for _ in range(_ROUNDS):
        edit = _Edit(handing, kind, facts)
        texts = edit.texts()
        more = learned(edit.sites, program, facts)
        if more == facts:
            break
        facts = more
    names = ", ".join(dict.fromkeys(place.function for place in handing.family if handing.changes(place)))
    return Edited(texts, facts, (_HANDED.format(names=names),) if names else ())


@define
class _Helper:
    """A function as it is after the edit."""

    definition: cst.FunctionDef
    unpacked: Mapping[str, UnpackedParameter]
    """The parameters that were block pointers."""
    backs: Sequence[Back | None]
    """What it returns: of block pointers their parts, and ``None`` for all else. Empty where it returns no block pointer."""


@define
class _Edit:
    """One way to edit all functions, with what is known of the parts that are handed over."""

    handing: Handing
    kind: AccessKind
    facts: PartFacts
    sites: list[Site] = Factory(list)
    """What every call hands over: filled while editing."""
    _helpers: dict[FunctionPlace, _Helper] = Factory(dict)

    @property
    def program(self) -> KernelProgram:
        return self.handing.program

    def texts(self) -> dict[str, str]:
        for place in self.handing.bottom_up:
            code = self.program.code_of(place)
            if self.handing.ranks.get(place) or any(Reader(code).makes(node) for node in walk(self.program.definition(place))):
                self._helpers[place] = self._edited(place)
        if not self._helpers:
            raise CannotEdit("the kernel makes no block pointers")
        changed: dict[str, dict[str, cst.FunctionDef]] = {}
        for place, helper in self._helpers.items():
            changed.setdefault(place.file, {})[place.function] = helper.definition
        codes = {place.file: self.program.code_of(place) for place in self._helpers}
        return {file: code.with_functions(changed[file]) for file, code in codes.items()}

    def _edited(self, place: FunctionPlace) -> _Helper:
        original = self.program.definition(place)
        code = self.program.code_of(place).within(original)
        unpacked = {
            name: UnpackedParameter.of(name, rank, self.kind.handed(rank), self.facts.texts.get((place, name), {}), code)
            for name, rank in self.handing.parameters.get(place, {}).items()
        }
        function = _beginning(original, [parameter.statement for parameter in unpacked.values()])
        reader = Reader(code, self.handing.ranks.get(place, ()), partial(self._returns_one, place))
        function = normal(function, reader)
        function = received(function, self._received(place, function), code)
        flow = Flow(Reader(code, reader.pointers, hands=partial(self.handed, place)), function)
        accesses = {call: Access.of(call, flow.web_of(call), code) for call in flow.use_of}
        naturals, ones = _names_of(self.facts.naturals, place, unpacked), _names_of(self.facts.strides, place, unpacked)
        ones |= self.facts.ones.get(place, frozenset())
        form = self.kind.make(code, flow, Bindings.of(code, function, naturals), list(accesses.values()), ones)
        backs = self._backs(place, flow, form, unpacked)
        new = Rewriting(flow, form, accesses, _Exchange(self, place, flow, form, backs, ones)).of(function)
        used = set(names_in(new.body))
        for parameter in unpacked.values():
            parameter.new = {part: name for part, name in parameter.new.items() if name in used}
        return _Helper(new.with_changes(params=replaced_parameters(new.params, unpacked, code)), unpacked, backs)

    def _returns_one(self, place: FunctionPlace, node: cst.CSTNode) -> bool:
        called = self.program.called(place.file, node)
        returns = self.handing.returned.get(called) if called is not None else None
        return returns is not None and returns.alone

    def handed(self, place: FunctionPlace, node: cst.CSTNode) -> list[cst.BaseExpression]:
        """The block pointers that a call or a ``return`` hands over."""
        if isinstance(node, cst.Return):
            returns = self.handing.returned.get(place)
            return [value for value, rank in zip(_values(node), returns.ranks, strict=False) if rank] if returns else []
        called = self.program.called(place.file, node)
        pointers = self.handing.parameters.get(called, {}) if called is not None else {}
        if not pointers or called is None or not isinstance(node, cst.Call):
            return []
        return [argument.value for name, argument in arguments(node, self.program.definition(called)) if name in pointers]

    def helper(self, place: FunctionPlace, node: cst.CSTNode) -> tuple[FunctionPlace, _Helper] | None:
        """The edited function that a call calls."""
        called = self.program.called(place.file, node)
        return (called, self._helpers[called]) if called is not None and called in self._helpers else None

    def _received(
        self, place: FunctionPlace, function: cst.FunctionDef
    ) -> dict[cst.Call, tuple[Sequence[Back | None], bool, cst.FunctionDef]]:
        """Calls that return block pointers: what they return, whether that is one value, and the function."""
        calls = {}
        for node in walk(function.body):
            helper = self.helper(place, node)
            if isinstance(node, cst.Call) and helper is not None and helper[1].backs:
                calls[node] = (helper[1].backs, self.handing.returned[helper[0]].alone, self.program.definition(helper[0]))
        return calls

    def _backs(
        self, place: FunctionPlace, flow: Flow, form: AccessForm, unpacked: Mapping[str, UnpackedParameter]
    ) -> list[Back | None]:
        returns = self.handing.returned.get(place)
        if returns is None:
            return []
        backs: list[Back | None] = []
        values = [_values(node) for node in walk(flow.function.body) if isinstance(node, cst.Return)]
        for number, rank in enumerate(returns.ranks):
            at_it = [value[number] for value in values if number < len(value)]
            names = [value_node for value_node in at_it if isinstance(value_node, cst.Name)] if rank else []
            texts = [form.handing(flow.web_of(name)) for name in names]
            backs.append(Back.of(names, flow, texts, unpacked.values(), alone=returns.alone) if names else None)
        return backs


class _Exchange:
    """What is handed over in one function, in parts."""

    def __init__(
        self, edit: _Edit, place: FunctionPlace, flow: Flow, form: AccessForm, backs: Sequence[Back | None], ones: frozenset[str]
    ) -> None:
        self._edit, self._place, self._flow, self._form, self._backs, self._ones = edit, place, flow, form, backs, ones

    def arguments(self, call: cst.Call, edited: cst.Call) -> Sequence[cst.Arg] | None:
        called_helper = self._edit.helper(self._place, call)
        if called_helper is None or not called_helper[1].unpacked:
            return None
        called, helper = called_helper
        named = list(arguments(call, self._edit.program.definition(called)))
        webs = {name: self._flow.web_of(argument.value) for name, argument in named if name in helper.unpacked}
        if missing := [name for name in helper.unpacked if name not in webs]:
            raise CannotEdit(f"a call of {called.function} does not give it {missing[0]}")
        parts = {name: self._form.handing(web) for name, web in webs.items()}
        text = self._edit.program.code_of(self._place).code_for
        self._edit.sites.append(
            Site(
                caller=self._place,
                called=called,
                arguments={name: text(argument.value) for name, argument in named if name not in webs and not argument.star},
                parts={(name, part): argument for name, texts in parts.items() for part, argument in texts.items()},
                naturals=frozenset(
                    (name, part) for name, web in webs.items() for part in parts[name] if self._form.is_natural(web, part)
                ),
                ones=self._ones,
            )
        )
        new = {
            name: [(given, parts[name][part]) for part, given in argument.new.items()] for name, argument in helper.unpacked.items()
        }
        return replaced_arguments(edited.args, [name for name, _ in named], new)

    def returned(self, statement: cst.Return, edited: cst.Return) -> cst.Return:
        if not any(self._backs):
            return edited
        values: list[cst.BaseExpression] = []
        for old, new, back in zip(_values(statement), _values(edited), self._backs, strict=True):
            texts = self._form.handing(self._flow.web_of(old)) if back else {}
            values += [cst.parse_expression(texts[part]) for part in back.parts] if back else [new]
        is_single = len(values) == 1 and self._edit.handing.returned[self._place].alone
        value = values[0] if is_single else cst.Tuple([cst.Element(item) for item in values], lpar=[], rpar=[])
        return edited.with_changes(value=value, whitespace_after_return=cst.SimpleWhitespace(" "))


def _names_of(
    some: Iterable[tuple[FunctionPlace, str, Part]], place: FunctionPlace, unpacked: Mapping[str, UnpackedParameter]
) -> frozenset[str]:
    """What stands in a function for those parts of what it is given."""
    return frozenset(unpacked[name].texts[part] for where, name, part in some if where == place and name in unpacked)


def _values(statement: cst.Return) -> Sequence[cst.BaseExpression]:
    if statement.value is None:
        return ()
    elements = elements_of(statement.value)
    return elements if elements is not None else (statement.value,)


def _beginning(function: cst.FunctionDef, statements: Sequence[cst.SimpleStatementLine]) -> cst.FunctionDef:
    """The function with statements behind its docstring."""
    if not statements or not isinstance(function.body, cst.IndentedBlock):
        return function
    body = list(function.body.body)
    place = 1 if function.get_docstring(clean=False) is not None else 0
    return function.with_changes(body=function.body.with_changes(body=[*body[:place], *statements, *body[place:]]))


# --- statement by statement ----------------------------------------------------------------------------------------------------


class Rewriting:
    """A function in which each statement gets its new form."""

    def __init__(self, flow: Flow, form: AccessForm, accesses: dict[cst.Call, Access], exchange: _Exchange) -> None:
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
    def __init__(self, flow: Flow, form: AccessForm, accesses: dict[cst.Call, Access], exchange: _Exchange) -> None:
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
