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
    *others, last = text.split("/")
    if not others:
        return CellWords(patterns=(text,))
    envs = _envs(last, config, whole=len(others) == _PARTS - 1)
    ends = tuple(env.name for env in envs) or toolchains.targets_of_gpu(last) or (last,)
    before = toolchains.targets_of_gpu(others[-1]) if len(others) == _PARTS - 1 else ()
    found = product(["/".join(others[:-1])] if len(others) > 1 else [None], before or (others[-1],), ends)
    return CellWords(patterns=tuple("/".join(part for part in parts if part is not None) for parts in found), envs=envs)


def _envs(word: str, config: MatrixConfig, *, whole: bool) -> tuple[Env, ...]:
    """The envs that the last part of an id means, where it cannot be a glob over ids."""
    if not releases.is_one(word) and not (whole and not set(word) & set("*?[")):
        return ()
    try:
        return config.choose_envs([word])
    except SelectionError:
        return ()
