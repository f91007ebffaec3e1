"""The nox sessions that build environments: in a project's own noxfile, or in the one that comes with this package.

A noxfile of two lines has them::

    from compat.nox import matrix, sessions
    matrix(sessions())

In: the project's ``matrix.toml``, if it has one, and nox's command line. Out: one session for each env,
``env(triton-3.1.0)``, which builds it into the cache that all projects share (:mod:`compat.envs.cache`), and ``matrix``, which has
those built that it needs, and then is ``compat matrix``. An environment that
cannot be built fails nothing: why is recorded, and becomes part of the report. What is imported here needs nothing that nox does
not bring.
"""

from __future__ import annotations

import inspect
import logging
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO, Any, NoReturn

import nox
import nox.command

from compat.config.matrix import MatrixConfig, load_matrix, no_matrix
from compat.config.selection import MATRIX
from compat.envs.building import Builder
from compat.envs.env import INDEX, MARK
from compat.envs.installers import UNSET, choose_installer
from compat.envs.requirements import requirements
from compat.errors import CompatError, SelectionError
from compat.model import Env
from compat.nox.command_line import is_asked_for, last, named_envs, option, posargs, words

# Older releases of nox have no such argument.
PARALLEL: dict[str, Any] = {"allow_parallel": True} if "allow_parallel" in inspect.signature(nox.session).parameters else {}

_INTERRUPTED = (-signal.SIGINT, 128 + signal.SIGINT)


def sessions(root: Path | None = None) -> MatrixConfig:
    """Define a session for each env of ``matrix.toml``, in ``root`` or the current folder, and for those the command line names.

    ``-- --matrix PATH`` names another file, ``-- --project FOLDER`` another folder, for nox changes to the one that its noxfile is
    in; without any file, the envs are the built-in ones. Ends nox with one clear error where it
    says something that cannot be meant.
    """
    # uv does not read pip's variables; who set an index for pip means it for every installer.
    if "PIP_INDEX_URL" in os.environ and not {"UV_DEFAULT_INDEX", "UV_INDEX_URL"} & set(os.environ):
        os.environ["UV_DEFAULT_INDEX"] = os.environ["PIP_INDEX_URL"]
    if not {"-v", "--verbose"} & set(words()):
        logging.getLogger("compat").setLevel(logging.WARNING)  # nox shows what everybody logs
    try:
        config = _config(root or Path(last(option(posargs(), "--project")) or Path.cwd()))
        for env in _all_envs(config):
            _define(env, config)
    except CompatError as error:
        refuse(error)
    return config


def matrix(config: MatrixConfig) -> None:
    """Define the session ``matrix``: what stands after ``--`` goes to ``compat matrix``. Ends nox as :func:`sessions` does."""
    try:
        needed = [f"env({env.name})" for env in matrix_envs(config)] if is_asked_for("matrix") else []
    except CompatError as error:
        refuse(error)

    @nox.session(name="matrix", python=False, requires=needed, default=False)
    def run(session: nox.Session) -> None:
        """Compile the kernels on every environment and target asked for, and report."""
        # What can be built has just been built.
        command = (sys.executable, "-m", "compat.cli", "matrix", "--no-build", *session.posargs)
        session.run(*command, external=True, interrupt_timeout=10.0, terminate_timeout=5.0)


def _config(root: Path) -> MatrixConfig:
    named = last(option(posargs(), "--matrix"))
    path = root / (named or MATRIX)
    return load_matrix(path) if named or path.exists() else no_matrix(root)


def refuse(error: CompatError) -> NoReturn:
    """End nox with an error of use."""
    sys.stderr.write(f"{error}\n{error.hint or ''}".rstrip() + "\n")
    sys.exit(error.exit_code)


def matrix_envs(config: MatrixConfig) -> list[Env]:
    """The envs that `compat matrix` will want, going by its arguments."""
    if {"-h", "--help"} & set(posargs()):
        return []
    return list(config.choose_envs(list(option(posargs(), "--envs"))))


def _all_envs(config: MatrixConfig) -> list[Env]:
    """The envs of ``matrix.toml``, and those besides whose sessions are asked for, or that ``--envs`` means."""
    found = {env.name: env for env in config.envs}
    with suppress(SelectionError):  # whoever needs them says so
        found |= {env.name: env for env in matrix_envs(config) if env.name not in found}
    for name in named_envs():
        try:
            found.setdefault(name, config.env(name))
        except SelectionError:
            continue  # Nox will say that there is no such session.
    return list(found.values())


def _define(env: Env, config: MatrixConfig) -> None:
    """One session that builds one env. Nox gives it no virtual environment: it makes its own, where others find it."""

    @nox.session(name=f"env({env.name})", python=False, default=False, tags=list(env.groups), **PARALLEL)
    def build(session: nox.Session) -> None:
        try:
            error = _builder(session, config).build(env)
        except CompatError as refused:
            session.error(f"{refused} {refused.hint or ''}".rstrip())
        if error:
            session.warn(f"{env.name} cannot be used, its cells will be env_broken:\n{error}")

    build.__doc__ = f"Build the environment {env.name}: {', '.join(requirements(env))}."


def _builder(session: nox.Session, config: MatrixConfig) -> Builder:
    def run(command: Sequence[str], log: IO[str]) -> bool:
        try:
            with _no_interrupt_lost():
                session.run_install(*command, env=dict.fromkeys(UNSET), external=True, log=False, stdout=log)
        except nox.command.CommandFailed as failure:
            if getattr(failure, "return_code", None) in _INTERRUPTED:
                raise KeyboardInterrupt from failure  # Ctrl-C reaches both, and the installer may be the only one to notice
            return False
        return True

    backend = last(option(words(), "-fb", "--force-venv-backend"))
    return Builder(
        cache=config.env_cache(),
        answers=config.base / INDEX,
        installer=lambda: choose_installer(backend),
        run=run,
        say=session.log,
        backend=backend,
        again=last(option(words(), "--reuse-venv")) == "never",
        built_for=os.environ.get(MARK) or None,
    )


@contextmanager
def _no_interrupt_lost() -> Iterator[None]:
    """Ends with KeyboardInterrupt where one came meanwhile, whatever became of it.

    Python may lose the exit code of a process that ended when it was itself interrupted, and takes it for 0 then.
    """
    came: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        came.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt
