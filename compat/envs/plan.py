"""With which interpreter an env is built: the preferred one of those here that its wheels allow."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen
from packaging.version import Version

from compat.envs.interpreters import present, ranked, spelled
from compat.envs.listing import index_urls, list_files
from compat.envs.wheels import MINORS, Minor, pythons_of, wheel_facts
from compat.errors import IndexUnavailable
from compat.model import Env


@frozen(kw_only=True)
class Plan:
    """How an env is to be built."""

    python: str = ""
    """Path of the interpreter; empty where there is none."""
    tag: str = ""
    """The interpreter as wheels name it, ``cp311``."""
    problem: str | None = None
    """Why it cannot be built at all."""
    notes: tuple[str, ...] = ()
    """What a reader should know of how this was decided."""


def plan(env: Env, answers: Path, environ: Mapping[str, str] = os.environ) -> Plan:
    """Decide how to build an env; ``answers`` is the folder where what the index said is kept.

    What the index does not know, or cannot be asked, restricts nothing: the installer will say what it thinks of it.
    """
    wheels, notes = _wheels(env, answers, environ)
    here = present(environ)
    allowed = set(here).intersection(*wheels.values())
    for minor in ranked(allowed, env.python):
        for path in here[minor]:
            if starts([path, "-I", "-c", ""]):
                return Plan(python=path, tag=f"cp{minor[0]}{minor[1]}", notes=notes)
    return Plan(problem=_no_interpreter(env, wheels, list(here)), notes=notes)


def plan_with(version: str, environ: Mapping[str, str] = os.environ) -> Plan:
    """Decide for the one version of Python, three numbers, that another machine has taken; no index is asked."""
    minor = _minor_of(version)
    found = {path: _version_of(path) for path in present(environ).get(minor, ())}
    for path, said in found.items():
        if said == version:
            return Plan(python=path, tag=f"cp{minor[0]}{minor[1]}")
    others = [spelled(set(present(environ)) - {minor}), *sorted({said for said in found.values() if said})]
    here = ", ".join(each for each in others if each != "none") or "none"
    return Plan(problem=f"Python {version} is not on this machine (here: {here}); `uv python install {version}` brings it")


def _minor_of(version: str) -> Minor:
    major, minor, *_ = version.split(".")
    return int(major), int(minor)


def _version_of(path: str) -> str | None:
    """What an interpreter says that it is, three numbers; ``None`` where it does not start."""
    code = "import sys; print('.'.join(map(str, sys.version_info[:3])))"
    try:
        done = subprocess.run([path, "-I", "-c", code], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def starts(command: list[str]) -> bool:
    """Whether a program runs here and ends well."""
    try:
        return subprocess.run(command, capture_output=True, timeout=30).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _wheels(env: Env, answers: Path, environ: Mapping[str, str]) -> tuple[dict[str, frozenset[Minor]], tuple[str, ...]]:
    """Distribution and version → the Pythons there are wheels for, of those that the index knows; and what to tell of it."""
    found: dict[str, frozenset[Minor]] = {}
    notes: list[str] = []
    wanted: list[tuple[str, Version | None]] = []
    if env.wheel:
        name, version, tags = wheel_facts(env.wheel)
        if pythons := pythons_of(tags):
            found[f"{name} {version}"] = pythons
    else:
        wanted.append((env.distribution, env.release))
    wanted += [("torch", env.torch)] if env.torch else []
    sources = (*index_urls(environ), *([env.index] if env.index else []))
    for distribution, release in wanted:
        try:
            listing = list_files(distribution, sources, cache=answers, needs=release)
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
    fitting = ranked(set(MINORS).intersection(*wheels.values()), env.python)
    advice = f"; `uv python install {fitting[0][0]}.{fitting[0][1]}` brings one that fits" if fitting else ""
    return f"no interpreter: {'; '.join((*said, f'present here: {spelled(here)}'))} (considered: {spelled(MINORS)}){advice}"
