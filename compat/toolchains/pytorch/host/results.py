"""The file of results: a JSON object per cell and line, as the package's docstring describes it."""

from __future__ import annotations

import fnmatch
import json
import os
from typing import TYPE_CHECKING, Any, Iterable, List, Mapping, Sequence, Set, Tuple

if TYPE_CHECKING:
    from ...inside.foreign import Document

SCHEMA = 1
NAME = "results.jsonl"
"""The default name of the file in the folder."""
Key = Tuple[str, str, str]


def key_of(line: Mapping[str, Any]) -> Key:
    """Return the key that a result shares with its cell.

    ``line`` is a cell of an index, or a line of results.
    """
    return str(line["identity"]), str(line["problem"]), str(line["object"])


def finished_keys(path: "str | os.PathLike[str]") -> Set[Key]:
    """Return the keys of cells with a result in a file.

    Lost cells are left out, so that they are launched again.
    """
    keys: Set[Key] = set()
    if os.path.exists(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    result = json.loads(line)
                    if result["check"]["status"] != "lost":
                        keys.add(key_of(result))
                except (ValueError, TypeError, KeyError):  # a line that was cut short
                    continue
    return keys


def remaining(
    cells: Iterable[Document], globs: Sequence[str], done_keys: Set[Key]
) -> List[Document]:
    """Return the cells of an index that match a glob and have no result.

    Without globs, all cells match.
    """
    meant = (
        cell
        for cell in cells
        if not globs or any(fnmatch.fnmatchcase(cell["cell"], glob) for glob in globs)
    )
    return [cell for cell in meant if key_of(cell) not in done_keys]


def append(path: "str | os.PathLike[str]", lines: Iterable[Mapping[str, Any]]) -> None:
    """Add results to a file, on a new line even if the last line was cut short."""
    with open(path, "a+b") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
        if file.read(1) not in (b"", b"\n"):
            file.write(b"\n")
        file.writelines((json.dumps(line) + "\n").encode() for line in lines)
