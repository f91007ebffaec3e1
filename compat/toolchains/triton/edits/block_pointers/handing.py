"""Block pointers that are handed to other functions of the user's, or returned by them: which, and of how many dimensions.

A parameter is a block pointer where a call gives it one; so is what a function returns. Functions that are handed some get other
parameters, so that whatever else calls them is edited, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst
from attrs import Factory, define

from compat.toolchains.language import CannotEdit
from compat.toolchains.triton.edits.block_pointers.normal import MadePointer, Reader, choices, pairs
from compat.toolchains.triton.edits.code import elements_of, walk
from compat.toolchains.triton.edits.program import FunctionPlace, KernelProgram


@define
class PointersOf:
    """The block pointers of a function, with their dimensions."""

    variables: dict[str, set[int]] = Factory(dict)
    """Variables that hold some at some time."""
    parameters: dict[str, int] = Factory(dict)
    returned: tuple[int, ...] = ()
    """For each value that it returns, 0 where that is none; empty where it returns none at all."""
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
    _nodes: dict[FunctionPlace, list[cst.CSTNode]] = Factory(dict)

    @classmethod
    def of(cls, program: KernelProgram) -> Handing:
        """What a kernel hands on. Raises CannotEdit where that is not the same in all calls."""
        handing, more = cls(program), [program.kernel]
        while more:
            family = program.reachable(*handing.functions, *more)
            handing.functions = {place: handing.functions.get(place) or PointersOf() for place in family}
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
        """The functions, each after those that it calls. Raises CannotEdit where one calls itself."""
        order: list[FunctionPlace] = []
        for place in self.functions:
            self._visit(place, order, ())
        return order

    def _visit(self, place: FunctionPlace, order: list[FunctionPlace], above: tuple[FunctionPlace, ...]) -> None:
        if place in above:
            raise CannotEdit(f"{place.function} calls itself")
        if place not in order:
            for called, _ in self._calls(place):
                if called != place and called in self.functions:
                    self._visit(called, order, (*above, place))
            order.append(place)

    def _calls(self, place: FunctionPlace) -> Iterator[tuple[FunctionPlace, cst.Call]]:
        """The calls of functions of the program that a function makes."""
        for node in self._nodes_of(place):
            if isinstance(node, cst.Call) and (called := self.program.called(place.file, node)) is not None:
                yield called, node

    def _callers(self) -> list[FunctionPlace]:
        """Functions outside of the family that call one which changes."""
        changed = self.changed
        others = self.program.naming({place.function for place in changed})
        return [
            place for place in others if place not in self.functions and any(called in changed for called, _ in self._calls(place))
        ]

    def called(self, place: FunctionPlace, node: cst.CSTNode) -> FunctionPlace | None:
        """The function of the family that a node in a function calls."""
        called = self.program.called(place.file, node)
        return called if called in self.functions else None

    def returns(self, place: FunctionPlace, node: cst.CSTNode) -> PointersOf | None:
        """What a call returns, where there are block pointers in it."""
        called = self.called(place, node)
        return self.functions[called] if called is not None and self.functions[called].returned else None

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
        for node in self._nodes_of(place):
            if isinstance(node, cst.Assign | cst.AnnAssign) and node.value is not None:
                targets = [target.target for target in node.targets] if isinstance(node, cst.Assign) else [node.target]
                for target in targets:
                    for name, rank in self._assigned(place, target, node.value):
                        pointers.variables.setdefault(name, set()).add(rank)
            elif isinstance(node, cst.Return) and node.value is not None:
                self._return(place, node.value)
        for called, call in self._calls(place):
            self._call(place, called, call)

    def _assigned(self, place: FunctionPlace, whole: cst.BaseExpression, value: cst.BaseExpression) -> Iterator[tuple[str, int]]:
        for target, part in pairs(whole, value):
            if isinstance(target, cst.Name):
                yield from ((target.value, rank) for rank in self._ranks(place, part))
            elif (returned := self.returns(place, part)) is not None:
                ranks = zip(elements_of(target) or (), returned.returned, strict=False)
                yield from ((element.value, rank) for element, rank in ranks if rank and isinstance(element, cst.Name))

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
                raise CannotEdit(f"{called.function} is given a block pointer in a form that is not known")
            for rank in ranks:
                if parameters.setdefault(name, rank) != rank:
                    raise CannotEdit(f"{called.function} is given block pointers of different dimensions")

    def _return(self, place: FunctionPlace, value: cst.BaseExpression) -> None:
        elements, pointers = elements_of(value), self.functions[place]
        ranks = [self._ranks(place, element) for element in ((value,) if elements is None else elements)]
        if not any(ranks):
            return
        returned = tuple(max(rank, default=0) for rank in ranks)
        earlier = (pointers.returned, pointers.returns_one) if pointers.returned else None
        if any(len(rank) > 1 for rank in ranks) or earlier not in (None, (returned, elements is None)):
            raise CannotEdit(f"{place.function} returns block pointers in different ways")
        pointers.returned, pointers.returns_one = returned, elements is None

    def _nodes_of(self, place: FunctionPlace) -> Sequence[cst.CSTNode]:
        if place not in self._nodes:
            body = self.program.definition(place).body
            self._nodes[place] = [
                node for node in walk(body) if isinstance(node, cst.Assign | cst.AnnAssign | cst.Call | cst.Return)
            ]
        return self._nodes[place]


def arguments(call: cst.Call, function: cst.FunctionDef) -> Iterator[tuple[str, cst.Arg]]:
    """The parameter that each argument is for; an empty name where that is not known."""
    names = [param.name.value for param in (*function.params.posonly_params, *function.params.params)]
    starred = False
    for number, argument in enumerate(call.args):
        starred |= bool(argument.star)
        if argument.keyword:
            yield argument.keyword.value, argument
        else:
            yield names[number] if number < len(names) and not starred else "", argument
