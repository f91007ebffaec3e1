"""What else a result depends on: files that were imported for it in a way that no source shows.

``importlib`` and the finders of editable installs lead to files that are known only once they were imported. Their contents, and
which modules there are beside them, are kept with the result; it counts as long as both are what they were.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from compat.bundle.closure import roots_of

_MARGIN = 0.1
"""Seconds that a file has to be older than an import to be what was imported: clocks of file systems lag behind."""


def taken(files: Iterable[Path], roots: Iterable[Path], since: float) -> dict[str, str] | None:
    """Path → digest, of files and of the folders that they and the roots are in; ``None`` where one may have changed meanwhile.

    ``since`` is a time before the first of them was imported, in seconds since the epoch.
    """
    files = list(files)
    if not files:
        return {}
    places = dict.fromkeys([*files, *roots, *(folder for file in files for folder in _folders(file))])
    found: dict[str, str] = {}
    for place in places:
        digest = _digest(place)
        if digest is None or _changed(place) > since - _MARGIN:
            return None
        found[str(place)] = digest
    return found


def hold(witnesses: Mapping[str, str], known: dict[str, str | None]) -> bool:
    """Whether all is what it was; ``known`` has the digests that were taken before, and gets those that are taken now."""
    for path in witnesses:
        if path not in known:
            known[path] = _digest(Path(path))
    return all(known[path] == digest for path, digest in witnesses.items())


def _folders(file: Path) -> Iterator[Path]:
    """Where modules beside a file would be found: its folder and, where that is a package, those above up to the root."""
    (root,) = roots_of(file)
    folder = file.parent
    while folder != root:
        yield folder
        folder = folder.parent
    yield root


def _digest(place: Path) -> str | None:
    """Of a file its content, of a folder the names of the modules in it; ``None`` where there is neither."""
    try:
        if place.is_dir():
            return hashlib.sha256("\0".join(sorted(_modules(place))).encode("utf-8", "surrogateescape")).hexdigest()
        return hashlib.sha256(place.read_bytes()).hexdigest()
    except OSError:
        return None


def _modules(folder: Path) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            is_package = entry.name.isidentifier() and entry.name != "__pycache__" and entry.is_dir()
            if is_package or entry.name.endswith((".py", ".so")):
                yield entry.name


def _changed(place: Path) -> float:
    """When anything about it was last changed; nobody can set this back."""
    try:
        return place.stat().st_ctime
    except OSError:
        return float("inf")
