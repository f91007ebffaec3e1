"""Libraries of the package index in several versions, as ``--package`` names them: ``fla-core==0.4.0,0.6.0``."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from compat.errors import SelectionError
from compat.patterns import lazy_pattern

OPTION = "--package"
_NAME = lazy_pattern(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_HINT = "Say a name and versions: fla-core==0.4.0,0.6.0."


@frozen(kw_only=True, order=False)
class LibraryVersions:
    """One version of a library."""

    name: str
    """As the package index compares names: ``fla-core``."""
    version: str

    @property
    def requirement(self) -> str:
        """As kernel files and installers write it: ``fla-core==0.6.0``."""
        return f"{self.name}=={self.version}"

    @property
    def variant(self) -> str:
        """What the variant of a kernel is called that is written as this version has it: ``fla-core-0.6.0``."""
        return f"{self.name}-{self.version}"

    @classmethod
    def of(cls, requirement: str) -> LibraryVersions | None:
        """The library that a requirement names with its version; ``None`` for any other requirement."""
        name, equal, version = (part.strip() for part in requirement.partition("=="))
        return cls(name=canonicalize_name(name.partition("[")[0]), version=version) if equal and name else None


def libraries_named(texts: Sequence[str]) -> tuple[LibraryVersions, ...]:
    """The libraries that these texts mean, each once: a name with versions, further versions and names after commas.

    Raises SelectionError.
    """
    libraries: dict[LibraryVersions, None] = {}
    for text in texts:
        name = ""
        for word in filter(None, (part.strip() for part in text.split(","))):
            before_equal, equal, version = (part.strip() for part in word.partition("=="))
            if equal:
                name = _name(before_equal, text)
            elif not name:
                raise SelectionError(f"{before_equal!r} has no version", where=f"{OPTION} {text}", hint=_HINT)
            libraries[LibraryVersions(name=name, version=_version(version if equal else before_equal, text))] = None
    return tuple(libraries)


def _name(word: str, text: str) -> str:
    if not _NAME.fullmatch(word):
        raise SelectionError(f"{word!r} is not the name of a package", where=f"{OPTION} {text}", hint=_HINT)
    return canonicalize_name(word)


def _version(word: str, text: str) -> str:
    try:
        return str(Version(word))
    except InvalidVersion:
        raise SelectionError(f"{word!r} is not a version", where=f"{OPTION} {text}", hint=_HINT) from None
