"""Other forms of a program, which compute the same: another config, no hints, another spelling."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from attrs import evolve

from compat.toolchains.triton.programs.program import RESPELLED, Program

CHOICES = {"num_warps": (1, 2, 4, 8, 16), "num_stages": (1, 2, 3, 4)}
"""Compile option → its values."""


def forms_of(program: Program, count: int) -> tuple[Program, ...]:
    """A program and further forms of it, at most so many in all: the same each time."""
    random = Random(f"{program.seed}/forms")  # noqa: S311 - a hunt must be repeatable
    others = list(_others(program, random))
    return (program, *random.sample(others, min(count - 1, len(others))))


def _others(program: Program, random: Random) -> Iterator[Program]:
    for option, values in CHOICES.items():
        value = random.choice([value for value in values if value != program.options[option]])
        name = f"{option.removeprefix('num_')}_{value}"
        yield evolve(program, form=name, options={**program.options, option: value})
    if program.hinted:
        yield evolve(program, form="unhinted", hinted=())
    yield evolve(program, form=RESPELLED)
