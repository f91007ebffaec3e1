"""Builds the environments of matrix.toml, and runs the sessions of this project.

    nox -s matrix                      the default environments, then `compat matrix` over them
    nox -s matrix -- --envs releases   other environments; all after -- goes to `compat matrix`
    nox -s "env(triton-3.1.0)"         one; triton-X[-torch-Y] need not be in matrix.toml
    nox                                lint, types, tests

An environment that cannot be built fails no session. Its error becomes part of the report.
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - older Pythons get a sentence, not a traceback
    sys.exit(
        f"triton-compat needs Python 3.11 or newer, and this nox runs on {sys.version.split()[0]}:"
        " install nox and uv into a newer one (python3.11 -m pip install nox uv) and start it"
        " there (python3.11 -m nox)."
    )

import hashlib
import json
import os
import shutil
from pathlib import Path

import nox
import nox.command

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))  # These imports need only packages that nox requires itself.

from compat.config.kernel_files import load_kernels  # noqa: E402
from compat.config.matrix import MatrixConfig  # noqa: E402
from compat.envs.installers import find_uv  # noqa: E402
from compat.errors import CompatError  # noqa: E402
from compat.model import Env  # noqa: E402
from compat.nox import (  # noqa: E402
    PARALLEL,
    build,
    is_requested,
    matrix_envs,
    option,
    posargs,
    refuse,
    sessions,
)

nox.needs_version = ">=2026.8.10"
nox.options.reuse_venv = "yes"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_missing_interpreters = False
if hasattr(nox.options, "download_python"):
    nox.options.download_python = "never"


# --- everything else ------------------------------------------------------------------------------

SHARED = ("-n", str(min(2 * len(os.sched_getaffinity(0)), 8)), "--dist", "worksteal")
"""The options with which several processes run the tests.

Each process runs its own part of the tests, and then tests that another has not started yet. There
are more processes than cores, because a test waits for deadlines, signals, disks and workers about
half of its time.
"""

SLOWEST = ("--durations", "25") if os.environ.get("CI") else ()
"""CI shows the slowest tests."""


def install_once(session: nox.Session, *arguments: str) -> None:
    """Install, unless this virtual environment has the same arguments and pyproject.toml already.

    The package index is not queried then, so a second run starts at once, even offline.
    """
    stamp = Path(session.virtualenv.location, "installed.json")
    files = [
        (ROOT / name).read_text(encoding="utf-8")
        for name in ("pyproject.toml", "compat/__init__.py")
    ]
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
    """Return variables with which a nox inside of the session finds the uv that this one found."""
    uv = find_uv() if session.venv_backend == "uv" else None
    return {"UV": uv} if uv else {}


def testing(session: nox.Session) -> dict[str, str | None]:
    """Variables for tests, which start some thousand commands.

    The bytecode of the tests, and of what they import, stays outside the checkout.
    """
    kept = str(Path(session.virtualenv.location, "pycache"))
    return {**inner(session), "PYTHONDONTWRITEBYTECODE": None, "PYTHONPYCACHEPREFIX": kept}


@nox.session(**PARALLEL)
def lint(session: nox.Session) -> None:
    """Check style, imports, dependencies and files for CI systems, offline.

    With files after `--`, check only the style of these, and all imports.
    """
    install_once(session, *group("lint"))
    session.run("ruff", "check", *session.posargs)
    session.run("ruff", "format", "--check", *session.posargs)
    session.run("python", "-m", "tests.floors")
    if session.posargs:
        return
    session.run("deptry", "--no-ansi", "compat", silent=True)
    workflows = sorted(map(str, Path(".github", "workflows").glob("*.yml")))
    session.run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows)
    session.run("check-jsonschema", "--builtin-schema", "vendor.github-actions", "action.yml")
    session.run(
        "check-jsonschema", "--builtin-schema", "vendor.dependabot", ".github/dependabot.yml"
    )
    session.run(
        "check-jsonschema", "--builtin-schema", "vendor.citation-file-format", "CITATION.cff"
    )
    session.run(
        "zizmor",
        "--offline",
        "--no-progress",
        "--config",
        ".github/zizmor.yml",
        *workflows,
        "action.yml",
    )


@nox.session(**PARALLEL)
def types(session: nox.Session) -> None:
    """Check the types."""
    install_once(session, "-e", ".", *group("types"))
    session.run("mypy", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests; those on real wheels build the environments that they need."""
    install_once(session, "-e", ".", *group("tests"))
    session.run("pytest", *SHARED, *SLOWEST, *session.posargs, env=testing(session))


@nox.session(default=False)
def gpu(session: nox.Session) -> None:
    """Launch kernels that fail on purpose on the GPU of this machine.

    Without a GPU, say why nothing was launched.
    """
    install_once(session, "-e", ".", *group("tests"))
    session.run("pytest", "-m", "gpu", "-rs", *session.posargs, env=testing(session))


@nox.session(python=["3.11", "3.12", "3.13", "3.14"], default=False)
def drivers(session: nox.Session) -> None:
    """Run the tests that need no wheels on each supported Python that this machine has."""
    install_once(session, "-e", ".", *group("tests"))
    arguments = (*SHARED, *SLOWEST, "-m", "not wheels", *session.posargs)
    session.run("pytest", *arguments, env=testing(session))


@nox.session(default=False)
def coverage(session: nox.Session) -> None:
    """Show the coverage of each room by the tests that need no wheels."""
    install_once(session, "-e", ".", *group("tests"), *group("coverage"))
    session.run("coverage", "erase")
    failed = False
    try:
        session.run(
            "coverage",
            "run",
            "-m",
            "pytest",
            "-m",
            "not wheels",
            *session.posargs,
            env=testing(session),
        )
    except nox.command.CommandFailed:
        failed = True  # the table is valid for the tests that ran
    session.run("coverage", "combine", "--quiet")
    found = str(Path(session.create_tmp(), "coverage.json"))
    session.run("coverage", "json", "--quiet", "-o", found)
    session.run("python", "-m", "tests.rooms", found)
    if failed:
        session.error("tests failed; the table counts the tests that ran")


@nox.session(default=False)
def lowest(session: nox.Session) -> None:
    """Run the tests that need no wheels with the oldest dependencies that pyproject.toml allows."""
    pins = Path(session.virtualenv.location, "lowest.txt")
    extras = ("--extra", "dask", "--extra", "hunt")
    resolving = ("--quiet", "--no-header", *extras, "--resolution", "lowest-direct")
    command = ("uv", "pip", "compile", *resolving, "pyproject.toml", "-o", str(pins))
    session.run(*command, external=True)
    session.install("-e", ".", "-r", str(pins), *group("tests"))
    session.run("pytest", *SHARED, "-m", "not wheels", *session.posargs, env=testing(session))


@nox.session(default=False)
def releases(session: nox.Session) -> None:
    """Declare releases that are new on the package index.

    Writes their changes for our kernels into reports/new-releases. After `--` are options of
    `compat matrix`, such as `--kernel sel_dense`.
    """
    install_once(session, "-e", ".")
    folder = Path("reports", "new-releases")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    answer = folder / "releases.json"
    asking = ("compat", "envs", "new", "releases", "pairs", "cute-releases")
    environ = inner(session)
    session.run(*asking, "--json", "--output", str(answer), env=environ)
    found = json.loads(answer.read_text(encoding="utf-8"))
    if not found:
        session.log("every release of the package index is declared")
        return
    before = ",".join(sorted({release["after"] for release in found}))
    names = [release["name"] for release in found]
    declaring = [
        option
        for path in sorted(Path("compat", "toolchains").glob("*/facts/releases.toml"))
        for option in ("--add", str(path))
    ]
    old, new = folder / "old", folder / "new"
    # Kernels fail on some releases on purpose, so exit code 1 is no error here.
    matrix = ("compat", "matrix", *session.posargs, "--envs")
    session.run(*matrix, before, "--output", str(old), success_codes=[0, 1], env=environ)
    session.run(*asking, *declaring, env=environ)
    both = ",".join((before, *names))
    session.run(*matrix, both, "--output", str(new), success_codes=[0, 1], env=environ)
    reports = (str(old / "matrix.json"), str(new / "matrix.json"))
    change = str(folder / "change.md")
    session.run("compat", "diff", *reports, "--new-releases", "--markdown", change)
    (folder / "title.txt").write_text(f"releases: add {', '.join(names)}\n", encoding="utf-8")


@nox.session(default=False, **PARALLEL)
def docs(session: nox.Session) -> None:
    """Build the documentation into site/. A broken link is an error."""
    install_once(session, "-e", ".", *group("docs"))
    session.run("mkdocs", "build", "--strict", *session.posargs)


@nox.session(default=False)
def publish(session: nox.Session) -> None:
    """Push the documentation as a version to the branch gh-pages: `-- dev`, or `-- 0.1 latest`."""
    install_once(session, "-e", ".", *group("docs"))
    session.run("mike", "deploy", "--push", "--update-aliases", *session.posargs)
    if "latest" in session.posargs:
        session.run("mike", "set-default", "--push", "latest")


@nox.session(default=False)
def package(session: nox.Session) -> None:
    """Build sdist and wheel, check both, and use the wheel with oldest and newest dependencies."""
    install_once(session, *group("package"))
    folder = Path(session.create_tmp()).resolve()
    dist, project = folder / "dist", folder / "project"
    for stale in (dist, project):
        shutil.rmtree(stale, ignore_errors=True)
    session.run("python", "-m", "build", "--quiet", "--outdir", str(dist))
    [wheel], [sdist] = dist.glob("*.whl"), dist.glob("*.tar.gz")
    session.run("twine", "check", "--strict", str(wheel), str(sdist))
    session.run("check-wheel-contents", str(wheel))
    session.run("pyroma", "--min", "8", ".")  # not more, because it asks for a person's address
    kernel = (ROOT / "kernels" / "sel_dense.py").read_text(encoding="utf-8")
    for resolution in ("lowest-direct", "highest"):
        pins, python = folder / f"{resolution}.txt", folder / resolution / "bin" / "python"
        resolving = (
            "--quiet",
            "--no-header",
            "--extra",
            "uv",
            "--extra",
            "dask",
            "--extra",
            "hunt",
            "--resolution",
            resolution,
        )
        session.run(
            "uv", "pip", "compile", *resolving, "pyproject.toml", "-o", str(pins), external=True
        )
        session.run(
            "uv", "venv", "--quiet", "--clear", "--python", sys.executable, str(python.parents[1])
        )
        session.run(
            "uv", "pip", "install", "--quiet", "--python", str(python), "-r", str(pins), str(wheel)
        )
        compat = str(python.with_name("compat"))
        project.mkdir()
        (project / "sel_dense.py").write_text(kernel, encoding="utf-8")
        with session.chdir(project):
            session.run(compat, "--version", external=True)
            session.run(compat, "init", "sel_dense.py", external=True)
            cells = (
                "sel_dense.py::sel_dense_block_ptr",
                "--envs",
                "3.8.0,3.9.0",
                "--target",
                "sm_90",
            )
            # Block pointers are gone in 3.9.0.
            session.run(compat, "matrix", *cells, external=True, success_codes=[1])
            session.run(compat, "bisect", *cells, external=True)
        shutil.rmtree(project)


@nox.session(default=False)
def screenshots(session: nox.Session) -> None:
    """Make the pictures in docs/images again, of a named matrix.json or of the tests' run."""
    install_once(session, "-e", ".", *group("tests"), *group("screenshots"))
    session.run("python", "-m", "tests.browser.screenshots", *session.posargs)


@nox.session(default=False)
def fuzz(session: nox.Session) -> None:
    """Give 100,000 inputs to every parser of untrusted input, and print figures.

    It takes about half an hour.
    """
    install_once(session, "-e", ".", *group("tests"))
    session.run("python", "-m", "tests.fuzz", *session.posargs)


@nox.session(default=False)
def hostile(session: nox.Session) -> None:
    """Run 10,000 cells, a tenth of them hostile, kill drivers and workers, and print figures.

    It takes about an hour.
    """
    install_once(session, "-e", ".")
    session.run("python", "-m", "bench.hostile", *session.posargs, env=inner(session))


def define_runs(config: MatrixConfig) -> None:
    """Define the sessions that need environments first: matrix and bench."""

    def needed() -> list[Env]:
        """The environments that the arguments choose. Ends nox if there is an error in them."""
        named = list(option(posargs(), "--spec"))
        try:
            envs = matrix_envs(config)
            # An error in a kernel file is reported before minutes of downloads and not after.
            load_kernels(
                named or config.kernels,
                ROOT if named else config.base,
                where="--spec" if named else "matrix.toml: kernels",
                library=config.library,
            )
        except CompatError as error:
            refuse(error)
        return envs

    if is_requested("matrix", "bench"):
        needed()  # an error ends nox before any session runs

    @nox.session(default=False)
    def matrix(session: nox.Session) -> None:
        """Compile the kernels on every chosen environment and target, and write a report."""
        build(session, config, needed())
        install_once(session, "-e", ".")
        # The environments that can be built have just been built.
        session.run(
            "compat",
            "matrix",
            "--no-build",
            *session.posargs,
            env=inner(session),
            interrupt_timeout=10.0,
            terminate_timeout=5.0,
        )

    @nox.session(default=False)
    def bench(session: nox.Session) -> None:
        """Measure how long it takes."""
        build(session, config, needed())
        install_once(session, "-e", ".")
        session.run("python", "-m", "bench", *session.posargs, env=inner(session))


define_runs(sessions())
