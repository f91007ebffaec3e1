"""The releases that the package index has and that no declared env uses.

In: a project's config, and envs that choose toolchains, alone or with a framework. Out: a
:class:`NewRelease` for each, and :func:`add_releases` writes them into a file that declares envs.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

from attrs import frozen
from packaging.version import Version

from compat import toolchains
from compat.config.matrix import MatrixConfig
from compat.config.toml import parse_toml, read_toml
from compat.envs.installers import PinUnknown
from compat.envs.listing import INDEX, Listing, index_urls, list_files
from compat.errors import ConfigError, EnvError, StoreError
from compat.files import replace_file
from compat.model import Env
from compat.pairs.pairing import pin_of
from compat.text import JsonMapping
from compat.toolchains.base import Toolchain

_OF_ONE_RELEASE = ("name", "distribution", "wheel", "index", "install")
"""Keys of entries that hold for one release only."""
_BY_HAND = "Add the release to the file by hand."


@frozen(kw_only=True)
class NewRelease:
    """A release of a toolchain or a framework that no declared env uses."""

    env: Env
    """The env to test it in."""
    after: Env | None
    """The declared env of the release before it, with a framework if this one has a framework.
    ``None``: there is none.
    """
    published: date | None
    """The day of its first wheel. ``None``: the index does not say it."""


@frozen(kw_only=True)
class NewReleases:
    """The answer of :func:`new_releases`."""

    releases: tuple[NewRelease, ...]
    """Grouped by toolchain, oldest first."""
    notes: tuple[str, ...] = ()
    """Facts that a reader should know, such as that the index is down and an old answer was
    used.
    """


def new_releases(config: MatrixConfig, envs: Sequence[Env]) -> NewReleases:
    """Find the final releases that the package index has and that no declared env uses.

    For a framework, only releases after the newest declared one count.

    Args:
        config: The project. Its envs and the built-in ones are declared.
        envs: They choose the toolchains. An env without a framework asks for releases of its
            toolchain, and an env with a framework asks for releases of that.

    Raises:
        IndexUnavailable: The index does not answer, and no earlier answer is stored.
        EnvError: The release that a framework requires cannot be determined.
    """
    declared = (
        env for env in (*config.envs, *config.released, *envs) if toolchains.is_release(env)
    )
    declared_envs = tuple(dict.fromkeys(declared))
    kinds = dict.fromkeys(
        (env.toolchain, env.has_framework) for env in envs if env in declared_envs
    )
    releases: list[NewRelease] = []
    notes: list[str] = []
    for name, paired in kinds:
        toolchain = toolchains.look_up(name)
        alike = [
            env for env in declared_envs if (env.toolchain, env.has_framework) == (name, paired)
        ]
        distribution = toolchain.framework.name if paired else toolchain.distribution
        listing = list_files(distribution, index_urls(), cache=config.base / INDEX)
        notes += listing.notes
        versions = _unknown(listing, toolchain, alike, paired=paired)
        releases += _new(config, toolchain, versions, listing, alike, paired=paired)
    return NewReleases(releases=tuple(releases), notes=tuple(dict.fromkeys(notes)))


def _unknown(
    listing: Listing, toolchain: Toolchain, alike: Sequence[Env], *, paired: bool
) -> Iterator[Version]:
    """The final releases with a wheel for this platform that none of the envs has."""
    releases = (env.framework_release if paired else env.release for env in alike)
    known_versions = {version for version in releases if version is not None}
    first = max(known_versions) if paired else toolchain.oldest
    for version in listing.versions():
        final = not version.is_prerelease and not version.local
        if (
            final
            and version not in known_versions
            and (first is None or version >= first)
            and listing.pythons_for(version)
        ):
            yield version


def _new(
    config: MatrixConfig,
    toolchain: Toolchain,
    versions: Iterator[Version],
    listing: Listing,
    alike: Sequence[Env],
    *,
    paired: bool,
) -> Iterator[NewRelease]:
    for version in versions:
        name = _pair_name(config, toolchain, version) if paired else f"{toolchain.name}-{version}"
        if name is None:
            continue
        env = config.env(name)
        yield NewRelease(
            env=env,
            after=max(
                (one for one in alike if _order(one) < _order(env)), key=_order, default=None
            ),
            published=listing.upload_day(version),
        )


def _pair_name(config: MatrixConfig, toolchain: Toolchain, version: Version) -> str | None:
    """The name of the env with a release of the framework.

    ``None`` if that release requires no release of the toolchain.
    """
    framework = toolchain.framework.name
    try:
        pin = pin_of(config, version, toolchain)
    except PinUnknown as error:
        hint = "Check that this machine reaches the package index, and install uv."
        raise EnvError(str(error), hint=hint) from error
    return None if pin is None else f"{toolchain.name}-{pin}-{framework}-{version}"


def _order(env: Env) -> tuple[Version, Version]:
    """The sort key of envs: the release of the framework, if there is one, then the release."""
    release = env.release or Version("0")
    return env.framework_release or release, release


# --- declaring new releases -----------------------------------------------------------------------


def add_releases(path: Path, releases: Sequence[NewRelease]) -> tuple[NewRelease, ...]:
    """Add releases to the array ``env`` of a TOML file, one entry on a line.

    A new entry follows the newest entry of its toolchain, alone or with a framework, and differs
    from that only in its versions and its day. A file without such an entry gets none.

    Returns:
        The releases that were added.

    Raises:
        ConfigError: The file cannot be read, or that entry is not on a line of its own.
        StoreError: The file cannot be written.
    """
    read_toml(path, path.parent)  # reports errors of the file
    text = before = path.read_bytes().decode()  # with its line ends
    added = []
    for release in releases:
        entries = parse_toml(text.removeprefix("\ufeff"), str(path)).data.get("env", [])
        alike = [entry for entry in entries if _is_alike(entry, release.env)]
        if alike:
            newest = max(alike, key=lambda entry: _order_of(entry, release.env))
            text = _with_entry(text, newest, release, path)
            added.append(release)
    if text != before:
        with StoreError.for_os_errors("cannot be written", where=path):
            replace_file(Path(os.path.realpath(path)), text, keep_mode=True)
    return tuple(added)


def _is_alike(entry: Mapping[str, object], env: Env) -> bool:
    own = not any(key in entry for key in _OF_ONE_RELEASE)
    return own and env.toolchain in entry and (env.framework in entry) is env.has_framework


def _order_of(entry: JsonMapping, env: Env) -> Version:
    return Version(entry[env.framework if env.has_framework else env.toolchain])


def _with_entry(text: str, newest: Mapping[str, object], release: NewRelease, path: Path) -> str:
    """The text with an entry like the newest one, on the line after that."""
    lines = text.split("\n")  # other characters that end lines for Python end none in TOML
    number = next((at for at, line in enumerate(lines) if _entry_on(line) == newest), None)
    if number is None:
        name = f"the entry of {newest[release.env.toolchain]}"
        hint = 'Write it on one line, such as: { triton = "3.9.0", groups = ["releases"] },'
        raise ConfigError(f"{name} has no line of its own", where=str(path), hint=hint)
    env = release.env
    new_entry = {**newest, env.toolchain: str(env.release)}
    if env.has_framework:
        new_entry[env.framework] = str(env.framework_release)
    if "released" in newest:
        if release.published is None:
            raise ConfigError(
                f"the package index does not say when {env.name} was published",
                where=str(path),
                hint=_BY_HAND,
            )
        new_entry["released"] = release.published
    line = lines[number]
    for key, value in new_entry.items():
        line = line.replace(_pair_text(key, newest[key]), _pair_text(key, value), 1)
    if _entry_on(line) != new_entry:
        message = f"the line of {newest[env.toolchain]} cannot be copied"
        raise ConfigError(message, where=str(path), hint=_BY_HAND)
    lines.insert(number + 1, line)
    return "\n".join(lines)


def _entry_on(line: str) -> object:
    """The table on a line of an array; ``None`` for any other line."""
    try:
        entries = tomllib.loads(f"entries = [\n{line}\n]")["entries"]
    except tomllib.TOMLDecodeError:
        return None
    ends = line.partition("#")[0].rstrip().endswith(",")
    return entries[0] if ends and len(entries) == 1 else None


def _pair_text(key: str, value: object) -> str:
    """A key with its version or day, in the form of these files."""
    return f"{key} = {value}" if isinstance(value, date) else f'{key} = "{value}"'
