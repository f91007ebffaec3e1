"""Libraries from the package index whose kernels are compiled: unpacked, without their dependencies, beside the environments.

::

    ~/.cache/triton-compat/envs/libraries/
        liger-kernel-0.6.4/         on sys.path while one of its kernels is compiled, and in no env

Two kernel files may take two versions. What is there is never asked for again, so that it works without a network. Where the
installer cannot build a library, the Python files of its source distribution are unpacked: a kernel's text is all that is needed.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import Version

from compat.bundle.closure import LIBRARY
from compat.envs.cache import env_cache
from compat.envs.installers import UNSET, find_uv
from compat.envs.listing import NO_INDEX, index_urls
from compat.envs.sdists import unpack_python, version_of
from compat.envs.wheels import File
from compat.errors import EnvError, IndexUnavailable
from compat.files import replace_file
from compat.patterns import lazy_pattern

_log = logging.getLogger(__name__)
_NAMED = 8
"""Versions that an error names."""
_DEADLINE = 300.0
"""Seconds that fetching one may take."""
_WORDS = 600
"""Characters of what an installer printed that an error quotes."""
_REQUIREMENT = lazy_pattern(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*==\s*([A-Za-z0-9.!+_-]+)\s*")


def is_pinned(requirement: str) -> bool:
    """Whether it names one version of a library."""
    return _REQUIREMENT.fullmatch(requirement) is not None


def unpacked(requirement: str) -> Path:
    """The folder that a library of one version (``liger-kernel==0.6.4``) is unpacked in, which is done where it is not there yet.

    Raises EnvError where it cannot be had.
    """
    name, version = _parts(requirement)
    folder = env_cache().folder / "libraries" / f"{name}-{version}"
    if not (folder / LIBRARY).is_file():
        _fetch(requirement, folder)
    return Path(os.path.realpath(folder))


def _parts(requirement: str) -> tuple[str, str]:
    """Name, as the package index compares names, and version."""
    match = _REQUIREMENT.fullmatch(requirement)
    assert match is not None, "libraries are named with their version"
    return canonicalize_name(match[1]), match[2]


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
    """Have the installer unpack it into a folder, or unpack its sources. Raises EnvError with the installer's words."""
    what = ["install", "--no-deps", "--target", str(target), requirement]
    uv = find_uv(environ)
    command = [uv, "pip", *what, "--python", sys.executable] if uv else [sys.executable, "-P", "-m", "pip", *what]
    environment = {name: value for name, value in environ.items() if name not in UNSET}
    try:
        done = subprocess.run(
            command, cwd=target, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_DEADLINE
        )
        failed, words = done.returncode != 0, _last_lines(done.stderr or done.stdout)
    except subprocess.TimeoutExpired:
        failed, words = True, f"the installer did not end within {_DEADLINE:g} s"
    if failed:
        _log.info("%s: the installer says: %s", requirement, words)
        _unpack_sources(requirement, words, target, environ)


def _last_lines(text: str) -> str:
    """The last whole lines of what an installer printed, in one."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    kept = lines[-1:]
    for line in reversed(lines[:-1]):
        if sum(map(len, (line, *kept))) > _WORDS:
            break
        kept.insert(0, line)
    return " ".join(kept)


def _unpack_sources(requirement: str, words: str, target: Path, environ: Mapping[str, str]) -> None:
    """Unpack the Python files of a library that the installer could not install, ``words`` being what it said.

    Raises EnvError where there is no such library, no such version, or no source distribution of it.
    """
    name, version = _parts(requirement)
    try:
        files = _listed(name, environ)
        if files is None:
            raise _error(requirement, words, _unreachable())
        found = {each: file for file in files if (each := version_of(file.filename, name))}
        if Version(version) not in found:
            raise _absent(requirement, sorted(found, reverse=True))
        if any(unpack_python(file, name, target) for file in files if version_of(file.filename, name) == Version(version)):
            _log.info("%s: the Python files of its source distribution are unpacked", requirement)
            return
    except IndexUnavailable as error:
        raise _error(requirement, str(error), _unreachable()) from error
    hint = "The package index has it, and no source distribution whose Python files could be unpacked instead. Try another version."
    raise _error(requirement, words, hint)


def _absent(requirement: str, versions: Sequence[Version]) -> EnvError:
    """The error of a library of which the index has only these versions, the newest first."""
    name, version = _parts(requirement)
    if versions:
        return _error(requirement, f"the package index has no {name} {version}", _other_versions(version, list(map(str, versions))))
    near = get_close_matches(name, {each.rpartition("-")[0] for each in _unpacked()})
    hint = f"Did you mean {near[0]}?" if near else "Is the name what the package index calls it?"
    return _error(requirement, f"the package index has no {name}", hint)


def _error(requirement: str, why: str, hint: str) -> EnvError:
    return EnvError(f"{requirement} cannot be had: {why}", hint=hint)


def _unreachable() -> str:
    here = _unpacked()
    hint = "Is the package index reachable? What was unpacked before works without it"
    return f"{hint}: {', '.join(here)}." if here else f"{hint}."


def _other_versions(version: str, versions: list[str]) -> str:
    near = get_close_matches(version, versions, n=1)
    said = f"{', '.join(versions[:_NAMED])}{', …' if len(versions) > _NAMED else ''}"
    return f"{f'Did you mean {near[0]}? ' if near else ''}It has {said}."


def _unpacked() -> list[str]:
    """What is there, by name and version."""
    folder = env_cache().folder / "libraries"
    return sorted(each.name for each in folder.glob("[!.]*") if (each / LIBRARY).is_file())


def _listed(name: str, environ: Mapping[str, str]) -> tuple[File, ...] | None:
    """The files that the index and folders of wheels have of a library; ``None`` where the index is not asked.

    Raises IndexUnavailable where it does not answer.
    """
    index, *folders = index_urls(environ)
    here = [path for folder in folders for path in sorted(Path(folder).absolute().glob("*")) if path.is_file()]
    files = tuple(File(filename=path.name, url=path.as_uri()) for path in here if path.name.lower().startswith(name[:1]))
    if any(environ.get(variable) for variable in NO_INDEX):
        return files or None
    from compat.envs.index import ask  # and with it all of HTTP

    return (*files, *(file for file in ask(index, name) if not file.yanked))
