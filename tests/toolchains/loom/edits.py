"""The edit for rows of different lengths: short rows are filled up."""

from __future__ import annotations

from collections.abc import Iterator

from compat.toolchains.language import Faulty, Proposal


def rows_filled_up(faulty: Faulty) -> Iterator[Proposal]:
    """The one row that is too short, with another word."""
    yield Proposal(text=faulty.text.replace('\\nunder"', '\\nunder over"'))
