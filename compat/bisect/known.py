"""What is known without compiling anything: which releases exist, which envs are there, and what earlier runs found in them.

Nothing is asked of an index here. A release exists if ``matrix.toml`` declares an env of it or a kept answer of the package index
lists a wheel; an env is there if ``matrix.toml`` declares it or a command of the project has asked for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import evolve
from packaging.version import Version

from compat import toolchains
from compat.config.matrix import MatrixConfig
from compat.envs.asked import noted_envs
from compat.envs.env import INDEX, read_env
from compat.envs.listing import index_urls, kept_files
from compat.errors import SelectionError
from compat.execution.run import RunContext, known
from compat.history.verdict import release_of
from compat.model import BuiltEnv, Cell, Env, Result, Specialization, Target
from compat.toolchains import Toolchain


def existing_releases(config: MatrixConfig) -> Mapping[str, tuple[Version, ...]]:
    """Toolchain → the final releases that are known to exist, oldest first; withdrawn ones are not among them.

    Known are those that ``matrix.toml`` declares, and what the index answered last, or the built-in ones where it never has.
    """
    return {each.name: _existing(config, each) for each in toolchains.every()}


def _existing(config: MatrixConfig, toolchain: Toolchain) -> tuple[Version, ...]:
    published = toolchain.distribution
    listed = kept_files(published, index_urls(), cache=config.base / INDEX).versions()
    envs = config.envs if listed else (*config.released, *config.envs)
    declared = {env.release for env in envs if env.toolchain == toolchain.name and toolchains.is_release(env) and env.release}
    found = declared | {version for version in listed if toolchain.oldest is None or version >= toolchain.oldest}
    return tuple(sorted(version for version in found if not version.is_prerelease and version.local is None))


def known_envs(config: MatrixConfig) -> tuple[Env, ...]:
    """The envs of ``matrix.toml``, then those that a search over the index has had built."""
    found = {env.name: env for env in config.envs}
    for name in noted_envs(config.base):
        try:
            found.setdefault(name, config.env(name))
        except SelectionError:
            continue  # no longer declared: its release is unknown
    return tuple(found.values())


def recall(
    kernels: Sequence[tuple[Specialization, Target]], context: RunContext, config: MatrixConfig, *, besides: Iterable[BuiltEnv]
) -> tuple[Result, ...]:
    """What earlier runs found of ``kernels`` on releases other than those of ``besides``, as far as it still holds.

    Envs of ``besides`` that cannot be used do not count.
    """
    tried = {(built.env.toolchain, built.env.release) for built in besides if built.error is None}
    wanted = [env for env in known_envs(config) if env.release is not None and (env.toolchain, env.release) not in tried]
    cache = config.env_cache()
    envs = {env.name: built for env in wanted if _is_release(built := read_env(env, cache))}
    cells = [
        Cell(env=built.env, target=target, spec=spec)
        for built in envs.values()
        for spec, target in kernels
        if toolchains.go_together(built.env, target, spec)
    ]
    return known(cells, evolve(context, envs=envs, again=False))


def _is_release(built: BuiltEnv) -> bool:
    return built.error is None and not release_of(built).fork
