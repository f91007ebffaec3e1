"""The releases of a distribution: which wheels there are, and which Pythons on this machine's platform they suit.

Where the file names come from (a package index, a folder of wheels) is :mod:`compat.envs.listing`'s business.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from attrs import field, frozen
from packaging.specifiers import SpecifierSet
from packaging.tags import Tag, compatible_tags, cpython_tags, platform_tags
from packaging.utils import InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

from compat.printable import printable

Minor = tuple[int, int]
"""A version of Python as wheels and executables name it: ``(3, 11)``."""

_LONGEST_NAME = 400
"""Characters of a file name; file systems take 255 bytes."""
_LATEST = 1e11
"""Seconds since 1970 that a clock may show: some thousand years."""

MINORS: tuple[Minor, ...] = tuple((3, minor) for minor in range(8, 21))
"""The Pythons that are considered at all: the worker runs on 3.8 and later."""


@frozen(kw_only=True)
class File:
    """One file of a distribution, as the index lists it."""

    filename: str
    requires_python: str | None = None
    yanked: bool = False
    uploaded: float | None = field(default=None, eq=False)
    """When it came there, in seconds since 1970, where the source tells."""
    url: str = field(default="", eq=False)
    """Where it can be downloaded, with its hash as fragment (``#sha256=…``); empty in answers that were kept."""


def file_of(filename: object, requires_python: object, yanked: object, uploaded: object = None, url: str = "") -> File | None:
    """A file as somebody lists it, who may say anything; ``None`` where it has no name that a file can have."""
    if not isinstance(filename, str) or not 0 < len(filename) <= _LONGEST_NAME or printable(filename) != filename:
        return None
    pythons = requires_python if isinstance(requires_python, str) and len(requires_python) <= _LONGEST_NAME else None
    seconds = float(uploaded) if isinstance(uploaded, int | float) and abs(uploaded) < _LATEST else None
    return File(filename=filename, requires_python=pythons, yanked=bool(yanked), uploaded=seconds, url=url)


@frozen(kw_only=True)
class Listing:
    """The files of a distribution that one or more sources have."""

    distribution: str
    files: tuple[File, ...]
    notes: tuple[str, ...] = ()
    """What a reader should know of this answer: that the index is down, and how old what is used instead is."""

    def versions(self) -> tuple[Version, ...]:
        """Every version that has a wheel for some platform and is not withdrawn, oldest first."""
        return tuple(sorted({wheel[0] for file in self.files if not file.yanked and (wheel := _wheel(file))}))

    def around(self, release: Version) -> tuple[Version, ...] | None:
        """``None`` where some file is of that release, withdrawn or not; else the final releases on both sides of it."""
        of_files = {version for file in self.files if (version := _version(file))}
        if release in of_files:
            return None
        final = sorted(version for version in of_files if not version.is_prerelease)
        older, newer = ([each for each in final if (each < release) is before] for before in (True, False))
        return (*older[-1:], *newer[:1])

    def pythons_for(self, release: Version | None) -> frozenset[Minor]:
        """The Pythons for which this platform has a wheel of that release (of the newest one, if it is ``None``).

        Withdrawn wheels count, as they do for installers where a version is asked for exactly. Empty: there is no such wheel.
        """
        if release is None:
            versions = [version for version in self.versions() if not version.is_prerelease] or list(self.versions())
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
    """Distribution, version and tags that the file name of a wheel states. Raises InvalidWheelFilename."""
    name, version, _, tags = parse_wheel_filename(Path(unquote(urlsplit(wheel).path)).name)
    return name, version, tags


def pythons_of(tags: Iterable[Tag], requires_python: str | None = None) -> frozenset[Minor]:
    """The Pythons that run wheels of these tags on this platform. Free-threaded builds are not considered."""
    tags = frozenset(tags)
    return frozenset(minor for minor in MINORS if allows(requires_python, minor) and not tags.isdisjoint(_supported(minor)))


def allows(specifier: SpecifierSet | str | None, minor: Minor) -> bool:
    """Whether a specifier of Python versions admits some patch release of ``minor``; what cannot be read, admits all."""
    if not isinstance(specifier, SpecifierSet):
        try:
            specifier = SpecifierSet(specifier or "")
        except ValueError:  # InvalidSpecifier is one
            return True
    # The patch release is not known from an executable's name: the first one stands for "<=3.12", the last for ">=3.11.4".
    return any(specifier.contains(f"{minor[0]}.{minor[1]}{patch}", prereleases=True) for patch in ("", ".99"))


def _version(file: File) -> Version | None:
    """The version of a wheel, or of an archive of sources."""
    try:
        return wheel[0] if (wheel := _wheel(file)) else parse_sdist_filename(file.filename)[1]
    except ValueError:  # InvalidSdistFilename is one
        return None


def _wheel(file: File) -> tuple[Version, frozenset[Tag]] | None:
    if not file.filename.endswith(".whl"):
        return None
    try:
        _, version, _, tags = parse_wheel_filename(file.filename)
    except (InvalidWheelFilename, ValueError):  # InvalidVersion is one, and a number with more digits than Python reads another
        return None
    return version, tags


_tags_of: dict[Minor, frozenset[Tag]] = {}


def _supported(minor: Minor) -> frozenset[Tag]:
    if minor not in _tags_of:
        platforms = list(platform_tags())
        abi = f"cp{minor[0]}{minor[1]}"
        tags = (*cpython_tags(minor, abis=[abi], platforms=platforms), *compatible_tags(minor, abi, platforms))
        _tags_of[minor] = frozenset(tags)
    return _tags_of[minor]
