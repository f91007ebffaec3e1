"""An edit in the user's file: whole or not at all, and only where the file is what was read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from compat.errors import ConfigError, StoreError
from compat.files import replace_file
from compat.fix.changes import Changed
from compat.fix.fixing import Fix


def write_fix(fix: Fix) -> tuple[Path, ...]:
    """Write the edit into the files that it changes, and return their paths.

    Each file is replaced at once, with its permissions, and none is where one of them is not what it was when the edit was found.
    Raises ConfigError where a file has changed, or would not stay as it is apart from the edit, and StoreError where it cannot be
    written.
    """
    for each in fix.changes:
        _check(each)
    written: list[Changed] = []
    try:
        for each in fix.changes:
            written.append(each)
            _replace(each.path, each.after)
    except BaseException as error:
        _restore(written)
        if not isinstance(error, OSError):
            raise
        raise StoreError(f"the edit could not be written: {error}", where=str(each.path), hint="Nothing was changed.") from error
    return tuple(each.path for each in fix.changes)


def _check(changed: Changed) -> None:
    try:
        now = changed.path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot be read any more: {error}", where=str(changed.path)) from error
    if now != changed.before:
        raise ConfigError("has changed since the edit was found", where=str(changed.path), hint="Run the command again.")
    if not changed.is_whole:
        raise ConfigError(
            "has line ends of several kinds, which would not stay as they are",
            where=str(changed.path),
            hint="Make the edit by hand, or give all lines the same end first.",
        )


def _restore(written: Sequence[Changed]) -> None:
    """Each file as it was, as far as that can be; the last of them may never have been written."""
    for each in written:
        with suppress(OSError):
            if each.path.read_bytes() != each.before:
                _replace(each.path, each.before)


def _replace(path: Path, content: bytes) -> None:
    replace_file(Path(os.path.realpath(path)), content, keep_mode=True)
