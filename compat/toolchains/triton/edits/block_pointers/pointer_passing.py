"""Block pointers that the user's functions get or return, and their replacements.

A parameter is a block pointer if a call passes one. The same holds for results of functions. Such a
parameter becomes one parameter for each part that the function uses. At the beginning of the
function, a block pointer is made from these parts, and edited like any other. A result becomes the
offsets that the function has changed, or all parts if the function has made the block pointer.
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
from compat.toolchains.triton.edits.block_pointers.normal_form import (
    BASE,
    MAKE,
    PLACED,
    MadePointer,
    Part,
    Reader,
    assign,
    choices,
)
from compat.toolchains.triton.edits.code import Code, bound_targets, elements_of, literal, walk
from compat.toolchains.triton.edits.program import FunctionPlace, KernelProgram

NOT_SEPARATE = "__not_separate__"
"""Marks a part that a call does not pass separately. It occurs in no source, edited or not."""
MADE: Part = ("made", 0)
"""The whole block pointer, passed as one argument."""
PassedPart = tuple[str, Part]
"""An argument of a call: a parameter, with its part of the block pointer or :data:`WHOLE`."""
WHOLE: Part = ("", 0)
_T = TypeVar("_T", cst.Param, cst.Arg)


@define
class PointersOf:
    """The block pointers of a function, with their dimensions."""

    variables: dict[str, set[int]] = Factory(dict)
    """Variable → the dimensions of the block pointers that it holds at some time."""
    parameters: dict[str, int] = Factory(dict)
    returned: tuple[int, ...] = ()
    """The dimensions of each returned value, 0 if it is not a block pointer. Empty if the function
    returns no block pointer.
    """
    returns_one: bool = False
    """Whether it returns one value instead of a tuple."""

    @property
    def changes(self) -> bool:
        """Whether the function gets other parameters, or returns something else."""
        return bool(self.parameters or self.returned)


@define(eq=False)
class PointerFlow:
    """The block pointers that functions of a program pass to each other."""

    program: KernelProgram
    functions: dict[FunctionPlace, PointersOf] = Factory(dict)
    """The kernel's functions, and other functions that call one of them that changes."""

    @classmethod
    def of(cls, program: KernelProgram) -> PointerFlow:
        """Find the block pointers that a kernel's functions pass to each other.

        Raises CannotEdit if calls of a function differ, or if the kernel itself gets or returns a
        block pointer.
        """
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
    def changed_functions(self) -> list[FunctionPlace]:
        """The functions whose parameters or results change."""
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
        """Yield the calls in a function that call functions of the program."""
        for node in walk(self.program.definition(place).body):
            if (
                isinstance(node, cst.Call)
                and (called := self.program.called_function(place.file, node)) is not None
            ):
                yield called, node

    def _callers(self) -> list[FunctionPlace]:
        """Return the functions outside ``functions`` that call a function that changes."""
        changed = self.changed_functions
        others = self.program.naming({place.function for place in changed})
        return [
            place
            for place in others
            if place not in self.functions
            and any(called in changed for called, _ in self._calls(place))
        ]

    def pointer_callee(self, place: FunctionPlace, node: cst.CSTNode) -> FunctionPlace | None:
        """Return the function of ``functions`` that a node in a function calls, if any."""
        called = self.program.called_function(place.file, node)
        return called if called in self.functions else None

    def returns(self, place: FunctionPlace, node: cst.CSTNode) -> PointersOf | None:
        """Return the block pointers of the called function, if the call returns any."""
        called = self.pointer_callee(place, node)
        return (
            self.functions[called]
            if called is not None and self.functions[called].returned
            else None
        )

    def reader(self, place: FunctionPlace) -> Reader:
        """Return a reader that recognises the block pointers in a function."""

        def returns_one(node: cst.CSTNode) -> bool:
            returned = self.returns(place, node)
            return returned is not None and returned.returns_one

        return Reader(self.program.code_of(place), self.functions[place].variables, returns_one)

    # --- the variables that hold block pointers ---

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
            for target, value in bound_targets(node):
                for name, rank in (
                    self._target_ranks(place, target, value) if value is not None else ()
                ):
                    pointers.variables.setdefault(name, set()).add(rank)
            if isinstance(node, cst.Return) and node.value is not None:
                self._return(place, node.value)
        for called, call in self._calls(place):
            self._call(place, called, call)

    def _target_ranks(
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
        """Return the dimensions of the block pointers that an expression may have as its value."""
        return {rank for choice in choices(value) for rank in self._ranks_of_one(place, choice)}

    def _ranks_of_one(self, place: FunctionPlace, value: cst.BaseExpression) -> set[int]:
        reader = self.reader(place)
        if isinstance(value, cst.Name):
            return self.functions[place].variables.get(value.value, set())
        if isinstance(value, cst.Call) and reader.makes(value):
            return {MadePointer.of(value).rank}
        if (base := reader.advanced_pointer(value)) is not None:
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
    """Yield the name of each argument's parameter, which is empty if it is unknown."""
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
    """Return the parts of a block pointer: each element of the arguments of ``make_block_ptr``."""
    return (
        BASE,
        *((name, axis) for name in ("shape", "stride", "at", "block") for axis in range(rank)),
    )


# --- facts about arguments ------------------------------------------------------------------------


@frozen(kw_only=True)
class CommonArguments:
    """The facts that all calls of a function show about its arguments."""

    texts: Mapping[PassedPart, str] = Factory(dict)
    """Part → the number that it is in all calls, or a parameter with the same value."""
    ones: frozenset[PassedPart] = frozenset()
    """The arguments that equal 1: those that the kernel file declares so, and those for which every
    call passes 1 or a name that equals 1.
    """

    def of(self, name: str, handed: Sequence[Part]) -> dict[Part, str]:
        """Return part → text, for the parts of a parameter that need no parameter of their own."""
        texts = {part: text for (parameter, part), text in self.texts.items() if parameter == name}
        if MADE not in handed:
            return texts
        # only offsets and strides of a whole block pointer are used: the strides show along which
        # axis its elements are contiguous
        strides = {
            part: "1" for parameter, part in self.ones if parameter == name and part[0] == "stride"
        }
        return {part: text for part, text in texts.items() if part[0] in ("at", "stride")} | strides


def is_number(text: str) -> bool:
    """Return whether the text is a number."""
    return literal(cst.parse_expression(text)) is not None


# --- parameters -----------------------------------------------------------------------------------


@define
class UnpackedParameter:
    """A parameter that is a block pointer, split into its parts."""

    name: str
    texts: dict[Part, str]
    """The text of each part in the function."""
    new: dict[Part, str]
    """The parts that become parameters of their own, in order → the name of the parameter."""

    @classmethod
    def of(
        cls, name: str, rank: int, handed: Sequence[Part], facts: CommonArguments, code: Code
    ) -> UnpackedParameter:
        """Split a parameter into the parts that are passed.

        Parts whose text is known need no parameter.
        """
        texts = facts.of(name, handed)
        new = {
            part: name if part == MADE else code.fresh(f"{name}_{part_name(part)}")
            for part in handed
            if part not in texts
        }
        return cls(
            name,
            {part: texts.get(part) or new.get(part) or NOT_SEPARATE for part in all_parts(rank)},
            new,
        )

    def statement(self, code: Code) -> cst.SimpleStatementLine:
        """Return the statement that makes the block pointer at the beginning of the function."""
        return _pointer_statement(self.name, self.texts, code)


def _pointer_statement(name: str, texts: Mapping[Part, str], code: Code) -> cst.SimpleStatementLine:
    """Return a statement that makes a block pointer from these parts."""
    lists = [
        ", ".join(text for part, text in texts.items() if part[0] == kind)
        for kind in ("shape", "stride", "at", "block")
    ]
    argument_text = ", ".join([texts[BASE], *(f"({items},)" for items in lists)])
    return assign(name, cst.parse_expression(f"{code.language.name}.{MAKE}({argument_text})"))


def part_name(part: Part) -> str:
    """Return the form of a part in the name of a variable, such as ``stride_0``."""
    return "base" if part == BASE else f"{'start' if part[0] == 'at' else part[0]}_{part[1]}"


# --- results --------------------------------------------------------------------------------------


@frozen
class Back:
    """A block pointer that a function returns, split into its parts."""

    rank: int
    parameter: str | None
    """The parameter that the function moves and returns; ``None`` if the function made the block
    pointer.
    """
    parts: tuple[Part, ...]
    """The parts that the function returns instead."""
    texts: Mapping[Part, str] = Factory(dict)
    """The other parts, if the function made the block pointer: numbers, and names of parameters."""

    @classmethod
    def of(
        cls,
        webs: Sequence[Web],
        form: AccessForm,
        begun: Mapping[Definition | None, UnpackedParameter],
    ) -> Back:
        """Return the block pointer at one position of all ``return`` statements.

        ``begun`` has the parameters, by the definitions that they become. Raises CannotEdit if the
        caller could not put the pointer together again.
        """
        texts, rank = [form.handing(web) for web in webs], webs[0].made_pointer.rank
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
        """Return the statement that rebuilds the block pointer in the caller.

        It uses the returned ``values`` and the ``passed`` arguments. Raises CannotEdit if an
        argument that it needs was not passed, or not as a variable.
        """
        if self.parameter is None:
            texts = {
                part: values.get(part) or _in_caller(self.texts[part], passed, code)
                for part in all_parts(self.rank)
            }
            return _pointer_statement(name, texts, code)
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


def replace_parameters(
    parameters: cst.Parameters, unpacked: Mapping[str, UnpackedParameter], code: Code
) -> cst.Parameters:
    """Return the parameters of a function, with block pointers replaced by their parts.

    Raises CannotEdit for a block pointer with a default.
    """
    fixed = cst.Annotation(cst.parse_expression(f"{code.language.name}.constexpr"))

    def several(old: cst.Param) -> list[cst.Param]:
        if old.name.value not in unpacked:
            return [old]
        if old.default is not None:
            raise CannotEdit(f"the block pointer {old.name.value} is a parameter with a default")
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


def replace_arguments(
    old: Sequence[cst.Arg], names: Sequence[str], new: Mapping[str, Mapping[str, str]]
) -> Sequence[cst.Arg]:
    """Return the arguments of a call, some of which become several.

    ``new`` maps the parameter of an old argument to the new parameters and their texts.
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
