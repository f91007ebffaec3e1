"""The files of a distribution in package indexes and folders of wheels (pip's ``--find-links``).

Answers of an index (:mod:`compat.envs.index`) are valid for an hour, and are stored on disk. If the
index does not answer, an older answer replaces it, with a note.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from attrs import field, frozen
from packaging.specifiers import SpecifierSet
from packaging.tags import Tag, compatible_tags, cpython_tags, platform_tags
from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

from compat.errors import IndexUnavailable
from compat.files import replace_file
from compat.model import Env
from compat.text import JsonObject, lazy_pattern, printable, read_json

_log = logging.getLogger(__name__)

INDEX = Path(".compat", "index")
"""The folder for answers of package indexes, below the root of the project."""
NO_INDEX = ("UV_OFFLINE", "UV_NO_INDEX", "PIP_NO_INDEX")
"""Variables that forbid installers to ask an index."""
_FURTHER = ("UV_INDEX", "UV_EXTRA_INDEX_URL", "PIP_EXTRA_INDEX_URL")
MAX_AGE = 3600.0
"""Seconds during which an answer of the index is valid."""
_NAMED_INDEX = lazy_pattern(r"^[\w.-]+=(?=\w+://)")
"""The name that uv accepts before the URL of an index: ``company=https://…/simple``."""
_PASSWORD = lazy_pattern(r"(?<=://)[^/?#]*@")


def index_urls(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the index that installers use, and then the additional folders of wheels.

    ``PIP_FIND_LINKS`` and ``UV_FIND_LINKS`` name the folders.
    """
    names = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")
    index = next((environ[name] for name in names if environ.get(name)), "https://pypi.org/simple")
    index = _NAMED_INDEX.sub("", index)
    links = [
        environ.get(name, "").replace(",", " ").split()
        for name in ("UV_FIND_LINKS", "PIP_FIND_LINKS")
    ]
    folders = (
        link for texts in links for link in texts if "://" not in link and Path(link).is_dir()
    )
    return tuple(dict.fromkeys((index, *folders)))


def has_further_indexes() -> bool:
    """Whether a variable names further indexes, which only installers ask."""
    return any(os.environ.get(name) for name in _FURTHER)


def list_files(
    distribution: str,
    sources: Sequence[str],
    *,
    cache: Path,
    needs: Version | None = None,
    now: float | None = None,
) -> Listing:
    """Return the files of a distribution in all sources: URLs of indexes, or folders of wheels.

    A stored answer without the release ``needs`` is not used, since the release may be younger than
    the answer. Raises IndexUnavailable if a source does not answer and has no stored answer.
    """
    now = time.time() if now is None else now
    distribution = canonicalize_name(distribution)
    notes: list[str] = []

    def ask(source: str) -> Sequence[File]:
        files, note = _obtain_files(distribution, source, cache, needs, now)
        notes.extend([note] if note else [])
        return files

    return Listing(files=_of_sources(distribution, sources, ask), notes=tuple(notes))


def ask_index(
    distribution: str, *, cache: Path, environ: Mapping[str, str] = os.environ
) -> Listing | None:
    """Ask the index that installers use for the files of a distribution, and store the answer.

    Returns ``None`` without a request if a variable forbids requests, the index is local, or a
    folder of wheels has the distribution. Raises IndexUnavailable if the index does not answer.
    """
    distribution = canonicalize_name(distribution)
    index, *folders = index_urls(environ)
    remote = (
        "://" in index
        and not index.startswith("file:")
        and not any(environ.get(name) for name in NO_INDEX)
    )
    if remote and not any(_folder(Path(folder), distribution) for folder in folders):
        return Listing(files=_ask(distribution, index, cache, time.time()))
    return None


def comes_from_index(env: Env) -> bool:
    """Whether an env's toolchain comes from the index that installers use, and nowhere else."""
    return env.wheel is None and env.index is None


def kept_files(distribution: str, sources: Sequence[str], *, cache: Path) -> Listing:
    """Return the files in the stored answers of these sources, however old. Asks no index.

    Folders of wheels are read.
    """
    distribution = canonicalize_name(distribution)
    files = _of_sources(
        distribution,
        sources,
        lambda source: read_kept_files(cache, distribution, source, 0.0)[0] or (),
    )
    return Listing(files=files)


def _of_sources(
    distribution: str, sources: Sequence[str], ask: Callable[[str], Sequence[File]]
) -> tuple[File, ...]:
    """Return the files of indexes, from ``ask``, and of folders of wheels.

    If a name appears twice, the first file counts.
    """
    files: dict[str, File] = {}
    for source in sources:
        for file in ask(source) if "://" in source else _folder(Path(source), distribution):
            files.setdefault(file.filename, file)
    return tuple(files.values())


# --- asking ---------------------------------------------------------------------------------------


def _obtain_files(
    distribution: str, source: str, cache: Path, needs: Version | None, now: float
) -> tuple[tuple[File, ...], str | None]:
    cached_files, age = read_kept_files(cache, distribution, source, now)
    if (
        cached_files is not None
        and age < MAX_AGE
        and (needs is None or Listing(files=cached_files).pythons_for(needs))
    ):
        return cached_files, None
    try:
        files = _ask(distribution, source, cache, now)
    except IndexUnavailable as error:
        if cached_files is None:
            raise
        _log.info("%s", error)
        return cached_files, f"{error}; using its answer from {age_phrase(age)}"
    return files, None


def _ask(distribution: str, source: str, cache: Path, now: float) -> tuple[File, ...]:
    from compat.envs.index import ask

    files = ask(source, distribution)
    keep_files(cache, distribution, source, files, now)
    return files


def _folder(folder: Path, distribution: str) -> tuple[File, ...]:
    files = (
        File(filename=path.name, uploaded=path.stat().st_mtime)
        for path in sorted(folder.glob("*.whl"))
        if path.is_file()
    )
    return tuple(
        file for file in files if canonicalize_name(file.filename.partition("-")[0]) == distribution
    )


# --- stored answers -------------------------------------------------------------------------------


def _answers_file(cache: Path, distribution: str) -> Path:
    return cache / f"{distribution}.json"


def read_kept_files(
    cache: Path, distribution: str, source: str, now: float
) -> tuple[tuple[File, ...] | None, float]:
    """Return a source's stored files, and their age in seconds.

    The files are ``None`` if there is no usable answer.
    """
    try:
        answer = _answers(cache, distribution)[without_password(source)]
        listed = (
            file_of(name, pythons, yanked, *uploaded[:1])
            for name, pythons, yanked, *uploaded in answer["files"]
        )
        return tuple(file for file in listed if file is not None), max(
            0.0, now - float(answer["asked"])
        )
    except (KeyError, TypeError, ValueError, OverflowError):
        return None, 0.0


def without_password(source: str) -> str:
    """The URL of an index without ``user:password@``, for files that other users may read."""
    return _PASSWORD.sub("", source, count=1)


def _answers(cache: Path, distribution: str) -> JsonObject:
    try:
        answers = read_json(_answers_file(cache, distribution).read_bytes())
    except (OSError, ValueError):
        return {}
    return answers if isinstance(answers, dict) else {}


def keep_files(
    cache: Path, distribution: str, source: str, files: tuple[File, ...], now: float
) -> None:
    """Store the listing of a distribution in the cache, with the time of the answer.

    It has no effect if nothing can be written.
    """
    answers = _answers(cache, distribution)
    answers[without_password(source)] = {
        "asked": now,
        "files": [[f.filename, f.requires_python, f.yanked, f.uploaded] for f in files],
    }
    with suppress(OSError):  # it saves a second; without it, the next command asks the index again
        replace_file(_answers_file(cache, distribution), json.dumps(answers))


def age_phrase(seconds: float) -> str:
    """Return an age in words, such as ``3 days ago``."""
    hours = seconds / 3600
    if hours >= 48:
        return f"{hours / 24:.0f} days ago"
    return f"{hours:.0f} hours ago" if hours >= 1 else "within the last hour"


Minor = tuple[int, int]
"""A version of Python as wheels and executables name it: ``(3, 11)``."""

_LONGEST_NAME = 400
"""Characters of a file name; file systems take 255 bytes."""
_LATEST = 1e11
"""The limit of plausible times, in seconds since 1970: some thousand years."""

MINORS: tuple[Minor, ...] = tuple((3, minor) for minor in range(8, 21))
"""The Pythons that an env may have. The worker runs on 3.8 and later."""


@frozen(kw_only=True)
class File:
    """One file of a distribution, as the index lists it."""

    filename: str
    requires_python: str | None = None
    yanked: bool = False
    uploaded: float | None = field(default=None, eq=False)
    """Upload time in seconds since 1970; ``None`` if the source does not give it."""
    url: str = field(default="", eq=False)
    """The URL of the download, with its hash as fragment (``#sha256=…``); empty in stored answers.
    """


def file_of(
    filename: object,
    requires_python: object,
    yanked: object,
    uploaded: object = None,
    url: str = "",
) -> File | None:
    """Return a file from the untrusted values of a list.

    Returns ``None`` if the name is not a valid file name.
    """
    if (
        not isinstance(filename, str)
        or not 0 < len(filename) <= _LONGEST_NAME
        or printable(filename) != filename
    ):
        return None
    pythons = (
        requires_python
        if isinstance(requires_python, str) and len(requires_python) <= _LONGEST_NAME
        else None
    )
    seconds = (
        float(uploaded) if isinstance(uploaded, int | float) and abs(uploaded) < _LATEST else None
    )
    return File(
        filename=filename, requires_python=pythons, yanked=bool(yanked), uploaded=seconds, url=url
    )


@frozen(kw_only=True)
class Listing:
    """The files of a distribution that one or more sources have."""

    files: tuple[File, ...]
    notes: tuple[str, ...] = ()
    """Notes for the user, such as that the index does not answer, and the stored answer's age."""

    def versions(self) -> tuple[Version, ...]:
        """Every version that has a wheel for some platform and is not withdrawn, oldest first."""
        return tuple(
            sorted({wheel[0] for file in self.files if not file.yanked and (wheel := _wheel(file))})
        )

    def around(self, release: Version) -> tuple[Version, ...] | None:
        """Return the nearest final releases before and after a release without files.

        Returns ``None`` if that release has a file, withdrawn or not.
        """
        of_files = {parsed[1] for file in self.files if (parsed := parse_filename(file.filename))}
        if release in of_files:
            return None
        final = sorted(version for version in of_files if not version.is_prerelease)
        older, newer = (
            [version for version in final if (version < release) is before]
            for before in (True, False)
        )
        return (*older[-1:], *newer[:1])

    def upload_day(self, release: Version) -> date | None:
        """Return the day of the first upload of a release's wheels; ``None`` if it is unknown."""
        times = (
            file.uploaded
            for file in self.files
            if (wheel := _wheel(file)) and wheel[0] == release and file.uploaded is not None
        )
        first = min(times, default=None)
        return None if first is None else datetime.fromtimestamp(first, UTC).date()

    def pythons_for(self, release: Version | None) -> frozenset[Minor]:
        """Return the Pythons for which that release has a wheel for this platform.

        ``None`` means the newest release. Withdrawn wheels count, as they do for installers if the
        requirement names the exact version. The set is empty if there is no such wheel.
        """
        if release is None:
            versions = [
                version for version in self.versions() if not version.is_prerelease
            ] or list(self.versions())
            if not versions:
                return frozenset()
            release = versions[-1]
        exactly = SpecifierSet(f"=={release}")
        pythons: set[Minor] = set()
        for file in self.files:
            wheel = _wheel(file)
            if wheel and exactly.contains(wheel[0], prereleases=True):
                pythons |= pythons_of(wheel[1], file.requires_python)
        return frozenset(pythons)


def wheel_facts(wheel: str) -> tuple[str, Version, frozenset[Tag]]:
    """Distribution, version and tags in the file name of a wheel, which is a path or a URL.

    Raises InvalidWheelFilename.
    """
    path = unquote(urlsplit(wheel).path) if "://" in wheel else wheel
    name, version, _, tags = parse_wheel_filename(Path(path).name)
    return name, version, tags


def pythons_of(tags: Iterable[Tag], requires_python: str | None = None) -> frozenset[Minor]:
    """The Pythons that run wheels of these tags on this platform.

    Free-threaded builds are not considered.
    """
    tags = frozenset(tags)
    return frozenset(
        minor
        for minor in MINORS
        if allows(requires_python, minor) and not tags.isdisjoint(_supported_tags(minor))
    )


def allows(specifier: SpecifierSet | str | None, minor: Minor) -> bool:
    """Whether a specifier of Python versions admits some patch release of ``minor``.

    An unreadable specifier admits all.
    """
    if not isinstance(specifier, SpecifierSet):
        try:
            specifier = SpecifierSet(specifier or "")
        except ValueError:  # InvalidSpecifier is one
            return True
    # An executable's name does not tell the patch release. The first patch release tests specifiers
    # such as "<=3.12", the last one such as ">=3.11.4", and those that it names such as "==3.11.4".
    series = f"{minor[0]}.{minor[1]}"
    named = (part.version for part in specifier if part.operator != "===")
    patches = (text for text in named if text.startswith(f"{series}.") and text[-1] != "*")
    return any(
        specifier.contains(patch, prereleases=True) for patch in (series, f"{series}.99", *patches)
    )


def parse_filename(filename: str) -> tuple[str, Version] | None:
    """Distribution and version of a wheel or source distribution; ``None`` for other files."""
    parse = parse_wheel_filename if filename.endswith(".whl") else parse_sdist_filename
    # Invalid names and versions are ValueErrors. Python raises another one for a number with too
    # many digits.
    try:
        distribution, version, *_ = parse(filename)
    except ValueError:
        return None
    return distribution, version


def _wheel(file: File) -> tuple[Version, frozenset[Tag]] | None:
    with suppress(ValueError):  # as in parse_filename
        _, version, _, tags = parse_wheel_filename(file.filename)
        return version, tags
    return None


@cache
def _supported_tags(minor: Minor) -> frozenset[Tag]:
    platforms = list(platform_tags())
    abi = f"cp{minor[0]}{minor[1]}"
    tags = (
        *cpython_tags(minor, abis=[abi], platforms=platforms),
        *compatible_tags(minor, abi, platforms),
    )
    return frozenset(tags)
