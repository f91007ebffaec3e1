"""The edit for rows of different lengths, which fills up short rows."""

from __future__ import annotations

from collections.abc import Iterator

from compat.toolchains.language import FailingKernel, Proposal


def rows_filled_up(faulty: FailingKernel) -> Iterator[Proposal]:
    """Add a word to the one row that is too short."""
    yield Proposal(text=faulty.text.replace('\\nunder"', '\\nunder over"'))
