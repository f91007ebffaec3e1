"""Which pairs are meant: those of ``matrix.toml``, or versions of PyTorch with releases."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen
from packaging.version import InvalidVersion, Version

from compat import toolchains
from compat.config.matrix import MatrixConfig
from compat.engine.run import existing_releases
from compat.envs.installers import PinUnknown, pinned_release
from compat.envs.listing import INDEX, index_urls, list_files
from compat.envs.record import read_env
from compat.errors import EnvError, IndexUnavailable, SelectionError
from compat.model import Env
from compat.project import Selection
from compat.toolchains import Framework, Toolchain

_ANY_PYTHON = "3.11"
"""The Python whose wheels are asked about where the index does not say which there are."""


@frozen(kw_only=True)
class RequestedPair:
    """A pair that is to be tried."""

    env: Env
    """The env that has the PyTorch."""
    release: Version | None = None
    """The release that goes before the one in the env; ``None`` for that one."""


def chosen(
    selection: Selection, torches: Sequence[str] = (), releases: Sequence[str] = (), *, every: bool = False
) -> tuple[tuple[RequestedPair, ...], tuple[str, ...]]:
    """The pairs, and what a reader should know of how they were found.

    Without any words these are the pairs of the chosen envs, each with its own release. With versions of PyTorch they are these
    with every release, with releases the PyTorch of the chosen envs with these, with both their product; ``every`` is every
    PyTorch that is known with every release. Raises SelectionError for what is no version, and where there is no pair.
    """
    config = selection.config
    envs = tuple(env for env in selection.envs if is_pair(env))
    toolchain = toolchains.of(envs[0]) if envs else toolchains.DEFAULT
    framework = toolchain.framework
    missing = f"none of the chosen envs has a {framework.title}"
    if not (torches or releases or every):
        if not envs:
            hint = f"Name a {framework.title}, with {_option(framework)}, or envs that have one, with --envs."
            raise SelectionError(missing, hint=hint)
        return tuple(RequestedPair(env=env) for env in envs), ()
    notes: list[str] = []
    existing = existing_releases(config)[toolchain.name]
    wanted = _releases(config, releases) if releases else existing
    if every:
        torches = [str(version) for version in _every_version(config, toolchain)]
    if torches:
        versions = [_version(word, framework) for word in _split(torches)]
        envs = tuple(_env_with(config, version, toolchain, notes) for version in versions)
    if not envs:
        raise SelectionError(missing, hint=f"Name one, with {_option(framework)}.")
    return tuple(RequestedPair(env=env, release=release) for env in _one_of_each(envs) for release in wanted), tuple(notes)


def _option(framework: Framework) -> str:
    """The option of the command that names a version, as a hint shows it."""
    return f"--{framework.name} {framework.example}"


def is_pair(env: Env) -> bool:
    """Whether an env has a PyTorch, and its toolchain says how pairs are tried."""
    return env.paired and toolchains.of(env).device.pairing is not None


def pin_of(config: MatrixConfig, version: Version, toolchain: Toolchain, python: str | None = None) -> Version | None:
    """The release that an installer takes with a PyTorch: for a Python (``3.11``), else for the newest for which it takes one.

    Raises PinUnknown.
    """
    cache = config.env_cache()
    framework = toolchain.framework
    pythons = [python] if python else _pythons_for(config, framework, version)
    pins = (pinned_release(framework.name, version, toolchain.distribution, minor, cache) for minor in pythons)
    return next((pin for pin in pins if pin is not None), None)


def _pythons_for(config: MatrixConfig, framework: Framework, version: Version) -> list[str]:
    """The Pythons that there are wheels of a framework for, the newest first. Asks the index where nothing is kept of it."""
    try:
        pythons = list_files(framework.name, index_urls(), cache=config.base / INDEX).pythons_for(version)
    except IndexUnavailable:
        pythons = frozenset()
    return [".".join(map(str, minor)) for minor in sorted(pythons, reverse=True)] or [_ANY_PYTHON]


def _one_of_each(envs: Sequence[Env]) -> tuple[Env, ...]:
    """One env for each release of the framework."""
    by_version: dict[Version | None, Env] = {}
    for env in envs:
        by_version.setdefault(env.framework_release, env)
    return tuple(by_version.values())


def _split(words: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(word.strip() for text in words for word in text.split(",") if word.strip()))


def _version(word: str, framework: Framework) -> Version:
    try:
        return Version(word)
    except InvalidVersion:
        hint = f"For example {framework.example}."
        raise SelectionError(f"{word!r} is not a version of {framework.title}", where=f"--{framework.name}", hint=hint) from None


def _releases(config: MatrixConfig, words: Sequence[str]) -> tuple[Version, ...]:
    versions = {env.release for env in config.choose_envs(words) if env.release is not None}
    return tuple(sorted(versions))


def _every_version(config: MatrixConfig, toolchain: Toolchain) -> tuple[Version, ...]:
    assert toolchain.device.pairing is not None
    framework = toolchain.framework
    try:
        listed = list_files(framework.name, index_urls(), cache=config.base / INDEX)
    except IndexUnavailable as error:
        hint = f"Name some with --{framework.name}."
        raise EnvError(f"which versions of {framework.title} there are is not known: {error}", hint=hint) from error
    oldest = toolchain.device.pairing.oldest
    versions = (version for version in listed.versions() if version >= oldest and not version.is_prerelease and not version.local)
    return tuple(version for version in versions if listed.pythons_for(version))


def _env_with(config: MatrixConfig, version: Version, toolchain: Toolchain, notes: list[str]) -> Env:
    """The env to have a release of the framework from: one that is declared, else the one with the release that it asks for."""
    name = toolchain.framework.name
    declared = [env for env in (*config.envs, *config.released) if env.framework_release == version and is_pair(env)]
    there = [env for env in declared if read_env(env, config.env_cache()).error is None]
    if there or declared:
        return (there or declared)[0]
    try:
        pin = pin_of(config, version, toolchain)
    except PinUnknown as error:
        raise EnvError(f"no env is declared with {name} {version}, and {error}", hint="Is the package index reachable?") from error
    if pin is None:
        raise SelectionError(f"{name} {version} asks for no {toolchain.title} on this platform", where=f"--{name}")
    return config.env(f"{toolchain.name}-{pin}-{name}-{version}")
