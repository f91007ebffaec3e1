"""Envs on a Dask worker's machine: copies of the driver's envs, built once on its own disk.

All of them together stay within a size limit.

::

    ~/.cache/triton-compat/worker-envs/
        triton-3.1.0-5e6f7a8b/      as in compat.envs.cache; the hash also covers the driver's env

Several worker processes share the folder: one builds, and the others wait. They send no requests to
the driver's machine.

Results are stored under the digest of the driver's env. An env here may differ from it in a patch
release of Python or in one file of a package. Then it is another env, and its compiles say nothing
about the driver's env.
"""

from __future__ import annotations

import logging
import os
import sysconfig
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self
from urllib.parse import unquote, urlsplit

from attrs import evolve, frozen

from compat.envs import locks
from compat.envs.cache import EDITABLE, EnvCache, EnvFolder, env_cache, fingerprint, user_folder
from compat.envs.installers import Installer, choose_installer
from compat.envs.interpreters import InterpreterChoice, exact_interpreter
from compat.envs.provider import Builder
from compat.envs.record import (
    INTERRUPTED,
    NotInstalled,
    distributions,
    inspect,
    read_env,
    read_record,
    size_of,
)
from compat.errors import EnvError
from compat.files import replace_file
from compat.interruption import Stopped
from compat.model import BuiltEnv, Env, Package
from compat.text import in_bytes, name_first, size_of_text

_log = logging.getLogger(__name__)

FOLDER, BUDGET = "COMPAT_WORKER_ENVS", "COMPAT_WORKER_ENVS_SIZE"
"""The environment variables of a worker for the folder of its envs, and for the size limit of all
of them.
"""
_BUDGET = "40 GiB"
_FAILURE_TTL = 300.0
"""Seconds after a failed installation during which a process that noticed it does not try again."""
_ATTEMPTS = 3
"""The number of attempts to build an env that another process removes or changes at once."""
_LOCK = ".room.lock"
"""A process that reserves disk space locks this file in the folder, so that two processes never
reserve the same space.
"""
_EXPECTED = "expected"
"""The file in the folder of an env with the bytes that the env will take.

It counts while the env is being built.
"""


# --- the driver's env -----------------------------------------------------------------------------

_LISTED = 6
"""The most differences that a message lists."""


@frozen(kw_only=True)
class PinnedEnv:
    """The exact content of an env, for building the same env on another machine. Can be pickled."""

    env: Env
    fingerprint: str
    """The hash over the request (:func:`compat.envs.cache.fingerprint`) on the driver's machine. A
    local wheel counts with its content.
    """
    platform: str
    """The platform in Python's form: ``linux-x86_64``."""
    python_version: str
    """The version of its Python, three numbers."""
    packages: tuple[Package, ...]
    """All installed packages, with the hashes of their files."""
    digest: str
    """One hash over Python and packages, the one of :attr:`compat.model.BuiltEnv.digest`."""
    backend: str | None
    """The program that built it (``uv``, ``virtualenv``, ``venv``); ``None`` without a record."""
    size: int
    """Bytes that it takes on the driver's disk."""

    @classmethod
    def of(cls, built: BuiltEnv) -> Self:
        """Return the content of an env that the driver has built, read from its disk.

        Raises EnvError if the env cannot be used, or has changed since it was read.
        """
        if built.error is not None or built.python is None:
            raise EnvError(
                f"{built.env.name} cannot be used: {built.error or 'it has no interpreter'}"
            )
        location = Path(built.python).parents[1]
        try:
            installed = inspect(location, distributions(built.env))
        except NotInstalled as error:
            raise EnvError(
                f"{built.env.name} has been damaged since it was read: {error}"
            ) from error
        if built.digest not in ("", installed.digest):
            raise EnvError(
                f"the packages of {built.env.name} have changed since it was read",
                hint="Run the command again.",
            )
        return cls(
            env=built.env,
            fingerprint=fingerprint(built.env),
            platform=sysconfig.get_platform(),
            python_version=installed.python_version,
            packages=installed.packages,
            digest=installed.digest,
            backend=(read_record(EnvFolder(location.parent)) or {}).get("backend"),
            size=size_of(location),
        )

    @property
    def pins(self) -> tuple[str, ...]:
        """Requirements that pin the version of every package.

        Without them, an installer may choose newer versions than at the time of the first build.
        """
        return tuple(f"{package.name}=={package.version}" for package in self.packages)

    @property
    def local(self) -> tuple[str, ...]:
        """The wheels and folders that the env is installed from: paths on the driver's machine."""
        texts = (*filter(None, [self.env.wheel]), *self.env.install)
        return tuple(path for text in texts if (path := _local_path(text)) is not None)


def difference(
    pinned_env: PinnedEnv, python_version: str, packages: Sequence[Package]
) -> str | None:
    """Return how this machine's env differs from the driver's; ``None`` if it does not."""
    here = {package.name: package for package in packages}
    there = {package.name: package for package in pinned_env.packages}
    differences = []
    if python_version != pinned_env.python_version:
        differences.append(
            f"Python {python_version} here, {pinned_env.python_version} in the driver's"
        )
    differences += [
        _about(name, here.get(name), there.get(name))
        for name in sorted({*here, *there})
        if here.get(name) != there.get(name)
    ]
    return "; ".join(name_first(differences, _LISTED)) or None


def _about(name: str, here: Package | None, there: Package | None) -> str:
    """How a package differs: ``torch 2.9.1 here, 2.9.0 in the driver's``."""
    if here is not None and there is not None and here.version == there.version:
        return f"{name} {here.version} has different files here and in the driver's"
    return (
        f"{name} {here.version if here else 'is not'} here, {there.version if there else 'not'} in"
        " the driver's"
    )


def _local_path(requirement: str) -> str | None:
    """Return the local path in a requirement; ``None`` for a name or the URL of another machine."""
    text = requirement.removeprefix(EDITABLE)
    if text.startswith("file://"):
        return unquote(urlsplit(text).path)
    return text if Path(text).is_absolute() else None


# --- on a worker's machine ------------------------------------------------------------------------


class WorkerLacks(EnvError):
    """This machine cannot have an env, but another machine may. The message says what it lacks."""


class NoRoom(WorkerLacks):
    """There is no disk space for an env as long as other envs are in use."""


class WorkerEnvs:
    """The envs of one worker process. Other processes of the machine may share its folder.

    Safe to call from several threads.
    """

    def __init__(
        self, *, folder: Path, budget: int | None = None, also: Sequence[EnvCache] = ()
    ) -> None:
        """Use the envs in ``folder``, and read those in the caches ``also``.

        ``budget`` is the number of bytes that envs may take in ``folder``; ``None`` sets no limit.
        Envs of the caches in ``also`` come first. Nothing is built or removed there.
        """
        self.folder, self.budget, self.also = folder, budget, tuple(also)
        self._since = time.time()
        self._uses: dict[str, list[locks.EnvUse]] = {}
        self._using = threading.Lock()

    def provide(
        self,
        pinned_env: PinnedEnv,
        *,
        stop: threading.Event | None = None,
        say: Callable[[str], None] = _log.info,
    ) -> BuiltEnv:
        """Return the env, built if it is missing. It is in use until :meth:`release`.

        Each successful call needs a call of :meth:`release`. If the installed env differs from the
        driver's, ``error`` of the returned env has the difference, and the env is not in use.

        Raises:
            WorkerLacks: This machine cannot have the env.
            NoRoom: It cannot have the env as long as other envs are in use.
            EnvError: The folder cannot be written.
            Stopped: ``stop`` was set meanwhile.
        """
        stop = stop or threading.Event()
        for cache in self.also:
            if (built := self._use_env(cache, pinned_env)) is not None and built.error is None:
                return built
        cache = self._own_cache(pinned_env)
        for attempt in range(_ATTEMPTS):
            built = self._use_env(cache, pinned_env)
            recent = self._is_recent(cache.folder_of(pinned_env.env))
            if built is not None and (built.error is None or attempt or recent):
                return built
            _refuse_impossible(pinned_env)
            if recent and (failed := _last_error(cache.folder_of(pinned_env.env))):
                raise _not_installed(pinned_env, failed)
            if stop.is_set():
                raise Stopped
            self._build(pinned_env, cache, stop, say, again=built is not None)
        raise NoRoom(
            f"{pinned_env.env.name} was removed as soon as it was built", where=str(self.folder)
        )

    def release(self, pinned_env: PinnedEnv) -> None:
        """End one use of an env from :meth:`provide`. Other processes may then remove it."""
        with self._using:
            self._uses[pinned_env.digest].pop().close()

    def _own_cache(self, pinned_env: PinnedEnv) -> EnvCache:
        return EnvCache(
            self.folder,
            f"${FOLDER}" if os.environ.get(FOLDER) else "",
            like=f"{pinned_env.fingerprint} {pinned_env.digest}",
        )

    def _use_env(self, cache: EnvCache, pinned_env: PinnedEnv) -> BuiltEnv | None:
        """Return the env of a cache, in use from now on.

        If it differs from the driver's, ``error`` has the difference, and the env is not in use.
        Returns ``None`` if the cache has no usable env.
        """
        use = locks.EnvUse(cache.folder_of(pinned_env.env))
        built = read_env(pinned_env.env, cache)
        error = None
        if built.error is None and built.digest != pinned_env.digest:
            error = difference(pinned_env, built.python_version or "", built.packages)
        if built.error is not None or error is not None:
            use.close()
            return evolve(built, error=f"different from the driver's: {error}") if error else None
        with self._using:
            self._uses.setdefault(pinned_env.digest, []).append(use)
        return built

    def _build(
        self,
        pinned_env: PinnedEnv,
        cache: EnvCache,
        stop: threading.Event,
        say: Callable[[str], None],
        *,
        again: bool,
    ) -> None:
        """Build an env. Raises as :meth:`provide` does."""
        started = time.time()

        def reserve(folder: EnvFolder) -> str | None:
            if (failed := _last_error(folder)) is not None and _time_of(folder) > started:
                return failed  # another process failed while this one waited for it
            if self.budget is not None:
                make_room(cache, folder, pinned_env.size, self.budget)
            return None

        builder = Builder(
            cache=cache,
            index_cache=self.folder,
            installer=lambda: _installer(pinned_env),
            say=say,
            again=again,
            choose_interpreter=lambda env, _: _interpreter(pinned_env, env),
            pins=pinned_env.pins,
            reserve=reserve,
            stop=stop,
        )
        error = builder.build(pinned_env.env).error
        if error is not None:
            raise _not_installed(pinned_env, error)
        if self.budget is not None:  # the env may take more space here than on the driver
            with suppress(OSError):
                keep_within(cache, self.budget)

    def _is_recent(self, folder: EnvFolder) -> bool:
        """Whether the record was written recently, and since this object was made."""
        return _time_of(folder) > max(self._since, time.time() - _FAILURE_TTL)


def worker_envs(environ: Mapping[str, str] = os.environ) -> WorkerEnvs:
    """Return the envs of a worker, from its environment variables.

    The variables are ``$COMPAT_WORKER_ENVS`` and ``$COMPAT_WORKER_ENVS_SIZE``. Envs in the cache of
    the machine's user are used as well. Raises EnvError.
    """
    size = environ.get(BUDGET) or _BUDGET
    budget = size_of_text(size)
    if budget is None:
        raise EnvError(f'{size} is not a size, such as "{_BUDGET}"', where=f"${BUDGET}")
    named = environ.get(FOLDER)
    folder = (
        Path(os.path.abspath(os.path.expanduser(named)))
        if named
        else user_folder("worker-envs", FOLDER)
    )
    return WorkerEnvs(folder=folder, budget=budget, also=(env_cache(environ=environ),))


def _refuse_impossible(pinned_env: PinnedEnv) -> None:
    """Raise WorkerLacks if an installation is certain to fail, before anything is installed."""
    name, platform = pinned_env.env.name, sysconfig.get_platform()
    if platform != pinned_env.platform:
        raise WorkerLacks(f"{name} is for {pinned_env.platform}, and this machine is {platform}")
    for path in pinned_env.local:
        if not os.path.exists(path):
            hint = "Put it at the same path on every machine, or on a package index."
            raise WorkerLacks(
                f"{name} is installed from {path}, which is not on this machine", hint=hint
            )
    if fingerprint(pinned_env.env) != pinned_env.fingerprint:
        raise WorkerLacks(
            f"{name} is installed from {', '.join(pinned_env.local)}, which differs from the"
            " driver's"
        )


def _not_installed(pinned_env: PinnedEnv, reason: str) -> WorkerLacks:
    return WorkerLacks(f"cannot install {pinned_env.env.name} as the driver has it: {reason}")


def _last_error(folder: EnvFolder) -> str | None:
    """Return the error of the last installation.

    It is ``None`` if that installation succeeded or was interrupted, or there was none.
    """
    record = read_record(folder)
    if record is None or record["ok"] or record["error"] == INTERRUPTED:
        return None
    return str(record["error"])


def _time_of(folder: EnvFolder) -> float:
    try:
        return folder.record.stat().st_mtime
    except OSError:
        return 0.0


def _interpreter(pinned_env: PinnedEnv, env: Env) -> InterpreterChoice:
    choice = exact_interpreter(pinned_env.python_version)
    if choice.problem is not None:
        raise WorkerLacks(f"cannot build {env.name} as the driver has it: {choice.problem}")
    return choice


def _installer(pinned_env: PinnedEnv) -> Installer:
    """Return the driver's installer, because another one would install additional packages.

    Raises WorkerLacks if this machine does not have it.
    """
    try:
        return choose_installer(pinned_env.backend)
    except EnvError as error:
        reason = f"{pinned_env.backend}, which the driver used, is not installed on this machine"
        raise WorkerLacks(
            f"cannot build {pinned_env.env.name} as the driver has it: {reason}", hint=error.hint
        ) from error


# --- disk space -----------------------------------------------------------------------------------


def make_room(cache: EnvCache, folder: EnvFolder, needed: int, budget: int) -> None:
    """Reserve ``needed`` bytes for the env in ``folder``, and remove unused envs for them.

    They are part of the ``budget`` of all envs in a cache. The caller builds that env
    (:func:`compat.envs.locks.building`). Envs that are in use or being built are never removed.
    Raises WorkerLacks if the budget is too small for that env alone, NoRoom if other envs in use
    take the missing bytes, and OSError.
    """
    if needed > budget:
        raise WorkerLacks(
            f"it takes {in_bytes(needed)}, and all envs together may take {in_bytes(budget)} here",
            where=str(cache.folder),
        )
    with locks.exclusive(cache.folder / _LOCK):
        used = _evict(cache, folder, budget - needed)
        if used > budget - needed:
            reason = (
                f"it takes {in_bytes(needed)}, and envs in use take {in_bytes(used)} of"
                f" {in_bytes(budget)}"
            )
            raise NoRoom(reason, where=str(cache.folder))
        replace_file(folder.path / _EXPECTED, str(needed))


def keep_within(cache: EnvCache, budget: int) -> None:
    """Remove unused envs until all envs of a cache take at most ``budget`` bytes.

    Raises OSError.
    """
    with locks.exclusive(cache.folder / _LOCK):
        _evict(cache, None, budget)


def _evict(cache: EnvCache, excluded: EnvFolder | None, limit: int) -> int:
    """Remove unused envs, the longest unused first, until the others take at most ``limit`` bytes.

    The ``excluded`` env does not count. Returns the bytes that the other envs then take.
    """
    sizes = {folder: _size(folder) for folder in cache.folders() if folder != excluded}
    total = sum(sizes.values())
    for folder in sorted(sizes, key=locks.last_used):
        if total <= limit:
            break
        if locks.remove(folder) is None:
            total -= sizes[folder]
    return total


def _size(folder: EnvFolder) -> int:
    """Return the bytes that an env takes, or will take when its build has ended."""
    size = size_of(folder.path)
    if locks.is_being_built(folder):
        with suppress(OSError, ValueError):
            return max(size, int((folder.path / _EXPECTED).read_text()))
    return size
