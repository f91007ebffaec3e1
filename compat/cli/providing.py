"""How the building of envs shows on a terminal."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import click

from compat.config.matrix import MatrixConfig
from compat.envs.provider import EnvProvider
from compat.execution.run import available_cores
from compat.printable import printable


def env_provider(config: MatrixConfig, *, build: bool = True, jobs: int | None = None) -> EnvProvider:
    """Gives features the envs that they ask for, having built what is missing unless the user wants none built."""
    return EnvProvider(
        cache=config.env_cache(),
        project=config.path,
        build=build,
        jobs=jobs or available_cores(),
        echo=lambda text: click.echo(printable(text), err=True),
        busy=_spinning,
    )


def _spinning(what: str) -> AbstractContextManager[Any]:
    from rich.console import Console

    return Console(stderr=True).status(what)
