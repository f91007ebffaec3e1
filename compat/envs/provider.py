"""Gives features the envs that they ask for, having built those that are missing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path

from attrs import evolve, frozen

from compat.envs import locks
from compat.envs.building import Builder, build_envs
from compat.envs.cache import EnvCache, note_envs
from compat.envs.installers import run_installer
from compat.envs.listing import INDEX, Listing, ask_index, comes_from_index, index_urls, kept_files
from compat.envs.record import read_env
from compat.errors import EnvError, IndexUnavailable, SelectionError
from compat.model import BuiltEnv, Env
from compat.processes.procfs import available_cores

_log = logging.getLogger(__name__)
_NEUTRAL = Path(__file__).parent
"""Where installers run: no pyproject.toml of a project sets anything for them there."""
_NO_ANSWER = "the package index does not answer"
_OFFLINE = (
    "Is this machine online? Variables of pip and uv name another index (PIP_INDEX_URL, UV_DEFAULT_INDEX). "
    "`compat envs list` shows the envs that are there already; commands that compile ask no index with --no-build."
)


@frozen(kw_only=True)
class EnvProvider:
    """Call it with a ``matrix.toml`` and envs that it declares. What it gives counts as in use as long as this process lives."""

    cache: EnvCache
    project: Path | None = None
    """The project's own ``matrix.toml``, if what is asked for by it is to be noted beside it."""
    known: frozenset[str] = frozenset()
    """The names of envs whose release is known to exist. Of a missing env of another name the index is asked first."""
    build: bool = True
    """Whether envs that are missing are built."""
    jobs: int | None = None
    """How many are built at the same time; ``None`` for as many as there are cores."""
    echo: Callable[[str], None] = _log.info
    """Is told what is done, and what goes wrong."""
    busy: Callable[[], AbstractContextManager[Callable[[str], None]]] = lambda: nullcontext(_log.debug)
    """Is entered while something is done that takes long; gives what is told, time and again, how it goes."""

    def __call__(self, matrix: Path, envs: Sequence[Env]) -> list[BuiltEnv]:
        """These envs as they are in the cache, after those that are missing were built.

        Raises EnvError where something is missing and nothing can be written into the cache, or none of them is there and the
        package index does not answer; SelectionError, before anything is built, where the index has no such release.
        """
        built = {env.name: self._read(env) for env in envs}
        missing = [env.env for env in built.values() if env.error is not None]
        if not self.build:
            self._check_releases(missing, lambda name: kept_files(name, index_urls(), cache=matrix.parent / INDEX))
        if self.build and missing:
            offline = self._is_offline(matrix, missing, others=len(missing) < len(built))
            if not offline:
                self.build_missing(matrix, missing)
            built |= {env.name: self._read(env) for env in missing}
            if offline:
                built |= {env.name: evolve(built[env.name], error=f"not built: {_NO_ANSWER}") for env in missing}
        if matrix == self.project:
            note_envs([name for name, env in built.items() if env.error is None], matrix.parent)
        return [built[env.name] for env in envs]

    def _is_offline(self, matrix: Path, missing: Sequence[Env], *, others: bool) -> bool:
        """Whether nothing can be installed, since the index does not answer: told at once, and not by an installer for each env.

        Raises EnvError where there are no ``others`` to go on with.
        """
        try:
            distributions = dict.fromkeys(env.distribution for env in missing if comes_from_index(env))
            listings = {distribution: ask_index(distribution, cache=matrix.parent / INDEX) for distribution in distributions}
            self._check_releases(missing, listings.get)
        except IndexUnavailable as error:
            names = ", ".join(env.name for env in missing)
            if not others:
                raise EnvError(f"{names} cannot be built: {error}", hint=_OFFLINE) from error
            self.echo(f"warning: {names} cannot be built: {error}")
            self.echo(f"  hint: {_OFFLINE}")
            return True
        return False

    def _check_releases(self, missing: Sequence[Env], listing_of: Callable[[str], Listing | None]) -> None:
        """Raise SelectionError where an env that nothing declares is of a release that the index does not have."""
        for env in missing:
            listing = listing_of(env.distribution) if env.name not in self.known and comes_from_index(env) else None
            if listing is None or not listing.files or env.release is None:
                continue
            if (others := listing.around(env.release)) is not None:
                what = f"there is no release {env.release} of {env.distribution}"
                hint = f"The nearest that the package index has: {', '.join(map(str, others))}." if others else None
                raise SelectionError(f"{what}: the package index does not have it", hint=hint)

    def build_missing(self, matrix: Path, envs: Sequence[Env], *, again: bool = False) -> None:
        """Build these envs, where they are missing or (``again``) in any case. Raises EnvError as the call does, and Stopped."""
        self.cache.prepare()
        run = partial(run_installer, cwd=_NEUTRAL)
        builder = Builder(cache=self.cache, index_cache=matrix.parent / INDEX, say=_log.info, again=again, run=run)
        with self.busy() as show:
            build_envs(builder, envs, jobs=self.jobs or available_cores(), echo=self.echo, show=show)

    def _read(self, env: Env) -> BuiltEnv:
        locks.hold(self.cache.folder_of(env))
        return read_env(env, self.cache)
