"""Block pointers that are handed to other functions of the user's, or returned by them: which, and of how many dimensions.

A parameter is a block pointer where a call gives it one; so is what a function returns. Functions that are handed some get other
parameters, so that whatever else calls them is edited, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst
from attrs import Factory, define, frozen

from compat.toolchains.edits import CannotEdit
from compat.toolchains.triton.edits.block_pointers.normal import ADVANCE, MAKE, Made, choices, pairs
from compat.toolchains.triton.edits.code import elements_of, walk
from compat.toolchains.triton.edits.program import Place, Program


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

    program: Program
    family: tuple[Place, ...] = ()
    """The kernel's functions, and those that call one of them which gets other parameters."""
    ranks: dict[Place, dict[str, set[int]]] = Factory(dict)
    """Variables that hold block pointers at some time, with their dimensions."""
    parameters: dict[Place, dict[str, int]] = Factory(dict)
    """Parameters that block pointers are handed to, with their dimensions."""
    returned: dict[Place, Returns] = Factory(dict)

    @classmethod
    def of(cls, program: Program) -> Handing:
        """What a kernel hands on. Raises CannotEdit where that is not the same in all calls."""
        found = cls(program, program.reachable(program.kernel))
        found._settle()
        while more := found._callers():
            found.family = program.reachable(*found.family, *more)
            found._settle()
        if found.parameters.get(program.kernel) or program.kernel in found.returned:
            raise CannotEdit("the kernel itself is called with a block pointer, or returns one")
        return found

    @property
    def hands(self) -> bool:
        """Whether anything is handed over."""
        return any(map(self.changes, self.family))

    @property
    def bottom_up(self) -> list[Place]:
        """The functions, each after those that it calls. Raises CannotEdit where one calls itself."""
        order: list[Place] = []
        for place in self.family:
            self._visit(place, order, ())
        return order

    def _visit(self, place: Place, order: list[Place], above: tuple[Place, ...]) -> None:
        if place in above:
            raise CannotEdit(f"{place.function} calls itself")
        if place not in order:
            for called, _ in self.calls(place):
                if called != place and called in self.family:
                    self._visit(called, order, (*above, place))
            order.append(place)

    def calls(self, place: Place) -> Iterator[tuple[Place, cst.Call]]:
        """The calls of functions of the program that a function makes."""
        for node in self._nodes(place):
            if isinstance(node, cst.Call) and (called := self.program.called(place.file, node)) is not None:
                yield called, node

    def changes(self, place: Place) -> bool:
        """Whether a function gets other parameters, or returns something else."""
        return bool(self.parameters.get(place)) or place in self.returned

    def _callers(self) -> list[Place]:
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

    def _look(self, place: Place) -> None:
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

    def _assigned(self, place: Place, node: cst.Assign | cst.AnnAssign) -> Iterator[tuple[str, int]]:
        assert node.value is not None
        for each in [each.target for each in node.targets] if isinstance(node, cst.Assign) else [node.target]:
            for target, value in pairs(each, node.value):
                if isinstance(target, cst.Name):
                    yield from ((target.value, rank) for rank in self._ranks(place, value))
                elif (given := self._returned_by(place, value)) is not None:
                    elements = elements_of(target) or ()
                    yield from (
                        (one.value, rank)
                        for one, rank in zip(elements, given.ranks, strict=False)
                        if rank and isinstance(one, cst.Name)
                    )

    def _ranks(self, place: Place, value: cst.BaseExpression) -> set[int]:
        """The dimensions of what an expression may give; empty where that is no block pointer."""
        return {rank for each in choices(value) for rank in self._ranks_of_one(place, each)}

    def _ranks_of_one(self, place: Place, value: cst.BaseExpression) -> set[int]:
        names, language = self.ranks.get(place, {}), self.program.code_of(place).language
        if isinstance(value, cst.Name):
            return names.get(value.value, set())
        if not isinstance(value, cst.Call):
            return set()
        if language.called(value) == MAKE:
            return {Made.of(value).rank}
        if language.called(value) == ADVANCE and value.args:
            return self._ranks(place, value.args[0].value)
        if isinstance(value.func, cst.Attribute) and value.func.attr.value == ADVANCE and isinstance(value.func.value, cst.Name):
            return names.get(value.func.value.value, set())
        given = self._returned_by(place, value)
        return {given.ranks[0]} if given is not None and given.alone else set()

    def _returned_by(self, place: Place, value: cst.BaseExpression) -> Returns | None:
        called = self.program.called(place.file, value)
        return self.returned.get(called) if called is not None else None

    def _call(self, place: Place, called: Place, call: cst.Call) -> None:
        for name, argument in arguments(call, self.program.definition(called)):
            ranks = self._ranks(place, argument.value)
            if ranks and (argument.star or not name):
                raise CannotEdit(f"{called.function} is given a block pointer in a form that is not known")
            known = self.parameters.setdefault(called, {})
            if len(ranks | ({known[name]} if name in known else set())) > 1:
                raise CannotEdit(f"{called.function} is given block pointers of different dimensions")
            known.update(dict.fromkeys([name] if ranks else [], max(ranks, default=0)))

    def _return(self, place: Place, value: cst.BaseExpression) -> None:
        elements = elements_of(value)
        ranks = [self._ranks(place, each) for each in (elements if elements is not None else (value,))]
        if not any(ranks):
            return
        found = Returns(tuple(max(each, default=0) for each in ranks), elements is None)
        if any(len(each) > 1 for each in ranks) or self.returned.setdefault(place, found) != found:
            raise CannotEdit(f"{place.function} returns block pointers in different ways")

    def _nodes(self, place: Place) -> Sequence[cst.CSTNode]:
        if place not in self._kept:
            body = self.program.definition(place).body
            self._kept[place] = [
                each for each in walk(body) if isinstance(each, cst.Assign | cst.AnnAssign | cst.Call | cst.Return)
            ]
        return self._kept[place]

    _kept: dict[Place, list[cst.CSTNode]] = Factory(dict)


def arguments(call: cst.Call, function: cst.FunctionDef) -> Iterator[tuple[str, cst.Arg]]:
    """The parameter that each argument is for; an empty name where that is not known."""
    names = [each.name.value for each in (*function.params.posonly_params, *function.params.params)]
    starred = False
    for number, each in enumerate(call.args):
        starred |= bool(each.star)
        if each.keyword:
            yield each.keyword.value, each
        else:
            yield names[number] if number < len(names) and not starred else "", each
