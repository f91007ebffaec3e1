"""The Pythons present on this machine, and which of them an env is built with.

Found by their names (``python3.11``), without starting any. A name that is a script is a version
manager's shim, which works or not depending on the folder it is called in; such managers' own
folders are looked into instead.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from attrs import frozen
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from compat.envs.listing import (
    MINORS,
    Minor,
    allows,
    index_urls,
    list_files,
    pythons_of,
    wheel_facts,
)
from compat.errors import IndexUnavailable
from compat.model import Env
from compat.processes.supervisor import run

PREFERENCE: tuple[Minor, ...] = ((3, 11), (3, 12), (3, 10), (3, 13), (3, 9), (3, 14), (3, 8))
"""The Pythons in order of preference, by the number of Triton releases with wheels for them.
Results of two releases compare best on one Python. 3.11 has wheels of every release from 2.0.0 on,
3.12 from 2.2.0, 3.10 up to 3.8, 3.13 from 3.2.0. Others follow, newest first.
"""

_DEADLINE = 30.0
"""Seconds that an interpreter may take to start."""
MANAGED = (
    ("PYENV_ROOT", "~/.pyenv", "versions/*/bin"),
    ("UV_PYTHON_INSTALL_DIR", "~/.local/share/uv/python", "cpython-*/bin"),
    ("ASDF_DATA_DIR", "~/.asdf", "installs/python/*/bin"),
    ("MISE_DATA_DIR", "~/.local/share/mise", "installs/python/*/bin"),
)
"""Where version managers keep Pythons: the variable that says so, the usual place, and the folders
inside it.
"""


def present(environ: Mapping[str, str] = os.environ) -> dict[Minor, tuple[str, ...]]:
    """Version → paths of the CPython interpreters of this machine, those on ``PATH`` first."""
    paths: dict[Minor, dict[str, None]] = {}
    for folder in _folders(environ):
        for minor in MINORS:
            path = _interpreter(folder, minor)
            if path:
                paths.setdefault(minor, {})[path] = None
    return {minor: tuple(paths[minor]) for minor in MINORS if minor in paths}


def _folders(environ: Mapping[str, str]) -> Iterator[Path]:
    for entry in environ.get("PATH", "").split(os.pathsep):
        if entry:
            yield Path(entry)
    yield Path(sys.base_prefix, "bin")
    for variable, usual, pattern in MANAGED:
        root = Path(environ.get(variable) or usual).expanduser()
        yield from sorted(root.glob(pattern), reverse=True)


def _interpreter(folder: Path, minor: Minor) -> str | None:
    name = f"python{minor[0]}.{minor[1]}"
    path = folder / name
    # In a virtual environment the name is a link to the interpreter proper, which outlives it; in
    # an installation of PyPy or of a free-threaded build it is a link to a file of another name.
    try:
        real = path.resolve(strict=True)
        if real.name != name or not os.access(real, os.X_OK):
            return None
        with real.open("rb") as file:
            return None if file.read(2) == b"#!" else str(real)
    except OSError:
        return None


def ranked(allowed: Collection[Minor], specifier: SpecifierSet) -> tuple[Minor, ...]:
    """The versions that are allowed and admitted by the specifier, the preferred ones first."""
    others = sorted(set(MINORS).difference(PREFERENCE), reverse=True)
    return tuple(
        minor for minor in (*PREFERENCE, *others) if minor in allowed and allows(specifier, minor)
    )


def spelled(minors: Collection[Minor]) -> str:
    """Versions as a reader likes them, neighbours joined: ``3.8–3.12, 3.14``; ``none`` for none."""
    runs: list[list[Minor]] = []
    for minor in sorted(minors):
        if runs and runs[-1][-1] == (minor[0], minor[1] - 1):
            runs[-1].append(minor)
        else:
            runs.append([minor])
    dotted = [[f"{major}.{minor}" for major, minor in run] for run in runs]
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in dotted) or "none"


@frozen(kw_only=True)
class InterpreterChoice:
    """How an env is to be built."""

    python: str = ""
    """Path of the interpreter; empty where there is none."""
    tag: str = ""
    """The interpreter as wheels name it, ``cp311``."""
    problem: str | None = None
    """Why it cannot be built at all."""
    notes: tuple[str, ...] = ()
    """Notes on the choice for the reader."""


def choose_interpreter(
    env: Env, answers: Path, environ: Mapping[str, str] = os.environ
) -> InterpreterChoice:
    """Decide how to build an env; ``answers`` is the folder where what the index said is kept.

    What the index does not know, or cannot be asked, restricts nothing: the installer will say what
    it thinks of it.
    """
    wheels, notes = _wheels(env, answers, environ)
    here = present(environ)
    allowed = set(here).intersection(*wheels.values())
    for minor in ranked(allowed, env.python):
        for path in here[minor]:
            if starts([path, "-I", "-c", ""]):
                return InterpreterChoice(python=path, tag=f"cp{minor[0]}{minor[1]}", notes=notes)
    return InterpreterChoice(problem=_no_interpreter(env, wheels, list(here)), notes=notes)


def exact_interpreter(version: str, environ: Mapping[str, str] = os.environ) -> InterpreterChoice:
    """The choice for one version of Python, three numbers, that another machine has used.

    No index is asked.
    """
    minor = _minor_of(version)
    versions = {path: _version_of(path) for path in present(environ).get(minor, ())}
    for path, installed in versions.items():
        if installed == version:
            return InterpreterChoice(python=path, tag=f"cp{minor[0]}{minor[1]}")
    others = [
        spelled(set(present(environ)) - {minor}),
        *sorted(set(filter(None, versions.values()))),
    ]
    here = ", ".join(other for other in others if other != "none") or "none"
    return InterpreterChoice(
        problem=(
            f"Python {version} is not installed on this machine (installed: {here}); `uv python"
            f" install {version}` installs it"
        )
    )


def _minor_of(version: str) -> Minor:
    major, minor, *_ = version.split(".")
    return int(major), int(minor)


def _version_of(path: str) -> str | None:
    """The version that an interpreter states, three numbers; ``None`` if it does not start."""
    code = "import sys; print('.'.join(map(str, sys.version_info[:3])))"
    try:
        done = run([path, "-I", "-c", code], timeout=_DEADLINE)
    except OSError:
        return None
    return done.output.strip() if done.exit_code == 0 else None


def starts(command: list[str]) -> bool:
    """Whether a program runs here and ends well."""
    try:
        return run(command, timeout=_DEADLINE).exit_code == 0
    except OSError:
        return False


def _wheels(
    env: Env, answers: Path, environ: Mapping[str, str]
) -> tuple[dict[str, frozenset[Minor]], tuple[str, ...]]:
    """Distribution and version → the Pythons with wheels, as far as the index knows; and notes.

    The notes are for the user.
    """
    pythons_by_wheel: dict[str, frozenset[Minor]] = {}
    notes: list[str] = []
    requirements: list[tuple[str, Version | None]] = []
    if env.wheel:
        name, version, tags = wheel_facts(env.wheel)
        if pythons := pythons_of(tags):
            pythons_by_wheel[f"{name} {version}"] = pythons
    else:
        requirements.append((env.distribution, env.release))
    requirements += [(env.framework, env.framework_release)] if env.paired else []
    sources = (*index_urls(environ), *([env.index] if env.index else []))
    for distribution, release in requirements:
        try:
            listing = list_files(distribution, sources, cache=answers, needs=release)
        except IndexUnavailable as error:
            notes.append(
                f"{error}; using the preferred interpreter without knowing the wheels of"
                f" {distribution}"
            )
            continue
        notes += listing.notes
        if pythons := listing.pythons_for(release):
            pythons_by_wheel[distribution if release is None else f"{distribution} {release}"] = (
                pythons
            )
    return pythons_by_wheel, tuple(notes)


def _no_interpreter(env: Env, wheels: Mapping[str, frozenset[Minor]], here: list[Minor]) -> str:
    reasons = [f"{what} has wheels for {spelled(pythons)}" for what, pythons in wheels.items()]
    reasons += [f"the env asks for python {env.python}"] if str(env.python) else []
    fitting = ranked(set(MINORS).intersection(*wheels.values()), env.python)
    advice = (
        f"; `uv python install {fitting[0][0]}.{fitting[0][1]}` installs one that fits"
        if fitting
        else ""
    )
    return (
        f"no interpreter: {'; '.join((*reasons, f'installed here: {spelled(here)}'))} (considered:"
        f" {spelled(MINORS)}){advice}"
    )
