"""What a function gets and gives in the place of block pointers that are handed to it, or returned by it: some of their parts.

A parameter becomes one parameter for each part that the function uses, and a block pointer of these at its beginning, which is
edited as any other. What it returns becomes the offsets that it has moved along, or all parts where it has made it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import libcst as cst
from attrs import Factory, define, frozen

from compat.toolchains.language import CannotEdit
from compat.toolchains.triton.edits.block_pointers.access import AccessForm, Bindings
from compat.toolchains.triton.edits.block_pointers.flow import Definition, Web
from compat.toolchains.triton.edits.block_pointers.handing import arguments
from compat.toolchains.triton.edits.block_pointers.normal import BASE, MAKE, PLACED, Part, assign, rewritten
from compat.toolchains.triton.edits.code import Code, elements_of, literal, walk
from compat.toolchains.triton.edits.program import FunctionPlace, KernelProgram

GIVEN = "__given__"
"""Stands for a part that is not handed over by itself; in no source, and in no edited one."""
MADE: Part = ("made", 0)
"""The whole of a block pointer, where it is handed over as one."""
Given = tuple[str, Part]
"""What a call gives: a parameter and the part of the block pointer for it: :data:`WHOLE` where that is none."""
WHOLE: Part = ("", 0)
_T = TypeVar("_T", cst.Param, cst.Arg)


def all_parts(rank: int) -> tuple[Part, ...]:
    """The arguments of ``make_block_ptr``, each element by itself."""
    return (BASE, *((name, axis) for name in ("shape", "stride", "at", "block") for axis in range(rank)))


# --- what is known of what functions are given ---------------------------------------------------------------------------------


@frozen(kw_only=True)
class Site:
    """A call that hands block pointers over."""

    called: FunctionPlace
    texts: Mapping[Given, str]
    """What it gives, in the words of the caller."""
    naturals: frozenset[Given]
    """Parts that are no negative numbers."""
    ones: frozenset[str]
    """Names in the caller that are 1."""


@frozen(kw_only=True)
class Facts:
    """What all calls of a function say of what they give it."""

    texts: Mapping[Given, str] = Factory(dict)
    """Parts that are the same number in all of them, or the value of another parameter."""
    naturals: frozenset[Given] = frozenset()
    ones: frozenset[Given] = frozenset()
    """What is 1: arguments of the kernel of which the kernel file says so, and what is given them."""

    def of(self, name: str, handed: Sequence[Part]) -> dict[Part, str]:
        """The text of each part of a parameter that needs no parameter of its own."""
        texts = {part: text for (parameter, part), text in self.texts.items() if parameter == name}
        if MADE not in handed:
            return texts
        # of a whole one nothing but the offsets and strides is asked: along which axis its elements lie together
        strides = {part: "1" for parameter, part in self.ones if parameter == name and part[0] == "stride"}
        return {part: text for part, text in texts.items() if part[0] in ("at", "stride")} | strides


def learned(sites: Sequence[Site], program: KernelProgram, facts: Mapping[FunctionPlace, Facts]) -> dict[FunctionPlace, Facts]:
    """What the calls show, besides what is known."""
    more = dict(facts)
    for called in dict.fromkeys(site.called for site in sites):
        calls = [site for site in sites if site.called == called]
        counts = Bindings(program.code_of(called), program.definition(called)).counts
        shared = [given for given in calls[0].texts if all(given in call.texts for call in calls)]
        shared = [(name, part) for name, part in shared if part != WHOLE or counts[name] == 1]
        before = facts.get(called, Facts())
        texts = {given: text for given in shared if given[1] != WHOLE and (text := _text(given, calls, shared))}
        naturals = {given for given in shared if all(given in call.naturals for call in calls)}
        ones = {given for given in shared if all(call.texts[given] in {"1", *call.ones} for call in calls)}
        more[called] = Facts(texts={**texts, **before.texts}, naturals=before.naturals | naturals, ones=before.ones | ones)
    return more


def _text(part: Given, calls: Sequence[Site], shared: Iterable[Given]) -> str:
    """The number that a part is in all calls, or a parameter that is always given the same; empty where there is neither."""
    texts = {call.texts[part] for call in calls}
    if len(texts) == 1 and is_number(text := texts.pop()):
        return text
    others = sorted(given for given in shared if given[1] == WHOLE)
    return next((other[0] for other in others if all(call.texts[other] == call.texts[part] for call in calls)), "")


def is_number(text: str) -> bool:
    return literal(cst.parse_expression(text)) is not None


# --- what a function is given --------------------------------------------------------------------------------------------------


@define
class UnpackedParameter:
    """A parameter that is a block pointer, in parts."""

    name: str
    texts: dict[Part, str]
    """What stands for each part in the function."""
    new: dict[Part, str]
    """Those that are parameters of their own, in their order."""

    @classmethod
    def of(cls, name: str, rank: int, handed: Sequence[Part], facts: Facts, code: Code) -> UnpackedParameter:
        """The parameter in those of its parts that are handed over, of which some are known not to need a parameter."""
        texts = facts.of(name, handed)
        new = {part: name if part == MADE else code.fresh(f"{name}_{part_name(part)}") for part in handed if part not in texts}
        return cls(name, {part: texts.get(part) or new.get(part) or GIVEN for part in all_parts(rank)}, new)

    def statement(self, code: Code) -> cst.SimpleStatementLine:
        """The block pointer at the beginning of the function."""
        return _made(self.name, self.texts, code)


def _made(name: str, texts: Mapping[Part, str], code: Code) -> cst.SimpleStatementLine:
    """A block pointer of these parts."""
    lists = [", ".join(text for part, text in texts.items() if part[0] == kind) for kind in ("shape", "stride", "at", "block")]
    made = ", ".join([texts[BASE], *(f"({items},)" for items in lists)])
    return assign(name, cst.parse_expression(f"{code.language.name}.{MAKE}({made})"))


def part_name(part: Part) -> str:
    """A part in the name of a variable: ``stride_0``."""
    return "base" if part == BASE else f"{'start' if part[0] == 'at' else part[0]}_{part[1]}"


# --- what it returns -----------------------------------------------------------------------------------------------------------


@frozen
class Back:
    """A block pointer that a function returns, in parts."""

    rank: int
    parameter: str | None
    """The parameter that it is, moved along some axes; none where the function has made it."""
    parts: tuple[Part, ...]
    """The values that are returned for it."""
    texts: Mapping[Part, str] = Factory(dict)
    """Of one that it has made the other parts: numbers, and names of its parameters."""

    @classmethod
    def of(
        cls, webs: Sequence[Web], form: AccessForm, begun: Mapping[Definition | None, UnpackedParameter], *, alone: bool
    ) -> Back:
        """What stands at one place of all ``return``; ``begun`` are the parameters, by the definitions that they become."""
        texts, rank = [form.handing(web) for web in webs], webs[0].made.rank
        origins = {definition for web in webs for definition in web.history() if definition.made is not None}
        given = next((parameter for definition, parameter in begun.items() if definition in origins), None)
        if given is not None:
            if len(origins) > 1:
                raise CannotEdit("a function returns one of several block pointers")
            at: list[Part] = [("at", axis) for axis in range(rank)]
            moved = [part for part in at if any(text[part] != given.texts[part] for text in texts)]
            return cls(rank, given.name, tuple(moved or at[: 1 if alone else 0]))
        if MADE in texts[0]:
            raise CannotEdit("tensor descriptors: a block pointer is made in one function and returned to another")
        parameters = {node.name.value for node in walk(form.flow.function.params) if isinstance(node, cst.Param)}
        same = {part: text for part, text in texts[0].items() if all(other[part] == text for other in texts)}
        same = {part: text for part, text in same.items() if is_number(text) or text in parameters}
        parts = tuple(part for part in texts[0] if part not in same)
        if any(part[0] == "block" for part in parts):
            raise CannotEdit("a function returns a block pointer whose block is not one of its parameters")
        return cls(rank, None, parts, same)

    def put_together(
        self, name: str, values: Mapping[Part, str], given: Mapping[str, cst.BaseExpression], code: Code
    ) -> cst.BaseStatement:
        """The block pointer in the caller, of these values and of what the function was given."""
        if self.parameter is None:
            texts = {part: values.get(part) or _in_caller(self.texts[part], given, code) for part in all_parts(self.rank)}
            return _made(name, texts, code)
        handed = given.get(self.parameter)
        if not isinstance(handed, cst.Name):
            raise CannotEdit("a function returns what it was given in a form that is not known")
        offsets = ", ".join(values.get(("at", axis), "None") for axis in range(self.rank))
        return assign(name, cst.parse_expression(f"{PLACED}({handed.value}, ({offsets},))"))


def _in_caller(text: str, given: Mapping[str, cst.BaseExpression], code: Code) -> str:
    if is_number(text):
        return text
    if text not in given:
        raise CannotEdit(f"the parameter {text} of a function that returns a block pointer is not given where it is called")
    return code.code_for(given[text])


@define
class EditedFunction:
    """A function before and after the edit."""

    original: cst.FunctionDef
    definition: cst.FunctionDef
    unpacked: Mapping[str, UnpackedParameter]
    """The parameters that were block pointers."""
    backs: Sequence[Back | None]
    """What it returns: of block pointers their parts, and ``None`` for all else. Empty where it returns no block pointer."""
    returns_one: bool
    """It returned one value, and no tuple."""


def received(function: cst.FunctionDef, calls: Mapping[cst.CSTNode, EditedFunction], code: Code) -> cst.FunctionDef:
    """The function with what these calls return taken apart, and put together as block pointers. Raises CannotEdit."""

    def statement(old: cst.SimpleStatementLine) -> list[cst.BaseStatement]:
        small = old.body[0] if len(old.body) == 1 else None
        call = next((node for node in walk(old) if node in calls), None)
        if call is None:
            return [old]
        if not isinstance(small, cst.Assign) or small.value is not call or len(small.targets) > 1:
            raise CannotEdit("what a function returns is used in a form that is not known")
        assert isinstance(call, cst.Call)
        target, after = _taken_apart(small.targets[0].target, call, calls[call], code)
        return [old.with_changes(body=[small.with_changes(targets=[cst.AssignTarget(target)])]), *after]

    return rewritten(function, statement)


def _taken_apart(
    target: cst.BaseExpression, call: cst.Call, called: EditedFunction, code: Code
) -> tuple[cst.BaseAssignTargetExpression, list[cst.BaseStatement]]:
    """The target of a call that returns parts, and the statements after it that make block pointers of them."""
    given = {name: argument.value for name, argument in arguments(call, called.original)}
    elements = (target,) if called.returns_one else elements_of(target)
    if elements is None or len(elements) != len(called.backs):
        raise CannotEdit("what a function returns is not unpacked where it is called")
    values: list[cst.BaseExpression] = []
    after: list[cst.BaseStatement] = []
    for element, back in zip(elements, called.backs, strict=True):
        if back is None:
            values.append(element)
            continue
        if not isinstance(element, cst.Name):
            raise CannotEdit("a block pointer is kept in something that is not a variable")
        names = {part: code.fresh(f"{element.value}_{part_name(part)}") for part in back.parts}
        values += map(cst.Name, names.values())
        after.append(back.put_together(element.value, names, given, code))
    new = one_or_tuple(values, alone=called.returns_one)
    assert isinstance(new, cst.BaseAssignTargetExpression)
    return new, after


def one_or_tuple(values: Sequence[cst.BaseExpression], *, alone: bool) -> cst.BaseExpression:
    """Several values without parentheses, or the only one."""
    return values[0] if alone and len(values) == 1 else cst.Tuple([cst.Element(value) for value in values], lpar=[], rpar=[])


# --- lists of parameters and arguments -----------------------------------------------------------------------------------------


def replaced_parameters(parameters: cst.Parameters, unpacked: Mapping[str, UnpackedParameter], code: Code) -> cst.Parameters:
    """The parameters of a function, those that were block pointers in parts."""
    fixed = cst.Annotation(cst.parse_expression(f"{code.language.name}.constexpr"))

    def several(old: cst.Param) -> list[cst.Param]:
        if old.name.value not in unpacked:
            return [old]
        new = unpacked[old.name.value].new
        return [cst.Param(cst.Name(name), fixed if part[0] == "block" else None) for part, name in new.items()]

    kinds = {kind: getattr(parameters, kind) for kind in ("posonly_params", "params", "kwonly_params")}
    return parameters.with_changes(**{kind: _spread(old, list(map(several, old))) for kind, old in kinds.items()})


def replaced_arguments(old: Sequence[cst.Arg], names: Sequence[str], new: Mapping[str, Mapping[str, str]]) -> Sequence[cst.Arg]:
    """The arguments of a call, of which some become several: parameters and texts, by the parameter that an old one is for."""

    def several(argument: cst.Arg, name: str) -> list[cst.Arg]:
        if name not in new:
            return [argument]
        values = {part: cst.parse_expression(text) for part, text in new[name].items()}
        return [
            argument.with_changes(value=value, keyword=cst.Name(part) if argument.keyword else None)
            for part, value in values.items()
        ]

    return _spread(old, list(map(several, old, names)))


def _spread(old: Sequence[_T], new: Sequence[Sequence[_T]]) -> list[_T]:
    """A list between commas: the first of what takes the place of one stands where that stood, the last has its comma."""
    items: list[_T] = []
    between = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    for one, several in zip(old, new, strict=True):
        items += [item.with_changes(comma=between) for item in several[:-1]]
        items += [item.with_changes(comma=one.comma) for item in several[-1:]]
    if items and not new[-1] and old[-1].comma is cst.MaybeSentinel.DEFAULT:
        items[-1] = items[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return items
