"""The commands that the page shows for a cell, as words with places for what is the cell's.

The page fills them in and quotes them, so that 20,000 cells do not hold six commands each.
"""

from __future__ import annotations

from collections.abc import Sequence

from compat.cell_document import JsonObject

CELL = "{kernel}/{variant}/{case}/{target}/{env}"
_COORDINATE = ("--kernel", "{kernel}", "--variant", "{variant}", "--case", "{case}", "--target", "{target}")

ALWAYS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Compile it again", ("compat", "matrix", *_COORDINATE, "--envs", "{env}", "--again")),
    ("All that is known of it", ("compat", "explain", CELL)),
    ("Since which release", ("compat", "bisect", *_COORDINATE)),
)
"""For every cell: what it is for, and its words."""
FAILING: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("The smallest kernel that fails so", ("compat", "reduce", CELL)),
    ("A standalone script and an issue", ("compat", "repro", CELL)),
)
"""For cells that fail, besides."""
FIX = ("An edit that mends it", ("compat", "fix", CELL))
"""Where an edit is known for the class of the failure."""


def command_table(options: Sequence[str], limits: Sequence[str]) -> JsonObject:
    """The commands for every cell, for those that fail, and for those that an edit is known for.

    ``options`` have a command read the same files; ``limits`` go to those that compile.
    """

    def told(title: str, words: Sequence[str]) -> JsonObject:
        further = options if words[1] == "explain" else (*options, *limits)
        return {"title": title, "words": [*words, *further]}

    return {
        "always": [told(*each) for each in ALWAYS],
        "failing": [told(*each) for each in FAILING],
        "fix": told(*FIX),
    }
