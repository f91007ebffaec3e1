"""The bad ends that the last bisect found, for ``compat repro last-bisect`` to go on from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from compat.axes.history import ReleaseAnswer
from compat.errors import SelectionError
from compat.search.bisect import Judgement

WORD = "last-bisect"
"""What stands for them where a command takes a cell."""

_FILE = "last-bisect.json"


@frozen(kw_only=True)
class BadEnds:
    """Cells, by their ids, and the kernel files that they come from where those are not ``matrix.toml``'s."""

    cells: tuple[str, ...]
    specs: tuple[str, ...]


def remember(answers: Sequence[ReleaseAnswer], specs: Sequence[str], state: Path) -> None:
    """Note the bad end of every bracket; a search that found none leaves none."""
    ends = (probe for answer in answers if answer.bracket for probe in (answer.bracket.before, answer.bracket.after))
    cells = [probe.result.cell.id for probe in ends if probe.judgement is Judgement.BAD]
    noted = {"cells": cells, "specs": [str(Path(spec).absolute()) for spec in specs]}
    (state / _FILE).write_text(json.dumps(noted), encoding="utf-8")


def recall(state: Path) -> BadEnds:
    """What was noted last. Raises SelectionError where there is nothing."""
    try:
        noted = json.loads((state / _FILE).read_text(encoding="utf-8"))
        found = BadEnds(cells=tuple(noted["cells"]), specs=tuple(noted["specs"]))
    except (OSError, ValueError, KeyError, TypeError):
        raise SelectionError("there is no last bisect", where=WORD, hint="Run compat bisect first, or name a cell.") from None
    if not found.cells:
        raise SelectionError("the last bisect found no change, so there is no bad end", where=WORD, hint="Name a cell.")
    return found
