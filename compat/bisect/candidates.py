"""The releases to bisect over: those of an index or of a folder of wheels, in order.

The order is that of PEP 440. Builds of one version may differ only in their local part
(``3.6.0+git1a2b3c``), because hashes have no order in time. They are sorted by their date, which
the version itself states (``+git20250801``), or else the index or the file. If one has no date,
they stay in the order given.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from attrs import evolve, field, frozen
from packaging.specifiers import SpecifierSet
from packaging.utils import InvalidWheelFilename
from packaging.version import InvalidVersion, Version

from compat.config.matrix import MatrixConfig, declare, short_hash
from compat.config.selection import select_envs
from compat.envs.listing import INDEX, File, Minor, index_urls, list_files, pythons_of, wheel_facts
from compat.errors import SelectionError
from compat.history.account import spans
from compat.history.verdict import release_of
from compat.model import BuiltEnv, Env
from compat.project import Selection
from compat.text import group_by_key, lazy_pattern
from compat.toolchains.base import Toolchain

_DATE = lazy_pattern(r"(?<![0-9a-f])(20\d\d)(\d\d)(\d\d)(?![0-9a-f])")


@frozen(kw_only=True)
class CandidateQuery:
    """A choice of candidate releases."""

    releases: SpecifierSet | None = None
    """Only these. ``None``: all from the oldest release that the toolchain supports."""
    patches: bool = False
    """Include patch releases, not only the first release of each minor series."""
    pre: bool = False
    """Include release candidates and development releases."""
    named_releases: tuple[Version, ...] = ()
    """Releases that the user names (``--good``, ``--bad``). They are always candidates, even if
    yanked.
    """
    find_links: str | None = None
    """A folder of wheels to use instead of the index. All of them are candidates."""
    index_url: str | None = None
    """An index to use instead of the default one. All its releases are candidates."""
    distribution: str | None = None
    """Name of the distribution. ``None``: the toolchain's own."""

    @property
    def elsewhere(self) -> str | None:
        """The source that replaces the default index, if any."""
        return self.find_links or self.index_url


@frozen(kw_only=True)
class ReleaseCandidate:
    """One release that a bisection may try."""

    version: Version
    env: Env
    others: tuple[Env, ...] = ()
    """Further envs of this release. If the envs disagree, the release is inconclusive."""
    name: str = ""
    """The name for readers, unless it is the version."""

    @property
    def envs(self) -> tuple[Env, ...]:
        """All envs of the release. The first one represents it."""
        return self.env, *self.others

    @property
    def label(self) -> str:
        """The name for a reader."""
        return self.name or str(self.version)


@frozen(kw_only=True)
class CandidateLine:
    """The releases to bisect over, oldest first, and notes about the choice."""

    chosen: tuple[ReleaseCandidate, ...]
    matrix: Path
    """The file that declares the envs. The records of the envs are beside it."""
    left_out: Mapping[str, tuple[str, ...]] = field(factory=dict)
    """Reason → releases."""
    notes: tuple[str, ...] = ()
    published: bool = True
    """Whether these are published releases, in the order of their versions. Then other releases may
    exist between them.
    """

    def position(self, version: Version) -> int | None:
        """The position of a version's last candidate, or ``None``; ``3.5`` equals ``3.5.0``."""
        places = [
            number for number, candidate in enumerate(self.chosen) if candidate.version == version
        ]
        return places[-1] if places else None


@frozen(kw_only=True)
class IndexedRelease:
    """One version in the sources."""

    version: Version
    files: tuple[File, ...]
    order: int
    """The position of the version in the listing of the sources."""

    @property
    def yanked(self) -> bool:
        return all(file.yanked for file in self.files)

    @property
    def date(self) -> float | None:
        """The date that the version states, or else of its first upload, in seconds since 1970."""
        stated = stated_date(self.version)
        return (
            stated
            if stated is not None
            else min((f.uploaded for f in self.files if f.uploaded is not None), default=None)
        )

    def pythons(self) -> frozenset[Minor]:
        return frozenset().union(
            *(
                pythons_of(wheel_facts(file.filename)[2], file.requires_python)
                for file in self.files
            )
        )


def from_index(
    query: CandidateQuery,
    toolchain: Toolchain,
    config: MatrixConfig,
    state: Path,
    pythons: Collection[Minor],
) -> CandidateLine:
    """The releases of a toolchain that the sources have for this platform, in order.

    Each has a wheel for one of ``pythons``. Raises SelectionError if no release is left, and
    IndexUnavailable if the index does not answer.
    """
    published_as = query.distribution or toolchain.distribution
    query = evolve(query, distribution=published_as)
    sources = (query.elsewhere,) if query.elsewhere else index_urls()
    listing = list_files(published_as, sources, cache=config.base / INDEX)
    versions = in_order(indexed_releases(listing.files))
    usable = [one for one in versions if one.pythons() & set(pythons)]
    # The oldest release is the toolchain's own. Forks have numbers of their own.
    oldest = toolchain.oldest if published_as == toolchain.distribution else None
    reasons = {one.version: _reason_against(one, usable, query, oldest) for one in versions}
    left_out: dict[str, list[str]] = defaultdict(list)
    for version, reason in reasons.items():
        if reason:
            left_out[reason].append(str(version))
    chosen = [one for one in versions if reasons[one.version] is None]
    if not chosen:
        line = [str(one.version) for one in versions]
        reasons_text = "; ".join(
            f"{reason}: {spans(releases, line)}" for reason, releases in left_out.items()
        )
        raise SelectionError(
            f"no release of {published_as} is left to bisect",
            hint=reasons_text or f"Looked in {', '.join(sources)}.",
        )
    if query.elsewhere:
        envs, matrix = _declare_envs(chosen, query, toolchain, config, state, pythons)
    else:
        envs, matrix = _by_name(chosen, query, toolchain, config)
    return CandidateLine(
        chosen=tuple(
            ReleaseCandidate(version=one.version, env=env)
            for one, env in zip(chosen, envs, strict=True)
        ),
        matrix=matrix,
        left_out={reason: tuple(releases) for reason, releases in left_out.items()},
        notes=listing.notes,
        published=not query.elsewhere,
    )


def from_envs(envs: Sequence[Env], matrix: Path) -> CandidateLine:
    """The envs of ``matrix.toml`` as candidates, one for each release.

    Forks are not part of the history of releases and are left out, unless there are only forks.
    Raises SelectionError for an env without a known version.
    """
    for env in envs:
        if env.release is None:
            raise SelectionError(
                f"{env.name} does not state its version, so it cannot be ordered", where="--envs"
            )
    placed = [(release_of(BuiltEnv(env=env)), env) for env in envs]
    forks = [release.label for release, _ in placed if release.fork]
    alone = len(forks) == len(placed)
    groups: dict[tuple[Version | None, str], list[Env]] = defaultdict(list)
    for release, env in placed:
        if alone or not release.fork:
            groups[release.version, release.label if release.fork else ""].append(env)
    ordered = sorted(groups.items(), key=lambda item: (item[0][0] or Version("0"), item[0][1]))
    return CandidateLine(
        chosen=tuple(_of_release(group) for _, group in ordered),
        matrix=matrix,
        published=not alone,
        left_out=(
            {}
            if alone or not forks
            else {"forks, which cannot be ordered among the releases": tuple(dict.fromkeys(forks))}
        ),
    )


def _of_release(envs: Sequence[Env]) -> ReleaseCandidate:
    """One release with all its envs, represented by the one without PyTorch.

    In an env without PyTorch, only the compiler can fail.
    """
    first, *others = sorted(envs, key=lambda env: (env.has_framework, env.name))
    assert first.release is not None, "an env without a version is refused before"
    return ReleaseCandidate(
        version=first.release,
        env=first,
        others=tuple(others),
        name=release_of(BuiltEnv(env=first)).label,
    )


def parse_specifier(text: str | None) -> SpecifierSet | None:
    """The specifier of ``--releases``. Raises SelectionError."""
    try:
        specifier = SpecifierSet(text) if text else None
        if specifier is not None:
            specifier.contains("3.0.0")  # only this reads its numbers
    except ValueError as error:
        raise SelectionError(
            str(error), where="--releases", hint="For example '>=3.1,<3.6'."
        ) from None
    return specifier


def parse_release(text: str | None, option: str) -> Version | None:
    """A release named on the command line. Raises SelectionError."""
    try:
        return Version(text.removeprefix("v")) if text else None
    # InvalidVersion is a ValueError. Python raises another for a number with too many digits.
    except ValueError:
        raise SelectionError(
            f"{(text or '')[:80]!r} is not a release",
            where=option,
            hint="For example 3.5, or 3.5.1.",
        ) from None


def named_release(
    text: str | None, option: str, selection: Selection, query: CandidateQuery
) -> Version | None:
    """The release that a word names, by the rules for names of envs.

    With another source of releases, the word is the number of a release there. Raises
    SelectionError if the word names no release, or several.
    """
    if text is None or query.elsewhere:
        return parse_release(text, option)
    config, own = selection.config, {spec.toolchain for spec in selection.specs}
    try:
        envs = (
            select_envs(selection.envs, [text])
            if selection.patterns.envs
            else config.choose_envs([text])
        )
    except SelectionError:
        return parse_release(text, option)
    releases = {env.release for env in envs if env.toolchain in own and env.release is not None}
    if len(releases) > 1:
        raise SelectionError(
            f"{text!r} means {len(releases)} releases",
            where=option,
            hint="Name one, such as 3.5.1.",
        )
    return releases.pop() if releases else parse_release(text, option)


def stated_date(version: Version) -> float | None:
    """The date that the local part of a version states, in seconds since 1970."""
    for year, month, day in _DATE.findall(version.local or ""):
        try:
            return datetime(int(year), int(month), int(day), tzinfo=UTC).timestamp()
        except ValueError:
            continue
    return None


# --- selection and order --------------------------------------------------------------------------


def indexed_releases(files: Iterable[File]) -> list[IndexedRelease]:
    """Group the files of an index by release."""
    groups: dict[Version, list[File]] = defaultdict(list)
    for file in files:
        try:
            groups[wheel_facts(file.filename)[1]].append(file)
        except (InvalidWheelFilename, InvalidVersion):
            continue  # a source distribution, or a name from before these rules
    return [
        IndexedRelease(version=version, files=tuple(files), order=order)
        for order, (version, files) in enumerate(groups.items())
    ]


def in_order(releases: Iterable[IndexedRelease]) -> list[IndexedRelease]:
    """Sort releases by version, oldest first."""
    groups = group_by_key((Version(one.version.public), one) for one in releases)
    ordered: list[IndexedRelease] = []
    for public in sorted(groups):
        builds = groups[public]
        dated = [(date, one) for one in builds if (date := one.date) is not None]
        if len(dated) == len(builds):
            ordered += [one for _, one in sorted(dated, key=lambda pair: (pair[0], pair[1].order))]
        else:  # the release itself, then the builds of it
            ordered += sorted(builds, key=lambda one: (one.version.local is not None, one.order))
    return ordered


def _reason_against(
    one: IndexedRelease,
    usable: Sequence[IndexedRelease],
    query: CandidateQuery,
    oldest: Version | None,
) -> str | None:
    """The reason for leaving out a version, in words; ``None`` if it stays."""
    version = one.version
    named = version in query.named_releases
    if query.releases is not None:
        if not named and not query.releases.contains(version, prereleases=True):
            return "excluded by --releases"
    elif oldest and version < oldest and not named and not query.elsewhere:
        return f"before {oldest}"
    if one not in usable:
        return "no wheel for this platform and the Pythons installed here"
    if named or query.elsewhere:
        return None
    if one.yanked:
        return "yanked"
    if version.is_prerelease and not query.pre:
        return "pre-releases (--pre adds them)"
    if (
        not query.patches
        and not version.is_prerelease
        and version != _first_of_series(version, usable)
    ):
        return "patch releases (--patches adds them)"
    return None


def _first_of_series(version: Version, usable: Iterable[IndexedRelease]) -> Version:
    """The oldest final release of a minor series: X.Y.0, unless it was withdrawn or never made."""
    return min(
        one.version
        for one in usable
        if one.version.release[:2] == version.release[:2]
        and not one.version.is_prerelease
        and not one.yanked
    )


# --- the envs to try them in ----------------------------------------------------------------------


def _by_name(
    chosen: Iterable[IndexedRelease],
    query: CandidateQuery,
    toolchain: Toolchain,
    config: MatrixConfig,
) -> tuple[list[Env], Path]:
    own = toolchain.distribution
    if query.distribution != own:
        hint = (
            "Say where it is with --index-url or --find-links, or declare its envs in matrix.toml"
            " and name them with --envs."
        )
        raise SelectionError(
            f"only {own} itself can be bisected over the default index",
            where="--distribution",
            hint=hint,
        )
    return [config.env(f"{toolchain.name}-{one.version}") for one in chosen], config.path


def _declare_envs(
    chosen: Sequence[IndexedRelease],
    query: CandidateQuery,
    toolchain: Toolchain,
    config: MatrixConfig,
    state: Path,
    pythons: Collection[Minor],
) -> tuple[list[Env], Path]:
    """Envs of wheels from another source, declared in a separate file so that nox can build them.

    Such a wheel may have the name of a published one and differ from it, so the name of its env
    includes a hash of its source.
    """
    envs: list[dict[str, str | list[str]]] = []
    for one in chosen:
        facts = _release_facts(one, query, toolchain, pythons)
        name = f"{query.distribution}-{one.version}-{short_hash(json.dumps(facts))}"
        probe = Env(name=name, toolchain=toolchain.name, release=one.version)
        envs.append({"name": name, **facts, "install": list(config.accompany(probe).install)})
    declared = declare(
        envs, state / "elsewhere" / short_hash(f"{query.elsewhere} {query.distribution}")
    )
    return list(declared.envs), declared.path


def _release_facts(
    one: IndexedRelease, query: CandidateQuery, toolchain: Toolchain, pythons: Collection[Minor]
) -> dict[str, str]:
    if query.find_links is None:
        return {
            toolchain.name: str(one.version),
            "distribution": str(query.distribution),
            "index": str(query.index_url),
        }
    fitting = (
        file for file in one.files if pythons_of(wheel_facts(file.filename)[2]) & set(pythons)
    )
    wheel = str(Path(query.find_links, next(fitting).filename).resolve())
    return {"toolchain": toolchain.name, "wheel": wheel}
