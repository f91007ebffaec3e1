"""The kernels of libraries from the package index that nobody has written kernel files for, version by version.

A kernel has the same name in every version, so that versions stand side by side as its variants. It has one case; of the
configurations of an autotuner the first is taken. Guessing takes seconds for a library of hundreds of kernels, and a version never
changes: what was guessed is kept beside it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from compat import toolchains
from compat.config.kernel_files import kernels_of
from compat.config.libraries import LibraryVersions
from compat.config.toml_reader import parse_toml
from compat.errors import ConfigError
from compat.files import replace_file
from compat.guess.finding import sources
from compat.guess.guessing import guess_sources, kernel_file_text
from compat.json_text import read_json
from compat.model import ONLY_CASE, Specialization
from compat.source import constants
from compat.source.closure import module_of
from compat.toolchains.guessing import GuessedKernel, Guessing

_KEPT = "compat-guessed.json"


@frozen
class _Place:
    """Where a kernel is in a library."""

    module: str
    function: str

    def may_be_called(self, name: str) -> bool:
        """Whether a name is the function's, with any part of the module before it."""
        return f".{self.module}.{self.function}".endswith(f".{name}")

    def names(self) -> Iterator[str]:
        """What it may be called, the shortest first."""
        name = self.function
        yield name
        for part in reversed(self.module.split(".")):
            name = f"{part}.{name}"
            yield name


def load_packages(folders: Mapping[LibraryVersions, Path], taken: Collection[str] = ()) -> tuple[Specialization, ...]:
    """The guessed kernels of libraries that are unpacked in these folders; names that are ``taken`` are not given to any.

    Files that are not Python as this program reads it are passed over. Raises ConfigError where a library has no kernel.
    """
    guessed = {library: _guessed(library, folder) for library, folder in folders.items()}
    for library, kernels in guessed.items():
        if not kernels:
            hint = "Kernels have @triton.jit above them, and no other kernel calls them."
            raise ConfigError("there is no Triton kernel in this library", where=library.requirement, hint=hint)
    names = _names(list(guessed.values()), taken)
    return tuple(
        spec
        for library, kernels in guessed.items()
        for place, text in kernels.items()
        for spec in _read(text, names[place], library, folders[library])
    )


def _names(versions: Sequence[Collection[_Place]], taken: Collection[str]) -> dict[_Place, str]:
    """What kernels are called: as the function, with as much of the module before it as tells it apart in every version."""

    def is_clear(name: str) -> bool:
        return name not in taken and all(sum(place.may_be_called(name) for place in places) <= 1 for places in versions)

    every = dict.fromkeys(place for places in versions for place in places)
    return {place: next(filter(is_clear, place.names()), f"{place.module}.{place.function}") for place in every}


def _read(text: str, name: str, library: LibraryVersions, folder: Path) -> Iterator[Specialization]:
    top = parse_toml(text, library.requirement)
    for kernel in kernels_of(top, folder / "guessed.toml"):
        for spec in kernel.specializations():
            origin = f"{library.requirement}::{spec.function}"
            yield evolve(spec, kernel=name, variant=library.variant, case=ONLY_CASE, guessed=True, origin=origin)


# --- guessing ---------------------------------------------------------------------------------------------------------------------


def _guessed(library: LibraryVersions, folder: Path) -> dict[_Place, str]:
    """The kernel file of each kernel of a library: as it is kept, else guessed now."""
    kept, version = folder / _KEPT, _version()
    with suppress(OSError, ValueError, KeyError, TypeError):
        document = read_json(kept.read_bytes())
        if document["version"] == version:
            return {_Place(module, function): text for module, function, text in document["kernels"]}
    texts = dict(_guess(library, folder))
    kernels = [[place.module, place.function, text] for place, text in texts.items()]
    with suppress(OSError):  # kept to save time
        replace_file(kept, json.dumps({"version": version, "kernels": kernels}))
    return texts


def _guess(library: LibraryVersions, folder: Path) -> Iterator[tuple[_Place, str]]:
    readable = [path for path in sources(str(folder), folder) if _is_readable(path)]
    for source in guess_sources(readable):
        module = module_of(source.path, [folder])
        for kernel in source.kernels:
            alone = evolve(kernel, name=kernel.function, tables=_of_first_case(kernel))
            yield (
                _Place(module, kernel.function),
                kernel_file_text([alone], module, package=library.requirement, toolchain=source.toolchain),
            )


def _of_first_case(kernel: GuessedKernel) -> dict[str, Any]:
    return {key: value[:1] if key == "case" else value for key, value in kernel.tables.items()}


def _is_readable(path: Path) -> bool:
    try:
        for guessing in _guessings():
            guessing.read(path)
    except (OSError, SyntaxError, RecursionError):
        return False
    return True


def _guessings() -> list[Guessing]:
    return [guessing for toolchain in toolchains.every() if (guessing := toolchain.language.guessing)]


def _version() -> str:
    """By which guesses it was guessed: a digest of the modules that guess."""
    digest = hashlib.sha256()
    own = (*Path(__file__).parent.glob("*.py"), Path(constants.__file__))
    for path in (*sorted(own), *(file for guessing in _guessings() for file in guessing.files)):
        digest.update(path.read_bytes())
    return digest.hexdigest()
