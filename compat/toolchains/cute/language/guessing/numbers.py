"""Whole numbers for the parameters of a kernel's constructor, which fit together.

A name suggests a number. The source's assertions restrict it, and so do its divisions. If one
parameter divides another one, it is at most as large, and the division leaves no remainder.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from compat.source.constants import Scope
from compat.source.parsing import dotted_name
from compat.toolchains.cute.language.guessing.assumptions import assumed_number
from compat.toolchains.cute.language.guessing.body import literals_of

_USUAL = (64, 32, 16, 8, 4, 2, 1)
_STEPS = 10_000
"""The most numbers to try in all."""

_Numbers = Mapping[str, int]
_Rule = Callable[[_Numbers], bool]


def fitting_numbers(
    names: Sequence[str],
    parameter_values: Mapping[str, object],
    kind: ast.ClassDef | ast.FunctionDef,
) -> dict[str, int]:
    """Return a number for each name.

    ``parameter_values`` has the values of other parameters. If no numbers fit together, each name
    gets its likeliest number.
    """
    rules = [*_assertions(names, parameter_values, kind), *_divisions(names, kind)]
    choices = {name: _choices(name, kind) for name in names}
    steps = _STEPS

    def complete(chosen: dict[str, int]) -> dict[str, int] | None:
        nonlocal steps
        if len(chosen) == len(names):
            return chosen
        name = names[len(chosen)]
        for number in choices[name]:
            steps -= 1
            numbers = {**chosen, name: number}
            fits = steps > 0 and all(rule(numbers) for rule in rules)
            if fits and (solution := complete(numbers)) is not None:
                return solution
        return None

    return complete({}) or {name: choices[name][0] for name in names}


def _choices(name: str, kind: ast.ClassDef | ast.FunctionDef) -> list[int]:
    """Return the numbers to try for a name, the likeliest first."""
    if allowed := [value for value in literals_of(name, kind, allowed=True) if type(value) is int]:
        return allowed
    compared = [value for value in literals_of(name, kind) if type(value) is int]
    return list(dict.fromkeys((assumed_number(name), *compared, *_USUAL)))


def _assertions(
    names: Sequence[str],
    parameter_values: Mapping[str, object],
    kind: ast.ClassDef | ast.FunctionDef,
) -> list[_Rule]:
    """Return a rule for each assertion about the names.

    An assertion whose value does not follow from the numbers holds.
    """

    def rule(test: ast.expr) -> _Rule:
        def holds(numbers: _Numbers) -> bool:
            scope = Scope(module={}, imports={}, local={**parameter_values, **numbers})
            is_known, value = scope.try_value(test)
            return not is_known or bool(value)

        return holds

    tests = [node.test for node in ast.walk(kind) if isinstance(node, ast.Assert)]
    return [
        rule(test)
        for test in tests
        if any(isinstance(node, ast.Name) and node.id in names for node in ast.walk(test))
    ]


def _divisions(names: Sequence[str], kind: ast.ClassDef | ast.FunctionDef) -> list[_Rule]:
    """Return a rule for each division: a parameter is a multiple of the one that divides it."""

    def rule(dividend: str, divisor: str) -> _Rule:
        def holds(numbers: _Numbers) -> bool:
            if dividend not in numbers or divisor not in numbers:
                return True
            multiple, part = numbers[dividend], numbers[divisor]
            return 0 < part <= multiple and multiple % part == 0

        return holds

    pairs = {
        tuple(dotted_name(side).removeprefix("self.") for side in (node.left, node.right))
        for node in ast.walk(kind)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv)
    }
    return [rule(*pair) for pair in sorted(pairs) if set(pair) <= set(names)]
