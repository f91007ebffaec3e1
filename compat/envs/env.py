"""Environments on disk: how one is built, and what came of it.

Nox builds them (see ``noxfile.py``), one session each. What it needs to know for that is decided here; what came of it is kept in a
record (:mod:`compat.envs.record`), from which an env is read back without starting anything.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from attrs import asdict, frozen
from packaging.version import Version

from compat.envs.installed import NotInstalled, interpreter, missing_file, packages, python_version
from compat.envs.record import ENVS, fingerprint, installers_words, log_path, read_record, write_record
from compat.errors import EnvError, IndexUnavailable
from compat.index.interpreters import present, ranked, spelled
from compat.index.listing import index_urls, list_files
from compat.index.releases import MINORS, Minor, pythons_of, wheel_facts
from compat.model import BuiltEnv, Env, Package

INDEX = Path(".compat", "index")
"""Where answers of package indexes are kept, below the root of the project."""

_INTERRUPTED = "the installation was interrupted"
_NOX_ENVIRONMENT = ("NOXSESSION", "NOX_CURRENT_SESSION", "VIRTUAL_ENV", "UV_PYTHON", "UV_PROJECT_ENVIRONMENT")
"""What a nox session sets for its own commands and must not reach a nox started inside it."""


# --- reading an env back ------------------------------------------------------------------------------------------------------


def read_env(env: Env, root: Path) -> BuiltEnv:
    """What there is of an env on disk, and why it cannot be used if it cannot. Starts no process."""
    record = read_record(env, root)
    again = f'nox -s "env({env.name})" builds it'
    if record is None:
        return BuiltEnv(env=env, error=f"not built yet: {again}")
    if record["fingerprint"] != fingerprint(env):
        return BuiltEnv(env=env, error=f"built from other requirements than are asked for now: {again} anew")
    if not record["ok"]:
        return BuiltEnv(env=env, error=record["error"])
    try:
        found = _inspect(env, root / record["location"])
    except NotInstalled as error:
        return BuiltEnv(env=env, error=f"built, and since damaged: {error}; {again} anew")
    if [asdict(package) for package in found.packages] != record["packages"]:
        return BuiltEnv(env=env, error=f"its packages are not those that were installed: {again} anew")
    return found


def missing_envs(envs: Sequence[Env], root: Path) -> tuple[Env, ...]:
    """Those that cannot be used as they are on disk: never built, not built from what is asked for now, damaged, or failed."""
    return tuple(env for env in envs if read_env(env, root).error is not None)


def _inspect(env: Env, location: Path) -> BuiltEnv:
    python, version, found = interpreter(location), python_version(location), packages(location)
    for name in (env.distribution, *(("torch",) if env.torch else ())):
        if name not in (package.name for package in found):
            raise NotInstalled(f"{name} is not installed in it")
    if lost := missing_file(location, env.distribution):
        raise NotInstalled(f"{lost} of {env.distribution} is gone")
    return BuiltEnv(env=env, python=str(python), python_version=version, packages=found, digest=_digest(version, found))


def _digest(version: str, found: Sequence[Package]) -> str:
    lines = [f"python {version}", *(f"{package.name} {package.version} {package.digest}" for package in found)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


# --- what the building session does -----------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Plan:
    """How an env is to be built."""

    python: str | None = None
    """Path of the interpreter; ``None`` where nothing is to be built."""
    current: bool = False
    """The env is there and as asked for."""
    problem: str | None = None
    """Why it cannot be built at all."""
    notes: tuple[str, ...] = ()
    """What a reader should know of how this was decided."""


def plan(env: Env, root: Path, environ: Mapping[str, str] = os.environ) -> Plan:
    """Decide how to build an env; the index is asked only where the env is not there as asked for.

    The interpreter is the preferred one among those present that the wheels of the toolchain and of PyTorch allow. What the index
    does not know, or cannot be asked, restricts nothing: the installer will say what it thinks of it.
    """
    if read_env(env, root).error is None:
        return Plan(current=True)
    wheels, notes = _wheels(env, root, environ)
    here = present(environ)
    allowed = set(here).intersection(*wheels.values())
    for minor in ranked(allowed, env.python):
        for path in here[minor]:
            if _starts(path):
                return Plan(python=path, notes=notes)
    return Plan(problem=_no_interpreter(env, wheels, list(here)), notes=notes)


def _wheels(env: Env, root: Path, environ: Mapping[str, str]) -> tuple[dict[str, frozenset[Minor]], tuple[str, ...]]:
    """Distribution and version → the Pythons there are wheels for, of those that the index knows; and what to tell of it."""
    found: dict[str, frozenset[Minor]] = {}
    notes: list[str] = []
    wanted: list[tuple[str, Version | None]] = []
    if env.wheel:
        name, version, tags = wheel_facts(env.wheel)
        if pythons := pythons_of(tags):
            found[f"{name} {version}"] = pythons
    else:
        wanted.append((env.distribution, env.triton))
    wanted += [("torch", env.torch)] if env.torch else []
    sources = (*index_urls(environ), *([env.index] if env.index else []))
    for distribution, release in wanted:
        try:
            listing = list_files(distribution, sources, cache=root / INDEX, needs=release)
        except IndexUnavailable as error:
            notes.append(f"{error}; taking the preferred interpreter without knowing the wheels of {distribution}")
            continue
        notes += listing.notes
        if pythons := listing.pythons_for(release):
            found[distribution if release is None else f"{distribution} {release}"] = pythons
    return found, tuple(notes)


def _no_interpreter(env: Env, wheels: Mapping[str, frozenset[Minor]], here: list[Minor]) -> str:
    said = [f"{what} has wheels for {spelled(pythons)}" for what, pythons in wheels.items()]
    said += [f"python {env.python} is asked for"] if str(env.python) else []
    return f"no interpreter: {'; '.join((*said, f'present here: {spelled(here)}'))} (considered: {spelled(MINORS)})"


def _starts(python: str) -> bool:
    try:
        return subprocess.run([python, "-I", "-c", ""], capture_output=True, timeout=30).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def backend_of(env: Env, root: Path) -> str | None:
    """The nox backend that an env was built with; ``None`` where it was not."""
    return (read_record(env, root) or {}).get("backend")


def begin(env: Env, root: Path, *, location: Path, backend: str, python: str | None) -> Path:
    """Record that an installation starts; until it is concluded the env counts as broken. Returns where to log to."""
    path = str(location.relative_to(root) if location.is_relative_to(root) else location)
    write_record(env, root, error=_INTERRUPTED, location=path, backend=backend, interpreter=python)
    return log_path(env, root)


def conclude(env: Env, root: Path, *, failed: bool) -> str | None:
    """Record how an installation ended, having looked at what it left. Returns why the env cannot be used, if it cannot."""
    record = read_record(env, root)
    if record is None:
        raise EnvError(f"the record of {env.name} vanished while it was being built", hint="Is another build running?")
    facts = {key: record[key] for key in ("location", "backend", "interpreter")}
    if failed:
        write_record(env, root, error=installers_words(env, root) or "the installer failed and said nothing", **facts)
        return read_env(env, root).error
    try:
        found = _inspect(env, root / record["location"])
    except NotInstalled as error:
        write_record(env, root, error=f"the installer ended without an error, but {error}", **facts)
        return read_env(env, root).error
    installed = [asdict(package) for package in found.packages]
    write_record(env, root, error=None, packages=installed, python=found.python, digest=found.digest, **facts)
    return None


def refuse(env: Env, root: Path, problem: str) -> None:
    """Record why an env cannot even be started on."""
    write_record(env, root, error=problem)


# --- asking nox ------------------------------------------------------------------------------------------------------------------


def build_envs(
    names: Sequence[str],
    root: Path,
    *,
    jobs: int = 1,
    backend: str | None = None,
    matrix: Path | None = None,
    echo: Callable[[str], None] | None = None,
) -> None:
    """Have nox build the envs of those names, ``jobs`` at a time; :func:`read_env` says what came of each.

    ``backend`` forces nox's (``uv``, ``virtualenv``), ``matrix`` is the file that declares them where it is not the project's
    ``matrix.toml``, ``echo`` receives every line that nox prints. Callers in several processes
    wait for one another. Raises EnvError where nox itself could not do its work.
    """
    if not names:
        return
    if not (root / "noxfile.py").is_file():
        raise EnvError(
            f"there is no noxfile.py in {root}, so nothing can build environments", hint="Run from the project's checkout."
        )
    command = [sys.executable, "-m", "nox", "-f", str(root / "noxfile.py"), *(("-fb", backend) if backend else ())]
    command += ["-j", str(jobs)] if jobs > 1 and len(names) > 1 else []
    command += ["-s", *(f"env({name})" for name in names)]
    command += ["--", "--matrix", str(matrix)] if matrix else []
    environ = {key: value for key, value in os.environ.items() if key not in _NOX_ENVIRONMENT}
    with _alone(root):
        code, tail = _stream(command, root, environ, echo)
    if code != 0:
        raise EnvError(f"nox ended with exit code {code}: {tail}", hint=f"Run it yourself: {' '.join(command[1:])}")


def _stream(command: list[str], cwd: Path, environ: Mapping[str, str], echo: Callable[[str], None] | None) -> tuple[int, str]:
    """Run a command and pass its lines on; its exit code and last lines."""
    tail: list[str] = []
    with subprocess.Popen(
        command, cwd=cwd, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            tail = [*tail, line.rstrip()][-5:]
            if echo:
                echo(line.rstrip("\n"))
    return process.returncode, " / ".join(tail)


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """One build of envs at a time in this checkout."""
    path = root / ENVS / ".lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
