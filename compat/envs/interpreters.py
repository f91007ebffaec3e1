"""The Pythons on this machine, and the choice of one for an env.

This module finds them by their names (``python3.11``), without starting them. A script of that name
is the shim of a version manager, which works only in some folders. So scripts do not count, and the
folders of the version managers are searched instead.
"""

from __future__ import annotations

import os
import re
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
3.12 from 2.2.0, 3.10 up to 3.8, 3.13 from 3.2.0. Pythons that are not listed follow, newest first.
"""

_DEADLINE = 30.0
"""Seconds that an interpreter may take to start."""
MANAGED = (
    ("PYENV_ROOT", "~/.pyenv", "versions/*/bin"),
    ("UV_PYTHON_INSTALL_DIR", "~/.local/share/uv/python", "cpython-*/bin"),
    ("ASDF_DATA_DIR", "~/.asdf", "installs/python/*/bin"),
    ("MISE_DATA_DIR", "~/.local/share/mise", "installs/python/*/bin"),
)
"""The places where version managers install Pythons: the variable for the root, the default root,
and the folders below it.
"""


def present(environ: Mapping[str, str] = os.environ) -> dict[Minor, tuple[str, ...]]:
    """Return version → paths of this machine's CPython interpreters, those on ``PATH`` first."""
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
        yield from sorted(root.glob(pattern), key=_numbers, reverse=True)


def _numbers(folder: Path) -> tuple[list[int], Path]:
    """Return the numbers in a path, so that 3.11.10 is above 3.11.9, and the path."""
    return [int(number) for number in re.findall(r"[0-9]+", str(folder))], folder


def _interpreter(folder: Path, minor: Minor) -> str | None:
    name = f"python{minor[0]}.{minor[1]}"
    path = folder / name
    # In a virtual environment the name is a link to the real interpreter, which exists longer than
    # the environment. For PyPy and free-threaded builds it is a link to a file of another name.
    try:
        real = path.resolve(strict=True)
        if real.name != name or not os.access(real, os.X_OK):
            return None
        with real.open("rb") as file:
            return None if file.read(2) == b"#!" else str(real)
    except OSError:
        return None


def rank_minors(allowed: Collection[Minor], specifier: SpecifierSet) -> tuple[Minor, ...]:
    """Return the allowed versions that the specifier admits, the preferred ones first."""
    others = sorted(set(MINORS).difference(PREFERENCE), reverse=True)
    return tuple(
        minor for minor in (*PREFERENCE, *others) if minor in allowed and allows(specifier, minor)
    )


def spell_minors(minors: Collection[Minor]) -> str:
    """Return versions in words, with ranges for neighbours: ``3.8–3.12, 3.14``, or ``none``."""
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
    """The interpreter to build an env with."""

    python: str = ""
    """Path of the interpreter; empty if none fits."""
    tag: str = ""
    """The interpreter's tag in wheel names, such as ``cp311``."""
    problem: str | None = None
    """Why the env cannot be built; ``None`` if it can."""
    notes: tuple[str, ...] = ()
    """Notes on the choice for the user."""


def choose_interpreter(
    env: Env, answers: Path, environ: Mapping[str, str] = os.environ
) -> InterpreterChoice:
    """Choose the interpreter for an env. ``answers`` is the folder for answers of the index.

    If the index has no information, or does not answer, all interpreters count as allowed. The
    installer then reports what is wrong.
    """
    wheels, notes = _wheels(env, answers, environ)
    here = present(environ)
    allowed = set(here).intersection(*wheels.values())
    for minor in rank_minors(allowed, env.python):
        for path in here[minor]:
            version = _version_of(path)
            if version and env.python.contains(version, prereleases=True):
                return InterpreterChoice(python=path, tag=f"cp{minor[0]}{minor[1]}", notes=notes)
    return InterpreterChoice(problem=_no_interpreter(env, wheels, list(here)), notes=notes)


def exact_interpreter(version: str) -> InterpreterChoice:
    """Choose the interpreter of exactly this version, which another machine used.

    The version has three numbers. No index is asked.
    """
    minor = _minor_of(version)
    versions = {path: _version_of(path) for path in present().get(minor, ())}
    for path, installed in versions.items():
        if installed == version:
            return InterpreterChoice(python=path, tag=f"cp{minor[0]}{minor[1]}")
    others = [spell_minors(set(present()) - {minor}), *sorted(set(filter(None, versions.values())))]
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
    """Return the version of an interpreter, three numbers; ``None`` if it does not start."""
    if path == os.path.realpath(sys.executable):
        return ".".join(map(str, sys.version_info[:3]))
    code = "import sys; print('.'.join(map(str, sys.version_info[:3])))"
    try:
        done = run([path, "-I", "-S", "-c", code], timeout=_DEADLINE)
    except OSError:
        return None
    return done.output.strip() if done.exit_code == 0 else None


def starts(command: list[str]) -> bool:
    """Whether a program starts and ends with exit code 0 within the deadline."""
    try:
        return run(command, timeout=_DEADLINE).exit_code == 0
    except OSError:
        return False


def _wheels(
    env: Env, answers: Path, environ: Mapping[str, str]
) -> tuple[dict[str, frozenset[Minor]], tuple[str, ...]]:
    """Return distribution and version → the Pythons with wheels, and notes for the user.

    A distribution is missing if the index lists no wheel of it that fits, or does not answer.
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
    requirements += [(env.framework, env.framework_release)] if env.has_framework else []
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
    reasons = [f"{what} has wheels for {spell_minors(pythons)}" for what, pythons in wheels.items()]
    reasons += [f"the env asks for python {env.python}"] if str(env.python) else []
    fitting = rank_minors(set(MINORS).intersection(*wheels.values()), env.python)
    advice = (
        f"; `uv python install {fitting[0][0]}.{fitting[0][1]}` installs one that fits"
        if fitting
        else ""
    )
    return (
        f"no interpreter: {'; '.join((*reasons, f'installed here: {spell_minors(here)}'))}"
        f" (considered: {spell_minors(MINORS)}){advice}"
    )
