"""Blocks that are too small for ``tl.dot``: the constexprs of the kernel file that are below 16 get 16, or 32 for 8-bit types.

It is an edit of the case in the kernel file, not of the source, and changes how much of the problem one program computes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compat.toolchains.edits import Faulty, Proposal

_SIZES = (16, 32)
_NOTE = (
    "the case in the kernel file gets larger blocks: launch with the same values and the grid for them, and look whether "
    "every load and store of the kernel is masked beyond the tensors"
)


def proposals(faulty: Faulty) -> Iterator[Proposal]:
    """One constexpr raised, two of them, …: as few as possible."""
    if "too small" not in faulty.failure.excerpt and "16" not in faulty.failure.excerpt and "M >=" not in faulty.failure.excerpt:
        return
    small = [name for name, value in faulty.compile.constexprs.items() if type(value) is int and 1 <= value < _SIZES[-1]]
    for size in _SIZES:
        for names in _subsets([name for name in small if faulty.compile.constexprs[name] < size]):
            yield Proposal(text=faulty.text, constexprs=dict.fromkeys(names, size), notes=(_NOTE,))


def _subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """One of the names, two, and all."""
    yield from ((name,) for name in names)
    yield from ((one, other) for number, one in enumerate(names) for other in names[number + 1 :])
    if len(names) > 2:
        yield tuple(names)
