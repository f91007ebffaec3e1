"""Builds the environments of matrix.toml, and runs everything there is to run in this project.

    nox -s matrix                          the default environments, then `compat matrix` over them
    nox -s matrix -- --envs releases       other environments; everything after -- goes to `compat matrix`
    nox -s "env(triton-3.1.0)"             one environment; triton-X[-torch-Y] need not be in matrix.toml
    nox                                    lint, types, tests

An environment that cannot be built fails nothing here: what went wrong is recorded, and becomes part of the report.
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - older Pythons get this far, and a sentence instead of a traceback
    sys.exit(
        f"triton-compat needs Python 3.11 or newer, and this nox runs on {sys.version.split()[0]}: "
        "install nox and uv into a newer one (python3.11 -m pip install nox uv) and start it there (python3.11 -m nox)."
    )

import hashlib
import inspect
import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nox
import nox.command
import nox.virtualenv
from nox._options import options as nox_options
from nox.sessions import _normalize_path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))  # What is imported here needs nothing that nox does not bring.

from compat.config.kernel_files import load_kernels  # noqa: E402
from compat.config.matrix import MatrixConfig, load_matrix  # noqa: E402
from compat.envs import env as envs  # noqa: E402
from compat.envs import record  # noqa: E402
from compat.errors import CompatError, SelectionError  # noqa: E402
from compat.model import Env  # noqa: E402

BACKENDS = "uv|virtualenv"
# Older releases of nox have neither; without them it is only less quick, since interpreters are given by their paths.
PARALLEL: dict[str, Any] = {"allow_parallel": True} if "allow_parallel" in inspect.signature(nox.session).parameters else {}

nox.options.sessions = ["lint", "types", "tests"]
nox.options.default_venv_backend = BACKENDS
nox.options.reuse_venv = "yes"
nox.options.error_on_missing_interpreters = False
if hasattr(nox.options, "download_python"):
    nox.options.download_python = "never"

# uv does not read pip's variables; who set an index for pip means it for every installer.
if "PIP_INDEX_URL" in os.environ and not {"UV_DEFAULT_INDEX", "UV_INDEX_URL"} & set(os.environ):
    os.environ["UV_DEFAULT_INDEX"] = os.environ["PIP_INDEX_URL"]


# --- what was asked for --------------------------------------------------------------------------------------------------------

# The command line as nox itself reads it: which sessions are asked for is needed before they are defined.
COMMAND = nox_options.parse_args()
ENV_SESSION = re.compile(r"env\((?P<name>[^()]+)\)(?:-(?P<python>/.*))?")


def option(posargs: list[str], name: str) -> Iterator[str]:
    """Every value that ``name`` is given in the arguments after ``--``."""
    for index, argument in enumerate(posargs):
        if argument == name and index + 1 < len(posargs):
            yield posargs[index + 1]
        elif argument.startswith(f"{name}="):
            yield argument.partition("=")[2]


def matrix_envs(config: MatrixConfig) -> list[Env]:
    """The envs that `compat matrix` will want, going by its arguments."""
    posargs = list(COMMAND.posargs)
    if {"-h", "--help"} & set(posargs):
        return []
    return list(config.choose_envs(list(option(posargs, "--envs"))))


def requested(config: MatrixConfig) -> dict[str, str | None]:
    """Envs that this run is to see to → the interpreter that the command line names, as nox's parallel runs do."""
    if COMMAND.list_sessions:
        return {}
    found: dict[str, str | None] = {}
    for session in COMMAND.sessions or ():
        if match := ENV_SESSION.fullmatch(session):
            found[match["name"]] = match["python"]
        elif session in ("matrix", "bench") and not COMMAND.no_dependencies:
            found.update(dict.fromkeys(env.name for env in matrix_envs(config)))
    if COMMAND.keywords or COMMAND.tags:
        found.update(dict.fromkeys(env.name for env in config.envs))
    return found


# --- environments ---------------------------------------------------------------------------------------------------------------


def define(env: Env, plan: envs.Plan) -> None:
    """One session that builds one env. Without anything to build it, it does without a virtual environment, too."""

    @nox.session(
        name=f"env({env.name})",
        python=plan.python or False,
        reuse_venv=False,  # What is not as asked for is made anew, never mended.
        venv_backend=BACKENDS,
        default=False,
        tags=list(env.groups),
        **PARALLEL,
    )
    def build(session: nox.Session) -> None:
        for note in plan.notes:
            session.warn(note)
        if plan.current:
            session.log(f"{env.name} is as it should be")
            return
        error = plan.problem
        if error:
            envs.refuse(env, STATE, error)
        else:
            error = install(session, env, plan)
        if error:
            session.warn(f"{env.name} cannot be used, its cells will be env_broken:\n{error}")

    build.__doc__ = f"Build the environment {env.name}: {', '.join(record.requirements(env))}."


def install(session: nox.Session, env: Env, plan: envs.Plan) -> str | None:
    """Fill a fresh virtual environment; why that failed, if it did."""
    location, backend = Path(session.virtualenv.location).absolute(), session.venv_backend
    log = envs.begin(env, STATE, location=location, backend=backend, python=plan.python)
    session.log(f"Installing {', '.join(record.requirements(env))}; output goes to {os.path.relpath(log)}")
    failed = False
    with log.open("w", encoding="utf-8") as output:
        try:
            session.install(*record.install_arguments(env, backend), stdout=output, silent=False, log=False)
        except nox.command.CommandFailed:
            failed = True
    return envs.conclude(env, STATE, failed=failed)


def plan_for(env: Env, wanted: dict[str, str | None]) -> envs.Plan:
    """How to build it: the index and the interpreters are looked at only for envs that this run is to see to."""
    if env.name not in wanted:
        return envs.Plan()
    if python := wanted[env.name]:
        return envs.Plan(python=python)
    forced = COMMAND.force_venv_backend
    if COMMAND.reuse_venv == "never" or (forced and forced != envs.backend_of(env, STATE)):
        record.forget(env, STATE)
    plan = envs.plan(env, STATE)
    if not plan.current:
        clear_remains(env)
    return plan


def clear_remains(env: Env) -> None:
    """Remove what a killed run left half made: uv makes no environment in a folder that holds something else."""
    folder = ROOT / _normalize_path(os.fspath(COMMAND.envdir or ".nox"), f"env({env.name})")
    if folder.is_dir() and not (folder / "pyvenv.cfg").is_file():
        shutil.rmtree(folder)


def define_envs(config: MatrixConfig) -> None:
    """One session for each env of matrix.toml, and for those that the command line makes up."""
    wanted = requested(config)
    every = {env.name: env for env in config.envs}
    for name in wanted:
        try:
            every.setdefault(name, config.env(name))
        except SelectionError:
            continue  # Nox will say that there is no such session.
    for env in every.values():
        define(env, plan_for(env, wanted))


# --- everything else ------------------------------------------------------------------------------------------------------------


def install_once(session: nox.Session, *arguments: str) -> None:
    """Install, unless this virtual environment was filled from the same arguments and the same pyproject.toml before.

    Nothing is asked of the index then, so that a second run starts at once, offline too.
    """
    stamp = Path(session.virtualenv.location, "installed.json")
    files = [(ROOT / name).read_text(encoding="utf-8") for name in ("pyproject.toml", "compat/__init__.py")]
    wanted = hashlib.sha256(json.dumps([str(ROOT), arguments, files]).encode()).hexdigest()
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return
    stamp.unlink(missing_ok=True)
    session.install(*arguments)
    stamp.write_text(wanted, encoding="utf-8")


def group(name: str) -> tuple[str, ...]:
    """The requirements of a dependency group of pyproject.toml."""
    return nox.project.dependency_groups(nox.project.load_toml(ROOT / "pyproject.toml"), name)


def inner(session: nox.Session) -> dict[str, str | None]:
    """Variables with which a nox started inside the session finds the uv that this one found."""
    uv = shutil.which(nox.virtualenv.UV) if session.venv_backend == "uv" else None
    return {"UV": uv} if uv else {}


@nox.session(**PARALLEL)
def lint(session: nox.Session) -> None:
    """Check the style of the code."""
    install_once(session, *group("lint"))
    session.run("ruff", "check", *session.posargs)
    session.run("ruff", "format", "--check", *session.posargs)


@nox.session(**PARALLEL)
def types(session: nox.Session) -> None:
    """Check the types."""
    install_once(session, "-e", ".", *group("types"))
    session.run("mypy", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests; those on real wheels build the environments that they need."""
    install_once(session, "-e", ".", *group("tests"))
    session.run("pytest", *session.posargs, env=inner(session))


def define_runs(config: MatrixConfig) -> None:
    """The sessions that need environments first: matrix and bench."""
    needed: list[str] = []
    if {"matrix", "bench"} & set(COMMAND.sessions or ()):
        needed = [f"env({env.name})" for env in matrix_envs(config)]
        # Kernel files are looked at now, so that what is wrong with one is said before minutes of downloads and not after.
        named = list(option(list(COMMAND.posargs), "--spec"))
        load_kernels(named or config.kernels, ROOT if named else config.base, where="--spec" if named else "matrix.toml: kernels")

    @nox.session(requires=needed, default=False)
    def matrix(session: nox.Session) -> None:
        """Compile the kernels on every environment and target asked for, and report."""
        install_once(session, "-e", ".")
        # What can be built has just been built.
        session.run(
            "compat", "matrix", "--no-build", *session.posargs, env=inner(session), interrupt_timeout=10.0, terminate_timeout=5.0
        )

    @nox.session(requires=needed, default=False)
    def bench(session: nox.Session) -> None:
        """Measure how long it takes."""
        install_once(session, "-e", ".")
        session.run("python", "-m", "bench", *session.posargs, env=inner(session))


try:
    CONFIG = load_matrix(Path(ROOT, *list(option(list(COMMAND.posargs), "--matrix"))[-1:] or ["matrix.toml"]))
    STATE = CONFIG.base  # where `compat` looks for the records of envs
    define_envs(CONFIG)
    define_runs(CONFIG)
except CompatError as error:
    print(f"{error}\n{error.hint or ''}".rstrip(), file=sys.stderr)
    sys.exit(error.exit_code)
