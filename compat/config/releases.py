"""The envs that a release means: ``3.9``, ``3.5.1``, ``>=3.4``, ``newest``. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from compat.model import Env
from compat.text import group_by_key, lazy_pattern, split_at_commas

NEWEST = "newest"
"""The word for the newest final release."""

_OPERATOR = lazy_pattern(r"\s*(===|==|~=|!=|<=|>=|<|>)")
_SLIP = lazy_pattern(r"(?P<operator>[=<>!~≤≥^]*)\s*v?(?P<version>\d+(?:\.\d+)*)\s*(?P<after>\+?)")
_MEANT = {
    "=>": ">=",
    "=<": "<=",
    "≥": ">=",
    "≤": "<=",
    "+": ">=",
    "=": "==",
    "=!": "!=",
    "=~": "~=",
    "~": "~=",
    "^": "~=",
}
"""A text before or after a version that is not an operator → the intended operator."""
_NUMBER = lazy_pattern(r"v?\d+(\.\d+)*")
_WHOLE = 3
"""The count of numbers in a version that names one release. With fewer it names a series."""
_LONGEST = 200
"""The most characters of a release. Python may refuse to read the numbers of a longer text."""


def split_words(texts: Iterable[str]) -> list[str]:
    """The words of texts, in which commas separate words.

    Version specifiers side by side are one word. So ``3.1,>=3.4,<3.9`` has two: ``3.1`` and
    ``>=3.4,<3.9``.
    """
    parts: list[str] = []
    for text in texts:
        joins = False
        for part in split_at_commas([text]):
            specifies = _OPERATOR.match(part) is not None
            if specifies and joins:
                parts[-1] += f",{part}"
            else:
                parts.append(part)
            joins = specifies
    return parts


def envs_of(word: str, envs: Sequence[Env]) -> tuple[Env, ...]:
    """The envs of the releases that a word means, in the order of ``envs``; empty without any.

    If a release has several envs, the one without PyTorch is meant. Forks have no releases.
    """
    names: set[str] = set()
    for of_toolchain in _by_toolchain(envs).values():
        own = _representatives(of_toolchain)
        names.update(own[release].name for release in _chosen(word, sorted(own)))
    return tuple(env for env in envs if env.name in names)


def known_releases(envs: Sequence[Env]) -> tuple[Version, ...]:
    """The releases that a word without a toolchain can mean, in the order of the envs."""
    representatives = [
        _representatives(of_toolchain) for of_toolchain in _by_toolchain(envs).values()
    ]
    return tuple(
        dict.fromkeys(
            env.release
            for env in envs
            if env.release and any(env.release in own for own in representatives)
        )
    )


def _by_toolchain(envs: Sequence[Env]) -> dict[str, tuple[Env, ...]]:
    """Toolchain → its envs, for the toolchains that a word without a toolchain can mean."""
    # Importing all toolchains takes longer than most callers of this module run.
    from compat import toolchains

    by_name = group_by_key((env.toolchain, env) for env in envs)
    return {
        name: group for name, group in by_name.items() if not toolchains.look_up(name).only_named
    } or by_name


def whole_release(word: str) -> Version | None:
    """The release that a word names in full, known or not: ``3.5.1``, ``v3.5.1``, ``3.6.0rc1``."""
    try:
        version = Version(word) if len(word) <= _LONGEST and re.match(r"v?\d", word) else None
    # InvalidVersion is a ValueError. Python raises another for a number with too many digits.
    except ValueError:
        return None
    return version if version and len(version.release) >= _WHOLE else None


def is_one(word: str) -> bool:
    """Whether a word can only mean releases, known ones or not."""
    return word == NEWEST or bool(_OPERATOR.match(word) or re.match(r"v?\d", word))


def correct_specifier(text: str) -> str | None:
    """The specifier that a user probably meant, such as ``>=3.4`` for ``=>3.4`` or ``3.4+``.

    It is ``None`` if the text resembles none.
    """
    parts = (
        [_correct_part(part.strip()) for part in text.split(",")]
        if len(text) <= _LONGEST
        else [None]
    )
    corrected_text = ",".join(filter(None, parts))
    if None in parts or corrected_text == text.replace(" ", ""):
        return None
    try:
        SpecifierSet(corrected_text)  # packaging refuses "~=3"
    except InvalidSpecifier:
        return None
    return corrected_text


def _correct_part(part: str) -> str | None:
    """One part of a specifier, corrected if it is wrong."""
    if _OPERATOR.match(part):
        return part.replace(" ", "")
    match = _SLIP.fullmatch(part)
    operator = match and _MEANT.get(match["operator"] + match["after"])
    if not match or not operator:
        return None
    is_series = operator == "==" and match["version"].count(".") < _WHOLE - 1
    return f"{operator}{match['version']}{'.*' if is_series else ''}"


def _representatives(envs: Iterable[Env]) -> dict[Version, Env]:
    # Importing all toolchains takes longer than most callers of this module run.
    from compat import toolchains

    by_version: dict[Version, Env] = {}
    for env in sorted(envs, key=lambda env: env.has_framework):
        if env.release is not None and toolchains.is_release(env):
            by_version.setdefault(env.release, env)
    return by_version


def _chosen(word: str, releases: Sequence[Version]) -> Sequence[Version]:
    """The releases that a word means, of all releases, which are oldest first."""
    if word == NEWEST:
        return _newest(releases)
    if len(word) > _LONGEST:
        return ()
    try:
        if _OPERATOR.match(word) or word.endswith(".*"):
            specifier = SpecifierSet(
                word if _OPERATOR.match(word) else f"=={word.removeprefix('v')}"
            )
            # Only this reads the numbers in the specifier.
            return [
                version for version in releases if specifier.contains(version, prereleases=True)
            ]
        named = Version(word)
    except ValueError:  # InvalidSpecifier and InvalidVersion are some
        return ()
    if len(named.release) < _WHOLE and _NUMBER.fullmatch(word):
        series = named.release
        return _newest(
            [version for version in releases if version.release[: len(series)] == series]
        )
    return [release for release in releases if release == named]


def _newest(releases: Sequence[Version]) -> Sequence[Version]:
    final = [release for release in releases if not release.is_prerelease]
    return (final or releases)[-1:]
