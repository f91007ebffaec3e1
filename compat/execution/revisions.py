"""A file as a git revision has it."""

from __future__ import annotations

import subprocess

from compat.errors import StoreError

_HINT = "REVISION:PATH is as `git show` takes it: `HEAD~1:reports/matrix.json`; a path that begins with ./ is from this folder."


def read_revision(name: str) -> bytes:
    """The content of ``REVISION:PATH`` in the git repository of the current folder, as it was committed.

    Raises StoreError, with git's own words, where there is no such file, no repository, or no git.
    """
    if name.startswith("-"):
        raise StoreError("a revision does not begin with a hyphen", where=name, hint=_HINT)
    try:
        done = subprocess.run(["git", "cat-file", "blob", name], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise StoreError("git is not installed, and there is no file of this name", where=name, hint=_HINT) from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise StoreError(f"git has no such file: {said[0] if said else 'it says nothing'}", where=name, hint=_HINT)
    return done.stdout
