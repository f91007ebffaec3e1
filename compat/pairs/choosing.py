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
from compat.toolchains import Toolchain

TORCH = "torch"
"""What PyTorch is published under."""
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
    if not (torches or releases or every):
        if not envs:
            hint = "Name a PyTorch, with --torch 2.9.1, or envs that have one, with --envs."
            raise SelectionError("none of the chosen envs has a PyTorch", hint=hint)
        return tuple(RequestedPair(env=env) for env in envs), ()
    notes: list[str] = []
    existing = existing_releases(config)[toolchain.name]
    wanted = _releases(config, releases) if releases else existing
    if every:
        torches = [str(version) for version in _every_torch(config, toolchain)]
    if torches:
        envs = tuple(_env_with(config, version, toolchain, notes) for version in map(_version, _split(torches)))
    if not envs:
        raise SelectionError("none of the chosen envs has a PyTorch", hint="Name one, with --torch 2.9.1.")
    return tuple(RequestedPair(env=env, release=release) for env in _one_of_each(envs) for release in wanted), tuple(notes)


def is_pair(env: Env) -> bool:
    """Whether an env has a PyTorch, and its toolchain says how pairs are tried."""
    return env.torch is not None and toolchains.of(env).device.pairing is not None


def pin_of(config: MatrixConfig, version: Version, toolchain: Toolchain, python: str | None = None) -> Version | None:
    """The release that an installer takes with a PyTorch: for a Python (``3.11``), else for the newest for which it takes one.

    Raises PinUnknown.
    """
    cache = config.env_cache()
    pythons = [python] if python else _pythons_for(config, version)
    pins = (pinned_release(version, toolchain.distribution, minor, cache) for minor in pythons)
    return next((pin for pin in pins if pin is not None), None)


def _pythons_for(config: MatrixConfig, version: Version) -> list[str]:
    """The Pythons that there are wheels of a PyTorch for, the newest first. Asks the index where nothing is kept of it."""
    try:
        pythons = list_files(TORCH, index_urls(), cache=config.base / INDEX).pythons_for(version)
    except IndexUnavailable:
        pythons = frozenset()
    return [".".join(map(str, minor)) for minor in sorted(pythons, reverse=True)] or [_ANY_PYTHON]


def _one_of_each(envs: Sequence[Env]) -> tuple[Env, ...]:
    """One env for each PyTorch."""
    by_torch: dict[Version | None, Env] = {}
    for env in envs:
        by_torch.setdefault(env.torch, env)
    return tuple(by_torch.values())


def _split(words: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(word.strip() for text in words for word in text.split(",") if word.strip()))


def _version(word: str) -> Version:
    try:
        return Version(word)
    except InvalidVersion:
        raise SelectionError(f"{word!r} is not a version of PyTorch", where="--torch", hint="For example 2.9.1.") from None


def _releases(config: MatrixConfig, words: Sequence[str]) -> tuple[Version, ...]:
    versions = {env.release for env in config.choose_envs(words) if env.release is not None}
    return tuple(sorted(versions))


def _every_torch(config: MatrixConfig, toolchain: Toolchain) -> tuple[Version, ...]:
    assert toolchain.device.pairing is not None
    try:
        listed = list_files(TORCH, index_urls(), cache=config.base / INDEX)
    except IndexUnavailable as error:
        raise EnvError(f"which versions of PyTorch there are is not known: {error}", hint="Name some with --torch.") from error
    oldest = toolchain.device.pairing.oldest
    versions = (version for version in listed.versions() if version >= oldest and not version.is_prerelease and not version.local)
    return tuple(version for version in versions if listed.pythons_for(version))


def _env_with(config: MatrixConfig, version: Version, toolchain: Toolchain, notes: list[str]) -> Env:
    """The env to have a PyTorch from: one that is declared, else the one with the release that it asks for."""
    declared = [env for env in (*config.envs, *config.released) if env.torch == version and is_pair(env)]
    there = [env for env in declared if read_env(env, config.env_cache()).error is None]
    if there or declared:
        return (there or declared)[0]
    try:
        pin = pin_of(config, version, toolchain)
    except PinUnknown as error:
        raise EnvError(f"no env is declared with torch {version}, and {error}", hint="Is the package index reachable?") from error
    if pin is None:
        raise SelectionError(f"torch {version} asks for no {toolchain.title} on this platform", where="--torch")
    return config.env(f"{toolchain.name}-{pin}-torch-{version}")
