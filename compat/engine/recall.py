"""What is known without compiling anything: which releases exist, which envs are there, and what earlier runs found in them.

Nothing is asked of an index here. A release exists if ``matrix.toml`` declares an env of it or a kept answer of the package index
lists a wheel; an env is there if ``matrix.toml`` declares it or a command of the project has asked for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from packaging.version import Version

from compat import toolchains
from compat.config.matrix import MatrixConfig
from compat.engine.run import RunContext, known
from compat.envs.cache import noted_envs
from compat.envs.listing import INDEX, index_urls, kept_files
from compat.envs.record import read_env
from compat.errors import SelectionError
from compat.history.verdict import release_of
from compat.model import BuiltEnv, Env, Result, Specialization, Target
from compat.toolchains import Toolchain


def existing_releases(config: MatrixConfig) -> Mapping[str, tuple[Version, ...]]:
    """Toolchain → the final releases that are known to exist, oldest first; withdrawn ones are not among them.

    Known are those that ``matrix.toml`` declares, and what the index answered last, or the built-in ones where it never has.
    """
    return {toolchain.name: _existing(config, toolchain) for toolchain in toolchains.every()}


def _existing(config: MatrixConfig, toolchain: Toolchain) -> tuple[Version, ...]:
    published = toolchain.distribution
    listed = kept_files(published, index_urls(), cache=config.base / INDEX).versions()
    envs = config.envs if listed else (*config.released, *config.envs)
    declared = {env.release for env in envs if env.toolchain == toolchain.name and toolchains.is_release(env) and env.release}
    versions = declared | {version for version in listed if toolchain.oldest is None or version >= toolchain.oldest}
    return tuple(sorted(version for version in versions if not version.is_prerelease and version.local is None))


def known_envs(config: MatrixConfig) -> tuple[Env, ...]:
    """The envs of ``matrix.toml``, then those that a search over the index has had built."""
    envs = {env.name: env for env in config.envs}
    for name in noted_envs(config.base):
        try:
            envs.setdefault(name, config.env(name))
        except SelectionError:
            continue  # no longer declared: its release is unknown
    return tuple(envs.values())


def recall(
    kernels: Sequence[tuple[Specialization, Target]], context: RunContext, config: MatrixConfig, *, besides: Iterable[BuiltEnv]
) -> tuple[Result, ...]:
    """What earlier runs found of ``kernels`` on releases other than those of ``besides``, as far as it still holds.

    Envs of ``besides`` that cannot be used do not count.
    """
    excluded = {(built.env.toolchain, built.env.release) for built in besides if built.error is None}
    others = [env for env in known_envs(config) if env.release is not None and (env.toolchain, env.release) not in excluded]
    cache = config.env_cache()
    envs = [built for env in others if _is_release(built := read_env(env, cache))]
    cells = [cell for built in envs for spec, target in kernels for cell in toolchains.cells(built.env, spec, (target,))]
    return known(cells, context.with_envs(envs))


def _is_release(built: BuiltEnv) -> bool:
    return built.error is None and not release_of(built).fork
