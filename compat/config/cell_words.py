"""What somebody means who names a cell: ids and globs, in which a release may stand for an env and a GPU for a target."""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import product

from attrs import frozen

from compat import toolchains
from compat.config import releases
from compat.config.matrix import MatrixConfig
from compat.errors import SelectionError
from compat.model import Env

_PARTS = 5
"""Parts of an id: kernel, variant, case, target, env."""
_TARGET = 3
"""The place of the target among them, from 0."""


@frozen(kw_only=True)
class CellWords:
    """A word for cells, with the names that ids have in the place of releases and GPUs."""

    patterns: tuple[str, ...]
    """Ids or globs over ids."""
    envs: tuple[Env, ...] = ()
    """The envs that it names, which need not be among those of ``matrix.toml``."""

    def match(self, name: str) -> bool:
        """Whether a cell of that id is meant, or its id is."""
        return any(name == pattern or fnmatchcase(name, pattern) for pattern in self.patterns)


def cell_words(text: str, config: MatrixConfig) -> CellWords:
    """Read a word for cells. What means no env and no GPU stays as it is: that nothing matches it is found out later."""
    parts = text.split("/")
    if len(parts) == 1:
        return CellWords(patterns=(text,))
    envs = _envs(parts[-1], config, whole=len(parts) == _PARTS)
    meant = [_targets(parts, place) for place in range(len(parts))]
    meant[-1] = tuple(env.name for env in envs) or meant[-1]
    return CellWords(patterns=tuple(map("/".join, product(*meant))), envs=envs)


def _targets(parts: list[str], place: int) -> tuple[str, ...]:
    """What a part of a word means, which may be a GPU where the target can stand: the last part, or the one before it.

    A star reaches over several parts, so that fewer may stand before the target than an id has there; what looks like a GPU may be
    the name of a variant or a case then, too.
    """
    fewer = place < _TARGET and any("*" in part for part in parts[:place])
    if place < len(parts) - 2 or not (place == _TARGET or fewer):
        return (parts[place],)
    found = toolchains.targets_of_gpu(parts[place])
    return (parts[place], *found) if fewer else found or (parts[place],)


def _envs(word: str, config: MatrixConfig, *, whole: bool) -> tuple[Env, ...]:
    """The envs that the last part of an id means, where it cannot be a glob over ids."""
    if not releases.is_one(word) and not (whole and not set(word) & set("*?[")):
        return ()
    try:
        return config.choose_envs([word])
    except SelectionError:
        return ()
