"""Gives features the envs that they ask for, having had nox build those that are missing."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from attrs import frozen

from compat.envs import locks
from compat.envs.asked import note_envs
from compat.envs.cache import EnvCache
from compat.envs.env import build_envs, read_env
from compat.errors import EnvError
from compat.model import BuiltEnv, Env

_log = logging.getLogger(__name__)
_LOOK_EVERY = 1.0
"""Seconds between two looks at envs that are being built."""


class _Building:
    """Envs while they are built."""

    def __init__(self, cache: EnvCache, envs: Sequence[Env]) -> None:
        self._cache, self._envs = cache, tuple(envs)
        self._began = self._looked = time.monotonic()
        self._state = f"building envs: 0 of {len(envs)} done"

    def line(self) -> str:
        """How many are there, which are being built, and since when this goes on."""
        now = time.monotonic()
        if now - self._looked > _LOOK_EVERY:
            self._state, self._looked = self._look(), now
        return f"{self._state}, {now - self._began:.0f} s"

    def _look(self) -> str:
        under_way = [env.name for env in self._envs if locks.is_being_built(self._cache.folder_of(env))]
        there = sum(env.name not in under_way and read_env(env, self._cache).error is None for env in self._envs)
        named = f", now {', '.join(under_way)}" if under_way else ""
        return f"building envs: {there} of {len(self._envs)} done{named}"


@frozen(kw_only=True)
class EnvProvider:
    """Call it with a ``matrix.toml`` and envs that it declares. What it gives counts as in use as long as this process lives."""

    cache: EnvCache
    project: Path | None = None
    """The project's own ``matrix.toml``, if what is asked for by it is to be noted beside it."""
    build: bool = True
    """Whether envs that are missing are built."""
    jobs: int = 1
    """How many are built at the same time."""
    echo: Callable[[str], None] = _log.info
    """Is told what is done, and what goes wrong."""
    busy: Callable[[Callable[[], str]], AbstractContextManager[Any]] = nullcontext
    """Is entered while something is done that takes long, with what says how far it is, perhaps from another thread."""

    def __call__(self, matrix: Path, envs: Sequence[Env]) -> list[BuiltEnv]:
        """These envs as they are in the cache, after nox had its chance with those that are missing, all at once.

        Raises EnvError where something is missing and nothing can be written into the cache.
        """
        found = {env.name: self._read(env) for env in envs}
        missing = [built.env for built in found.values() if built.error is not None]
        if self.build and missing:
            self.have_built(matrix, missing)
            found |= {env.name: self._read(env) for env in missing}
        if matrix == self.project:
            note_envs([name for name, built in found.items() if built.error is None], matrix.parent)
        return [found[env.name] for env in envs]

    def have_built(self, matrix: Path, envs: Sequence[Env], *, again: bool = False) -> None:
        """Have nox build these envs, where they are missing or (``again``) in any case. Raises EnvError as the call does."""
        self.cache.prepare()
        names = [env.name for env in envs]
        self.echo(f"building {', '.join(names)}")
        others = [env.name for env in envs if locks.is_being_built(self.cache.folder_of(env))]
        if others:
            self.echo(f"another command is building {', '.join(others)}: waiting for it")
        try:
            with self.busy(_Building(self.cache, envs).line):
                jobs = min(len(names), self.jobs)
                build_envs(names, matrix.parent, jobs=jobs, matrix=matrix, cache=self.cache, again=again)
        except EnvError as error:  # what could be built is there; what could not is told with the answer
            self.echo(f"warning: {error}")

    def _read(self, env: Env) -> BuiltEnv:
        locks.hold(self.cache.folder_of(env))
        return read_env(env, self.cache)
