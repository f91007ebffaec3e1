"""What makes a virtual environment and fills it: uv, or virtualenv (or venv) with pip."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from attrs import frozen

from compat.envs.plan import starts
from compat.envs.requirements import install_arguments
from compat.errors import EnvError
from compat.model import Env

BACKENDS = ("uv", "virtualenv", "venv")

UNSET = (
    *("CONDA_PREFIX", "VIRTUAL_ENV", "PYTHONHOME", "__PYVENV_LAUNCHER__"),
    *("UV_PROJECT_ENVIRONMENT", "UV_PYTHON", "UV_SYSTEM_PYTHON"),
    *("PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV", "PIP_RESPECT_VIRTUALENV", "PIP_TARGET", "PIP_USER"),
)
"""Environment variables that would have an installer work on another environment than the one it is told of."""


@frozen
class Installer:
    """One way of building environments."""

    backend: str
    """``uv``, ``virtualenv`` or ``venv``, as nox calls them."""
    uv: str = ""
    """Path or name of the program, where it is uv."""

    def commands(self, env: Env, python: str, location: Path, pins: Sequence[str] = ()) -> tuple[list[str], list[str]]:
        """What makes the virtual environment with the interpreter ``python``, and what fills it, with ``pins`` besides."""
        inside = os.fspath(location / "bin" / "python")
        arguments = (*install_arguments(env, self.backend), *pins)
        if self.backend == "uv":
            return (
                [self.uv, "venv", "--quiet", "--python", python, os.fspath(location)],
                [self.uv, "pip", "install", "--python", inside, *arguments],
            )
        # -P and -I: the folder that this runs in may have modules called as Python's own are.
        made = {
            "virtualenv": [sys.executable, "-P", "-m", "virtualenv", "--no-periodic-update", "-p", python, os.fspath(location)],
            "venv": [python, "-I", "-m", "venv", os.fspath(location)],
        }
        return made[self.backend], [inside, "-I", "-m", "pip", "install", *arguments]


def choose_installer(asked: str | None = None, environ: Mapping[str, str] = os.environ) -> Installer:
    """The installer that is asked for, or uv where it is there and virtualenv elsewhere. Raises EnvError for one that is not."""
    if asked is not None and asked not in BACKENDS:
        raise EnvError(f"environments are built by {', '.join(BACKENDS)}, not by {asked}", where="--force-venv-backend")
    if asked in (None, "uv"):
        if uv := find_uv(environ):
            return Installer("uv", uv)
        if asked == "uv":
            raise EnvError("uv is not installed", where="--force-venv-backend", hint="`python3 -m pip install uv` installs it.")
    return Installer(asked or "virtualenv")


def environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables that an installer is started with: none that leads it elsewhere, and the index that was set for pip."""
    found = {name: value for name, value in environ.items() if name not in UNSET}
    # uv does not read pip's variables; who set an index for pip means it for every installer.
    if "PIP_INDEX_URL" in found and not {"UV_DEFAULT_INDEX", "UV_INDEX_URL"} & set(found):
        found["UV_DEFAULT_INDEX"] = found["PIP_INDEX_URL"]
    return found


def find_uv(environ: Mapping[str, str] = os.environ) -> str | None:
    """The uv to use: the one that ``$UV`` names, else the one installed beside this Python, else the one on ``PATH``."""
    if named := environ.get("UV"):
        candidates = [named]
    else:
        candidates = [*_installed(), *filter(None, [shutil.which("uv", path=environ.get("PATH"))])]
    return next((each for each in candidates if starts([each, "--version"])), None)


def _installed() -> list[str]:
    with suppress(ImportError, FileNotFoundError):
        from uv import find_uv_bin

        return [os.fspath(find_uv_bin())]
    return []
