"""Building one env: what the nox session ``env(NAME)`` does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import IO

from attrs import asdict, frozen

from compat.envs import locks
from compat.envs.cache import EnvCache, EnvFolder
from compat.envs.env import inspect, read_env
from compat.envs.installed import NotInstalled
from compat.envs.installers import Installer
from compat.envs.plan import Plan, plan
from compat.envs.record import INTERRUPTED, distributions, installers_words, read_record, write_record
from compat.envs.requirements import requirements
from compat.model import Env
from compat.printable import printable

Run = Callable[[Sequence[str], IO[str]], bool]
"""Runs a command whose output goes to the file; whether it ended well."""


@frozen(kw_only=True)
class Builder:
    """Builds envs into a cache."""

    cache: EnvCache
    answers: Path
    """The folder where what the index said is kept."""
    installer: Callable[[], Installer]
    """The installer to use; found only where something is to be built."""
    run: Run
    say: Callable[[str], None]
    backend: str | None = None
    """The backend that envs must have been built with; ``None`` where that does not matter."""
    again: bool = False
    """Whether envs that are as asked for are built anew, too."""
    built_for: str | None = None
    """The mark of the command that has them built, which records keep."""
    decide: Callable[[Env, Path], Plan] = plan
    """Decides with which interpreter."""
    pins: tuple[str, ...] = ()
    """Requirements besides those of the env, which leave the installer no choice."""
    begin: Callable[[EnvFolder], str | None] = lambda _: None
    """Is called when it is this builder's turn, before anything is installed; what it says is why nothing will be."""
    stop: Event | None = None
    """Ends waiting for another who builds the same."""

    def build(self, env: Env) -> str | None:
        """Build an env, unless it is there as asked for; why it cannot be used, if it cannot.

        One that others use is not built anew. Raises EnvError where the cache cannot be written, Stopped where ``stop`` is set
        while another builds it, and what ``begin`` and ``run`` raise.
        """
        folder = self.cache.folder_of(env)
        if not self._is_missing(env, folder):
            self.say(f"{env.name} is as it should be")
            return None
        self.cache.prepare()

        def waiting() -> None:
            self.say(f"waiting for another command that builds {env.name}")

        try:
            with locks.building(folder, waiting, self.stop) as log:
                if not self._is_missing(env, folder):
                    self.say(f"{env.name} is as it should be")
                    return None
                if read_env(env, self.cache).error is None and locks.is_used_by_others(folder):
                    self.say(f"{env.name} is in use by another command, and is left as it is")
                    return None
                return self._build(env, folder, log)
        except OSError as error:
            raise self.cache.refused(error) from error

    def _is_missing(self, env: Env, folder: EnvFolder) -> bool:
        if self.again or read_env(env, self.cache).error is not None:
            return True
        return self.backend is not None and (read_record(folder) or {}).get("backend") != self.backend

    def _build(self, env: Env, folder: EnvFolder, log: IO[str]) -> str | None:
        if (obstacle := self.begin(folder)) is not None:
            return obstacle
        found = self.decide(env, self.answers)
        for note in found.notes:
            self.say(note)
        if found.problem is not None:
            write_record(folder, env, error=found.problem, built_for=self.built_for)
            return found.problem
        installer = self.installer()
        facts = {"location": found.tag, "backend": installer.backend, "interpreter": found.python, "built_for": self.built_for}
        write_record(folder, env, error=INTERRUPTED, **facts)
        locks.clear(folder)
        self.say(f"Installing {', '.join(requirements(env))} with {found.python}; output goes to {folder.log}")
        done = all(self.run(command, log) for command in installer.commands(env, found.python, folder.path / found.tag, self.pins))
        return _conclude(env, folder, facts, done=done)


def _conclude(env: Env, folder: EnvFolder, facts: dict[str, str | None], *, done: bool) -> str | None:
    """Record how an installation ended, having looked at what it left. Returns why the env cannot be used, if it cannot."""
    if not done:
        error = installers_words(folder) or "the installer failed and said nothing"
        write_record(folder, env, error=error, **facts)
        return error
    try:
        found = inspect(folder.path / str(facts["location"]), distributions(env))
    except NotInstalled as problem:
        error = printable(f"the installer ended without an error, but {problem}")
        write_record(folder, env, error=error, **facts)
        return error
    packages = [asdict(package) for package in found.packages]
    write_record(folder, env, error=None, packages=packages, python=found.python_version, digest=found.digest, **facts)
    return None
