"""Builds the environments of matrix.toml, and runs the sessions of this project.

    nox -s matrix                          the default environments, then `compat matrix` over them
    nox -s matrix -- --envs releases       other environments; everything after -- goes to `compat matrix`
    nox -s "env(triton-3.1.0)"             one environment; triton-X[-torch-Y] need not be in matrix.toml
    nox                                    lint, types, tests

An environment that cannot be built fails no session. Its error becomes part of the report.
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - older Pythons get this far, and a sentence instead of a traceback
    sys.exit(
        f"triton-compat needs Python 3.11 or newer, and this nox runs on {sys.version.split()[0]}: "
        "install nox and uv into a newer one (python3.11 -m pip install nox uv) and start it there (python3.11 -m nox)."
    )

import hashlib
import json
import os
from pathlib import Path

import nox
import nox.command

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))  # What is imported here needs nothing that nox does not bring.

from compat.config.kernel_files import load_kernels  # noqa: E402
from compat.config.matrix import MatrixConfig  # noqa: E402
from compat.envs.installers import find_uv  # noqa: E402
from compat.errors import CompatError  # noqa: E402
from compat.model import Env  # noqa: E402
from compat.nox import PARALLEL, build, is_requested, matrix_envs, option, posargs, refuse, sessions  # noqa: E402

nox.options.sessions = ["lint", "types", "tests"]
nox.options.reuse_venv = "yes"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_missing_interpreters = False
if hasattr(nox.options, "download_python"):
    nox.options.download_python = "never"


# --- everything else ------------------------------------------------------------------------------------------------------------

SHARED = ("-n", str(min(3 * len(os.sched_getaffinity(0)), 8)), "--dist", "worksteal")
"""Several processes run the tests, each its own stretch of them, and then what another has not come to yet.

There are more than cores: a test waits for deadlines, signals, disks and workers about half of its time.
"""


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
    uv = find_uv() if session.venv_backend == "uv" else None
    return {"UV": uv} if uv else {}


def testing(session: nox.Session) -> dict[str, str | None]:
    """Variables for tests, which start some thousand commands: Python keeps its bytecode outside the checkout."""
    kept = os.path.join(session.virtualenv.location, "pycache")
    return {**inner(session), "PYTHONDONTWRITEBYTECODE": None, "PYTHONPYCACHEPREFIX": kept}


@nox.session(**PARALLEL)
def lint(session: nox.Session) -> None:
    """Check the style of the code, and the files that CI systems read, without a network."""
    install_once(session, *group("lint"))
    session.run("ruff", "check", *session.posargs)
    session.run("ruff", "format", "--check", *session.posargs)
    workflows = sorted(map(str, Path(".github", "workflows").glob("*.yml")))
    session.run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows)
    session.run("check-jsonschema", "--builtin-schema", "vendor.github-actions", "action.yml")
    session.run("zizmor", "--offline", "--no-progress", "--config", ".github/zizmor.yml", *workflows, "action.yml")


@nox.session(**PARALLEL)
def types(session: nox.Session) -> None:
    """Check the types."""
    install_once(session, "-e", ".", *group("types"))
    session.run("mypy", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests; those on real wheels build the environments that they need."""
    install_once(session, "-e", ".", *group("tests"))
    session.run("pytest", *SHARED, *session.posargs, env=testing(session))


@nox.session(default=False)
def gpu(session: nox.Session) -> None:
    """Launch kernels that fail on purpose on the GPU of this machine. Without a GPU, say why nothing was launched."""
    install_once(session, "-e", ".", *group("tests"))
    session.run("pytest", "-m", "gpu", "-rs", *session.posargs, env=testing(session))


@nox.session(python=["3.11", "3.12", "3.13"], default=False)
def drivers(session: nox.Session) -> None:
    """Run the tests that need no wheels on each Python that the driver may run on, as far as this machine has it."""
    install_once(session, "-e", ".", *group("tests"))
    session.run("pytest", *SHARED, "-m", "not wheels", *session.posargs, env=testing(session))


@nox.session(default=False)
def coverage(session: nox.Session) -> None:
    """Show the coverage of each room by the tests that need no wheels."""
    install_once(session, "-e", ".", *group("tests"), *group("coverage"))
    session.run("coverage", "erase")
    failed = False
    try:
        session.run("coverage", "run", "-m", "pytest", "-m", "not wheels", *session.posargs, env=testing(session))
    except nox.command.CommandFailed:
        failed = True  # the table is true of what ran
    session.run("coverage", "combine", "--quiet")
    found = os.path.join(session.create_tmp(), "coverage.json")
    session.run("coverage", "json", "--quiet", "-o", found)
    session.run("python", "-m", "tests.rooms", found)
    if failed:
        session.error("tests failed; the table counts the tests that ran")


@nox.session(default=False, **PARALLEL)
def docs(session: nox.Session) -> None:
    """Build the documentation into site/. A broken link is an error."""
    install_once(session, "-e", ".", *group("docs"))
    session.run("mkdocs", "build", "--strict", *session.posargs)


@nox.session(default=False)
def screenshots(session: nox.Session) -> None:
    """Make the pictures in docs/images again, of a named matrix.json, else of the run in the tests."""
    install_once(session, "-e", ".", *group("tests"), *group("screenshots"))
    session.run("python", "-m", "tests.browser.screenshots", *session.posargs)


@nox.session(default=False)
def fuzz(session: nox.Session) -> None:
    """Give 100,000 inputs to every parser of untrusted input, and print figures. Takes about half an hour."""
    install_once(session, "-e", ".", *group("tests"))
    session.run("python", "-m", "tests.fuzz", *session.posargs)


@nox.session(default=False)
def hostile(session: nox.Session) -> None:
    """Run 10,000 cells, a tenth of them hostile, kill drivers and workers, and print figures. Takes about an hour."""
    install_once(session, "-e", ".")
    session.run("python", "-m", "bench.hostile", *session.posargs, env=inner(session))


def define_runs(config: MatrixConfig) -> None:
    """The sessions that need environments first: matrix and bench."""
    needed: list[Env] = []
    if is_requested("matrix", "bench"):
        needed = matrix_envs(config)
        # Kernel files are read now, so that an error in one is reported before minutes of downloads and not after.
        named = list(option(posargs(), "--spec"))
        load_kernels(named or config.kernels, ROOT if named else config.base, where="--spec" if named else "matrix.toml: kernels")

    @nox.session(default=False)
    def matrix(session: nox.Session) -> None:
        """Compile the kernels on every chosen environment and target, and write a report."""
        build(session, config, needed)
        install_once(session, "-e", ".")
        # What can be built has just been built.
        session.run(
            "compat", "matrix", "--no-build", *session.posargs, env=inner(session), interrupt_timeout=10.0, terminate_timeout=5.0
        )

    @nox.session(default=False)
    def bench(session: nox.Session) -> None:
        """Measure how long it takes."""
        build(session, config, needed)
        install_once(session, "-e", ".")
        session.run("python", "-m", "bench", *session.posargs, env=inner(session))


try:
    define_runs(sessions(ROOT))
except CompatError as error:
    refuse(error)
