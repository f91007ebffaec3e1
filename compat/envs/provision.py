"""Envs on the machine of a worker: the same as the driver's, built there once, on its own disk, within a size.

::

    ~/.cache/triton-compat/worker-envs/
        triton-3.1.0-5e6f7a8b/      as in a cache of envs (compat.envs.cache); the hash is over the driver's env, too

Several worker processes share the folder: one builds, and the others wait. Nothing is asked of the driver's machine.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sysconfig
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from attrs import evolve

from compat.envs.building import Builder
from compat.envs.cache import EnvCache, EnvFolder, env_cache, user_folder
from compat.envs.env import read_env
from compat.envs.installers import Installer, choose_installer, environment
from compat.envs.locks import Use
from compat.envs.plan import Plan, plan_with
from compat.envs.record import INTERRUPTED, read_record
from compat.envs.requirements import fingerprint
from compat.envs.room import NoRoom, WorkerLacks, keep_within, make_room
from compat.envs.wanted import Wanted, difference
from compat.errors import EnvError
from compat.interruption import Stopped
from compat.model import BuiltEnv, Env
from compat.sizes import size_of_text

__all__ = ["BUDGET", "FOLDER", "NoRoom", "WorkerEnvs", "WorkerLacks", "worker_envs"]

_log = logging.getLogger(__name__)

FOLDER, BUDGET = "COMPAT_WORKER_ENVS", "COMPAT_WORKER_ENVS_SIZE"
"""The environment variables of a worker that name the folder for its envs, and what all of them may take."""
_BUDGET = "40 GiB"
_BELIEVED = 300.0
"""Seconds for which an installation that failed is not tried again by the process that knows of it."""
_EVERY = 0.1
"""Seconds between two looks whether an installer has ended."""
_PATIENCE = 5.0
"""Seconds that an installer may take to end when it is told to."""
_ATTEMPTS = 3
"""How often an env is built that is gone, or changed, as soon as it is there."""


class WorkerEnvs:
    """The envs of one process of a worker; other processes of the machine may have the same folder. Threads may share it."""

    def __init__(self, *, folder: Path, budget: int | None = None, also: Sequence[EnvCache] = ()) -> None:
        """``budget`` are the bytes that envs may take there, without a limit if it is ``None``.

        In the caches in ``also`` envs are looked for first; nothing is built or removed there.
        """
        self.folder, self.budget, self.also = folder, budget, tuple(also)
        self._since = time.time()
        self._uses: dict[str, list[Use]] = {}
        self._using = threading.Lock()

    def provide(self, wanted: Wanted, *, stop: threading.Event | None = None, say: Callable[[str], None] = _log.info) -> BuiltEnv:
        """The env as it is wanted, built where it is not here yet, and in use until :meth:`let_go` has been called as often.

        Where what was installed is not what the driver has, ``error`` of the answer is the difference, and nothing is in use.
        Raises WorkerLacks where this machine cannot have it, NoRoom where it cannot as long as others are in use, EnvError where
        the folder cannot be written, and Stopped where ``stop`` is set meanwhile.
        """
        stop = stop or threading.Event()
        for cache in self.also:
            if (built := self._used(cache, wanted)) is not None and built.error is None:
                return built
        cache = self._own(wanted)
        for attempt in range(_ATTEMPTS):
            built = self._used(cache, wanted)
            believed = self._is_believed(cache.folder_of(wanted.env))
            if built is not None and (built.error is None or attempt or believed):
                return built
            _refuse_impossible(wanted)
            if believed and (failed := _failed(cache.folder_of(wanted.env))):
                raise _not_installed(wanted, failed)
            if stop.is_set():
                raise Stopped
            self._build(wanted, cache, stop, say, again=built is not None)
        raise NoRoom(f"{wanted.env.name} was removed as soon as it was built", where=str(self.folder))

    def let_go(self, wanted: Wanted) -> None:
        """Use an env no more that :meth:`provide` gave: others may remove it."""
        with self._using:
            self._uses[wanted.digest].pop().close()

    def has(self, wanted: Wanted) -> bool:
        """Whether an env is here as it is wanted. Builds and starts nothing."""
        caches = (*self.also, self._own(wanted))
        found = (read_env(wanted.env, cache) for cache in caches)
        return any(built.error is None and _difference(wanted, built) is None for built in found)

    def _own(self, wanted: Wanted) -> EnvCache:
        return EnvCache(self.folder, f"${FOLDER}" if os.environ.get(FOLDER) else "", like=f"{wanted.fingerprint} {wanted.digest}")

    def _used(self, cache: EnvCache, wanted: Wanted) -> BuiltEnv | None:
        """The env, in use from now on, as it is in a cache, or why it is not as it is wanted; ``None`` where it is not there."""
        use = Use.of(cache.folder_of(wanted.env))
        built = read_env(wanted.env, cache)
        error = None if built.error is not None else _difference(wanted, built)
        if built.error is not None or error is not None:
            use.close()
            return evolve(built, error=f"not what the driver has: {error}") if error else None
        with self._using:
            self._uses.setdefault(wanted.digest, []).append(use)
        return built

    def _build(self, wanted: Wanted, cache: EnvCache, stop: threading.Event, say: Callable[[str], None], *, again: bool) -> None:
        """Build an env. Raises as :meth:`provide` does."""
        began = time.time()

        def begin(folder: EnvFolder) -> str | None:
            if (failed := _failed(folder)) is not None and _time_of(folder) > began:
                return failed  # in another process, which was waited for
            if self.budget is not None:
                make_room(cache, folder, wanted.size, self.budget)
            return None

        builder = Builder(
            cache=cache,
            answers=self.folder,
            installer=lambda: _installer(wanted),
            run=lambda command, log: _run(command, log, stop),
            say=say,
            again=again,
            decide=lambda env, _: _planned(wanted, env),
            pins=wanted.pins,
            begin=begin,
            stop=stop,
        )
        error = builder.build(wanted.env)
        if error is not None:
            raise _not_installed(wanted, error)
        if self.budget is not None:  # it may take more here than there
            with suppress(OSError):
                keep_within(cache, self.budget)

    def _is_believed(self, folder: EnvFolder) -> bool:
        """Whether what came of an installation is still believed: it is of this process's time, and not long ago."""
        return _time_of(folder) > max(self._since, time.time() - _BELIEVED)


def worker_envs(environ: Mapping[str, str] = os.environ) -> WorkerEnvs:
    """The envs of a worker as its environment says (``$COMPAT_WORKER_ENVS``, ``$COMPAT_WORKER_ENVS_SIZE``).

    Envs that the user of the machine has are taken from where they are. Raises EnvError.
    """
    said = environ.get(BUDGET) or _BUDGET
    budget = size_of_text(said)
    if budget is None:
        raise EnvError(f'{said} is not a size, such as "{_BUDGET}"', where=f"${BUDGET}")
    named = environ.get(FOLDER)
    folder = Path(os.path.abspath(os.path.expanduser(named))) if named else user_folder("worker-envs", FOLDER)
    return WorkerEnvs(folder=folder, budget=budget, also=(env_cache(environ=environ),))


def _refuse_impossible(wanted: Wanted) -> None:
    """Raise WorkerLacks where it can be known before anything is installed that it would be in vain."""
    name, platform = wanted.env.name, sysconfig.get_platform()
    if platform != wanted.platform:
        raise WorkerLacks(f"{name} is wanted for {wanted.platform}, and this machine is {platform}")
    for path in wanted.local:
        if not os.path.exists(path):
            hint = "Put it where every machine has it at the same path, or on a package index."
            raise WorkerLacks(f"{name} is installed from {path}, which is not on this machine", hint=hint)
    if fingerprint(wanted.env) != wanted.fingerprint:
        raise WorkerLacks(f"{name} is installed from {', '.join(wanted.local)}, and what is there is not what the driver has")


def _not_installed(wanted: Wanted, words: str) -> WorkerLacks:
    return WorkerLacks(f"{wanted.env.name} cannot be installed as the driver has it: {words}")


def _difference(wanted: Wanted, built: BuiltEnv) -> str | None:
    return None if built.digest == wanted.digest else difference(wanted, built.python_version or "", built.packages)


def _failed(folder: EnvFolder) -> str | None:
    """Why the last installation failed; ``None`` where it did not, or was interrupted."""
    record = read_record(folder)
    return None if record is None or record["ok"] or record["error"] == INTERRUPTED else record["error"]


def _time_of(folder: EnvFolder) -> float:
    try:
        return folder.record.stat().st_mtime
    except OSError:
        return 0.0


def _planned(wanted: Wanted, env: Env) -> Plan:
    found = plan_with(wanted.python_version)
    if found.problem is not None:
        raise WorkerLacks(f"{env.name} cannot be built as the driver has it: {found.problem}")
    return found


def _installer(wanted: Wanted) -> Installer:
    """The installer that the driver had: another installs other things besides."""
    try:
        return choose_installer(wanted.backend)
    except EnvError as error:
        words = f"{wanted.backend}, which the driver used, is not installed on this machine"
        raise WorkerLacks(f"{wanted.env.name} cannot be built as the driver has it: {words}", hint=error.hint) from error


def _run(command: Sequence[str], log: IO[str], stop: threading.Event) -> bool:
    """Run an installer to its end, or until ``stop`` is set; whether it ended well. Raises Stopped.

    Its output is the locked log, so that the lock holds as long as it runs.
    """
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment(),
            start_new_session=True,
        )
    except OSError as error:
        log.write(f"{command[0]}: {error.strerror}\n")
        log.flush()
        return False
    with process:
        while True:
            with suppress(subprocess.TimeoutExpired):
                return process.wait(_EVERY) == 0
            if stop.is_set():
                _end(process)
                raise Stopped


def _end(process: subprocess.Popen[bytes]) -> None:
    """Have an installer end, and all that it has started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)
            return
