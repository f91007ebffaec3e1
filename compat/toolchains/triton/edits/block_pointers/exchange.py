"""What a function gets and gives in the place of block pointers that are handed to it, or returned by it: some of their parts.

A parameter becomes one parameter for each part that the function uses, and a block pointer of these at its beginning, which is
edited as any other. What it returns becomes the offsets that it has moved along, or all parts where it has made it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import libcst as cst
from attrs import Factory, define, evolve, frozen

from compat.toolchains.language import CannotEdit
from compat.toolchains.triton.edits.block_pointers.components import Bindings, Part
from compat.toolchains.triton.edits.block_pointers.handing import arguments
from compat.toolchains.triton.edits.block_pointers.normal import MAKE, PLACED, assign, rewritten
from compat.toolchains.triton.edits.block_pointers.webs import Flow
from compat.toolchains.triton.edits.code import Code, elements_of, literal, walk
from compat.toolchains.triton.edits.program import FunctionPlace, KernelProgram

GIVEN = "__given__"
"""Stands for a part that is not handed over by itself; in no source, and in no edited one."""
_SAID = {"at": "start"}
_T = TypeVar("_T", cst.Param, cst.Arg)


def all_parts(rank: int) -> tuple[Part, ...]:
    """The arguments of ``make_block_ptr``, each element by itself."""
    return ("base", *((name, axis) for name in ("shape", "stride", "at", "block") for axis in range(rank)))


@define
class UnpackedParameter:
    """A parameter that is a block pointer, in parts."""

    name: str
    texts: dict[Part, str]
    """What stands for each part in the function."""
    new: dict[Part, str]
    """Those that are parameters of their own, in their order."""
    statement: cst.SimpleStatementLine
    """The block pointer at the beginning of the function."""

    @classmethod
    def of(cls, name: str, rank: int, handed: Sequence[Part], facts: Mapping[Part, str], code: Code) -> UnpackedParameter:
        """The parameter in those of its parts that are handed over, of which some are known not to need a parameter."""
        if "made" in handed:  # a whole one, of which nothing but the strides is asked
            facts = {part: text for part, text in facts.items() if part[0] in ("at", "stride")}
        new = {part: name if part == "made" else code.fresh(f"{name}_{part_name(part)}") for part in handed if part not in facts}
        texts = {part: facts.get(part) or new.get(part) or GIVEN for part in all_parts(rank)}
        return cls(name, texts, new, made(name, rank, texts, code))


def made(name: str, rank: int, texts: Mapping[Part, str], code: Code) -> cst.SimpleStatementLine:
    """A block pointer of these parts."""
    lists = [", ".join(texts[which, axis] for axis in range(rank)) for which in ("shape", "stride", "at", "block")]
    arguments = ", ".join([texts["base"], *(f"({items},)" for items in lists)])
    return assign(name, cst.parse_expression(f"{code.language.name}.{MAKE}({arguments})"))


def part_name(part: Part) -> str:
    """A part in the name of a variable: ``stride_0``."""
    return "_".join(map(str, (_SAID.get(part[0], part[0]), *part[1:]))) if isinstance(part, tuple) else str(part)


@frozen
class Back:
    """A block pointer that a function returns, in parts."""

    rank: int
    parameter: str | None
    """The parameter that it is, moved along some axes; none where the function has made it."""
    parts: tuple[Part, ...]
    """The values that are returned for it."""
    texts: Mapping[Part, str]
    """Of one that it has made the other parts: numbers, and names of its parameters."""

    @classmethod
    def of(
        cls,
        names: Sequence[cst.Name],
        flow: Flow,
        texts: Sequence[Mapping[Part, str]],
        unpacked: Iterable[UnpackedParameter],
        *,
        alone: bool,
    ) -> Back:
        """What the names are that stand at one place of all ``return``; ``texts`` are the parts of each."""
        histories = (definition for name in names for definition in flow.web_of(name).history())
        origins = {definition.statement for definition in histories if definition.made is not None}
        begun, rank = [parameter for parameter in unpacked if parameter.statement in origins], flow.web_of(names[0]).made.rank
        if not begun:
            return cls._made(rank, texts, {node.name.value for node in walk(flow.function.params) if isinstance(node, cst.Param)})
        if len(origins) > 1:
            raise CannotEdit("a function returns one of several block pointers")
        at: list[Part] = [("at", axis) for axis in range(rank)]
        moved = [part for part in at if any(text[part] != begun[0].texts[part] for text in texts)]
        return cls(rank, begun[0].name, tuple(moved or at[: 1 if alone else 0]), {})

    @classmethod
    def _made(cls, rank: int, texts: Sequence[Mapping[Part, str]], parameters: set[str]) -> Back:
        if "made" in texts[0]:
            raise CannotEdit("tensor descriptors: a block pointer is made in one function and returned to another")
        same = {part: text for part, text in texts[0].items() if all(other[part] == text for other in texts)}
        same = {part: text for part, text in same.items() if _number(text) or text in parameters}
        parts = tuple(part for part in texts[0] if part not in same)
        if any(part[0] == "block" for part in parts):
            raise CannotEdit("a function returns a block pointer whose block is not one of its parameters")
        return cls(rank, None, parts, same)


def _number(text: str) -> bool:
    return literal(cst.parse_expression(text)) is not None


def received(
    function: cst.FunctionDef, backs: Mapping[cst.Call, tuple[Sequence[Back | None], bool, cst.FunctionDef]], code: Code
) -> cst.FunctionDef:
    """The function with what those calls return taken apart, and put together as block pointers.

    Of each call is said what it returns, whether that is one value, and the function that it calls. Raises CannotEdit.
    """

    def statement(old: cst.SimpleStatementLine) -> list[cst.BaseStatement]:
        small = old.body[0] if len(old.body) == 1 else None
        call = next((node for node in walk(old) if node in backs), None)
        if call is None:
            return [old]
        if not isinstance(small, cst.Assign) or small.value is not call or len(small.targets) > 1:
            raise CannotEdit("what a function returns is used in a form that is not known")
        assert isinstance(call, cst.Call)
        new = _Received(small.targets[0].target, call, *backs[call], code)
        changed = small.with_changes(targets=[cst.AssignTarget(new.target)])
        return [old.with_changes(body=[changed]), *new.after]

    return rewritten(function, statement)


class _Received:
    """What a call returns, in the variables of its caller."""

    def __init__(
        self,
        target: cst.BaseExpression,
        call: cst.Call,
        backs: Sequence[Back | None],
        alone: bool,
        called: cst.FunctionDef,
        code: Code,
    ) -> None:
        self._code = code
        self._given = {name: argument.value for name, argument in arguments(call, called)}
        self.after: list[cst.BaseStatement] = []
        elements = (target,) if alone else elements_of(target)
        if elements is None or len(elements) != len(backs):
            raise CannotEdit("what a function returns is not unpacked where it is called")
        names = [name for one, back in zip(elements, backs, strict=True) for name in self._names(one, back)]
        one = next((name for name in names if alone and len(names) == 1 and isinstance(name, cst.Name)), None)
        self.target = one or cst.Tuple([cst.Element(argument) for argument in names], lpar=[], rpar=[])

    def _names(self, target: cst.BaseExpression, back: Back | None) -> Iterator[cst.BaseExpression]:
        if back is None:
            yield target
            return
        if not isinstance(target, cst.Name):
            raise CannotEdit("a block pointer is kept in something that is not a variable")
        names = {part: self._code.fresh(f"{target.value}_{part_name(part)}") for part in back.parts}
        yield from map(cst.Name, names.values())
        self.after.append(self._put_together(target.value, back, names))

    def _put_together(self, name: str, back: Back, names: Mapping[Part, str]) -> cst.BaseStatement:
        if back.parameter is None:
            texts = {**names, **{part: self._text(text) for part, text in back.texts.items()}}
            return made(name, back.rank, texts, self._code)
        handed = self._given.get(back.parameter)
        if not isinstance(handed, cst.Name):
            raise CannotEdit("a function returns what it was given in a form that is not known")
        offsets = ", ".join(names.get(("at", axis), "None") for axis in range(back.rank))
        return assign(name, cst.parse_expression(f"{PLACED}({handed.value}, ({offsets},))"))

    def _text(self, text: str) -> str:
        if _number(text):
            return text
        if text not in self._given:
            raise CannotEdit(f"the parameter {text} of a function that returns a block pointer is not given where it is called")
        return self._code.code_for(self._given[text])


# --- parameters and arguments ------------------------------------------------------------------------------------------------


def replaced_parameters(parameters: cst.Parameters, unpacked: Mapping[str, UnpackedParameter], code: Code) -> cst.Parameters:
    """The parameters of a function, those that were block pointers in parts."""
    changed = {}
    for kind in ("posonly_params", "params", "kwonly_params"):
        old: Sequence[cst.Param] = getattr(parameters, kind)
        if any(parameter.name.value in unpacked for parameter in old):
            changed[kind] = _spread(old, [_parameters(parameter, unpacked.get(parameter.name.value), code) for parameter in old])
    return parameters.with_changes(**changed)


def _parameters(old: cst.Param, unpacked: UnpackedParameter | None, code: Code) -> list[cst.Param]:
    if unpacked is None:
        return [old]
    fixed = cst.Annotation(cst.parse_expression(f"{code.language.name}.constexpr"))
    return [
        cst.Param(cst.Name(name), fixed if isinstance(part, tuple) and part[0] == "block" else None)
        for part, name in unpacked.new.items()
    ]


def replaced_arguments(
    old: Sequence[cst.Arg], names: Sequence[str], new: Mapping[str, Sequence[tuple[str, str]]]
) -> Sequence[cst.Arg]:
    """The arguments of a call, of which some become several: parameters and texts, by the parameter that an old one is for."""
    return _spread(old, [_arguments(argument, new.get(name)) for argument, name in zip(old, names, strict=True)])


def _arguments(old: cst.Arg, new: Sequence[tuple[str, str]] | None) -> list[cst.Arg]:
    if new is None:
        return [old]
    values = [(name, cst.parse_expression(text)) for name, text in new]
    return [old.with_changes(value=value, keyword=cst.Name(name) if old.keyword else None) for name, value in values]


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


@frozen(kw_only=True)
class Site:
    """A call that hands block pointers over."""

    caller: FunctionPlace
    called: FunctionPlace
    arguments: Mapping[str, str]
    """Parameter → what it is given, of those that are no block pointers."""
    parts: Mapping[tuple[str, Part], str]
    """Parameter and part → what that is, in the words of the caller."""
    naturals: frozenset[tuple[str, Part]]
    """Those that are no negative numbers."""
    ones: frozenset[str]
    """Names in the caller that are 1."""


@frozen(kw_only=True)
class PartFacts:
    """What is known of the parts that functions are given."""

    texts: Mapping[tuple[FunctionPlace, str], Mapping[Part, str]] = Factory(dict)
    """Function and parameter → parts that are the same number in all calls, or the value of another parameter."""
    naturals: frozenset[tuple[FunctionPlace, str, Part]] = frozenset()
    """Parts that are no negative number in any call."""
    strides: frozenset[tuple[FunctionPlace, str, Part]] = frozenset()
    """Parts that are 1 in all calls."""
    ones: Mapping[FunctionPlace, frozenset[str]] = Factory(dict)
    """Names in a function that are 1: arguments of the kernel of which the kernel file says so, and what is given them."""


def learned(sites: Sequence[Site], program: KernelProgram, facts: PartFacts) -> PartFacts:
    """What the calls show, besides what is known."""
    by_called: dict[FunctionPlace, list[Site]] = {}
    for site in sites:
        by_called.setdefault(site.called, []).append(site)
    texts = {key: dict(parts) for key, parts in facts.texts.items()}
    naturals, strides, ones = set(facts.naturals), set(facts.strides), dict(facts.ones)
    for called, calls in by_called.items():
        bindings = Bindings.of(program.code_of(called), program.definition(called))
        arguments = {
            name for name in calls[0].arguments if bindings.counts.get(name) == 1 and all(name in site.arguments for site in calls)
        }
        for name, part in calls[0].parts:
            if text := _text((name, part), calls, arguments):
                texts.setdefault((called, name), {}).setdefault(part, text)
            if all((name, part) in site.naturals for site in calls):
                naturals.add((called, name, part))
            if all(site.parts[name, part] in {"1", *site.ones} for site in calls):
                strides.add((called, name, part))
        ones[called] = frozenset(name for name in arguments if all(site.arguments[name] in {"1", *site.ones} for site in calls))
    return PartFacts(texts=texts, naturals=frozenset(naturals), strides=frozenset(strides), ones=ones)


def _text(key: tuple[str, Part], calls: Sequence[Site], arguments: Iterable[str]) -> str:
    """The number that a part is in all calls, or a parameter that is always given the same; empty where there is neither."""
    texts = {site.parts[key] for site in calls}
    number = next(iter(texts))
    if len(texts) == 1 and literal(cst.parse_expression(number)) is not None:
        return number
    return next((name for name in sorted(arguments) if all(site.arguments[name] == site.parts[key] for site in calls)), "")


def of_descriptors(facts: PartFacts) -> PartFacts:
    """The same for a descriptor that is handed over whole: strides that are 1 say along which axis its elements lie together."""
    texts = {key: dict(parts) for key, parts in facts.texts.items()}
    for place, name, part in facts.strides:
        texts.setdefault((place, name), {})[part] = "1"
    return evolve(facts, texts=texts)
