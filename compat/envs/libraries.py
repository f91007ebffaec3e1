"""Libraries from the package index whose kernels are compiled: unpacked, without their dependencies, beside the environments.

::

    ~/.cache/triton-compat/envs/libraries/
        liger-kernel-0.6.4/         on sys.path while one of its kernels is compiled, and in no env

Two kernel files may take two versions. What is there is never asked for again, so that it works without a network.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from compat.bundle.closure import LIBRARY
from compat.envs.cache import env_cache
from compat.envs.installers import UNSET, find_uv
from compat.errors import EnvError
from compat.files import replace_file

_DEADLINE = 300.0
"""Seconds that fetching one may take."""
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*==\s*([A-Za-z0-9.!+_-]+)\s*")


def is_pinned(requirement: str) -> bool:
    """Whether it names one version of a library."""
    return _REQUIREMENT.fullmatch(requirement) is not None


def unpacked(requirement: str) -> Path:
    """The folder that a library of one version (``liger-kernel==0.6.4``) is unpacked in, which is done where it is not there yet.

    Raises EnvError where it cannot be had.
    """
    match = _REQUIREMENT.fullmatch(requirement)
    assert match is not None, "libraries are named with their version"
    name = re.sub(r"[-_.]+", "-", match[1]).lower()
    folder = env_cache().folder / "libraries" / f"{name}-{match[2]}"
    if not (folder / LIBRARY).is_file():
        _fetch(requirement, folder)
    return Path(os.path.realpath(folder))


def _fetch(requirement: str, folder: Path) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        making = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    except OSError as error:
        raise EnvError(f"{requirement} cannot be unpacked: {error.strerror or error}", where=str(folder.parent)) from error
    try:
        _install(requirement, making)
        replace_file(making / LIBRARY, json.dumps({"requirement": requirement}))
        making.chmod(0o755)
        if folder.is_dir() and not (folder / LIBRARY).is_file():  # what somebody has damaged
            shutil.rmtree(folder)
        try:
            making.rename(folder)
        except OSError:
            if not (folder / LIBRARY).is_file():  # else another command was quicker
                raise
    except OSError as error:
        raise EnvError(f"{requirement} cannot be unpacked: {error.strerror or error}", where=str(folder)) from error
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _install(requirement: str, target: Path, environ: Mapping[str, str] = os.environ) -> None:
    """Have the installer unpack it into a folder. Raises EnvError with the installer's words."""
    what = ["install", "--no-deps", "--target", str(target), requirement]
    uv = find_uv(environ)
    command = [uv, "pip", *what, "--python", sys.executable] if uv else [sys.executable, "-P", "-m", "pip", *what]
    environment = {name: value for name, value in environ.items() if name not in UNSET}
    try:
        done = subprocess.run(
            command, cwd=target, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_DEADLINE
        )
    except subprocess.TimeoutExpired:
        raise EnvError(f"{requirement} could not be had within {_DEADLINE:g} s", hint="Is the package index reachable?") from None
    if done.returncode != 0:
        words = " ".join(f"{done.stderr or done.stdout}".split())[-600:]
        hint = "Is there such a version, and is the package index reachable? What was unpacked before works without it."
        raise EnvError(f"{requirement} cannot be had: {words}", hint=hint)
