"""Block pointers that are handed to other functions of the user's, or returned by them: which, and of how many dimensions.

A parameter is a block pointer where a call gives it one; so is what a function returns. Functions that are handed some get other
parameters, so that whatever else calls them is edited, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst
from attrs import Factory, define, frozen

from compat.toolchains.language import CannotEdit
from compat.toolchains.triton.edits.block_pointers.normal import ADVANCE, MAKE, MadePointer, choices, pairs
from compat.toolchains.triton.edits.code import elements_of, walk
from compat.toolchains.triton.edits.program import FunctionPlace, KernelProgram


@frozen
class Returns:
    """What a function returns."""

    ranks: tuple[int, ...]
    """For each value its dimensions, where it is a block pointer, and 0 for all else."""
    alone: bool
    """It is one value, and no tuple."""


@define(eq=False)
class Handing:
    """What is handed from function to function in a program."""

    program: KernelProgram
    family: tuple[FunctionPlace, ...] = ()
    """The kernel's functions, and those that call one of them which gets other parameters."""
    ranks: dict[FunctionPlace, dict[str, set[int]]] = Factory(dict)
    """Variables that hold block pointers at some time, with their dimensions."""
    parameters: dict[FunctionPlace, dict[str, int]] = Factory(dict)
    """Parameters that block pointers are handed to, with their dimensions."""
    returned: dict[FunctionPlace, Returns] = Factory(dict)

    @classmethod
    def of(cls, program: KernelProgram) -> Handing:
        """What a kernel hands on. Raises CannotEdit where that is not the same in all calls."""
        handing = cls(program, program.reachable(program.kernel))
        handing._settle()
        while more := handing._callers():
            handing.family = program.reachable(*handing.family, *more)
            handing._settle()
        if handing.parameters.get(program.kernel) or program.kernel in handing.returned:
            raise CannotEdit("the kernel itself is called with a block pointer, or returns one")
        return handing

    @property
    def hands(self) -> bool:
        """Whether anything is handed over."""
        return any(map(self.changes, self.family))

    @property
    def bottom_up(self) -> list[FunctionPlace]:
        """The functions, each after those that it calls. Raises CannotEdit where one calls itself."""
        order: list[FunctionPlace] = []
        for place in self.family:
            self._visit(place, order, ())
        return order

    def _visit(self, place: FunctionPlace, order: list[FunctionPlace], above: tuple[FunctionPlace, ...]) -> None:
        if place in above:
            raise CannotEdit(f"{place.function} calls itself")
        if place not in order:
            for called, _ in self.calls(place):
                if called != place and called in self.family:
                    self._visit(called, order, (*above, place))
            order.append(place)

    def calls(self, place: FunctionPlace) -> Iterator[tuple[FunctionPlace, cst.Call]]:
        """The calls of functions of the program that a function makes."""
        for node in self._nodes(place):
            if isinstance(node, cst.Call) and (called := self.program.called(place.file, node)) is not None:
                yield called, node

    def changes(self, place: FunctionPlace) -> bool:
        """Whether a function gets other parameters, or returns something else."""
        return bool(self.parameters.get(place)) or place in self.returned

    def _callers(self) -> list[FunctionPlace]:
        """Functions outside of the family that call one which changes."""
        changed = {place.function for place in self.family if self.changes(place)}
        others = [place for place in self.program.naming(changed) if place not in self.family]
        return [place for place in others if any(self.changes(called) for called, _ in self.calls(place))]

    # --- which variables ---

    def _settle(self) -> None:
        while True:
            before = repr((self.ranks, self.parameters, self.returned))
            for place in self.family:
                self._look(place)
            if repr((self.ranks, self.parameters, self.returned)) == before:
                return

    def _look(self, place: FunctionPlace) -> None:
        names = self.ranks.setdefault(place, {})
        for name, rank in self.parameters.get(place, {}).items():
            names.setdefault(name, set()).add(rank)
        for node in self._nodes(place):
            if isinstance(node, cst.Assign | cst.AnnAssign) and node.value is not None:
                for target, rank in self._assigned(place, node):
                    names.setdefault(target, set()).add(rank)
            elif isinstance(node, cst.Call) and (called := self.program.called(place.file, node)) is not None:
                self._call(place, called, node)
            elif isinstance(node, cst.Return) and node.value is not None:
                self._return(place, node.value)

    def _assigned(self, place: FunctionPlace, node: cst.Assign | cst.AnnAssign) -> Iterator[tuple[str, int]]:
        assert node.value is not None
        assigned = [target.target for target in node.targets] if isinstance(node, cst.Assign) else [node.target]
        for whole_target in assigned:
            for target, value in pairs(whole_target, node.value):
                if isinstance(target, cst.Name):
                    yield from ((target.value, rank) for rank in self._ranks(place, value))
                elif (returns := self._returned_by(place, value)) is not None:
                    elements = elements_of(target) or ()
                    yield from (
                        (one.value, rank)
                        for one, rank in zip(elements, returns.ranks, strict=False)
                        if rank and isinstance(one, cst.Name)
                    )

    def _ranks(self, place: FunctionPlace, value: cst.BaseExpression) -> set[int]:
        """The dimensions of what an expression may give; empty where that is no block pointer."""
        return {rank for choice in choices(value) for rank in self._ranks_of_one(place, choice)}

    def _ranks_of_one(self, place: FunctionPlace, value: cst.BaseExpression) -> set[int]:
        names, language = self.ranks.get(place, {}), self.program.code_of(place).language
        if isinstance(value, cst.Name):
            return names.get(value.value, set())
        if not isinstance(value, cst.Call):
            return set()
        if language.called(value) == MAKE:
            return {MadePointer.of(value).rank}
        if language.called(value) == ADVANCE and value.args:
            named = (argument for argument in value.args if argument.keyword and argument.keyword.value == "base")
            return self._ranks(place, next(named, value.args[0]).value)
        if isinstance(value.func, cst.Attribute) and value.func.attr.value == ADVANCE and isinstance(value.func.value, cst.Name):
            return names.get(value.func.value.value, set())
        returns = self._returned_by(place, value)
        return {returns.ranks[0]} if returns is not None and returns.alone else set()

    def _returned_by(self, place: FunctionPlace, value: cst.BaseExpression) -> Returns | None:
        called = self.program.called(place.file, value)
        return self.returned.get(called) if called is not None else None

    def _call(self, place: FunctionPlace, called: FunctionPlace, call: cst.Call) -> None:
        for name, argument in arguments(call, self.program.definition(called)):
            ranks = self._ranks(place, argument.value)
            if ranks and (argument.star or not name):
                raise CannotEdit(f"{called.function} is given a block pointer in a form that is not known")
            ranks_by_name = self.parameters.setdefault(called, {})
            if len(ranks | ({ranks_by_name[name]} if name in ranks_by_name else set())) > 1:
                raise CannotEdit(f"{called.function} is given block pointers of different dimensions")
            ranks_by_name.update(dict.fromkeys([name] if ranks else [], max(ranks, default=0)))

    def _return(self, place: FunctionPlace, value: cst.BaseExpression) -> None:
        elements = elements_of(value)
        ranks = [self._ranks(place, value_node) for value_node in (elements if elements is not None else (value,))]
        if not any(ranks):
            return
        returns = Returns(tuple(max(rank, default=0) for rank in ranks), elements is None)
        if any(len(rank) > 1 for rank in ranks) or self.returned.setdefault(place, returns) != returns:
            raise CannotEdit(f"{place.function} returns block pointers in different ways")

    def _nodes(self, place: FunctionPlace) -> Sequence[cst.CSTNode]:
        if place not in self._kept:
            body = self.program.definition(place).body
            self._kept[place] = [
                node for node in walk(body) if isinstance(node, cst.Assign | cst.AnnAssign | cst.Call | cst.Return)
            ]
        return self._kept[place]

    _kept: dict[FunctionPlace, list[cst.CSTNode]] = Factory(dict)


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
