"""Block pointers that the user's functions get or return, and their replacements.

A parameter is a block pointer if a call passes one. The same holds for results of functions. Such a
parameter becomes one parameter for each part that the function uses. At the beginning of the
function, a block pointer is made of these parts, and edited as any other. A result becomes the
offsets that the function has moved along, or all parts if the function has made the block pointer.
Other callers of such functions are edited, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import TypeVar

import libcst as cst
from attrs import Factory, define, frozen

from compat.toolchains.language import CannotEdit
from compat.toolchains.triton.edits.block_pointers.access import AccessForm
from compat.toolchains.triton.edits.block_pointers.flow import Definition, Web
from compat.toolchains.triton.edits.block_pointers.normal import (
    BASE,
    MAKE,
    PLACED,
    MadePointer,
    Part,
    Reader,
    assign,
    choices,
)
from compat.toolchains.triton.edits.code import Code, bound, elements_of, literal, walk
from compat.toolchains.triton.edits.program import FunctionPlace, KernelProgram

GIVEN = "__given__"
"""Marks a part that a call does not pass by itself; it occurs in no source, edited or not."""
MADE: Part = ("made", 0)
"""The whole block pointer, passed as one."""
Given = tuple[str, Part]
"""The arguments of a call: a parameter and its part of the block pointer, or :data:`WHOLE`."""
WHOLE: Part = ("", 0)
_T = TypeVar("_T", cst.Param, cst.Arg)


@define
class PointersOf:
    """The block pointers of a function, with their dimensions."""

    variables: dict[str, set[int]] = Factory(dict)
    """Variables that hold some at some time."""
    parameters: dict[str, int] = Factory(dict)
    returned: tuple[int, ...] = ()
    """For each returned value, 0 if it is not a block pointer; empty if it returns none at all."""
    returns_one: bool = False
    """It returns one value, and no tuple."""

    @property
    def changes(self) -> bool:
        """Whether the function gets other parameters, or returns something else."""
        return bool(self.parameters or self.returned)


@define(eq=False)
class Handing:
    """What is handed from function to function in a program."""

    program: KernelProgram
    functions: dict[FunctionPlace, PointersOf] = Factory(dict)
    """The kernel's functions, and those that call one of them which gets other parameters."""

    @classmethod
    def of(cls, program: KernelProgram) -> Handing:
        """What a kernel hands on. Raises CannotEdit where that is not the same in all calls."""
        handing, more = cls(program), [program.kernel]
        while more:
            family = program.reachable(*handing.functions, *more)
            handing.functions = {
                place: handing.functions.get(place) or PointersOf() for place in family
            }
            handing._settle()
            more = handing._callers()
        if handing.functions[program.kernel].changes:
            raise CannotEdit("the kernel itself is called with a block pointer, or returns one")
        return handing

    @property
    def changed(self) -> list[FunctionPlace]:
        """The functions that get other parameters, or return something else."""
        return [place for place, pointers in self.functions.items() if pointers.changes]

    @property
    def bottom_up(self) -> list[FunctionPlace]:
        """Return the functions, each after those that it calls.

        Raises CannotEdit if one calls itself.
        """
        calls = {
            place: [called for called, _ in self._calls(place) if called in self.functions]
            for place in self.functions
        }
        try:
            return list(TopologicalSorter(calls).static_order())
        except CycleError as error:
            raise CannotEdit(f"{error.args[1][0].function} calls itself") from error

    def _calls(self, place: FunctionPlace) -> Iterator[tuple[FunctionPlace, cst.Call]]:
        """The calls of functions of the program that a function makes."""
        for node in walk(self.program.definition(place).body):
            if (
                isinstance(node, cst.Call)
                and (called := self.program.called(place.file, node)) is not None
            ):
                yield called, node

    def _callers(self) -> list[FunctionPlace]:
        """Functions outside of the family that call one which changes."""
        changed = self.changed
        others = self.program.naming({place.function for place in changed})
        return [
            place
            for place in others
            if place not in self.functions
            and any(called in changed for called, _ in self._calls(place))
        ]

    def called(self, place: FunctionPlace, node: cst.CSTNode) -> FunctionPlace | None:
        """The function of the family that a node in a function calls."""
        called = self.program.called(place.file, node)
        return called if called in self.functions else None

    def returns(self, place: FunctionPlace, node: cst.CSTNode) -> PointersOf | None:
        """What a call returns, where there are block pointers in it."""
        called = self.called(place, node)
        return (
            self.functions[called]
            if called is not None and self.functions[called].returned
            else None
        )

    def reader(self, place: FunctionPlace) -> Reader:
        """What recognises the block pointers in a function."""

        def returns_one(node: cst.CSTNode) -> bool:
            returned = self.returns(place, node)
            return returned is not None and returned.returns_one

        return Reader(self.program.code_of(place), self.functions[place].variables, returns_one)

    # --- which variables ---

    def _settle(self) -> None:
        before = ""
        while before != repr(self.functions):
            before = repr(self.functions)
            for place in self.functions:
                self._look(place)

    def _look(self, place: FunctionPlace) -> None:
        pointers = self.functions[place]
        for name, rank in pointers.parameters.items():
            pointers.variables.setdefault(name, set()).add(rank)
        for node in walk(self.program.definition(place).body):
            for target, value in bound(node):
                for name, rank in self._assigned(place, target, value) if value is not None else ():
                    pointers.variables.setdefault(name, set()).add(rank)
            if isinstance(node, cst.Return) and node.value is not None:
                self._return(place, node.value)
        for called, call in self._calls(place):
            self._call(place, called, call)

    def _assigned(
        self, place: FunctionPlace, target: cst.BaseExpression, value: cst.BaseExpression
    ) -> Iterator[tuple[str, int]]:
        if isinstance(target, cst.Name):
            yield from ((target.value, rank) for rank in self._ranks(place, value))
        elif (returned := self.returns(place, value)) is not None:
            ranks = zip(elements_of(target) or (), returned.returned, strict=False)
            yield from (
                (element.value, rank)
                for element, rank in ranks
                if rank and isinstance(element, cst.Name)
            )

    def _ranks(self, place: FunctionPlace, value: cst.BaseExpression) -> set[int]:
        """The dimensions of what an expression may give; empty where that is no block pointer."""
        return {rank for choice in choices(value) for rank in self._ranks_of_one(place, choice)}

    def _ranks_of_one(self, place: FunctionPlace, value: cst.BaseExpression) -> set[int]:
        reader = self.reader(place)
        if isinstance(value, cst.Name):
            return self.functions[place].variables.get(value.value, set())
        if isinstance(value, cst.Call) and reader.makes(value):
            return {MadePointer.of(value).rank}
        if (base := reader.advanced(value)) is not None:
            return self._ranks(place, base)
        returned = self.returns(place, value)
        return {returned.returned[0]} if returned is not None and returned.returns_one else set()

    def _call(self, place: FunctionPlace, called: FunctionPlace, call: cst.Call) -> None:
        parameters = self.functions[called].parameters
        for name, argument in arguments(call, self.program.definition(called)):
            ranks = self._ranks(place, argument.value)
            if ranks and (argument.star or not name):
                raise CannotEdit(f"{called.function} gets a block pointer in an unknown form")
            for rank in ranks:
                if parameters.setdefault(name, rank) != rank:
                    raise CannotEdit(
                        f"{called.function} gets block pointers of different dimensions"
                    )

    def _return(self, place: FunctionPlace, value: cst.BaseExpression) -> None:
        elements, pointers = elements_of(value), self.functions[place]
        ranks = [
            self._ranks(place, element) for element in ((value,) if elements is None else elements)
        ]
        if not any(ranks):
            return
        returned = tuple(max(rank, default=0) for rank in ranks)
        earlier = (pointers.returned, pointers.returns_one) if pointers.returned else None
        if any(len(rank) > 1 for rank in ranks) or earlier not in (
            None,
            (returned, elements is None),
        ):
            raise CannotEdit(f"{place.function} returns block pointers in different ways")
        pointers.returned, pointers.returns_one = returned, elements is None


def arguments(call: cst.Call, function: cst.FunctionDef) -> Iterator[tuple[str, cst.Arg]]:
    """The parameter that each argument is for; an empty name where that is not known."""
    names = [
        param.name.value for param in (*function.params.posonly_params, *function.params.params)
    ]
    starred = False
    for number, argument in enumerate(call.args):
        starred |= bool(argument.star)
        if argument.keyword:
            yield argument.keyword.value, argument
        else:
            yield names[number] if number < len(names) and not starred else "", argument


def all_parts(rank: int) -> tuple[Part, ...]:
    """The arguments of ``make_block_ptr``, each element by itself."""
    return (
        BASE,
        *((name, axis) for name in ("shape", "stride", "at", "block") for axis in range(rank)),
    )


# --- what is known of what functions are given ----------------------------------------------------


@frozen(kw_only=True)
class CommonArguments:
    """What all calls of a function say of what they give it."""

    texts: Mapping[Given, str] = Factory(dict)
    """Parts that are the same number in all of them, or the value of another parameter."""
    ones: frozenset[Given] = frozenset()
    """The names that equal 1: arguments that the kernel file declares so, and names that get them.
    """

    def of(self, name: str, handed: Sequence[Part]) -> dict[Part, str]:
        """The text of each part of a parameter that needs no parameter of its own."""
        texts = {part: text for (parameter, part), text in self.texts.items() if parameter == name}
        if MADE not in handed:
            return texts
        # of a whole one nothing but the offsets and strides is asked: along which axis its elements
        # lie together
        strides = {
            part: "1" for parameter, part in self.ones if parameter == name and part[0] == "stride"
        }
        return {part: text for part, text in texts.items() if part[0] in ("at", "stride")} | strides


def is_number(text: str) -> bool:
    """Return whether the text is a number."""
    return literal(cst.parse_expression(text)) is not None


# --- what a function is given ---------------------------------------------------------------------


@define
class UnpackedParameter:
    """A parameter that is a block pointer, in parts."""

    name: str
    texts: dict[Part, str]
    """The text of each part in the function."""
    new: dict[Part, str]
    """Those that are parameters of their own, in their order."""

    @classmethod
    def of(
        cls, name: str, rank: int, handed: Sequence[Part], facts: CommonArguments, code: Code
    ) -> UnpackedParameter:
        """Return the parameter as the parts that are passed.

        Some parts are known not to need a parameter.
        """
        texts = facts.of(name, handed)
        new = {
            part: name if part == MADE else code.fresh(f"{name}_{part_name(part)}")
            for part in handed
            if part not in texts
        }
        return cls(
            name, {part: texts.get(part) or new.get(part) or GIVEN for part in all_parts(rank)}, new
        )

    def statement(self, code: Code) -> cst.SimpleStatementLine:
        """The block pointer at the beginning of the function."""
        return _made(self.name, self.texts, code)


def _made(name: str, texts: Mapping[Part, str], code: Code) -> cst.SimpleStatementLine:
    """A block pointer of these parts."""
    lists = [
        ", ".join(text for part, text in texts.items() if part[0] == kind)
        for kind in ("shape", "stride", "at", "block")
    ]
    argument_text = ", ".join([texts[BASE], *(f"({items},)" for items in lists)])
    return assign(name, cst.parse_expression(f"{code.language.name}.{MAKE}({argument_text})"))


def part_name(part: Part) -> str:
    """A part in the name of a variable: ``stride_0``."""
    return "base" if part == BASE else f"{'start' if part[0] == 'at' else part[0]}_{part[1]}"


# --- what it returns ------------------------------------------------------------------------------


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
        cls,
        webs: Sequence[Web],
        form: AccessForm,
        begun: Mapping[Definition | None, UnpackedParameter],
    ) -> Back:
        """Return what stands at one place of all ``return`` statements.

        ``begun`` are the parameters, by the definitions that they become.
        """
        texts, rank = [form.handing(web) for web in webs], webs[0].made.rank
        origins = {
            definition
            for web in webs
            for definition in web.history()
            if definition.made is not None
        }
        origin = next(
            (parameter for definition, parameter in begun.items() if definition in origins), None
        )
        if origin is not None:
            if len(origins) > 1:
                raise CannotEdit("a function returns one of several block pointers")
            at: list[Part] = [("at", axis) for axis in range(rank)]
            moved = [part for part in at if any(text[part] != origin.texts[part] for text in texts)]
            # The function must return something, so it keeps one offset.
            return cls(rank, origin.name, tuple(moved or at[:1]))
        if MADE in texts[0]:
            raise CannotEdit(
                "tensor descriptors: a block pointer is made in one function and returned to"
                " another"
            )
        parameters = {
            node.name.value
            for node in walk(form.flow.function.params)
            if isinstance(node, cst.Param)
        }
        same = {
            part: text
            for part, text in texts[0].items()
            if all(other[part] == text for other in texts)
        }
        same = {part: text for part, text in same.items() if is_number(text) or text in parameters}
        parts = tuple(part for part in texts[0] if part not in same)
        if any(part[0] == "block" for part in parts):
            raise CannotEdit(
                "a function returns a block pointer whose block is not one of its parameters"
            )
        return cls(rank, None, parts or (BASE,), same)

    def put_together(
        self,
        name: str,
        values: Mapping[Part, str],
        passed: Mapping[str, cst.BaseExpression],
        code: Code,
    ) -> cst.BaseStatement:
        """The block pointer in the caller, of these values and of what the function was given."""
        if self.parameter is None:
            texts = {
                part: values.get(part) or _in_caller(self.texts[part], passed, code)
                for part in all_parts(self.rank)
            }
            return _made(name, texts, code)
        handed = passed.get(self.parameter)
        if not isinstance(handed, cst.Name):
            raise CannotEdit("a function returns its argument in an unknown form")
        offsets = ", ".join(values.get(("at", axis), "None") for axis in range(self.rank))
        return assign(name, cst.parse_expression(f"{PLACED}({handed.value}, ({offsets},))"))


def _in_caller(text: str, passed: Mapping[str, cst.BaseExpression], code: Code) -> str:
    if is_number(text):
        return text
    if text not in passed:
        raise CannotEdit(
            f"the parameter {text} of a function that returns a block pointer is missing in a call"
        )
    return code.code_for(passed[text])


# --- lists of parameters and arguments ------------------------------------------------------------


def replaced_parameters(
    parameters: cst.Parameters, unpacked: Mapping[str, UnpackedParameter], code: Code
) -> cst.Parameters:
    """The parameters of a function, those that were block pointers in parts."""
    fixed = cst.Annotation(cst.parse_expression(f"{code.language.name}.constexpr"))

    def several(old: cst.Param) -> list[cst.Param]:
        if old.name.value not in unpacked:
            return [old]
        new = unpacked[old.name.value].new
        return [
            cst.Param(cst.Name(name), fixed if part[0] == "block" else None)
            for part, name in new.items()
        ]

    kinds = {
        kind: getattr(parameters, kind) for kind in ("posonly_params", "params", "kwonly_params")
    }
    return parameters.with_changes(
        **{kind: _spread(old, list(map(several, old))) for kind, old in kinds.items()}
    )


def replaced_arguments(
    old: Sequence[cst.Arg], names: Sequence[str], new: Mapping[str, Mapping[str, str]]
) -> Sequence[cst.Arg]:
    """Return the arguments of a call, some of which become several.

    ``new`` has parameters and texts, by the parameter of an old argument.
    """

    def several(argument: cst.Arg, name: str) -> list[cst.Arg]:
        if name not in new:
            return [argument]
        values = [
            (cst.Name(parameter) if argument.keyword else None, text)
            for parameter, text in new[name].items()
        ]
        return [
            argument.with_changes(keyword=keyword, value=cst.parse_expression(text))
            for keyword, text in values
        ]

    return _spread(old, list(map(several, old, names)))


def _spread(old: Sequence[_T], new: Sequence[Sequence[_T]]) -> list[_T]:
    """Replace elements of a list between commas by several each.

    The first of the new elements stands in the place of the old one, and the last one has its
    comma.
    """
    items: list[_T] = []
    between = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    for one, several in zip(old, new, strict=True):
        items += [item.with_changes(comma=between) for item in several[:-1]]
        items += [item.with_changes(comma=one.comma) for item in several[-1:]]
    if items and not new[-1] and old[-1].comma is cst.MaybeSentinel.DEFAULT:
        items[-1] = items[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return items
