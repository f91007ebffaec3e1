"""The numbers in a specialization that a compile's time may grow with. Pure.

The module also makes the same specialization with other numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from compat.model import Specialization
from compat.text import JsonObject

SMALLEST = 8
"""The least value of a constexpr that counts as a size."""
_STEPS = 6
"""How often a size is halved."""


def sizes(spec: Specialization) -> tuple[str, ...]:
    """Return the constexprs that a compile time may grow with, the largest value first."""
    values = {
        name: value
        for name, value in spec.compile.constexprs.items()
        if _is_number(value) and value >= SMALLEST
    }
    return tuple(sorted(values, key=lambda name: -values[name]))


def ladder(value: int) -> tuple[int, ...]:
    """Return a size and its repeated halves, the smallest first."""
    return tuple(sorted({value >> step for step in range(_STEPS + 1) if value >> step >= 1}))


def value_of(spec: Specialization, name: str) -> int | None:
    """Return the value of a constexpr or an option; ``None`` if it is not an integer."""
    value = {**spec.compile.options, **spec.compile.constexprs}.get(name)
    return value if _is_number(value) else None


def with_value(spec: Specialization, name: str, value: int) -> Specialization:
    """Return a specialization with another value for a constexpr or an option.

    It has no declared expectations.
    """
    table = "constexprs" if name in spec.compile.constexprs else "options"
    numbers: JsonObject = {table: {**getattr(spec.compile, table), name: value}}
    return evolve(spec, compile=evolve(spec.compile, **numbers), expectations=())


def smaller(spec: Specialization) -> Iterator[tuple[str, int, Specialization]]:
    """Yield the specializations that a search for growth compiles if the user names no sizes.

    Each comes with its setting and its value.
    """
    for name in sizes(spec):
        own = value_of(spec, name) or 1
        yield from (
            (name, value, with_value(spec, name, value)) for value in ladder(own) if value != own
        )


def differing(spec: Specialization, other: Specialization) -> str | None:
    """Return the only constexpr in which two specializations of a kernel differ.

    Returns ``None`` if they differ in anything else, or its value is not an integer.
    """
    names = [
        name
        for name, value in spec.compile.constexprs.items()
        if other.compile.constexprs.get(name) != value
    ]
    if len(names) != 1 or value_of(spec, names[0]) is None or value_of(other, names[0]) is None:
        return None
    same = with_value(other, names[0], value_of(spec, names[0]) or 0)
    return (
        names[0]
        if (same.compile, same.function, same.source) == (spec.compile, spec.function, spec.source)
        else None
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
