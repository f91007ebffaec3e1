"""Packages without their dependencies, each in a folder of its own for ``sys.path``.

They are libraries with kernels, and *overlays*: releases that replace an env's release.

::

    ~/.cache/triton-compat/envs/
        libraries/liger-kernel-0.6.4/       on the path while one of its kernels is compiled
        overlays/triton-3.6.0-cp311/        a release and its dependencies, before those of an env

With overlays, one env with a framework, which is large, serves every release. Two kernel files may
use two versions of a library, because no env contains the library. Existing folders need no request
to an index, so they work without a network. If the installer cannot build a library, this module
unpacks the Python files of its source distribution, because a kernel only needs its source text.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from attrs import frozen
from packaging.utils import canonicalize_name
from packaging.version import Version

from compat.archives import ArchiveLimits, BadArchive, read_tar, read_zip
from compat.envs import locks
from compat.envs.cache import EnvCache, env_cache
from compat.envs.installers import InstallFailed, install_into, lock_line
from compat.envs.listing import NO_INDEX, File, index_urls, parse_filename
from compat.errors import EnvError, IndexUnavailable
from compat.files import content_of, replace_file
from compat.source.closure import LIBRARY
from compat.text import lazy_pattern, text_digest

_log = logging.getLogger(__name__)
_NAMED = 8
"""The most versions that an error names."""
_DEADLINE = 300.0
"""Seconds that the installation of a library may take."""
_QUOTED = 600
"""Characters of an installer's output in an error."""
_NAME = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_REQUIREMENT = lazy_pattern(
    r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*==\s*([A-Za-z0-9.!+_-]+)\s*"
)


def is_pinned(requirement: str) -> bool:
    """Whether a requirement names one version of a library."""
    return _REQUIREMENT.fullmatch(requirement) is not None


def unpack_library(requirement: str, hashes: Sequence[str] = ()) -> Path:
    """Return the folder of a pinned library (``liger-kernel==0.6.4``), unpacked if missing.

    If the library is locked, ``hashes`` has the SHA-256 of the files that may be installed. It has
    a folder of its own then, because another project may have unpacked another file. Raises
    EnvError if the library cannot be installed or downloaded.
    """
    name, version = _parts(requirement)
    lock = f"-{text_digest(''.join(hashes))[:8]}" if hashes else ""
    folder = env_cache().folder / "libraries" / f"{name}-{version}{lock}"
    if not (folder / LIBRARY).is_file():
        _fetch(requirement, folder, hashes)
    return Path(os.path.realpath(folder))


def normal(requirement: str) -> str:
    """Return a pinned requirement in the form of locks: ``liger-kernel==0.6.4``."""
    return "==".join(_parts(requirement))


def _parts(requirement: str) -> tuple[str, str]:
    """Return the name, in the form in which the package index compares names, and the version."""
    match = _REQUIREMENT.fullmatch(requirement)
    assert match is not None, "a library needs a version"
    return canonicalize_name(match[1]), match[2]


def _fetch(requirement: str, folder: Path, hashes: Sequence[str]) -> None:
    def install(making: Path) -> None:
        _install(requirement, making, hashes)
        replace_file(making / LIBRARY, json.dumps({"requirement": requirement}))

    with EnvError.for_os_errors(f"cannot unpack {requirement}", where=folder):
        _make(folder, (folder / LIBRARY).is_file, install)


def _make(folder: Path, is_whole: Callable[[], bool], fill: Callable[[Path], None]) -> None:
    """Create a folder that is missing or incomplete. Only one process does so at a time.

    ``fill`` gets a temporary folder beside it, which then takes its place. Raises OSError, and the
    errors of ``fill``.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locks.exclusive(folder.with_name(f".{folder.name}.lock")):
        if is_whole():
            return
        making = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
        try:
            fill(making)
            making.chmod(0o755)
            shutil.rmtree(folder, ignore_errors=True)
            making.rename(folder)
        finally:
            shutil.rmtree(making, ignore_errors=True)


def _install(requirement: str, target: Path, hashes: Sequence[str]) -> None:
    """Let the installer install a library into a folder, or else unpack its sources.

    Raises EnvError with the installer's message if both fail.
    """
    lock = [lock_line(normal(requirement), hashes)] if hashes else []
    try:
        install_into(target, [requirement], sys.executable, deadline=_DEADLINE, lock=lock)
    except InstallFailed as error:
        reason = last_lines(str(error))
    except TimeoutError:
        reason = f"the installer did not end within {_DEADLINE:g} s"
    else:
        return
    _log.info("%s: the installer says: %s", requirement, reason)
    _unpack_sources(requirement, reason, target, hashes)


def last_lines(text: str) -> str:
    """Return the last lines of an installer's output, joined into one line.

    It has at most :data:`_QUOTED` characters of whole lines, and at least the last line.
    """
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    tail = lines[-1:]
    for line in reversed(lines[:-1]):
        if sum(map(len, (line, *tail))) > _QUOTED:
            break
        tail.insert(0, line)
    return " ".join(tail)


def _unpack_sources(requirement: str, reason: str, target: Path, hashes: Sequence[str]) -> None:
    """Unpack the Python files of a library that the installer could not install.

    ``reason`` is the installer's message. Raises EnvError if the index does not answer or lacks the
    library, the version, or a source distribution of it.
    """
    name, version = _parts(requirement)
    try:
        files = _available_files(name)
        if files is None:
            raise _error(requirement, reason, _unreachable())
        versions = {release for file in files if (release := version_of(file.filename, name))}
        if Version(version) not in versions:
            raise _absent(requirement, sorted(versions, reverse=True))
        if any(
            unpack_python(file, name, target, hashes)
            for file in files
            if version_of(file.filename, name) == Version(version)
        ):
            _log.info("%s: the Python files of its source distribution are unpacked", requirement)
            return
    except IndexUnavailable as error:
        raise _error(requirement, str(error), _unreachable()) from error
    hint = (
        "matrix.lock has the hashes of other files. Lock it again with `compat envs lock` if you"
        " trust the files of today."
        if hashes
        else "The package index has it, but no source distribution that could replace the wheel."
        " Try another version."
    )
    raise _error(requirement, reason, hint)


def _absent(requirement: str, versions: Sequence[Version]) -> EnvError:
    """Return the error for a version that is not among the index's ``versions``, newest first."""
    name, version = _parts(requirement)
    if versions:
        return _error(
            requirement,
            f"the package index has no {name} {version}",
            _other_versions(version, list(map(str, versions))),
        )
    near = get_close_matches(
        name, {library.rpartition("-")[0] for library in _unpacked_libraries()}
    )
    hint = f"Did you mean {near[0]}?" if near else "Check its name on the package index."
    return _error(requirement, f"the package index has no {name}", hint)


def _error(requirement: str, why: str, hint: str) -> EnvError:
    return EnvError(f"cannot install {requirement}: {why}", hint=hint)


def _unreachable() -> str:
    here = _unpacked_libraries()
    hint = (
        "Check that this machine reaches the package index. Libraries that were unpacked before"
        " work without it"
    )
    return f"{hint}: {', '.join(here)}." if here else f"{hint}."


def _other_versions(version: str, versions: list[str]) -> str:
    near = get_close_matches(version, versions, n=1)
    listed = f"{', '.join(versions[:_NAMED])}{', …' if len(versions) > _NAMED else ''}"
    return f"{f'Did you mean {near[0]}? ' if near else ''}It has {listed}."


def released_versions(name: str) -> tuple[Version, ...]:
    """The versions of a library in the package index, the newest first.

    Raises:
        IndexUnavailable: The index does not answer.
        EnvError: The index is not asked, or has no such library.
    """
    files = _available_files(name)
    if files is None:
        raise EnvError(f"cannot list the versions of {name}: the package index is not asked")
    versions = {version for file in files if (version := version_of(file.filename, name))}
    if not versions:
        raise EnvError(f"the package index has no {name}")
    return tuple(sorted(versions, reverse=True))


def newest_of_minors(versions: Iterable[Version], count: int) -> tuple[Version, ...]:
    """The newest release of each of the newest minor versions, the newest first.

    Prereleases do not count, unless a library has nothing else.
    """
    every = set(versions)
    final = {version for version in every if not version.is_prerelease} or every
    minors: dict[tuple[int, int, int], list[Version]] = defaultdict(list)
    for version in final:
        minors[version.epoch, version.major, version.minor].append(version)
    return tuple(max(minors[minor]) for minor in sorted(minors, reverse=True)[:count])


def _unpacked_libraries() -> list[str]:
    """The unpacked libraries, by name and version."""
    folder = env_cache().folder / "libraries"
    return sorted(path.name for path in folder.glob("[!.]*") if (path / LIBRARY).is_file())


def _available_files(name: str) -> tuple[File, ...] | None:
    """Return the files of a library in the index and in folders of wheels.

    If a variable forbids requests to an index, only the folders count. Then it is ``None`` if they
    have no file. Raises IndexUnavailable if the index does not answer.
    """
    index, *folders = index_urls()
    here = [
        path
        for folder in folders
        for path in sorted(Path(folder).absolute().glob("*"))
        if path.is_file()
    ]
    files = tuple(
        File(filename=path.name, url=path.as_uri())
        for path in here
        if path.name.lower().startswith(name[:1])
    )
    if any(os.environ.get(variable) for variable in NO_INDEX):
        return files or None
    from compat.envs.index import ask  # a late import, because it loads Python's HTTP modules

    return (*files, *(file for file in ask(index, name) if not file.yanked))


_LARGEST = 16 * 1024 * 1024
"""The most bytes of :data:`_DONE` that are read."""
_LIMITS = ArchiveLimits(members=200_000, size=2 << 30)
"""The limits of a source distribution, even if only a part is unpacked."""
_TOP = "top_level.txt"
_NOT_INSTALLED = {
    "benchmark",
    "benchmarks",
    "doc",
    "docs",
    "example",
    "examples",
    "scripts",
    "test",
    "tests",
    "tools",
}
"""Folders beside the packages of a library that usually do not belong to it."""

_Files = Mapping[PurePosixPath, bytes]
"""The Python files of a distribution, by their paths below its folder."""


def version_of(filename: str, name: str) -> Version | None:
    """The version of a library's wheel or source distribution; ``None`` for other files."""
    parsed = parse_filename(filename)
    return parsed[1] if parsed is not None and parsed[0] == name else None


def unpack_python(file: File, name: str, target: Path, hashes: Sequence[str] = ()) -> bool:
    """Download a library's source distribution and unpack the Python files of its packages.

    Returns False if the file is a wheel or unreadable, has no Python files, or is not among
    ``hashes``. Empty ``hashes`` allow every file. Raises IndexUnavailable if it cannot be
    downloaded, OSError if the folder cannot be written.
    """
    if file.filename.endswith(".whl"):
        return False
    from compat.envs.index import download  # a late import: it loads Python's HTTP modules

    archive = download(file)
    if hashes and hashlib.sha256(archive).hexdigest() not in hashes:
        _log.info("%s: the lock has other hashes", file.filename)
        return False
    try:
        files, declared = _read_archive(file.filename, archive)
    except BadArchive as error:
        _log.info("%s: %s", file.filename, error)
        return False
    unpacked = False
    for package in declared or _guess_packages(files, name):
        for path, content in _of_package(files, package):
            place = target / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            unpacked = True
    return unpacked


def _read_archive(filename: str, archive: bytes) -> tuple[_Files, tuple[str, ...]]:
    """Return the Python files of an archive, and the packages that its ``top_level.txt`` declares.

    Raises BadArchive.
    """
    read = read_zip if filename.endswith(".zip") else read_tar
    files: dict[PurePosixPath, bytes] = {}
    declared: tuple[str, ...] = ()
    for full_path, content in read(archive, _LIMITS, _is_wanted).items():
        path = PurePosixPath(*full_path.parts[1:])
        if path.name == _TOP:
            declared = declared or tuple(content.decode(errors="replace").split())
        elif path.parts:
            files[path] = content
    return files, tuple(package for package in declared if package.isidentifier())


def _is_wanted(name: str) -> bool:
    return name.endswith((".py", f".egg-info/{_TOP}"))


def _guess_packages(files: _Files, name: str) -> tuple[str, ...]:
    """Return the likely packages of a distribution that declares none."""
    own = name.replace("-", "_")
    if any(_of_package(files, own)):
        return (own,)
    depths = {("src",): 3, (): 2}
    tops = {
        path.parts[-2]
        for path in files
        if path.name == "__init__.py" and depths.get(path.parts[:-2]) == len(path.parts)
    }
    return tuple(sorted(tops - _NOT_INSTALLED))


def _of_package(files: _Files, package: str) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield the files of a package or module with their import paths.

    If several folders have that name, the least deep one counts.
    """
    parts = (package, f"{package}.py")
    parents = [
        path.parts[: path.parts.index(part)]
        for path in files
        for part in parts
        if part in path.parts
    ]
    parents = [parent for parent in parents if not _NOT_INSTALLED.intersection(parent)]
    if not parents:
        return
    depth = min(map(len, parents))
    above = next(parent for parent in parents if len(parent) == depth)
    for path, content in files.items():
        if path.parts[:depth] == above and path.parts[depth] in parts:
            yield PurePosixPath(*path.parts[depth:]), content


# --- overlays: releases that replace an env's release ---------------------------------------------

_DONE = "overlay.txt"
"""The file that marks a complete folder and lists its content, one requirement a line."""
_OVERLAY_DEADLINE = 600.0
"""Seconds that an installer may take."""


@frozen(kw_only=True)
class Overlay:
    """A release in a folder that comes before an env's packages on ``sys.path``."""

    folder: Path
    digest: str
    """One hash over all distributions in it."""


def overlaid(
    requirements: Sequence[str],
    python: str,
    python_version: str,
    cache: EnvCache,
    lock: Sequence[str] = (),
) -> Overlay:
    """Return the overlay with these requirements for an interpreter, installed if missing.

    The first requirement is the release. ``lock`` is the lock of the release's env, if it has one.
    Raises EnvError with the installer's message.
    """
    locked = _of_requirements(lock, requirements)
    minor = "".join(python_version.split(".")[:2])
    name = f"{re.sub(r'[^A-Za-z0-9.]+', '-', requirements[0])}-cp{minor}"
    folder = cache.folder / "overlays" / name
    marker_text = "".join(f"{requirement}\n" for requirement in locked or requirements)

    def is_whole() -> bool:
        return content_of(folder / _DONE, _LARGEST) == marker_text.encode()

    def install(making: Path) -> None:
        _install_overlay(requirements, making, python, locked)
        replace_file(making / _DONE, marker_text)

    if not is_whole():
        with EnvError.for_os_errors(f"cannot install {requirements[0]}", where=folder):
            _make(folder, is_whole, install)
    return Overlay(folder=folder, digest=_digest(folder))


def _of_requirements(lock: Sequence[str], requirements: Sequence[str]) -> list[str]:
    """Return the lines of a lock for these requirements, without those for their dependencies."""
    names = {_name_of(text) for text in requirements} if lock else set()
    return [line for line in lock if _name_of(line) in names]


def _name_of(requirement: str) -> str:
    """Return the distribution's name in a requirement; empty for a ``file:`` URL."""
    match = None if requirement.startswith("file:") else _NAME.match(requirement)
    return canonicalize_name(match[0]) if match else ""


def _install_overlay(
    requirements: Sequence[str], target: Path, python: str, lock: Sequence[str]
) -> None:
    try:
        install_into(target, requirements, python, deadline=_OVERLAY_DEADLINE, lock=lock)
    except TimeoutError:
        hint = "Check that this machine reaches the package index."
        raise EnvError(
            f"cannot install {requirements[0]}: the installer did not end within"
            f" {_OVERLAY_DEADLINE:g} s",
            hint=hint,
        ) from None
    except InstallFailed as error:
        raise EnvError(
            f"cannot install {requirements[0]}: {' '.join(str(error).split())[-600:]}"
        ) from None


def _digest(folder: Path) -> str:
    """Return a hash over the RECORD of each distribution, which has the hashes of its files."""
    records = sorted(folder.glob("*.dist-info/RECORD"))
    return hashlib.sha256(
        b"".join(hashlib.sha256(path.read_bytes()).digest() for path in records)
    ).hexdigest()
