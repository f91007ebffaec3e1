"""Where a captured kernel is in the library or project that it comes from, for kernel files that name it there.

Such a kernel is imported anew on every release, with all that its modules ask while they are imported; a bundle has the answers.
"""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

from attrs import frozen
from packaging.utils import canonicalize_name

from compat.bundle.frozen import Frozen
from compat.envs.libraries import unpacked
from compat.errors import EnvError
from compat.source.closure import roots_of

_INSTALLED = ("site-packages", "dist-packages")


@frozen(kw_only=True)
class Live:
    """A kernel where it is written."""

    source: Path
    """The file: of a library from the package index the one that was unpacked, else that of the program."""
    root: Path
    """The folder that its package lies in."""
    module: str
    function: str
    package: str = ""
    """The library of the index, with its version; empty for a file of the user's own."""


class NotLive(Exception):
    """A kernel that cannot be named where it is written, and why."""


def live(function: Frozen, library: Callable[[str], Path] = unpacked) -> Live:
    """Where the function of a kernel is written. ``library`` unpacks a requirement. Raises NotLive."""
    if function.module == "__main__" or function.module.endswith(".py"):  # as the recorder calls it
        raise NotLive("it is of the program itself, which would be run anew to import it")
    if "<locals>" in function.qualname:
        raise NotLive("a function made it as it ran")
    file = Path(os.path.realpath(function.file)) if function.file else None
    if file is None or not file.is_file():
        raise NotLive("its file is not there")
    root = _root(file, function.module)
    live_ = Live(source=file, root=root, module=function.module, function=function.qualname)
    return _of_library(live_, library) if root.name in _INSTALLED else live_


def _root(file: Path, module: str) -> Path:
    """The folder that a module of this name is found from in this file."""
    parts = module.split(".")
    place = file.parent if file.name == "__init__.py" else file.with_suffix("")
    if list(place.parts[-len(parts) :]) != parts or (len(parts) == 1 and roots_of(file) != (place.parent,)):
        raise NotLive(f"its file is not where its module, {module}, is looked for")
    return place.parents[len(parts) - 1]


def _of_library(found: Live, library: Callable[[str], Path]) -> Live:
    """The same in the library as the package index has it."""
    inside = found.source.relative_to(found.root)
    requirement = _distributions(found.root).get(inside.as_posix())
    if requirement is None:
        raise NotLive("no installed distribution says that its file is of it")
    try:
        folder = library(requirement)
    except EnvError as error:
        raise NotLive(str(error)) from error
    source = folder / inside
    if not source.is_file() or source.read_bytes() != found.source.read_bytes():
        raise NotLive(f"its file is not what the package index has as {requirement}")
    return Live(source=source, root=folder, module=found.module, function=found.function, package=requirement)


@lru_cache(maxsize=16)
def _distributions(root: Path) -> dict[str, str]:
    """File → the distribution that installed it, with its version, of all below a folder."""
    return {
        file: f"{canonicalize_name(name)}=={distribution.version}"
        for distribution in importlib.metadata.distributions(path=[str(root)])
        if (name := distribution.metadata["Name"])
        for file in _python_files(distribution)
    }


def _python_files(distribution: importlib.metadata.Distribution) -> Iterator[str]:
    yield from (file.as_posix() for file in distribution.files or () if file.suffix == ".py")
