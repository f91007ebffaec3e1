"""A file as a git revision has it."""

from __future__ import annotations

import subprocess
from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import BinaryIO

from compat.errors import StoreError

_HINT = "REVISION:PATH is as `git show` takes it: `HEAD~1:reports/matrix.json`; a path that begins with ./ is from this folder."


def open_revision(name: str) -> BinaryIO:
    """A file that has the content of ``REVISION:PATH`` in the git repository of the current folder, as it was committed.

    Raises StoreError, with git's own words, where there is no such file, no repository, or no git.
    """
    if name.startswith("-"):
        raise StoreError("a revision does not begin with a hyphen", where=name, hint=_HINT)
    asked = ["git", "cat-file", "blob", name]
    with ExitStack() as stack:
        file = stack.enter_context(TemporaryFile())
        try:
            done = subprocess.run(asked, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.PIPE, check=False)
        except FileNotFoundError as error:
            raise StoreError("git is not installed, and there is no file of this name", where=name, hint=_HINT) from error
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise StoreError(f"git has no such file: {said[0] if said else 'it says nothing'}", where=name, hint=_HINT)
        file.seek(0)
        stack.pop_all()  # whoever asked for it closes it
        return file
