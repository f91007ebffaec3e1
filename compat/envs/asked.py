"""Which envs a project's commands have asked for: the cache has those of other projects, too.

One empty file for each, ``.compat/envs/<name>``, so that two commands can note at the same time.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_ASKED = Path(".compat", "envs")
"""Where the notes are, below the root of the project."""


def note_envs(names: list[str], root: Path) -> None:
    """Note that a command of the project in ``root`` asked for these; without effect where nothing can be written."""
    with suppress(OSError):
        for name in names:
            path = root / _ASKED / name
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()


def noted_envs(root: Path) -> tuple[str, ...]:
    """The names that are noted, in alphabetical order."""
    with suppress(OSError):
        return tuple(sorted(path.name for path in (root / _ASKED).iterdir()))
    return ()
