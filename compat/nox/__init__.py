"""The nox sessions that build environments, for a project's own noxfile.

A noxfile of two lines has them::

    from compat.nox import matrix, sessions
    matrix(sessions())

In: the project's ``matrix.toml``, if it has one, and nox's command line. Out: one session for each
env, ``env(triton-3.1.0)``, which builds it into the cache that all projects share
(:mod:`compat.envs.cache`), and ``matrix``, which builds the envs that it needs, several at a time,
and then runs ``compat matrix``. Commands build envs in the same way without nox
(:mod:`compat.envs.provider`). An env that cannot be built fails no session: the reason is recorded,
and becomes part of the report. This package imports only modules that need no other distributions
than nox does.
"""

from __future__ import annotations

import inspect
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import NoReturn

import nox

from compat.config.matrix import MatrixConfig, find_matrix, load_matrix, no_matrix
from compat.envs.cache import requirements
from compat.envs.installers import choose_installer
from compat.envs.listing import INDEX
from compat.envs.provider import AT_ONCE, Builder, build_envs
from compat.errors import CompatError, SelectionError
from compat.interruption import Stopped
from compat.model import Env
from compat.text import JsonObject, lazy_pattern

# Older releases of nox have no such argument.
PARALLEL: JsonObject = (
    {"allow_parallel": True}
    if "allow_parallel" in inspect.signature(nox.session).parameters
    else {}
)

_ENV_SESSION = lazy_pattern(r"env\((?P<name>[^()\s]+)\)")


# --- sessions -------------------------------------------------------------------------------------


def sessions() -> MatrixConfig:
    """Define a session for each env of ``matrix.toml``, and for those of the command line.

    The file is the one that ``compat matrix`` reads, or that ``-- --matrix PATH`` names. Without
    any file, the envs are the built-in ones. Ends nox with one clear error if the file has an
    error.
    """
    if not {"-v", "--verbose"} & set(_arguments()):
        logging.getLogger("compat").setLevel(logging.WARNING)  # nox shows everything that is logged
    try:
        config = _config()
        for env in _all_envs(config):
            _define(env, config)
    except CompatError as error:
        refuse(error)
    return config


def matrix(config: MatrixConfig) -> None:
    """Define the session ``matrix``, which passes the arguments after ``--`` to ``compat matrix``.

    Ends nox as :func:`sessions` does.
    """

    def needed() -> list[Env]:
        try:
            return matrix_envs(config)
        except CompatError as error:
            refuse(error)

    if is_requested("matrix"):
        needed()  # an error ends nox before any session runs

    @nox.session(name="matrix", python=False, default=False)
    def run(session: nox.Session) -> None:
        """Compile the kernels on every environment and target asked for, and report."""
        build(session, config, needed())
        command = (sys.executable, "-m", "compat.cli", "matrix", "--no-build", *session.posargs)
        session.run(*command, external=True, interrupt_timeout=10.0, terminate_timeout=5.0)


def build(session: nox.Session, config: MatrixConfig, envs: Sequence[Env]) -> None:
    """Build envs, as many at a time as there are cores. One that cannot be built is a warning."""
    backend = _last(option(_arguments(), "-fb", "--force-venv-backend"))
    builder = Builder(
        cache=config.env_cache(),
        index_cache=config.base / INDEX,
        installer=lambda: choose_installer(backend),
        say=session.log,
        backend=backend,
        again=_last(option(_arguments(), "--reuse-venv")) == "never",
        stop=Event(),
    )
    try:
        results = build_envs(builder, envs, jobs=AT_ONCE, echo=session.log)
    except Stopped as stopped:  # the installer was interrupted
        raise KeyboardInterrupt from stopped
    for name, result in results.items():
        if result.refusal is not None:
            session.error(f"{result.refusal} {result.refusal.hint or ''}".rstrip())
        if result.error:
            session.warn(f"{name} cannot be used, its cells will be env_broken:\n{result.error}")


def refuse(error: CompatError) -> NoReturn:
    """End nox with an error of use."""
    sys.stderr.write(f"{error}\n{error.hint or ''}".rstrip() + "\n")
    sys.exit(error.exit_code)


def matrix_envs(config: MatrixConfig) -> list[Env]:
    """The envs that `compat matrix` needs for its arguments."""
    if {"-h", "--help"} & set(posargs()):
        return []
    return list(config.choose_envs(list(option(posargs(), "--envs"))))


def _config() -> MatrixConfig:
    named, folder = _last(option(posargs(), "--matrix")), Path.cwd()
    path = folder / named if named else find_matrix(folder)
    return load_matrix(path) if path else no_matrix(folder)


def _all_envs(config: MatrixConfig) -> list[Env]:
    """The envs of ``matrix.toml``, and others whose sessions are requested.

    ``--envs`` requests sessions too.
    """
    envs = {env.name: env for env in config.envs}
    with suppress(SelectionError):  # the session that needs them reports it
        envs |= {env.name: env for env in matrix_envs(config) if env.name not in envs}
    for argument in _arguments():
        for match in _ENV_SESSION.finditer(argument):
            with suppress(SelectionError):  # nox reports that there is no such session
                envs.setdefault(match["name"], config.env(match["name"]))
    return list(envs.values())


def _define(env: Env, config: MatrixConfig) -> None:
    """Define one session that builds one env.

    Nox gives it no virtual environment. The session builds its own, in the cache that all commands
    share.
    """

    @nox.session(
        name=f"env({env.name})", python=False, default=False, tags=list(env.groups), **PARALLEL
    )
    def run(session: nox.Session) -> None:
        build(session, config, [env])

    run.__doc__ = f"Build the environment {env.name}: {', '.join(requirements(env))}."


# --- the command line -----------------------------------------------------------------------------
#
# Read from ``sys.argv``: nox has no public API for it before the sessions are defined.


def posargs() -> list[str]:
    """The arguments after ``--``."""
    arguments = sys.argv[1:]
    return arguments[arguments.index("--") + 1 :] if "--" in arguments else []


def option(arguments: list[str], *names: str) -> Iterator[str]:
    """Every value of an option, as ``name value`` or ``name=value``."""
    for index, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name in names and equals:
            yield value
        elif argument in names and index + 1 < len(arguments):
            yield arguments[index + 1]


def is_requested(*names: str) -> bool:
    """Whether one of these sessions may be requested: nox's arguments contain its name."""
    return any(
        argument.partition("=")[2] in names or argument in names for argument in _arguments()
    )


def _arguments() -> list[str]:
    """The arguments of nox itself, and the sessions that ``$NOXSESSION`` names."""
    arguments = sys.argv[1:]
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return [*arguments[:end], *os.environ.get("NOXSESSION", "").split(",")]


def _last(values: Iterator[str]) -> str | None:
    """The last value, which overrides the others; ``None`` without values."""
    return next(reversed([*values]), None)
