"""The loops of a kernel's machine code. Pure.

A loop is a natural loop. It has a first block, and every path into the loop leads through that
block. The other blocks reach a jump back to it without passing through it. A backward jump alone
does not make a loop, because compilers put rare code after the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from compat.toolchains.nvidia.instructions import Instruction, InstructionKind

_MOST = 2_000
"""The most blocks between branches that are read, because dominators take quadratic time.

A kernel has some tens of blocks.
"""


class Region(NamedTuple):
    """The instructions of a loop that are in none of its inner loops, or those in no loop."""

    depth: int
    """The number of loops around it; 0 for the code in no loop."""
    instructions: tuple[Instruction, ...]
    """In the order of the code."""


class _Block(NamedTuple):
    first: int
    last: int
    followers: tuple[int, ...]


def regions(instructions: Sequence[Instruction]) -> tuple[Region, ...]:
    """Return the code in no loop first, then the loops in the order of the code.

    Code that is never reached, such as the padding after the end, is left out. So is a loop that is
    one jump to itself. The result is empty without code, and for code of more than
    :data:`_MOST` blocks.
    """
    blocks = _blocks(instructions)
    if not 0 < len(blocks) <= _MOST:
        return ()
    loops = _loops(blocks)
    owners: dict[int, int] = {}
    for block in _reachable_blocks(blocks):
        holding = [header for header, members in loops.items() if block in members]
        owners[block] = min(holding, key=lambda header: len(loops[header]), default=-1)
    parts = []
    for header in (-1, *sorted(loops)):
        own = tuple(
            instruction
            for block in sorted(owners)
            if owners[block] == header
            for instruction in instructions[blocks[block].first : blocks[block].last + 1]
        )
        depth = sum(header in members for members in loops.values())
        if header == -1 or len(own) > 1:
            parts.append(Region(depth, own))
    return tuple(parts)


def _blocks(instructions: Sequence[Instruction]) -> list[_Block]:
    if not instructions:
        return []
    ends = [
        one for one in instructions if one.kind in (InstructionKind.BRANCH, InstructionKind.END)
    ]
    count = len(instructions)
    firsts = sorted(
        {0, *(one.at + 1 for one in ends), *(one.target for one in ends)} & set(range(count))
    )
    numbers = {first: number for number, first in enumerate(firsts)}
    blocks = []
    for first, after in zip(firsts, [*firsts[1:], count], strict=True):
        last = instructions[after - 1]
        goes_on = last.kind not in (InstructionKind.BRANCH, InstructionKind.END) or last.guarded
        places = ([after] if goes_on else []) + (
            [last.target] if last.kind is InstructionKind.BRANCH else []
        )
        blocks.append(
            _Block(first, after - 1, tuple(numbers[at] for at in places if at in numbers))
        )
    return blocks


def _loops(blocks: Sequence[_Block]) -> dict[int, set[int]]:
    """Return the first block of each loop → its blocks, including those of inner loops."""
    dominators = _dominators(blocks)
    before = _before(blocks, dominators)
    loops: dict[int, set[int]] = {}
    for number, over in dominators.items():
        for header in blocks[number].followers:
            if over >> header & 1:
                members = loops.setdefault(header, {header})
                waiting = [number]
                while waiting:
                    block = waiting.pop()
                    if block not in members:
                        members.add(block)
                        waiting.extend(before[block])
    return loops


def _dominators(blocks: Sequence[_Block]) -> dict[int, int]:
    """Return reachable block → its dominators, the blocks on every path to it, as bits."""
    order = _reachable_blocks(blocks)
    before = _before(blocks, order)
    all_ = (1 << len(blocks)) - 1
    over = {number: all_ if number else 1 for number in order}
    changed = True
    while changed:
        changed = False
        for number in order[1:]:
            meeting = all_
            for earlier in before[number]:
                meeting &= over[earlier]
            meeting |= 1 << number
            if meeting != over[number]:
                over[number], changed = meeting, True
    return over


def _reachable_blocks(blocks: Sequence[_Block]) -> list[int]:
    """Return the blocks that are reachable from the first one, which comes first."""
    order = [0] if blocks else []
    for number in order:
        order += [one for one in dict.fromkeys(blocks[number].followers) if one not in order]
    return order


def _before(blocks: Sequence[_Block], numbers: Iterable[int]) -> dict[int, set[int]]:
    """Return each of these blocks → its predecessors among them."""
    before: dict[int, set[int]] = {number: set() for number in numbers}
    for number in before:
        for follower in blocks[number].followers:
            before[follower].add(number)
    return before
