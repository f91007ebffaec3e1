"""Environments on disk: what there is of one, and having nox build it.

Nox builds them (see :mod:`compat.nox`), one session each, into a cache that all projects share (:mod:`compat.envs.cache`).
What came of it is kept in a record (:mod:`compat.envs.record`), from which an env is read back without starting anything.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import asdict, frozen

from compat.envs.cache import VARIABLE, EnvCache
from compat.envs.installed import NotInstalled, damaged_file, interpreter, packages, python_version
from compat.envs.locks import is_being_built
from compat.envs.record import INTERRUPTED, distributions, read_record
from compat.envs.requirements import fingerprint
from compat.errors import EnvError
from compat.model import BuiltEnv, Env, Package
from compat.printable import printable

_log = logging.getLogger(__name__)

INDEX = Path(".compat", "index")
"""Where answers of package indexes are kept, below the root of the project."""

MARK = "COMPAT_BUILT_FOR"
"""The environment variable by which a command marks what nox builds for it, so that it knows what another one has built."""
_NOXFILE = Path(__file__).parents[1] / "nox" / "noxfile.py"
_NOX_ENVIRONMENT = ("NOXSESSION", "NOX_CURRENT_SESSION", "VIRTUAL_ENV", "UV_PYTHON", "UV_PROJECT_ENVIRONMENT")
"""What a nox session sets for its own commands and must not reach a nox started inside it."""
_AGAIN = "a command without --no-build builds it"


# --- reading an env back ------------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Found:
    """What is in a virtual environment."""

    python: str
    """Path of its interpreter."""
    python_version: str
    packages: tuple[Package, ...]

    @property
    def digest(self) -> str:
        """One hash over all of it."""
        lines = [f"python {self.python_version}", *(f"{each.name} {each.version} {each.digest}" for each in self.packages)]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def read_env(env: Env, cache: EnvCache) -> BuiltEnv:
    """What there is of an env in the cache, and why it cannot be used if it cannot. Starts no process."""
    folder = cache.folder_of(env)
    record = read_record(folder)
    if record is None or record["fingerprint"] != fingerprint(env):
        return BuiltEnv(env=env, error=f"not built yet: {_AGAIN}")
    if not record["ok"]:
        under_way = record["error"] == INTERRUPTED and is_being_built(folder)
        return BuiltEnv(env=env, error="another command is building it now" if under_way else record["error"])
    try:
        found = inspect(folder.path / record["location"], distributions(env))
    except NotInstalled as error:
        return BuiltEnv(env=env, error=printable(f"built, and since damaged: {error}; {_AGAIN} anew"))
    if [asdict(package) for package in found.packages] != record["packages"]:
        return BuiltEnv(env=env, error=f"its packages are not those that were installed: {_AGAIN} anew")
    return BuiltEnv(env=env, python=found.python, python_version=found.python_version, packages=found.packages, digest=found.digest)


def missing_envs(envs: Sequence[Env], cache: EnvCache) -> tuple[Env, ...]:
    """Those that cannot be used as they are on disk: never built, not built from what is asked for now, damaged, or failed."""
    return tuple(env for env in envs if read_env(env, cache).error is not None)


def inspect(location: Path, needed: Sequence[str]) -> Found:
    """What is in a virtual environment. Raises NotInstalled where it is none, or a needed distribution is not whole in it."""
    found = Found(python=str(interpreter(location)), python_version=python_version(location), packages=packages(location))
    for name in needed:
        if name not in (package.name for package in found.packages):
            raise NotInstalled(f"{name} is not installed in it")
    if damage := damaged_file(location, needed[0]):
        raise NotInstalled(f"of {needed[0]}, {damage}")
    return found


# --- asking nox ------------------------------------------------------------------------------------------------------------------


def build_envs(
    names: Sequence[str],
    root: Path,
    *,
    jobs: int = 1,
    backend: str | None = None,
    again: bool = False,
    matrix: Path | None = None,
    cache: EnvCache | None = None,
    mark: str = "",
    echo: Callable[[str], None] | None = None,
) -> None:
    """Have nox build the envs of those names, ``jobs`` at a time; :func:`read_env` says what came of each.

    ``matrix`` is the file that declares them where it is not ``matrix.toml`` in ``root``; where there is no such file, they are
    built-in ones. ``cache`` is where they go if not where that file says. ``backend`` forces nox's (``uv``, ``virtualenv``),
    ``again`` has those built anew that are there. Their records keep the ``mark`` of who has them built, and ``echo`` receives
    every line that nox prints. An env that another command builds at the same time is waited for.
    Raises EnvError where nox itself could not do its work.
    """
    if not names:
        return
    command = [sys.executable, "-P", "-m", "nox", "-f", str(_NOXFILE)]
    command += ["-fb", backend] if backend else []
    command += ["--reuse-venv", "never"] if again else []
    command += ["-j", str(jobs)] if jobs > 1 and len(names) > 1 else []
    command += ["-s", *(f"env({name})" for name in names)]
    declaring = (matrix or root / "matrix.toml").absolute()
    command += ["--", "--matrix", str(declaring)] if declaring.exists() else ["--", "--project", str(declaring.parent)]
    environ = {key: value for key, value in os.environ.items() if key not in _NOX_ENVIRONMENT}
    environ |= {MARK: mark, **({VARIABLE: str(cache.folder)} if cache else {})}
    _log.info("%s", shlex.join(command))
    code, tail = _stream(command, root, environ, echo)
    _log.info("nox ended with exit code %d", code)
    if code != 0:
        raise EnvError(f"nox ended with exit code {code}: {tail}", hint=f"Run it yourself: {shlex.join(command)}")


def _stream(command: list[str], cwd: Path, environ: Mapping[str, str], echo: Callable[[str], None] | None) -> tuple[int, str]:
    """Run a command and pass its lines on; its exit code and last lines."""
    tail: list[str] = []
    with subprocess.Popen(
        command, cwd=cwd, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            _log.debug("nox: %s", line.rstrip())
            tail = [*tail, line.rstrip()][-5:]
            if echo:
                echo(line.rstrip("\n"))
    return process.returncode, " / ".join(tail)
