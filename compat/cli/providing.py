"""How the building of envs shows."""

from __future__ import annotations

from functools import partial

from compat.cli.showing import doing, say
from compat.config.matrix import MatrixConfig
from compat.envs.provider import EnvProvider
from compat.execution.run import available_cores


def env_provider(config: MatrixConfig, *, build: bool = True, jobs: int | None = None) -> EnvProvider:
    """Gives features the envs that they ask for, having built what is missing unless the user wants none built."""
    return EnvProvider(
        cache=config.env_cache(),
        project=config.path,
        known=config.declared_names,
        build=build,
        jobs=jobs or available_cores(),
        echo=say,
        busy=partial(doing, "building envs"),
    )
