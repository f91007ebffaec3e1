"""The installers that make and fill a virtual environment, and how they run.

They are uv, or virtualenv (or venv) with pip.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import IO

from attrs import frozen
from packaging.version import Version

from compat.envs.cache import EnvCache, EnvFolder, index_arguments, install_arguments, requirements
from compat.envs.interpreters import starts
from compat.errors import EnvError, IndexUnavailable
from compat.files import content_of, keep_file, replace_file
from compat.interruption import Stopped
from compat.model import Env
from compat.processes.supervisor import POLL, Process, ProcessResult, run
from compat.text import lazy_pattern, read_json, text_digest, write_json

BACKENDS = ("uv", "virtualenv", "venv")

UNSET = (
    *("CONDA_PREFIX", "VIRTUAL_ENV", "PYTHONHOME", "__PYVENV_LAUNCHER__"),
    *("UV_PROJECT_ENVIRONMENT", "UV_PYTHON", "UV_SYSTEM_PYTHON"),
    *("PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV", "PIP_RESPECT_VIRTUALENV", "PIP_TARGET", "PIP_USER"),
)
"""Environment variables that would make an installer change another environment."""

NEUTRAL = Path(__file__).parent
"""The folder where installers run. They find no pyproject.toml of a user's project there."""
_INTERRUPTED = (-signal.SIGINT, 128 + signal.SIGINT)
_RESOLVE_DEADLINE = 120.0
"""Seconds that resolving may take. It usually takes half a second."""
_INDEXES = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL")
"""The variables that name the package indexes of uv."""
_LARGEST = 1 << 20
_QUOTED = 200
"""Characters of an installer's error that are quoted."""


@frozen
class Installer:
    """One way of building environments."""

    backend: str
    """``uv``, ``virtualenv`` or ``venv``, as nox calls them."""
    uv: str = ""
    """Path or name of the program, if it is uv."""

    def commands(
        self, env: Env, python: str, location: Path, pins: Sequence[str] = ()
    ) -> tuple[list[str], list[str]]:
        """The command that makes the virtual environment, and the one that fills it.

        ``python`` is the interpreter, and ``pins`` are further requirements.
        """
        inside = os.fspath(location / "bin" / "python")
        arguments = (
            _lock_arguments(env, self.backend, EnvFolder(location.parent).lock)
            if env.lock
            else (*install_arguments(env, self.backend), *pins)
        )
        if self.backend == "uv":
            return (
                [self.uv, "venv", "--quiet", "--python", python, os.fspath(location)],
                [self.uv, "pip", "install", "--python", inside, *arguments],
            )
        # -P and -I: the working directory may have modules with names of Python's own modules.
        venv_commands = {
            "virtualenv": [
                sys.executable,
                "-P",
                "-m",
                "virtualenv",
                "--no-periodic-update",
                "-p",
                python,
                os.fspath(location),
            ],
            "venv": [python, "-I", "-m", "venv", os.fspath(location)],
        }
        return venv_commands[self.backend], [inside, "-I", "-m", "pip", "install", *arguments]


_CHECKS = ("--require-hashes", "--only-binary", ":all:")
"""The options for a lock. A source distribution would need build packages without hashes."""


def _lock_arguments(env: Env, backend: str, file: Path) -> tuple[str, ...]:
    """Return the arguments that install only the packages of an env's lock."""
    return (*_CHECKS, "-r", os.fspath(file), *index_arguments(env, backend))


def choose_installer(
    backend: str | None = None, environ: Mapping[str, str] = os.environ
) -> Installer:
    """Return the installer of that backend; by default uv if it is installed, else virtualenv.

    Raises EnvError if the backend is unknown, or uv is requested but not installed.
    """
    if backend is not None and backend not in BACKENDS:
        raise EnvError(
            f"unknown backend {backend!r}; choose one of {', '.join(BACKENDS)}",
            where="--force-venv-backend",
        )
    if backend in (None, "uv"):
        if uv := find_uv(environ):
            return Installer("uv", uv)
        if backend == "uv":
            raise EnvError(
                "uv is not installed",
                where="--force-venv-backend",
                hint="Install it with `python3 -m pip install uv`.",
            )
    return Installer(backend or "virtualenv")


def installer_environ(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables for an installer: without :data:`UNSET`, and with pip's index for uv.

    Folders of wheels are absolute, because installers do not run in the current folder.
    """
    variables = {name: value for name, value in environ.items() if name not in UNSET}
    # uv does not read pip's variables. A user who sets an index for pip means it for every
    # installer.
    if not any(variables.get(name) for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL")) and (
        index := variables.get("PIP_INDEX_URL")
    ):
        variables["UV_DEFAULT_INDEX"] = index
    for name, separator in (("UV_FIND_LINKS", ","), ("PIP_FIND_LINKS", None)):
        links = variables.get(name, "").split(separator)
        if any(map(os.path.isdir, links)):
            variables[name] = (separator or " ").join(
                os.path.abspath(link) if os.path.isdir(link) else link for link in links
            )
    return variables


def find_uv(environ: Mapping[str, str] = os.environ) -> str | None:
    """Return the uv to use: of ``$UV``, else of the Python package ``uv``, else on ``PATH``.

    A uv that does not start does not count.
    """
    if named := environ.get("UV"):
        candidates = [named]
    else:
        candidates = [
            *_uv_of_package(),
            *filter(None, [shutil.which("uv", path=environ.get("PATH"))]),
        ]
    return next((candidate for candidate in candidates if starts([candidate, "--version"])), None)


def _uv_of_package() -> list[str]:
    with suppress(ImportError, FileNotFoundError):
        from uv import find_uv_bin

        return [os.fspath(find_uv_bin())]
    return []


# --- running one ----------------------------------------------------------------------------------


def run_installer(
    command: Sequence[str], log: IO[str], stop: Event, *, cwd: Path | None = None
) -> bool:
    """Run an installer to its end, or until ``stop`` is set, and return whether it succeeded.

    The installer inherits the locked log. So the lock holds as long as the installer runs, even if
    this process ends. Raises Stopped, and MachineError.
    """
    try:
        process = Process(
            command, stdout=log.fileno(), stderr=log.fileno(), env=installer_environ(), cwd=cwd
        )
    except OSError as error:
        log.write(f"{command[0]}: {error.strerror}\n")
        log.flush()
        return False
    while (code := process.wait(POLL)) is None:
        if stop.is_set():
            process.end()
            raise Stopped
    if code in _INTERRUPTED:
        raise Stopped
    return code == 0


class InstallFailed(Exception):
    """An installer failed; the message is its output."""


def install_into(
    target: Path, packages: Sequence[str], python: str, *, deadline: float, lock: Sequence[str] = ()
) -> None:
    """Install packages without their dependencies into a folder, for an interpreter.

    ``lock`` has the packages with the hashes of their files, as lines of a requirements file. If it
    is not empty, only files with these hashes are installed. Raises InstallFailed, and TimeoutError
    after ``deadline`` seconds.
    """
    if lock:
        file = target / ".lock.txt"
        replace_file(file, "".join(f"{line}\n" for line in lock))
        packages = (*_CHECKS, "-r", os.fspath(file))
    arguments = ["install", "--no-deps", "--target", os.fspath(target), *packages]
    if uv := find_uv(os.environ):
        command = [uv, "pip", *arguments, "--python", python]
    else:
        command = [sys.executable, "-P", "-m", "pip", "--python", python, *arguments]
    done = run(command, timeout=deadline, env=installer_environ(os.environ), cwd=target)
    if done.exit_code is None:
        raise TimeoutError
    if done.exit_code != 0:
        raise InstallFailed(done.output)


# --- dependencies of a framework ------------------------------------------------------------------


class PinUnknown(IndexUnavailable):
    """The dependency of a framework could not be resolved; the message says why."""


def pinned_release(
    framework: str,
    version: Version,
    distribution: str,
    python: str,
    cache: EnvCache,
    environ: Mapping[str, str] = os.environ,
) -> Version | None:
    """Return the toolchain release that an installer chooses for a framework release.

    ``python`` is a version such as ``3.11``. Returns ``None`` if the framework does not require the
    toolchain. The installer resolves it from metadata, without downloading wheels. Wheels of an
    index never change, so the answers are stored in the cache of envs. Raises PinUnknown.
    """
    path = cache.folder / "pairs" / "pins.json"
    pins, key = _kept_pins(path), f"{version} {distribution} {python}{_chosen_indexes(environ)}"
    if key not in pins:
        pins = {**pins, key: _resolve(framework, version, distribution, python, environ)}
        keep_file(path, write_json(pins))
    return Version(pins[key]) if pins[key] else None


def _chosen_indexes(environ: Mapping[str, str]) -> str:
    """Return a hash over the indexes that variables name; empty for the usual index.

    Indexes have different wheels of a version. URLs of indexes may contain passwords.
    """
    variables = installer_environ(environ)
    urls = [variables.get(name, "") for name in _INDEXES]
    return f" {text_digest(repr(urls))[:16]}" if any(urls) else ""


def _kept_pins(path: Path) -> dict[str, str]:
    try:
        pins = read_json(content_of(path, _LARGEST) or b"{}")
    except ValueError:
        return {}
    return (
        {str(key): str(release) for key, release in pins.items()} if isinstance(pins, dict) else {}
    )


def _resolve(
    framework: str, version: Version, distribution: str, python: str, environ: Mapping[str, str]
) -> str:
    """Return the release, or an empty text if the framework does not require the toolchain.

    Raises PinUnknown.
    """
    unknown = f"cannot determine what {framework} {version} requires"
    uv = find_uv(environ)
    if uv is None:
        raise PinUnknown(f"{unknown}: uv is not installed")
    options = ("--python-version", python)
    done = _compile_requirements(
        uv, [f"{framework}=={version}"], options, _RESOLVE_DEADLINE, environ
    )
    if done.exit_code is None:
        raise PinUnknown(f"{unknown}: the package index did not answer in {_RESOLVE_DEADLINE:g} s")
    if done.exit_code != 0:
        error = " ".join(done.output.split())
        raise PinUnknown(f"{unknown}: {error if len(error) <= _QUOTED else f'{error[:_QUOTED]} …'}")
    match = re.search(rf"^{re.escape(distribution)}==(\S+)", done.output, re.MULTILINE)
    return match[1] if match else ""


def _compile_requirements(
    uv: str,
    texts: Iterable[str],
    options: Sequence[str],
    timeout: float,
    environ: Mapping[str, str] = os.environ,
) -> ProcessResult:
    """Let uv resolve requirements. It prints them with all that they require, each pinned."""
    command = [uv, "pip", "compile", "-", *options, "--no-header", "--no-annotate", "--quiet"]
    document = "".join(f"{text}\n" for text in texts)
    variables = installer_environ(environ)
    return run(command, timeout=timeout, document=document, env=variables, cwd=NEUTRAL)


# --- locks ----------------------------------------------------------------------------------------

_LOCK_DEADLINE = 600.0
"""Seconds for one env. uv downloads the files whose hashes the index does not give."""
_SHA256 = lazy_pattern(r"[0-9a-f]{64}")
_PINNED = lazy_pattern(
    r"^(?P<name>\S.*?) \\\n(?P<hashes>(?:    --hash=sha256:[0-9a-f]+(?: \\)?\n)+)", re.MULTILINE
)


def lock_line(requirement: str, hashes: Sequence[str]) -> str:
    """Return a line of a requirements file that accepts only files with these SHA-256 hashes."""
    return " ".join([requirement, *(f"--hash=sha256:{digest}" for digest in hashes)])


def pinned_requirements(env: Env, python: str) -> dict[str, tuple[str, ...]]:
    """Return all packages of an env, pinned to a version, each with the SHA-256 of its files.

    Raises EnvError with uv's message if uv cannot resolve them.
    """
    texts = (
        Path(text).as_uri() if Path(text).is_absolute() else text for text in requirements(env)
    )
    return _lock_packages(
        env.name, texts, python, "--only-binary", ":all:", *index_arguments(env, "uv")
    )


def library_hashes(requirement: str) -> tuple[str, ...]:
    """Return the SHA-256 of the files of a pinned library, without its dependencies.

    Raises EnvError if uv cannot resolve it.
    """
    (hashes,) = _lock_packages(requirement, [requirement], sys.executable, "--no-deps").values()
    return hashes


def _lock_packages(
    name: str, texts: Iterable[str], python: str, *options: str
) -> dict[str, tuple[str, ...]]:
    uv = find_uv()
    if uv is None:
        raise EnvError(
            f"{name} cannot be locked: uv is not installed",
            hint="Install it with `python3 -m pip install uv`.",
        )
    options = ("--python", python, "--generate-hashes", *options)
    done = _compile_requirements(uv, texts, options, _LOCK_DEADLINE)
    pinned = {
        match["name"]: tuple(sorted(_SHA256.findall(match["hashes"])))
        for match in _PINNED.finditer(f"{done.output.strip()}\n")
    }
    if done.exit_code != 0 or not pinned:
        reason = done.output if done.exit_code is not None else f"no answer in {_LOCK_DEADLINE:g} s"
        reason = "its files have no hashes there" if done.exit_code == 0 else reason
        raise EnvError(f"{name} cannot be locked: {' '.join(reason.split())[-600:]}")
    return pinned
