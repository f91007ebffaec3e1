"""The bad endpoints that the last bisect of a project found, for ``compat repro last-bisect``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from compat.bisect.probes import ReleaseAnswer
from compat.errors import SelectionError, StoreError
from compat.files import replace_file
from compat.history.account import Judgement
from compat.json_text import read_json
from compat.project import STATE, Selection
from compat.records import structure, unstructure

WORD = "last-bisect"
"""What names them where a command takes a cell."""

_FILE = "last-bisect.json"


@frozen(kw_only=True)
class BadEnds:
    """What the last bisect left."""

    cells: tuple[str, ...]
    """Ids of cells."""
    kernel_files: tuple[str, ...]
    """Absolute paths of the kernel files that they come from; empty where those are ``matrix.toml``'s."""


def note_bad_ends(answers: Sequence[ReleaseAnswer], selection: Selection) -> None:
    """Save the bad endpoint of every bracket in the project; none if the search found none. Raises StoreError."""
    ends = (probe for answer in answers if answer.bracket for probe in (answer.bracket.before, answer.bracket.after))
    cells = [probe.result.cell.id for probe in ends if probe.judgement is Judgement.BAD]
    files = [str(Path(file).absolute()) for file in selection.patterns.kernel_files]
    noted = BadEnds(cells=tuple(cells), kernel_files=tuple(files))
    path = selection.state / _FILE
    try:
        replace_file(path, json.dumps(unstructure(noted)))
    except OSError as error:
        raise StoreError(f"the bad ends cannot be saved: {error}", where=str(path)) from error


def read_bad_ends(root: Path) -> BadEnds:
    """What was saved last in the project in that folder. Raises SelectionError where there is nothing."""
    try:
        found = structure(read_json((root / STATE / _FILE).read_bytes()), BadEnds)
        if "\0" in "".join((*found.cells, *found.kernel_files)):
            raise ValueError("no path and no id has a NUL")
    except (OSError, ValueError):
        raise SelectionError("no last bisect is recorded", where=WORD, hint="Run compat bisect first, or name a cell.") from None
    if not found.cells:
        raise SelectionError("the last bisect found no change, so there is no bad end", where=WORD, hint="Name a cell.")
    return found
