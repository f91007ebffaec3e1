"""Provide the envs that a feature needs, and build the missing ones.

Each env has its own run of the installer. Several run at the same time.
"""

from __future__ import annotations

import logging
import sysconfig
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from enum import Enum, auto
from functools import partial
from pathlib import Path
from threading import Event, RLock
from typing import IO

from attrs import asdict, define, evolve, frozen

from compat import interruption
from compat.envs import locks
from compat.envs.cache import EnvCache, EnvFolder, note_envs, requirements
from compat.envs.installers import NEUTRAL, Installer, choose_installer, run_installer
from compat.envs.interpreters import InterpreterChoice, choose_interpreter
from compat.envs.listing import (
    INDEX,
    Listing,
    ask_index,
    comes_from_index,
    has_further_indexes,
    index_urls,
    kept_files,
)
from compat.envs.record import (
    INTERRUPTED,
    NotInstalled,
    distributions,
    inspect,
    installer_errors,
    proprietary_license,
    read_env,
    read_record,
    write_record,
)
from compat.errors import EnvError, IndexUnavailable, SelectionError
from compat.files import replace_file
from compat.interruption import Stopped
from compat.model import BuiltEnv, Env
from compat.processes.supervisor import AVAILABLE_CORES
from compat.text import JsonObject, printable

_log = logging.getLogger(__name__)
_NO_ANSWER = "the package index does not answer"
_OFFLINE = (
    "Check that this machine is online. Variables of pip and uv name another index (PIP_INDEX_URL,"
    " UV_DEFAULT_INDEX). `compat envs list` shows the envs that are built; with --no-build,"
    " commands that compile do not ask an index."
)


AT_ONCE = AVAILABLE_CORES + 1
"""The number of envs that are built at the same time. It exceeds the number of cores, because an
installer also waits for the network and the disk.
"""


@frozen(kw_only=True)
class EnvProvider:
    """Provides environments: call it with a ``matrix.toml`` and environments that it declares.

    Environments that it returns count as in use while this process lives.
    """

    cache: EnvCache
    """The cache of environments."""
    project: Path | None = None
    """The project's own ``matrix.toml``, if its environments are recorded beside it."""
    known_names: frozenset[str] = frozenset()
    """Names of environments with a release that certainly exists. For other missing ones, the
    command asks the index first.
    """
    build: bool = True
    """Whether missing environments are built."""
    jobs: int | None = None
    """Number of builds at the same time. ``None``: :data:`AT_ONCE`."""
    echo: Callable[[str], None] = _log.info
    """Called with messages about progress and errors."""
    busy: Callable[[], AbstractContextManager[Callable[[str], None]]] = lambda: nullcontext(
        _log.debug
    )
    """Returns a context manager that is entered during a long step and yields a function for
    messages.
    """

    def __call__(self, matrix: Path, envs: Sequence[Env]) -> list[BuiltEnv]:
        """Return these envs as they are in the cache, after building the missing ones.

        Raises:
            EnvError: An env is missing and the cache cannot be written, or all envs are missing and
                the package index does not answer.
            SelectionError: The index lacks a release. Nothing was built.
        """
        built = {env.name: self._read(env) for env in envs}
        missing = [env.env for env in built.values() if env.error is not None]
        if not self.build:
            self._check_releases(
                missing, lambda name: kept_files(name, index_urls(), cache=matrix.parent / INDEX)
            )
        if self.build and missing:
            offline = self._is_offline(matrix, missing, others=len(missing) < len(built))
            if not offline:
                self.build_missing(matrix, missing)
            built |= {env.name: self._read(env) for env in missing}
            if offline:
                built |= {
                    env.name: evolve(built[env.name], error=f"not built: {_NO_ANSWER}")
                    for env in missing
                }
        if matrix == self.project:
            note_envs([name for name, env in built.items() if env.error is None], matrix.parent)
        return [built[env.name] for env in envs]

    def _is_offline(self, matrix: Path, missing: Sequence[Env], *, others: bool) -> bool:
        """Whether nothing can be installed, because the index does not answer.

        One message then replaces the installer's failure for each env. Raises EnvError if there are
        no ``others``: envs that exist. Raises SelectionError if the index lacks a release.
        """
        try:
            distributions = dict.fromkeys(
                env.distribution for env in missing if comes_from_index(env)
            )
            listings = {
                distribution: ask_index(distribution, cache=matrix.parent / INDEX)
                for distribution in distributions
            }
            self._check_releases(missing, listings.get)
        except IndexUnavailable as error:
            names = ", ".join(env.name for env in missing)
            if not others:
                raise EnvError(f"{names} cannot be built: {error}", hint=_OFFLINE) from error
            self.echo(f"warning: {names} cannot be built: {error}")
            self.echo(f"  hint: {_OFFLINE}")
            return True
        return False

    def _check_releases(
        self, missing: Sequence[Env], listing_of: Callable[[str], Listing | None]
    ) -> None:
        """Raise SelectionError if the index lacks the release of an env that nothing declares."""
        if has_further_indexes():
            return
        for env in missing:
            listing = (
                listing_of(env.distribution)
                if env.name not in self.known_names and comes_from_index(env)
                else None
            )
            if listing is None or not listing.files or env.release is None:
                continue
            others = listing.around(env.release)
            if others is not None:
                what = f"unknown release {env.release} of {env.distribution}"
                hint = (
                    f"The nearest releases on the package index: {', '.join(map(str, others))}."
                    if others
                    else None
                )
                raise SelectionError(f"{what}: the package index does not have it", hint=hint)

    def build_missing(self, matrix: Path, envs: Sequence[Env], *, again: bool = False) -> None:
        """Build missing environments, or with ``again`` all of them.

        Raises:
            EnvError: The cache cannot be written.
            Stopped: The build was stopped.
        """
        self.cache.prepare()
        run = partial(run_installer, cwd=NEUTRAL)
        builder = Builder(
            cache=self.cache, index_cache=matrix.parent / INDEX, say=_log.info, again=again, run=run
        )
        with self.busy() as show:
            build_envs(builder, envs, jobs=self.jobs or AT_ONCE, echo=self.echo, show=show)

    def _read(self, env: Env) -> BuiltEnv:
        locks.hold(self.cache.folder_of(env))
        return read_env(env, self.cache)


# --- building one ---------------------------------------------------------------------------------

Say = Callable[[str], None]


class BuildState(Enum):
    """The progress of an env's build."""

    QUEUED = auto()
    WAITING = auto()
    """Another command is building it."""
    INSTALLING = auto()
    DONE = auto()


@frozen(kw_only=True)
class BuildResult:
    """The result of building one env."""

    error: str | None = None
    """Why the env cannot be used; ``None`` if it can."""
    refusal: EnvError | None = None
    """The exception that prevented the build, whose text is ``error``."""
    reused: bool = False
    """Whether the env already existed, so nothing was installed."""
    license: str | None = None
    """The path of the license text of a toolchain that is not open source."""


@frozen(kw_only=True)
class Builder:
    """Builds envs into a cache, one at a time for each thread that calls it."""

    cache: EnvCache
    index_cache: Path
    """The folder for answers of the package index."""
    installer: Callable[[], Installer] = choose_installer
    """Returns the installer. Called only if there is something to build."""
    run: Callable[[Sequence[str], IO[str], Event], bool] = run_installer
    """Runs an installer's command until it ends or the event is set
    (:func:`compat.envs.installers.run_installer`).
    """
    say: Say
    backend: str | None = None
    """The backend that an existing env must have been built with; ``None`` allows any."""
    again: bool = False
    """Whether existing envs are rebuilt."""
    choose_interpreter: Callable[[Env, Path], InterpreterChoice] = choose_interpreter
    pins: tuple[str, ...] = ()
    """Further requirements, which pin the versions of packages."""
    reserve: Callable[[EnvFolder], str | None] = lambda _: None
    """Called when the env's lock is held, before anything is installed. Returns the reason to
    install nothing, or ``None``.
    """
    stop: Event = interruption.REQUESTED
    """Ends the installer, or the wait for another command that builds the same env."""

    def build(
        self, env: Env, on_state: Callable[[BuildState], None] = lambda _: None
    ) -> BuildResult:
        """Build an env unless it exists as requested. An env that others use is not rebuilt.

        Raises EnvError if the cache cannot be written, Stopped once ``stop`` is set, and the errors
        of ``reserve`` and ``run``.
        """
        if self.stop.is_set():
            raise Stopped
        folder = self.cache.folder_of(env)
        if not self._is_missing(env, folder):
            return self._reuse(f"{env.name} is up to date")
        self.cache.prepare()

        def wait() -> None:
            self.say(f"waiting for another command that builds {env.name}")
            on_state(BuildState.WAITING)

        try:
            with locks.building(folder, wait, self.stop) as log:
                if not self._is_missing(env, folder):
                    return self._reuse(f"{env.name} is up to date")
                if read_env(env, self.cache).error is None and locks.is_used_by_others(folder):
                    return self._reuse(f"{env.name} was not rebuilt: another command is using it")
                on_state(BuildState.INSTALLING)
                return self._install(env, folder, log)
        except OSError as error:
            raise self.cache.build_error(error) from error

    def _reuse(self, reason: str) -> BuildResult:
        self.say(reason)
        return BuildResult(reused=True)

    def _is_missing(self, env: Env, folder: EnvFolder) -> bool:
        if self.again or read_env(env, self.cache).error is not None:
            return True
        return (
            self.backend is not None and (read_record(folder) or {}).get("backend") != self.backend
        )

    def _install(self, env: Env, folder: EnvFolder, log: IO[str]) -> BuildResult:
        if (obstacle := self.reserve(folder)) is not None:
            return BuildResult(error=obstacle)
        choice = self.choose_interpreter(env, self.index_cache)
        for note in choice.notes:
            self.say(note)
        if choice.problem is not None:
            write_record(folder, env, error=choice.problem)
            return BuildResult(error=choice.problem)
        installer = self.installer()
        facts = {"location": choice.tag, "backend": installer.backend, "interpreter": choice.python}
        write_record(folder, env, error=INTERRUPTED, **facts)
        locks.clear(folder)
        if env.lock:
            replace_file(folder.lock, "".join(f"{line}\n" for line in env.lock))
        self.say(
            f"Installing {', '.join(requirements(env))} with {choice.python}; output goes to"
            f" {folder.log}"
        )
        commands = installer.commands(env, choice.python, folder.path / choice.tag, self.pins)
        done = all(self.run(command, log, self.stop) for command in commands)
        return _conclude(env, folder, facts, done=done)


def _conclude(env: Env, folder: EnvFolder, facts: dict[str, str], *, done: bool) -> BuildResult:
    """Inspect the installed env, and write the result into its record."""
    error: str | None = None
    content: JsonObject = {}
    license_path = None
    if not done:
        error = installer_errors(folder) or "the installer failed without output"
    else:
        try:
            location = folder.path / facts["location"]
            installed = inspect(location, distributions(env))
        except NotInstalled as problem:
            error = printable(f"the installer ended without an error, but {problem}")
        else:
            content["packages"] = [asdict(package) for package in installed.packages]
            content |= {"python": installed.python_version, "digest": installed.digest}
            license_path = proprietary_license(location, env.distribution)
    write_record(folder, env, error=error, **content, **facts)
    return BuildResult(error=error, license=license_path)


# --- several --------------------------------------------------------------------------------------


def build_envs(
    builder: Builder,
    envs: Sequence[Env],
    *,
    jobs: int = 1,
    echo: Say = lambda _: None,
    show: Say = lambda _: None,
) -> dict[str, BuildResult]:
    """Build several envs, ``jobs`` at a time, and return the results by env name.

    ``echo`` gets a line for each env that was built or failed. ``show`` gets the present state
    whenever it changes. An env whose cache folder cannot be written fails alone. Raises Stopped
    once the builder's ``stop`` is set.
    """
    if not envs:
        return {}
    # In Python 3.11, threads that make the first call at the same time get only half of the
    # variables.
    sysconfig.get_config_vars()
    progress = _Progress(envs, echo, show)
    progress.begin([env.name for env in envs if locks.is_being_built(builder.cache.folder_of(env))])
    with ThreadPoolExecutor(min(jobs, len(envs)), thread_name_prefix="building") as pool:
        futures = [pool.submit(progress.build, builder, env) for env in envs]
        try:
            return {env.name: future.result() for env, future in zip(envs, futures, strict=True)}
        except KeyboardInterrupt:  # in a process without compat's signal handlers, such as nox
            builder.stop.set()
            raise


@define
class _Build:
    """One env, and the progress of its build."""

    env: Env
    state: BuildState = BuildState.QUEUED
    began: float | None = None
    """Start of the wait or of the installation, in seconds of the monotonic clock."""


class _Progress:
    """The progress of several builds. Safe to call from several threads."""

    def __init__(self, envs: Sequence[Env], echo: Say, show: Say) -> None:
        self._builds = {env.name: _Build(env) for env in envs}
        self._echo, self._show = echo, show
        self._lock = RLock()
        self._proprietary: set[str] = set()
        """The distributions that a message has already named as not open source."""

    def begin(self, elsewhere: Sequence[str]) -> None:
        """Report which envs this command builds, and which ones other commands are building."""
        if own := [name for name in self._builds if name not in elsewhere]:
            self._echo(f"building {', '.join(own)}")
        if elsewhere:
            self._echo(f"waiting for another command that builds {', '.join(elsewhere)}")
        for name in elsewhere:
            self._builds[name].state = BuildState.WAITING
            self._builds[name].began = time.monotonic()

    def build(self, builder: Builder, env: Env) -> BuildResult:
        """Build one of the envs, and report the result. Raises Stopped."""
        build = self._builds[env.name]
        try:
            result = builder.build(env, lambda state: self._change(build, state))
        except EnvError as error:
            result = BuildResult(error=str(error), refusal=error)
        with self._lock:
            waited = build.state is BuildState.WAITING
            seconds = 0.0 if build.began is None else time.monotonic() - build.began
            self._change(build, BuildState.DONE)
            count = f" ({self._count()})" if len(self._builds) > 1 else ""
            self._echo(f"{env.name}: {_ending(result, seconds, waited=waited)}{count}")
            if result.license and env.distribution not in self._proprietary:
                self._proprietary.add(env.distribution)
                self._echo(
                    f"{env.distribution} is proprietary software. Its license: {result.license}"
                )
        return result

    def _change(self, build: _Build, state: BuildState) -> None:
        with self._lock:
            if state is BuildState.WAITING and build.state is not BuildState.WAITING:
                self._echo(f"waiting for another command that builds {build.env.name}")
            if state is not build.state and state is not BuildState.DONE:
                build.began = time.monotonic()
            build.state = state
            parts = (
                f"{self._count()} done",
                self._names("now", BuildState.INSTALLING),
                self._names("waiting for", BuildState.WAITING),
            )
            self._show(", ".join(filter(None, parts)))

    def _names(self, label: str, state: BuildState) -> str:
        names = ", ".join(build.env.name for build in self._builds.values() if build.state is state)
        return f"{label} {names}" if names else ""

    def _count(self) -> str:
        return (
            f"{sum(build.state is BuildState.DONE for build in self._builds.values())} of"
            f" {len(self._builds)}"
        )


def _ending(result: BuildResult, seconds: float, *, waited: bool) -> str:
    if result.error is not None:
        return f"failed: {error_line(result.error)}"
    if not result.reused:
        return f"built in {seconds:.1f} s"
    return (
        f"built by another command, after a wait of {seconds:.1f} s" if waited else "already built"
    )


def error_line(error: str) -> str:
    """Return the most informative line of an installer's output.

    It is the last line that begins with ``error``, or else the last line.
    """
    lines = error.splitlines() or [""]
    return next(
        (line for line in reversed(lines) if line.lower().startswith("error")), lines[-1]
    ).strip()
