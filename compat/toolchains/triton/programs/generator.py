"""Programs from seeds, and further forms of them: equal seeds give equal programs.

Each program uses only some of the operations. A program of all operations has too few of each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from random import Random

from attrs import evolve

from compat.toolchains.triton.programs.analysis import check_program
from compat.toolchains.triton.programs.draft import Draft
from compat.toolchains.triton.programs.dtypes import PLACES
from compat.toolchains.triton.programs.operations import FAMILIES
from compat.toolchains.triton.programs.operations.memory import propose_store
from compat.toolchains.triton.programs.operations.operation import UndefinedError
from compat.toolchains.triton.programs.program import RESPELLED, BlockProgram

ALWAYS = ("memory", "elementwise", "casts")
"""Families of every program."""
_OUTPUTS = 4
"""The most values that a program stores."""
_LARGEST = 1 << 16
"""The most elements that a tensor may have."""


def generate(seed: int, only: Collection[str] = ()) -> BlockProgram:
    """Return the program of a seed.

    Args:
        seed: The seed.
        only: The families that the program must use, besides those of every program. If it is
            empty, the seed chooses some of all families.
    """
    for number in range(1000):
        random = Random(f"{seed}/{number}")  # noqa: S311 - a hunt must be repeatable
        try:
            program = _draw(seed, random, only)
            check_program(program)
        except UndefinedError:
            continue
        if max(program.sizes.values()) <= _LARGEST:
            return program
    raise AssertionError(f"no draft of seed {seed} is a program")


def _draw(seed: int, random: Random, only: Collection[str]) -> BlockProgram:
    optional = [family for family in FAMILIES if family not in ALWAYS]
    families = only or [family for family in optional if random.random() < 0.35]
    grid = random.choice((1, 1, 2, 3))
    draft = Draft(random, {*ALWAYS, *families}, grid)
    draft.small(random.choice(("i32", "fp32", "fp16")), draft.shape())
    draft.fill(random.randint(4, 18))
    _store(draft)
    if missing := set(only) - draft.used_families:
        raise UndefinedError(f"the program does not use {', '.join(sorted(missing))}")
    hinted = [
        *draft.tensors,
        *draft.outputs,
        *(
            name
            for name, number in draft.scalars.items()
            if number % 16 == 0 and random.random() < 0.7
        ),
    ]
    options = {
        "num_warps": random.choice((1, 2, 4, 4, 4, 8, 8, 16)),
        "num_stages": random.choice((1, 2, 2, 3, 3, 4)),
    }
    return BlockProgram(
        seed=seed,
        statements=draft.statements(),
        inputs=tuple(draft.tensors.values()),
        outputs=tuple(draft.outputs.values()),
        scalars=draft.scalars,
        grid=grid,
        options=options,
        hinted=tuple(hinted),
    )


def _store(draft: Draft) -> None:
    """Store the last values that no statement uses, or else the last value."""
    used = {operand.name for statement in draft.statements() for operand in statement.operands}
    values = draft.values_where(lambda value: value.dtype not in PLACES)
    unused = [value for value in values if value.name not in used] or values[-1:]
    for value in unused[-_OUTPUTS:]:
        draft.attempt(partial(propose_store, value=value))
    if not draft.outputs:
        raise UndefinedError("nothing can be stored")


# --- forms ----------------------------------------------------------------------------------------

CHOICES = {"num_warps": (1, 2, 4, 8, 16), "num_stages": (1, 2, 3, 4)}
"""Compile option → its values."""


def forms_of(program: BlockProgram, count: int) -> tuple[BlockProgram, ...]:
    """Return a program and further forms of it, ``count`` in all at most, the same on each call."""
    random = Random(f"{program.seed}/forms")  # noqa: S311 - a hunt must be repeatable
    others = list(_others(program, random))
    return (program, *random.sample(others, min(count - 1, len(others))))


def _others(program: BlockProgram, random: Random) -> Iterator[BlockProgram]:
    for option, values in CHOICES.items():
        value = random.choice([value for value in values if value != program.options[option]])
        name = f"{option.removeprefix('num_')}_{value}"
        yield evolve(program, form=name, options={**program.options, option: value})
    if program.hinted:
        yield evolve(program, form="unhinted", hinted=())
    yield evolve(program, form=RESPELLED)
